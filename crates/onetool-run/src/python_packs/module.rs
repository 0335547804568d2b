//! Parsing of pack files: the pack's name and its functions, from the syntax tree. No code is run.

use onetool_core::JsonObject;
use ruff_python_ast::{Expr, Parameters, Stmt, StmtFunctionDef};
use ruff_text_size::{Ranged as _, TextSize};
use serde_json::{Value, json};

use super::annotation;
use super::docstring::Docstring;
use crate::syntax::{is_nested_deeper_than, line_at, literal_value};

/// Maximum nesting of brackets; files above it are rejected before they reach the parser.
const MAX_NESTING: usize = 100;

/// A pack file.
#[derive(Debug)]
pub(super) struct Module {
    /// The name of the pack.
    pub(super) pack: String,
    pub(super) description: Option<String>,
    pub(super) functions: Vec<Function>,
}

/// A function that becomes a tool.
#[derive(Debug)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) schema: JsonObject,
    /// The annotated return type. It is not checked, as in Python.
    pub(super) returns: Option<String>,
}

/// An invalid pack file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ModuleError {
    pub(super) line: Option<u32>,
    pub(super) reason: String,
}

impl Module {
    /// Parses a file. `default_name` is the pack's name if the file does not contain `pack = "…"`.
    pub(super) fn parse(source: &str, default_name: &str) -> Result<Self, ModuleError> {
        let error_at =
            |offset: TextSize, reason: String| ModuleError { line: Some(line_at(source, offset)), reason };
        if is_nested_deeper_than(MAX_NESTING, source) {
            let reason = format!("brackets are nested more than {MAX_NESTING} deep");
            return Err(ModuleError { line: None, reason });
        }
        let parsed = ruff_python_parser::parse_module(source)
            .map_err(|error| error_at(error.location.start(), format!("invalid Python: {}", error.error)))?;
        let body = &parsed.syntax().body;
        let mut pack = default_name.to_owned();
        let mut functions: Vec<Function> = Vec::new();
        for statement in body {
            match statement {
                Stmt::Assign(assign) if assign.targets.iter().any(|target| is_name(target, "pack")) => {
                    pack = match &*assign.value {
                        Expr::StringLiteral(name) => name.value.to_str().to_owned(),
                        other => {
                            return Err(error_at(other.start(), "'pack' must be a string literal".into()));
                        }
                    };
                }
                Stmt::FunctionDef(function) if !function.name.starts_with('_') => {
                    // A later definition replaces an earlier one, as in Python.
                    functions.retain(|earlier| earlier.name != function.name.as_str());
                    let parsed = Function::parse(function, source);
                    functions.push(parsed.map_err(|reason| error_at(function.name.start(), reason))?);
                }
                _ => {}
            }
        }
        let description = docstring(body).map(|text| Docstring::parse(text).description);
        Ok(Self { pack, description: description.filter(|text| !text.is_empty()), functions })
    }
}

impl Function {
    fn parse(function: &StmtFunctionDef, source: &str) -> Result<Self, String> {
        let docstring = docstring(&function.body).map(Docstring::parse).unwrap_or_default();
        let schema = schema(&function.parameters, &docstring)
            .map_err(|reason| format!("function '{}': {reason}", function.name))?;
        let returns = function.returns.as_deref().map(|hint| annotation::text(hint, source));
        Ok(Self { name: function.name.to_string(), description: docstring.description, schema, returns })
    }
}

fn schema(parameters: &Parameters, docstring: &Docstring) -> Result<JsonObject, String> {
    if let Some(parameter) = parameters.posonlyargs.first() {
        let name = &parameter.parameter.name;
        return Err(format!("'{name}' cannot be positional-only; arguments are passed by name"));
    }
    if let Some(parameter) = &parameters.vararg {
        return Err(format!("'*{}' is not supported; arguments are passed by name", parameter.name));
    }
    let (mut properties, mut required) = (JsonObject::new(), Vec::new());
    for parameter in parameters.args.iter().chain(&parameters.kwonlyargs) {
        let name = parameter.parameter.name.to_string();
        let default = parameter.default.as_deref();
        let value = default.and_then(literal_value);
        let mut property = match &parameter.parameter.annotation {
            Some(annotation) => annotation::schema(annotation),
            None => value.as_ref().map_or_else(JsonObject::new, annotation::schema_from_default),
        };
        if let Some(description) = docstring.parameters.get(&name) {
            property.insert("description".into(), description.as_str().into());
        }
        match (default, value) {
            (None, _) => required.push(Value::from(name.clone())),
            (Some(_), Some(value)) if !value.is_null() => {
                property.insert("default".into(), value);
            }
            (Some(_), _) => {}
        }
        properties.insert(name, property.into());
    }
    let mut schema = JsonObject::from_iter([
        ("type".to_owned(), json!("object")),
        ("properties".to_owned(), properties.into()),
    ]);
    if !required.is_empty() {
        schema.insert("required".into(), required.into());
    }
    schema.insert("additionalProperties".into(), parameters.kwarg.is_some().into());
    Ok(schema)
}

fn docstring(body: &[Stmt]) -> Option<&str> {
    let Stmt::Expr(first) = body.first()? else { return None };
    match &*first.value {
        Expr::StringLiteral(text) => Some(text.value.to_str()),
        _ => None,
    }
}

fn is_name(target: &Expr, name: &str) -> bool {
    matches!(target, Expr::Name(found) if found.id.as_str() == name)
}
