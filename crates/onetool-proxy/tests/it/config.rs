//! Invalid configurations, rejected before anything is started or sent.

use indexmap::IndexMap;
use onetool_proxy::{State, Transport, Upstream, UpstreamConfig};

use crate::kit::{scripted, unguarded};

fn http(url: &str, headers: &[(&str, &str)]) -> UpstreamConfig {
    let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    UpstreamConfig::new("up", Transport::Http { url: url.parse().unwrap(), headers })
}

#[test]
fn a5_credentials_over_plain_http_to_another_host_are_refused() {
    let bearer = ("Authorization", "Bearer secret-value");
    let rejected = [
        (http("http://example.org/mcp", &[bearer]), "header 'Authorization'"),
        (http("http://10.0.0.1/mcp", &[("X-Api-Key", "k")]), "header 'X-Api-Key'"),
        (http("http://u:p@example.org/mcp", &[]), "user and password in the URL"),
        (http("http://example.org/mcp?access_token=abc", &[]), "query parameter 'access_token'"),
        (http("http://localhost.example.org/mcp", &[bearer]), "header 'Authorization'"),
    ];
    for (config, what) in rejected {
        let error = config.check().unwrap_err().to_string();
        assert!(
            error.contains(what) && error.contains("use https") && !error.contains("secret-value"),
            "{error}"
        );
    }
    let allowed = [
        http("https://example.org/mcp", &[bearer]),
        http("http://127.0.0.1:1/mcp", &[bearer]),
        http("http://[::1]:1/mcp", &[bearer]),
        http("http://localhost/mcp", &[bearer]),
        http("http://example.org/mcp", &[("X-Team", "blue")]),
    ];
    for config in allowed {
        config.check().unwrap();
    }
}

#[test]
fn prx_1_7_invalid_configurations_are_rejected_with_the_reason() {
    let stdio = |command: &str, name: &str, value: &str| {
        let env = IndexMap::from([(name.to_owned(), value.to_owned())]);
        UpstreamConfig::new(
            "up",
            Transport::Stdio { command: command.into(), args: vec![], env, directory: None },
        )
    };
    let named = |name: &str| {
        let mut config = scripted(&[]);
        config.name = name.into();
        config
    };
    let cases = [
        (named("a.b"), "server name 'a.b' contains a dot; use '_' or '-' instead"),
        (named(""), "server name '' is not a valid pack name"),
        (named("a b"), "server name 'a b' is not a valid pack name"),
        (stdio("", "A", "b"), "server 'up' has an empty command"),
        (stdio("x", "A=B", "b"), "server 'up': environment variable 'A=B' has an invalid name or value"),
        (http("ftp://example.org/", &[]), "server 'up': unsupported URL scheme 'ftp'; use 'https' or 'http'"),
        (
            http("https://example.org/", &[("Mcp-Session-Id", "x")]),
            "server 'up': header 'Mcp-Session-Id' is invalid or reserved; check its name and value",
        ),
        (
            http("https://example.org/", &[("X-A", "a\nb")]),
            "server 'up': header 'X-A' is invalid or reserved; check its name and value",
        ),
    ];
    for (config, message) in cases {
        assert_eq!(config.check().unwrap_err().to_string(), message);
    }
}

#[tokio::test]
async fn a5_a_rejected_configuration_is_never_connected_and_its_state_has_the_reason() {
    let upstream =
        Upstream::start(http("http://example.org/mcp", &[("Authorization", "Bearer x")]), unguarded());
    let state = upstream.snapshot().state.clone();
    assert!(matches!(&state, State::Failed { reason } if reason.contains("unencrypted")), "{state}");
    let mut disabled = scripted(&[]);
    disabled.enabled = false;
    let disabled = Upstream::start(disabled, unguarded());
    assert_eq!(disabled.snapshot().state, State::Disabled);
    upstream.shut_down().await;
    disabled.shut_down().await;
}

#[test]
fn l2_a_configuration_shows_no_secrets() {
    let shown =
        format!("{:?}", http("https://u:hunter2hunter2@h/p?k=hunter2hunter2", &[("A", "hunter2hunter2")]));
    assert!(!shown.contains("hunter2") && shown.contains("/p"), "{shown}");
    let env = IndexMap::from([("TOKEN".to_owned(), "hunter2hunter2".to_owned())]);
    let transport =
        Transport::Stdio { command: "x".into(), args: vec!["--key=hunter2".into()], env, directory: None };
    let shown = format!("{transport:?}");
    assert!(!shown.contains("hunter2") && shown.contains("TOKEN"), "{shown}");
}
