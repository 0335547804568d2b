//! The cage, its jobs and its layers, on real processes.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod jobs;
mod layers;
mod walls;
