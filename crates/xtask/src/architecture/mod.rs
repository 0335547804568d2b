//! The architecture as the code has it: dependencies between crates and modules, checked for cycles and size, and drawn.

mod cfg;
mod cycles;
mod layout;
mod modules;
mod packages;
mod page;
mod svg;
#[cfg(test)]
mod tests;
mod uses;

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::finding::Finding;
use crate::sources::File;
use cycles::cycles;
use modules::{ModulePath, Place};
use packages::{Kind, Package};
use page::{ModuleGraph, PAGE};
use svg::{Edge, Node, Style};
use uses::{Uses, uses};

const CRATES_PICTURE: &str = "docs/images/crates.svg";

/// The most lines that the `src` of a crate may have.
const MAX_CRATE_LINES: usize = 10_000;

/// The dependencies in the workspace.
pub(crate) struct Architecture {
    packages: Vec<Package>,
    /// The modules of each library and binary.
    crates: Vec<Crate>,
}

struct Crate {
    name: String,
    top_modules: BTreeSet<String>,
    /// The uses between modules with the same parent, by the parent's path.
    uses: BTreeMap<ModulePath, Uses>,
}

/// A file as `cargo xtask codegen` writes it.
pub(crate) struct Generated {
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Architecture {
    /// Reads the dependencies from `cargo metadata --no-deps` and the source files.
    pub(crate) fn read(metadata: &Value, files: &[File]) -> Result<Self> {
        let packages = packages::read(metadata, files)?;
        let sources = files.iter().filter(|file| file.has_extension("rs"));
        let sources: BTreeMap<&str, &str> = sources.map(|file| (&*file.path, &*file.text)).collect();
        let mut crates = Vec::new();
        for root in packages.iter().flat_map(|package| &package.roots) {
            let modules = modules::read(&root.file, &sources)?;
            crates.push(Crate {
                name: root.name.clone(),
                top_modules: modules.keys().filter(|path| path.len() == 1).flatten().cloned().collect(),
                uses: uses(&modules),
            });
        }
        Ok(Self { packages, crates })
    }

    /// Checks for cycles and size, and compares the drawings with the committed ones.
    pub(crate) fn check(&self, files: &[File]) -> Vec<Finding> {
        let mut findings = self.check_cycles();
        findings.extend(self.check_sizes());
        findings.extend(self.check_drawings(files));
        findings
    }

    fn check_cycles(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        for (parent, uses) in self.crates.iter().flat_map(Crate::levels) {
            let edges = uses.keys().map(|(from, to)| (from.as_str(), to.as_str()));
            for (group, shortest) in cycles(edges) {
                findings.push(describe_cycle(&parent, &group, &shortest, uses));
            }
        }
        findings
    }

    fn check_sizes(&self) -> Vec<Finding> {
        let too_large = self.packages.iter().filter(|package| package.lines > MAX_CRATE_LINES);
        let finding = |package: &Package| {
            let (lines, limit) = (page::thousands(package.lines), page::thousands(MAX_CRATE_LINES));
            let message =
                format!("`{}` has {lines} lines in src, the limit is {limit}: split the crate", package.name);
            Finding::new(&format!("crates/{}/src", package.name), 1, message)
        };
        too_large.map(finding).collect()
    }

    /// Compares the drawings with the committed ones, and names each dependency that is new or gone.
    pub(crate) fn check_drawings(&self, files: &[File]) -> Vec<Finding> {
        let text = |path: &str| files.iter().find(|file| file.path == path).map(|file| file.text.as_str());
        let page = text(PAGE).unwrap_or_default();
        let generated = match self.generate(page) {
            Ok(generated) => generated,
            Err(error) => return vec![Finding::new(PAGE, 1, format!("{error:#}"))],
        };
        let mut findings = Vec::new();
        let before = page::read(page).dependencies;
        let after =
            generated.iter().find(|file| file.path == PAGE).map(|file| page::read(&file.text).dependencies);
        let after = after.unwrap_or_default();
        findings.extend(after.difference(&before).map(|it| Finding::new(PAGE, 1, it.added())));
        findings.extend(before.difference(&after).map(|it| Finding::new(PAGE, 1, it.removed())));
        if findings.is_empty() {
            let stale = generated.iter().filter(|file| text(&file.path) != Some(&file.text));
            findings.extend(
                stale.map(|file| Finding::new(&file.path, 1, "out of date: run `cargo xtask codegen`")),
            );
        }
        for file in files.iter().filter(|file| file.path.starts_with("docs/images/modules-")) {
            if !generated.iter().any(|it| it.path == file.path) {
                findings.push(Finding::new(&file.path, 1, "there is no such crate: delete the picture"));
            }
        }
        findings
    }

    /// Returns ARCHITECTURE.md and the pictures in it. `page` is the current text.
    pub(crate) fn generate(&self, page: &str) -> Result<Vec<Generated>> {
        let shown = page::read(page);
        let lines: BTreeMap<String, usize> = self
            .packages
            .iter()
            .map(|package| {
                let before = shown.lines.get(&package.name).copied();
                (package.name.clone(), page::rounded(package.lines, before))
            })
            .collect();
        let graphs: Vec<ModuleGraph> = self.crates.iter().filter_map(Crate::module_graph).collect();
        let mut generated = vec![
            Generated { path: PAGE.to_owned(), text: page::write(page, &self.packages, &lines, &graphs)? },
            Generated { path: CRATES_PICTURE.to_owned(), text: self.draw_crates(&lines)? },
        ];
        for graph in &graphs {
            generated.push(Generated { path: page::picture(&graph.name), text: draw_modules(graph)? });
        }
        Ok(generated)
    }

    fn draw_crates(&self, lines: &BTreeMap<String, usize>) -> Result<String> {
        let index = |name: &str| self.packages.iter().position(|package| package.name == name);
        let nodes = self.packages.iter().map(|package| Node {
            name: package.name.clone(),
            note: lines.get(&package.name).map(|lines| format!("{} lines", page::thousands(*lines))),
            is_muted: !package.is_published,
        });
        let mut edges = Vec::new();
        for (from, package) in self.packages.iter().enumerate() {
            for dependency in package.dependencies.iter().filter(|it| it.kind != Kind::Test) {
                let to = index(&dependency.name).context("invariant: the dependency is in the workspace")?;
                let style = if dependency.kind == Kind::Optional { Style::Dashed } else { Style::Solid };
                edges.push(Edge { from, to, style });
            }
        }
        Ok(svg::draw("Crates and their dependencies", &nodes.collect::<Vec<_>>(), edges))
    }
}

impl Crate {
    /// Returns the uses between the children of each module, with the module's name.
    fn levels(&self) -> impl Iterator<Item = (String, &Uses)> {
        self.uses.iter().map(|(parent, uses)| {
            let path = std::iter::once(&self.name).chain(parent).cloned().collect::<Vec<_>>();
            (path.join("::"), uses)
        })
    }

    /// Returns the graph of the top-level modules if there are at least two.
    fn module_graph(&self) -> Option<ModuleGraph> {
        let uses = self.uses.get(&Vec::new()).cloned().unwrap_or_default();
        (self.top_modules.len() > 1).then(|| ModuleGraph {
            name: self.name.clone(),
            modules: self.top_modules.clone(),
            uses,
        })
    }
}

fn describe_cycle(parent: &str, group: &BTreeSet<&str>, shortest: &[&str], uses: &Uses) -> Finding {
    let next = shortest.iter().cycle().skip(1);
    let steps: Vec<(&str, &str, Option<&Place>)> = shortest
        .iter()
        .zip(next)
        .map(|(from, to)| (*from, *to, uses.get(&((*from).to_owned(), (*to).to_owned()))))
        .collect();
    let places: Vec<String> = steps
        .iter()
        .map(|(from, to, place)| {
            let place = place.map(|place| format!("{}:{}", place.file, place.line)).unwrap_or_default();
            format!("\n    {from} → {to} at {place}")
        })
        .collect();
    let first = steps.first().and_then(|(_, _, place)| *place);
    let (file, line) = first.map_or(("", 0), |place| (&*place.file, place.line));
    let more = if group.len() > shortest.len() {
        format!(" (all modules in such cycles: {})", group.iter().copied().collect::<Vec<_>>().join(", "))
    } else {
        String::new()
    };
    let start = shortest.first().copied().unwrap_or_default();
    let message = format!(
        "modules of `{parent}` use each other: {} → {start}{more}{}",
        shortest.join(" → "),
        places.concat()
    );
    Finding::new(file, line, message)
}

fn draw_modules(graph: &ModuleGraph) -> Result<String> {
    let names: Vec<&String> = graph.modules.iter().collect();
    let groups = cycles(graph.uses.keys().map(|(from, to)| (from.as_str(), to.as_str())));
    let is_in_cycle =
        |from: &str, to: &str| groups.iter().any(|(group, _)| group.contains(from) && group.contains(to));
    let index = |name: &String| names.binary_search(&name).ok().context("invariant: both ends are modules");
    let mut edges = Vec::new();
    for (from, to) in graph.uses.keys() {
        let style = if is_in_cycle(from, to) { Style::Cycle } else { Style::Solid };
        edges.push(Edge { from: index(from)?, to: index(to)?, style });
    }
    let nodes: Vec<Node> =
        names.iter().map(|name| Node { name: (*name).clone(), note: None, is_muted: false }).collect();
    Ok(svg::draw(&format!("Modules of {}", graph.name), &nodes, edges))
}
