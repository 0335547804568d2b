//! Ways in for the fuzz targets in `fuzz/`. Not part of the crate: it is there only when the compiler fuzzes.

use indexmap::IndexMap;
use url::Url;

use crate::ApiOptions;
use crate::document::Location;
use crate::options::PlanOptions;
use crate::reader::{Reading, read_description};

/// Reads a document as JSON and as YAML, here and by message, and takes the bytes for a message as well.
pub fn document(document: &[u8]) {
    let _ = read_description(document.to_vec());
    for name in ["api.json", "api.yaml"] {
        let Ok(url) = Url::parse(&format!("https://example.org/{name}")) else { return };
        let reading = Reading {
            documents: vec![(Location::Url(url), document.to_vec())],
            failed: IndexMap::new(),
            options: PlanOptions::from(&ApiOptions::new("api")),
        };
        reading.fuzz();
    }
}
