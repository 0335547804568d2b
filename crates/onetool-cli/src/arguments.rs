//! What can be typed.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// One MCP server in front of every tool an AI agent has.
#[derive(Parser)]
#[command(name = "onetool", version, max_term_width = 100)]
pub(crate) struct Arguments {
    /// The configuration file [default: $ONETOOL_CONFIG, ./.onetool/onetool.yaml, ~/.onetool/onetool.yaml].
    #[arg(long, short, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// Use the configuration of the working directory, even if it was not trusted with `onetool trust`.
    #[arg(long, global = true)]
    pub(crate) trust: bool,

    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Serve MCP: over stdin and stdout, or over HTTP with `--http`. This is what runs when no command is given.
    Serve(Serve),
    /// List the tools.
    Tools(Tools),
    /// Find tools by what they do.
    Find(Find),
    /// Show one tool: signature, description, arguments, schema.
    Describe(Describe),
    /// Call a tool.
    Call(Call),
    /// Run Python in which every tool is a function; on a terminal and without code, line by line.
    Run(Run),
    /// Show what was called, and what that saved.
    Stats(Stats),
    /// Check the configuration and everything it names.
    Check(Check),
    /// Write a first configuration to ./.onetool/onetool.yaml.
    Init,
    /// Trust the configuration of a directory: it is used from now on, until one of its files changes.
    Trust(Trust),
    /// Take over the servers that another MCP client knows: writes servers.yaml beside the configuration.
    Import(Import),
    /// Print the JSON Schema of the configuration file.
    Schema,
    /// Print a completion script for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Be a process that runs code or reads a document.
    #[command(name = "__worker", hide = true, disable_help_flag = true)]
    Worker {
        /// What the worker is to do.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Be the process that ends another server's process group when onetool is gone.
    #[command(name = "__guard", hide = true, disable_help_flag = true)]
    Guard {
        /// What the guard is to do.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Print this reference as Markdown.
    #[command(name = "__cli-reference", hide = true)]
    CliReference,
}

#[derive(Args, Default)]
pub(crate) struct Serve {
    /// Serve over HTTP, at this address [default: the one in the configuration, 127.0.0.1:7411].
    #[arg(long, value_name = "ADDR", num_args = 0..=1)]
    #[expect(clippy::option_option, reason = "clap's way to tell `--http` from `--http ADDR`")]
    pub(crate) http: Option<Option<String>>,
}

#[derive(Args)]
pub(crate) struct Tools {
    /// Only tools whose name contains this, ignoring case.
    pub(crate) pattern: Option<String>,
    /// How much to tell of each.
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
    /// At most so many tools [default: the one in the configuration, 5].
    #[arg(long, value_name = "NUMBER")]
    pub(crate) limit: Option<NonZeroUsize>,
    /// Tell what each score is made of.
    #[arg(long)]
    pub(crate) explain: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// How much to tell of each item of a list.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Info {
    /// Names.
    List,
    /// Names and descriptions.
    Min,
    /// Signatures and sources too.
    Full,
}

#[derive(Args)]
pub(crate) struct Describe {
    /// The tool's name, as `pack.tool` or `pack_tool`.
    pub(crate) name: String,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct Call {
    /// The tool's name, as `pack.tool` or `pack_tool`.
    pub(crate) name: String,
    /// Arguments, as `key=value`; values are read as the tool's schema says.
    #[arg(value_name = "KEY=VALUE")]
    pub(crate) arguments: Vec<String>,
    /// All arguments as one JSON object.
    #[arg(long, value_name = "OBJECT", conflicts_with = "arguments")]
    pub(crate) json: Option<String>,
    /// Print the whole result as JSON instead of its text.
    #[arg(long)]
    pub(crate) raw: bool,
}

#[derive(Args)]
pub(crate) struct Run {
    /// The code, or `-` for stdin.
    pub(crate) code: Option<String>,
    /// Take the code from a file.
    #[arg(long, short, value_name = "FILE", conflicts_with = "code")]
    pub(crate) file: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct Stats {
    /// The period: day, week, month or all.
    #[arg(long, default_value = "all")]
    pub(crate) period: String,
    /// Only this tool.
    #[arg(long)]
    pub(crate) tool: Option<String>,
    /// Write an HTML report to this file, under the working directory.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<String>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct Import {
    /// Files with `mcpServers`, as other clients have them.
    #[arg(value_name = "FILE", required_unless_present = "from")]
    pub(crate) files: Vec<PathBuf>,
    /// Read the files of this client, where it keeps them.
    #[arg(long, value_enum, value_name = "CLIENT")]
    pub(crate) from: Option<Client>,
    /// Print the servers instead of writing a file.
    #[arg(long)]
    pub(crate) print: bool,
}

/// Another MCP client.
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
    /// The directory that holds .onetool [default: the working directory].
    #[arg(value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
    /// Trust it no longer.
    #[arg(long)]
    pub(crate) revoke: bool,
    /// List the directories that are trusted.
    #[arg(long, conflicts_with_all = ["directory", "revoke"])]
    pub(crate) list: bool,
}

#[derive(Args)]
pub(crate) struct Check {
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
