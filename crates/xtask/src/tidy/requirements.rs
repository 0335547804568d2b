//! Requirement ids: the pages that list them, the tests named after them, and the ids without a test.

use std::collections::{BTreeMap, BTreeSet};

use crate::finding::Finding;
use crate::sources::File;

const PAGES: &str = "docs/requirements/";
const PENDING: &str = "docs/requirements-pending.txt";

/// A line of a file.
#[derive(Clone, Debug)]
struct Place {
    path: String,
    line: usize,
}

/// An id without a test, or whose tests do not cover a part of it.
struct Pending {
    place: Place,
    is_part: bool,
}

/// All ids, in the form in which test names begin with them (`ot_6_7_`).
#[derive(Default)]
pub(super) struct Requirements {
    listed: BTreeMap<String, (String, Place)>,
    /// The letters that ids begin with, as in test names (`ot_`, `n`), and how many numbers follow.
    families: BTreeSet<(String, usize)>,
    pending: BTreeMap<String, Pending>,
    tested: BTreeMap<String, Place>,
}

impl Requirements {
    /// Compares the ids in the pages, the tests and the list of pending ids.
    pub(super) fn check(files: &[File], findings: &mut Vec<Finding>) {
        let mut requirements = Self::default();
        for file in files.iter().filter(|file| file.path.starts_with(PAGES) && file.has_extension("md")) {
            requirements.read_page(file, findings);
        }
        if let Some(pending) = files.iter().find(|file| file.path == PENDING) {
            requirements.read_pending(pending, findings);
        }
        for file in files.iter().filter(|file| file.has_extension("rs")) {
            requirements.read_tests(file, findings);
        }
        requirements.check_coverage(findings);
    }

    /// Reads the table rows `| ID | requirement |`.
    fn read_page(&mut self, file: &File, findings: &mut Vec<Finding>) {
        for (place, line) in places(file) {
            let Some(id) = line.strip_prefix("| ").and_then(|row| row.split(" |").next()) else {
                continue;
            };
            let Some(Id { prefix, family }) = Id::parse(id) else { continue };
            self.families.insert(family);
            if let Some((_, first)) = self.listed.get(&prefix) {
                let message = format!("{id} is already listed at {}:{}: remove one", first.path, first.line);
                findings.push(Finding::new(&place.path, place.line, message));
            } else {
                self.listed.insert(prefix, (id.to_owned(), place));
            }
        }
    }

    /// Reads the lines `ID reason` and `ID part: reason`.
    fn read_pending(&mut self, file: &File, findings: &mut Vec<Finding>) {
        for (place, line) in places(file) {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (id, reason) = line.split_once(' ').unwrap_or((line, ""));
            let prefix = Id::parse(id).map(|it| it.prefix).filter(|prefix| self.listed.contains_key(prefix));
            let problem = match &prefix {
                None => {
                    Some(format!("{id} is not listed in docs/requirements: fix the id, or remove the line"))
                }
                Some(_) if reason.trim_start_matches("part:").trim().is_empty() => {
                    Some(format!("{id} has no reason: say what is missing"))
                }
                Some(prefix) if self.pending.contains_key(prefix) => {
                    Some(format!("duplicate {id}: remove one line"))
                }
                Some(_) => None,
            };
            if let Some(message) = problem {
                findings.push(Finding::new(&place.path, place.line, message));
            }
            if let Some(prefix) = prefix {
                self.pending.entry(prefix).or_insert(Pending { place, is_part: reason.starts_with("part:") });
            }
        }
    }

    /// Reads the test functions, and functions in doc comments, whose name begins with an id.
    fn read_tests(&mut self, file: &File, findings: &mut Vec<Finding>) {
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
                    "test `{name}` begins with an id that is not listed in docs/requirements: fix the name, or list the id"
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

    /// Compares the listed, tested and pending ids.
    fn check_coverage(&self, findings: &mut Vec<Finding>) {
        for (prefix, (id, listed)) in &self.listed {
            match (self.tested.get(prefix), self.pending.get(prefix)) {
                (None, None) => findings.push(Finding::new(
                    &listed.path,
                    listed.line,
                    format!("{id} has no test: add one named `{prefix}…`, or `{id} reason` to {PENDING}"),
                )),
                (None, Some(Pending { place, is_part: true })) => findings.push(Finding::new(
                    &place.path,
                    place.line,
                    format!("only a part of {id} is pending, but it has no test: add one named `{prefix}…`, or remove `part:`"),
                )),
                (Some(test), Some(Pending { place, is_part: false })) => findings.push(Finding::new(
                    &place.path,
                    place.line,
                    format!(
                        "{id} has a test ({}:{}): remove this line, or write `part:` if a part is still pending",
                        test.path, test.line
                    ),
                )),
                (Some(_), _) | (None, Some(_)) => {}
            }
        }
    }
}

/// A requirement id: letters and one or two numbers (`N4`, `CON-7`, `OT-6.7`).
struct Id {
    /// The prefix of its tests' names: `ot_6_7_`.
    prefix: String,
    /// Its letters as in test names, and how many numbers follow: `("ot_", 2)`.
    family: (String, usize),
}

impl Id {
    fn parse(id: &str) -> Option<Self> {
        let letters = id.find(|c: char| !c.is_ascii_uppercase()).filter(|end| *end > 0)?;
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

/// Returns the name of the function that a line defines, and whether it is in a doc comment.
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
    let end = name.find(|c: char| !c.is_alphanumeric() && c != '_')?;
    Some((&name[..end], comment.is_some()))
}

/// Returns whether the attributes just above a function make it a test.
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
