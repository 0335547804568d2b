//! Everything that outlives a call: stored results, statistics, remembered queries, and what is known about servers.
//!
//! The rest of onetool sees rows and never SQL, so another database can replace SQLite.

pub mod events;
pub mod results;
pub mod stats;
pub mod storage;
