//! Tools in Python: pack files, and the code of declared tools.

use std::path::Path;

use onetool::{CallContext, Gateway, Source, tool_fn};
use onetool_testkit::{Client, Era, worker};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{Text, beyond_surface, config, gateway_with_run, object, options};

const WEATHER: &str = r#"
"""Weather for cities."""

def now(city: str, days: int = 1) -> list:
    """Fetch current weather.

    Args:
        city: Name of the city.
        days: Number of days.
    """
    return [_line(city, day) for day in range(days)]

def _line(city, day):
    return demo.shout(text=f"sunny in {city} on day {day}")

def fail(kind: str):
    """Fails."""
    if kind == "value":
        raise ValueError("no such kind")
    return {}[kind]

async def both(a: str, b: str):
    """Makes two calls concurrently."""
    import asyncio
    first, second = await asyncio.gather(demo.shout(a), demo.shout(b))
    return [first, second]

def cycle(n: int = 0):
    """Calls itself through the gateway."""
    return weather.cycle(n=n + 1)
"#;

fn write_pack(folder: &Path, name: &str, source: &str) {
    let packs = folder.join("packs");
    std::fs::create_dir_all(&packs).unwrap();
    std::fs::write(packs.join(name), source).unwrap();
}

fn with_shout(folder: &Path, yaml: &str) -> Gateway {
    gateway_with_run(folder, yaml, |server| {
        let tool = tool_fn("demo.shout", "Makes text loud.", |args: Text, _: CallContext| async move {
            args.text.to_uppercase()
        });
        server.register_tool(tool).unwrap();
    })
}

async fn run(client: &Client, command: &str) -> String {
    client.call_text("run", json!({"command": command})).await
}

#[tokio::test]
async fn a_file_is_a_pack_whose_functions_call_other_tools() {
    let folder = TempDir::new().unwrap();
    write_pack(folder.path(), "weather.py", WEATHER);
    let gateway = with_shout(folder.path(), "version: 1\n");
    let catalog = gateway.server().catalog();
    let entry = catalog.resolve("weather.now").unwrap();
    assert_eq!(entry.spec().signature(), "weather.now(city: str, days: int = 1)");
    assert_eq!(entry.spec().description, "Fetch current weather.");
    assert_eq!(entry.spec().input_schema["properties"]["city"]["description"], "Name of the city.");
    assert_eq!(*entry.source(), Source::Pack);

    let client = Client::connect(gateway.server()).await;
    assert_eq!(beyond_surface(&client).await, ["demo_shout"], "packs are found by search, not listed");
    assert_eq!(run(&client, "weather.now(city='Ulm')").await, r#"["SUNNY IN ULM ON DAY 0"]"#);
    let joined = "', '.join(weather.now('Rom', days=2) + weather.both(a='x', b='y'))";
    let expected = "SUNNY IN ROM ON DAY 0, SUNNY IN ROM ON DAY 1, X, Y";
    assert_eq!(run(&client, joined).await, expected);
    assert_eq!(client.call_text("weather_now", json!({"city": "Ulm"})).await, r#"["SUNNY IN ULM ON DAY 0"]"#);
    let wrong = client.call("weather_now", json!({"town": "Ulm"})).await.unwrap();
    assert_eq!(wrong["isError"], true, "validated before any code runs: {wrong}");

    let pack = run(&client, "ot.packs(pattern='weather', info='full')").await;
    assert!(pack.contains("Weather for cities.") && pack.contains("Fetch current weather."), "{pack}");
}

#[tokio::test]
async fn exceptions_of_a_pack_can_be_caught_by_type() {
    let folder = TempDir::new().unwrap();
    write_pack(folder.path(), "weather.py", WEATHER);
    let gateway = with_shout(folder.path(), "version: 1\n");
    let client = Client::connect(gateway.server()).await;
    let caught = "try:\n    weather.fail('value')\nexcept ValueError as error:\n    r = f'caught {error}'\nr";
    assert_eq!(run(&client, caught).await, "caught no such kind (weather.py, line 19)");
    let uncaught = client.call("run", json!({"command": "weather.fail('other')"})).await.unwrap();
    assert_eq!(uncaught["isError"], true);
    let text = uncaught["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("KeyError: 'other' (weather.py, line 20)"), "{text}");
    let text =
        run(&client, "try:\n    weather.cycle()\nexcept Exception as error:\n    r = str(error)\nr").await;
    assert!(text.contains("more than 8 levels deep"), "{text}");
}

#[tokio::test]
async fn a_broken_pack_is_reported_and_does_not_affect_others() {
    let folder = TempDir::new().unwrap();
    write_pack(folder.path(), "weather.py", WEATHER);
    write_pack(folder.path(), "broken.py", "def f(:\n");
    write_pack(folder.path(), "ot.py", "def tools(): ...\n");
    let yaml = "packs: {files: ['packs/*.py', gone.py]}\n";
    let mut options = options();
    options.worker = Some(worker());
    let gateway = Gateway::new(config(folder.path(), yaml), options).unwrap();
    let broken: Vec<(String, Option<u32>)> =
        gateway.broken_packs().into_iter().map(|it| (it.name, it.line)).collect();
    assert_eq!(broken, [("broken".into(), Some(1)), ("ot".into(), None), ("gone".into(), None)]);
    let output =
        gateway.server().call("ot.health", object(json!({})), CallContext::detached()).await.unwrap();
    let registry = &output.structured_content.unwrap()["registry"];
    assert_eq!(registry["status"], "degraded");
    let reason = registry["reasons"]["broken"].as_str().unwrap();
    assert!(reason.contains("packs/broken.py:1: invalid Python"), "{reason}");
    assert!(registry["reasons"]["ot"].as_str().unwrap().contains("reserved"), "{registry}");
    assert!(gateway.server().catalog().resolve("weather.now").is_ok());
}

#[tokio::test]
async fn ot_5_1_a_reload_applies_edits_of_packs_or_changes_nothing() {
    let folder = TempDir::new().unwrap();
    write_pack(folder.path(), "weather.py", WEATHER);
    let gateway = with_shout(folder.path(), "version: 1\n");
    let client = Client::connect(gateway.server()).await;

    write_pack(folder.path(), "weather.py", "def now(): return 'rain'\n");
    write_pack(folder.path(), "tide.py", "pack = 'sea'\ndef high(): return 'at six'\n");
    let report = gateway.reload(config(folder.path(), "version: 1\n")).unwrap();
    assert_eq!(report.added, ["sea.high"]);
    assert_eq!(run(&client, "weather.now() + ' ' + sea.high()").await, "rain at six");

    write_pack(folder.path(), "weather.py", "def now(): return 'snow'\n");
    write_pack(folder.path(), "tide.py", "def high()\n");
    let error = gateway.reload(config(folder.path(), "version: 1\n")).unwrap_err();
    assert!(error.to_string().contains("tide.py:1"), "{error}");
    assert_eq!(run(&client, "weather.now() + ' ' + sea.high()").await, "rain at six");
}

#[tokio::test]
async fn a_declared_tool_can_be_python() {
    let folder = TempDir::new().unwrap();
    let yaml = r#"
tools:
  - name: text.count
    description: Counts words.
    params: {text: {type: string}, loud: {type: boolean, default: false}}
    python: |
      parts = text.split()
      if loud:
          return [demo.shout(text=it) for it in parts]
      {"words": len(parts), "first": parts[0] if parts else None}
  - {name: text.say, description: Prints., python: "print('hello')"}
  - {name: text.none, description: Nothing., python: "None"}
"#;
    let gateway = with_shout(folder.path(), yaml);
    let client = Client::connect(gateway.server()).await;
    let counted = client.call("text_count", json!({"text": "a bc"})).await.unwrap();
    assert_eq!(counted["structuredContent"], json!({"words": 2, "first": "a"}));
    assert_eq!(run(&client, "text.count('a bc', loud=True)").await, r#"["A","BC"]"#);
    assert_eq!(client.call_text("text_say", json!({})).await, "hello");
    assert_eq!(run(&client, "text.none() is None").await, "True");
}

#[test]
fn a_declared_tool_with_invalid_python_is_rejected_with_its_location() {
    let folder = TempDir::new().unwrap();
    let yaml = "tools:\n  - {name: a.b, description: d, python: 'x ='}\n";
    let error = Gateway::new(config(folder.path(), yaml), options()).err().unwrap();
    assert_eq!(error.location().unwrap().line, 2);
    let message = onetool::error_chain(&error);
    assert!(message.contains("invalid Python on line 1"), "{message}");
}

/// Every revision gets the result of a tool that returns a list as text; only the newest gets it as data, too.
#[tokio::test]
async fn data_that_is_not_an_object_is_sent_only_if_the_revision_allows_it() {
    let folder = TempDir::new().unwrap();
    write_pack(folder.path(), "weather.py", WEATHER);
    let gateway = with_shout(folder.path(), "version: 1\n");
    let structured = async |client: &Client| -> (Value, Value) {
        let mut result = client.call("weather_now", json!({"city": "Ulm"})).await.unwrap();
        (result["structuredContent"].take(), result["content"][0]["text"].take())
    };
    let list = json!(["SUNNY IN ULM ON DAY 0"]);
    let text = Value::from(list.to_string());
    let old = Client::connect_with(gateway.server(), Era::Sessions).await;
    assert_eq!(structured(&old).await, (Value::Null, text.clone()));
    let new = Client::connect_with(gateway.server(), Era::Stateless).await;
    assert_eq!(structured(&new).await, (list, text));
}

#[tokio::test]
async fn d5_the_return_annotation_of_a_function_is_listed() {
    let folder = TempDir::new().unwrap();
    write_pack(
        folder.path(),
        "typed.py",
        "def plain(a: str) -> dict[str, list[int]]:\n    return {}\n\ndef quoted() -> \"Report |\\n None\":\n    return 1\n\n\
         def unknown():\n    return 1\n",
    );
    let gateway = with_shout(folder.path(), "packs: {files: [packs/*.py]}\n");
    let client = Client::connect(gateway.server()).await;
    let tools = client.call("ot_tools", json!({"pattern": "typed.", "info": "full"})).await.unwrap();
    let text = tools["content"][0]["text"].as_str().unwrap();
    assert!(text.contains(r#"returns: "dict[str, list[int]]""#), "{text}");
    assert!(text.contains("returns: Report | None"), "{text}");
    assert_eq!(text.matches("returns: ").count(), 2, "{text}");
    let card = client.call_text("ot_help", json!({"query": "typed.plain"})).await;
    assert!(card.contains("## Returns\ndict[str, list[int]]\n"), "{card}");
    // The annotation is documentation only; like Python, the gateway does not check it.
    assert_eq!(client.call_text("typed_quoted", json!({})).await, "1");
}
