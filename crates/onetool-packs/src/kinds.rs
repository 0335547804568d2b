//! The list of built-in packs.

use crate::options::Kind;

/// An entry of the list: the feature, which is also the name of the pack, and the type of its options.
macro_rules! kind {
    ($feature:literal, $options:path) => {{
        #[cfg(feature = $feature)]
        let kind = Kind::new::<$options>();
        #[cfg(not(feature = $feature))]
        let kind = Kind {
            name: $feature,
            schema: |_| schemars::json_schema!({"type": "object"}),
            read: |_, _| Err(crate::options::ReadError::NotBuilt { feature: concat!("pack-", $feature) }),
        };
        kind
    }};
}

/// Every built-in pack.
pub(crate) const KINDS: [Kind; 7] = [
    kind!("file", crate::file::FileOptions),
    kind!("ripgrep", crate::ripgrep::RipgrepOptions),
    kind!("db", crate::db::DbOptions),
    kind!("web", crate::web::WebOptions),
    kind!("brave", crate::brave::BraveOptions),
    kind!("package", crate::package::PackageOptions),
    kind!("llm", crate::llm::LlmOptions),
];
