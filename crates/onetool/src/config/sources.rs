//! The keys `servers`, `openapi` and `startup_wait`: external sources of tools.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use onetool_config::{ConfigError, HttpUrl, Section};
use onetool_core::{ToolName, error_chain};
use onetool_openapi::{ApiOptions, Auth, Credential, Filter, OperationOverride, Origin};
use onetool_proxy::Transport;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::check_name;
use super::source_files::{
    ApiFile, AuthFile, BasicFile, ClientFile, FilterFile, OperationFile, SchemeFile, UpstreamFile,
};

/// Another MCP server. Its debug output shows no values of environment variables, headers and arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UpstreamConfig {
    /// How to connect to it, with time limits.
    pub connection: onetool_proxy::UpstreamConfig,
    /// Whether its results are marked as untrusted.
    pub is_untrusted: bool,
}

/// An API with an OpenAPI description.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct ApiConfig {
    /// Where the description is.
    pub origin: Origin,
    /// How operations become tools, and how they are called.
    pub options: ApiOptions,
    /// Whether it is enabled.
    pub is_enabled: bool,
    /// Whether its results are marked as untrusted.
    pub is_untrusted: bool,
}

/// Shows only the name, because URLs may contain secrets.
impl fmt::Debug for ApiConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApiConfig").field("name", &self.options.name).finish_non_exhaustive()
    }
}

/// How long the first request that needs servers or APIs waits for those that are still connecting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StartupWait(pub Duration);

impl Default for StartupWait {
    fn default() -> Self {
        Self(Duration::from_secs(5))
    }
}

impl<'de> Deserialize<'de> for StartupWait {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let wait = Duration::try_from_secs_f64(f64::deserialize(deserializer)?).ok();
        match wait.filter(|it| *it <= Duration::from_hours(24)) {
            Some(wait) => Ok(Self(wait)),
            None => Err(D::Error::custom("must be from 0 to 86400 seconds")),
        }
    }
}

impl JsonSchema for StartupWait {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "StartupWait".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "number", "minimum": 0, "maximum": 86400})
    }
}

impl UpstreamConfig {
    pub(super) fn read(name: &str, section: &Section<'_>) -> Result<Self, ConfigError> {
        let file: UpstreamFile = section.read()?;
        let requires = |other: &str, keys: &[(&str, bool)]| match keys.iter().find(|(_, is_set)| *is_set) {
            Some((key, _)) => Err(section.field(key).invalid(format!("requires '{other}'"))),
            None => Ok(()),
        };
        let transport = match (file.command, file.url) {
            (Some(command), None) => {
                requires("url", &[("headers", file.headers.is_some())])?;
                // A bare name is looked up in PATH; a path is relative to the file.
                let command = if command.contains('/') {
                    section.field("command").absolute_path(&command).to_string_lossy().into_owned()
                } else {
                    command.into_string()
                };
                Transport::Stdio {
                    command,
                    args: file.args.unwrap_or_default(),
                    env: file.env.unwrap_or_default(),
                    directory: file.cwd.map(onetool_config::FilePath::into_path),
                }
            }
            (None, Some(url)) => {
                let (args, env, cwd) = (file.args.is_some(), file.env.is_some(), file.cwd.is_some());
                requires("command", &[("args", args), ("env", env), ("cwd", cwd)])?;
                Transport::Http { url: url.into_url(), headers: file.headers.unwrap_or_default() }
            }
            (None, None) => return Err(section.invalid("a server requires 'command' or 'url'")),
            (Some(_), Some(_)) => return Err(section.invalid("use either 'command' or 'url', not both")),
        };
        let mut connection = onetool_proxy::UpstreamConfig::new(name, transport);
        connection.enabled = file.enabled;
        connection.timeout = *file.timeout;
        connection.connect_timeout = *file.connect_timeout;
        connection.check().map_err(|error| section.invalid(error_chain(&error)))?;
        Ok(Self { connection, is_untrusted: file.untrusted })
    }
}

impl ApiConfig {
    pub(super) fn read(name: &str, section: &Section<'_>) -> Result<Self, ConfigError> {
        if ToolName::new(name).pack().is_some() {
            return Err(section.invalid("the name contains a dot; use '_' or '-' instead"));
        }
        check_name(name, section)?;
        let file: ApiFile = section.read_required()?;
        let headers = section.field("headers");
        let is_invalid = |name: &&String| ::http::HeaderName::from_bytes(name.as_bytes()).is_err();
        if let Some(name) = file.headers.keys().find(is_invalid) {
            return Err(headers.field(name).invalid("invalid header name"));
        }
        let mut options = ApiOptions::new(name);
        options.base_url = file.base_url.map(HttpUrl::into_url);
        options.auth = auth(file.auth, &section.field("auth"))?;
        options.headers = file.headers;
        options.include = filter(file.include);
        options.exclude = filter(file.exclude);
        options.read_only = file.read_only;
        options.allow_private = file.allow_private;
        options.operations = file.operations.into_iter().map(|(id, it)| (id, operation(it))).collect();
        options.timeout = *file.timeout;
        Ok(Self {
            origin: origin(&file.spec, &section.field("spec"))?,
            options,
            is_enabled: file.enabled,
            is_untrusted: file.untrusted,
        })
    }
}

fn origin(spec: &str, section: &Section<'_>) -> Result<Origin, ConfigError> {
    if spec.starts_with("http://") || spec.starts_with("https://") {
        let url = HttpUrl::parse(spec).map_err(|message| section.invalid(message))?;
        return Ok(Origin::Url(url.into_url()));
    }
    if spec.contains("://") {
        return Err(section.invalid("must be a file, or begin with http:// or https://"));
    }
    Ok(Origin::File(section.absolute_path(spec)))
}

fn auth(file: AuthFile, section: &Section<'_>) -> Result<Auth, ConfigError> {
    let AuthFile { bearer, basic, api_key, client_credentials, schemes } = file;
    let default = credential(SchemeFile { bearer, basic, api_key, client_credentials }, section)?;
    let scheme = |(name, file): (String, SchemeFile)| {
        let section = section.field("schemes").field(&name);
        let message = "requires 'bearer', 'basic', 'api_key' or 'client_credentials'";
        let credential = credential(file, &section)?.ok_or_else(|| section.invalid(message))?;
        Ok((name, credential))
    };
    let schemes = schemes.into_iter().map(scheme).collect::<Result<_, _>>()?;
    Ok(Auth { default, schemes })
}

fn credential(file: SchemeFile, section: &Section<'_>) -> Result<Option<Credential>, ConfigError> {
    let basic = |BasicFile { username, password }| Credential::Basic { username, password };
    let given = [
        file.bearer.map(Credential::Bearer),
        file.basic.map(basic),
        file.api_key.map(Credential::ApiKey),
        file.client_credentials.map(client),
    ];
    let mut given = given.into_iter().flatten();
    let first = given.next();
    if given.next().is_some() {
        let message = "more than one credential; put them under 'schemes', each by the name of its scheme";
        return Err(section.invalid(message));
    }
    Ok(first)
}

fn client(file: ClientFile) -> Credential {
    Credential::ClientCredentials {
        client_id: file.client_id,
        client_secret: file.client_secret,
        scopes: file.scopes,
        token_url: file.token_url.map(HttpUrl::into_url),
    }
}

fn filter(file: FilterFile) -> Filter {
    Filter { operations: file.operations, tags: file.tags, paths: file.paths, methods: file.methods }
}

fn operation(file: OperationFile) -> OperationOverride {
    OperationOverride {
        name: file.name,
        description: file.description,
        annotations: file.annotations,
        enabled: file.enabled,
    }
}
