//! A minimal MCP client for streamable HTTP, over one connection without a pool or a runtime.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::{expect_response, initialize, initialized};

/// How long to wait for the server to send something.
const READ_TIMEOUT: Duration = Duration::from_mins(2);

pub(super) struct HttpClient {
    address: String,
    path: String,
    token: Option<String>,
    session: Option<String>,
    stream: BufReader<TcpStream>,
}

struct Response {
    status: u16,
    session: Option<String>,
    content_type: String,
    body: String,
}

impl HttpClient {
    /// Connects and opens a session at `http://HOST:PORT/PATH`.
    pub(super) fn start(url: &str) -> Result<Self> {
        Self::start_with(url, None)
    }

    /// Connects with a bearer token, and opens a session.
    pub(super) fn start_with(url: &str, token: Option<&str>) -> Result<Self> {
        let (address, path) = split(url)?;
        let stream = TcpStream::connect(address).with_context(|| format!("cannot connect to {address}"))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(READ_TIMEOUT))?;
        let mut client = Self {
            address: address.to_owned(),
            path: path.to_owned(),
            token: token.map(str::to_owned),
            session: None,
            stream: BufReader::new(stream),
        };
        let response = client.post(&initialize())?;
        expect_response(&json_rpc(&response)?, 0)?;
        client.session = response.session;
        let response = client.post(&initialized())?;
        if response.status != 202 {
            bail!("notifications/initialized got {}: {}", response.status, response.body);
        }
        Ok(client)
    }

    /// Sends a request and returns how long the response took, without the time for JSON.
    pub(super) fn request(&mut self, message: &Value, id: u64) -> Result<Duration> {
        let request = self.post_text(message);
        let start = Instant::now();
        let response = self.exchange(&request)?;
        let time = start.elapsed();
        expect_response(&json_rpc(&response)?, id)?;
        Ok(time)
    }

    /// Sends a request and returns the response, which may be an error.
    pub(super) fn call(&mut self, message: &Value) -> Result<Value> {
        json_rpc(&self.post(message)?)
    }

    fn post(&mut self, message: &Value) -> Result<Response> {
        let request = self.post_text(message);
        self.exchange(&request)
    }

    fn exchange(&mut self, request: &str) -> Result<Response> {
        self.stream.get_mut().write_all(request.as_bytes()).context("cannot send")?;
        read_response(&mut self.stream)
    }

    fn post_text(&self, message: &Value) -> String {
        let body = message.to_string();
        let session = match &self.session {
            Some(id) => format!("Mcp-Session-Id: {id}\r\nMCP-Protocol-Version: 2025-11-25\r\n"),
            None => String::new(),
        };
        let token = self.token.as_ref().map(|token| format!("Authorization: Bearer {token}\r\n"));
        format!(
            "POST {} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\n{session}{}Content-Length: {}\r\n\r\n{body}",
            self.path,
            self.address,
            token.unwrap_or_default(),
            body.len()
        )
    }
}

/// Splits `http://HOST:PORT/PATH` into address and path.
fn split(url: &str) -> Result<(&str, &str)> {
    let rest = url.strip_prefix("http://").with_context(|| format!("`{url}` is not an http:// URL"))?;
    let slash = rest.find('/').with_context(|| format!("`{url}` has no path"))?;
    Ok(rest.split_at(slash))
}

fn read_response(stream: &mut impl BufRead) -> Result<Response> {
    let first = read_line(stream)?;
    let status = first
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok())
        .with_context(|| format!("`{first}` is not an HTTP status line"))?;
    let mut response = Response { status, session: None, content_type: String::new(), body: String::new() };
    let (mut length, mut chunked) = (0, false);
    loop {
        let line = read_line(stream)?;
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(':').with_context(|| format!("`{line}` is not a header"))?;
        let value = value.trim();
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().context("Content-Length")?,
            "transfer-encoding" => chunked = value.eq_ignore_ascii_case("chunked"),
            "content-type" => value.clone_into(&mut response.content_type),
            "mcp-session-id" => response.session = Some(value.to_owned()),
            _ => {}
        }
    }
    let bytes = if chunked { read_chunks(stream)? } else { read_exactly(stream, length)? };
    response.body = String::from_utf8(bytes).context("the response is not UTF-8")?;
    Ok(response)
}

fn read_chunks(stream: &mut impl BufRead) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let line = read_line(stream)?;
        let size = line.split(';').next().unwrap_or_default();
        let size = usize::from_str_radix(size.trim(), 16)
            .with_context(|| format!("`{line}` is not a chunk size"))?;
        if size == 0 {
            // Skip trailers and the empty line after them.
            while !read_line(stream)?.is_empty() {}
            return Ok(body);
        }
        body.extend(read_exactly(stream, size)?);
        read_line(stream)?;
    }
}

fn read_exactly(stream: &mut impl Read, length: usize) -> Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    stream.read_exact(&mut bytes).context("the connection ended inside a response")?;
    Ok(bytes)
}

fn read_line(stream: &mut impl BufRead) -> Result<String> {
    let mut line = String::new();
    if stream.read_line(&mut line).context("cannot read the response")? == 0 {
        bail!("the connection ended before the response");
    }
    line.truncate(line.trim_end_matches(['\r', '\n']).len());
    Ok(line)
}

/// Returns the JSON-RPC response in a JSON or event-stream body.
fn json_rpc(response: &Response) -> Result<Value> {
    if response.status != 200 {
        bail!("HTTP {}: {}", response.status, response.body);
    }
    if !response.content_type.starts_with("text/event-stream") {
        return serde_json::from_str(&response.body).context("the response is not JSON");
    }
    response
        .body
        .lines()
        .filter_map(|line| line.strip_prefix("data:"))
        .filter_map(|data| serde_json::from_str::<Value>(data).ok())
        .find(|message| message.get("method").is_none() && message.get("id").is_some())
        .with_context(|| format!("no response in the stream: {}", response.body))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_an_event_stream_in_chunks() {
        let text = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nMcp-Session-Id: abc\r\n\
            Transfer-Encoding: chunked\r\n\r\n\
            10\r\nid: 0\nretry: 3\n\n\r\n7\r\ndata: \n\r\n24\r\ndata: {\"id\":7,\"result\":{\"a\":\"\u{e9}\"}}\n\n\r\n0\r\n\r\nHTTP/1.1 202 Accepted\r\n\r\n";
        let mut stream = text.as_bytes();
        let response = read_response(&mut stream).unwrap();
        assert_eq!(response.session.as_deref(), Some("abc"));
        assert_eq!(json_rpc(&response).unwrap()["id"], 7);
        let next = read_response(&mut stream).unwrap();
        assert_eq!((next.status, next.body.as_str()), (202, ""));
    }

    #[test]
    fn reads_a_json_body_by_its_length() {
        let mut stream =
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{\"id\": 1}rest"
                .as_bytes();
        let response = read_response(&mut stream).unwrap();
        assert_eq!(json_rpc(&response).unwrap()["id"], 1);
        assert_eq!(stream, b"rest");
    }

    #[test]
    fn urls_split_into_address_and_path() {
        assert_eq!(split("http://127.0.0.1:80/mcp").unwrap(), ("127.0.0.1:80", "/mcp"));
        assert!(split("https://x/").is_err());
    }
}
