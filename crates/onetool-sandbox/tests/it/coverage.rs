//! Tests every row of `tests/coverage.md`, the list of supported Python features. `docs/python.md` is generated from it.

use onetool_sandbox::{Completion, Outcome, RunError};
use serde_json::Value;

use crate::support::{run, sandbox};

const TABLE: &str = include_str!("../coverage.md");

struct Row {
    name: String,
    code: String,
    expected: String,
}

fn rows() -> Vec<Row> {
    let blocks = TABLE.split("\n## ").skip(1);
    blocks
        .map(|block| {
            let (name, rest) = block.split_once("\n```python\n").unwrap();
            let (code, rest) = rest.split_once("\n```\n").unwrap();
            let expected = rest.lines().next().unwrap_or_default();
            Row { name: name.to_owned(), code: code.to_owned(), expected: expected.to_owned() }
        })
        .collect()
}

#[tokio::test]
async fn every_row_of_the_table_is_correct() {
    let sandbox = sandbox();
    let mut wrong = Vec::new();
    for Row { name, code, expected } in rows() {
        let found = match run(&sandbox, &code).await {
            Ok(Outcome { value: Completion::Value(value), .. }) => format!("=> {value}"),
            Err(RunError::Exception { kind, message, .. }) => format!("=! {kind}: {message}"),
            other => format!("{other:?}"),
        };
        let is_equal = match (found.strip_prefix("=> "), expected.strip_prefix("=> ")) {
            (Some(found), Some(expected)) => {
                serde_json::from_str::<Value>(found).unwrap()
                    == serde_json::from_str::<Value>(expected).unwrap()
            }
            _ => found == expected,
        };
        if !is_equal {
            wrong.push(format!("{name}\n  expected {expected}\n  found    {found}"));
        }
    }
    assert!(wrong.is_empty(), "{} rows are wrong:\n{}", wrong.len(), wrong.join("\n"));
}
