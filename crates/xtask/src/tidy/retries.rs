//! A rule about .config/nextest.toml: no test is retried unless an override names it and says why.

use std::collections::BTreeSet;

use super::security::functions;
use crate::finding::Finding;
use crate::sources::File;

const CONFIG: &str = ".config/nextest.toml";

pub(super) fn check(files: &[File], findings: &mut Vec<Finding>) {
    let Some(config) = files.iter().find(|file| file.path == CONFIG) else { return };
    let sources = files.iter().filter(|file| file.has_extension("rs"));
    let tests: BTreeSet<&str> = sources.flat_map(|file| functions(&file.text)).collect();
    let lines: Vec<&str> = config.text.lines().map(str::trim).collect();
    let mut section = 0;
    for (index, line) in lines.iter().enumerate() {
        if line.starts_with('[') {
            section = index;
        }
        let Some(value) = value(line, "retries") else { continue };
        let is_override = lines[section].starts_with("[[") && lines[section].ends_with(".overrides]]");
        let problem = if is_override {
            let end = lines[index..].iter().position(|line| line.starts_with('['));
            let end = end.map_or(lines.len(), |length| index + length);
            let filter = lines[section..end].iter().find_map(|line| self::value(line, "filter"));
            check_override(
                section.checked_sub(1).map(|above| lines[above]),
                filter.unwrap_or_default(),
                &tests,
            )
        } else if value == "0" {
            None
        } else {
            Some("tests are not retried by default: set `retries = 0`".to_owned())
        };
        findings.extend(problem.map(|message| Finding::new(CONFIG, index + 1, message)));
    }
}

/// Returns what is wrong with an override that has `retries`.
fn check_override(above: Option<&str>, filter: &str, tests: &BTreeSet<&str>) -> Option<String> {
    if !above.is_some_and(|line| line.starts_with('#')) {
        return Some("say in a comment directly above the override why these tests are retried".to_owned());
    }
    // `test(=a::b) | test(=c)`: each name is the whole name of a test.
    for term in filter.trim_matches(['\'', '"']).split('|').map(str::trim) {
        let Some(name) = term.strip_prefix("test(=").and_then(|rest| rest.strip_suffix(')')) else {
            return Some(format!("'{term}' does not name a test: write `test(=module::name)`"));
        };
        let function = name.rsplit("::").next().unwrap_or_default();
        if !tests.contains(function) {
            return Some(format!("there is no test `{function}`: remove it from the override"));
        }
    }
    None
}

fn value<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    Some(line.strip_prefix(key)?.trim_start().strip_prefix('=')?.trim())
}
