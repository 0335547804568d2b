//! A YAML writer whose output is easy to read for people and models.

mod flow;
mod scalar;

pub use flow::{to_block, to_line, to_text, to_text_with_lines};
pub use scalar::{block_entry, double_quoted};
