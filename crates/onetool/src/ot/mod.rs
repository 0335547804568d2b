//! The `ot` pack: functions for agents to explore and manage the gateway, one file per function.

mod aliases;
mod config;
mod context;
mod error;
mod health;
mod help;
mod help_rank;
mod info;
mod listing;
mod load;
mod notify;
mod output;
mod packs;
mod register;
mod reload;
mod result;
mod snippets;
mod stats;
mod stats_query;
mod tools;
mod version;

pub(crate) use context::{FailedPack, OtContext, OtHost, Reloaded, ServerState};
pub(crate) use error::OtError;
pub(crate) use info::InfoLevel;
pub(crate) use output::Output;
pub(crate) use register::register;
pub(crate) use stats_query::{StatsError, StatsQuery};

#[cfg(test)]
mod tests;
