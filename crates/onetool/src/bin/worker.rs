//! The worker process, for programs that embed the library without a worker subcommand.

use std::process::ExitCode;

fn main() -> ExitCode {
    onetool::worker_main(std::env::args_os().skip(1))
}
