//! `onetool import`: files of other MCP clients, in each client's usual place.

use std::os::unix::fs::PermissionsExt as _;

use insta::assert_snapshot;

use crate::Sandbox;

impl Sandbox {
    fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Imports servers and returns what `check` prints about them. The variable that the files use is set.
    fn import_and_check(&self, arguments: &[&str]) -> String {
        let import = self.command(&[&["import"], arguments].concat()).output().unwrap();
        let (stdout, stderr, code) = self.normalize(&import);
        assert_eq!((stdout.as_str(), code), ("", 0), "{stderr}");
        assert!(stderr.contains("to [directory]/.onetool/servers.yaml."), "{stderr}");
        self.write_config("include: [servers.yaml]\n");
        let check = self.command(&["check"]).env("GH_TOKEN", "1234567").output().unwrap();
        let lines: Vec<String> = self.normalize(&check).0.lines().map(str::to_owned).collect();
        lines.into_iter().filter(|it| it.contains("proxy:")).collect::<Vec<_>>().join("\n")
    }
}

/// A server that cannot start, and a disabled one.
const CLAUDE: &str = r#"{"mcpServers": {
    "git hub": {"command": "/not/there/github", "args": ["-y"], "env": {"TOKEN": "${GH_TOKEN}"}},
    "off": {"command": "npx", "disabled": true}
}}"#;

#[test]
fn the_file_of_claude_desktop_is_imported() {
    let sandbox = Sandbox::empty();
    sandbox.write(".config/Claude/claude_desktop_config.json", CLAUDE);
    let found = sandbox.import_and_check(&["--from", "claude-desktop"]);
    assert!(
        found.contains("git_hub") && found.contains("'/not/there/github' is not an executable file"),
        "{found}"
    );
    assert!(found.contains("proxy:off"), "{found}");
    let file = sandbox.path().join(".onetool/servers.yaml");
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600, "it may contain credentials");

    let (_, stderr, code) = sandbox.run(&["import", "--from", "claude-desktop"]);
    assert_eq!(code, 1);
    assert!(
        stderr.contains("File exists") && stderr.contains("--print"),
        "it never overwrites a file: {stderr}"
    );
}

#[test]
fn the_files_of_claude_code_are_imported_including_those_of_projects() {
    let sandbox = Sandbox::empty();
    sandbox.write(".mcp.json", r#"{"mcpServers": {"here": {"type": "stdio", "command": "/not/here"}}}"#);
    sandbox.write(
        ".claude.json",
        r#"{"mcpServers": {"mine": {"type": "http", "url": "http://127.0.0.1:1/mcp"}},
            "projects": {"/p": {"mcpServers": {"there": {"command": "/not/there"}}}}}"#,
    );
    let found = sandbox.import_and_check(&["--from", "claude-code"]);
    for name in ["proxy:here", "proxy:mine", "proxy:there"] {
        assert!(found.contains(name), "{name}: {found}");
    }
}

#[test]
fn the_file_of_cursor_is_imported() {
    let sandbox = Sandbox::empty();
    sandbox.write(".cursor/mcp.json", CLAUDE);
    assert!(sandbox.import_and_check(&["--from", "cursor"]).contains("proxy:git_hub"));
}

#[test]
fn the_file_of_vs_code_is_imported_despite_comments_and_inputs() {
    let sandbox = Sandbox::empty();
    sandbox.write(
        ".vscode/mcp.json",
        r#"{
          // VS Code asks the user for these.
          "inputs": [{"id": "key", "type": "promptString"}],
          "servers": {
            "docs": {"type": "http", "url": "http://127.0.0.1:1/mcp", "headers": {"X-Team": "a"}},
            "asks": {"command": "/not/there", "env": {"KEY": "${input:key}"}}, /* and a comma */
          },
        }"#,
    );
    let (stdout, stderr, code) = sandbox.run(&["import", "--from", "vscode", "--print"]);
    assert_eq!(code, 0, "{stderr}");
    assert_snapshot!(stderr, @"'asks': replace '${input:key}', which only that client can resolve");
    assert_snapshot!(stdout, @r##"
    # Written by `onetool import`. Instead of credentials, write ${NAME} here and the value in secrets.yaml.
    servers:
      "asks":
        command: "/not/there"
        env: {"KEY":"$${input:key}"}
      "docs":
        url: "http://127.0.0.1:1/mcp"
        headers: {"X-Team":"a"}
    "##);
    assert!(!sandbox.path().join(".onetool").exists(), "--print writes no file");
    assert!(sandbox.import_and_check(&["--from", "vscode"]).contains("proxy:docs"));
}

#[test]
fn any_file_with_servers_can_be_imported_by_path() {
    let sandbox = Sandbox::empty();
    sandbox.write("a.json", r#"{"mcpServers": {"a": {"command": "/not/a"}}}"#);
    sandbox.write("b.json", r#"{"mcp": {"servers": {"b": {"command": "/not/b"}}}}"#);
    let found = sandbox.import_and_check(&["a.json", "b.json"]);
    assert!(found.contains("proxy:a") && found.contains("proxy:b"), "{found}");
}

#[test]
fn import_errors_name_the_file() {
    let sandbox = Sandbox::empty();
    sandbox.write("broken.json", "{\"mcpServers\": ");
    sandbox.write("empty.json", "{\"mcpServers\": {}}");
    let cases = [
        (&["import", "broken.json"][..], "'broken.json' is not valid JSON"),
        (&["import", "empty.json"], "found no servers to import"),
        (&["import", "missing.json"], "cannot read 'missing.json'"),
        (&["import", "--from", "cursor"], "no configuration file at [directory]/.cursor/mcp.json"),
    ];
    for (arguments, expected) in cases {
        let (_, stderr, code) = sandbox.run(arguments);
        assert_eq!(code, 1, "{arguments:?}");
        assert!(stderr.contains(expected), "{arguments:?}: {stderr}");
    }
    assert_eq!(sandbox.run(&["import"]).2, 2, "a file or a client is required");
}

#[test]
fn an_unusable_server_is_reported_in_one_line() {
    let sandbox = Sandbox::with_config(
        "servers:\n  gone: {command: /not/there}\ntools:\n  - {name: a.b, description: d, command: [printf, x]}\n",
    );
    let (stdout, stderr, code) = sandbox.run(&["tools", "a.b", "--info", "list"]);
    assert_eq!((stdout.as_str(), code), ("a.b\n", 0));
    assert_snapshot!(stderr, @"proxy:gone: '/not/there' is not an executable file; check `command`");
}
