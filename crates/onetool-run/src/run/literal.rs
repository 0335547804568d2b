//! Parsing of single calls with literal arguments, which most commands are; they do not need the interpreter.

use onetool_core::JsonObject;
use ruff_python_ast::{Expr, Stmt};
use ruff_text_size::Ranged as _;
use serde_json::Value;

use crate::syntax::{is_nested_deeper_than, line_at, literal_value};

/// Limits of code that is parsed here; larger or deeper code is parsed in the cage.
const MAX_LENGTH: usize = 4096;
const MAX_NESTING: usize = 50;

/// A call such as `brave.search(query="rust", count=5)`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LiteralCall {
    /// The name as written, `pack.tool` or a flat name.
    pub(crate) name: String,
    pub(crate) args: Vec<Value>,
    pub(crate) kwargs: JsonObject,
    /// The line where it begins, counted from 1.
    pub(crate) line: u32,
}

/// Parses code that consists of a single call with literal arguments.
pub(crate) fn parse_call(code: &str) -> Option<LiteralCall> {
    let parsed = ruff_python_parser::parse_module(within_limits(code)?).ok()?;
    let [Stmt::Expr(statement)] = parsed.syntax().body.as_slice() else { return None };
    let Expr::Call(call) = &*statement.value else { return None };
    let name = dotted_name(&call.func)?;
    let args = call.arguments.args.iter().map(literal_value).collect::<Option<_>>()?;
    let mut kwargs = JsonObject::new();
    for keyword in &call.arguments.keywords {
        let name = keyword.arg.as_ref()?.to_string();
        // A duplicate keyword is left to the interpreter, which reports it.
        if kwargs.insert(name, literal_value(&keyword.value)?).is_some() {
            return None;
        }
    }
    Some(LiteralCall { name, args, kwargs, line: line_at(code, statement.range().start()) })
}

/// Parses code that consists of a single string literal.
pub(super) fn parse_string(code: &str) -> Option<String> {
    let parsed = ruff_python_parser::parse_expression(within_limits(code)?).ok()?;
    match &*parsed.syntax().body {
        Expr::StringLiteral(literal) => Some(literal.value.to_str().to_owned()),
        _ => None,
    }
}

fn within_limits(code: &str) -> Option<&str> {
    (code.len() <= MAX_LENGTH && !is_nested_deeper_than(MAX_NESTING, code)).then_some(code)
}

fn dotted_name(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Name(name) => Some(name.id.to_string()),
        Expr::Attribute(attribute) => Some(format!("{}.{}", dotted_name(&attribute.value)?, attribute.attr)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn run_8_1_literal_calls_are_parsed() {
        let call =
            parse_call(r#"demo.x("a\n", -1, n=[1, 2.5, None], d={"k": (True, "ü")}, s='a' "b")"#).unwrap();
        assert_eq!(call.name, "demo.x");
        assert_eq!(call.args, [json!("a\n"), json!(-1)]);
        assert_eq!(
            Value::Object(call.kwargs),
            json!({"n": [1, 2.5, null], "d": {"k": [true, "ü"]}, "s": "ab"})
        );
        assert_eq!(parse_call("# why\n demo_x()").map(|it| it.name), None, "not dedented");
        assert_eq!(parse_call("# why\ndemo_x()  # so").map(|it| it.name).as_deref(), Some("demo_x"));
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
            assert_eq!(parse_call(code), None, "{code}");
        }
        assert_eq!(parse_call(&format!("demo.x({})", "[".repeat(60) + &"]".repeat(60))), None);
        assert_eq!(parse_call(&format!("demo.x('{}')", "x".repeat(5000))), None);
    }
}
