//! Loads a description, cold and from the cache, and prints the time it takes and the memory it uses.
//!
//! `cargo run --release -p onetool-openapi --example load -- FILE [BASE_URL]`

#![expect(clippy::print_stdout, reason = "the measurements are the output")]

use std::path::PathBuf;
use std::time::Instant;

use onetool_openapi::{Api, ApiOptions, LoadError, Origin, load};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args_os().skip(1);
    let path = PathBuf::from(args.next().ok_or("usage: load FILE [BASE_URL]")?);
    let mut options = ApiOptions::new("api");
    if let Some(url) = args.next() {
        options.base_url = Some(url.to_string_lossy().parse()?);
    }
    let cache = tempfile::tempdir()?;
    println!("{:<22} {:>38}", "before", memory());
    let cold = timed("cold", &path, &options, None).await?;
    println!("{} operations, {} skipped", cold.report.operations, cold.report.skipped.len());
    println!("{} bytes, about {} tokens", cold.report.document_bytes, cold.report.token_estimate);
    drop(cold);
    timed("cold, then cached", &path, &options, Some(cache.path())).await?;
    for _ in 0..3 {
        timed("from the cache", &path, &options, Some(cache.path())).await?;
    }
    let api = timed("from the cache", &path, &options, Some(cache.path())).await?;
    let begin = Instant::now();
    let bytes: usize = api
        .tools
        .iter()
        .map(|it| serde_json::to_string(&*it.spec().input_schema.peek()).map_or(0, |it| it.len()))
        .sum();
    println!("{:<22} {:>8.1?} {bytes} bytes {}", "all input schemas", begin.elapsed(), memory());
    Ok(())
}

async fn timed(
    label: &str,
    path: &std::path::Path,
    options: &ApiOptions,
    cache: Option<&std::path::Path>,
) -> Result<Api, LoadError> {
    let begin = Instant::now();
    let api = load(Origin::File(path.to_owned()), options.clone(), cache).await?;
    println!("{label:<22} {:>8.1?} cached: {:<5} {}", begin.elapsed(), api.report.from_cache, memory());
    Ok(api)
}

/// Returns the current and the peak memory of this process.
fn memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let lines = status.lines().filter(|line| line.starts_with("VmRSS") || line.starts_with("VmHWM"));
    lines.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>().join(", ")
}
