//! `secrets.yaml`, and what errors may show of the values of variables.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use super::Files;
use crate::{ConfigError, Redactor, Secret, TemplateNames, read};

#[test]
fn l2_secrets_that_others_can_read_are_warned_about() {
    let files = Files::new(&[("onetool.yaml", ""), ("secrets.yaml", "A: b")]);
    let secrets = files.path("secrets.yaml");
    let warnings = |mode| {
        fs::set_permissions(&secrets, fs::Permissions::from_mode(mode)).unwrap();
        files.read().unwrap().warnings
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
fn l2_the_redactor_knows_every_secret_and_every_variable_that_was_used() {
    let files = Files::new(&[
        ("onetool.yaml", "v: ${TOKEN} ${NO:-default-value}"),
        ("secrets.yaml", "UNUSED: unused-secret\nNUMBER: 12345678\nEMPTY:"),
    ]);
    let redactor = files.read().unwrap().redactor;
    assert_eq!(
        redactor.scrub("canary-4711 unused-secret 12345678 default-value"),
        "[redacted] [redacted] [redacted] default-value"
    );
}

#[test]
fn l2_a_broken_secrets_file_does_not_show_its_contents() {
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
        let files = Files::new(&[("onetool.yaml", "v: ${A}"), ("secrets.yaml", secrets)]);
        let read = files.read().and_then(|document| {
            let value: Result<u64, _> = document.root().field("v").read_required();
            value.map_err(|error| error.scrubbed(&document.redactor))
        });
        let error = read.expect_err(secrets);
        assert!(!error.report().contains("canary"), "{}", error.report());
    }
}

#[test]
fn l2_an_error_does_not_show_the_value_of_a_variable() {
    let secrets = [
        "canary-s3cret",
        "canary \"s3cret\"\n\t",
        "{{ canary_s3cret }}",
        "{% canary %}",
        "{{canary",
        "12345670",
    ];
    for secret in secrets {
        let files = Files::new(&[("onetool.yaml", "v: \"${S}\"")]);
        let document = read(&files.path("onetool.yaml"), &|_| Some(secret.to_owned())).unwrap();
        let section = document.root().field("v");
        let errors = [
            section.read::<u64>().err(),
            section.read::<bool>().err(),
            section.read::<Vec<String>>().err(),
            section.read_entries(|_, _| Ok(())).err(),
            section.read_items(|_| Ok(())).err(),
            TemplateNames::new(["name".to_owned()].into()).check(secret, &section).err(),
            Some(section.invalid(format!("invalid value '{secret}'"))),
        ];
        for error in errors.into_iter().flatten() {
            let error: ConfigError = error.scrubbed(&document.redactor);
            let shown = format!("{} {error:?}", error.report());
            assert!(!["canary", "s3cret", "12345"].iter().any(|part| shown.contains(part)), "{shown}");
        }
    }
}

#[test]
fn a_secrets_file_is_a_flat_map_of_single_values() {
    let error = |secrets: &str| Files::new(&[("onetool.yaml", ""), ("secrets.yaml", secrets)]).error();
    assert_eq!(error("[a]"), "error at secrets.yaml:1: secrets.yaml must be a map of names to values");
    assert_eq!(
        error("A: b\nC:\n  d: e"),
        "error at secrets.yaml:3: 'C': a secret must be a single value, not a list or a map"
    );
    let files = Files::new(&[("onetool.yaml", "v: [\"${A}\", \"${B}\"]"), ("secrets.yaml", "A: 007\nB:")]);
    let value: Value = files.read().unwrap().root().field("v").read().unwrap();
    assert_eq!(value, serde_json::json!(["007", ""]));
}
