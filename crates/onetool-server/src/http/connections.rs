//! The open connections: enforces their limits, and closes some to accept others.

use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use onetool_core::sync::Unpoisoned as _;
use tokio_util::sync::CancellationToken;

/// Limits on the number of connections and on their timeouts.
///
/// ```
/// use std::time::Duration;
///
/// use onetool_server::http::ConnectionLimits;
///
/// let mut limits = ConnectionLimits::default();
/// limits.max = 100;
/// limits.idle_timeout = Duration::from_secs(30);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConnectionLimits {
    /// Maximum number of open connections.
    pub max: usize,
    /// Maximum number of open connections of one address. All IPv6 addresses of a /64 network count as one.
    pub max_per_address: usize,
    /// How long to wait for the head of a request.
    pub header_timeout: Duration,
    /// How long to wait for the body of a request.
    pub body_timeout: Duration,
    /// How long a connection may be idle between two requests.
    pub idle_timeout: Duration,
    /// How long to wait for a client that does not read its response.
    pub write_timeout: Duration,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self {
            max: 512,
            max_per_address: 256,
            header_timeout: Duration::from_secs(10),
            body_timeout: Duration::from_mins(1),
            idle_timeout: Duration::from_secs(75),
            write_timeout: Duration::from_mins(1),
        }
    }
}

/// All open connections.
///
/// At the limit, the oldest unauthorized connection is closed for a new one, so that opening connections cannot lock out
/// others. Authorized connections are never closed for a new one.
#[derive(Default)]
pub(super) struct Connections {
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    next: u64,
    /// Ordered by age, because ids increase.
    open: BTreeMap<u64, Entry>,
}

struct Entry {
    network: IpAddr,
    authorized: Authorized,
    evicted: CancellationToken,
}

/// Whether a connection has sent an authorized request. Each of its requests has this in its extensions.
#[derive(Clone, Default)]
pub(crate) struct Authorized(Arc<AtomicBool>);

impl Authorized {
    /// Marks the connection as authorized.
    pub(crate) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A slot for an open connection, released on drop.
pub(super) struct Slot {
    connections: Arc<Connections>,
    id: u64,
    pub(super) authorized: Authorized,
    /// Canceled when the connection must close for another one.
    pub(super) evicted: CancellationToken,
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.connections.with(|table| table.open.remove(&self.id));
    }
}

impl Connections {
    /// Returns a slot for a connection, or `None` if no other connection can be closed for it.
    pub(super) fn admit(self: &Arc<Self>, address: IpAddr, limits: &ConnectionLimits) -> Option<Slot> {
        let network = network(address);
        let entry = Entry { network, authorized: Authorized::default(), evicted: CancellationToken::new() };
        let (authorized, evicted) = (entry.authorized.clone(), entry.evicted.clone());
        let id = self.with(|table| {
            let in_network = table.open.values().filter(|it| it.network == network).count();
            if in_network >= limits.max_per_address && !table.evict(|it| it.network == network) {
                return None;
            }
            if table.open.len() >= limits.max {
                let crowded = table.most_crowded_network()?;
                table.evict(|it| it.network == crowded);
            }
            table.next += 1;
            table.open.insert(table.next, entry);
            Some(table.next)
        })?;
        Some(Slot { connections: self.clone(), id, authorized, evicted })
    }

    /// Closes the older half of the unauthorized connections; returns whether there were any.
    pub(super) fn evict_half(&self) -> bool {
        self.with(|table| {
            let unauthorized = table.open.values().filter(|it| !it.authorized.is_set()).count();
            (0..unauthorized.div_ceil(2)).all(|_| table.evict(|_| true)) && unauthorized > 0
        })
    }

    fn with<T>(&self, action: impl FnOnce(&mut Table) -> T) -> T {
        action(&mut self.table.lock().unpoisoned())
    }
}

impl Table {
    /// Closes the oldest unauthorized connection that matches; returns whether there was one.
    fn evict(&mut self, matches: impl Fn(&Entry) -> bool) -> bool {
        let oldest = self.open.iter().find(|(_, it)| !it.authorized.is_set() && matches(it));
        let Some(id) = oldest.map(|(id, _)| *id) else { return false };
        if let Some(entry) = self.open.remove(&id) {
            entry.evicted.cancel();
        }
        true
    }

    /// Returns the network with the most unauthorized connections, if there are any.
    fn most_crowded_network(&self) -> Option<IpAddr> {
        let mut counts: HashMap<IpAddr, usize> = HashMap::new();
        for entry in self.open.values().filter(|it| !it.authorized.is_set()) {
            *counts.entry(entry.network).or_default() += 1;
        }
        counts.into_iter().max_by_key(|(_, count)| *count).map(|(network, _)| network)
    }
}

/// Returns what counts as one address: an IPv4 address, or the /64 network of an IPv6 address.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64))),
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(max: usize, max_per_address: usize) -> ConnectionLimits {
        ConnectionLimits { max, max_per_address, ..ConnectionLimits::default() }
    }

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn h10_the_oldest_unauthorized_connection_is_closed() {
        let connections = Arc::new(Connections::default());
        let admit = || connections.admit(address("127.0.0.1"), &limits(3, 3));
        let authorized = admit().unwrap();
        authorized.authorized.set();
        let (first, second) = (admit().unwrap(), admit().unwrap());
        let third = admit().unwrap();
        let closed = [&authorized, &first, &second, &third].map(|it| it.evicted.is_cancelled());
        assert_eq!(closed, [false, true, false, false]);
        // The first slot was already reassigned before this drop.
        drop(first);
        second.authorized.set();
        third.authorized.set();
        assert!(admit().is_none(), "all of them are authorized");
        drop(second);
        assert!(admit().is_some());
    }

    #[test]
    fn h10_an_address_at_its_limit_closes_its_own_connections() {
        let connections = Arc::new(Connections::default());
        let one = connections.admit(address("10.0.0.1"), &limits(4, 2)).unwrap();
        let others: Vec<Slot> =
            (0..3).map(|_| connections.admit(address("10.0.0.2"), &limits(4, 2)).unwrap()).collect();
        assert!(others[0].evicted.is_cancelled() && !one.evicted.is_cancelled());
        // The table is full, so the address with the most unauthorized connections loses one.
        let third = connections.admit(address("10.0.0.3"), &limits(3, 2)).unwrap();
        assert!(others[1].evicted.is_cancelled() && !one.evicted.is_cancelled());
        drop(third);
        for slot in &others {
            slot.authorized.set();
        }
        let last = others.last().unwrap();
        assert!(connections.admit(address("10.0.0.2"), &limits(3, 1)).is_none());
        assert!(!last.evicted.is_cancelled());
    }

    #[test]
    fn h10_half_of_the_unauthorized_connections_are_closed_to_free_descriptors() {
        let connections = Arc::new(Connections::default());
        let slots: Vec<Slot> =
            (0..5).map(|_| connections.admit(address("::1"), &limits(9, 9)).unwrap()).collect();
        slots[0].authorized.set();
        assert!(connections.evict_half());
        let closed: Vec<bool> = slots.iter().map(|it| it.evicted.is_cancelled()).collect();
        assert_eq!(closed, [false, true, true, false, false]);
        for slot in &slots {
            slot.authorized.set();
        }
        assert!(!connections.evict_half());
    }

    #[test]
    fn h10_a_network_counts_as_one_address() {
        assert_eq!(network(address("::ffff:10.0.0.1")), address("10.0.0.1"));
        assert_eq!(network(address("2001:db8:1:2:3:4:5:6")), address("2001:db8:1:2::"));
        assert_ne!(network(address("2001:db8:1:3::1")), address("2001:db8:1:2::"));
    }
}
