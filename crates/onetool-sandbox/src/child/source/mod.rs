//! Prepares the program's source for compilation, with edits that keep every line in place.

mod awaits;
mod nesting;
mod scopes;

use ruff_python_ast::visitor::{Visitor, walk_stmt};
use ruff_python_ast::{ModModule, Stmt};
use ruff_python_parser::parse_module;
use ruff_text_size::{Ranged as _, TextSize};

use crate::LimitKind;
use crate::wire::Done;

/// The global variable for the value of the last expression.
pub(super) const RESULT: &str = "__ot_result__";

/// A program that is ready to be compiled.
pub(super) struct Prepared {
    /// The edited source.
    pub(super) text: String,
    /// Whether the last statement is an expression, whose value is then stored in [`RESULT`].
    pub(super) has_value: bool,
    /// Names that the program uses but may not have bound.
    pub(super) free_names: Vec<String>,
}

/// Parses and edits a program.
pub(super) fn prepare(source: &str) -> Result<Prepared, Done> {
    if nesting::is_too_deep(source) {
        return Err(Done::Limit(LimitKind::Nesting));
    }
    let parsed = parse_module(source).map_err(|error| {
        let message = error.error.to_string();
        syntax_error(source, &message, error.location.start())
    })?;
    let module = parsed.into_syntax();
    let mut edits = Edits::default();
    let has_value = store_last_value(&module, &mut edits);
    TopLevelReturns { edits: &mut edits }.visit_body(&module.body);
    awaits::make_awaitable(&module, &mut edits);
    let free_names = scopes::free_names(&module);
    Ok(Prepared { text: edits.apply(source), has_value, free_names })
}

/// Describes a syntax error at a position in the source.
pub(super) fn syntax_error(source: &str, message: &str, at: TextSize) -> Done {
    let at = source.floor_char_boundary(at.to_usize());
    let line_start = source[..at].rfind('\n').map_or(0, |index| index + 1);
    let text = source[line_start..].lines().next().unwrap_or_default();
    let line = source[..at].matches('\n').count() + 1;
    let column = source[line_start..at].chars().count() + 1;
    Done::Syntax {
        message: message.to_owned(),
        line: u32::try_from(line).unwrap_or(u32::MAX),
        column: u32::try_from(column).unwrap_or(u32::MAX),
        text: text.to_owned(),
    }
}

/// Insertions and replacements, by position in the original text.
#[derive(Default)]
struct Edits(Vec<Edit>);

struct Edit {
    start: TextSize,
    end: TextSize,
    text: &'static str,
}

impl Edits {
    fn insert(&mut self, at: TextSize, text: &'static str) {
        self.0.push(Edit { start: at, end: at, text });
    }

    fn replace(&mut self, start: TextSize, end: TextSize, text: &'static str) {
        self.0.push(Edit { start, end, text });
    }

    /// Wraps a range. If two wraps start at the same position, the first one is the outer one.
    fn wrap(&mut self, start: TextSize, before: &'static str, end: TextSize, after: &'static str) {
        self.insert(start, before);
        self.insert(end, after);
    }

    fn apply(mut self, source: &str) -> String {
        // The sort is stable, so edits at the same position keep their order. The order of closing brackets is irrelevant.
        self.0.sort_by_key(|edit| (edit.start, edit.end));
        let mut text = String::with_capacity(source.len() + self.0.len() * 16);
        let mut copied = 0;
        for edit in self.0 {
            text.push_str(&source[copied..edit.start.to_usize()]);
            text.push_str(edit.text);
            copied = edit.end.to_usize();
        }
        text.push_str(&source[copied..]);
        text
    }
}

/// Stores the value of the last statement if it is an expression.
fn store_last_value(module: &ModModule, edits: &mut Edits) -> bool {
    let Some(Stmt::Expr(last)) = module.body.last() else { return false };
    edits.insert(last.start(), "__ot_result__ = ");
    true
}

/// Replaces `return` outside of functions.
struct TopLevelReturns<'e> {
    edits: &'e mut Edits,
}

impl<'a> Visitor<'a> for TopLevelReturns<'_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) => {}
            Stmt::Return(it) => {
                let keyword_end = it.start() + TextSize::of("return");
                if it.value.is_some() {
                    self.edits.replace(it.start(), keyword_end, "__ot_return__((");
                    self.edits.insert(it.end(), "))");
                } else {
                    self.edits.replace(it.start(), keyword_end, "__ot_return__(None)");
                }
            }
            _ => walk_stmt(self, stmt),
        }
    }

    // Expressions contain no statements.
    fn visit_expr(&mut self, _: &'a ruff_python_ast::Expr) {}
}

#[cfg(test)]
mod tests;
