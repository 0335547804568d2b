//! Conversion of type hints to JSON Schema.

use onetool_core::{JsonObject, shorten};
use ruff_python_ast::{Expr, ExprSubscript, Operator};
use ruff_text_size::Ranged as _;
use serde_json::{Value, json};

use crate::syntax::literal_value;

/// Maximum length of a hint that is shown, in characters.
const MAX_SHOWN: usize = 100;

/// Returns the schema of a hint. The schema of an unknown hint allows any value.
pub(super) fn schema(hint: &Expr) -> JsonObject {
    match hint {
        Expr::NoneLiteral(_) => typed("null"),
        Expr::Name(name) => named(name.id.as_str()),
        Expr::Attribute(attribute) => named(attribute.attr.as_str()),
        Expr::BinOp(operation) if operation.op == Operator::BitOr => {
            union([&*operation.left, &*operation.right])
        }
        Expr::Subscript(subscript) => subscripted(subscript),
        // A quoted hint, which may refer to a name that is defined later.
        Expr::StringLiteral(text) => match ruff_python_parser::parse_expression(text.value.to_str()) {
            Ok(parsed) if !matches!(&*parsed.syntax().body, Expr::StringLiteral(_)) => {
                schema(&parsed.syntax().body)
            }
            _ => JsonObject::new(),
        },
        _ => JsonObject::new(),
    }
}

/// Returns a hint as written in the source, on one line and without quotes.
pub(super) fn text(hint: &Expr, source: &str) -> String {
    let text = match hint {
        Expr::StringLiteral(text) => text.value.to_str(),
        other => &source[other.range().to_std_range()],
    };
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    shorten(&line, MAX_SHOWN).into_owned()
}

/// Returns the schema for the type of a default value.
pub(super) fn schema_from_default(value: &Value) -> JsonObject {
    match value {
        Value::Null => JsonObject::new(),
        Value::Bool(_) => typed("boolean"),
        Value::Number(number) => typed(if number.is_f64() { "number" } else { "integer" }),
        Value::String(_) => typed("string"),
        Value::Array(_) => typed("array"),
        Value::Object(_) => typed("object"),
    }
}

fn typed(name: &str) -> JsonObject {
    JsonObject::from_iter([("type".to_owned(), name.into())])
}

fn named(name: &str) -> JsonObject {
    match name {
        "str" | "bytes" => typed("string"),
        "int" => typed("integer"),
        "float" => typed("number"),
        "bool" => typed("boolean"),
        "dict" | "Dict" | "Mapping" | "MutableMapping" => typed("object"),
        name if is_list(name) => typed("array"),
        "None" => typed("null"),
        _ => JsonObject::new(),
    }
}

fn is_list(name: &str) -> bool {
    const LISTS: [&str; 11] = [
        "list",
        "List",
        "tuple",
        "Tuple",
        "set",
        "Set",
        "frozenset",
        "FrozenSet",
        "Sequence",
        "Iterable",
        "Collection",
    ];
    LISTS.contains(&name)
}

fn subscripted(hint: &ExprSubscript) -> JsonObject {
    let name = match &*hint.value {
        Expr::Name(name) => name.id.as_str(),
        Expr::Attribute(attribute) => attribute.attr.as_str(),
        _ => return JsonObject::new(),
    };
    let arguments: &[Expr] = match &*hint.slice {
        Expr::Tuple(tuple) => &tuple.elts,
        one => std::slice::from_ref(one),
    };
    match (name, arguments) {
        ("Optional", [inner]) => any_of(vec![schema(inner), typed("null")]),
        ("Union", variants) => union(variants),
        ("Literal", values) => {
            let values: Option<Vec<Value>> = values.iter().map(literal_value).collect();
            values.map_or_else(JsonObject::new, |it| JsonObject::from_iter([("enum".to_owned(), it.into())]))
        }
        ("Annotated", [inner, metadata @ ..]) => {
            let mut schema = schema(inner);
            let text = metadata.iter().find_map(|it| literal_value(it)?.as_str().map(str::to_owned));
            schema.extend(text.map(|text| ("description".to_owned(), text.into())));
            schema
        }
        ("dict" | "Dict" | "Mapping" | "MutableMapping", [_, value]) => {
            let mut object = typed("object");
            let values = schema(value);
            if !values.is_empty() {
                object.insert("additionalProperties".into(), values.into());
            }
            object
        }
        (name, [item]) if is_list(name) => list_of(item),
        ("tuple" | "Tuple", [item, Expr::EllipsisLiteral(_)]) => list_of(item),
        (name, _) => named(name),
    }
}

fn list_of(item: &Expr) -> JsonObject {
    let mut list = typed("array");
    let items = schema(item);
    if !items.is_empty() {
        list.insert("items".into(), items.into());
    }
    list
}

fn union<'a>(hints: impl IntoIterator<Item = &'a Expr>) -> JsonObject {
    any_of(hints.into_iter().map(schema).collect())
}

/// Combines alternatives: plain types into one list of types, anything else with `anyOf`.
fn any_of(variants: Vec<JsonObject>) -> JsonObject {
    if variants.iter().any(JsonObject::is_empty) {
        return JsonObject::new();
    }
    let plain = |variant: &JsonObject| (variant.len() == 1).then(|| variant.get("type").cloned()).flatten();
    let types: Option<Vec<Value>> = variants.iter().map(plain).collect();
    match types {
        Some(types) => {
            let flat = types.into_iter().flat_map(|it| match it {
                Value::Array(types) => types,
                one => vec![one],
            });
            JsonObject::from_iter([("type".to_owned(), flat.collect::<Vec<_>>().into())])
        }
        None => {
            // `a | b | c` is parsed as `(a | b) | c`, which is flattened to one level.
            let flat = variants.into_iter().flat_map(|mut variant| match variant.remove("anyOf") {
                Some(Value::Array(inner)) if variant.is_empty() => inner,
                Some(inner) => {
                    variant.insert("anyOf".into(), inner);
                    vec![json!(variant)]
                }
                None => vec![json!(variant)],
            });
            JsonObject::from_iter([("anyOf".to_owned(), flat.collect::<Vec<_>>().into())])
        }
    }
}
