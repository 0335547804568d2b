//! D4 and H1: what `ot.reload()` applies, and what it leaves to the operator.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use onetool::config::PendingChanges;
use onetool::http::HttpOptions;
use onetool::{Gateway, HttpSource, OpenStore, config};
use onetool_testkit::{Client, Era, HttpServer};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{beyond_surface, options};

/// A gateway that reads its configuration from a file on every reload.
struct Fixture {
    folder: TempDir,
    gateway: Gateway,
}

impl Fixture {
    fn new(yaml: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("onetool.yaml");
        fs::write(&path, yaml).unwrap();
        let load = move || config::load(&path, &|_| None).map_err(|error| error.report());
        let mut options = options();
        options.worker = Some(onetool_testkit::worker());
        options.directory = folder.path().into();
        options.store = OpenStore::sqlite(folder.path().join("first.db"));
        options.load = Some(Arc::new(load.clone()));
        options.operator_reload = Some("kill -HUP 4711".into());
        let gateway = Gateway::new(load().unwrap(), options).unwrap();
        Self { folder, gateway }
    }

    fn path(&self, inside: &str) -> PathBuf {
        self.folder.path().join(inside)
    }

    async fn client(&self) -> Client {
        Client::connect(self.gateway.server()).await
    }

    async fn run(&self, code: &str) -> String {
        self.client().await.call_text("run", json!({"command": code})).await
    }

    /// Writes a configuration and reloads it as an agent; returns the result.
    async fn reload(&self, yaml: &str) -> String {
        fs::write(self.path("onetool.yaml"), yaml).unwrap();
        self.run("ot.reload()").await
    }

    /// Reloads as the operator.
    fn operator_reload(&self) {
        let path = self.path("onetool.yaml");
        self.gateway.reload(config::load(&path, &|_| None).unwrap()).unwrap();
    }
}

const RELOADED: &str = "OK: Configuration reloaded";

#[tokio::test]
async fn d4_ot_reload_applies_statistics_output_and_the_limits_of_runs() {
    let it = Fixture::new("stats: {enabled: false}\n");
    let off = it.run("ot.stats()").await;
    assert!(off.contains("Error: Statistics are disabled"), "{off}");
    assert_eq!(it.reload("stats: {enabled: true, turn_ms: 1000}\n").await, RELOADED);
    let counted = it.run("[ot.version(), ot.stats()['total_calls']]").await;
    assert!(!counted.contains("disabled"), "{counted}");

    let long = "'x' * 300";
    assert_eq!(it.run(long).await.len(), 300);
    assert_eq!(
        it.reload("output: {max_inline_size: 100, preview_lines: 1, result_ttl: 60}\n").await,
        RELOADED
    );
    assert!(it.run(long).await.contains("handle"));

    let calls = "[ot.version() for _ in range(5)][0]";
    assert!(!it.run(calls).await.contains("limit"));
    assert_eq!(it.reload("run: {max_calls: 3}\n").await, RELOADED);
    assert!(it.run(calls).await.contains('3'));
    assert_eq!(it.reload("run: {max_print: 10}\n").await, RELOADED);
    assert!(it.run("print('x' * 100)").await.contains("10"));
}

#[tokio::test]
async fn d4_ot_reload_applies_search_and_server_information() {
    let it = Fixture::new("search: {limit: 2}\n");
    let find = async || {
        let found = it.client().await.call("tool_find", json!({"query": "search the web list tools"})).await;
        found.unwrap()["structuredContent"]["tools"].as_array().map(Vec::len)
    };
    assert_eq!(find().await, Some(2));
    let yaml = "search: {limit: 4}\nserver: {name: other, instructions: be kind, call_timeout: 7}\n";
    assert_eq!(it.reload(yaml).await, RELOADED);
    assert_eq!(find().await, Some(4));
    let mut raw = onetool_testkit::RawClient::connect(it.gateway.server());
    let info = raw.initialize().await["result"].clone();
    assert_eq!((&info["serverInfo"]["name"], &info["instructions"]), (&json!("other"), &json!("be kind")));
}

#[tokio::test]
async fn d4_ot_reload_moves_the_storage() {
    let it = Fixture::new("output: {max_inline_size: 150}\n");
    let stored = async || {
        let result = it.run("'a line\\n' * 50").await;
        let result: Value = serde_json::from_str(&result).unwrap_or_else(|_| panic!("{result}"));
        result["handle"].as_str().unwrap().to_owned()
    };
    let old = stored().await;
    assert!(it.path("first.db").exists() && !it.path("second.db").exists());
    let yaml = "output: {max_inline_size: 150}\nstorage: {url: 'sqlite:second.db'}\n";
    assert_eq!(it.reload(yaml).await, RELOADED);
    let new = stored().await;
    assert!(it.path("second.db").exists());
    let read = async |handle: &str| it.run(&format!("ot.result(handle='{handle}', limit=1)")).await;
    assert!(read(&new).await.contains("a line"));
    assert!(read(&old).await.contains("not found"), "earlier results stay in the old file");
}

#[tokio::test]
async fn d4_ot_reload_applies_http_settings_and_names_what_needs_a_restart() {
    let it = Fixture::new("http: {title: before}\n");
    let options = HttpSource::following(|config| {
        let mut options = HttpOptions::default();
        options.max_body = config.http.max_body.size();
        options.connections = config.http.connections();
        options
    });
    let http = HttpServer::start_gateway(&it.gateway, options).await;
    // The session continues when the routes are rebuilt.
    let client = Client::connect_http(&http.url("/mcp"), None, Era::Sessions).await;
    let page = async || http.get("/").send().await.unwrap().text().await.unwrap();
    assert!(page().await.contains("<title>before</title>"));
    let body = json!({"text": "x".repeat(1000)}).to_string();
    let post = async || {
        let request = http.request("POST", "/tools/ot.version/validate").body(body.clone());
        request.send().await.unwrap().status().as_u16()
    };
    assert_eq!(post().await, 200);

    let yaml = "http: {title: after, max_body: 500, listen: '127.0.0.1:9'}\n";
    let expected = format!("{RELOADED}\nTakes effect after a restart: http.listen");
    assert_eq!(it.reload(yaml).await, expected);
    assert_eq!(it.reload(yaml).await, expected, "until it is restarted");
    assert!(page().await.contains("<title>after</title>"));
    assert_eq!(post().await, 413);
    assert_eq!(client.call_text("run", json!({"command": "1 + 1"})).await, "2");
    assert_eq!(http.post_mcp("x".repeat(600)).send().await.unwrap().status(), 413);
}

/// A configuration, one with more privileges, and the parts of it that wait for the operator.
const WIDER: [(&str, &str, &str); 24] = [
    ("", "servers: {up: {command: sh, enabled: false}}", "servers.up (new)"),
    (
        "servers: {up: {command: sh, enabled: false}}",
        "servers: {up: {command: bash, enabled: false}}",
        "servers.up (changed)",
    ),
    (
        "servers: {up: {command: sh, args: [a], enabled: false}}",
        "servers: {up: {command: sh, args: [b], enabled: false}}",
        "servers.up (changed)",
    ),
    (
        "servers: {up: {command: sh, enabled: false}}",
        "servers: {up: {command: sh, env: {KEY: canary}, enabled: false}}",
        "servers.up (changed)",
    ),
    ("servers: {up: {command: sh, enabled: false}}", "servers: {up: {command: sh}}", "servers.up (changed)"),
    (
        "servers: {up: {command: sh, untrusted: true, enabled: false}}",
        "servers: {up: {command: sh, enabled: false}}",
        "servers.up (changed)",
    ),
    ("", "openapi: {pets: {spec: 'https://a.org/x.json', enabled: false}}", "openapi.pets (new)"),
    (
        "openapi: {pets: {spec: 'https://a.org/x.json', enabled: false}}",
        "openapi: {pets: {spec: 'https://b.org/x.json', enabled: false}}",
        "openapi.pets (changed)",
    ),
    (
        "openapi: {pets: {spec: 'https://a.org/x.json', enabled: false}}",
        "openapi: {pets: {spec: 'https://a.org/x.json', base_url: 'https://b.org', enabled: false}}",
        "openapi.pets (changed)",
    ),
    ("", "tools: [{name: x.y, description: d, command: [id]}]", "tools.x.y (new)"),
    (
        "tools: [{name: x.y, description: d, command: [id]}]",
        "tools: [{name: x.y, description: d, command: [sh]}]",
        "tools.x.y (changed)",
    ),
    (
        "tools: [{name: x.y, description: d, command: [id, '{{ a }}'], params: {a: {type: string, pattern: '^[a-z]+$'}}}]",
        "tools: [{name: x.y, description: d, command: [id, '{{ a }}'], params: {a: {type: string}}}]",
        "tools.x.y (changed)",
    ),
    ("", "tools: [{name: x.y, description: d, http: {url: 'https://a.org'}}]", "tools.x.y (new)"),
    ("", "resources: [{uri: 'a://b', name: b, file: /etc/hostname}]", "resources.b (new file)"),
    ("", "notify: {topics: [{pattern: '*', file: /nowhere/notes.yaml}]}", "notify.topics '*' (new file)"),
    ("", "packs: {files: ['/nowhere/*.py']}", "packs.files (new files)"),
    ("", "packs: {file: {roots: [.]}}", "packs.file (new), packs.ripgrep (new)"),
    (
        "packs: {file: {roots: [.], read_only: true}, ripgrep: {enabled: false}}",
        "packs: {file: {roots: [., /tmp]}, ripgrep: {enabled: false}}",
        "packs.file.roots (wider), packs.file.read_only (off)",
    ),
    (
        "packs: {db: {urls: {a: 'sqlite:a.db'}}}",
        "packs: {db: {urls: {a: 'sqlite:a.db', b: 'sqlite:b.db'}, writable: [a]}}",
        "packs.db.urls.a (changed), packs.db.urls.b (new)",
    ),
    ("", "packs: {web: {allow_private: true}}", "packs.web.allow_private (on)"),
    (
        "",
        "packs: {llm: {base_url: 'https://a.org', model: m, api_key: canary}, brave: {api_key: canary}}",
        "packs.brave (changed), packs.llm (changed)",
    ),
    (
        "",
        "http: {allow_execute: true, token: canary, allowed_hosts: [a.org], allowed_origins: ['https://a.org']}",
        "http.token (changed), http.allow_execute (on), http.allowed_hosts (wider), http.allowed_origins (wider)",
    ),
    ("policy: {deny: [x.*, y.*]}", "policy: {deny: [x.*]}", "policy (looser)"),
    ("policy: {allow: [web.*, run, ot.*]}", "policy: {allow: ['*']}", "policy (looser)"),
];

#[tokio::test]
async fn h1_a_reload_by_an_agent_widens_nothing_and_names_what_waits() {
    for (old, new, waiting) in WIDER {
        let it = Fixture::new(&format!("{old}\n"));
        let before = it.gateway.config();
        let reply = it.reload(&format!("{new}\nserver: {{name: renamed}}\n")).await;
        let expected = format!(
            "{RELOADED}\nWaiting for the operator: {waiting}; the operator applies them with `kill -HUP 4711` or a restart"
        );
        assert_eq!(reply, expected, "{new}");
        // Only the changes that widen nothing are active.
        let now = it.gateway.config();
        assert_eq!(&*now.server.name, "renamed", "{new}");
        assert_eq!(
            (&now.servers, &now.apis, &now.declared, &now.notify, &now.policy),
            (&before.servers, &before.apis, &before.declared, &before.notify, &before.policy),
            "{new}"
        );
        let mut wider = PendingChanges::default();
        let _ = before.packs.restrict(&now.packs, &mut wider);
        assert_eq!(wider.into_keys(), [""; 0], "{new}");
        assert_eq!(now.http, before.http, "{new}");
        // The operator applies all changes, and then none wait.
        it.operator_reload();
        assert_eq!(it.run("ot.reload()").await, RELOADED, "{new}");
    }
}

/// A configuration, and one with fewer privileges or other descriptions, which an agent may apply.
const NARROWER: [(&str, &str); 9] = [
    ("servers: {up: {command: sh, enabled: false}}", ""),
    (
        "servers: {up: {command: sh, enabled: false}}",
        "servers: {up: {command: sh, enabled: false, timeout: 9, untrusted: true}}",
    ),
    (
        "tools: [{name: x.y, description: d, command: [id]}]",
        "tools: [{name: x.y, description: other words, command: [id]}]",
    ),
    ("", "tools: [{name: x.y, description: d, python: '1'}]\nsnippets: {s: {body: '1'}}"),
    ("packs: {file: {roots: [., /tmp]}}", "packs: {file: {roots: [/tmp], read_only: true}}"),
    (
        "packs: {db: {urls: {a: 'sqlite:a.db'}, writable: [a]}}",
        "packs: {db: {urls: {a: 'sqlite:a.db'}, timeout: 3}}",
    ),
    ("policy: {deny: [x.*]}", "policy: {allow: [ot.*, run], deny: [y.*, x.*]}"),
    ("http: {allow_execute: true, allowed_hosts: [a.org]}", "http: {title: x}"),
    ("", "docs: {packs: {web: words}}\nrenames: {a.b: ot.version}\naliases: {v: ot.version}"),
];

#[tokio::test]
async fn h1_a_reload_by_an_agent_applies_what_widens_nothing() {
    for (old, new) in NARROWER {
        let it = Fixture::new(&format!("{old}\n"));
        assert_eq!(it.reload(&format!("{new}\n")).await, RELOADED, "{new}");
        let expected = config::load(&it.path("onetool.yaml"), &|_| None).unwrap();
        let now = it.gateway.config();
        assert_eq!(
            (&now.servers, &now.declared, &now.packs),
            (&expected.servers, &expected.declared, &expected.packs)
        );
        assert_eq!((&now.policy, &now.http, &now.docs), (&expected.policy, &expected.http, &expected.docs));
    }
}

#[tokio::test]
async fn h1_writing_a_configuration_and_reloading_it_gives_an_agent_no_shell() {
    let it = Fixture::new("version: 1\n");
    let reply = it
        .reload(
            "tools: [{name: demo.sh, description: d, command: [sh, -c, '{{ code }}'], params: {code: {type: string}}}]
aliases: {sh: demo.sh, again: sh}
",
        )
        .await;
    assert!(reply.contains("tools.demo.sh (new), aliases.sh (its target waits)"), "{reply}");
    assert_eq!(beyond_surface(&it.client().await).await, Vec::<String>::new());
    assert!(it.run("demo.sh(code='id')").await.contains("NameError"));
    it.operator_reload();
    assert_eq!(beyond_surface(&it.client().await).await, ["demo_sh"]);
}

#[cfg(feature = "packs")]
#[tokio::test]
async fn h1_files_that_wait_are_protected_already_and_secrets_that_wait_stay_hidden() {
    let it = Fixture::new("packs: {file: {roots: [.]}}\n");
    fs::write(it.path("more.yaml"), "servers: {up: {command: sh, env: {K: \"${KEY}\"}, enabled: false}}\n")
        .unwrap();
    fs::write(it.path("secrets.yaml"), "KEY: canary-4711\n").unwrap();
    let reply = it.reload("include: [more.yaml]\npacks: {file: {roots: [.]}}\n").await;
    assert!(reply.contains("servers.up (new)") && !reply.contains("canary"), "{reply}");
    let read = it.run("file.read(path='more.yaml')").await;
    assert!(read.contains("belongs to onetool itself"), "{read}");
}

#[tokio::test]
async fn h1_a_broken_file_changes_nothing_even_if_parts_would_wait() {
    let it = Fixture::new("server: {name: one}\n");
    let reply = it.reload("server: {name: two}\nservers: {up: {command: sh}}\naliases: {x: no.such}\n").await;
    assert!(reply.contains("the previous one stays active") && reply.contains("no.such"), "{reply}");
    assert_eq!(&*it.gateway.config().server.name, "one");
    let found: Value = json!(it.gateway.sources().len());
    assert_eq!(found, 0);
}
