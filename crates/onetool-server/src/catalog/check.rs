//! Validation of a tool's arguments and output: quick checks run in place, long ones on a separate thread.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use onetool_core::validate::{ArgumentError, Validator, WorkLimit, WorkLimitExceeded};
use onetool_core::{JsonObject, Schema};
use serde_json::Value;

/// Compiles a schema within a limit.
type Compile = fn(&JsonObject, &WorkLimit) -> Validator;

/// Validates values against a schema, which is compiled on first use.
pub(crate) struct Check {
    schema: Schema,
    compile: Compile,
    compiled: Arc<OnceLock<Validator>>,
}

impl Check {
    /// Creates the check of a tool's arguments.
    pub(crate) fn for_arguments(schema: Schema) -> Self {
        Self { schema, compile: Validator::for_arguments, compiled: Arc::default() }
    }

    /// Creates the check of a tool's output.
    pub(crate) fn for_output(schema: Schema) -> Self {
        Self { schema, compile: Validator::for_value, compiled: Arc::default() }
    }

    /// Compiles the schema and returns why it is invalid, if it is.
    pub(crate) fn schema_error(&self) -> Option<&str> {
        self.compiled.get_or_init(|| (self.compile)(&self.schema, &WorkLimit::FULL)).schema_error()
    }

    /// Validates a value; returns it with its errors.
    ///
    /// This blocks the caller's thread for about a millisecond at most. A longer validation, and compiling the schema,
    /// run on another thread until they exceed the work limit or the deadline.
    pub(crate) async fn check(&self, value: Value, deadline: Option<Instant>) -> (Value, Vec<ArgumentError>) {
        if let Some(validator) = self.compiled.get()
            && let Ok(errors) = validator.check(&value, &WorkLimit::QUICK)
        {
            return (value, errors);
        }
        let (schema, compile, compiled) = (self.schema.clone(), self.compile, self.compiled.clone());
        let checked = tokio::task::spawn_blocking(move || {
            let validator = compiled.get_or_init(|| compile(&schema, &WorkLimit::FULL));
            let errors = validator.check(&value, &WorkLimit::FULL.until(deadline));
            (value, errors.unwrap_or_else(|error| vec![limit_exceeded(error)]))
        });
        checked.await.unwrap_or_else(|_| (Value::Null, vec![limit_exceeded(WorkLimitExceeded)]))
    }
}

fn limit_exceeded(error: WorkLimitExceeded) -> ArgumentError {
    ArgumentError::at_root(error.to_string(), "schema")
}
