//! Tests of the whole configuration: data files, secrets in errors, broken files.
//!
//! The tests of the format are in `onetool-config`.

use std::fs;
use std::path::{Path, PathBuf};

use onetool_core::validate::{Validator, WorkLimit};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;

fn configs(directory: &str) -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/configs").join(directory);
    let directory = directory.canonicalize().unwrap();
    let files = fs::read_dir(&directory).unwrap().map(|it| it.unwrap().path());
    let mut files: Vec<_> = files.filter(|it| it.extension().is_some_and(|it| it == "yaml")).collect();
    assert!(!files.is_empty(), "no files in {}", directory.display());
    files.sort();
    files
}

fn test_env(name: &str) -> Option<String> {
    match name {
        "WEATHER_TOKEN" => Some("canary-4711".into()),
        "EXECUTE" => Some("true".into()),
        "EMPTY" => Some(String::new()),
        _ => None,
    }
}

fn full() -> Config {
    load(&configs("valid").into_iter().find(|it| it.ends_with("full.yaml")).unwrap(), &test_env).unwrap()
}

/// A directory with files. The configuration is `onetool.yaml`.
struct Files(TempDir);

impl Files {
    fn new(files: &[(&str, &str)]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(directory.path().join(name), text).unwrap();
        }
        Self(directory)
    }

    fn load(&self) -> Result<Config, ConfigError> {
        load(&self.0.path().join("onetool.yaml"), &test_env)
    }
}

fn load_text(text: &str) -> Result<Config, ConfigError> {
    Files::new(&[("onetool.yaml", text)]).load()
}

#[test]
fn valid_configurations_load_and_satisfy_the_schema() {
    let schema = json_schema();
    let schema = Validator::for_arguments(schema.as_object().unwrap(), &WorkLimit::FULL);
    for path in configs("valid") {
        load(&path, &test_env).unwrap_or_else(|error| panic!("{}", error.report()));
        let value: Value = onetool_config::read(&path, &test_env).unwrap().root().read().unwrap();
        let errors = schema.check(&value, &WorkLimit::FULL).unwrap();
        assert!(errors.is_empty(), "{}: {errors:?}", path.display());
    }
}

#[test]
fn invalid_configurations_say_what_is_wrong_and_where() {
    for path in configs("invalid") {
        let expected = path.with_extension("txt");
        let expected =
            fs::read_to_string(&expected).unwrap_or_else(|_| panic!("write {}", expected.display()));
        let error = load(&path, &test_env).expect_err(&path.display().to_string());
        assert!(error.location().is_some(), "{}", path.display());
        let directory = format!("{}/", path.parent().unwrap().display());
        let report = error.report().replace(&directory, "");
        assert_eq!(report, expected.trim_end(), "{}", path.display());
    }
}

#[test]
fn an_empty_file_is_the_default_configuration() {
    let config = load_text("").unwrap();
    assert!(config.pack_files[0].ends_with("packs/*.py"), "next to the file");
    assert_eq!(Config { path: None, files: Vec::new(), pack_files: Vec::new(), ..config }, Config::default());
}

#[test]
fn requests_and_commands_are_read_as_written() {
    let config = full();
    let ToolBody::Http(weather) = &config.declared.tools[0].body else { panic!("not a request") };
    assert_eq!(weather.method, "GET");
    assert_eq!(
        weather.query,
        [("n", "{{ days }}"), ("page", "1")].map(|(key, value)| (key.to_owned(), value.to_owned())).into()
    );
    assert_eq!(weather.headers["Authorization"].expose(), "Bearer canary-4711");
    let ToolBody::Http(notes) = &config.declared.tools[1].body else { panic!("not a request") };
    assert_eq!(notes.json, Some(json!({"note": ["{{ text }}", 1.5, true, null]})));
    let ToolBody::Command(git) = &config.declared.tools[2].body else { panic!("not a command") };
    assert_eq!(git.argv, ["git", "log", "-n", "{{ count }}", "--skip", "0"]);
    assert!(git.cwd.is_absolute());
    assert_eq!(git.env["GIT_PAGER"].expose(), "");
}

#[test]
fn l2_a_secret_never_shows_in_a_configuration_error() {
    let sections = [
        "version: @",
        "server: @",
        "server:\n  call_timeout: @",
        "tools: @",
        "http:\n  listen: @",
        "http:\n  token: @\n  max_body: @",
        "http:\n  allow_execute: @",
        "protocol:\n  max: @",
        "docs:\n  base_url: @",
        "renames:\n  a: @\n  b:\n    - @",
        "search:\n  limit: @",
        "search:\n  pinned: ['${S} x']\n  remember: @",
        "policy:\n  allow: @",
        "resources: [{uri: @, name: a, text: x}]",
        "resources: [{uri: 'a://b', name: @, text: x, blob: @}]",
        "prompts: [{name: @, template: x}, {name: @, template: x}]",
        "prompts: [{name: a, template: @}, {name: a, template: x}]",
        "prompts: [{name: a, messages: [{role: @, text: x}]}]",
    ];
    let tools = [
        "name: @, command: [a]",
        "name: 'a b ${S}', command: [a]",
        "name: a, command: [@, @], timeout: @",
        "name: a, command: @",
        "name: a, command: [a], params: {b: {type: @}}",
        "name: a, command: [a], params: {b: {pattern: @, minLength: @}}",
        "name: a, command: [a], input_schema: {type: @}",
        "name: a, command: [a], annotations: {readOnlyHint: @}",
        "name: a, http: {url: @}",
        "name: a, http: {url: 'https://${S}/'}",
        "name: a, http: {url: 'https://a.b', method: @}",
        "name: a, http: {url: 'https://a.b/${S}', headers: {'a b': @}}",
    ];
    let tools = tools.map(|tool| format!("tools: [{{description: x, {tool}}}]"));
    let secrets = [
        "canary-s3cret",
        "canary \"s3cret\"\n\t",
        "{{ canary_s3cret }}",
        "{% canary %}",
        "{{canary",
        "(canary",
        "1234567.50",
        "12345670",
    ];
    let mut errors = 0;
    for section in sections.into_iter().chain(tools.iter().map(String::as_str)) {
        // Brackets end a variable without quotes.
        let styles: &[&str] = if section.contains('[') { &["\"${S}\""] } else { &["\"${S}\"", "${S}"] };
        for (style, secret) in styles.iter().flat_map(|style| secrets.map(|secret| (style, secret))) {
            let files = Files::new(&[("onetool.yaml", &section.replace('@', style))]);
            let env = |_: &str| Some(secret.to_owned());
            let Err(error) = load(&files.0.path().join("onetool.yaml"), &env) else {
                continue;
            };
            errors += 1;
            let shown = format!("{} {error} {error:?}", error.report());
            let is_shown = ["canary", "s3cret", "12345"].iter().any(|piece| shown.contains(piece));
            assert!(!is_shown, "{shown}");
        }
    }
    assert!(errors > 200, "only {errors} errors");
}

#[test]
fn the_search_is_checked() {
    let search = load_text("search: {limit: 7, pinned: [a.b], remember: false}").unwrap().search;
    assert_eq!(search, SearchConfig { limit: 7, pinned: vec!["a.b".into()], remember: false });
    assert_eq!(load_text("search: {}").unwrap().search, SearchConfig::default());
    for (text, expected) in [
        ("search: {limit: 0}", "'search.limit': must be from 1 to 100"),
        ("search: {limit: 101}", "'search.limit': must be from 1 to 100"),
        ("search: {pinned: ['a b']}", "'search.pinned[0]'"),
        ("search: {pined: []}", "did you mean 'pinned'"),
    ] {
        let error = load_text(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn r9_broken_configurations_do_not_panic() {
    let full = fs::read_to_string(full().path.unwrap()).unwrap();
    let lines: Vec<&str> = full.lines().collect();
    let mut inputs = Vec::new();
    for index in 0..lines.len() {
        for nasty in ["~", "\u{0}", "]", "- ", "? ", "${", "{{", "\"", "!x", "*x", "<<: *x", "\u{2028}", "é"]
        {
            let mut lines = lines.clone();
            let line = format!("{}{nasty}", lines[index]);
            lines[index] = &line;
            inputs.push(lines.join("\n"));
            lines[index] = nasty;
            inputs.push(lines.join("\n"));
        }
    }
    inputs.extend(full.char_indices().step_by(31).map(|(index, _)| full[..index].to_owned()));
    inputs.extend(full.char_indices().step_by(31).map(|(index, _)| full[index..].to_owned()));
    let files = Files::new(&[]);
    for input in inputs {
        fs::write(files.0.path().join("onetool.yaml"), input).unwrap();
        // Only panics matter here, so the result is ignored.
        let _ = files.load();
    }
}

#[test]
fn every_key_of_the_schema_is_described() {
    fn check(value: &Value, path: &str) {
        if let Some(properties) = value.get("properties").and_then(Value::as_object) {
            for (name, property) in properties {
                let described = ["description", "$ref"].iter().any(|key| property.get(key).is_some());
                assert!(described, "{path}/{name} needs a doc comment");
            }
        }
        for (name, child) in value.as_object().into_iter().flatten() {
            check(child, &format!("{path}/{name}"));
        }
    }
    let schema = json_schema();
    check(&schema, "");
    assert_eq!(schema["title"], "onetool configuration");
    assert_eq!(schema["additionalProperties"], false);
}

#[test]
fn secrets_of_packs_are_hidden() {
    let config = full();
    assert!(!format!("{config:?}").contains("canary-4711"), "{config:?}");
    assert_eq!(config.redactor.scrub("key canary-4711"), "key [redacted]");
}

#[test]
fn the_outline_lists_what_a_configuration_would_run() {
    let files = Files::new(&[(
        "onetool.yaml",
        "servers: {db: {command: npx, args: [-y, '${NO}']}}\n\
         openapi: {pets: {spec: pets.json, base_url: 'https://ada:s3cret@pets.example'}}\n\
         tools: [{name: a.b, command: [date]}, {python: '1'}]\n\
         packs: {file: {roots: [., ..]}, db: {urls: {shop: 'sqlite:shop.db'}}}\n\
         http: {token: s3cret, listen: '0.0.0.0:80'}\n",
    )]);
    let outline = outline(&files.0.path().join("onetool.yaml"), &test_env).unwrap();
    let entries: Vec<String> = outline.entries.iter().map(|it| format!("{}: {}", it.key, it.what)).collect();
    let expected = [
        "servers.db: npx -y ${NO}",
        "openapi.pets: pets.json",
        "openapi.pets: https://ada:***@pets.example/",
        "tools.a.b: date",
        "tools.?: Python code, in the sandbox",
        "packs.file.roots: ., ..",
        "packs.db.urls.shop: sqlite:shop.db",
        "http.listen: 0.0.0.0:80",
    ];
    assert_eq!(entries, expected);
}

#[test]
fn the_outline_covers_files_that_the_default_of_a_variable_names() {
    let config = "packs: {files: ['${NO:-mine}/*.py']}\nopenapi: {pets: {spec: '${EMPTY:-pets}.json'}}\n";
    let files = Files::new(&[("onetool.yaml", config), ("pets.json", "{}")]);
    fs::create_dir(files.0.path().join("mine")).unwrap();
    fs::write(files.0.path().join("mine/a.py"), "").unwrap();
    let outline = outline(&files.0.path().join("onetool.yaml"), &test_env).unwrap();
    let paths: Vec<&Path> = outline.further_files.iter().map(|it| it.path.as_path()).collect();
    assert_eq!(paths, [files.0.path().join("mine/a.py"), files.0.path().join("pets.json")]);
}
