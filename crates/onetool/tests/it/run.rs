//! RUN: the `run` tool, from a client's command to the result.

use onetool::{CallContext, Gateway, Json, JsonObject, ToolOutput, tool_fn};
use onetool_testkit::Client;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{Text, gateway_with_run};

const CONFIG: &str = r#"
aliases: {up: demo.shout, loud: up}
snippets:
  greet:
    description: Greets.
    params: {name: {example: Ada}, times: {default: 2}}
    body: |
      text = "Hello {{ name }}! " * {{ times }}
      demo.shout(text=text)
run: {timeout: 5, max_calls: 20}
output: {max_inline_size: 2000}
"#;

/// A gateway with a few tools, and its client.
struct Setup {
    _folder: TempDir,
    gateway: Gateway,
    client: Client,
}

async fn setup() -> Setup {
    setup_with(CONFIG).await
}

async fn setup_with(config: &str) -> Setup {
    let folder = TempDir::new().unwrap();
    let gateway = gateway_with_run(folder.path(), config, |server| {
        let tool = tool_fn("demo.shout", "Makes text loud.", |args: Text, _: CallContext| async move {
            args.text.to_uppercase()
        });
        server.register_tool(tool).unwrap();
        let tool = tool_fn("demo.data", "Returns data.", |_: JsonObject, _: CallContext| async {
            Json(json!({"n": [1, 2], "s": "x"}))
        });
        server.register_tool(tool).unwrap();
        let tool = tool_fn("demo.json", "Returns JSON text.", |_: JsonObject, _: CallContext| async {
            r#"{"a": {"b": 1}}"#
        });
        server.register_tool(tool).unwrap();
        let tool = tool_fn("demo.fail", "Fails.", |args: Text, _: CallContext| async move {
            ToolOutput::error(format!("no {}", args.text))
        });
        server.register_tool(tool).unwrap();
        let tool =
            tool_fn("demo.later", "Does not return immediately.", |args: Text, _: CallContext| async {
                tokio::task::yield_now().await;
                args.text
            });
        server.register_tool(tool).unwrap();
        let four = std::sync::Arc::new(tokio::sync::Barrier::new(4));
        let tool = tool_fn("demo.meet", "Waits for three others.", move |args: Text, _: CallContext| {
            let four = four.clone();
            async move {
                four.wait().await;
                args.text
            }
        });
        server.register_tool(tool).unwrap();
        let tool =
            tool_fn("unusual.get-issue", "Has an unusual name.", |_: JsonObject, _: CallContext| async {
                "issue"
            });
        server.register_tool(tool).unwrap();
    });
    let client = Client::connect(gateway.server()).await;
    Setup { _folder: folder, gateway, client }
}

impl Setup {
    async fn run(&self, command: &str) -> String {
        self.client.call_text("run", json!({"command": command})).await
    }
}

#[tokio::test]
async fn dsc_5_1_run_is_annotated() {
    let setup = setup().await;
    let (tools, _) = setup.client.list_tools().await;
    let run = tools.iter().find(|tool| tool["name"] == "run").unwrap();
    assert_eq!(
        run["annotations"],
        json!({"readOnlyHint": false, "destructiveHint": false, "openWorldHint": true})
    );
}

#[tokio::test]
async fn run_2_1_the_last_expression_or_a_return_is_the_result() {
    let setup = setup().await;
    assert_eq!(setup.run("x = 2\nx * 21").await, "42");
    assert_eq!(setup.run("for i in range(5):\n    if i == 3:\n        return i\n").await, "3");
    assert_eq!(setup.run("```python\nx = [1, 2]\nx\n```").await, "[1,2]");
}

#[tokio::test]
async fn run_2_2_no_value_and_none_are_reported_after_printed_text() {
    let setup = setup().await;
    assert_eq!(setup.run("x = 1").await, "(no value: the last statement is not an expression)");
    assert_eq!(setup.run("print('a')\nprint('b')\nNone").await, "a\nb\nNone");
    assert_eq!(
        setup.run("print('a')\nx = 1").await,
        "a\n(no value: the last statement is not an expression)"
    );
}

#[tokio::test]
async fn run_2_3_values_are_written_without_nested_quoting() {
    let setup = setup().await;
    assert_eq!(setup.run("'text'").await, "text");
    assert_eq!(setup.run("{'a': [1, None, True], 'b': 'ü'}").await, r#"{"a":[1,null,true],"b":"ü"}"#);
    assert_eq!(
        setup.run("{'r': demo.json()}").await,
        r#"{"r":{"a":{"b":1}}}"#,
        "no JSON inside a JSON string"
    );
    assert_eq!(setup.run("demo.data()['n'][1]").await, "2");
}

#[tokio::test]
async fn run_2_4_a_result_of_ot_is_yaml_and_inside_data_it_is_data() {
    let setup = setup().await;
    assert_eq!(setup.run("ot.tools(pattern='shout', info='list')").await, "[demo.shout]");
    assert_eq!(setup.run("x = ot.tools(pattern='shout', info='list')\nx").await, "[demo.shout]");
    assert_eq!(setup.run("{'t': ot.tools(pattern='shout', info='list')}").await, r#"{"t":["demo.shout"]}"#);
}

#[tokio::test]
async fn run_2_5_the_code_chooses_the_format() {
    let setup = setup().await;
    let with =
        async |format: &str| setup.run(&format!("__format__ = '{format}'\n{{'a': [1, {{'b': 'x'}}]}}")).await;
    assert_eq!(with("json").await, r#"{"a":[1,{"b":"x"}]}"#);
    assert_eq!(with("json_h").await, "{\n  \"a\": [\n    1,\n    {\n      \"b\": \"x\"\n    }\n  ]\n}");
    assert_eq!(with("raw").await, r#"{"a":[1,{"b":"x"}]}"#);
    assert!(with("yml_h").await.contains("b: x"));
    assert_eq!(with("yml").await, "a:\n  - 1\n  - {b: x}");
    assert_eq!(
        with("xml").await,
        "error: unknown __format__ 'xml'; use one of json, json_h, yml, yml_h, raw"
    );
}

#[tokio::test]
async fn run_3_1_every_spelling_is_the_same_call() {
    let setup = setup().await;
    for call in
        ["demo.shout(text='hi')", "demo_shout(text='hi')", "up(text='hi')", "loud('hi')", "demo.shout('hi')"]
    {
        assert_eq!(setup.run(call).await, "HI", "{call}");
        assert_eq!(setup.run(&format!("x = {call}\nx")).await, "HI", "{call}");
    }
}

#[tokio::test]
async fn run_3_2_an_abbreviated_parameter_is_accepted() {
    assert_eq!(setup().await.run("x = demo.shout(t='hi')\nx").await, "HI");
}

#[tokio::test]
async fn run_3_3_errors_for_unknown_names_suggest_known_ones() {
    let setup = setup().await;
    let text = setup.run("x = 1\ndmo.shout(text='a')").await;
    assert!(
        text.starts_with("error: NameError: ")
            && text.contains("Did you mean 'demo'")
            && text.contains("line 2"),
        "{text}"
    );
    let text = setup.run("demo.shot(text='a')").await;
    assert!(text.contains("AttributeError: pack 'demo' has no tool 'shot'; did you mean 'shout'"), "{text}");
    let text = setup.run("demo.shout(words='a')").await;
    assert!(
        text.contains("TypeError: demo.shout has no parameter 'words'; signature: demo.shout(text: str)"),
        "{text}"
    );
    let text = setup.run("demo.shout(text=5)").await;
    assert!(
        text.contains("schema validation failed") && text.contains("signature: demo.shout(text: str)"),
        "{text}"
    );
}

#[tokio::test]
async fn run_3_4_names_that_are_not_identifiers_are_callable() {
    let setup = setup().await;
    assert_eq!(setup.run("unusual.get_issue()").await, "issue");
    assert_eq!(setup.run("x = unusual.get_issue()\nx").await, "issue");
}

#[tokio::test]
async fn run_3_5_gathered_and_pooled_calls_run_at_the_same_time() {
    let setup = setup().await;
    // Sequential calls would wait for the other three until the time limit of the run.
    for code in [
        "import asyncio\nawait asyncio.gather(*[demo.meet(text=str(i)) for i in range(4)])",
        "import asyncio\ntasks = [demo.meet(text=str(i)) for i in range(4)]\nr = await asyncio.gather(*tasks)\nr",
        "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(4) as pool:\n    r = list(pool.map(lambda i: demo.meet(text=str(i)), range(4)))\nr",
    ] {
        assert_eq!(setup.run(code).await, r#"["0","1","2","3"]"#, "{code}");
    }
    assert_eq!(setup.run("t = demo.later(text='a')\nx = await t\nx").await, "a");
    assert_eq!(setup.run("[demo.shout(text=c) for c in 'ab']").await, r#"["A","B"]"#);
}

#[tokio::test]
async fn run_3_6_a_tool_that_fails_raises_and_can_be_caught() {
    let setup = setup().await;
    assert_eq!(
        setup.run("try:\n    demo.fail(text='luck')\nexcept Exception as e:\n    r = f'{type(e).__name__}: {e}'\nr").await,
        "ToolError: demo.fail: no luck; signature: demo.fail(text: str)"
    );
    let text = setup.run("x = 1\ny = 2\ndemo.fail(text='luck')\n").await;
    assert_eq!(text, "error: ToolError: demo.fail: no luck; signature: demo.fail(text: str) (line 3)");
}

#[tokio::test]
async fn run_4_1_a_snippet_is_filled_in_and_run_and_values_stay_data() {
    let setup = setup().await;
    assert_eq!(setup.run("$greet name=Ada times=1").await, "HELLO ADA! ");
    assert_eq!(setup.run("$greet\nname: Ada Lovelace\ntimes: 1").await, "HELLO ADA LOVELACE! ");
    let hostile = setup.run("$greet name='\"); ot.reload() #{{ times }}' times=1").await;
    assert_eq!(hostile, "HELLO \"); OT.RELOAD() #{{ TIMES }}! ");
}

#[tokio::test]
async fn run_4_2_errors_in_snippet_calls_are_named() {
    let setup = setup().await;
    let text = setup.run("$gret name=x").await;
    assert!(text.starts_with("error: ") && text.contains("gret") && text.contains("greet"), "{text}");
    let text = setup.run("$greet").await;
    assert!(text.starts_with("error: ") && text.contains("name"), "{text}");
}

#[tokio::test]
async fn run_4_3_alias_names_in_strings_stay() {
    let setup = setup().await;
    assert_eq!(setup.run("x = 'up and loud'\nx").await, "up and loud");
    assert_eq!(setup.run("up = lambda text: 'mine'\nup(text='x')").await, "mine");
}

#[tokio::test]
async fn run_5_1_a_large_output_is_stored_and_the_result_is_small() {
    let setup = setup().await;
    let result = setup
        .client
        .call("run", json!({"command": "x = ['line %d' % i for i in range(2000)]\nx"}))
        .await
        .unwrap();
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.len() < 4096, "{}", text.len());
    let stored: Value = serde_json::from_str(text).unwrap();
    for key in ["handle", "total_lines", "size_bytes", "summary", "preview", "query"] {
        assert!(stored.get(key).is_some(), "{key} in {text}");
    }
    assert_eq!(stored["total_lines"], 2002, "RUN-5.2: stored one item a line");
    let page = setup
        .run(&format!(
            "ot.result(handle='{}', offset=3, limit=1)['lines']",
            stored["handle"].as_str().unwrap()
        ))
        .await;
    assert_eq!(page, r#"["  \"line 1\","]"#);
}

#[tokio::test]
async fn run_6_1_a_bomb_stops_at_a_named_limit_and_the_next_run_works() {
    let setup = setup_with(&CONFIG.replace("timeout: 5", "timeout: 2")).await;
    let text = setup.run("while True:\n    pass").await;
    assert!(text.contains("time limit"), "{text}");
    let text = setup.run("for i in range(50):\n    demo.shout(text='x')").await;
    assert!(text.contains("call limit"), "{text}");
    let text = setup.run("def f():\n    return f()\nf()").await;
    assert!(text.contains("RecursionError") || text.contains("nesting limit"), "{text}");
    assert_eq!(setup.run("x = 1\nx").await, "1");
}

#[tokio::test]
async fn run_6_3_code_reaches_no_files_processes_or_network() {
    let setup = setup().await;
    for code in [
        "open('/etc/passwd').read()",
        "import socket\nsocket.socket()",
        "import subprocess\nsubprocess.run(['id'])",
        "import os\nos.system('id')",
    ] {
        let text = setup.run(code).await;
        assert!(text.starts_with("error: "), "{code}: {text}");
    }
}

#[tokio::test]
async fn run_6_5_two_runs_share_nothing() {
    let setup = setup().await;
    assert_eq!(setup.run("secret = 1\nimport json\njson.secret = 2\nsecret").await, "1");
    assert!(setup.run("x = secret\nx").await.contains("NameError"));
    assert_eq!(setup.run("import json\nhasattr(json, 'secret')").await, "False");
}

#[tokio::test]
async fn run_7_1_sanitized_output_is_wrapped() {
    let text = setup().await.run("__sanitize__ = True\ndemo.later(text='__ot run')").await;
    assert!(text.starts_with("<external-content id=\"") && !text.contains("__ot"), "{text}");
}

#[tokio::test]
async fn run_8_1_a_literal_call_takes_the_fast_path_with_the_same_results() {
    let setup = setup().await;
    for call in [
        "demo.shout(text='hi')",
        "demo_shout('hi')",
        "up('x')",
        "demo.data()",
        "demo.json()",
        "unusual.get_issue()",
        "demo.fail(text='luck')",
        "demo.shout(words='a')",
        "demo.shout(text=5)",
        "demo.shout()",
        "ot.tools(info='list', pattern='demo')",
        "ot.stats(period='invalid')",
        "ot.result(handle='nope')",
    ] {
        let short = setup.run(call).await;
        let long = setup.run(&format!("{call}\n")).await;
        let interpreted = setup.run(&format!("({call})")).await;
        assert_eq!(short, long, "{call}");
        // Inside brackets it is still an expression on the same line, but no longer a literal call.
        assert_eq!(short, setup.run(&format!("[{call}][0]")).await, "{call}: {interpreted}");
    }
    drop(setup.gateway);
}

#[tokio::test]
async fn n2_positional_arguments_map_by_schema_order_or_fail() {
    let setup = setup().await;
    assert_eq!(setup.run("demo.shout('hi')").await, "HI");
    for too_many in ["demo.shout('hi', 'there')", "x = demo.shout('hi', 'there')\nx"] {
        let result = setup.client.call("run", json!({"command": too_many})).await.unwrap();
        assert_eq!(result["isError"], true);
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("takes 1 positional arguments but 2 were given"), "{text}");
    }
    for wrong in ["demo.shout(5)", "x = demo.shout(5)\nx"] {
        let result = setup.client.call("run", json!({"command": wrong})).await.unwrap();
        assert_eq!(result["isError"], true, "validated like any other argument: {result}");
    }
}

#[tokio::test]
async fn l7_text_of_51_kb_in_three_lines_is_paged_and_searched_and_never_another_handle() {
    let setup = setup().await;
    let make = "x = '\\n'.join(str(i) + 'word ' * 3400 for i in range(3))\nx[:40000] + 'needle' + x[40000:]";
    let stored: Value = serde_json::from_str(&setup.run(make).await).unwrap();
    assert!(stored["size_bytes"].as_u64().unwrap() > 51_000, "{stored}");
    assert!(stored["summary"].as_str().unwrap().contains("split every 1000 characters"), "{stored}");
    let handle = stored["handle"].as_str().unwrap();
    let (mut text, mut offset) = (String::new(), 1);
    loop {
        let page = setup.run(&format!("ot.result(handle='{handle}', offset={offset})")).await;
        // The page is returned inline, not replaced by another handle; the limit is 2000 bytes here.
        assert!(page.starts_with("lines:\n  - ") && page.len() <= 2000, "{page}");
        let page: Value = serde_saphyr::from_str(&page).unwrap();
        assert_eq!(page["total_lines"], stored["total_lines"]);
        let lines = page["lines"].as_array().unwrap();
        text.extend(lines.iter().map(|line| line.as_str().unwrap()));
        offset += lines.len();
        if page["has_more"] == false {
            break;
        }
        assert!(
            page["note"].as_str().unwrap().ends_with(&format!("continue with offset={offset}")),
            "{page}"
        );
    }
    assert_eq!(text.len(), 3 * (5 * 3400 + 1) + "needle".len());
    let search =
        format!("p = ot.result(handle='{handle}', search='needle')\n[p['matches'], p['lines'][0][-4:]]");
    assert_eq!(
        setup.run(&search).await,
        r#"[1,"need"]"#,
        "found where it starts, although it continues on the next line"
    );
}

#[tokio::test]
async fn d6_statistics_are_written_with_a_line_per_item() {
    let setup = setup().await;
    setup.run("demo.shout(text='a')").await;
    let text = setup.run("ot.stats()").await;
    for part in ["\ntools:\n  - {tool: ", "\npacks:\n  - {pack: ", "\nper_day:\n  - {day: "] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let data: Value = serde_saphyr::from_str(&text).unwrap();
    assert_eq!(data["tools"].as_array().unwrap().len(), 1, "{text}");
}

const TYPED: &str = r#"
snippets:
  typed:
    description: Shows its values.
    params:
      text: {type: string, description: Some text}
      count: {type: integer, default: 5}
      ratio: {type: number, default: 0.5}
      flag: {type: boolean, default: false}
      tags: {type: array, default: []}
      more: {type: object, required: false}
    body: "[{{ text }}, {{ count }}, {{ ratio }}, {{ flag }}, {{ tags }}, {{ more }}]"
"#;

#[tokio::test]
async fn d5_values_of_a_snippet_are_read_and_checked_by_their_type() {
    let folder = TempDir::new().unwrap();
    let gateway = gateway_with_run(folder.path(), TYPED, |_| {});
    let client = Client::connect(gateway.server()).await;
    let run = async |command: &str| client.call_text("run", json!({"command": command})).await;
    for (call, expected) in [
        ("$typed text=7", r#"["7",5,0.5,false,[],null]"#),
        ("$typed text=null count=3 ratio=2 flag=True", r#"["null",3,2,true,[],null]"#),
        ("$typed text=x count=\"3\" tags=a,b", r#"["x",3,0.5,false,["a","b"],null]"#),
        ("$typed\ntext: x\ntags: [1, 2]\nmore: {\"a\": 1}", r#"["x",5,0.5,false,[1,2],{"a":1}]"#),
    ] {
        assert_eq!(run(call).await, expected, "{call}");
    }
    for (call, reason) in [
        ("$typed text=x count=many", "parameter 'count' of snippet '$typed' must be an integer, got 'many'"),
        ("$typed text=x count=1.5", "parameter 'count' of snippet '$typed' must be an integer, got '1.5'"),
        ("$typed text=x ratio=half", "parameter 'ratio' of snippet '$typed' must be a number, got 'half'"),
        ("$typed text=x flag=maybe", "parameter 'flag' of snippet '$typed' must be a boolean, got 'maybe'"),
        ("$typed text=x more=[1]", "parameter 'more' of snippet '$typed' must be an object, got '[1]'"),
    ] {
        assert_eq!(run(call).await, format!("error: {reason}"));
    }
    let full = run("ot.snippets(pattern='typed', info='full')").await;
    for line in [
        "  text: {type: string, description: \"Some text\"}\n",
        "  count: {type: integer, default: 5}\n",
        "  tags: {type: array, default: []}\n",
        "  more: {type: object, required: false}\n",
        "# $typed text=text\n# Expands to:\n[\"text\", 5, 0.5, False, [], None]",
    ] {
        assert!(full.contains(line), "{line} in {full}");
    }
}

/// A program sees the tools that existed when it started, until it ends.
#[tokio::test]
async fn str_4_a_program_keeps_the_catalog_that_it_started_with() {
    let it = setup().await;
    let server = it.gateway.server().clone();
    let remove = tool_fn("demo.remove", "Removes demo.shout.", move |_: JsonObject, _: CallContext| {
        let server = server.clone();
        async move { Json(json!(server.unregister_tool("demo.shout"))) }
    });
    it.gateway.server().register_tool(remove).unwrap();
    assert_eq!(it.run("[demo.remove(), demo.shout(text='still here')]").await, r#"[true,"STILL HERE"]"#);
    let gone = it.run("demo.shout(text='x')").await;
    assert!(gone.contains("pack 'demo' has no tool 'shout'"), "{gone}");
}
