//! Loads descriptions: reads them, plans their operations, and creates the tools.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use indexmap::IndexMap;
use onetool_cage::Jobs;
use onetool_core::{JsonObject, Schema, Tool, ToolName, ToolSpec};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use url::{Host, Url};

use crate::api::{Api, Report};
use crate::cache::CacheFile;
use crate::call::{ApiContext, BaseUrl, OperationTool, TokenUrl};
use crate::error::{LoadError, PlanError};
use crate::guard::NetworkGuard;
use crate::location::{Location, redacted_url};
use crate::names::PACK_NAME_MAX;
use crate::options::{ApiOptions, Credential, PlanOptions};
use crate::plan::model::{Operation, Plan};
use crate::reader::{ReadRequest, ReadResponse};
use crate::source::{Origin, read_referenced};
use crate::transport::LazyClient;

/// Maximum rounds of fetching referenced documents.
const MAX_ROUNDS: usize = 16;

/// Turns a description into tools.
///
/// If `cache` is a directory, plans are cached there, and reused until the description or the options change. A plan
/// that cannot be cached is only logged.
///
/// ```
/// use onetool_openapi::{ApiOptions, Origin, load};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let text = r#"{"openapi": "3.1.0", "servers": [{"url": "https://pets.example"}],
///                "paths": {"/pets/{id}": {"get": {"operationId": "getPet"}}}}"#;
/// let origin = Origin::Text { text: text.into(), base: None };
/// let api = load(origin, ApiOptions::new("pets"), None).await?;
/// assert_eq!(api.tools[0].spec().signature(), "pets.get_pet(id: str)");
/// # Ok::<(), onetool_openapi::LoadError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// When the description cannot be read or is invalid, or when credentials would be sent unencrypted or to an origin
/// that the operator did not name. An operation that cannot be called is listed in [`Report::skipped`] instead.
pub async fn load(origin: Origin, options: ApiOptions, cache: Option<&Path>) -> Result<Api, LoadError> {
    Loader { cache: cache.map(Path::to_owned), jobs: None }.load(origin, options).await
}

/// Turns descriptions into tools.
#[derive(Clone, Default)]
pub struct Loader {
    /// The directory to cache plans in; `None` disables caching.
    pub cache: Option<PathBuf>,
    /// Runs the caged processes that read descriptions; if `None`, they are read in this process.
    pub jobs: Option<Arc<Jobs>>,
}

impl Loader {
    /// Turns a description into tools, as [`load`] does.
    ///
    /// # Errors
    /// Those of [`load`]; also when a caged process cannot read the description within its limits.
    pub async fn load(&self, origin: Origin, options: ApiOptions) -> Result<Api, LoadError> {
        if options.name.len() > PACK_NAME_MAX {
            return Err(LoadError::PackName { name: options.name, max: PACK_NAME_MAX });
        }
        let headers = headers(&options)?;
        let client = LazyClient::new(guard(&origin, &options), options.timeout);
        let location = origin.location();
        let bytes = origin.read(&client, options.limits.document_bytes).await?;
        let document_bytes = bytes.len();
        let (bytes, file, cached) = self.look_up(&location, bytes, PlanOptions::from(&options)).await?;
        let from_cache = cached.is_some();
        let plan = match cached {
            Some(plan) => plan,
            None => self.plan(location.clone(), bytes, file, &client, &options).await?,
        };
        let mut api = assemble(plan, &location, &options, headers, client).await?;
        api.report.document_bytes = document_bytes;
        api.report.from_cache = from_cache;
        Ok(api)
    }

    /// Returns the bytes, the cache file for their plan, and the plan if it is cached.
    async fn look_up(
        &self,
        location: &Location,
        bytes: Vec<u8>,
        options: PlanOptions,
    ) -> Result<(Vec<u8>, Option<CacheFile>, Option<Plan>), LoadError> {
        let Some(directory) = self.cache.clone() else { return Ok((bytes, None, None)) };
        blocking(location, {
            let location = location.clone();
            move || {
                let file = CacheFile::new(&directory, &bytes, &location, &options);
                let plan = file.read();
                (bytes, Some(file), plan)
            }
        })
        .await
    }

    /// Plans a description, and reads the documents it refers to as planning finds that they are needed.
    async fn plan(
        &self,
        location: Location,
        bytes: Vec<u8>,
        file: Option<CacheFile>,
        client: &LazyClient,
        options: &ApiOptions,
    ) -> Result<Plan, LoadError> {
        let documents = vec![(location.clone(), bytes)];
        let mut request =
            ReadRequest { documents, failed: IndexMap::new(), options: PlanOptions::from(options) };
        let mut rounds = 0;
        while rounds < MAX_ROUNDS {
            let (mut next, response) = request.run(self.jobs.as_deref()).await?;
            match response {
                ReadResponse::Plan(plan) => {
                    // The cache key covers one document only, so plans of several documents are not cached.
                    let is_one_document = next.documents.len() == 1 && next.failed.is_empty();
                    return cache_plan(*plan, file.filter(|_| is_one_document), &location, options).await;
                }
                ReadResponse::Failed(error) => return Err(error.into()),
                ReadResponse::Broken { document, reason } => {
                    if document == 0 || document >= next.documents.len() {
                        return Err(LoadError::Crashed { document: location.to_string() });
                    }
                    // A broken referenced document must not make the whole description fail.
                    let (broken, _) = next.documents.remove(document);
                    next.failed.insert(broken, reason);
                }
                ReadResponse::Needs(missing) => {
                    rounds += 1;
                    for location in missing {
                        match read_document(&location, &next.documents, client, options).await {
                            Ok(bytes) => next.documents.push((location, bytes)),
                            Err(reason) => {
                                next.failed.insert(location, reason);
                            }
                        }
                    }
                }
            }
            request = next;
        }
        let reason = format!("its chain of referenced documents is too long (limit {MAX_ROUNDS})");
        Err(PlanError::NotOpenApi { document: location.to_string(), reason }.into())
    }
}

/// Runs work on a blocking thread: a large description would occupy a runtime thread for too long.
async fn blocking<T: Send + 'static>(
    location: &Location,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, LoadError> {
    let result = tokio::task::spawn_blocking(work).await;
    result.map_err(|_| LoadError::Crashed { document: location.to_string() })
}

/// Writes a plan to the cache. Failures are only logged.
async fn cache_plan(
    plan: Plan,
    file: Option<CacheFile>,
    location: &Location,
    options: &ApiOptions,
) -> Result<Plan, LoadError> {
    let Some(file) = file else { return Ok(plan) };
    let (plan, written) = blocking(location, move || {
        let written = file.write(&plan);
        (plan, written)
    })
    .await?;
    if let Err(error) = written {
        tracing::warn!(api = options.name, %error, "cannot cache the plan of an OpenAPI description");
    }
    Ok(plan)
}

async fn read_document(
    location: &Location,
    documents: &[(Location, Vec<u8>)],
    client: &LazyClient,
    options: &ApiOptions,
) -> Result<Vec<u8>, String> {
    let limit = options.limits.documents;
    if documents.len() > limit {
        return Err(format!(
            "'{location}' was not read: the description refers to too many documents (limit {limit})"
        ));
    }
    read_referenced(location, &documents[0].0, client, options.limits.document_bytes).await
}

/// Returns a guard that also allows the URLs in the configuration: the base URL, the description's and the token URLs.
fn guard(origin: &Origin, options: &ApiOptions) -> NetworkGuard {
    if options.allow_private {
        return NetworkGuard::allow_all();
    }
    let origin_url = match origin {
        Origin::Url(url) => Some(url),
        Origin::File(_) | Origin::Text { .. } => None,
    };
    let token_urls = options.auth.all().filter_map(|it| match it {
        Credential::ClientCredentials { token_url, .. } => token_url.as_ref(),
        _ => None,
    });
    let allowed = options.base_url.iter().chain(origin_url).chain(token_urls);
    allowed.fold(NetworkGuard::public(), NetworkGuard::allowing)
}

fn headers(options: &ApiOptions) -> Result<HeaderMap, LoadError> {
    let mut headers = HeaderMap::new();
    for (name, value) in &options.headers {
        let invalid = || LoadError::Header { name: name.escape_debug().to_string() };
        let header = HeaderName::try_from(name).map_err(|_| invalid())?;
        let mut value = HeaderValue::from_str(value.expose()).map_err(|_| invalid())?;
        value.set_sensitive(true);
        headers.insert(header, value);
    }
    Ok(headers)
}

/// Turns a plan into tools.
async fn assemble(
    plan: Plan,
    location: &Location,
    options: &ApiOptions,
    headers: HeaderMap,
    client: LazyClient,
) -> Result<Api, LoadError> {
    let Plan { header, operations, store } = plan;
    let guard = client.guard().clone();
    let described_base = header.base_url.as_deref().and_then(|url| Url::parse(url).ok());
    let replaced_path = options.base_url.as_ref().map(|_| {
        let path = described_base.as_ref().map(Url::path);
        path.unwrap_or_default().to_owned()
    });
    let base = options.base_url.clone().or(described_base);
    let has_credentials = !options.auth.is_empty() || headers.keys().any(is_credential_header);
    if let Some(base) = &base {
        guard.check(base).await?;
        check_encryption(base, has_credentials)?;
    }
    let limit = options.limits.response_bytes;
    let trusted = trusted_origin(options, location, base.as_ref(), has_credentials)?;
    let base_url = BaseUrl { url: base.clone(), replaced_path, trusted };
    let context =
        ApiContext::new(store, base_url, headers, client, limit, options.auth.clone(), header.schemes);
    for TokenUrl { key, url, is_configured } in context.token_urls() {
        if !is_configured && !context.base.trusts(&url) {
            let origin = |url: &Url| url.origin().ascii_serialization();
            let server = base.as_ref().map_or_else(|| "an unknown address".to_owned(), origin);
            return Err(LoadError::ForeignTokenUrl { token: origin(&url), server, key });
        }
        check_encryption(&url, true)?;
    }
    let context = Arc::new(context);

    let (mut skipped, mut warnings) = (header.skipped, header.warnings);
    let mut foreign_origins = BTreeSet::new();
    let mut lacks_server = false;
    let mut tools: Vec<Arc<dyn Tool>> = Vec::with_capacity(operations.len());
    for operation in operations {
        let server = context.base.server(operation.server.as_deref());
        lacks_server |= server.is_none();
        let server = server.filter(|it| base.as_ref() != Some(it));
        let checked = match &server {
            None => Ok(()),
            Some(url) => match guard.check(url).await {
                Err(error) => Err(error.to_string()),
                Ok(()) => check_encryption(url, has_credentials && context.base.trusts(url))
                    .map_err(|error| error.to_string()),
            },
        };
        if let Err(reason) = checked {
            skipped.push((operation.key, reason));
            continue;
        }
        if let Some(url) = server.filter(|it| has_credentials && !context.base.trusts(it)) {
            foreign_origins.insert(url.origin().ascii_serialization());
        }
        tools.push(Arc::new(operation_tool(&options.name, operation, &context)));
    }
    if lacks_server {
        warnings.push(format!(
            "no usable server URL ({}); set openapi.{}.base_url",
            header.base_url_error, options.name
        ));
    }
    if !foreign_origins.is_empty() {
        let origins: Vec<String> = foreign_origins.into_iter().collect();
        warnings.push(format!(
            "operations at {} are called without credentials, which are sent to one origin only",
            origins.join(", ")
        ));
    }
    let report = Report {
        title: header.title,
        version: header.version,
        // The URL may contain a password.
        base_url: base.and_then(|url| Url::parse(&redacted_url(&url)).ok()),
        operations: tools.len(),
        skipped,
        renamed: header.renamed,
        warnings,
        token_estimate: header.token_estimate,
        ..Report::default()
    };
    Ok(Api { name: options.name.as_str().into(), tools, report })
}

/// Returns the only origin that credentials are sent to.
///
/// This is the origin of the configured base URL, or else of the server that the description names. With credentials, a
/// description from a URL may only name a server on its own origin.
fn trusted_origin(
    options: &ApiOptions,
    location: &Location,
    base: Option<&Url>,
    has_credentials: bool,
) -> Result<Option<url::Origin>, LoadError> {
    let (None, Location::Url(description), Some(base)) = (&options.base_url, location, base) else {
        return Ok(base.map(Url::origin));
    };
    if description.origin() != base.origin() && has_credentials {
        return Err(LoadError::ForeignServer {
            description: description.origin().ascii_serialization(),
            server: base.origin().ascii_serialization(),
        });
    }
    Ok(Some(base.origin()))
}

/// Creates the tool of an operation. Its schemas are built when they are first needed.
fn operation_tool(pack: &str, operation: Operation, context: &Arc<ApiContext>) -> OperationTool {
    let lazy_schema = |span| {
        let context = context.clone();
        Schema::lazy(move || context.store.schema(span))
    };
    let spec = ToolSpec {
        name: ToolName::in_pack(pack, &operation.name),
        title: None,
        description: operation.description,
        input_schema: lazy_schema(operation.input),
        output_schema: operation.output.map(lazy_schema),
        annotations: Some(operation.annotations),
        meta: None,
        extra: JsonObject::new(),
    };
    OperationTool { spec, call: operation.call, context: context.clone() }
}

/// Rejects a URL to which credentials would be sent unencrypted over a network.
fn check_encryption(url: &Url, has_credentials: bool) -> Result<(), LoadError> {
    let is_loopback = match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    if url.scheme() == "https" || is_loopback || !has_credentials {
        return Ok(());
    }
    Err(LoadError::PlainHttp { host: url.host_str().unwrap_or_default().to_owned() })
}

/// Returns whether the name of a header suggests that it carries a credential.
fn is_credential_header(name: &HeaderName) -> bool {
    let words = ["auth", "cookie", "key", "token", "secret", "password", "credential", "session"];
    words.iter().any(|word| name.as_str().contains(word))
}
