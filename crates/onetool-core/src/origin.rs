//! The host and origin of an HTTP request, parsed as a URL parser does.

use std::net::Ipv6Addr;

use url::{Host, Url};

/// Characters that end a host in a URL, or that a URL parser decodes or drops.
const INVALID_IN_HOST: &[char] = &['/', '\\', '?', '#', '@', '%'];

/// A host and an optional port, as in a `Host` header.
///
/// ```
/// use onetool_core::Authority;
///
/// let host = Authority::parse("LocalHost:8080").unwrap();
/// assert!(host.is_loopback());
/// assert!(Authority::parse("[::1].example.org").is_none());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authority {
    host: Host,
    port: Option<u16>,
}

impl Authority {
    /// Parses a host name or IP address with an optional port. Names are converted to lowercase ASCII.
    ///
    /// User names, paths and anything else that is not part of a host make it invalid.
    pub fn parse(text: &str) -> Option<Self> {
        if let Ok(address) = text.parse::<Ipv6Addr>() {
            return Some(Self { host: Host::Ipv6(address), port: None });
        }
        let is_invalid = |it: char| it.is_whitespace() || it.is_control() || INVALID_IN_HOST.contains(&it);
        if text.contains(is_invalid) {
            return None;
        }
        let url = Url::parse(&format!("http://{text}")).ok()?;
        // The parser drops the default port of the scheme, so port 80 shows up only with https.
        let port = url.port().or_else(|| Url::parse(&format!("https://{text}")).ok()?.port());
        Some(Self { host: url.host()?.to_owned(), port })
    }

    /// Parses the value of a header, or returns `None` if there is not exactly one value.
    pub fn from_header<'a>(values: impl IntoIterator<Item = &'a [u8]>) -> Option<Self> {
        Self::parse(single(values)?)
    }

    /// Returns whether this is the local machine: `localhost`, or a loopback address.
    pub fn is_loopback(&self) -> bool {
        match &self.host {
            Host::Domain(name) => name == "localhost",
            Host::Ipv4(address) => address.is_loopback(),
            Host::Ipv6(address) => address.is_loopback(),
        }
    }

    /// Returns whether a request to `requested` is a request to this host. Without a port, this covers every port.
    pub fn covers(&self, requested: &Self) -> bool {
        let same_port = match (self.port, requested.port) {
            (None, _) => true,
            // A URL without a port has the default port of its scheme, and the header does not say which scheme.
            (Some(port), None) => port == 80 || port == 443,
            (Some(port), Some(requested)) => port == requested,
        };
        same_port && self.host == requested.host
    }
}

/// The origin of a web page, as in an `Origin` header: a scheme, a host and a port.
///
/// ```
/// use onetool_core::WebOrigin;
///
/// assert_eq!(WebOrigin::parse("https://App.example.org:443"), WebOrigin::parse("https://app.example.org"));
/// assert!(WebOrigin::parse("http://localhost:80@example.org").is_none());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebOrigin {
    is_secure: bool,
    host: Host,
    port: u16,
}

impl WebOrigin {
    /// Parses an `http` or `https` origin, such as `https://app.example.org`.
    pub fn parse(text: &str) -> Option<Self> {
        let (scheme, authority) = text.split_once("://")?;
        let is_secure = match scheme.to_ascii_lowercase().as_str() {
            "http" => false,
            "https" => true,
            _ => return None,
        };
        let Authority { host, port } = Authority::parse(authority)?;
        Some(Self { is_secure, host, port: port.unwrap_or(if is_secure { 443 } else { 80 }) })
    }

    /// Parses the value of a header, or returns `None` if there is not exactly one value.
    pub fn from_header<'a>(values: impl IntoIterator<Item = &'a [u8]>) -> Option<Self> {
        Self::parse(single(values)?)
    }

    /// Returns whether the page comes from the local machine.
    pub fn is_loopback(&self) -> bool {
        Authority { host: self.host.clone(), port: None }.is_loopback()
    }

    /// Returns whether the page comes from the host that the request is sent to.
    pub fn is_served_by(&self, host: &Authority) -> bool {
        Authority { host: self.host.clone(), port: Some(self.port) }.covers(host)
    }
}

/// Returns the value of a header, if there is exactly one and it is ASCII.
fn single<'a>(values: impl IntoIterator<Item = &'a [u8]>) -> Option<&'a str> {
    let mut values = values.into_iter();
    let (Some(value), None) = (values.next(), values.next()) else { return None };
    std::str::from_utf8(value).ok().filter(|it| it.is_ascii())
}

#[cfg(test)]
mod tests;
