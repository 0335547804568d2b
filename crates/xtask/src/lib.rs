//! Shared by `cargo xtask` and the benchmarks in `crates/onetool-bench`: calling cargo, running programs, installing tools.

#![expect(clippy::print_stdout, reason = "a command line tool for developers")]

pub mod cargo;
pub mod process;
pub mod tools;
