//! The cage, its jobs and its layers, tested on real processes.

#![expect(clippy::unwrap_used, reason = "a panic fails the test")]

mod jobs;
mod layers;
mod restrictions;
