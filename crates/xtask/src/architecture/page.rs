//! The generated sections of ARCHITECTURE.md, and the dependencies that they list.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use anyhow::{Context, Result};

use super::packages::{Kind, Package};
use super::uses::Uses;

pub(super) const PAGE: &str = "ARCHITECTURE.md";
const END: &str = "<!-- end of generated -->";

const CRATES_INTRO: &str = "\
![The crates of the workspace and their dependencies](docs/images/crates.svg)

An arrow points to a dependency; a dashed one is optional. Arrows that follow from others are omitted; the table has all of
them. Gray crates are not published.

| crate | lines | depends on | in tests also on |
|---|--:|---|---|
";

const MODULES_INTRO: &str = "\
An arrow means that code in one module names something in the other. Arrows that follow from others are omitted from the
pictures; the lists have all of them.

";

/// The modules at the root of a library or binary, and which uses which.
pub(super) struct ModuleGraph {
    pub(super) name: String,
    pub(super) modules: BTreeSet<String>,
    pub(super) uses: Uses,
}

/// A dependency that the page lists.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Dependency {
    Crate { from: String, to: String },
    TestCrate { from: String, to: String },
    Module { graph: String, from: String, to: String },
}

impl Dependency {
    pub(super) fn added(&self) -> String {
        match self {
            Self::Crate { from, to } => format!(
                "crate `{from}` now depends on `{to}`; if that is intended run `cargo xtask codegen` and record it in docs/decisions"
            ),
            _ => format!("{self}; if that is intended run `cargo xtask codegen`"),
        }
    }

    pub(super) fn removed(&self) -> String {
        format!("{}; run `cargo xtask codegen`", self.to_string().replacen(" now ", " no longer ", 1))
    }
}

impl fmt::Display for Dependency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Crate { from, to } => write!(f, "crate `{from}` now depends on `{to}`"),
            Self::TestCrate { from, to } => write!(f, "crate `{from}` now depends on `{to}` in tests"),
            Self::Module { graph, from, to } => write!(f, "module `{from}` of `{graph}` now uses `{to}`"),
        }
    }
}

/// What the committed page shows.
#[derive(Default)]
pub(super) struct Shown {
    pub(super) dependencies: BTreeSet<Dependency>,
    /// The lines of each crate, as rounded when the page was written.
    pub(super) lines: BTreeMap<String, usize>,
}

/// Reads the generated sections of a page.
pub(super) fn read(page: &str) -> Shown {
    let mut shown = Shown::default();
    let mut graph = None;
    for line in page.lines() {
        if let Some(row) = line.strip_prefix("| `") {
            shown.read_crate(row);
        } else if let Some((_, rest)) = line.split_once("<summary><code>") {
            graph = rest.split_once("</code>").map(|(name, _)| name.to_owned());
        } else if line == "</details>" {
            graph = None;
        } else if let (Some(graph), Some((from, to))) = (&graph, line.split_once(" → ")) {
            let from = names(from).next().unwrap_or_default();
            shown.dependencies.extend(names(to).map(|to| Dependency::Module {
                graph: graph.clone(),
                from: from.to_owned(),
                to: to.to_owned(),
            }));
        }
    }
    shown
}

impl Shown {
    /// Reads `onetool` | 4,400 | dependencies | dependencies of tests |, without the first mark.
    fn read_crate(&mut self, row: &str) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let [name, lines, dependencies, test_dependencies, ""] = cells[..] else { return };
        let Ok(lines) = lines.replace(',', "").parse() else { return };
        let from = name.trim_end_matches('`');
        self.lines.insert(from.to_owned(), lines);
        let pair = |to: &str| (from.to_owned(), to.to_owned());
        self.dependencies
            .extend(names(dependencies).map(pair).map(|(from, to)| Dependency::Crate { from, to }));
        let tests = names(test_dependencies).map(pair);
        self.dependencies.extend(tests.map(|(from, to)| Dependency::TestCrate { from, to }));
    }
}

/// Returns the names between backticks.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Returns the lines of a crate as shown: rounded, and unchanged while the number is about right.
pub(super) fn rounded(lines: usize, shown: Option<usize>) -> usize {
    match shown {
        Some(shown) if shown.abs_diff(lines) <= 100.max(lines / 10) => shown,
        _ => lines.next_multiple_of(100),
    }
}

/// Returns the page with new sections.
pub(super) fn write(
    page: &str,
    packages: &[Package],
    lines: &BTreeMap<String, usize>,
    graphs: &[ModuleGraph],
) -> Result<String> {
    let page = replace(page, "crates", &crates(packages, lines))?;
    replace(&page, "modules", &modules(graphs))
}

/// Returns where the picture of a module graph is stored.
pub(super) fn picture(graph: &str) -> String {
    format!("docs/images/modules-{}.svg", graph.replace('/', "-"))
}

fn replace(page: &str, section: &str, content: &str) -> Result<String> {
    let begin = format!("<!-- generated: {section}; `cargo xtask codegen` writes this section -->");
    let parts = page.split_once(&begin).and_then(|(before, rest)| {
        let (_, after) = rest.split_once(END)?;
        Some((before, after))
    });
    let (before, after) = parts.with_context(|| format!("{PAGE} has no section `{begin}` … `{END}`"))?;
    Ok(format!("{before}{begin}\n\n{content}\n{END}{after}"))
}

fn crates(packages: &[Package], lines: &BTreeMap<String, usize>) -> String {
    let rows: Vec<String> = packages
        .iter()
        .map(|package| {
            let lines = thousands(lines.get(&package.name).copied().unwrap_or_default());
            let dependencies = list(package, |kind| kind != Kind::Test);
            let tests = list(package, |kind| kind == Kind::Test);
            format!("| `{}` | {lines} | {dependencies} | {tests} |\n", package.name)
        })
        .collect();
    CRATES_INTRO.to_owned() + &rows.concat()
}

fn list(package: &Package, is_listed: fn(Kind) -> bool) -> String {
    let listed = package.dependencies.iter().filter(|dependency| is_listed(dependency.kind));
    let listed: Vec<String> = listed
        .map(|dependency| match dependency.kind {
            Kind::Optional => format!("`{}` (optional)", dependency.name),
            Kind::Required | Kind::Test => format!("`{}`", dependency.name),
        })
        .collect();
    if listed.is_empty() { "–".to_owned() } else { listed.join(", ") }
}

fn modules(graphs: &[ModuleGraph]) -> String {
    let sections: Vec<String> = graphs
        .iter()
        .map(|graph| {
            let (name, count) = (&graph.name, graph.modules.len());
            let lines: Vec<String> = graph.modules.iter().map(|module| module_line(graph, module)).collect();
            format!(
                "<details>\n<summary><code>{name}</code>: {count} modules</summary>\n\n\
                 ![The modules of {name}]({})\n\n{}\n</details>\n",
                picture(name),
                lines.concat()
            )
        })
        .collect();
    MODULES_INTRO.to_owned() + &sections.join("\n")
}

fn module_line(graph: &ModuleGraph, module: &str) -> String {
    let used = graph.uses.keys().filter(|(from, _)| from == module).map(|(_, to)| format!("`{to}`"));
    let used: Vec<String> = used.collect();
    if used.is_empty() {
        format!("- `{module}`\n")
    } else {
        format!("- `{module}` → {}\n", used.join(", "))
    }
}

pub(super) fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
