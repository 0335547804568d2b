//! Keeps requests away from addresses that outsiders must not reach through us.
//!
//! Names are checked when they are resolved for the connection itself, so a name that changes its address between a
//! check and the connection gains nothing.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use reqwest::ClientBuilder;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};

/// Says which addresses may be reached: public ones, and what the operator named.
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
    named: Arc<Vec<(String, u16)>>,
}

/// An address that may not be reached.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// The address is not public.
    #[error(
        "'{host}' is a loopback, private or otherwise special address ({address}), which is refused unless the \
         configuration names it or sets allow_private"
    )]
    Private {
        /// The host as it was written.
        host: String,
        /// What it stands for.
        address: IpAddr,
    },
    /// The URL is not one of HTTP.
    #[error("'{scheme}:' URLs cannot be called, only http and https")]
    Scheme {
        /// The scheme.
        scheme: String,
    },
    /// The URL has no host.
    #[error("the URL has no host")]
    NoHost,
    /// The name has no address.
    #[error("'{host}' cannot be resolved")]
    Unresolved {
        /// The name.
        host: String,
    },
}

impl NetworkGuard {
    /// Makes a guard that lets only public addresses pass.
    pub fn public() -> Self {
        Self { allow_all: false, named: Arc::default() }
    }

    /// Makes a guard that lets every address pass.
    pub fn allow_all() -> Self {
        Self { allow_all: true, named: Arc::default() }
    }

    /// Lets host and port of a URL pass too, whatever their address is.
    #[must_use]
    pub fn allowing(mut self, url: &Url) -> Self {
        if let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) {
            Arc::make_mut(&mut self.named).push((host.to_owned(), port));
        }
        self
    }

    /// Makes a client of `builder` resolve names through the guard, and use no proxy, which would resolve them itself.
    ///
    /// An address in a URL is not resolved: [`NetworkGuard::check`] has to see every URL, redirects included.
    pub fn apply(&self, builder: ClientBuilder) -> ClientBuilder {
        builder.dns_resolver(Arc::new(Resolver(self.clone()))).no_proxy()
    }

    /// Checks a URL before a request is sent there.
    ///
    /// # Errors
    /// When its address may not be reached.
    pub async fn check(&self, url: &Url) -> Result<(), Refused> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(Refused::Scheme { scheme: url.scheme().to_owned() });
        }
        let (Some(host), Some(port)) = (url.host(), url.port_or_known_default()) else {
            return Err(Refused::NoHost);
        };
        if self.allow_all {
            return Ok(());
        }
        let text = url.host_str().unwrap_or_default();
        if self.named.iter().any(|(name, named_port)| name == text && *named_port == port) {
            return Ok(());
        }
        match host {
            Host::Ipv4(address) => self.pass(text, address.into()),
            Host::Ipv6(address) => self.pass(text, address.into()),
            // The resolver does not know ports: another port of a named host is looked at here.
            Host::Domain(name) if self.names(name) => {
                let found = tokio::net::lookup_host((name, port)).await;
                let found = found.map_err(|_| Refused::Unresolved { host: name.to_owned() })?;
                found.into_iter().try_for_each(|address| self.pass(name, address.ip()))
            }
            Host::Domain(_) => Ok(()),
        }
    }

    fn names(&self, host: &str) -> bool {
        self.named.iter().any(|(name, _)| name == host)
    }

    fn pass(&self, host: &str, address: IpAddr) -> Result<(), Refused> {
        if self.allow_all || is_public(address) {
            return Ok(());
        }
        Err(Refused::Private { host: host.to_owned(), address })
    }
}

struct Resolver(NetworkGuard);

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let guard = self.0.clone();
        Box::pin(async move {
            let name = name.as_str();
            let found: Vec<SocketAddr> = tokio::net::lookup_host((name, 0)).await?.collect();
            if !guard.names(name) {
                // One bad address refuses the name: which one would be dialled is not ours to choose.
                found.iter().try_for_each(|address| guard.pass(name, address.ip()))?;
            }
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

/// Tells whether an address belongs to the public internet.
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
        // An IPv4 address in another coat: mapped, compatible (with :: and ::1), translated, 6to4.
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x2002, high, low, ..] => v4(high, low),
        // Local translation, discard, Teredo and other protocol assignments, documentation.
        [0x64, 0xff9b, 1, ..] | [0x100, 0, 0, 0, ..] | [0x2001, 0..=0x1ff | 0xdb8, ..] => false,
        // Of what is left only 2000::/3 is given out to the internet; that leaves out private, link-local, multicast.
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
