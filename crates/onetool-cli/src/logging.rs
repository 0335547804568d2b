//! Logging to stderr, because stdout belongs to the transport.

use std::io::IsTerminal as _;

use tracing::Level;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::format::FmtSpan;

use crate::output;

/// What is logged, and in which format.
pub(crate) struct LogOptions<'a> {
    /// The value of `ONETOOL_LOG`.
    pub(crate) filter: Option<&'a str>,
    /// The filter to use if `ONETOOL_LOG` is not set or invalid.
    pub(crate) default: &'a str,
    /// The value of `ONETOOL_LOG_FORMAT`.
    pub(crate) format: Option<&'a str>,
    /// Whether messages for the user are log lines too if the format is JSON.
    pub(crate) includes_notes: bool,
}

/// Starts logging.
pub(crate) fn start(options: &LogOptions<'_>) {
    let (filter, filter_error) = match options.filter.map(|it| EnvFilter::try_new(directives(it))) {
        Some(Ok(filter)) => (filter, None),
        Some(Err(error)) => (EnvFilter::new(directives(options.default)), Some(error)),
        None => (EnvFilter::new(directives(options.default)), None),
    };
    let is_json = options.format == Some("json");
    // All that is logged about a span is its duration, which is only interesting at debug and below.
    let is_detailed = filter.max_level_hint().is_none_or(|it| it >= LevelFilter::DEBUG);
    let spans = if is_detailed { FmtSpan::CLOSE } else { FmtSpan::NONE };
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_span_events(spans)
        // The subscriber writes its internal errors to stderr too, and panics if stderr is closed.
        .log_internal_errors(false)
        .with_target(false);
    // This fails only if there already is a subscriber, which is fine.
    let _ = if is_json {
        output::write_notes_as_json(options.includes_notes);
        subscriber.json().try_init()
    } else {
        subscriber.with_ansi(std::io::stderr().is_terminal()).try_init()
    };
    if let Some(error) = filter_error {
        tracing::warn!("invalid ONETOOL_LOG: {error}; using '{}'", options.default);
    }
    if let Some(format) = options.format.filter(|it| !matches!(*it, "json" | "text" | "")) {
        tracing::warn!("unknown ONETOOL_LOG_FORMAT '{format}'; use text or json");
    }
}

/// Converts a filter to directives. A bare level applies only to onetool: other crates log data that passes through
/// them, and the MCP SDK logs whole messages, so they are quiet unless the filter names them.
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
        for (filter, expected) in [
            ("debug", "warn,onetool=debug,rmcp=off"),
            ("trace", "warn,onetool=trace,rmcp=off"),
            ("error", "error,onetool=error,rmcp=off"),
            ("off", "off,onetool=off,rmcp=off"),
            ("onetool_proxy=debug", "onetool_proxy=debug,rmcp=off"),
            ("rmcp=debug", "rmcp=debug"),
            ("info, rmcp[span]=trace", "warn,onetool=info,rmcp[span]=trace"),
            ("debug,[ot.result]=trace,", "warn,onetool=debug,[ot.result]=trace,rmcp=off"),
        ] {
            assert_eq!(directives(filter), expected);
            assert!(EnvFilter::try_new(expected).is_ok(), "{expected}");
        }
    }
}
