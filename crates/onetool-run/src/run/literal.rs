//! One call with literal arguments, read off the parsed tree: most of what agents send, and no interpreter needed.

use onetool_core::JsonObject;
use ruff_python_ast::{Expr, Number, Stmt, UnaryOp};
use ruff_text_size::Ranged as _;
use serde_json::Value;

/// Longer code, or code nested deeper, is not parsed here but in the cage.
const MAX_LENGTH: usize = 4096;
const MAX_NESTING: usize = 50;

/// A call such as `brave.search(query="rust", count=5)`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LiteralCall {
    /// The name as written, `pack.tool` or a flat name.
    pub(crate) name: String,
    pub(crate) args: Vec<Value>,
    pub(crate) kwargs: JsonObject,
    /// The line on which it begins, counted from 1.
    pub(crate) line: u32,
}

/// Reads code that is one call with literal arguments, and nothing else.
pub(crate) fn call(code: &str) -> Option<LiteralCall> {
    let parsed = ruff_python_parser::parse_module(small(code)?).ok()?;
    let [Stmt::Expr(statement)] = parsed.syntax().body.as_slice() else { return None };
    let Expr::Call(call) = &*statement.value else { return None };
    let name = dotted_name(&call.func)?;
    let args = call.arguments.args.iter().map(value).collect::<Option<_>>()?;
    let mut kwargs = JsonObject::new();
    for keyword in &call.arguments.keywords {
        let name = keyword.arg.as_ref()?.to_string();
        // The interpreter says what is wrong with a keyword that stands there twice.
        if kwargs.insert(name, value(&keyword.value)?).is_some() {
            return None;
        }
    }
    let before = &code[..statement.range().start().to_usize()];
    let line = u32::try_from(before.matches('\n').count()).ok()? + 1;
    Some(LiteralCall { name, args, kwargs, line })
}

/// Tells what is wrong with code that somebody keeps in a file, before it is run.
pub(crate) fn check_syntax(code: &str) -> Result<(), String> {
    let Err(error) = ruff_python_parser::parse_module(code) else { return Ok(()) };
    let start = code.floor_char_boundary(error.location.start().to_usize());
    let line = code[..start].matches('\n').count() + 1;
    Err(format!("line {line} of the code is no Python: {}", error.error))
}

/// Reads code that is one string literal.
pub(super) fn string(code: &str) -> Option<String> {
    let parsed = ruff_python_parser::parse_expression(small(code)?).ok()?;
    match &*parsed.syntax().body {
        Expr::StringLiteral(literal) => Some(literal.value.to_str().to_owned()),
        _ => None,
    }
}

fn small(code: &str) -> Option<&str> {
    if code.len() > MAX_LENGTH {
        return None;
    }
    let mut depth = 0_usize;
    for byte in code.bytes() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_NESTING {
            return None;
        }
    }
    Some(code)
}

fn dotted_name(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Name(name) => Some(name.id.to_string()),
        Expr::Attribute(attribute) => Some(format!("{}.{}", dotted_name(&attribute.value)?, attribute.attr)),
        _ => None,
    }
}

/// Returns a literal as the interpreter would hand it to a tool.
pub(crate) fn value(expression: &Expr) -> Option<Value> {
    match expression {
        Expr::StringLiteral(literal) => Some(literal.value.to_str().into()),
        Expr::BooleanLiteral(literal) => Some(literal.value.into()),
        Expr::NoneLiteral(_) => Some(Value::Null),
        Expr::NumberLiteral(literal) => number(&literal.value, false),
        Expr::UnaryOp(operation) if operation.op == UnaryOp::USub => match &*operation.operand {
            Expr::NumberLiteral(literal) => number(&literal.value, true),
            _ => None,
        },
        Expr::List(list) => list.elts.iter().map(value).collect(),
        Expr::Tuple(tuple) => tuple.elts.iter().map(value).collect(),
        Expr::Dict(dict) => {
            let mut object = JsonObject::new();
            for item in &dict.items {
                let Expr::StringLiteral(key) = item.key.as_ref()? else { return None };
                object.insert(key.value.to_str().to_owned(), value(&item.value)?);
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn run_8_1_literal_calls_are_read() {
        let read = call(r#"demo.x("a\n", -1, n=[1, 2.5, None], d={"k": (True, "ü")}, s='a' "b")"#).unwrap();
        assert_eq!(read.name, "demo.x");
        assert_eq!(read.args, [json!("a\n"), json!(-1)]);
        assert_eq!(
            Value::Object(read.kwargs),
            json!({"n": [1, 2.5, null], "d": {"k": [true, "ü"]}, "s": "ab"})
        );
        assert_eq!(call("# why\n demo_x()").map(|it| it.name), None, "not dedented");
        assert_eq!(call("# why\ndemo_x()  # so").map(|it| it.name).as_deref(), Some("demo_x"));
    }

    #[test]
    fn run_8_1_everything_else_is_left_to_the_interpreter() {
        for code in [
            "demo.x(y)",
            "demo.x(1 + 1)",
            "demo.x(f'{1}')",
            "demo.x(*[1])",
            "demo.x(**{'a': 1})",
            "x = demo.x()",
            "demo.x()\ndemo.y()",
            "demo.x().y",
            "await demo.x()",
            "demo.x(b'a')",
            "demo.x({1: 2})",
            "demo.x({*()})",
            "demo.x(a=1, a=2)",
            "demo.x(1j)",
            "demo.x(99999999999999999999)",
            "demo.x(",
            "",
            "1",
        ] {
            assert_eq!(call(code), None, "{code}");
        }
        assert_eq!(call(&format!("demo.x({})", "[".repeat(60) + &"]".repeat(60))), None);
        assert_eq!(call(&format!("demo.x('{}')", "x".repeat(5000))), None);
    }
}
