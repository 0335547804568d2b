//! Python source: syntax checks, line numbers and literal values, without running any code.

use onetool_core::JsonObject;
use ruff_python_ast::{Expr, Number, UnaryOp};
use ruff_text_size::TextSize;
use serde_json::Value;

/// Checks code from a configuration before it is run. The error says what is wrong, and on which line.
pub(crate) fn check(code: &str) -> Result<(), String> {
    let Err(error) = ruff_python_parser::parse_module(code) else { return Ok(()) };
    Err(format!("invalid Python on line {}: {}", line_at(code, error.location.start()), error.error))
}

/// Returns the line that contains an offset, counted from 1.
pub(crate) fn line_at(code: &str, offset: TextSize) -> u32 {
    let before = &code[..code.floor_char_boundary(offset.to_usize())];
    u32::try_from(before.matches('\n').count() + 1).unwrap_or(u32::MAX)
}

/// Returns whether brackets are nested deeper than `limit`, which protects the parser's stack.
///
/// Counts brackets in strings and comments too, which errs on the safe side.
pub(crate) fn is_nested_deeper_than(limit: usize, code: &str) -> bool {
    let mut depth = 0_usize;
    code.bytes().any(|byte| {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > limit
    })
}

/// Returns the value of a literal, as the interpreter would pass it to a tool.
pub(crate) fn literal_value(expression: &Expr) -> Option<Value> {
    match expression {
        Expr::StringLiteral(literal) => Some(literal.value.to_str().into()),
        Expr::BooleanLiteral(literal) => Some(literal.value.into()),
        Expr::NoneLiteral(_) => Some(Value::Null),
        Expr::NumberLiteral(literal) => number(&literal.value, false),
        Expr::UnaryOp(operation) if operation.op == UnaryOp::USub => match &*operation.operand {
            Expr::NumberLiteral(literal) => number(&literal.value, true),
            _ => None,
        },
        Expr::List(list) => list.elts.iter().map(literal_value).collect(),
        Expr::Tuple(tuple) => tuple.elts.iter().map(literal_value).collect(),
        Expr::Dict(dict) => {
            let mut object = JsonObject::new();
            for item in &dict.items {
                let Expr::StringLiteral(key) = item.key.as_ref()? else { return None };
                object.insert(key.value.to_str().to_owned(), literal_value(&item.value)?);
            }
            Some(object.into())
        }
        _ => None,
    }
}

fn number(number: &Number, is_negative: bool) -> Option<Value> {
    match number {
        Number::Int(int) => int.as_i64().map(|it| if is_negative { -it } else { it }.into()),
        Number::Float(float) => {
            serde_json::Number::from_f64(if is_negative { -float } else { *float }).map(Value::Number)
        }
        Number::Complex { .. } => None,
    }
}
