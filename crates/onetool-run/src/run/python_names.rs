//! How tools are spelt in Python: names that are no identifiers get `_` for what does not fit (RUN-3.4).

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use onetool_core::sync::Unpoisoned as _;
use onetool_server::catalog::{Catalog, Entry, Source};

/// Names that Python itself defines; a tool cannot take them.
const BUILTINS: &[&str] = &[
    "abs",
    "aiter",
    "all",
    "anext",
    "any",
    "ascii",
    "bin",
    "bool",
    "breakpoint",
    "bytearray",
    "bytes",
    "callable",
    "chr",
    "classmethod",
    "compile",
    "complex",
    "copyright",
    "credits",
    "delattr",
    "dict",
    "dir",
    "divmod",
    "enumerate",
    "eval",
    "exec",
    "exit",
    "filter",
    "float",
    "format",
    "frozenset",
    "getattr",
    "globals",
    "hasattr",
    "hash",
    "help",
    "hex",
    "id",
    "input",
    "int",
    "isinstance",
    "issubclass",
    "iter",
    "len",
    "license",
    "list",
    "locals",
    "map",
    "max",
    "memoryview",
    "min",
    "next",
    "object",
    "oct",
    "open",
    "ord",
    "pow",
    "print",
    "property",
    "quit",
    "range",
    "repr",
    "reversed",
    "round",
    "set",
    "setattr",
    "slice",
    "sorted",
    "staticmethod",
    "str",
    "sum",
    "super",
    "tuple",
    "type",
    "vars",
    "zip",
    "__import__",
];

/// Tells whether a name belongs to Python.
pub(crate) fn is_builtin(name: &str) -> bool {
    BUILTINS.contains(&name)
}

/// The spellings of every tool of one catalog.
#[derive(Default)]
pub(crate) struct PythonNames {
    packs: HashMap<String, String>,
    tools: HashMap<String, String>,
}

impl PythonNames {
    fn of(catalog: &Catalog) -> Self {
        let mut names = Self::default();
        for entry in catalog.tools() {
            let canonical = entry.name();
            if let Some(pack) = canonical.pack() {
                names.packs.entry(identifier(pack)).or_insert_with(|| pack.to_owned());
                let spelling = format!("{}.{}", identifier(pack), identifier(canonical.tool()));
                names.tools.entry(spelling).or_insert_with(|| canonical.to_string());
            }
            names.tools.entry(identifier(entry.flat_name())).or_insert_with(|| canonical.to_string());
        }
        names
    }

    /// Returns the pack that a name stands for.
    pub(crate) fn pack(&self, name: &str) -> Option<&str> {
        self.packs.get(name).map(String::as_str)
    }

    /// Returns the tool that a name stands for, as `pack.tool` or flat; a tool of exactly that name comes first.
    ///
    /// One that the policy denies is a tool, too: its call is refused as a direct one is.
    pub(crate) fn tool<'a>(&self, catalog: &'a Catalog, name: &str) -> Option<&'a Arc<Entry>> {
        let found = catalog.get(name).or_else(|| catalog.get(self.tools.get(name)?));
        found.filter(|entry| *entry.source() != Source::Surface)
    }

    /// Returns every name of a pack, as it is spelt in Python.
    pub(crate) fn packs(&self) -> impl Iterator<Item = &str> {
        self.packs.keys().map(String::as_str)
    }
}

/// Makes an identifier: whatever does not fit becomes `_`.
fn identifier(name: &str) -> String {
    let mut text: String =
        name.chars().map(|c| if c.is_alphanumeric() || c == '_' { c } else { '_' }).collect();
    if text.starts_with(|c: char| c.is_numeric()) {
        text.insert(0, '_');
    }
    text
}

/// Keeps the spellings of the newest catalog, which many runs share.
#[derive(Default)]
pub(crate) struct NamesCache(Mutex<Option<(Arc<Catalog>, Arc<PythonNames>)>>);

impl NamesCache {
    pub(crate) fn of(&self, catalog: &Arc<Catalog>) -> Arc<PythonNames> {
        let mut kept = self.0.lock().unpoisoned();
        if let Some((known, names)) = &*kept
            && Arc::ptr_eq(known, catalog)
        {
            return names.clone();
        }
        let names = Arc::new(PythonNames::of(catalog));
        *kept = Some((catalog.clone(), names.clone()));
        names
    }
}
