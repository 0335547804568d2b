//! Packs of tools: Python files, and those that come with onetool.

use std::path::PathBuf;
use std::time::Duration;

use indexmap::IndexMap;
use url::{Host, Url};

use super::sources::address;
use super::{filled, resolve_path, seconds};
use crate::config::packs_file::{
    BravePackFile, DbPackFile, FilePackFile, LlmPackFile, PackagePackFile, PacksFile, RipgrepPackFile,
    WebPackFile,
};
use crate::config::resolved::PackFilesConfig;
use crate::config::tree::Place;
use crate::config::{
    BaseUrl, BravePackConfig, ConfigError, DatabaseAddress, DatabaseConfig, DbPackConfig, FilePackConfig,
    LlmEndpoint, LlmPackConfig, PackagePackConfig, PacksConfig, RipgrepPackConfig, Secret, WebPackConfig,
};

const DEFAULT_FILES: &str = "packs/*.py";
const DEFAULT_TRASH: &str = ".onetool-trash";
const DEFAULT_DB_TIMEOUT: Duration = Duration::from_secs(30);

pub(in crate::config) fn files(patterns: Option<&[String]>, place: &Place<'_>) -> Vec<PackFilesConfig> {
    let pattern = |pattern: &str, place: &Place<'_>| PackFilesConfig {
        pattern: resolve_path(pattern, place),
        at: place.at.clone(),
    };
    match patterns {
        None => vec![pattern(DEFAULT_FILES, place)],
        Some(patterns) => {
            patterns.iter().enumerate().map(|(index, it)| pattern(it, &place.item(index))).collect()
        }
    }
}

pub(super) fn bundled(file: PacksFile, place: &Place<'_>) -> Result<PacksConfig, ConfigError> {
    let named = [
        ("file", file.file.is_some()),
        ("ripgrep", file.ripgrep.is_some()),
        ("db", file.db.is_some()),
        ("web", file.web.is_some()),
        ("brave", file.brave.is_some()),
        ("package", file.package.is_some()),
        ("llm", file.llm.is_some()),
    ];
    let named = named.into_iter().filter(|(_, is_named)| *is_named);
    let files = file_pack(file.file.unwrap_or_default(), &place.field("file"))?;
    let ripgrep = file.ripgrep.unwrap_or_default();
    Ok(PacksConfig {
        ripgrep: ripgrep_pack(ripgrep, files.as_ref(), &place.field("ripgrep"))?,
        file: files,
        db: db_pack(file.db.unwrap_or_default(), &place.field("db"))?,
        web: web_pack(file.web.unwrap_or_default(), &place.field("web"))?,
        brave: brave_pack(file.brave.unwrap_or_default(), &place.field("brave"))?,
        package: package_pack(file.package.unwrap_or_default(), &place.field("package"))?,
        llm: llm_pack(file.llm.unwrap_or_default(), &place.field("llm"))?,
        named: named.map(|(name, _)| (name, place.field(name).at.clone())).collect(),
    })
}

/// Leaves out a pack that is switched off. It has been checked all the same: a mistake should not wait for the day it
/// is switched on.
fn if_enabled<T>(enabled: Option<bool>, pack: T) -> Option<T> {
    enabled.unwrap_or(true).then_some(pack)
}

fn file_pack(file: FilePackFile, place: &Place<'_>) -> Result<Option<FilePackConfig>, ConfigError> {
    let roots = roots(file.roots, &place.field("roots"))?;
    let trash_place = place.field("trash");
    let trash = filled(file.trash, &trash_place)?.unwrap_or_else(|| DEFAULT_TRASH.to_owned());
    if trash.contains('/') || matches!(trash.as_str(), "." | "..") {
        return Err(ConfigError::invalid(&trash_place, "has to be the name of a folder inside the roots"));
    }
    let is_read_only = file.read_only.unwrap_or_default();
    let roots = roots.filter(|it| !it.is_empty());
    let pack = roots.map(|roots| FilePackConfig { roots, is_read_only, trash });
    Ok(pack.and_then(|pack| if_enabled(file.enabled, pack)))
}

fn ripgrep_pack(
    file: RipgrepPackFile,
    files: Option<&FilePackConfig>,
    place: &Place<'_>,
) -> Result<Option<RipgrepPackConfig>, ConfigError> {
    let own = roots(file.roots, &place.field("roots"))?;
    let roots = own.or_else(|| files.map(|it| it.roots.clone())).unwrap_or_default();
    Ok(if_enabled(file.enabled, RipgrepPackConfig { roots }).filter(|it| !it.roots.is_empty()))
}

fn roots(roots: Option<Vec<String>>, place: &Place<'_>) -> Result<Option<Vec<PathBuf>>, ConfigError> {
    let root = |(index, root): (usize, String)| {
        let place = place.item(index);
        let root = filled(Some(root), &place)?.unwrap_or_default();
        let path = resolve_path(&root, &place);
        if !path.is_dir() {
            let message = format!("{} is no folder; make it, or take it out", path.display());
            return Err(ConfigError::invalid(&place, message));
        }
        Ok(path)
    };
    roots.map(|roots| roots.into_iter().enumerate().map(root).collect()).transpose()
}

fn db_pack(file: DbPackFile, place: &Place<'_>) -> Result<Option<DbPackConfig>, ConfigError> {
    let urls = file.urls.unwrap_or_default();
    let writable = file.writable.unwrap_or_default();
    let privileged = file.privileged.unwrap_or_default();
    for (key, names) in [("writable", &writable), ("privileged", &privileged)] {
        for (index, name) in names.iter().enumerate() {
            if !urls.contains_key(name) {
                let message = format!("no database under 'urls' is called '{name}'");
                return Err(ConfigError::invalid(&place.field(key).item(index), message));
            }
        }
    }
    let timeout = seconds(file.timeout, &place.field("timeout"))?.unwrap_or(DEFAULT_DB_TIMEOUT);
    let urls_place = place.field("urls");
    let database = |(name, url): (String, String)| {
        let place = urls_place.field(&name);
        filled(Some(name.clone()), &place)?;
        let address = database_address(&url, &place)?;
        let (is_writable, is_privileged) = (writable.contains(&name), privileged.contains(&name));
        Ok((name, DatabaseConfig { written: Secret::new(url), address, is_writable, is_privileged }))
    };
    let databases: IndexMap<_, _> = urls.into_iter().map(database).collect::<Result<_, _>>()?;
    Ok(if_enabled(file.enabled, DbPackConfig { databases, timeout }).filter(|it| !it.databases.is_empty()))
}

fn database_address(url: &str, place: &Place<'_>) -> Result<DatabaseAddress, ConfigError> {
    if url.starts_with("postgres://") || url.starts_with("postgresql://") {
        return Ok(DatabaseAddress::Postgres(Secret::new(url)));
    }
    match url.strip_prefix("sqlite:").filter(|it| !it.is_empty()) {
        Some(path) => Ok(DatabaseAddress::Sqlite(resolve_path(path, place))),
        None => {
            let message = "has to be 'sqlite:' and a file, or begin with postgres://";
            Err(ConfigError::invalid(place, message))
        }
    }
}

fn web_pack(file: WebPackFile, place: &Place<'_>) -> Result<Option<WebPackConfig>, ConfigError> {
    let default = WebPackConfig::default();
    if file.max_bytes == Some(0) {
        return Err(ConfigError::invalid(&place.field("max_bytes"), "has to be more than 0"));
    }
    let pack = WebPackConfig {
        allow_private: file.allow_private.unwrap_or(default.allow_private),
        timeout: seconds(file.timeout, &place.field("timeout"))?.unwrap_or(default.timeout),
        max_bytes: file.max_bytes.unwrap_or(default.max_bytes),
    };
    Ok(if_enabled(file.enabled, pack))
}

fn brave_pack(file: BravePackFile, place: &Place<'_>) -> Result<Option<BravePackConfig>, ConfigError> {
    let default = BravePackConfig::default();
    let api_key = key(file.api_key, &place.field("api_key"))?;
    let base_url = base_url(file.base_url.as_deref(), api_key.as_ref(), &place.field("base_url"))?;
    let pack = BravePackConfig {
        api_key,
        base_url: base_url.unwrap_or(default.base_url),
        timeout: seconds(file.timeout, &place.field("timeout"))?.unwrap_or(default.timeout),
    };
    Ok(if_enabled(file.enabled, pack))
}

fn package_pack(file: PackagePackFile, place: &Place<'_>) -> Result<Option<PackagePackConfig>, ConfigError> {
    let default = PackagePackConfig::default();
    let url = |url: Option<String>, name: &str, default: BaseUrl| {
        Ok(base_url(url.as_deref(), None, &place.field(name))?.unwrap_or(default))
    };
    let pack = PackagePackConfig {
        npm_url: url(file.npm_url, "npm_url", default.npm_url)?,
        pypi_url: url(file.pypi_url, "pypi_url", default.pypi_url)?,
        crates_url: url(file.crates_url, "crates_url", default.crates_url)?,
        timeout: seconds(file.timeout, &place.field("timeout"))?.unwrap_or(default.timeout),
    };
    Ok(if_enabled(file.enabled, pack))
}

fn llm_pack(file: LlmPackFile, place: &Place<'_>) -> Result<Option<LlmPackConfig>, ConfigError> {
    let default = LlmPackConfig::default();
    if file.max_tokens == Some(0) {
        return Err(ConfigError::invalid(&place.field("max_tokens"), "has to be more than 0"));
    }
    let api_key = key(file.api_key, &place.field("api_key"))?;
    let base_url = base_url(file.base_url.as_deref(), api_key.as_ref(), &place.field("base_url"))?;
    let endpoint = match (base_url, file.model) {
        (Some(base_url), Some(model)) => {
            let model = filled(Some(model), &place.field("model"))?.unwrap_or_default();
            Some(LlmEndpoint { base_url, api_key, model })
        }
        (Some(_), None) => {
            return Err(ConfigError::invalid(place, "'base_url' needs 'model', the model to ask there"));
        }
        // A key may come from a variable that is always there; a model without an address is a mistake.
        (None, Some(_)) => {
            let message = "goes only with 'base_url', the address of an OpenAI-compatible API";
            return Err(ConfigError::invalid(&place.field("model"), message));
        }
        (None, None) => None,
    };
    let pack = LlmPackConfig {
        endpoint,
        max_tokens: file.max_tokens.unwrap_or(default.max_tokens),
        timeout: seconds(file.timeout, &place.field("timeout"))?.unwrap_or(default.timeout),
    };
    Ok(if_enabled(file.enabled, pack))
}

/// Reads a key; an empty one, as `${NAME:-}` gives, is none.
fn key(text: Option<String>, place: &Place<'_>) -> Result<Option<Secret>, ConfigError> {
    let text = text.map(|it| it.trim().to_owned()).filter(|it| !it.is_empty());
    if text.as_ref().is_some_and(|it| !it.chars().all(|c| c.is_ascii_graphic())) {
        return Err(ConfigError::invalid(place, "a key has no spaces and only ASCII characters"));
    }
    Ok(text.map(Secret::new))
}

/// Reads the address of an API; with a key it has to be one that nobody on the way can read.
fn base_url(
    url: Option<&str>,
    key: Option<&Secret>,
    place: &Place<'_>,
) -> Result<Option<BaseUrl>, ConfigError> {
    let Some(url) = url.filter(|it| !it.trim().is_empty()) else { return Ok(None) };
    let url = address(url, place)?;
    if url.query().is_some() || url.fragment().is_some() {
        return Err(ConfigError::invalid(place, "paths are appended to it, so it cannot hold '?' or '#'"));
    }
    if key.is_some() && url.scheme() == "http" && !is_loopback(&url) {
        return Err(ConfigError::invalid(place, "a key over plain http could be read on its way; use https"));
    }
    Ok(Some(BaseUrl::new(&url)))
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    }
}
