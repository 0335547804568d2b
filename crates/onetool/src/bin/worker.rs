//! The worker process for programs that embed the library and have no subcommand of their own for it.

use std::process::ExitCode;

fn main() -> ExitCode {
    onetool::worker_main(std::env::args_os().skip(1))
}
