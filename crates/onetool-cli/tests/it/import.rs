//! `onetool import`: the files of other MCP clients, where each of them keeps its own.

use std::os::unix::fs::PermissionsExt as _;

use insta::assert_snapshot;

use crate::Sandbox;

impl Sandbox {
    fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Takes over what a client has, with the variable that its file names set, and returns what `check` says of it.
    fn take_over(&self, arguments: &[&str]) -> String {
        let import = self.command(&[&["import"], arguments].concat()).output().unwrap();
        let (stdout, stderr, code) = self.finish(&import);
        assert_eq!((stdout.as_str(), code), ("", 0), "{stderr}");
        assert!(stderr.contains("servers are in [folder]/.onetool/servers.yaml."), "{stderr}");
        self.write_config("include: [servers.yaml]\n");
        let check = self.command(&["check"]).env("GH_TOKEN", "1234567").output().unwrap();
        let lines: Vec<String> = self.finish(&check).0.lines().map(str::to_owned).collect();
        lines.into_iter().filter(|it| it.contains("proxy:")).collect::<Vec<_>>().join("\n")
    }
}

/// A server that answers, and one that is switched off.
const CLAUDE: &str = r#"{"mcpServers": {
    "git hub": {"command": "/not/there/github", "args": ["-y"], "env": {"TOKEN": "${GH_TOKEN}"}},
    "off": {"command": "npx", "disabled": true}
}}"#;

#[test]
fn the_file_of_claude_desktop_is_taken_over() {
    let sandbox = Sandbox::empty();
    sandbox.write(".config/Claude/claude_desktop_config.json", CLAUDE);
    let found = sandbox.take_over(&["--from", "claude-desktop"]);
    assert!(found.contains("git_hub") && found.contains("'/not/there/github' is not a program"), "{found}");
    assert!(found.contains("proxy:off"), "{found}");
    let file = sandbox.path().join(".onetool/servers.yaml");
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600, "it may hold credentials");

    let (_, stderr, code) = sandbox.run(&["import", "--from", "claude-desktop"]);
    assert_eq!(code, 1);
    assert!(stderr.contains("File exists") && stderr.contains("--print"), "never over a file: {stderr}");
}

#[test]
fn the_files_of_claude_code_are_taken_over_those_of_single_projects_too() {
    let sandbox = Sandbox::empty();
    sandbox.write(".mcp.json", r#"{"mcpServers": {"here": {"type": "stdio", "command": "/not/here"}}}"#);
    sandbox.write(
        ".claude.json",
        r#"{"mcpServers": {"mine": {"type": "http", "url": "http://127.0.0.1:1/mcp"}},
            "projects": {"/p": {"mcpServers": {"there": {"command": "/not/there"}}}}}"#,
    );
    let found = sandbox.take_over(&["--from", "claude-code"]);
    for name in ["proxy:here", "proxy:mine", "proxy:there"] {
        assert!(found.contains(name), "{name}: {found}");
    }
}

#[test]
fn the_file_of_cursor_is_taken_over() {
    let sandbox = Sandbox::empty();
    sandbox.write(".cursor/mcp.json", CLAUDE);
    assert!(sandbox.take_over(&["--from", "cursor"]).contains("proxy:git_hub"));
}

#[test]
fn the_file_of_vs_code_is_taken_over_with_comments_and_inputs() {
    let sandbox = Sandbox::empty();
    sandbox.write(
        ".vscode/mcp.json",
        r#"{
          // What VS Code asks for itself.
          "inputs": [{"id": "key", "type": "promptString"}],
          "servers": {
            "docs": {"type": "http", "url": "http://127.0.0.1:1/mcp", "headers": {"X-Team": "a"}},
            "asks": {"command": "/not/there", "env": {"KEY": "${input:key}"}}, /* and a comma */
          },
        }"#,
    );
    let (stdout, stderr, code) = sandbox.run(&["import", "--from", "vscode", "--print"]);
    assert_eq!(code, 0, "{stderr}");
    assert_snapshot!(stderr, @"'asks': replace '${input:key}' by hand, only that client knows it");
    assert_snapshot!(stdout, @r##"
    # Written by `onetool import`. Better than credentials in here: ${NAME}, with the value in secrets.yaml.
    servers:
      "asks":
        command: "/not/there"
        env: {"KEY":"$${input:key}"}
      "docs":
        url: "http://127.0.0.1:1/mcp"
        headers: {"X-Team":"a"}
    "##);
    assert!(!sandbox.path().join(".onetool").exists(), "--print writes no file");
    assert!(sandbox.take_over(&["--from", "vscode"]).contains("proxy:docs"));
}

#[test]
fn any_file_with_servers_is_taken_over_by_its_name() {
    let sandbox = Sandbox::empty();
    sandbox.write("a.json", r#"{"mcpServers": {"a": {"command": "/not/a"}}}"#);
    sandbox.write("b.json", r#"{"mcp": {"servers": {"b": {"command": "/not/b"}}}}"#);
    let found = sandbox.take_over(&["a.json", "b.json"]);
    assert!(found.contains("proxy:a") && found.contains("proxy:b"), "{found}");
}

#[test]
fn what_cannot_be_imported_is_named() {
    let sandbox = Sandbox::empty();
    sandbox.write("broken.json", "{\"mcpServers\": ");
    sandbox.write("empty.json", "{\"mcpServers\": {}}");
    let cases = [
        (&["import", "broken.json"][..], "'broken.json' is no JSON"),
        (&["import", "empty.json"], "no server that can be taken over was found"),
        (&["import", "missing.json"], "cannot read 'missing.json'"),
        (&["import", "--from", "cursor"], "no configuration at [folder]/.cursor/mcp.json"),
    ];
    for (arguments, expected) in cases {
        let (_, stderr, code) = sandbox.run(arguments);
        assert_eq!(code, 1, "{arguments:?}");
        assert!(stderr.contains(expected), "{arguments:?}: {stderr}");
    }
    assert_eq!(sandbox.run(&["import"]).2, 2, "a file or a client has to be named");
}

#[test]
fn a_server_that_cannot_be_used_is_told_in_one_line() {
    let sandbox = Sandbox::with_config(
        "servers:\n  gone: {command: /not/there}\ntools:\n  - {name: a.b, description: d, command: [printf, x]}\n",
    );
    let (stdout, stderr, code) = sandbox.run(&["tools", "a.b", "--info", "list"]);
    assert_eq!((stdout.as_str(), code), ("a.b\n", 0));
    assert_snapshot!(stderr, @"proxy:gone: '/not/there' is not a program that can be started; check `command`");
}
