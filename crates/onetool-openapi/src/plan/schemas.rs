//! Translates the schemas of a description, across its documents.

use serde_json::Value;

use super::references::{References, SchemaScope};
use crate::schema::{Patterns, Translator};

/// The references of a description, and what is needed to translate its schemas.
pub(super) struct Schemas<'p, 't> {
    pub(super) references: References<'p, 't>,
    patterns: Patterns,
}

impl<'p, 't> Schemas<'p, 't> {
    pub(super) fn new(references: References<'p, 't>) -> Self {
        Self { references, patterns: Patterns::default() }
    }

    /// Translates a schema in a document.
    pub(super) fn translate(&mut self, document: usize, schema: Value) -> Value {
        let dialect = self.references.dialect(document);
        let mut names = SchemaScope { references: &mut self.references, document, owner: None };
        Translator { dialect, names: &mut names, patterns: &mut self.patterns }.schema(schema)
    }

    /// Translates the definition with the given index.
    pub(super) fn translate_definition(&mut self, at: usize) -> Value {
        let definition = &self.references.definitions[at];
        let (document, pointer) = (definition.document, definition.pointer.clone());
        let problem = match self.references.documents[document].value(&pointer) {
            Ok(Some(schema)) => {
                let dialect = self.references.dialect(document);
                let mut names = SchemaScope { references: &mut self.references, document, owner: Some(at) };
                let mut translator = Translator { dialect, names: &mut names, patterns: &mut self.patterns };
                return translator.definition(schema);
            }
            Ok(None) => "does not exist".to_owned(),
            Err(reason) => format!("cannot be parsed: {reason}"),
        };
        self.references.warnings.insert(format!("'#{pointer}' {problem}; accepting any value there"));
        Value::Bool(true)
    }
}
