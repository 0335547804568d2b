//! Names of tools in Python: characters that an identifier cannot contain become `_` (RUN-3.4).

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use onetool_core::sync::Unpoisoned as _;
use onetool_server::catalog::{Catalog, Entry, Source};

use crate::python_name::{identifier, python_name};

/// Python's built-in names, which a tool cannot have.
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

/// Returns whether a name is one of Python's built-in names.
pub(crate) fn is_builtin(name: &str) -> bool {
    BUILTINS.contains(&name)
}

/// The Python names of a catalog's packs and tools, with the names that they refer to.
#[derive(Default)]
pub(crate) struct PythonNames {
    packs: HashMap<String, String>,
    tools: HashMap<String, String>,
}

impl PythonNames {
    fn from_catalog(catalog: &Catalog) -> Self {
        let mut names = Self::default();
        for entry in catalog.tools() {
            let canonical = entry.name();
            if let Some(pack) = canonical.pack() {
                names.packs.entry(identifier(pack)).or_insert_with(|| pack.to_owned());
                names.tools.entry(python_name(canonical)).or_insert_with(|| canonical.to_string());
            }
            names.tools.entry(identifier(entry.flat_name())).or_insert_with(|| canonical.to_string());
        }
        names
    }

    /// Returns the pack that a name refers to.
    pub(crate) fn pack(&self, name: &str) -> Option<&str> {
        self.packs.get(name).map(String::as_str)
    }

    /// Returns the tool that a name refers to, as `pack.tool` or flat. A tool with exactly that name wins.
    ///
    /// Includes tools that the policy denies: calling them fails as it does outside of code.
    pub(crate) fn tool<'a>(&self, catalog: &'a Catalog, name: &str) -> Option<&'a Arc<Entry>> {
        let found = catalog.get(name).or_else(|| catalog.get(self.tools.get(name)?));
        found.filter(|entry| *entry.source() != Source::Surface)
    }

    /// Returns the Python names of all packs.
    pub(crate) fn packs(&self) -> impl Iterator<Item = &str> {
        self.packs.keys().map(String::as_str)
    }
}

/// Caches the names of the latest catalog, which many runs share.
#[derive(Default)]
pub(crate) struct NamesCache(Mutex<Option<(Arc<Catalog>, Arc<PythonNames>)>>);

impl NamesCache {
    pub(crate) fn get(&self, catalog: &Arc<Catalog>) -> Arc<PythonNames> {
        let mut cached = self.0.lock().unpoisoned();
        if let Some((known, names)) = &*cached
            && Arc::ptr_eq(known, catalog)
        {
            return names.clone();
        }
        let names = Arc::new(PythonNames::from_catalog(catalog));
        *cached = Some((catalog.clone(), names.clone()));
        names
    }
}
