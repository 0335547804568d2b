//! Documentation of a tool beyond its own description.

use serde::{Deserialize, Serialize};

/// What agents learn about a tool beyond its name, description and schema.
///
/// ```
/// use onetool_core::ToolDocs;
///
/// let mut docs = ToolDocs::default();
/// docs.examples.push("mail.send(to='ada')".into());
/// docs.keywords.push("email".into());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ToolDocs {
    /// Description that replaces the tool's own.
    pub description: Option<String>,
    /// Example calls; `onetool://tool/{name}` shows them.
    pub examples: Vec<String>,
    /// Additional words that find the tool.
    pub keywords: Vec<String>,
    /// Category of the tool; search matches it, too.
    pub category: Option<String>,
    /// The type of the result in Python's notation, for a tool without an output schema.
    #[serde(skip)]
    pub returns: Option<String>,
}

impl ToolDocs {
    /// Fills empty fields from `fallback`.
    ///
    /// ```
    /// use onetool_core::ToolDocs;
    ///
    /// let mut operator = ToolDocs::default();
    /// operator.category = Some("mail".into());
    /// let mut pack = ToolDocs::default();
    /// pack.examples = vec!["mail.send(to='ada')".into()];
    /// let merged = operator.or(pack);
    /// assert_eq!((merged.category.as_deref(), merged.examples.len()), (Some("mail"), 1));
    /// ```
    #[must_use]
    pub fn or(self, fallback: Self) -> Self {
        let or_list = |own: Vec<String>, other| if own.is_empty() { other } else { own };
        Self {
            description: self.description.or(fallback.description),
            examples: or_list(self.examples, fallback.examples),
            keywords: or_list(self.keywords, fallback.keywords),
            category: self.category.or(fallback.category),
            returns: self.returns.or(fallback.returns),
        }
    }
}
