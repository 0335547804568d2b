//! `${NAME}` and `${NAME:-default}`.

use serde_json::{Value, json};

use super::{Files, message, parse, test_env, value};
use crate::{parse_text, read_as_written};

#[test]
fn variables_come_from_secrets_then_from_the_environment_then_from_defaults() {
    let config = "v: \"${A} ${TOKEN} ${FLAG} ${NO:-else} ${EMPTY:-also} $${A}\"";
    let files = Files::new(&[("onetool.yaml", config), ("secrets.yaml", "A: 0123\nTOKEN: from-file")]);
    let document = files.read().unwrap();
    assert_eq!(document.root().field("v").text(), Some("0123 from-file true else also ${A}"));
    assert_eq!(document.redactor.scrub("from-file"), "[redacted]");
}

#[test]
fn a_variable_without_quotes_can_be_a_number() {
    assert_eq!(value::<u64>("v: ${NO:-10}").unwrap(), 10);
    assert_eq!(value::<String>("v: ${NO:-10}").unwrap(), "10");
    assert!(value::<bool>("v: ${FLAG}").unwrap());
    assert_eq!(message::<u64>("v: \"${NO:-10}\""), "'v' must be a whole number, 0 or more, not text");
}

#[test]
fn an_empty_variable_is_empty_text() {
    assert_eq!(value::<Option<String>>("v: ${EMPTY}").unwrap().as_deref(), Some(""));
    assert_eq!(value::<String>("v: a${EMPTY}b").unwrap(), "ab");
}

#[test]
fn a_variable_never_changes_the_structure() {
    let secrets = "A: |-\n  x\n  http: {token: none}\nB: '[a, b]'\nC: '~'";
    let config = "v:\n  name: ${A}\n  other: ${C}\n  list:\n    - ${B}";
    let document = Files::new(&[("onetool.yaml", config), ("secrets.yaml", secrets)]).read().unwrap();
    let value: Value = document.root().read().unwrap();
    assert_eq!(value, json!({"v": {"name": "x\nhttp: {token: none}", "other": "~", "list": ["[a, b]"]}}));
}

#[test]
fn keys_and_includes_are_not_expanded() {
    assert_eq!(parse("${TOKEN}: 1").root().keys().collect::<Vec<_>>(), ["${TOKEN}"]);
    let error = Files::new(&[("onetool.yaml", "include: [\"${FLAG}.yaml\"]"), ("true.yaml", "")]).error();
    assert!(error.starts_with("error at onetool.yaml:1: cannot read ${FLAG}.yaml: "), "{error}");
}

#[test]
fn values_of_variables_are_not_expanded_again() {
    let files = Files::new(&[("onetool.yaml", "v: ${A}"), ("secrets.yaml", "A: ${TOKEN}")]);
    assert_eq!(files.read().unwrap().root().field("v").text(), Some("${TOKEN}"));
}

#[test]
fn an_unset_variable_is_an_error_with_its_key_and_line() {
    let error = Files::new(&[("onetool.yaml", "v:\n  - a\n  - b: ${NO}")]).error();
    assert_eq!(
        error,
        "error at onetool.yaml:3: 'v[1].b' requires ${NO}, which is not set in secrets.yaml or the environment\n\
         hint: set it, or give a default: ${NO:-default}"
    );
}

#[test]
fn malformed_variables_are_errors() {
    for text in ["${}", "${", "${1A}", "${A-B}", "${ A}", "${:-x}", "${A:-${B}}", "${é}"] {
        let text = format!("v: '{text}'");
        let error = parse_text(&text, "/onetool.yaml".as_ref(), &test_env).unwrap_err();
        assert_eq!(
            error.to_string(),
            "'v' contains a '${' that is not ${NAME} or ${NAME:-default}",
            "{text}"
        );
        assert_eq!(error.hint().as_deref(), Some("write $${ for a literal ${"));
    }
}

#[test]
fn a_configuration_can_be_read_as_written() {
    let config = "a: ${TOKEN}\nb: ${NO} ${NO:-packs}\nc: ${SECRET}\nd: $${NO}";
    let files = Files::new(&[("onetool.yaml", config), ("secrets.yaml", "SECRET: s3cret")]);
    let (written, expanded) = read_as_written(&files.path("onetool.yaml"), &test_env).unwrap();
    let texts = |document: &crate::Document| {
        ["a", "b", "c", "d"].map(|key| document.root().field(key).text().unwrap().to_owned())
    };
    assert_eq!(texts(&written), ["${TOKEN}", "${NO} ${NO:-packs}", "${SECRET}", "$${NO}"]);
    assert_eq!(texts(&expanded), ["canary-4711", "${NO} packs", "s3cret", "${NO}"]);
    let names: Vec<_> = written.files.iter().filter_map(|file| file.path.file_name()).collect();
    assert_eq!(names, ["onetool.yaml", "secrets.yaml"]);
}
