//! From an origin to tools.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use indexmap::IndexMap;
use onetool_cage::Jobs;
use onetool_core::{JsonObject, Pack, Schema, Tool, ToolName, ToolSpec};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use url::{Host, Url};

use crate::cache::CacheFile;
use crate::call::{Base, OperationTool, Shared, TokenUrl};
use crate::document::{Location, shown_url};
use crate::error::PlanError;
use crate::guard::NetworkGuard;
use crate::names::PACK_NAME_MAX;
use crate::options::PlanOptions;
use crate::plan::{Operation, Plan};
use crate::reader::{Read, Reading};
use crate::source::{Origin, read_referenced};
use crate::transport::LazyClient;
use crate::{ApiOptions, LoadError};

/// How often documents may turn out to need further documents.
const MAX_ROUNDS: usize = 16;

/// An API as tools.
pub struct Api {
    /// The name of its pack.
    pub name: Arc<str>,
    /// A tool per operation, in the order of the description.
    pub tools: Vec<Arc<dyn Tool>>,
    /// What was found, and what could not be used.
    pub report: Report,
}

impl From<Api> for Pack {
    fn from(api: Api) -> Self {
        let mut pack = Self::new(api.name);
        (pack.tools, pack.is_foreign) = (api.tools, true);
        pack
    }
}

/// What was found in a description.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// The API's title.
    pub title: String,
    /// The API's version.
    pub version: String,
    /// Where the API is.
    pub base_url: Option<Url>,
    /// How many operations are tools.
    pub operations: usize,
    /// Operations that cannot be used, and why; filtered ones are not among them.
    pub left_out: Vec<(String, String)>,
    /// Operations whose names had to be shortened or told apart, and their names now.
    pub renamed: Vec<(String, String)>,
    /// What is wrong with the description or the options but does not keep an operation from working.
    pub warnings: Vec<String>,
    /// The size of the description.
    pub document_bytes: usize,
    /// What listing all tools would cost a model, in tokens, roughly.
    pub token_estimate: usize,
    /// Whether the plan was made before and kept.
    pub from_cache: bool,
}

/// Turns a description into tools.
///
/// With a folder as `cache`, the plan of a description is kept there, and used as long as neither the description nor
/// the options change. What cannot be kept is only logged.
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
/// When the description cannot be read or is none, and when the options would
/// send credentials unprotected. A single operation that cannot be used is reported instead.
pub async fn load(origin: Origin, options: ApiOptions, cache: Option<&Path>) -> Result<Api, LoadError> {
    Loader { cache: cache.map(Path::to_owned), jobs: None }.load(origin, options).await
}

/// Turns descriptions into tools.
#[derive(Clone, Default)]
pub struct Loader {
    /// The folder in which plans are kept; without it, none are.
    pub cache: Option<PathBuf>,
    /// Reads descriptions in caged processes; without it, they are read in this process.
    pub jobs: Option<Arc<Jobs>>,
}

impl Loader {
    /// Turns a description into tools, as [`load`] does.
    ///
    /// # Errors
    /// Those of [`load`]; and, where descriptions are read in caged processes, when reading this one takes too much.
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

    /// Finds the place of the plan in the cache, and the plan if it is there.
    async fn look_up(
        &self,
        location: &Location,
        bytes: Vec<u8>,
        options: PlanOptions,
    ) -> Result<(Vec<u8>, Option<CacheFile>, Option<Plan>), LoadError> {
        let Some(folder) = self.cache.clone() else { return Ok((bytes, None, None)) };
        blocking(location, {
            let location = location.clone();
            move || {
                let file = CacheFile::new(&folder, &bytes, &location, &options);
                let plan = file.read();
                (bytes, Some(file), plan)
            }
        })
        .await
    }

    /// Plans a description; reads the documents that it needs, as it turns out that it does.
    async fn plan(
        &self,
        location: Location,
        bytes: Vec<u8>,
        file: Option<CacheFile>,
        client: &LazyClient,
        options: &ApiOptions,
    ) -> Result<Plan, LoadError> {
        let documents = vec![(location.clone(), bytes)];
        let mut reading = Reading { documents, failed: IndexMap::new(), options: PlanOptions::from(options) };
        let mut rounds = 0;
        while rounds < MAX_ROUNDS {
            let (mut now, read) = reading.read(self.jobs.as_deref()).await?;
            match read {
                Read::Plan(plan) => {
                    // The key covers one document only, so plans of several are not kept.
                    let is_one_document = now.documents.len() == 1 && now.failed.is_empty();
                    return keep(*plan, file.filter(|_| is_one_document), &location, options).await;
                }
                Read::Failed(error) => return Err(error.into()),
                Read::Broken { document, reason } => {
                    if document == 0 || document >= now.documents.len() {
                        return Err(LoadError::Crashed { document: location.to_string() });
                    }
                    // What cannot be parsed must not take the description down with it.
                    let (broken, _) = now.documents.remove(document);
                    now.failed.insert(broken, reason);
                }
                Read::Needs(wanted) => {
                    rounds += 1;
                    for location in wanted {
                        match read_document(&location, &now.documents, client, options).await {
                            Ok(bytes) => now.documents.push((location, bytes)),
                            Err(reason) => {
                                now.failed.insert(location, reason);
                            }
                        }
                    }
                }
            }
            reading = now;
        }
        let reason = format!("its references need more than {MAX_ROUNDS} rounds");
        Err(PlanError::NotOpenApi { document: location.to_string(), reason }.into())
    }
}

/// Works on a thread that may be busy: a large description takes longer than a runtime's thread may be kept.
async fn blocking<T: Send + 'static>(
    location: &Location,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, LoadError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|_| LoadError::Crashed { document: location.to_string() })
}

/// Keeps a plan in the cache. What cannot be kept is only logged.
async fn keep(
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
        tracing::warn!(api = options.name, %error, "cannot keep the plan of an OpenAPI description");
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
            "'{location}' is not read: the description refers to more than {limit} documents"
        ));
    }
    read_referenced(location, &documents[0].0, client, options.limits.document_bytes).await
}

/// Lets through what the configuration names: the base URL, the description's own URL, and where tokens are.
fn guard(origin: &Origin, options: &ApiOptions) -> NetworkGuard {
    if options.allow_private {
        return NetworkGuard::allow_all();
    }
    let of_origin = match origin {
        Origin::Url(url) => Some(url),
        Origin::File(_) | Origin::Text { .. } => None,
    };
    let of_tokens = options.auth.all().filter_map(|it| match it {
        crate::Credential::ClientCredentials { token_url, .. } => token_url.as_ref(),
        _ => None,
    });
    let named = options.base_url.iter().chain(of_origin).chain(of_tokens);
    named.fold(NetworkGuard::public(), NetworkGuard::allowing)
}

fn headers(options: &ApiOptions) -> Result<HeaderMap, LoadError> {
    let mut headers = HeaderMap::new();
    for (name, value) in &options.headers {
        let wrong = || LoadError::Header { name: name.escape_debug().to_string() };
        let header = HeaderName::try_from(name).map_err(|_| wrong())?;
        let mut value = HeaderValue::from_str(value.expose()).map_err(|_| wrong())?;
        value.set_sensitive(true);
        headers.insert(header, value);
    }
    Ok(headers)
}

async fn assemble(
    plan: Plan,
    location: &Location,
    options: &ApiOptions,
    headers: HeaderMap,
    client: LazyClient,
) -> Result<Api, LoadError> {
    let Plan { header, operations, store } = plan;
    let guard = client.guard().clone();
    let of_description = header.base_url.as_deref().and_then(|url| Url::parse(url).ok());
    let replaces = options.base_url.as_ref().map(|_| {
        let described = of_description.as_ref().map(Url::path);
        described.unwrap_or_default().to_owned()
    });
    let base = options.base_url.clone().or(of_description);
    let has_credentials = !options.auth.is_empty() || headers.keys().any(is_secret);
    if let Some(base) = &base {
        guard.check(base).await?;
        check_transport(base, has_credentials)?;
    }
    let limit = options.limits.answer_bytes;
    let trusted = trusted(options, location, base.as_ref(), has_credentials)?;
    let shared_base = Base { url: base.clone(), replaces, trusted };
    let shared =
        Shared::new(store, shared_base, headers, client, limit, options.auth.clone(), header.schemes);
    for TokenUrl { key, url, is_given } in shared.token_urls() {
        if !is_given && !shared.base.trusts(&url) {
            let origin = |url: &Url| url.origin().ascii_serialization();
            let server = base.as_ref().map_or_else(|| "an unknown address".to_owned(), origin);
            return Err(LoadError::ForeignTokenUrl { token: origin(&url), server, key });
        }
        check_transport(&url, true)?;
    }
    let shared = Arc::new(shared);

    let (mut left_out, mut warnings) = (header.left_out, header.warnings);
    let mut foreign = BTreeSet::new();
    let mut is_nowhere = false;
    let mut tools: Vec<Arc<dyn Tool>> = Vec::with_capacity(operations.len());
    for operation in operations {
        let server = shared.base.server(operation.server.as_deref());
        is_nowhere |= server.is_none();
        let server = server.filter(|it| base.as_ref() != Some(it));
        let usable = match &server {
            None => Ok(()),
            Some(url) => match guard.check(url).await {
                Err(refused) => Err(refused.to_string()),
                Ok(()) => check_transport(url, has_credentials && shared.base.trusts(url))
                    .map_err(|error| error.to_string()),
            },
        };
        if let Err(reason) = usable {
            left_out.push((operation.key, reason));
            continue;
        }
        if let Some(url) = server.filter(|it| has_credentials && !shared.base.trusts(it)) {
            foreign.insert(url.origin().ascii_serialization());
        }
        tools.push(Arc::new(tool(&options.name, operation, &shared)));
    }
    if is_nowhere {
        warnings.push(format!(
            "no usable server URL ({}); set openapi.{}.base_url",
            header.no_base_url, options.name
        ));
    }
    if !foreign.is_empty() {
        let foreign: Vec<String> = foreign.into_iter().collect();
        warnings.push(format!(
            "operations at {} are called without credentials, which go to one origin only",
            foreign.join(", ")
        ));
    }
    let report = Report {
        title: header.title,
        version: header.version,
        // A password in the URL is nobody else's business.
        base_url: base.and_then(|url| Url::parse(&shown_url(&url)).ok()),
        operations: tools.len(),
        left_out,
        renamed: header.renamed,
        warnings,
        token_estimate: header.token_estimate,
        ..Report::default()
    };
    Ok(Api { name: options.name.as_str().into(), tools, report })
}

/// Returns the one origin that credentials go to: the base URL's; without one, that of the description's own URL, or of
/// the server that a description names which the operator has on disk.
fn trusted(
    options: &ApiOptions,
    location: &Location,
    base: Option<&Url>,
    has_credentials: bool,
) -> Result<Option<url::Origin>, LoadError> {
    let (None, Location::Url(own), Some(base)) = (&options.base_url, location, base) else {
        return Ok(base.map(Url::origin));
    };
    if own.origin() != base.origin() && has_credentials {
        return Err(LoadError::ForeignServer {
            description: own.origin().ascii_serialization(),
            server: base.origin().ascii_serialization(),
        });
    }
    Ok(Some(base.origin()))
}

/// Makes the tool of an operation; its schemas are built when somebody asks for them.
fn tool(pack: &str, operation: Operation, shared: &Arc<Shared>) -> OperationTool {
    let lazy = |span| {
        let shared = shared.clone();
        Schema::lazy(move || shared.store.schema(span))
    };
    let spec = ToolSpec {
        name: ToolName::in_pack(pack, &operation.name),
        title: None,
        description: operation.description,
        input_schema: lazy(operation.input),
        output_schema: operation.output.map(lazy),
        annotations: Some(operation.annotations),
        meta: None,
        extra: JsonObject::new(),
    };
    OperationTool { spec, call: operation.call, shared: shared.clone() }
}

/// Refuses to send credentials where others can read them on the way.
fn check_transport(url: &Url, has_credentials: bool) -> Result<(), LoadError> {
    let is_here = match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    if url.scheme() == "https" || is_here || !has_credentials {
        return Ok(());
    }
    Err(LoadError::PlainHttp { host: url.host_str().unwrap_or_default().to_owned() })
}

/// Tells whether a header by its name carries a credential.
fn is_secret(name: &HeaderName) -> bool {
    let words = ["auth", "cookie", "key", "token", "secret", "password", "credential", "session"];
    words.iter().any(|word| name.as_str().contains(word))
}
