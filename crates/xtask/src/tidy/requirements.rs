//! Requirement ids: the pages that list them, the tests that carry them, and the ids that wait.

use std::collections::{BTreeMap, BTreeSet};

use super::{File, Finding, PENDING};

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
    /// The letters that ids begin with, as test names spell them (`ot_`, `n`), and how many numbers follow.
    families: BTreeSet<(String, usize)>,
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
            let Some(Id { prefix, family }) = Id::parse(id) else { continue };
            self.families.insert(family);
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
            let prefix = Id::parse(id).map(|it| it.prefix).filter(|prefix| self.listed.contains_key(prefix));
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
            let Some(prefix) = self.leading_id(name) else { continue };
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

    /// Returns the leading `ot_6_7_` or `n4_` of a name, if it has the shape of a listed id.
    fn leading_id<'a>(&self, name: &'a str) -> Option<&'a str> {
        self.families.iter().find_map(|(letters, numbers)| {
            let rest = name.strip_prefix(letters.as_str())?;
            let parts: Vec<&str> = rest.splitn(numbers + 1, '_').collect();
            let is_id = parts.len() > *numbers && parts[..*numbers].iter().all(|it| is_number(it));
            is_id.then(|| &name[..name.len() - parts[*numbers].len()])
        })
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

/// A requirement id: letters, a number, perhaps a second one (`N4`, `CON-7`, `OT-6.7`).
struct Id {
    /// What the names of its tests begin with: `ot_6_7_`.
    prefix: String,
    /// Its letters as test names spell them, and how many numbers follow: `("ot_", 2)`.
    family: (String, usize),
}

impl Id {
    fn parse(id: &str) -> Option<Self> {
        let letters = id.find(|character: char| !character.is_ascii_uppercase()).filter(|end| *end > 0)?;
        let (letters, rest) = id.split_at(letters);
        let (separator, numbers) = rest.strip_prefix('-').map_or(("", rest), |rest| ("_", rest));
        let numbers: Vec<&str> = numbers.split('.').collect();
        if numbers.len() > 2 || !numbers.iter().all(|it| is_number(it)) {
            return None;
        }
        let family = letters.to_ascii_lowercase() + separator;
        Some(Self { prefix: format!("{family}{}_", numbers.join("_")), family: (family, numbers.len()) })
    }
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
