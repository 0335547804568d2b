//! Checks of what goes into a tool and what comes out: quick ones at once, long ones on a thread of their own.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use onetool_core::validate::{ArgumentError, Validator, WorkLimit, WorkLimitExceeded};
use onetool_core::{JsonObject, Schema};
use serde_json::Value;

/// Compiles a schema within a limit.
type Compile = fn(&JsonObject, &WorkLimit) -> Validator;

/// The check of a value against a schema, which is compiled when it is first needed.
pub(crate) struct Check {
    schema: Schema,
    compile: Compile,
    compiled: Arc<OnceLock<Validator>>,
}

impl Check {
    /// Creates the check of a tool's arguments.
    pub(crate) fn of_arguments(schema: Schema) -> Self {
        Self { schema, compile: Validator::for_arguments, compiled: Arc::default() }
    }

    /// Creates the check of a tool's output.
    pub(crate) fn of_output(schema: Schema) -> Self {
        Self { schema, compile: Validator::for_value, compiled: Arc::default() }
    }

    /// Compiles the schema now, and returns why it cannot be used, if it cannot.
    pub(crate) fn broken(&self) -> Option<&str> {
        self.compiled.get_or_init(|| (self.compile)(&self.schema, &WorkLimit::FULL)).schema_error()
    }

    /// Returns the value, and what is wrong with it.
    ///
    /// The caller's thread does at most about a millisecond of this. What takes longer, compiling included, is done on
    /// another thread, until it takes too much or the deadline has passed.
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
            (value, errors.unwrap_or_else(|error| vec![too_much(error)]))
        });
        checked.await.unwrap_or_else(|_| (Value::Null, vec![too_much(WorkLimitExceeded)]))
    }
}

fn too_much(error: WorkLimitExceeded) -> ArgumentError {
    ArgumentError::at_root(error.to_string(), "schema")
}
