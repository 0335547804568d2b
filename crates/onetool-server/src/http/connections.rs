//! The open connections: how many there may be, and which one makes room for the next.

use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use onetool_core::sync::Unpoisoned as _;
use tokio_util::sync::CancellationToken;

/// How many connections are held open, and how long each may keep the server waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// Connections that may be open at the same time.
    pub max: usize,
    /// Connections that one address may have open at the same time. An IPv6 address stands for its /64 network.
    pub max_per_address: usize,
    /// How long the head of a request may take to arrive.
    pub header_timeout: Duration,
    /// How long the body of a request may take to arrive.
    pub body_timeout: Duration,
    /// How long a connection may stay open between two requests.
    pub idle_timeout: Duration,
    /// How long a client may go without reading any of the response that waits for it.
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
/// A connection without a request that was let in makes room for a new one, the oldest first, so that nobody can lock
/// others out by opening connections. Connections that have proven themselves are never closed for a newcomer.
#[derive(Default)]
pub(super) struct Connections {
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    next: u64,
    /// In the order in which they were opened.
    open: BTreeMap<u64, Entry>,
}

struct Entry {
    network: IpAddr,
    proof: Proof,
    evicted: CancellationToken,
}

/// Whether a request on the connection was let in. It travels with each request of the connection.
#[derive(Clone, Default)]
pub(crate) struct Proof(Arc<AtomicBool>);

impl Proof {
    /// Notes that a request was let in.
    pub(crate) fn give(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_given(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A place among the open connections, free again when this is dropped.
pub(super) struct Place {
    connections: Arc<Connections>,
    id: u64,
    pub(super) proof: Proof,
    /// Cancelled when the connection has to make room.
    pub(super) evicted: CancellationToken,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.connections.with(|table| table.open.remove(&self.id));
    }
}

impl Connections {
    /// Finds a place for a connection, or returns `None` if no other connection can make room.
    pub(super) fn admit(self: &Arc<Self>, address: IpAddr, limits: &ConnectionLimits) -> Option<Place> {
        let network = network(address);
        let entry = Entry { network, proof: Proof::default(), evicted: CancellationToken::new() };
        let (proof, evicted) = (entry.proof.clone(), entry.evicted.clone());
        let id = self.with(|table| {
            let of_network = table.open.values().filter(|it| it.network == network).count();
            if of_network >= limits.max_per_address && !table.evict(|it| it.network == network) {
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
        Some(Place { connections: self.clone(), id, proof, evicted })
    }

    /// Closes the older half of the connections that have not proven themselves; returns whether there were any.
    pub(super) fn evict_half(&self) -> bool {
        self.with(|table| {
            let unproven = table.open.values().filter(|it| !it.proof.is_given()).count();
            (0..unproven.div_ceil(2)).all(|_| table.evict(|_| true)) && unproven > 0
        })
    }

    fn with<T>(&self, action: impl FnOnce(&mut Table) -> T) -> T {
        action(&mut self.table.lock().unpoisoned())
    }
}

impl Table {
    /// Closes the oldest connection of a kind that has not proven itself; returns whether there was one.
    fn evict(&mut self, of_kind: impl Fn(&Entry) -> bool) -> bool {
        let oldest = self.open.iter().find(|(_, it)| !it.proof.is_given() && of_kind(it));
        let Some(id) = oldest.map(|(id, _)| *id) else { return false };
        if let Some(entry) = self.open.remove(&id) {
            entry.evicted.cancel();
        }
        true
    }

    /// Returns the network with the most connections that have not proven themselves, if there are any.
    fn most_crowded_network(&self) -> Option<IpAddr> {
        let mut counts: HashMap<IpAddr, usize> = HashMap::new();
        for entry in self.open.values().filter(|it| !it.proof.is_given()) {
            *counts.entry(entry.network).or_default() += 1;
        }
        counts.into_iter().max_by_key(|(_, count)| *count).map(|(network, _)| network)
    }
}

/// Returns what counts as one address: an IPv4 address, or the network that one IPv6 customer has.
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
    fn h10_the_oldest_unproven_connection_makes_room() {
        let connections = Arc::new(Connections::default());
        let admit = || connections.admit(address("127.0.0.1"), &limits(3, 3));
        let proven = admit().unwrap();
        proven.proof.give();
        let (first, second) = (admit().unwrap(), admit().unwrap());
        let third = admit().unwrap();
        let closed = [&proven, &first, &second, &third].map(|it| it.evicted.is_cancelled());
        assert_eq!(closed, [false, true, false, false]);
        // The place of the first one was given away before it was dropped.
        drop(first);
        second.proof.give();
        third.proof.give();
        assert!(admit().is_none(), "all of them have proven themselves");
        drop(second);
        assert!(admit().is_some());
    }

    #[test]
    fn h10_an_address_makes_room_among_its_own() {
        let connections = Arc::new(Connections::default());
        let one = connections.admit(address("10.0.0.1"), &limits(4, 2)).unwrap();
        let others: Vec<Place> =
            (0..3).map(|_| connections.admit(address("10.0.0.2"), &limits(4, 2)).unwrap()).collect();
        assert!(others[0].evicted.is_cancelled() && !one.evicted.is_cancelled());
        // The table is full: the address with the most unproven connections makes room.
        let third = connections.admit(address("10.0.0.3"), &limits(3, 2)).unwrap();
        assert!(others[1].evicted.is_cancelled() && !one.evicted.is_cancelled());
        drop(third);
        for place in &others {
            place.proof.give();
        }
        let last = others.last().unwrap();
        assert!(connections.admit(address("10.0.0.2"), &limits(3, 1)).is_none());
        assert!(!last.evicted.is_cancelled());
    }

    #[test]
    fn h10_half_of_the_unproven_connections_make_room_for_descriptors() {
        let connections = Arc::new(Connections::default());
        let places: Vec<Place> =
            (0..5).map(|_| connections.admit(address("::1"), &limits(9, 9)).unwrap()).collect();
        places[0].proof.give();
        assert!(connections.evict_half());
        let closed: Vec<bool> = places.iter().map(|it| it.evicted.is_cancelled()).collect();
        assert_eq!(closed, [false, true, true, false, false]);
        for place in &places {
            place.proof.give();
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
