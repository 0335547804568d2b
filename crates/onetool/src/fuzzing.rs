//! Entry points for the fuzz targets in `fuzz/`. They exist only under `cfg(fuzzing)` and are not part of the library.

use std::time::Duration;

use onetool_cage::Job;
use serde_json::Value;

use crate::Server;

pub use onetool_run::fuzzing::{command, snippet_call, snippet_value, yaml};

/// Loads a configuration.
pub fn config(yaml: &str) {
    let _ = crate::config::load_text(yaml);
}

/// Serves a client that sends these bytes and disconnects.
pub fn client_lines(lines: &[u8]) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let Ok(runtime) = runtime else { return };
    let Ok(server) = Server::builder().discovery().logging().completions().build() else { return };
    let input = std::io::Cursor::new(lines.to_vec());
    runtime.block_on(async {
        let served = server.serve_streams(input, tokio::io::sink());
        tokio::time::timeout(Duration::from_secs(5), served)
            .await
            .expect("the session ends when its input ends")
            .ok();
    });
}

/// Extracts the text of a web page, as the worker process does.
pub fn page(html: &[u8]) {
    let request = serde_json::json!({"url": "https://example.org/a/b", "content_type": "text/html",
        "format": "markdown", "max_length": 10_000, "selector": null});
    let mut message = request.to_string().into_bytes();
    message.push(b'\n');
    message.extend_from_slice(html);
    let job = onetool_packs::JOBS.iter().find(|(name, _)| *name == "page");
    let Some((_, Job::Pure(read_page))) = job else { panic!("no job reads pages") };
    serde_json::from_slice::<Value>(&read_page(message)).expect("the job returns JSON");
}
