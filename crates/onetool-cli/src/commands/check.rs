//! `onetool check`: checks the configuration and everything it refers to.

use std::path::Path;
use std::process::ExitCode;

use onetool::config::{Config, ResourceBody, ToolBody};
use onetool::{Gateway, SourceReport, SourceState, Suspicion};
use serde_json::{Value, json};

use super::sources;
use crate::arguments::Check;
use crate::config_reader::{ConfigReader, Loaded};
use crate::environment::Environment;
use crate::error::CliError;
use crate::output;
use crate::trust::{self, UntrustedProject};

/// What was checked, and its problem, if any.
struct Finding {
    what: String,
    problem: Option<Problem>,
}

enum Problem {
    Warning(String),
    Error(String),
}

pub(crate) fn run(reader: &ConfigReader, args: &Check) -> Result<ExitCode, CliError> {
    let Loaded { config, untrusted } = reader.load()?;
    if let Some(untrusted) = untrusted {
        return print(args, &untrusted_findings(&untrusted));
    }
    let options = super::gateway_options(reader, &config);
    let gateway = Gateway::new(config.clone(), options)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(sources::wait(&gateway));
    let mut findings = findings(&config, &gateway);
    findings.extend(gateway.sources().iter().flat_map(source_findings));
    findings.extend(gateway.suspicions().into_iter().map(suspicion));
    let gaps = runtime.block_on(gateway.sandbox_gaps());
    findings.push(Finding { what: "sandbox".into(), problem: gaps.map(Problem::Warning) });
    let storage_problem = gateway.storage_problem();
    findings.push(Finding { what: "storage".into(), problem: storage_problem.map(Problem::Warning) });
    runtime.block_on(gateway.close());
    print(args, &findings)
}

fn print(args: &Check, findings: &[Finding]) -> Result<ExitCode, CliError> {
    if args.json {
        output::print_json(&findings.iter().map(Finding::as_json).collect::<Value>())?;
    } else {
        let lines: Vec<String> = findings.iter().map(Finding::as_line).collect();
        output::print(&lines.join("\n"))?;
    }
    let failed = findings.iter().any(|it| matches!(it.problem, Some(Problem::Error(_))));
    Ok(if failed { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// Reports a configuration that is not trusted, without starting anything.
fn untrusted_findings(untrusted: &UntrustedProject) -> Vec<Finding> {
    let problem = format!("{}; review it, then run `{}`", untrusted.summary(), untrusted.command());
    let not_used = Finding { what: "configuration".into(), problem: Some(Problem::Error(problem)) };
    let entries = untrusted.outline.iter().flat_map(trust::lines);
    let entry =
        |line| Finding { what: "would run or connect to".into(), problem: Some(Problem::Warning(line)) };
    [not_used].into_iter().chain(entries.map(entry)).collect()
}

fn findings(config: &Config, gateway: &Gateway) -> Vec<Finding> {
    let catalog = gateway.server().catalog();
    let location = config.path.as_ref().map_or("built-in defaults".into(), |path| path.display().to_string());
    let count = |kind: &str, number: usize| ok(format!("{kind}: {number}"));
    let mut findings = vec![ok(format!("configuration: {location}"))];
    findings.extend(
        config
            .warnings
            .iter()
            .map(|it| Finding { what: "configuration".into(), problem: Some(Problem::Warning(it.clone())) }),
    );
    findings.push(count("tools", catalog.tools().count()));
    findings.push(count("resources", catalog.resources().count()));
    findings.push(count("prompts", catalog.prompts().count()));
    findings.extend(catalog.renamed_apart().map(|entry| {
        let text = format!(
            "its flat name '{}' is taken, so clients see '{}'",
            entry.name().flat(),
            entry.flat_name()
        );
        Finding { what: format!("tool {}", entry.name()), problem: Some(Problem::Warning(text)) }
    }));
    findings.extend(config.search.pinned.iter().filter_map(|name| {
        let unknown = catalog.visible(name).err()?;
        Some(Finding { what: "search.pinned".into(), problem: Some(Problem::Warning(unknown.to_string())) })
    }));
    findings.extend(gateway.broken_packs().into_iter().map(|error| Finding {
        what: format!("pack {}", error.name),
        problem: Some(Problem::Error(error.to_string())),
    }));
    for tool in &config.declared.tools {
        if let ToolBody::Command(command) = &tool.body {
            findings.push(check_program(
                &tool.name,
                command.argv.first().map_or("", String::as_str),
                &command.cwd,
            ));
        }
    }
    for resource in &config.declared.resources {
        if let ResourceBody::File { path, .. } = &resource.body {
            let problem = (!path.is_file()).then(|| format!("file not found: '{}'", path.display()));
            findings.push(Finding {
                what: format!("resource {}", resource.uri),
                problem: problem.map(Problem::Error),
            });
        }
    }
    findings
}

/// Returns a finding for the state of a source, and one for each of its notes.
fn source_findings(report: &SourceReport) -> Vec<Finding> {
    let what = report.source.to_string();
    let state = match (&report.conflict, &report.state) {
        (Some(conflict), _) => {
            Finding { what: what.clone(), problem: Some(Problem::Warning(conflict.clone())) }
        }
        (None, SourceState::Connected) => ok(format!("{what}: connected, {} tools", report.tools)),
        (None, SourceState::Disabled) => ok(format!("{what}: disabled")),
        (None, state) => {
            let reason = state.reason().map_or_else(String::new, |reason| format!(": {reason}"));
            let next = state.next_step().map_or_else(String::new, |step| format!(" ({step})"));
            Finding { what: what.clone(), problem: Some(Problem::Error(format!("{state}{reason}{next}"))) }
        }
    };
    let note = |note: &String| Finding { what: what.clone(), problem: Some(Problem::Warning(note.clone())) };
    [state].into_iter().chain(report.notes.iter().map(note)).collect()
}

fn suspicion(it: Suspicion) -> Finding {
    let text = format!("{}: '{}'; review it before an agent reads it", it.why, it.excerpt);
    Finding { what: it.what, problem: Some(Problem::Warning(text)) }
}

fn ok(what: String) -> Finding {
    Finding { what, problem: None }
}

fn check_program(tool: &str, program: &str, directory: &Path) -> Finding {
    let exists = if program.contains('/') {
        directory.join(program).is_file()
    } else {
        let environment = Environment::for_children();
        let path = environment.get("PATH");
        path.is_some_and(|path| std::env::split_paths(path).any(|it| it.join(program).is_file()))
    };
    let problem = if exists {
        (!directory.is_dir()).then(|| format!("working directory not found: '{}'", directory.display()))
    } else {
        Some(format!("program not found: '{program}'; install it or use its full path"))
    };
    Finding { what: format!("tool {tool}"), problem: problem.map(Problem::Error) }
}

impl Finding {
    fn as_line(&self) -> String {
        match &self.problem {
            None => format!("ok       {}", self.what),
            Some(Problem::Warning(text)) => format!("warning  {}: {text}", self.what),
            Some(Problem::Error(text)) => format!("error    {}: {text}", self.what),
        }
    }

    fn as_json(&self) -> Value {
        match &self.problem {
            None => json!({"what": self.what, "state": "ok"}),
            Some(Problem::Warning(text)) => json!({"what": self.what, "state": "warning", "reason": text}),
            Some(Problem::Error(text)) => json!({"what": self.what, "state": "error", "reason": text}),
        }
    }
}
