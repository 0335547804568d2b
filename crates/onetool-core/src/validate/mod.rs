//! Validates values against JSON Schemas, within limits on time, steps and stack.
//!
//! Schemas come from untrusted servers and APIs, and the underlying validator was not written for hostile ones. Three
//! measures bound its work: references that expand exponentially are rejected before validation (`growth`), every
//! subschema counts its evaluations (`steps`), and validation stops at its [`WorkLimit`] (`work`).

mod describe;
mod growth;
mod steps;
mod work;

use std::time::{Duration, Instant};

use jsonschema::PatternOptions;
use serde::Serialize;
use serde_json::Value;

use crate::JsonObject;

pub use growth::{GrowthError, check_growth};

/// Maximum number of backtracking steps of a regular expression on one text.
const MAX_BACKTRACKS: usize = 50_000;
/// The limit for collecting the errors of an invalid value. Lower than for validation, because errors take memory.
const EXPLAIN_LIMIT: WorkLimit =
    WorkLimit { steps: 100_000, stack_bytes: usize::MAX, time: Duration::from_millis(500) };

/// A mismatch between a value and its schema.
///
/// ```
/// use onetool_core::ArgumentError;
///
/// let error = ArgumentError::at_root("\"id\" is a required property", "required");
/// assert!(error.path.is_empty());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ArgumentError {
    /// The location, as a JSON Pointer; empty for the value itself.
    pub path: String,
    /// The message.
    pub message: String,
    /// The violated keyword of the schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keyword: Option<String>,
}

impl ArgumentError {
    /// Creates an error about the value itself.
    pub fn at_root(message: impl Into<String>, keyword: &str) -> Self {
        Self { path: String::new(), message: message.into(), keyword: Some(keyword.to_owned()) }
    }
}

/// The limit of one validation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkLimit {
    /// Maximum number of evaluations of a subschema against a value.
    pub steps: u64,
    /// Maximum stack size.
    pub stack_bytes: usize,
    /// Maximum time.
    pub time: Duration,
}

impl WorkLimit {
    /// The limit for a thread that must not block: about a millisecond.
    pub const QUICK: Self = Self { steps: 20_000, stack_bytes: 256 << 10, time: Duration::from_millis(5) };
    /// The limit for a dedicated thread with a stack of 2 MB: about a second.
    pub const FULL: Self = Self { steps: 10_000_000, stack_bytes: 1 << 20, time: Duration::from_secs(2) };

    /// Reduces the time to what remains until `deadline`.
    #[must_use]
    pub fn until(self, deadline: Option<Instant>) -> Self {
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        Self { time: left.map_or(self.time, |left| left.min(self.time)), ..self }
    }
}

/// A validation that exceeded its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("validation against the schema takes too much work")]
pub struct WorkLimitExceeded;

/// A compiled schema, or the reason why it is invalid.
pub struct Validator(Result<jsonschema::Validator, String>);

impl Validator {
    /// Compiles the schema of a tool's arguments, which must describe an object. References to other documents are never
    /// followed. A schema that exceeds `limit` during compilation is invalid.
    pub fn for_arguments(schema: &JsonObject, limit: &WorkLimit) -> Self {
        match schema.get("type").filter(|kind| *kind != "object") {
            Some(kind) => {
                Self(Err(format!("arguments are an object, so 'type' must be 'object', not {kind}")))
            }
            None => Self::for_value(schema, limit),
        }
    }

    /// Compiles the schema of any value. References to other documents are never followed. A schema that exceeds `limit`
    /// during compilation is invalid.
    pub fn for_value(schema: &JsonObject, limit: &WorkLimit) -> Self {
        if let Err(error) = check_growth(schema) {
            return Self(Err(error.to_string()));
        }
        let schema = Value::Object(schema.clone());
        let compiled = work::within(limit, || {
            if let Err(error) = jsonschema::meta::validate(&schema) {
                return Err(format!("at '{}': {error}", error.instance_path()));
            }
            let counted = steps::counted(schema);
            let built = jsonschema::options()
                .with_keyword(steps::KEYWORD, steps::factory)
                .with_pattern_options(PatternOptions::fancy_regex().backtrack_limit(MAX_BACKTRACKS))
                .build(&counted);
            built.map_err(|error| error.to_string())
        });
        Self(compiled.unwrap_or_else(|WorkLimitExceeded| Err("it takes too much work to compile".to_owned())))
    }

    /// Returns why the schema is invalid, if it is.
    pub fn schema_error(&self) -> Option<&str> {
        self.0.as_ref().err().map(String::as_str)
    }

    /// Validates a value and returns its errors. No value is valid against an invalid schema.
    ///
    /// # Errors
    /// If the validation exceeds `limit`.
    pub fn check(&self, value: &Value, limit: &WorkLimit) -> Result<Vec<ArgumentError>, WorkLimitExceeded> {
        let validator = match &self.0 {
            Ok(validator) => validator,
            Err(reason) => {
                return Ok(vec![ArgumentError::at_root(format!("Invalid schema: {reason}"), "schema")]);
            }
        };
        if work::within(limit, || validator.is_valid(value))? {
            return Ok(Vec::new());
        }
        let explain_limit = WorkLimit {
            steps: EXPLAIN_LIMIT.steps.min(limit.steps),
            stack_bytes: limit.stack_bytes,
            time: EXPLAIN_LIMIT.time.min(limit.time),
        };
        match work::within(&explain_limit, || describe::errors(validator, value)) {
            Ok(errors) => Ok(errors),
            Err(WorkLimitExceeded) if limit.steps < EXPLAIN_LIMIT.steps => Err(WorkLimitExceeded),
            Err(WorkLimitExceeded) => Ok(vec![ArgumentError::at_root(
                "does not match the schema, which is too complex to locate the error",
                "schema",
            )]),
        }
    }
}

/// Checks that a value is a valid JSON Schema.
///
/// # Errors
/// If it is not; the error says where and why, without quoting values, which may be secret.
pub fn check_schema(schema: &Value) -> Result<(), ArgumentError> {
    let growth = schema.as_object().map_or(Ok(()), check_growth);
    growth.map_err(|error| ArgumentError::at_root(error.to_string(), "$ref"))?;
    jsonschema::validator_for(schema).map(drop).map_err(|error| ArgumentError {
        path: error.instance_path().to_string(),
        message: error.masked().to_string(),
        keyword: Some(error.kind().keyword().to_owned()),
    })
}

#[cfg(test)]
mod tests;
