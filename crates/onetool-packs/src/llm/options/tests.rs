//! Tests of the options of the pack `llm`.

use std::time::Duration;

use super::*;
use crate::testing::{check_restrict, error, read, restrict};

const API: &str = "base_url: 'https://a.example/v1', model: small, api_key: \"${TOKEN}\"";

#[test]
fn without_an_api_the_client_is_used() {
    let options: LlmOptions = read("");
    assert!(options.is_enabled() && options.endpoint().is_none());
    assert_eq!((options.max_tokens.get(), *options.timeout), (4096, Duration::from_mins(2)));
    let empty: LlmOptions = read("llm: {base_url: \"${EMPTY}\", api_key: \"${TOKEN}\"}");
    assert!(empty.endpoint().is_none(), "a key alone is not an API");
    assert!(!read::<LlmOptions>("llm: {enabled: false}").is_enabled());
}

#[test]
fn an_api_has_a_url_a_model_and_a_secret_key() {
    let options: LlmOptions = read(&format!("llm: {{{API}}}"));
    let (url, model) = options.endpoint().unwrap();
    assert_eq!((url.join("chat"), model), ("https://a.example/v1/chat".into(), "small"));
    assert_eq!(options.secrets()[0].expose(), "canary-4711");
    assert!(!format!("{options:?}").contains("canary"), "{options:?}");
}

#[test]
fn a_url_requires_a_model_and_the_other_way_around() {
    assert_eq!(
        error::<LlmOptions>("llm: {base_url: 'https://a.example'}"),
        "'llm': 'base_url' requires 'model'"
    );
    assert_eq!(
        error::<LlmOptions>("llm: {model: small}"),
        "'llm.model': requires 'base_url', the URL of an OpenAI-compatible API"
    );
    assert_eq!(error::<LlmOptions>("llm: {model: ' '}"), "'llm.model': must not be empty");
    assert_eq!(error::<LlmOptions>("llm: {max_tokens: 0}"), "'llm.max_tokens': must be at least 1");
    assert_eq!(
        error::<LlmOptions>("llm: {base_url: 'http://a.example', model: m, api_key: k}"),
        "'llm.base_url': a key sent over plain http can be read by others; use https"
    );
}

#[test]
fn an_agent_cannot_change_the_api() {
    let all: Vec<LlmOptions> = [
        "{}".to_owned(),
        format!("{{{API}}}"),
        format!("{{{API}, max_tokens: 9, timeout: 5}}"),
        "{base_url: 'https://b.example', model: small}".to_owned(),
        "{base_url: 'https://a.example/v1', model: large}".to_owned(),
        "{api_key: other, enabled: false}".to_owned(),
    ]
    .map(|options| read(&format!("llm: {options}")))
    .into();
    let api = |it: &LlmOptions| (it.base_url.clone(), it.api_key.clone(), it.model.clone());
    check_restrict(&all, |old, allowed| api(old) == api(allowed));
    assert_eq!(restrict(&all[1], &all[3]).1, ["packs.llm (changed)"]);
    assert_eq!(restrict(&all[1], &all[2]).0, all[2], "limits are not rights");
}
