//! Names of tools as Python code spells them.

use onetool_core::ToolName;

/// Returns the name of a tool as code spells it: `pack.tool`, with characters that are invalid in Python as `_`.
pub fn python_name(name: &ToolName) -> String {
    match name.pack() {
        Some(pack) => format!("{}.{}", identifier(pack), identifier(name.tool())),
        None => identifier(name.tool()),
    }
}

/// Converts a name to an identifier: invalid characters become `_`.
pub(crate) fn identifier(name: &str) -> String {
    let mut text: String =
        name.chars().map(|c| if c.is_alphanumeric() || c == '_' { c } else { '_' }).collect();
    if text.starts_with(|c: char| c.is_numeric()) {
        text.insert(0, '_');
    }
    text
}
