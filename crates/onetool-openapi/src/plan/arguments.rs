//! The arguments of an operation, and the input schema that describes them.

use std::collections::HashSet;
use std::rc::Rc;

use onetool_core::JsonObject;
use serde_json::{Value, json};

use super::model::{Argument, Encoding, Place, Style};
use super::parameter::Parameter;
use crate::names::ArgumentNames;

/// The arguments of an operation, as they are collected.
#[derive(Default)]
pub(super) struct Arguments {
    pub(super) names: ArgumentNames,
    pub(super) properties: JsonObject,
    pub(super) required: Vec<Value>,
    /// Arguments that require each other, because they belong to an optional body.
    pub(super) dependent: JsonObject,
    /// The arguments outside the body.
    planned: Vec<Argument>,
}

impl Arguments {
    /// Adds the parameters of all places. Path parameters come first because they are the usual positional arguments.
    pub(super) fn add_parameters(&mut self, path: &str, parameters: &[Rc<Parameter>]) {
        let mut seen = HashSet::new();
        for variable in path_variables(path) {
            if !seen.insert(variable) {
                continue;
            }
            match parameters.iter().find(|it| it.place == Place::Path && it.wire_name == variable) {
                Some(it) => self.add(variable, Place::Path, true, it.encoding, &it.schema),
                // An undeclared variable still needs a value.
                None => {
                    let encoding = Encoding { style: Style::Simple, explode: false, reserved: false };
                    let schema = JsonObject::from_iter([("type".to_owned(), "string".into())]);
                    self.add(variable, Place::Path, true, encoding, &schema);
                }
            }
        }
        for place in [Place::Query, Place::Header, Place::Cookie] {
            for it in parameters.iter().filter(|it| it.place == place) {
                self.add(&it.wire_name, place, it.required, it.encoding, &it.schema);
            }
        }
    }

    fn add(
        &mut self,
        wire_name: &str,
        place: Place,
        required: bool,
        encoding: Encoding,
        schema: &JsonObject,
    ) {
        let suffix = match place {
            Place::Path => "path",
            Place::Query => "query",
            Place::Header => "header",
            Place::Cookie => "cookie",
        };
        let name = self.names.assign(wire_name, suffix);
        self.properties.insert(name.clone(), Value::Object(schema.clone()));
        if required {
            self.required.push(name.clone().into());
        }
        self.planned.push(Argument { name, wire_name: wire_name.to_owned(), place, encoding });
    }

    /// Returns the input schema and the arguments outside the body; `accepts_extra` allows unlisted arguments.
    pub(super) fn finish(self, accepts_extra: bool) -> (Value, Vec<Argument>) {
        let mut schema = JsonObject::new();
        schema.insert("type".into(), "object".into());
        schema.insert("properties".into(), Value::Object(self.properties));
        if !self.required.is_empty() {
            schema.insert("required".into(), Value::Array(self.required));
        }
        if !self.dependent.is_empty() {
            schema.insert("dependentRequired".into(), Value::Object(self.dependent));
        }
        // A misspelled argument is an error instead of being dropped.
        if !accepts_extra {
            schema.insert("additionalProperties".into(), json!(false));
        }
        (Value::Object(schema), self.planned)
    }
}

/// Returns the names in braces.
fn path_variables(path: &str) -> impl Iterator<Item = &str> {
    path.split('{').skip(1).filter_map(|part| part.split_once('}')).map(|(name, _)| name)
}
