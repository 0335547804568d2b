//! Blocks requests to addresses that outsiders must not reach through us.
//!
//! Host names are checked when they are resolved for the connection itself, so changing a name's address between the
//! check and the connection (DNS rebinding) does not help an attacker.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use reqwest::ClientBuilder;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};

/// Decides which addresses may be reached: public ones, and those that the operator named.
///
/// ```
/// use onetool_openapi::NetworkGuard;
/// # use url::Url;
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let guard = NetworkGuard::public().allowing(&Url::parse("http://127.0.0.1:8080/")?);
/// assert!(guard.check(&Url::parse("http://127.0.0.1:8080/pets")?).await.is_ok());
/// assert!(guard.check(&Url::parse("http://127.0.0.1:9090/pets")?).await.is_err());
/// assert!(guard.check(&Url::parse("http://169.254.169.254/latest/meta-data")?).await.is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct NetworkGuard {
    allow_all: bool,
    /// Hosts and ports that are allowed whatever their address is.
    allowed: Arc<Vec<(String, u16)>>,
}

/// Why a [`NetworkGuard`] blocks a URL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GuardError {
    /// The address is not public.
    #[error(
        "'{host}' is a loopback, private or reserved address ({address}); to allow it, name it in the configuration \
         or set allow_private"
    )]
    Private {
        /// The host in the URL.
        host: String,
        /// The address of the host.
        address: IpAddr,
    },
    /// The URL is not an HTTP URL.
    #[error("unsupported URL scheme '{scheme}'; use http or https")]
    Scheme {
        /// The scheme.
        scheme: String,
    },
    /// The URL has no host.
    #[error("the URL has no host")]
    NoHost,
    /// The host name has no address.
    #[error("cannot resolve '{host}'")]
    Unresolved {
        /// The host name.
        host: String,
    },
}

impl NetworkGuard {
    /// Creates a guard that allows only public addresses.
    pub fn public() -> Self {
        Self { allow_all: false, allowed: Arc::default() }
    }

    /// Creates a guard that allows every address.
    pub fn allow_all() -> Self {
        Self { allow_all: true, allowed: Arc::default() }
    }

    /// Also allows the host and port of a URL, whatever their address is.
    #[must_use]
    pub fn allowing(mut self, url: &Url) -> Self {
        if let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) {
            Arc::make_mut(&mut self.allowed).push((host.to_owned(), port));
        }
        self
    }

    /// Makes the client resolve host names through the guard, and disables proxies, which would do it themselves.
    ///
    /// IP addresses in URLs are not resolved, so every URL, including redirects, must pass [`NetworkGuard::check`].
    pub fn apply(&self, builder: ClientBuilder) -> ClientBuilder {
        builder.dns_resolver(Arc::new(Resolver(self.clone()))).no_proxy()
    }

    /// Checks a URL before a request is sent to it.
    ///
    /// # Errors
    /// When the guard blocks it.
    pub async fn check(&self, url: &Url) -> Result<(), GuardError> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(GuardError::Scheme { scheme: url.scheme().to_owned() });
        }
        let (Some(host), Some(port)) = (url.host(), url.port_or_known_default()) else {
            return Err(GuardError::NoHost);
        };
        if self.allow_all {
            return Ok(());
        }
        let text = url.host_str().unwrap_or_default();
        if self.allowed.iter().any(|(name, allowed_port)| name == text && *allowed_port == port) {
            return Ok(());
        }
        match host {
            Host::Ipv4(address) => self.check_address(text, address.into()),
            Host::Ipv6(address) => self.check_address(text, address.into()),
            // The resolver lets an allowed host through but does not know the port, so other ports are checked here.
            Host::Domain(name) if self.is_allowed_host(name) => {
                let found = tokio::net::lookup_host((name, port)).await;
                let found = found.map_err(|_| GuardError::Unresolved { host: name.to_owned() })?;
                found.into_iter().try_for_each(|address| self.check_address(name, address.ip()))
            }
            Host::Domain(_) => Ok(()),
        }
    }

    fn is_allowed_host(&self, host: &str) -> bool {
        self.allowed.iter().any(|(name, _)| name == host)
    }

    fn check_address(&self, host: &str, address: IpAddr) -> Result<(), GuardError> {
        if self.allow_all || is_public(address) {
            return Ok(());
        }
        Err(GuardError::Private { host: host.to_owned(), address })
    }
}

struct Resolver(NetworkGuard);

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let guard = self.0.clone();
        Box::pin(async move {
            let name = name.as_str();
            let found: Vec<SocketAddr> = tokio::net::lookup_host((name, 0)).await?.collect();
            if !guard.is_allowed_host(name) {
                // One blocked address blocks the name, because the client may connect to any of them.
                found.iter().try_for_each(|address| guard.check_address(name, address.ip()))?;
            }
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

/// Returns whether an address belongs to the public internet.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    !matches!(
        (a, b, c),
        (0 | 10 | 127 | 224..=255, ..)      // this network, private, loopback, multicast and reserved
            | (100, 64..=127, _)            // carrier-grade NAT, and a cloud's metadata service
            | (169, 254, _)                 // link-local, and most clouds' metadata services
            | (172, 16..=31, _)
            | (192, 0, 0 | 2)
            | (192, 88, 99)
            | (192, 168, _)
            | (198, 18..=19, _)
            | (198, 51, 100)
            | (203, 0, 113)
    )
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let parts = address.segments();
    let v4 = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match parts {
        // Embedded IPv4 addresses: mapped, compatible (including :: and ::1), translated, 6to4.
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x2002, high, low, ..] => v4(high, low),
        // Local translation, discard, Teredo and other protocol assignments, documentation.
        [0x64, 0xff9b, 1, ..] | [0x100, 0, 0, 0, ..] | [0x2001, 0..=0x1ff | 0xdb8, ..] => false,
        // Of the rest, only 2000::/3 is allocated to the internet; this excludes private, link-local and multicast.
        [first, ..] => first & 0xe000 == 0x2000 && first != 0x3fff,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a4_only_addresses_of_the_public_internet_are_public() {
        for special in [
            "0.0.0.0",
            "10.1.2.3",
            "100.100.100.200",
            "127.0.0.1",
            "127.8.8.8",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.192",
            "192.168.1.1",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "::7f00:1",
            "64:ff9b::a9fe:a9fe",
            "2002:7f00:1::1",
            "2001:0:1::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "ff02::1",
            "2001:db8::1",
        ] {
            assert!(!is_public(special.parse().unwrap()), "{special}");
        }
        for public in
            ["1.1.1.1", "100.63.0.1", "172.32.0.1", "192.0.1.1", "2606:4700:4700::1111", "::ffff:8.8.8.8"]
        {
            assert!(is_public(public.parse().unwrap()), "{public}");
        }
    }
}
