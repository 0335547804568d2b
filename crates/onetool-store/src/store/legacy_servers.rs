//! Servers that must be started with `initialize`.

/// Maximum number of servers; those that were set longest ago are deleted first.
pub const MAX_LEGACY_SERVERS: usize = 1_000;
