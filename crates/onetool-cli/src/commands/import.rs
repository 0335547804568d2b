//! `onetool import`: imports the servers of other MCP clients into the configuration.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::{IMPORTED_SERVERS, jsonc};
use crate::arguments::{Client, Import};
use crate::environment::Environment;
use crate::error::CliError;
use crate::output;

/// Servers read from other clients' files, and notes about what could not be imported.
#[derive(Default)]
struct ImportedServers {
    servers: BTreeMap<String, Map<String, Value>>,
    notes: Vec<String>,
}

pub(crate) fn run(environment: &Environment, config: Option<&Path>, args: &Import) -> Result<(), CliError> {
    let files = files(environment, args)?;
    let mut found = ImportedServers::default();
    for file in &files {
        found.read(file)?;
    }
    found.notes.iter().for_each(|note| output::note(note));
    if found.servers.is_empty() {
        return Err(CliError::failed("found no servers to import"));
    }
    let yaml = found.yaml();
    if args.print {
        return Ok(output::print(&yaml)?);
    }
    let main = environment.find_config(config).unwrap_or_else(|| environment.new_config_path());
    let target = main.with_file_name(IMPORTED_SERVERS);
    write_new(&target, &yaml)?;
    let count = found.servers.len();
    let servers = if count == 1 { "server" } else { "servers" };
    output::note(&format!("Wrote {count} {servers} to {}.", target.display()));
    let is_project = environment.project().is_some_and(|it| it.config == main);
    if main.exists() {
        let trust = if is_project { "`onetool trust` and " } else { "" };
        let main = main.display();
        output::note(&format!(
            "Add `include: [{IMPORTED_SERVERS}]` to {main}, then run {trust}`onetool check`."
        ));
        return Ok(());
    }
    write_new(&main, &format!("version: 1\ninclude: [{IMPORTED_SERVERS}]\n"))?;
    output::note(&format!("Wrote {}, which includes them.", main.display()));
    if main != environment.new_config_path() || super::trust::trust_new(environment)? {
        output::note("Next: `onetool check`.");
    } else {
        output::note(
            "Next: review .onetool, which already contained other files; then `onetool trust` and `onetool check`.",
        );
    }
    Ok(())
}

/// Returns the files to read: those on the command line, and the client's files that exist.
fn files(environment: &Environment, args: &Import) -> Result<Vec<PathBuf>, CliError> {
    let mut files = args.files.clone();
    if let Some(client) = args.from {
        let candidates = candidates(environment, client);
        let existing: Vec<PathBuf> = candidates.iter().filter(|it| it.is_file()).cloned().collect();
        if existing.is_empty() {
            let places: Vec<String> = candidates.iter().map(|it| it.display().to_string()).collect();
            let none = CliError::failed(format!("no configuration file at {}", places.join(" or ")));
            return Err(none.hinted("pass the file: `onetool import FILE`"));
        }
        files.extend(existing);
    }
    Ok(files)
}

fn candidates(environment: &Environment, client: Client) -> Vec<PathBuf> {
    let here = |path: &str| Some(environment.directory.join(path));
    let home = |path: &str| environment.home().map(|home| home.join(path));
    let paths = match client {
        Client::ClaudeDesktop => vec![
            home(".config/Claude/claude_desktop_config.json"),
            home("Library/Application Support/Claude/claude_desktop_config.json"),
        ],
        Client::ClaudeCode => vec![here(".mcp.json"), home(".claude.json")],
        Client::Cursor => vec![here(".cursor/mcp.json"), home(".cursor/mcp.json")],
        Client::Vscode => vec![
            here(".vscode/mcp.json"),
            home(".config/Code/User/mcp.json"),
            home("Library/Application Support/Code/User/mcp.json"),
        ],
    };
    paths.into_iter().flatten().collect()
}

/// Creates a file, readable only by its owner because it may contain credentials.
fn write_new(path: &Path, text: &str) -> Result<(), CliError> {
    let failed = |error: std::io::Error| {
        let exists = error.kind() == std::io::ErrorKind::AlreadyExists;
        let failed = CliError::failed(format!("cannot write '{}': {error}", path.display()));
        if exists { failed.hinted("`onetool import --print` prints the servers instead") } else { failed }
    };
    if let Some(directory) = path.parent() {
        std::fs::create_dir_all(directory).map_err(failed)?;
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)
}

impl ImportedServers {
    fn read(&mut self, file: &Path) -> Result<(), CliError> {
        let shown = file.display();
        let text = std::fs::read_to_string(file)
            .map_err(|error| CliError::failed(format!("cannot read '{shown}': {error}")))?;
        let value: Value = serde_json::from_str(&jsonc::to_json(&text))
            .map_err(|error| CliError::failed(format!("'{shown}' is not valid JSON: {error}")))?;
        let projects = value["projects"].as_object().into_iter().flat_map(|it| it.values());
        let sections = [&value["mcpServers"], &value["servers"], &value["mcp"]["servers"]]
            .into_iter()
            .chain(projects.map(|it| &it["mcpServers"]));
        let entries: Vec<(String, Value)> = sections
            .filter_map(Value::as_object)
            .flatten()
            .map(|(name, entry)| (name.clone(), entry.clone()))
            .collect();
        for (name, entry) in entries {
            self.add(&name, &entry);
        }
        Ok(())
    }

    fn add(&mut self, name: &str, entry: &Value) {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let pack: String = name.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
        match self.server(name, entry) {
            Err(reason) => self.notes.push(format!("skipped '{name}': {reason}")),
            Ok(server) => match self.servers.get(&pack) {
                Some(first) if *first == server => {}
                Some(_) => {
                    self.notes.push(format!("skipped '{name}': another server is already named '{pack}'"));
                }
                None => {
                    self.servers.insert(pack, server);
                }
            },
        }
    }

    /// Converts an entry to one in our configuration.
    fn server(&mut self, name: &str, entry: &Value) -> Result<Map<String, Value>, String> {
        let mut server = Map::new();
        let url = entry.get("url").or_else(|| entry.get("serverUrl")).and_then(Value::as_str);
        match (entry["command"].as_str(), url) {
            (Some(command), _) => {
                if Path::new(command).file_stem().is_some_and(|it| it == "onetool") {
                    return Err("it is onetool itself".into());
                }
                server.insert("command".into(), self.convert(name, command));
            }
            (None, Some(_)) if entry["type"] == "sse" => {
                return Err("it uses the old SSE transport; use its streamable HTTP URL".into());
            }
            (None, Some(url)) => {
                server.insert("url".into(), self.convert(name, url));
            }
            (None, None) => return Err("it has neither a command nor a URL".into()),
        }
        let args = entry["args"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let args: Vec<Value> = args.map(|it| self.convert(name, it)).collect();
        if !args.is_empty() {
            server.insert("args".into(), args.into());
        }
        for key in ["env", "headers"] {
            let Some(values) = entry[key].as_object().filter(|it| !it.is_empty()) else { continue };
            let value = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let values: Map<String, Value> =
                values.iter().map(|(key, it)| (key.clone(), self.convert(name, &value(it)))).collect();
            server.insert(key.into(), values.into());
        }
        if let Some(directory) = entry["cwd"].as_str() {
            server.insert("cwd".into(), self.convert(name, directory));
        }
        if entry["disabled"] == true {
            server.insert("enabled".into(), false.into());
        }
        Ok(server)
    }

    /// Converts a value. `${NAME}` and `${env:NAME}` stay variables; variables only that client knows are escaped.
    fn convert(&mut self, name: &str, text: &str) -> Value {
        let mut converted = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find("${") {
            let (before, variable) = rest.split_at(start);
            converted.push_str(before);
            let inner = variable[2..].split_once('}').map(|(inner, _)| inner);
            let known = inner.map(|it| it.strip_prefix("env:").unwrap_or(it)).filter(|it| is_variable(it));
            if let (Some(inner), Some(known)) = (inner, known) {
                let _ = write!(converted, "${{{known}}}");
                rest = &variable[inner.len() + 3..];
            } else {
                let shown = inner.unwrap_or_default();
                self.notes
                    .push(format!("'{name}': replace '${{{shown}}}', which only that client can resolve"));
                converted.push_str("$${");
                rest = &variable[2..];
            }
        }
        converted.push_str(rest);
        converted.into()
    }

    fn yaml(&self) -> String {
        // JSON values are valid YAML, which takes care of quoting.
        let mut yaml = "# Written by `onetool import`. Instead of credentials, write ${NAME} here and the value in secrets.yaml.\nservers:\n"
            .to_owned();
        for (name, server) in &self.servers {
            let _ = writeln!(yaml, "  {}:", Value::from(name.as_str()));
            for (key, value) in server {
                let _ = writeln!(yaml, "    {key}: {value}");
            }
        }
        yaml
    }
}

fn is_variable(text: &str) -> bool {
    let name = text.split_once(":-").map_or(text, |(name, _)| name);
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn import(json: &str) -> ImportedServers {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("mcp.json");
        std::fs::write(&file, json).unwrap();
        let mut found = ImportedServers::default();
        found.read(&file).unwrap();
        found
    }

    #[test]
    fn servers_of_other_clients_are_converted() {
        let found = import(
            r#"{
              // VS Code writes comments,
              "mcpServers": {
                "git hub": {"command": "npx", "args": ["-y", "it's"], "env": {"TOKEN": "${env:GH}", "N": 1}, "disabled": true},
                "docs": {"type": "http", "url": "https://a.org/mcp", "headers": {"Authorization": "Bearer ${T:-x}"}},
                "self": {"command": "/usr/bin/onetool"},
                "old": {"type": "sse", "url": "https://a.org/sse"},
                "asks": {"command": "x", "args": ["${input:key}"]}, // and trailing commas
              },
            }"#,
        );
        assert_eq!(
            found.yaml().lines().skip(2).collect::<Vec<_>>().join("\n"),
            r#"  "asks":
    command: "x"
    args: ["$${input:key}"]
  "docs":
    url: "https://a.org/mcp"
    headers: {"Authorization":"Bearer ${T:-x}"}
  "git_hub":
    command: "npx"
    args: ["-y","it's"]
    env: {"TOKEN":"${GH}","N":"1"}
    enabled: false"#
        );
        assert_eq!(found.notes.len(), 3, "{:?}", found.notes);
    }
}
