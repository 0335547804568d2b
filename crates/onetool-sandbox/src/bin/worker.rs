//! The worker process, for programs that embed the library without their own worker subcommand.

use std::process::ExitCode;

fn main() -> ExitCode {
    onetool_sandbox::zygote_main()
}
