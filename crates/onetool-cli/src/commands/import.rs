//! `onetool import`: the servers that other MCP clients know, as a part of our configuration.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::jsonc;
use crate::arguments::{Client, Import};
use crate::environment::Environment;
use crate::error::CliError;
use crate::output;

/// The file that it writes.
pub(crate) const FILE: &str = "servers.yaml";

/// What was found, and what could not be taken over.
#[derive(Default)]
struct Found {
    servers: BTreeMap<String, Map<String, Value>>,
    notes: Vec<String>,
}

pub(crate) fn run(environment: &Environment, config: Option<&Path>, asked: &Import) -> Result<(), CliError> {
    let files = files(environment, asked)?;
    let mut found = Found::default();
    for file in &files {
        found.read(file)?;
    }
    found.notes.iter().for_each(|note| output::note(note));
    if found.servers.is_empty() {
        return Err(CliError::failed("no server that can be taken over was found"));
    }
    let yaml = found.yaml();
    if asked.print {
        return Ok(output::print(&yaml)?);
    }
    let main = environment.find_config(config).unwrap_or_else(|| environment.new_config_path());
    let target = main.with_file_name(FILE);
    write_new(&target, &yaml)?;
    output::note(&format!("{} servers are in {}.", found.servers.len(), target.display()));
    let is_project = environment.project().is_some_and(|it| it.config == main);
    if main.exists() {
        let trust = if is_project { "`onetool trust` and " } else { "" };
        let main = main.display();
        output::note(&format!("Add `include: [{FILE}]` to {main}, then {trust}`onetool check`."));
        return Ok(());
    }
    write_new(&main, &format!("version: 1\ninclude: [{FILE}]\n"))?;
    output::note(&format!("Wrote {}, which includes them.", main.display()));
    if main != environment.new_config_path() || super::trust::trust_new(environment)? {
        output::note("Next: `onetool check`.");
    } else {
        output::note("Next: `onetool trust`, since .onetool held other files already; then `onetool check`.");
    }
    Ok(())
}

/// Returns the files to read: those that were named, and those of the clients that exist.
fn files(environment: &Environment, asked: &Import) -> Result<Vec<PathBuf>, CliError> {
    let mut files = asked.files.clone();
    if let Some(client) = asked.from {
        let candidates = candidates(environment, client);
        let existing: Vec<PathBuf> = candidates.iter().filter(|it| it.is_file()).cloned().collect();
        if existing.is_empty() {
            let places: Vec<String> = candidates.iter().map(|it| it.display().to_string()).collect();
            let none = CliError::failed(format!("no configuration at {}", places.join(" or ")));
            return Err(none.hinted("name the file: onetool import FILE"));
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

/// Writes a file that is not there yet, for its owner only: it may hold credentials.
fn write_new(path: &Path, text: &str) -> Result<(), CliError> {
    let failed = |error: std::io::Error| {
        let is_there = error.kind() == std::io::ErrorKind::AlreadyExists;
        let failed = CliError::failed(format!("cannot write '{}': {error}", path.display()));
        if is_there { failed.hinted("`onetool import --print` writes to stdout instead") } else { failed }
    };
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)
}

impl Found {
    fn read(&mut self, file: &Path) -> Result<(), CliError> {
        let shown = file.display();
        let text = std::fs::read_to_string(file)
            .map_err(|error| CliError::failed(format!("cannot read '{shown}': {error}")))?;
        let value: Value = serde_json::from_str(&jsonc::plain(&text))
            .map_err(|error| CliError::failed(format!("'{shown}' is no JSON: {error}")))?;
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
            Err(reason) => self.notes.push(format!("'{name}' is left out: {reason}")),
            Ok(server) => match self.servers.get(&pack) {
                Some(first) if *first == server => {}
                Some(_) => self.notes.push(format!("'{name}' is left out: another one is called '{pack}'")),
                None => {
                    self.servers.insert(pack, server);
                }
            },
        }
    }

    /// Makes the entry of our configuration.
    fn server(&mut self, name: &str, entry: &Value) -> Result<Map<String, Value>, String> {
        let mut server = Map::new();
        let url = entry.get("url").or_else(|| entry.get("serverUrl")).and_then(Value::as_str);
        match (entry["command"].as_str(), url) {
            (Some(command), _) => {
                if Path::new(command).file_stem().is_some_and(|it| it == "onetool") {
                    return Err("it is onetool itself".into());
                }
                server.insert("command".into(), self.text(name, command));
            }
            (None, Some(_)) if entry["type"] == "sse" => {
                return Err("it speaks the old SSE transport; use its streamable HTTP address".into());
            }
            (None, Some(url)) => {
                server.insert("url".into(), self.text(name, url));
            }
            (None, None) => return Err("it has neither a command nor a URL".into()),
        }
        let args = entry["args"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let args: Vec<Value> = args.map(|it| self.text(name, it)).collect();
        if !args.is_empty() {
            server.insert("args".into(), args.into());
        }
        for key in ["env", "headers"] {
            let Some(values) = entry[key].as_object().filter(|it| !it.is_empty()) else { continue };
            let value = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let values: Map<String, Value> =
                values.iter().map(|(key, it)| (key.clone(), self.text(name, &value(it)))).collect();
            server.insert(key.into(), values.into());
        }
        if let Some(directory) = entry["cwd"].as_str() {
            server.insert("cwd".into(), self.text(name, directory));
        }
        if entry["disabled"] == true {
            server.insert("enabled".into(), false.into());
        }
        Ok(server)
    }

    /// Takes a text over: `${NAME}` and `${env:NAME}` stay variables, what only the other client knows becomes text.
    fn text(&mut self, name: &str, text: &str) -> Value {
        let mut taken = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find("${") {
            let (before, variable) = rest.split_at(start);
            taken.push_str(before);
            let inner = variable[2..].split_once('}').map(|(inner, _)| inner);
            let known = inner.map(|it| it.strip_prefix("env:").unwrap_or(it)).filter(|it| is_variable(it));
            if let (Some(inner), Some(known)) = (inner, known) {
                let _ = write!(taken, "${{{known}}}");
                rest = &variable[inner.len() + 3..];
            } else {
                let shown = inner.unwrap_or_default();
                self.notes
                    .push(format!("'{name}': replace '${{{shown}}}' by hand, only that client knows it"));
                taken.push_str("$${");
                rest = &variable[2..];
            }
        }
        taken.push_str(rest);
        taken.into()
    }

    fn yaml(&self) -> String {
        // Every JSON value is a YAML value, so quoting is never a question.
        let mut yaml = "# Written by `onetool import`. Better than credentials in here: ${NAME}, with the value in secrets.yaml.\nservers:\n"
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

    fn import(json: &str) -> Found {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("mcp.json");
        std::fs::write(&file, json).unwrap();
        let mut found = Found::default();
        found.read(&file).unwrap();
        found
    }

    #[test]
    fn servers_of_other_clients_become_ours() {
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
