//! Logs go to stderr: stdout belongs to the transport.

use std::io::IsTerminal as _;

use tracing::Level;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::format::FmtSpan;

use crate::output;

/// What is logged, and how it is written.
pub(crate) struct LogOptions<'a> {
    /// A filter, as `ONETOOL_LOG` has it.
    pub(crate) filter: Option<&'a str>,
    /// The filter without one.
    pub(crate) default: &'a str,
    /// How lines are written, as `ONETOOL_LOG_FORMAT` has it.
    pub(crate) format: Option<&'a str>,
    /// Whether what is said to people goes into the log as well.
    pub(crate) includes_notes: bool,
}

/// Starts logging.
pub(crate) fn start(options: &LogOptions<'_>) {
    let (filter, bad_filter) = match options.filter.map(|it| EnvFilter::try_new(directives(it))) {
        Some(Ok(filter)) => (filter, None),
        Some(Err(error)) => (EnvFilter::new(directives(options.default)), Some(error)),
        None => (EnvFilter::new(directives(options.default)), None),
    };
    let is_json = options.format == Some("json");
    // A span has nothing to say of its own but how long it took, which is for those who look closely.
    let is_detailed = filter.max_level_hint().is_none_or(|it| it >= LevelFilter::DEBUG);
    let spans = if is_detailed { FmtSpan::CLOSE } else { FmtSpan::NONE };
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_span_events(spans)
        // It would be written to stderr, and panic if that is what is closed.
        .log_internal_errors(false)
        .with_target(false);
    // A subscriber that is there already is as good.
    let _ = if is_json {
        output::write_notes_as_json(options.includes_notes);
        subscriber.json().try_init()
    } else {
        subscriber.with_ansi(std::io::stderr().is_terminal()).try_init()
    };
    if let Some(error) = bad_filter {
        tracing::warn!("ONETOOL_LOG is not a filter: {error}; using '{}'", options.default);
    }
    if let Some(format) = options.format.filter(|it| !matches!(*it, "json" | "text" | "")) {
        tracing::warn!("unknown ONETOOL_LOG_FORMAT '{format}'; use text or json");
    }
}

/// Turns what a person asks for into directives. A level on its own is meant for onetool: other crates log what passes
/// through them, and the MCP SDK whole messages, so they are quiet unless they are named.
fn directives(filter: &str) -> String {
    let mut directives: Vec<String> = Vec::new();
    let mut is_sdk_named = false;
    for directive in filter.split(',').map(str::trim).filter(|it| !it.is_empty()) {
        is_sdk_named |= directive.starts_with("rmcp");
        match directive.parse::<LevelFilter>() {
            Ok(level) => {
                let others = level.min(LevelFilter::from_level(Level::WARN));
                directives.extend([others.to_string(), format!("onetool={level}")]);
            }
            Err(_) => directives.push(directive.to_owned()),
        }
    }
    if !is_sdk_named {
        directives.push("rmcp=off".to_owned());
    }
    directives.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l4_a_level_is_meant_for_onetool_and_the_sdk_has_to_be_named() {
        for (asked, expected) in [
            ("debug", "warn,onetool=debug,rmcp=off"),
            ("trace", "warn,onetool=trace,rmcp=off"),
            ("error", "error,onetool=error,rmcp=off"),
            ("off", "off,onetool=off,rmcp=off"),
            ("onetool_proxy=debug", "onetool_proxy=debug,rmcp=off"),
            ("rmcp=debug", "rmcp=debug"),
            ("info, rmcp[span]=trace", "warn,onetool=info,rmcp[span]=trace"),
            ("debug,[ot.result]=trace,", "warn,onetool=debug,[ot.result]=trace,rmcp=off"),
        ] {
            assert_eq!(directives(asked), expected);
            assert!(EnvFilter::try_new(expected).is_ok(), "{expected}");
        }
    }
}
