//! Programs: values, printed text and errors.

use std::sync::Arc;

use onetool_sandbox::{Completion, Input, Program, RunError};
use serde_json::{Value, json};

use crate::support::{TestHost, exception, limits, run, sandbox, value};

#[tokio::test]
async fn run_2_1_the_last_expression_is_the_value() {
    let sandbox = sandbox();
    assert_eq!(value(&sandbox, "1+1").await, json!(2));
    assert_eq!(value(&sandbox, "x = 1; x + 1").await, json!(2));
    assert_eq!(
        value(&sandbox, "for i in range(3):\n    if i == 2:\n        return {'i': i}\n").await,
        json!({"i": 2})
    );
    assert_eq!(value(&sandbox, "return 1, 2").await, json!([1, 2]));
    assert_eq!(value(&sandbox, "return (\n  'a'\n)").await, json!("a"));
}

#[tokio::test]
async fn run_2_2_no_value_is_not_none() {
    let sandbox = sandbox();
    let outcome = run(&sandbox, "print('a')\nx = 1").await.unwrap();
    assert_eq!((outcome.printed.as_str(), outcome.value), ("a\n", Completion::NoValue));
    let outcome = run(&sandbox, "print('a', 1, sep='-')").await.unwrap();
    assert_eq!((outcome.printed.as_str(), outcome.value), ("a-1\n", Completion::Value("null".to_owned())));
    assert_eq!(run(&sandbox, "").await.unwrap().value, Completion::NoValue);
    assert_eq!(run(&sandbox, "import sys; sys.exit()").await.unwrap().value, Completion::NoValue);
}

#[tokio::test]
async fn values_of_every_kind_become_json() {
    let sandbox = sandbox();
    let source = r#"
import datetime, decimal, dataclasses, enum, collections, fractions, uuid, math, pathlib
@dataclasses.dataclass
class P:
    x: int
    tags: set
class C(enum.Enum):
    RED = "red"
N = collections.namedtuple("N", "a b")
class S(str): pass
class O:
    def __str__(self): return "an O"
d = {"k": 1}
{
  "int": 5, "big": 2**70, "neg": -3, "u64": 2**63, "float": 1.5, "nan": math.nan, "inf": math.inf, "bool": True, "none": None,
  "tuple": (1, (2, 3)), "set": {3, 1, 2}, "frozenset": frozenset(["a"]), "gen": (i * i for i in range(3)), "map": map(str, [1]),
  "keys": d.keys(), "items": d.items(), "range": range(3), "deque": collections.deque([1]),
  "datetime": datetime.datetime(2024, 1, 2, 3, 4, 5), "date": datetime.date(2024, 1, 2), "delta": datetime.timedelta(hours=1),
  "dec": decimal.Decimal("1.10"), "decint": decimal.Decimal("3"), "declong": decimal.Decimal("0.1234567890123456789012345"),
  "bytes": b"hi", "raw": b"\xff\x00", "bytearray": bytearray(b"x"), "dataclass": P(1, {2}), "enum": C.RED, "named": N(1, 2),
  "counter": collections.Counter("aab"), "default": collections.defaultdict(list, a=[1]), "str": S("s"), "object": O(),
  "fraction": fractions.Fraction(1, 3), "uuid": uuid.UUID(int=1), "path": pathlib.PurePath("a/b"),
  1: "int key", (1, 2): "tuple key", None: "none key", True: "bool key", "exc": ValueError("bad"),
}
"#;
    let value = value(&sandbox, source).await;
    insta::assert_json_snapshot!(value);
}

#[tokio::test]
async fn a_value_that_contains_itself_is_an_error() {
    let sandbox = sandbox();
    let (kind, message, _) = exception(&sandbox, "a = []; a.append(a); a").await;
    assert_eq!((kind.as_str(), message.as_str()), ("ValueError", "the value contains itself"));
    let (kind, message, _) = exception(&sandbox, "a = []\nfor _ in range(500): a = [a]\na").await;
    assert_eq!(
        (kind.as_str(), message.as_str()),
        ("ValueError", "the value is nested more than 100 levels deep")
    );
    let laughs = "a = 'ha'\nfor _ in range(60): a = [a, a]\na";
    assert!(matches!(run(&sandbox, laughs).await, Err(RunError::Limit { .. })));
}

#[tokio::test]
async fn run_3_6_exceptions_name_the_users_line() {
    let sandbox = sandbox();
    let source = "def f(x):\n    return 1 / x\n\ny = 2\nf(0)";
    let Err(RunError::Exception { kind, message, line, traceback, .. }) = run(&sandbox, source).await else {
        panic!("no exception")
    };
    assert_eq!((kind.as_str(), message.as_str(), line), ("ZeroDivisionError", "division by zero", Some(2)));
    insta::assert_snapshot!(traceback, @r#"
    Traceback (most recent call last):
      File "main.py", line 5, in <module>
        f(0)
      File "main.py", line 2, in f
        return 1 / x
    ZeroDivisionError: division by zero
    "#);
    let (kind, _, line) = exception(&sandbox, "import json\n\njson.loads('{')").await;
    assert_eq!((kind.as_str(), line), ("JSONDecodeError", Some(3)));
    let (kind, message, _) = exception(&sandbox, "import sys\nsys.exit('bad')").await;
    assert_eq!((kind.as_str(), message.as_str()), ("SystemExit", "bad"));
    let (kind, message, line) = exception(&sandbox, "assert 1 == 2, 'no'").await;
    assert_eq!((kind.as_str(), message.as_str(), line), ("AssertionError", "no", Some(1)));
}

#[tokio::test]
async fn syntax_errors_name_line_and_text() {
    let sandbox = sandbox();
    for (source, line) in
        [("x = 1\nfor for", 2), ("def f(:\n  pass", 1), ("if 1:\npass", 2), ("x = 'abc", 1), ("break", 1)]
    {
        match run(&sandbox, source).await {
            Err(RunError::Syntax { line: found, message, .. }) => {
                assert_eq!(found, line, "{source}: {message}");
                assert!(!message.is_empty());
            }
            other => panic!("{source}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn formats_are_read_from_the_globals() {
    let sandbox = sandbox();
    let outcome = run(&sandbox, "__format__ = 'yml'\n__sanitize__ = True\n1").await.unwrap();
    assert_eq!((outcome.format.as_deref(), outcome.sanitize), (Some("yml"), true));
    let outcome = run(&sandbox, "1").await.unwrap();
    assert_eq!((outcome.format, outcome.sanitize), (None, false));
}

#[tokio::test]
async fn s6_two_runs_share_nothing() {
    let sandbox = sandbox();
    value(&sandbox, "import json, builtins\nx = 1\njson.evil = 1\nbuiltins.evil = 2\n1").await;
    let source =
        "import json, builtins\n['x' in globals(), hasattr(json, 'evil'), hasattr(builtins, 'evil')]";
    assert_eq!(value(&sandbox, source).await, json!([false, false, false]));
    let random = "import random, uuid\n[random.random(), str(uuid.uuid4())]";
    assert_ne!(value(&sandbox, random).await, value(&sandbox, random).await);
}

#[tokio::test]
async fn a_program_can_be_given_globals_and_a_module_can_be_called() {
    let sandbox = sandbox();
    let run = async |source: &str, input| {
        let program =
            Program { source: source.to_owned(), file_name: "weather.py".to_owned(), input, depth: 0 };
        sandbox.run(program, &limits(), Arc::new(TestHost::default())).await
    };
    let object = |value: Value| value.as_object().unwrap().clone();

    let globals = Input::Globals(object(json!({"t": "not the pack", "n": [1, {"a": null}]})));
    let outcome = run("f'{t}: {n}'", globals).await.unwrap();
    assert_eq!(outcome.value, Completion::Value(json!("not the pack: [1, {'a': None}]").to_string()));

    let module = "import asyncio\nasync def now(city, days=1):\n    both = await asyncio.gather(t.echo(city), t.echo(days))\n    return [__name__, *(it['args'][0] for it in both)]\n\nif __name__ == '__main__':\n    raise ValueError('not a script')\n";
    let call = |arguments| Input::Call {
        module: "weather".into(),
        function: "now".into(),
        arguments: object(arguments),
    };
    let outcome = run(module, call(json!({"city": "Ulm"}))).await.unwrap();
    assert_eq!(outcome.value, Completion::Value(json!(["weather", "Ulm", 1]).to_string()));

    let failed = run("def now(**given):\n    return given['nothing']\n", call(json!({}))).await.unwrap_err();
    assert!(
        matches!(&failed, RunError::Exception { kind, line: Some(2), .. } if kind == "KeyError"),
        "{failed:?}"
    );
}
