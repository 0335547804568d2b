//! Entry points for the fuzz targets in `fuzz/`; compiled only with `cfg(fuzzing)`.

use indexmap::IndexMap;
use url::Url;

use crate::location::Location;
use crate::options::{ApiOptions, PlanOptions};
use crate::reader::{ReadRequest, read_description};

/// Reads a document as JSON and as YAML, in the process and as a job, and also decodes the bytes as a job message.
pub fn document(document: &[u8]) {
    let _ = read_description(document.to_vec());
    for name in ["api.json", "api.yaml"] {
        let Ok(url) = Url::parse(&format!("https://example.org/{name}")) else { return };
        let request = ReadRequest {
            documents: vec![(Location::Url(url), document.to_vec())],
            failed: IndexMap::new(),
            options: PlanOptions::from(&ApiOptions::new("api")),
        };
        request.fuzz();
    }
}
