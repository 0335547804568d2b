//! The command-line arguments. The doc comments are the help, and the source of docs/cli.md.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// One MCP server in front of every tool an AI agent has.
#[derive(Parser)]
#[command(name = "onetool", version, max_term_width = 100)]
pub(crate) struct Arguments {
    /// Path to the configuration file [default: $ONETOOL_CONFIG, ./.onetool/onetool.yaml, ~/.onetool/onetool.yaml].
    #[arg(long, short, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// Use the configuration in the working directory even if it is not trusted (see `onetool trust`).
    #[arg(long, global = true)]
    pub(crate) trust: bool,

    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Serve MCP over stdin and stdout, or over HTTP with `--http`. This is the default command.
    Serve(Serve),
    /// List tools.
    Tools(Tools),
    /// Find tools by what they do.
    Find(Find),
    /// Show a tool's signature, description, arguments and schema.
    Describe(Describe),
    /// Call a tool.
    Call(Call),
    /// Run Python code that can call every tool; without code on a terminal, start an interactive session.
    Run(Run),
    /// Show statistics: calls, success rate, tokens and time saved.
    Stats(Stats),
    /// Check the configuration and everything it refers to.
    Check(Check),
    /// Write a starter configuration to ./.onetool/onetool.yaml.
    Init,
    /// Trust the configuration in a directory until one of its files changes.
    Trust(Trust),
    /// Import the servers of another MCP client into servers.yaml, next to the configuration.
    Import(Import),
    /// Print the JSON Schema of the configuration file.
    Schema,
    /// Print a shell completion script.
    Completions {
        /// Shell to generate the script for.
        shell: clap_complete::Shell,
    },
    /// Run as a worker process, which runs code or reads a document.
    #[command(name = "__worker", hide = true, disable_help_flag = true)]
    Worker {
        /// Arguments of the worker.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Run as a guard process, which kills a program and its descendants when onetool exits.
    #[command(name = "__guard", hide = true, disable_help_flag = true)]
    Guard {
        /// Arguments of the guard.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Print the command-line reference as Markdown.
    #[command(name = "__cli-reference", hide = true)]
    CliReference,
}

#[derive(Args, Default)]
pub(crate) struct Serve {
    /// Serve over HTTP at this address [default: `http.listen` in the configuration, or 127.0.0.1:7411].
    #[arg(long, value_name = "ADDR", num_args = 0..=1)]
    #[expect(clippy::option_option, reason = "clap uses this type for an option with an optional value")]
    pub(crate) http: Option<Option<String>>,
}

#[derive(Args)]
pub(crate) struct Tools {
    /// Show only tools whose name contains this text, ignoring case.
    pub(crate) pattern: Option<String>,
    /// Level of detail.
    #[arg(long, value_enum, default_value_t = Info::Min)]
    pub(crate) info: Info,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct Find {
    /// What the tool should do, in your own words.
    #[arg(required = true)]
    pub(crate) query: Vec<String>,
    /// Maximum number of results [default: `search.limit` in the configuration, or 5].
    #[arg(long, value_name = "NUMBER")]
    pub(crate) limit: Option<NonZeroUsize>,
    /// Show how each score is computed.
    #[arg(long)]
    pub(crate) explain: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Level of detail of a list.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Info {
    /// Names.
    List,
    /// Names and descriptions.
    Min,
    /// Signatures, descriptions and sources.
    Full,
}

#[derive(Args)]
pub(crate) struct Describe {
    /// Name of the tool, as `pack.tool` or `pack_tool`.
    pub(crate) name: String,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct Call {
    /// Name of the tool, as `pack.tool` or `pack_tool`.
    pub(crate) name: String,
    /// Arguments as `key=value`, parsed according to the tool's schema.
    #[arg(value_name = "KEY=VALUE")]
    pub(crate) arguments: Vec<String>,
    /// All arguments as one JSON object.
    #[arg(long, value_name = "OBJECT", conflicts_with = "arguments")]
    pub(crate) json: Option<String>,
    /// Print the whole result as JSON, not only its text.
    #[arg(long)]
    pub(crate) raw: bool,
}

#[derive(Args)]
pub(crate) struct Run {
    /// Code to run, or `-` to read it from stdin.
    pub(crate) code: Option<String>,
    /// Read the code from a file.
    #[arg(long, short, value_name = "FILE", conflicts_with = "code")]
    pub(crate) file: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct Stats {
    /// Time period: day, week, month or all.
    #[arg(long, default_value = "all")]
    pub(crate) period: String,
    /// Show only this tool.
    #[arg(long)]
    pub(crate) tool: Option<String>,
    /// Write an HTML report to this file in the working directory.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<String>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct Import {
    /// Configuration files of other MCP clients (JSON with `mcpServers`).
    #[arg(value_name = "FILE", required_unless_present = "from")]
    pub(crate) files: Vec<PathBuf>,
    /// Import from this client's own configuration files.
    #[arg(long, value_enum, value_name = "CLIENT")]
    pub(crate) from: Option<Client>,
    /// Print the servers instead of writing a file.
    #[arg(long)]
    pub(crate) print: bool,
}

/// An MCP client to import servers from.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Client {
    /// Claude Desktop.
    ClaudeDesktop,
    /// Claude Code.
    ClaudeCode,
    /// Cursor.
    Cursor,
    /// Visual Studio Code.
    Vscode,
}

#[derive(Args)]
pub(crate) struct Trust {
    /// Directory that contains .onetool [default: the working directory].
    #[arg(value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
    /// Stop trusting the directory.
    #[arg(long)]
    pub(crate) revoke: bool,
    /// List the trusted directories.
    #[arg(long, conflicts_with_all = ["directory", "revoke"])]
    pub(crate) list: bool,
}

#[derive(Args)]
pub(crate) struct Check {
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
