//! Entry points for the fuzz targets in `fuzz/`, compiled only when fuzzing.

use rmcp::transport::Transport as _;

use crate::config::Limits;
use crate::lines::{LineTransport, StdoutProblem};

/// Reads a server's standard output to the end.
pub fn upstream_lines(lines: &[u8]) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let Ok(runtime) = runtime else { return };
    runtime.block_on(async {
        let (limits, problem) = (Limits::default(), StdoutProblem::default());
        let input = std::io::Cursor::new(lines.to_vec());
        let mut transport = LineTransport::new("fuzz".into(), input, tokio::io::sink(), limits, problem);
        while transport.receive().await.is_some() {}
    });
}
