//! `onetool check`: is everything there that the configuration names?

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
use crate::trust::{self, Untrusted};

/// One finding: what was looked at, and what is wrong with it, if anything.
struct Finding {
    what: String,
    problem: Option<Problem>,
}

enum Problem {
    Warning(String),
    Error(String),
}

pub(crate) fn run(reader: &ConfigReader, asked: &Check) -> Result<ExitCode, CliError> {
    let Loaded { config, untrusted } = reader.load()?;
    if let Some(untrusted) = untrusted {
        return print(asked, &untrusted_findings(&untrusted));
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
    let trouble = gateway.storage_trouble();
    findings.push(Finding { what: "storage".into(), problem: trouble.map(Problem::Warning) });
    runtime.block_on(gateway.close());
    print(asked, &findings)
}

fn print(asked: &Check, findings: &[Finding]) -> Result<ExitCode, CliError> {
    if asked.json {
        output::print_json(&findings.iter().map(Finding::as_json).collect::<Value>())?;
    } else {
        let lines: Vec<String> = findings.iter().map(Finding::as_line).collect();
        output::print(&lines.join("\n"))?;
    }
    let failed = findings.iter().any(|it| matches!(it.problem, Some(Problem::Error(_))));
    Ok(if failed { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// Shows a configuration that is not trusted. Nothing of it is started.
fn untrusted_findings(untrusted: &Untrusted) -> Vec<Finding> {
    let problem = format!("{}; look at it, then run `{}`", untrusted.summary(), untrusted.command());
    let not_used = Finding { what: "configuration".into(), problem: Some(Problem::Error(problem)) };
    let entries = untrusted.outline.iter().flat_map(trust::lines);
    let entry = |line| Finding { what: "would start or reach".into(), problem: Some(Problem::Warning(line)) };
    [not_used].into_iter().chain(entries.map(entry)).collect()
}

fn findings(config: &Config, gateway: &Gateway) -> Vec<Finding> {
    let catalog = gateway.server().catalog();
    let place = config.path.as_ref().map_or("built-in defaults".into(), |path| path.display().to_string());
    let count = |kind: &str, number: usize| fine(format!("{kind}: {number}"));
    let mut findings = vec![fine(format!("configuration: {place}"))];
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
    for tool in &config.tools {
        if let ToolBody::Command(command) = &tool.body {
            findings.push(check_program(
                &tool.name,
                command.argv.first().map_or("", String::as_str),
                &command.cwd,
            ));
        }
    }
    for resource in &config.resources {
        if let ResourceBody::File { path, .. } = &resource.body {
            let problem = (!path.is_file()).then(|| format!("there is no file '{}'", path.display()));
            findings.push(Finding {
                what: format!("resource {}", resource.uri),
                problem: problem.map(Problem::Error),
            });
        }
    }
    findings
}

/// Returns one finding for how a source is doing, and one for each thing of it that is wrong.
fn source_findings(report: &SourceReport) -> Vec<Finding> {
    let what = report.source.to_string();
    let state = match (&report.conflict, &report.state) {
        (Some(conflict), _) => {
            Finding { what: what.clone(), problem: Some(Problem::Warning(conflict.clone())) }
        }
        (None, SourceState::Connected) => fine(format!("{what}: connected, {} tools", report.tools)),
        (None, SourceState::Disabled) => fine(format!("{what}: disabled")),
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
    let text = format!("{}: '{}'; look at it before an agent does", it.why, it.excerpt);
    Finding { what: it.what, problem: Some(Problem::Warning(text)) }
}

fn fine(what: String) -> Finding {
    Finding { what, problem: None }
}

fn check_program(tool: &str, program: &str, directory: &Path) -> Finding {
    let is_there = if program.contains('/') {
        directory.join(program).is_file()
    } else {
        let folders = Environment::for_children().into_iter().find(|(name, _)| name == "PATH");
        folders
            .is_some_and(|(_, folders)| std::env::split_paths(&folders).any(|it| it.join(program).is_file()))
    };
    let problem = if is_there {
        (!directory.is_dir()).then(|| format!("there is no folder '{}' to run it in", directory.display()))
    } else {
        Some(format!("there is no program '{program}'; install it or give its whole path"))
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
