//! The reference of the command line, written from what clap knows.

use std::fmt::Write as _;

use clap::{Arg, Command};

/// Writes the reference as Markdown.
pub(crate) fn markdown(mut command: Command) -> String {
    command.build();
    let mut text = String::from("# Command line\n\nWritten by `cargo xtask codegen`; do not edit.\n");
    section(&mut text, &command, "onetool");
    for sub in command.get_subcommands().filter(|it| !it.is_hide_set() && it.get_name() != "help") {
        section(&mut text, sub, &format!("onetool {}", sub.get_name()));
    }
    text.push_str("\nExit codes: 0 fine, 1 the operation failed, 2 the command line was wrong.\n");
    text
}

// Writing to a String cannot fail, so the results are dropped throughout.
fn section(text: &mut String, command: &Command, name: &str) {
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let _ = write!(text, "\n## `{name}`\n\n{about}\n");
    let arguments: Vec<&Arg> = command
        .get_arguments()
        .filter(|it| !it.is_hide_set() && !matches!(it.get_id().as_str(), "help" | "version"))
        .filter(|it| name == "onetool" || !it.is_global_set())
        .collect();
    if arguments.is_empty() {
        return;
    }
    text.push_str("\n| argument | meaning |\n| --- | --- |\n");
    for argument in arguments {
        let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(text, "| `{}` | {} |", spelling(argument), help.replace('|', "\\|"));
    }
}

fn spelling(argument: &Arg) -> String {
    let value = argument.get_value_names().and_then(|names| names.first()).map(ToString::to_string);
    let takes_value = argument.get_action().takes_values();
    match (argument.get_long(), value) {
        (Some(long), Some(value)) if takes_value => format!("--{long} {value}"),
        (Some(long), _) => format!("--{long}"),
        (None, value) => value.unwrap_or_else(|| argument.get_id().to_string().to_uppercase()),
    }
}
