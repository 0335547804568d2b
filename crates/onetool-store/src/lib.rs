//! Everything that outlives a call: stored results, statistics, remembered queries, what is known of servers.
//!
//! The rest of onetool sees rows and never SQL, so that another database can take the place of this one.

pub mod clock;
pub mod events;
pub mod storage;
