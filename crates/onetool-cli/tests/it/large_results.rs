//! Results that are too large for memory, through the real binary.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;

use onetool_testkit::{Client, Era};
use serde_json::json;
use tokio::process::Command;

use crate::Sandbox;

const ITEMS: usize = 100_000;
const ITEM_BYTES: usize = 1_000;

/// How much the gateway's peak memory may grow, whatever the size of the response.
const MAX_GROWTH_KB: u64 = 80 * 1024;

/// Responds with 100 MB of JSON on one line.
fn respond(mut stream: TcpStream) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
    let item = |number: usize| {
        let start = format!("{{\"number\":{number:08},\"text\":\"");
        let text = "x".repeat(ITEM_BYTES - start.len() - 3);
        format!("{start}{text}\"}},")
    };
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n[",
        ITEMS * ITEM_BYTES + 3
    )?;
    for number in 10_000_000..10_000_000 + ITEMS {
        stream.write_all(item(number).as_bytes())?;
    }
    stream.write_all(b"0]")?;
    stream.flush()
}

fn serve() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let _ = respond(stream);
        }
    });
    url
}

fn peak_kb(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse().unwrap()
}

#[tokio::test]
async fn o6_a_body_of_100_mb_streams_to_the_result_store_under_a_fixed_memory_cap() {
    let sandbox = Sandbox::with_config("openapi:\n  big: {spec: big.json, allow_private: true}\n");
    let description = json!({"openapi": "3.1.0", "servers": [{"url": serve()}],
        "paths": {"/items": {"get": {"operationId": "items"}}}});
    std::fs::write(sandbox.path().join(".onetool/big.json"), description.to_string()).unwrap();
    let mut command = Command::from(sandbox.command(&["serve"]));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
    let mut child = command.spawn().unwrap();
    let gateway = child.id().unwrap();
    let client =
        Client::from_streams(child.stdout.take().unwrap(), child.stdin.take().unwrap(), Era::Sessions).await;
    assert!(client.call_text("ot_packs", json!({"info": "list"})).await.contains("big"));
    let before = peak_kb(gateway);

    let result = client.call("big_items", json!({})).await.unwrap();
    let stored = &result["structuredContent"];
    assert_eq!(stored["total_lines"], 4 * ITEMS + 3, "{stored}");
    assert!(stored["size_bytes"].as_u64().unwrap() > 100_000_000, "{stored}");
    assert_eq!(stored["preview"][2], "    \"number\": 10000000,", "{stored}");

    // Reads only the last item.
    let handle = stored["handle"].as_str().unwrap();
    let page = json!({"handle": handle, "offset": 4 * ITEMS - 1, "limit": 1});
    let page = client.call("ot_result", page).await.unwrap();
    let text = page["content"][0]["text"].as_str().unwrap();
    assert!(text.contains(&format!("{}", 10_000_000 + ITEMS - 1)), "{text}");
    let growth = peak_kb(gateway) - before;
    assert!(growth < MAX_GROWTH_KB, "a response of 100 MB took {growth} kB");
}
