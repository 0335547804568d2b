//! The loader as a whole: data files, secrets, and inputs that nobody means well.

use std::fs;
use std::path::{Path, PathBuf};

use onetool_core::validate::{Validator, WorkLimit};
use serde_json::{Value, json};
use tempfile::TempDir;

use onetool_core::Secret;

use super::*;

fn configs(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/configs").join(folder);
    let folder = folder.canonicalize().unwrap();
    let files = fs::read_dir(&folder).unwrap().map(|it| it.unwrap().path());
    let mut files: Vec<_> = files.filter(|it| it.extension().is_some_and(|it| it == "yaml")).collect();
    assert!(!files.is_empty(), "no files in {}", folder.display());
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

/// A directory with files, the first of which is loaded.
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
        let folder = format!("{}/", path.parent().unwrap().display());
        let report = error.report().replace(&folder, "");
        assert_eq!(report, expected.trim_end(), "{}", path.display());
    }
}

#[test]
fn a_missing_file_is_an_error_without_a_line() {
    let error = load(Path::new("/not/there/onetool.yaml"), &test_env).unwrap_err();
    assert!(error.location().is_none());
    assert!(error.report().starts_with("error: cannot read /not/there/onetool.yaml: "), "{}", error.report());
}

#[test]
fn without_a_file_or_with_an_empty_one_the_defaults_hold() {
    let config = load_text("").unwrap();
    assert!(config.pack_files[0].ends_with("packs/*.py"), "next to the file");
    assert_eq!(Config { path: None, files: Vec::new(), pack_files: Vec::new(), ..config }, Config::default());
}

#[test]
fn requests_and_commands_hold_what_was_written() {
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
fn a_plain_scalar_in_the_place_of_text_is_the_text_that_was_written() {
    let config = load_text(
        "tools: [{name: a, description: 1.10, command: [echo, 010, true, -n, 1e3, 18446744073709551616]}]",
    )
    .unwrap();
    assert_eq!(config.declared.tools[0].description, "1.10");
    let ToolBody::Command(command) = &config.declared.tools[0].body else { panic!("not a command") };
    assert_eq!(command.argv, ["echo", "010", "true", "-n", "1e3", "18446744073709551616"]);
}

#[test]
fn numbers_follow_the_core_schema() {
    let params = "{a: {default: 0x1F}, b: {default: 0o17}, c: {default: -1}, d: {default: +1.5e1}, e: {default: .5},
        f: {default: 18446744073709551615}, g: {default: 0x-1}, h: {default: .inf}, i: {default: 1-2}, j: {default: ~},
        k: {default: 'true'}, l: {default: yes}, m: {default: !!str 1}}";
    let config =
        load_text(&format!("tools: [{{name: a, description: b, command: [c], params: {params}}}]")).unwrap();
    let properties = config.declared.tools[0].input_schema["properties"].as_object().unwrap();
    let defaults: Vec<&Value> = properties.values().map(|it| &it["default"]).collect();
    let expected = json!([
        31,
        15,
        -1,
        15.0,
        0.5,
        18_446_744_073_709_551_615_u64,
        "0x-1",
        ".inf",
        "1-2",
        null,
        "true",
        "yes",
        "1"
    ]);
    assert_eq!(json!(defaults), expected);
}

#[test]
fn variables_come_from_secrets_then_from_the_environment_then_from_defaults() {
    let config = "server: {name: \"${A} ${WEATHER_TOKEN} ${EXECUTE} ${NO:-else} ${EMPTY:-also} $${A}\"}";
    let secrets = "A: 0123\nWEATHER_TOKEN: from-file";
    let config = Files::new(&[("onetool.yaml", config), ("secrets.yaml", secrets)]).load().unwrap();
    assert_eq!(&*config.server.name, "0123 from-file true else also ${A}");
    assert_eq!(config.redactor.scrub("from-file"), "[redacted]");
}

#[test]
fn a_variable_without_quotes_can_be_a_number() {
    let load = |value: &str| load_text(&format!("http:\n  max_body: {value}\n  title: {value}"));
    let http = load("${NO:-10}").unwrap().http;
    assert_eq!((http.max_body.get(), http.title.as_str()), (10, "10"));
    let error = load("\"${NO:-10}\"").unwrap_err();
    assert_eq!(error.to_string(), "'http.max_body' must be a whole number, 0 or more, not text");
}

#[test]
fn a_variable_never_changes_the_structure() {
    let secrets = "A: |-\n  x\n  http: {token: none}\nB: '[a, b]'\nC: '~'";
    let config = "server:\n  name: ${A}\n  instructions: ${C}\npolicy:\n  allow:\n    - ${B}";
    let config = Files::new(&[("onetool.yaml", config), ("secrets.yaml", secrets)]).load().unwrap();
    assert_eq!(&*config.server.name, "x\nhttp: {token: none}");
    assert_eq!(config.server.instructions.as_deref(), Some("~"));
    assert_eq!(config.policy.allow, ["[a, b]"]);
    assert_eq!(config.http.token, TokenConfig::Auto);
}

#[cfg(unix)]
#[test]
fn l2_secrets_that_others_can_read_are_warned_about() {
    use std::os::unix::fs::PermissionsExt as _;
    let files = Files::new(&[("onetool.yaml", ""), ("secrets.yaml", "A: b")]);
    let secrets = files.0.path().join("secrets.yaml");
    let warnings = |mode| {
        fs::set_permissions(&secrets, fs::Permissions::from_mode(mode)).unwrap();
        files.load().unwrap().warnings
    };
    assert_eq!(warnings(0o640), [format!("others can read your secrets: chmod 600 {}", secrets.display())]);
    assert_eq!(warnings(0o600), [""; 0]);
    assert_eq!(warnings(0o400), [""; 0]);
}

#[test]
fn l2_the_redactor_hides_long_values_and_the_longest_first() {
    let redactor = Redactor::new(["secret", "secret-long", "short", "a\"quo\nte"].map(str::to_owned));
    assert_eq!(redactor.scrub("secret-long, secret and short"), "[redacted], [redacted] and short");
    assert_eq!(redactor.scrub(&format!("{:?}", "a\"quo\nte")), "\"[redacted]\"");
    assert_eq!(redactor.with("another").scrub("another secret"), "[redacted] [redacted]");
    assert!(
        !format!("{redactor:?} {:?} {}", Secret::new("secret"), Secret::new("secret")).contains("secret")
    );
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
    assert!(errors > 200, "only {errors} errors: the test tests nothing");
}

#[test]
fn l2_a_broken_secrets_file_does_not_show_what_it_holds() {
    for secrets in [
        "canary",
        "- canary",
        "A: !canary",
        "A: *canary",
        "A: \"canary",
        "A: {b: canary}",
        "A: b: canary",
        "A: [canary",
        "A: @canary",
        "A: canary\nA: canary",
        "A: |canary",
        "A: %canary",
        "A: &canary",
    ] {
        let files = Files::new(&[
            ("onetool.yaml", "server:\n  name: ${A}\n  call_timeout: ${A}"),
            ("secrets.yaml", secrets),
        ]);
        let error = files.load().expect_err(secrets);
        assert!(!error.report().contains("canary"), "{}", error.report());
    }
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
fn nesting_is_limited() {
    let nested = |depth: usize| format!("docs: {}{}", "[".repeat(depth - 1), "]".repeat(depth - 1));
    assert!(load_text(&nested(64)).unwrap_err().to_string().starts_with("'docs' must be a map"));
    assert_eq!(load_text(&nested(65)).unwrap_err().to_string(), "nested deeper than 64 levels");
    let by_alias = format!("a: &a {}{}\nb: [[*a]]", "[".repeat(62), "]".repeat(62));
    assert_eq!(load_text(&by_alias).unwrap_err().to_string(), "nested deeper than 64 levels");
}

#[test]
fn r9_nasty_configurations_do_not_panic() {
    let mut inputs: Vec<String> = [
        "\u{0}",
        "\u{feff}",
        "---\n---",
        "...",
        "%YAML 9.9\n---\na",
        "? ? ?",
        "? [a]\n: b",
        "*a",
        "&a *a",
        "<<: {}",
        "- - -",
        "[[[",
        "]",
        "{,}",
        "{a, b}",
        "a: |9\n x",
        "a: 'b",
        "\"\\uD800\"",
        "!!binary x",
        "!<tag:x> y",
        "\t",
        "server: {name: ${}}",
        "server: {name: \"${:-}\"}",
        "server: {name: \"$${\"}",
        "server: {name: \"${é}\"}",
        "server: {name: \"$${${A:-}}\"}",
        "include: [.]",
        "include: [~, {}]",
        "include: [onetool.yaml]",
        "version: -1",
        "version: 1e99",
        "version: 99999999999999999999",
    ]
    .map(str::to_owned)
    .into();
    for piece in ["- ", "[", "{", "? ", "a:\n ", "{a: ", "- a: ", "&a ", "! ", "\"", "${", "{{", "\r"] {
        inputs.push(piece.repeat(5_000));
        inputs.push(format!("server: {}", piece.repeat(200)));
    }
    let full = fs::read_to_string(full().path.unwrap()).unwrap();
    let lines: Vec<&str> = full.lines().collect();
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
        // What comes out does not matter, only that something does.
        let _ = files.load();
    }
    fs::write(files.0.path().join("onetool.yaml"), b"\xff\xfe").unwrap();
    files.load().unwrap_err();
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
