//! The `ot` pack: what an agent can ask the gateway about itself. A file per function.

mod aliases;
mod answer;
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
mod packs;
mod register;
mod reload;
mod result;
mod snippets;
mod stats;
mod tools;
mod version;

pub(crate) use answer::Answer;
pub(crate) use context::{FailedPack, OtContext, OtHost, Reloaded, ServerState};
pub(crate) use error::OtError;
pub(crate) use info::InfoLevel;
pub(crate) use listing::sample_call;
pub(crate) use register::register;
pub(crate) use stats::{StatsError, StatsQuery};

#[cfg(test)]
mod tests;
