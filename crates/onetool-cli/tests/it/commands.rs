//! What the commands print, and their exit codes.

use std::os::unix::fs::PermissionsExt as _;

use insta::assert_snapshot;

use crate::{ECHO, Sandbox};

#[test]
fn tools_are_listed_at_three_levels_and_as_json() {
    let sandbox = Sandbox::with_config(ECHO);
    let all = sandbox.run(&["tools", "--info", "list"]).0;
    assert!(all.contains("ot.reload\ndemo.echo\nweb.fetch\n"), "built-in tools are listed too: {all}");
    assert_eq!(sandbox.run(&["tools", "ECH"]).0, "demo.echo  Prints text.\n");
    assert_snapshot!(sandbox.run(&["tools", "demo", "--info", "full"]).0, @"
    demo.echo(text: str, n: int = 1)
        Prints text.
        from local
    ");
    assert_snapshot!(sandbox.run(&["tools", "demo", "--json"]).0, @r#"
    [
      {
        "name": "demo.echo",
        "description": "Prints text."
      }
    ]
    "#);
    let (stdout, stderr, code) = sandbox.run(&["tools", "nothing"]);
    assert_eq!((stdout.as_str(), code), ("", 0));
    assert_eq!(stderr, "No tool name matches. Run `onetool tools` to list all tools.\n");
}

#[test]
fn tools_are_found_by_what_they_do() {
    let sandbox = Sandbox::with_config(ECHO);
    let (stdout, _, code) = sandbox.run(&["find", "print", "some", "text", "--limit", "1"]);
    assert_eq!(code, 0);
    assert!(stdout.ends_with("  demo.echo(text: str, n: int = 1)\n          Prints text.\n"), "{stdout}");
    let (explained, ..) = sandbox.run(&["find", "echo", "--explain", "--limit", "1"]);
    assert!(explained.contains("'echo' in name (exact)"), "{explained}");
    let found: serde_json::Value =
        serde_json::from_str(&sandbox.run(&["find", "echo", "--json", "--explain"]).0).unwrap();
    assert_eq!(found[0]["name"], "demo.echo");
    assert_eq!(found[0]["explanation"]["terms"][0]["kind"], "exact");
    let (stdout, stderr, code) = sandbox.run(&["find", "qqqzzz"]);
    assert_eq!((stdout.as_str(), code), ("", 0));
    assert_eq!(stderr, "No matching tools. Try other words, or run `onetool tools` to list all tools.\n");
    assert_eq!(sandbox.run(&["find"]).2, 2);
}

#[test]
fn check_reports_a_pinned_tool_that_does_not_exist() {
    let sandbox = Sandbox::with_config(&format!("{ECHO}search: {{pinned: [demo.ecco, demo.echo]}}\n"));
    let (stdout, _, code) = sandbox.run(&["check"]);
    assert_eq!(code, 0, "{stdout}");
    let warning = "warning  search.pinned: tool not found: 'demo.ecco'; did you mean 'demo.echo'?";
    assert!(stdout.contains(warning), "{stdout}");
    assert_eq!(stdout.matches("search.pinned").count(), 1);
}

#[test]
fn describe_shows_everything_about_a_tool() {
    let sandbox = Sandbox::with_config(ECHO);
    assert_snapshot!(sandbox.run(&["describe", "demo_echo"]).0, @"
    demo.echo(text: str, n: int = 1)

    Prints text.

      text: str  Text to print
      n: int  

    MCP name: demo_echo
    source: local
    ");
    let (_, stderr, code) = sandbox.run(&["describe", "demo.ecco"]);
    assert_eq!(code, 1);
    assert_snapshot!(stderr, @"
    error: tool not found: 'demo.ecco'; did you mean 'demo.echo'?
    hint: `onetool tools` lists all tools
    ");
}

#[test]
fn call_parses_values_according_to_the_schema() {
    let sandbox = Sandbox::with_config(ECHO);
    assert_eq!(sandbox.run(&["call", "demo.echo", "text=42", "n=3"]), ("42\n".into(), String::new(), 0));
    assert_eq!(sandbox.run(&["call", "demo.echo", "--json", r#"{"text": "a=b"}"#]).0, "a=b\n");
    let (_, stderr, code) = sandbox.run(&["call", "demo.echo", "text=x", "n=many"]);
    assert_eq!(code, 1);
    assert_snapshot!(stderr, @r#"error: schema validation failed for tool 'demo.echo': at '/n': "many" is not of type "integer""#);
    assert_eq!(sandbox.run(&["call", "demo.echo", "text"]).2, 2);
    assert_eq!(sandbox.run(&["call", "demo.echo", "--json", "[]"]).2, 2);
    let unusual_types = Sandbox::with_config(
        r#"
tools:
  - name: a.b
    description: d
    params: {v: {enum: ["1", "2"]}, w: {type: [string, "null"], default: x}, n: {type: [integer, "null"], default: null}}
    command: [printf, "%s %s %s", "{{ v }}", "{{ w }}", "{{ n }}"]
"#,
    );
    assert_eq!(unusual_types.run(&["call", "a.b", "v=1", "w=2", "n=3"]).0, "1 2 3\n");
    let raw = sandbox.run(&["call", "demo.echo", "text=x", "--raw"]).0;
    assert!(raw.contains(r#""isError": false"#), "{raw}");
}

#[test]
fn check_reports_what_is_missing() {
    let sandbox = Sandbox::with_config(
        r#"
tools:
  - {name: a.b_c, description: d, command: [echo]}
  - {name: a.d, description: d, command: [no-such-program-here]}
resources:
  - {uri: "docs://gone", name: gone, file: gone.txt}
"#,
    );
    let (stdout, _, code) = sandbox.run(&["check"]);
    assert_eq!(code, 1);
    assert_snapshot!(stdout, @"
    ok       configuration: [directory]/.onetool/onetool.yaml
    ok       tools: 28
    ok       resources: 3
    ok       prompts: 2
    ok       tool a.b_c
    error    tool a.d: program not found: 'no-such-program-here'; install it or use its full path
    error    resource docs://gone: file not found: '[directory]/.onetool/gone.txt'
    ok       sandbox
    ok       storage
    ");
    let json: serde_json::Value = serde_json::from_str(&sandbox.run(&["check", "--json"]).0).unwrap();
    assert_eq!(json[5]["state"], "error");
}

#[test]
fn d1_check_reports_flat_names_that_two_sources_share_and_rejects_those_of_the_configuration() {
    let sandbox = Sandbox::with_config("openapi: {a: {spec: a.json}, a_b: {spec: a_b.json}}\n");
    for (name, operation) in [("a", "b_c"), ("a_b", "c")] {
        let description = serde_json::json!({"openapi": "3.1.0", "info": {"title": "T", "version": "1"},
            "servers": [{"url": "https://example.org"}], "paths": {"/": {"get": {"operationId": operation}}}});
        let path = sandbox.path().join(format!(".onetool/{name}.json"));
        std::fs::write(path, description.to_string()).unwrap();
    }
    let (stdout, stderr, code) = sandbox.run(&["check"]);
    let warnings: Vec<&str> = stdout.lines().filter(|line| line.starts_with("warning")).collect();
    assert_eq!((warnings.len(), code), (1, 0), "{stdout}{stderr}");
    assert!(warnings[0].ends_with("its flat name 'a_b_c' is taken, so clients see 'a_b_c_2'"), "{stdout}");

    let sandbox = Sandbox::with_config(
        "tools:\n- {name: a.b_c, description: d, command: [echo]}\n- {name: a_b.c, description: d, command: [echo]}\n",
    );
    let (_, stderr, code) = sandbox.run(&["check"]);
    assert_eq!(code, 1);
    assert_snapshot!(stderr, @"error: [directory]/.onetool/onetool.yaml:3: duplicate tool name 'a_b.c': clients already see tool 'a.b_c' as 'a_b_c'; choose another name");
}

#[test]
fn an_error_in_the_configuration_has_its_line() {
    let sandbox = Sandbox::with_config("server:\n  nmae: x\n");
    let (stdout, stderr, code) = sandbox.run(&["tools"]);
    assert_eq!((stdout.as_str(), code), ("", 1));
    assert_snapshot!(stderr, @"
    error: [directory]/.onetool/onetool.yaml:2: unknown key 'nmae' in 'server', did you mean 'name'?
    hint: `onetool schema` describes every key
    ");
    let (_, stderr, code) = sandbox.run(&["--config", "nowhere.yaml", "tools"]);
    assert_eq!(code, 1);
    assert!(stderr.starts_with("error: cannot read [directory]/nowhere.yaml: No such file"), "{stderr}");
}

#[test]
fn l4_init_writes_a_private_configuration_that_works_and_never_overwrites_one() {
    let sandbox = Sandbox::empty();
    let (_, stderr, code) = sandbox.run(&["init"]);
    assert_eq!(code, 0, "{stderr}");
    let file = sandbox.path().join(".onetool/onetool.yaml");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(sandbox.run(&["check"]).2, 0);
    assert_eq!(sandbox.run(&["call", "demo.echo", "text=hi"]).0, "hi\n");
    std::fs::write(&file, "version: 1\n").unwrap();
    let (_, stderr, code) = sandbox.run(&["init"]);
    assert_eq!(code, 1);
    assert!(stderr.contains("already exists"), "{stderr}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "version: 1\n");
}

#[test]
fn the_configuration_is_found_in_order_of_precedence() {
    let sandbox = Sandbox::empty();
    assert_eq!(sandbox.run(&["tools", "from", "--json"]).0, "[]\n", "without a file, the defaults apply");
    let write = |name: &str, tool: &str| {
        let path = sandbox.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, format!("tools: [{{name: {tool}, description: d, command: [echo]}}]")).unwrap();
    };
    write("home/.onetool/onetool.yaml", "from.home");
    write("by-variable.yaml", "from.variable");
    write("by-flag.yaml", "from.flag");
    let list = |arguments: &[&str], variable: Option<&str>| {
        let mut command = sandbox.command(arguments);
        command.env("HOME", sandbox.path().join("home"));
        command.envs(variable.map(|value| ("ONETOOL_CONFIG", value)));
        sandbox.normalize(&command.args(["tools", "from", "--info", "list"]).output().unwrap()).0
    };
    assert_eq!(list(&[], None), "from.home\n");
    write(".onetool/onetool.yaml", "from.project");
    assert_eq!(list(&["--trust"], None), "from.project\n");
    assert_eq!(list(&[], Some("by-variable.yaml")), "from.variable\n");
    assert_eq!(list(&["--config", "by-flag.yaml"], Some("by-variable.yaml")), "from.flag\n");
}

#[test]
fn schema_and_completions_are_printed() {
    let sandbox = Sandbox::empty();
    let schema: serde_json::Value = serde_json::from_str(&sandbox.run(&["schema"]).0).unwrap();
    assert_eq!(schema["additionalProperties"], false);
    for shell in ["bash", "zsh", "fish"] {
        let (script, _, code) = sandbox.run(&["completions", shell]);
        assert_eq!(code, 0);
        assert!(script.contains("onetool") && script.contains("describe"), "{shell}");
    }
    assert_eq!(sandbox.run(&["no-such-command"]).2, 2);
}
