//! YAML for people and models: values in flow style, and block entries.

mod flow;
mod scalar;

pub use flow::{to_block, to_line, to_text, to_text_with_lines};
pub use scalar::{block_entry, double_quoted};
