//! The `Host` and `Origin` headers: no other machine's name passes as loopback.
#![no_main]

use libfuzzer_sys::fuzz_target;
use onetool_core::{Authority, WebOrigin};

fuzz_target!(|text: &str| {
    if let Some(host) = Authority::parse(text) {
        assert!(!host.is_loopback() || may_be_loopback(text), "{text:?} is not this machine");
    }
    if let Some(origin) = WebOrigin::parse(text) {
        let host = text.split_once("://").map_or(text, |(_, host)| host);
        assert!(!origin.is_loopback() || may_be_loopback(host), "{text:?} is not this machine");
    }
});

/// Reads a host in the simplest way: a name or an address, an optional port, and nothing else.
fn may_be_loopback(host: &str) -> bool {
    let host = host.to_lowercase();
    if host.contains(['@', '/', '\\', '?', '#', '%']) || host.contains(char::is_whitespace) {
        return false;
    }
    // A name ends at the port; an IPv6 address is in brackets, or is the whole host.
    let name = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, port)) if port.is_empty() || port.starts_with(':') => address.to_owned(),
        Some(_) => return false,
        None if host.matches(':').count() > 1 => host.clone(),
        None => host.split(':').next().unwrap_or_default().to_owned(),
    };
    // Browsers read some non-ASCII digits and letters as ASCII; this check trusts the parser with them.
    let is_number = |part: &str| part.starts_with(|c: char| c.is_ascii_digit());
    !name.is_ascii() || name == "localhost" || name.contains(':') || name.split('.').any(is_number)
}
