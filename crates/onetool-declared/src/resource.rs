//! A resource made from text or a file.

use onetool_core::{
    BoxFuture, CallContext, ReadRequest, Resource, ResourceContents, ResourceError, ResourceSpec,
};

use crate::options::{ResourceBody, ResourceOptions};

const TEXT: &str = "text/plain";
const BYTES: &str = "application/octet-stream";
const MAX_FILE: u64 = 50 * 1024 * 1024;

pub(super) struct DeclaredResource {
    spec: ResourceSpec,
    body: ResourceBody,
}

impl DeclaredResource {
    pub(super) fn new(config: &ResourceOptions) -> Self {
        let mut spec = ResourceSpec::new(&config.uri, &config.name);
        spec.description.clone_from(&config.description);
        spec.mime_type.clone_from(&config.mime_type);
        Self { spec, body: config.body.clone() }
    }

    async fn contents(&self) -> Result<ResourceContents, ResourceError> {
        let mime_type = |fallback: &str| self.spec.mime_type.clone().unwrap_or_else(|| fallback.to_owned());
        let (path, blob) = match &self.body {
            ResourceBody::Text(text) => return Ok(ResourceContents::text(text, mime_type(TEXT))),
            ResourceBody::File { path, blob } => (path, *blob),
        };
        let failed = |error: &dyn std::fmt::Display| ResourceError::Failed {
            message: format!("cannot read '{}': {error}", path.display()),
        };
        let metadata = tokio::fs::metadata(path).await.map_err(|error| failed(&error))?;
        if !metadata.is_file() {
            return Err(failed(&"it is not a regular file"));
        }
        if metadata.len() > MAX_FILE {
            return Err(failed(&format!("it is larger than {MAX_FILE} bytes")));
        }
        let bytes = tokio::fs::read(path).await.map_err(|error| failed(&error))?;
        if blob {
            return Ok(ResourceContents::blob(bytes, mime_type(BYTES)));
        }
        let text = String::from_utf8(bytes).map_err(|_| failed(&"it is not UTF-8; set 'blob: true'"))?;
        Ok(ResourceContents::text(text, mime_type(TEXT)))
    }
}

impl Resource for DeclaredResource {
    fn spec(&self) -> &ResourceSpec {
        &self.spec
    }

    fn read<'a>(
        &'a self,
        _: ReadRequest,
        _: &'a CallContext,
    ) -> BoxFuture<'a, Result<Vec<ResourceContents>, ResourceError>> {
        Box::pin(async move { Ok(vec![self.contents().await?]) })
    }
}
