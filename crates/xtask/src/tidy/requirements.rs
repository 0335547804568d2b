//! Requirement ids: the pages that list them, the tests that carry them, and the ids that wait.

use std::collections::BTreeMap;

use super::{File, Finding, PENDING};

const FAMILIES: [&str; 8] = ["dsc", "web", "ot", "cus", "find", "run", "prx", "oas"];
const SECURITY: &str = "snpalro";

/// A line of a file.
#[derive(Clone, Debug)]
struct Place {
    path: String,
    line: usize,
}

/// An id that has no test yet, or whose tests leave out a part.
struct Pending {
    place: Place,
    part: bool,
}

/// All ids in the form that test names begin with (`ot_6_7_`).
#[derive(Default)]
pub(super) struct Requirements {
    listed: BTreeMap<String, (String, Place)>,
    pending: BTreeMap<String, Pending>,
    tested: BTreeMap<String, Place>,
}

impl Requirements {
    /// Reads the table rows `| ID | what holds |`.
    pub(super) fn read_page(&mut self, file: &File, findings: &mut Vec<Finding>) {
        for (place, line) in places(file) {
            let Some(id) = line.strip_prefix("| ").and_then(|row| row.split(" |").next()) else {
                continue;
            };
            let Some(prefix) = test_prefix(id) else { continue };
            if let Some((_, first)) = self.listed.get(&prefix) {
                let message = format!("{id} is listed before, at {}:{}: remove one", first.path, first.line);
                findings.push(Finding::new(&place.path, place.line, message));
            } else {
                self.listed.insert(prefix, (id.to_owned(), place));
            }
        }
    }

    /// Reads the lines `ID reason` and `ID part: reason`.
    pub(super) fn read_pending(&mut self, file: &File, findings: &mut Vec<Finding>) {
        for (place, line) in places(file) {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (id, reason) = line.split_once(' ').unwrap_or((line, ""));
            let prefix = test_prefix(id).filter(|prefix| self.listed.contains_key(prefix));
            let problem = match &prefix {
                None => Some(format!(
                    "{id} stands in no page of docs/requirements: correct the id or remove the line"
                )),
                Some(_) if reason.trim_start_matches("part:").trim().is_empty() => {
                    Some(format!("{id} has no reason: say what it waits for"))
                }
                Some(prefix) if self.pending.contains_key(prefix) => {
                    Some(format!("{id} stands here twice: remove one line"))
                }
                Some(_) => None,
            };
            if let Some(message) = problem {
                findings.push(Finding::new(&place.path, place.line, message));
            }
            if let Some(prefix) = prefix {
                self.pending.entry(prefix).or_insert(Pending { place, part: reason.starts_with("part:") });
            }
        }
    }

    /// Collects test functions, and functions in doc comments, whose name begins with an id.
    pub(super) fn read_tests(&mut self, file: &File, findings: &mut Vec<Finding>) {
        let lines: Vec<&str> = file.text.lines().collect();
        for (index, line) in lines.iter().enumerate() {
            let Some((name, documented)) = function_name(line) else {
                continue;
            };
            let Some(prefix) = id_shape(name) else { continue };
            if !documented && !is_test(&lines[..index]) {
                continue;
            }
            let place = Place { path: file.path.clone(), line: index + 1 };
            if self.listed.contains_key(prefix) {
                self.tested.entry(prefix.to_owned()).or_insert(place);
            } else {
                let message = format!(
                    "test `{name}` begins with an id that no page of docs/requirements lists: correct the name, or list the id"
                );
                findings.push(Finding::new(&place.path, place.line, message));
            }
        }
    }

    /// Compares what is listed, what is tested and what waits.
    pub(super) fn check_coverage(&self, findings: &mut Vec<Finding>) {
        for (prefix, (id, listed)) in &self.listed {
            match (self.tested.get(prefix), self.pending.get(prefix)) {
                (None, None) => findings.push(Finding::new(
                    &listed.path,
                    listed.line,
                    format!("{id} has no test: add one named `{prefix}…`, or `{id} reason` to {PENDING}"),
                )),
                (None, Some(Pending { place, part: true })) => findings.push(Finding::new(
                    &place.path,
                    place.line,
                    format!("{id} waits for a part only but has no test at all: add one named `{prefix}…`, or drop `part:`"),
                )),
                (Some(test), Some(Pending { place, part: false })) => findings.push(Finding::new(
                    &place.path,
                    place.line,
                    format!(
                        "{id} has a test ({}:{}): remove this line, or say `part:` if some of it still waits",
                        test.path, test.line
                    ),
                )),
                (Some(_), _) | (None, Some(_)) => {}
            }
        }
    }
}

/// Turns `OT-6.7` into `ot_6_7_` and `N4` into `n4_`; anything else is no id.
fn test_prefix(id: &str) -> Option<String> {
    if id.chars().any(|character| character.is_ascii_lowercase()) {
        return None;
    }
    let prefix = id.to_ascii_lowercase().replace(['-', '.'], "_") + "_";
    (id_shape(&prefix) == Some(&prefix)).then_some(prefix)
}

/// Returns the leading `ot_6_7_` or `n4_` of a name, if it has one.
fn id_shape(name: &str) -> Option<&str> {
    let (first, rest) = name.split_once('_')?;
    if FAMILIES.contains(&first) {
        let (major, rest) = rest.split_once('_')?;
        let (minor, rest) = rest.split_once('_')?;
        return (is_number(major) && is_number(minor)).then(|| &name[..name.len() - rest.len()]);
    }
    let mut characters = first.chars();
    let letter = characters.next()?;
    (SECURITY.contains(letter) && is_number(characters.as_str())).then(|| &name[..=first.len()])
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the name of the function a line defines, and whether that is inside a doc comment.
fn function_name(line: &str) -> Option<(&str, bool)> {
    let line = line.trim_start();
    let comment = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
    let mut code = comment.unwrap_or(line).trim_start();
    // Hidden lines of a doc test.
    code = code.strip_prefix("# ").unwrap_or(code);
    for word in ["pub ", "async "] {
        code = code.strip_prefix(word).unwrap_or(code);
    }
    let name = code.strip_prefix("fn ")?;
    let end = name.find(|character: char| !character.is_alphanumeric() && character != '_')?;
    Some((&name[..end], comment.is_some()))
}

/// Tells whether the attributes just above a function make it a test.
fn is_test(above: &[&str]) -> bool {
    above
        .iter()
        .rev()
        .map(|line| line.trim())
        .take_while(|line| !line.is_empty() && !line.ends_with(['}', '{', ';']))
        .filter_map(|line| line.strip_prefix("#["))
        .any(|attribute| {
            let path = attribute.split(['(', ']']).next().unwrap_or_default();
            path.rsplit("::").next() == Some("test")
        })
}

fn places(file: &File) -> impl Iterator<Item = (Place, &str)> {
    file.text
        .lines()
        .enumerate()
        .map(|(index, line)| (Place { path: file.path.clone(), line: index + 1 }, line))
}
