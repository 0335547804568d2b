//! Other MCP servers and OpenAPI descriptions.

use std::error::Error as _;
use std::time::Duration;

use indexmap::IndexMap;
use onetool_core::ToolName;
use onetool_openapi::{ApiOptions, Auth, Credential, Filter, OperationOverride, Origin};
use onetool_proxy::Transport;
use url::Url;

use super::{check_name, filled, resolve_path, seconds};
use crate::config::ConfigError;
use crate::config::resolved::{ApiConfig, StartupWait, UpstreamConfig};
use crate::config::source_file::{
    ApiFile, AuthFile, BasicFile, ClientFile, FilterFile, OperationFile, SchemeFile, UpstreamFile,
};
use crate::config::tree::Place;

pub(super) fn upstreams(
    files: IndexMap<String, UpstreamFile>,
    place: &Place<'_>,
) -> Result<IndexMap<String, UpstreamConfig>, ConfigError> {
    let resolve = |(name, file): (String, UpstreamFile)| {
        let upstream = upstream(&name, file, &place.field(&name))?;
        Ok((name, upstream))
    };
    files.into_iter().map(resolve).collect()
}

fn upstream(name: &str, file: UpstreamFile, place: &Place<'_>) -> Result<UpstreamConfig, ConfigError> {
    let only_with = |other: &str, keys: [(&str, bool); 3]| match keys.into_iter().find(|(_, is_set)| *is_set)
    {
        Some((key, _)) => Err(ConfigError::invalid(&place.field(key), format!("goes only with '{other}'"))),
        None => Ok(()),
    };
    let transport = match (file.command, file.url) {
        (Some(command), None) => {
            only_with("url", [("headers", file.headers.is_some()), ("", false), ("", false)])?;
            let mut command = filled(Some(command), &place.field("command"))?.unwrap_or_default();
            // A bare name is looked up by the system, a path is one of ours.
            if command.contains('/') {
                command = resolve_path(&command, &place.field("command")).to_string_lossy().into_owned();
            }
            Transport::Stdio {
                command,
                args: file.args.unwrap_or_default(),
                env: file.env.unwrap_or_default(),
                directory: file.cwd.map(|it| resolve_path(&it, &place.field("cwd"))),
            }
        }
        (None, Some(url)) => {
            let keys =
                [("args", file.args.is_some()), ("env", file.env.is_some()), ("cwd", file.cwd.is_some())];
            only_with("command", keys)?;
            Transport::Http {
                url: address(&url, &place.field("url"))?,
                headers: file.headers.unwrap_or_default(),
            }
        }
        (None, None) => return Err(ConfigError::invalid(place, "a server needs 'command' or 'url'")),
        (Some(_), Some(_)) => {
            return Err(ConfigError::invalid(place, "'command' and 'url' exclude each other, keep one"));
        }
    };
    let mut connection = onetool_proxy::UpstreamConfig::new(name, transport);
    connection.enabled = file.enabled.unwrap_or(true);
    if let Some(timeout) = seconds(file.timeout, &place.field("timeout"))? {
        connection.timeout = timeout;
    }
    if let Some(timeout) = seconds(file.connect_timeout, &place.field("connect_timeout"))? {
        connection.connect_timeout = timeout;
    }
    connection.check().map_err(|error| {
        let cause = error.source().map_or_else(String::new, |cause| format!(": {cause}"));
        ConfigError::invalid(place, format!("{error}{cause}"))
    })?;
    Ok(UpstreamConfig { connection, is_untrusted: file.untrusted.unwrap_or_default() })
}

pub(super) fn apis(
    files: IndexMap<String, ApiFile>,
    servers: &IndexMap<String, UpstreamConfig>,
    place: &Place<'_>,
) -> Result<IndexMap<String, ApiConfig>, ConfigError> {
    let resolve = |(name, file): (String, ApiFile)| {
        let place = place.field(&name);
        if servers.contains_key(&name) {
            return Err(ConfigError::invalid(
                &place,
                "a server under 'servers' has the name, too; rename one",
            ));
        }
        let api = api(&name, file, &place)?;
        Ok((name, api))
    };
    files.into_iter().map(resolve).collect()
}

fn api(name: &str, file: ApiFile, place: &Place<'_>) -> Result<ApiConfig, ConfigError> {
    if ToolName::new(name).pack().is_some() {
        return Err(ConfigError::invalid(place, "the name holds a dot; use '_' or '-' instead"));
    }
    check_name(name, place)?;
    let spec_place = place.field("spec");
    let spec = filled(Some(file.spec), &spec_place)?.unwrap_or_default();
    let origin = if spec.starts_with("http://") || spec.starts_with("https://") {
        Origin::Url(address(&spec, &spec_place)?)
    } else if spec.contains("://") {
        return Err(ConfigError::invalid(&spec_place, "has to be a file, or begin with http:// or https://"));
    } else {
        Origin::File(resolve_path(&spec, &spec_place))
    };
    let mut options = ApiOptions::new(name);
    options.base_url = file.base_url.map(|it| address(&it, &place.field("base_url"))).transpose()?;
    options.auth = auth(file.auth.unwrap_or_default(), &place.field("auth"))?;
    let headers = file.headers.unwrap_or_default();
    if let Some(bad) = headers.keys().find(|it| http::HeaderName::from_bytes(it.as_bytes()).is_err()) {
        return Err(ConfigError::invalid(&place.field("headers").field(bad), "not the name of a header"));
    }
    options.headers = headers.into_iter().map(|(key, value)| (key, value.into())).collect();
    options.include = filter(file.include.unwrap_or_default());
    options.exclude = filter(file.exclude.unwrap_or_default());
    options.read_only = file.read_only.unwrap_or_default();
    options.allow_private = file.allow_private.unwrap_or_default();
    let operations = file.operations.unwrap_or_default();
    options.operations = operations.into_iter().map(|(id, it)| (id, operation(it))).collect();
    if let Some(timeout) = seconds(file.timeout, &place.field("timeout"))? {
        options.timeout = timeout;
    }
    Ok(ApiConfig {
        origin,
        options,
        is_enabled: file.enabled.unwrap_or(true),
        is_untrusted: file.untrusted.unwrap_or_default(),
    })
}

fn auth(file: AuthFile, place: &Place<'_>) -> Result<Auth, ConfigError> {
    let AuthFile { bearer, basic, api_key, client_credentials, schemes } = file;
    let any = credential(SchemeFile { bearer, basic, api_key, client_credentials }, place)?;
    let schemes_place = place.field("schemes");
    let scheme = |(name, file): (String, SchemeFile)| {
        let place = schemes_place.field(&name);
        let missing = || {
            let message = "needs 'bearer', 'basic', 'api_key' or 'client_credentials'";
            ConfigError::invalid(&place, message)
        };
        let credential = credential(file, &place)?.ok_or_else(missing)?;
        Ok((name, credential))
    };
    let schemes = schemes.unwrap_or_default().into_iter().map(scheme).collect::<Result<_, _>>()?;
    Ok(Auth { any, schemes })
}

fn credential(file: SchemeFile, place: &Place<'_>) -> Result<Option<Credential>, ConfigError> {
    let basic = |BasicFile { username, password }| Credential::Basic { username, password: password.into() };
    let client =
        file.client_credentials.map(|it| client(it, &place.field("client_credentials"))).transpose()?;
    let given = [
        file.bearer.map(|it| Credential::Bearer(it.into())),
        file.basic.map(basic),
        file.api_key.map(|it| Credential::ApiKey(it.into())),
        client,
    ];
    let mut given = given.into_iter().flatten();
    let first = given.next();
    if given.next().is_some() {
        let message = "more than one credential; put them under 'schemes', each by the name of its scheme";
        return Err(ConfigError::invalid(place, message));
    }
    Ok(first)
}

fn client(file: ClientFile, place: &Place<'_>) -> Result<Credential, ConfigError> {
    Ok(Credential::ClientCredentials {
        client_id: file.client_id,
        client_secret: file.client_secret.into(),
        scopes: file.scopes.unwrap_or_default(),
        token_url: file.token_url.map(|it| address(&it, &place.field("token_url"))).transpose()?,
    })
}

fn filter(file: FilterFile) -> Filter {
    Filter {
        operations: file.operations.unwrap_or_default(),
        tags: file.tags.unwrap_or_default(),
        paths: file.paths.unwrap_or_default(),
        methods: file.methods.unwrap_or_default(),
    }
}

fn operation(file: OperationFile) -> OperationOverride {
    OperationOverride {
        name: file.name,
        description: file.description,
        annotations: file.annotations.unwrap_or_default(),
        enabled: file.enabled,
    }
}

pub(super) fn address(text: &str, place: &Place<'_>) -> Result<Url, ConfigError> {
    let url = Url::parse(text).map_err(|error| ConfigError::invalid(place, format!("not a URL: {error}")))?;
    if matches!(url.scheme(), "http" | "https") && url.host().is_some() {
        return Ok(url);
    }
    Err(ConfigError::invalid(place, "has to begin with http:// or https://"))
}

/// Reads how long to wait for sources; 0 is not to wait.
pub(super) fn startup_wait(number: Option<f64>, place: &Place<'_>) -> Result<StartupWait, ConfigError> {
    match number {
        Some(0.0) => Ok(StartupWait(Duration::ZERO)),
        number => match seconds(number, place) {
            Ok(wait) => Ok(wait.map(StartupWait).unwrap_or_default()),
            Err(_) => Err(ConfigError::invalid(place, "has to be from 0 to 86400 seconds")),
        },
    }
}
