//! Names as Python code spells them.

/// Names that Python's grammar reserves.
const KEYWORDS: &[&str] = &[
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def",
    "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is",
    "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

/// Names that Python defines in every module. A tool or pack of such a name needs another spelling.
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

/// Converts a name to a Python identifier: characters that an identifier cannot contain become `_`, and a keyword gets
/// a `_` at its end.
///
/// ```
/// use onetool_core::python_identifier;
///
/// assert_eq!(python_identifier("get-sum"), "get_sum");
/// assert_eq!(python_identifier("2fa"), "_2fa");
/// assert_eq!(python_identifier("from"), "from_");
/// ```
pub fn python_identifier(name: &str) -> String {
    let is_valid = |c: char| c == '_' || unicode_ident::is_xid_continue(c);
    let mut text: String = name.chars().map(|c| if is_valid(c) { c } else { '_' }).collect();
    if !text.starts_with(|c: char| c == '_' || unicode_ident::is_xid_start(c)) {
        text.insert(0, '_');
    }
    if KEYWORDS.contains(&text.as_str()) {
        text.push('_');
    }
    text
}

/// Converts a name to an identifier that can be a global name: one of Python's built-in names gets a `_` at its end.
///
/// ```
/// assert_eq!(onetool_core::python_global("list"), "list_");
/// ```
pub fn python_global(name: &str) -> String {
    let mut text = python_identifier(name);
    if is_python_builtin(&text) {
        text.push('_');
    }
    text
}

/// Returns whether Python defines a name in every module.
///
/// ```
/// assert!(onetool_core::is_python_builtin("print"));
/// ```
pub fn is_python_builtin(name: &str) -> bool {
    BUILTINS.contains(&name)
}
