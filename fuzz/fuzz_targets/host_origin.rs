//! The `Host` and `Origin` headers: nothing that names another machine is taken for this one.
#![no_main]

use libfuzzer_sys::fuzz_target;
use onetool_core::{Authority, WebOrigin};

fuzz_target!(|text: &str| {
    if let Some(host) = Authority::parse(text) {
        assert!(!host.is_loopback() || is_here(text), "{text:?} is not this machine");
    }
    if let Some(origin) = WebOrigin::parse(text) {
        let host = text.split_once("://").map_or(text, |(_, host)| host);
        assert!(!origin.is_loopback() || is_here(host), "{text:?} is not this machine");
    }
});

/// Decides by the plainest reading of a host: a name or an address, maybe a port, and nothing else.
fn is_here(host: &str) -> bool {
    let host = host.to_lowercase();
    if host.contains(['@', '/', '\\', '?', '#', '%']) || host.contains(char::is_whitespace) {
        return false;
    }
    // A name ends at the port; an IPv6 address is in brackets, or the whole.
    let name = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, port)) if port.is_empty() || port.starts_with(':') => address.to_owned(),
        Some(_) => return false,
        None if host.matches(':').count() > 1 => host.clone(),
        None => host.split(':').next().unwrap_or_default().to_owned(),
    };
    // Foreign digits and letters that browsers read as ASCII are left to the parser.
    let is_plain = name.is_ascii();
    let is_number = |part: &str| part.starts_with(|c: char| c.is_ascii_digit());
    !is_plain || name == "localhost" || name.contains(':') || name.split('.').any(is_number)
}
