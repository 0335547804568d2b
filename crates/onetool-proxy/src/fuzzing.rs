//! Ways in for the fuzz targets in `fuzz/`. Not part of the crate: it is there only when the compiler fuzzes.

use rmcp::transport::Transport as _;

use crate::Limits;
use crate::lines::{Findings, LineTransport};

/// Reads what a server sends, to its end.
pub fn upstream_lines(lines: &[u8]) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let Ok(runtime) = runtime else { return };
    runtime.block_on(async {
        let (limits, findings) = (Limits::default(), Findings::default());
        let input = std::io::Cursor::new(lines.to_vec());
        let mut transport = LineTransport::new("fuzz".into(), input, tokio::io::sink(), limits, findings);
        while transport.receive().await.is_some() {}
    });
}
