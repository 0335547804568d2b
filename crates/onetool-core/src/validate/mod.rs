//! Checks values against JSON Schemas, within bounds: neither a schema nor a value can make a check run away.
//!
//! Schemas come from servers and APIs that nobody here wrote. The validator underneath was not written for hostile ones,
//! so three things hold it: references that multiply without end are found before anything runs (`growth`), every
//! subschema counts what is done with it (`steps`), and a check ends when its [`WorkLimit`] is used up (`work`).

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

/// How often a regular expression may step back on one text.
const MAX_BACKTRACKS: usize = 50_000;
/// What finding out where a value breaks a schema may take, once it is known that it does. Errors take more memory than
/// steps do.
const EXPLAINING: WorkLimit =
    WorkLimit { steps: 100_000, stack_bytes: usize::MAX, time: Duration::from_millis(500) };

/// One way in which a value breaks a schema.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ArgumentError {
    /// Where, as a JSON Pointer; empty for the value as a whole.
    pub path: String,
    /// Why, in words.
    pub message: String,
    /// The keyword of the schema that was broken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keyword: Option<String>,
}

impl ArgumentError {
    /// Creates an error of the value as a whole.
    pub fn whole(message: impl Into<String>, keyword: &str) -> Self {
        Self { path: String::new(), message: message.into(), keyword: Some(keyword.to_owned()) }
    }
}

/// What one check may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkLimit {
    /// How many subschemas may be applied to how many values, in all.
    pub steps: u64,
    /// How much stack may be used.
    pub stack_bytes: usize,
    /// How long it may take.
    pub time: Duration,
}

impl WorkLimit {
    /// What may be done on a thread that others wait for: about a millisecond.
    pub const QUICK: Self = Self { steps: 20_000, stack_bytes: 256 << 10, time: Duration::from_millis(5) };
    /// What may be done on a thread of its own, with a stack of two megabytes: about a second.
    pub const FULL: Self = Self { steps: 10_000_000, stack_bytes: 1 << 20, time: Duration::from_secs(2) };

    /// Shortens the time to what is left until `deadline`.
    #[must_use]
    pub fn until(self, deadline: Option<Instant>) -> Self {
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        Self { time: left.map_or(self.time, |left| left.min(self.time)), ..self }
    }
}

/// A check that takes more than it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("checking it against its schema takes too much work")]
pub struct OutOfWork;

/// A compiled schema, or the reason why it cannot be used.
pub struct Validator(Result<jsonschema::Validator, String>);

impl Validator {
    /// Compiles the schema of a tool's arguments, which are an object. References to other documents are never followed.
    /// A schema that takes more than `limit` to compile cannot be used.
    pub fn for_arguments(schema: &JsonObject, limit: &WorkLimit) -> Self {
        match schema.get("type").filter(|kind| *kind != "object") {
            Some(kind) => {
                Self(Err(format!("arguments are an object, so 'type' must be 'object', not {kind}")))
            }
            None => Self::for_value(schema, limit),
        }
    }

    /// Compiles the schema of any value. References to other documents are never followed.
    /// A schema that takes more than `limit` to compile cannot be used.
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
        Self(compiled.unwrap_or_else(|OutOfWork| Err("it takes too much work to compile".to_owned())))
    }

    /// Returns why the schema cannot be used, if it cannot.
    pub fn broken(&self) -> Option<&str> {
        self.0.as_ref().err().map(String::as_str)
    }

    /// Returns what is wrong with a value; nothing passes a schema that is broken.
    ///
    /// # Errors
    /// When the check takes more than `limit`.
    pub fn check(&self, value: &Value, limit: &WorkLimit) -> Result<Vec<ArgumentError>, OutOfWork> {
        let validator = match &self.0 {
            Ok(validator) => validator,
            Err(reason) => {
                return Ok(vec![ArgumentError::whole(format!("Invalid schema: {reason}"), "schema")]);
            }
        };
        if work::within(limit, || validator.is_valid(value))? {
            return Ok(Vec::new());
        }
        let explaining = WorkLimit {
            steps: EXPLAINING.steps.min(limit.steps),
            stack_bytes: limit.stack_bytes,
            time: EXPLAINING.time.min(limit.time),
        };
        match work::within(&explaining, || describe::errors(validator, value)) {
            Ok(errors) => Ok(errors),
            Err(OutOfWork) if limit.steps < EXPLAINING.steps => Err(OutOfWork),
            Err(OutOfWork) => Ok(vec![ArgumentError::whole(
                "it does not match the schema, which is too complex to say where",
                "schema",
            )]),
        }
    }
}

/// Checks that something is a JSON Schema that can be used.
///
/// # Errors
/// When it is not; the error says where and why, without repeating values, which may be secret.
pub fn check_schema(schema: &Value) -> Result<(), ArgumentError> {
    let growth = schema.as_object().map_or(Ok(()), check_growth);
    growth.map_err(|error| ArgumentError::whole(error.to_string(), "$ref"))?;
    jsonschema::validator_for(schema).map(drop).map_err(|error| ArgumentError {
        path: error.instance_path().to_string(),
        message: error.masked().to_string(),
        keyword: Some(error.kind().keyword().to_owned()),
    })
}

#[cfg(test)]
mod tests;
