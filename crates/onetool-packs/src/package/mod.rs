//! The pack `package`: the latest versions of packages on npm, PyPI and crates.io.

mod options;

use std::sync::Arc;

use futures::StreamExt as _;
use onetool_core::{CallContext, Json, Pack};
use reqwest::StatusCode;
use schemars::JsonSchema;
use semver::Version;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::service::{Service, ServiceError, ServiceResponse};
use crate::tool::{About, DocumentedTool, Effect, pack, tool, tool_error};

pub(crate) use options::PackageOptions;

const DESCRIPTION: &str = "The latest versions of packages on npm, PyPI and crates.io.";
const CATEGORY: &str = "packages";
/// Maximum number of packages that one call looks up concurrently.
const MAX_CONCURRENT: usize = 8;
const MAX_NAMES: usize = 100;
/// Maximum length of a name, in bytes.
const MAX_NAME: usize = 214;

/// Errors of a lookup.
#[derive(Debug, thiserror::Error)]
enum PackageError {
    #[error("invalid package name '{name}'")]
    Name { name: String },
    #[error("{registry} has no package '{name}'; check the spelling")]
    Missing { registry: &'static str, name: String },
    #[error("{registry} has no usable version of '{name}'; all are yanked")]
    NoVersion { registry: &'static str, name: String },
    #[error("too many packages: {count} (limit {MAX_NAMES})")]
    TooMany { count: usize },
    #[error("{message}")]
    All { message: String },
    #[error(transparent)]
    Service(#[from] ServiceError),
}

/// One name or several.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum Names {
    One(String),
    Several(Vec<String>),
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Lookup {
    /// The package, or a list of several.
    names: Names,
}

/// A registry of packages.
#[derive(Clone, Copy)]
enum Registry {
    Npm,
    Pypi,
    Crates,
}

struct Registries {
    options: PackageOptions,
    npm: Service,
    pypi: Service,
    crates: Service,
}

fn build(options: PackageOptions) -> Pack {
    let registries = Arc::new(Registries {
        npm: Service::new(Registry::Npm.name(), *options.timeout),
        pypi: Service::new(Registry::Pypi.name(), *options.timeout),
        crates: Service::new(Registry::Crates.name(), *options.timeout),
        options,
    });
    let tools = vec![
        lookup_tool(
            &registries,
            Registry::Npm,
            About {
                name: "package.npm",
                description: "Look up the latest version of packages on npm, for JavaScript and TypeScript.",
                effect: Effect::ReadsRemote,
                example: "package.npm(names=[\"react\", \"@types/node\"])",
                keywords: &["version", "latest", "node", "javascript", "dependency", "release", "update"],
                category: CATEGORY,
            },
        ),
        lookup_tool(
            &registries,
            Registry::Pypi,
            About {
                name: "package.pypi",
                description: "Look up the latest version of packages on PyPI, for Python.",
                effect: Effect::ReadsRemote,
                example: "package.pypi(names=[\"requests\", \"fastapi\"])",
                keywords: &["version", "latest", "pip", "python", "dependency", "release", "update"],
                category: CATEGORY,
            },
        ),
        lookup_tool(
            &registries,
            Registry::Crates,
            About {
                name: "package.crates",
                description: "Look up the latest version of crates on crates.io, for Rust.",
                effect: Effect::ReadsRemote,
                example: "package.crates(names=[\"serde\", \"tokio\"])",
                keywords: &["version", "latest", "cargo", "rust", "dependency", "release", "update"],
                category: CATEGORY,
            },
        ),
    ];
    pack("package", DESCRIPTION, tools)
}

fn lookup_tool(registries: &Arc<Registries>, registry: Registry, about: About) -> DocumentedTool {
    let registries = registries.clone();
    tool(about, move |args: Lookup, _: CallContext| {
        let registries = registries.clone();
        async move { registries.look_up(registry, args.names).await.map(Json) }
    })
}

impl Registry {
    fn name(self) -> &'static str {
        match self {
            Self::Npm => "npm",
            Self::Pypi => "PyPI",
            Self::Crates => "crates.io",
        }
    }

    /// Returns the path of a package in the registry; `None` if the name is invalid.
    fn path(self, name: &str) -> Option<String> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let is_dotted = |c: char| is_plain(c) || matches!(c, '.' | '~');
        let is_name = |part: &str| !part.is_empty() && !part.starts_with('.') && part.chars().all(is_dotted);
        if name.len() > MAX_NAME {
            return None;
        }
        match self {
            Self::Npm => match name.strip_prefix('@').map(|it| it.split_once('/')) {
                None => is_name(name).then(|| format!("{name}/latest")),
                Some(Some((scope, part))) if is_name(scope) && is_name(part) => {
                    Some(format!("@{scope}%2F{part}/latest"))
                }
                Some(_) => None,
            },
            Self::Pypi => is_name(name).then(|| format!("pypi/{}/json", normalize(name))),
            Self::Crates => {
                let lower = name.to_ascii_lowercase();
                let is_crate = !lower.is_empty() && lower.chars().all(is_plain);
                is_crate.then(|| match lower.len() {
                    length @ (1 | 2) => format!("{length}/{lower}"),
                    3 => format!("3/{}/{lower}", &lower[..1]),
                    _ => format!("{}/{}/{lower}", &lower[..2], &lower[2..4]),
                })
            }
        }
    }
}

/// Normalizes a name like PyPI, which redirects other spellings.
fn normalize(name: &str) -> String {
    let parts = name.split(['-', '_', '.']).filter(|it| !it.is_empty());
    parts.collect::<Vec<_>>().join("-").to_ascii_lowercase()
}

impl Registries {
    async fn look_up(&self, registry: Registry, names: Names) -> Result<Value, PackageError> {
        let names = match names {
            Names::One(name) => vec![name],
            Names::Several(names) => names,
        };
        if names.len() > MAX_NAMES {
            return Err(PackageError::TooMany { count: names.len() });
        }
        let lookups = futures::stream::iter(names).map(async |name| {
            let found = self.latest(registry, name.trim()).await;
            found.map_err(|error| (name, tool_error(error.into()).to_string()))
        });
        let found: Vec<Result<Value, (String, String)>> = lookups.buffered(MAX_CONCURRENT).collect().await;
        if !found.is_empty() && found.iter().all(Result::is_err) {
            let mut messages: Vec<String> =
                found.into_iter().filter_map(Result::err).map(|it| it.1).collect();
            messages.dedup();
            return Err(PackageError::All { message: messages.join("; ") });
        }
        let packages = found
            .into_iter()
            .map(|it| it.unwrap_or_else(|(name, error)| json!({"name": name, "error": error})));
        Ok(json!({"packages": packages.collect::<Vec<_>>()}))
    }

    async fn latest(&self, registry: Registry, name: &str) -> Result<Value, PackageError> {
        let path = registry.path(name).ok_or_else(|| PackageError::Name { name: name.to_owned() })?;
        let (service, base) = match registry {
            Registry::Npm => (&self.npm, &self.options.npm_url),
            Registry::Pypi => (&self.pypi, &self.options.pypi_url),
            Registry::Crates => (&self.crates, &self.options.crates_url),
        };
        let url = base.join(&path);
        let response = service.send(|client| client.get(&url)).await?;
        if matches!(
            response.status,
            StatusCode::NOT_FOUND | StatusCode::GONE | StatusCode::UNAVAILABLE_FOR_LEGAL_REASONS
        ) {
            return Err(PackageError::Missing { registry: registry.name(), name: name.to_owned() });
        }
        let no_version = || PackageError::NoVersion { registry: registry.name(), name: name.to_owned() };
        match registry {
            Registry::Npm => npm(&service.json(&response)?).ok_or_else(no_version),
            Registry::Pypi => pypi(&service.json(&response)?).ok_or_else(no_version),
            Registry::Crates => latest_crate(service, &response)?.ok_or_else(no_version),
        }
    }
}

fn npm(body: &Value) -> Option<Value> {
    let mut package = json!({"name": body["name"], "version": body["version"].as_str()?});
    add(&mut package, "description", &body["description"]);
    add(&mut package, "homepage", &body["homepage"]);
    add(&mut package, "license", &body["license"]);
    add(&mut package, "engines", &body["engines"]);
    add(&mut package, "deprecated", &body["deprecated"]);
    Some(package)
}

fn pypi(body: &Value) -> Option<Value> {
    let info = &body["info"];
    let mut package = json!({"name": info["name"], "version": info["version"].as_str()?});
    add(&mut package, "description", &info["summary"]);
    add(&mut package, "homepage", &info["project_urls"]["Homepage"]);
    add(&mut package, "license", &info["license_expression"]);
    add(&mut package, "requires_python", &info["requires_python"]);
    add(&mut package, "released", &body["urls"][0]["upload_time_iso_8601"]);
    Some(package)
}

/// Reads the index of a crate: a line of JSON for every published version.
fn latest_crate(service: &Service, response: &ServiceResponse) -> Result<Option<Value>, ServiceError> {
    if !response.status.is_success() {
        return Err(service.status_error(response));
    }
    let text = String::from_utf8_lossy(&response.body);
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let usable = lines.filter(|line| line["yanked"] != true);
    let versions = usable.filter_map(|line| Some((Version::parse(line["vers"].as_str()?).ok()?, line)));
    // Any stable version is preferred over a pre-release.
    let latest =
        versions.max_by(|(a, _), (b, _)| a.pre.is_empty().cmp(&b.pre.is_empty()).then_with(|| a.cmp(b)));
    Ok(latest.map(|(version, line)| {
        let mut package = json!({"name": line["name"], "version": version.to_string()});
        add(&mut package, "rust_version", &line["rust_version"]);
        package
    }))
}

/// Adds a field, unless it is null or empty.
fn add(package: &mut Value, name: &str, value: &Value) {
    if !value.is_null() && *value != "" {
        package[name] = value.clone();
    }
}
