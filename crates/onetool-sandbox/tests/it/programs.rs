//! More than sixty programs as agents write them, `tests/programs/*.py`: each has the same result as in CPython.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use onetool_sandbox::{
    Completion, Host, HostCall, HostError, HostReply, Input, NameKind, Outcome, Program, RunError, Sandbox,
};
use serde_json::{Value, json};

use crate::support::{limits, sandbox};

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs")
}

/// Returns all programs, sorted by name.
fn programs() -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(directory()).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|it| it == "py") && !path.ends_with("harness.py"));
    paths.sort();
    paths
}

/// The same tools and data as in `harness.py`.
struct Tools {
    data: Value,
    attempts: Mutex<HashMap<String, u64>>,
    notes: Mutex<Vec<Value>>,
}

impl Tools {
    fn new() -> Self {
        let data = fs::read_to_string(directory().join("data.json")).unwrap();
        Self {
            data: serde_json::from_str(&data).unwrap(),
            attempts: Mutex::default(),
            notes: Mutex::default(),
        }
    }

    fn table(&self, name: &str) -> &[Value] {
        self.data[name].as_array().unwrap()
    }

    fn find(&self, table: &str, key: &str, value: &Value, error: &str) -> Result<Value, HostError> {
        let found = self.table(table).iter().find(|it| it[key] == *value).cloned();
        found.ok_or_else(|| HostError::tool(format!("{error} {}", text(value))))
    }

    async fn execute(&self, call: HostCall) -> Result<Value, HostError> {
        let argument = |index: usize, name: &str| {
            call.args.get(index).or_else(|| call.kwargs.get(name)).cloned().unwrap_or(Value::Null)
        };
        let count = |index: usize, name: &str, default: usize| {
            argument(index, name).as_u64().map_or(default, |it| it.try_into().unwrap())
        };
        let matches = |wanted: &Value, found: &Value| wanted.is_null() || wanted == found;
        match call.name.as_str() {
            "shop.orders" => {
                let (page, per_page, status) =
                    (count(0, "page", 1), count(1, "per_page", 10), argument(2, "status"));
                let found = self.table("orders").iter().filter(|it| matches(&status, &it["status"]));
                let found: Vec<Value> = found.cloned().collect();
                let pages = found.len().div_ceil(per_page);
                let items: Vec<Value> =
                    found.into_iter().skip((page - 1) * per_page).take(per_page).collect();
                let next = (page < pages).then_some(page + 1);
                Ok(json!({"items": items, "page": page, "pages": pages, "next": next}))
            }
            "shop.customer" => self.find("customers", "id", &argument(0, "id"), "shop.customer: no customer"),
            "shop.product" => self.find("products", "sku", &argument(0, "sku"), "shop.product: no product"),
            "shop.products" => {
                let category = argument(0, "category");
                let found = self.table("products").iter().filter(|it| matches(&category, &it["category"]));
                Ok(found.cloned().collect())
            }
            "web.fetch" => {
                let url = text(&argument(0, "url"));
                let page = self.data["pages"].get(&url).cloned();
                page.ok_or_else(|| HostError::tool(format!("web.fetch: 404 for {url}")))
            }
            "web.search" => {
                let query = text(&argument(0, "query")).to_lowercase();
                let found = self
                    .table("search")
                    .iter()
                    .filter(|it| text(&it["title"]).to_lowercase().contains(&query));
                Ok(found.take(count(1, "count", 3)).cloned().collect())
            }
            "db.query" => {
                let rows = self.table(&text(&argument(0, "table"))).iter();
                Ok(rows.skip(count(2, "offset", 0)).take(count(1, "limit", 100)).cloned().collect())
            }
            "flaky.get" => {
                let key = text(&argument(0, "key"));
                let mut attempts = self.attempts.lock().unwrap();
                let attempt = attempts.entry(key.clone()).or_default();
                *attempt += 1;
                if *attempt <= count(1, "failures", 2) as u64 {
                    return Err(HostError::tool(format!("flaky.get: 503 for {key} (attempt {attempt})")));
                }
                Ok(json!({"key": key, "attempt": *attempt}))
            }
            "notes.add" => {
                let mut notes = self.notes.lock().unwrap();
                let id = notes.len() + 1;
                notes.push(
                    json!({"id": id, "title": argument(0, "title"), "text": text(&argument(1, "text"))}),
                );
                Ok(json!({"id": id}))
            }
            "notes.all" => Ok(Value::Array(self.notes.lock().unwrap().clone())),
            "mail.send" => {
                let to = text(&argument(0, "to"));
                if !to.contains('@') {
                    return Err(HostError::tool(format!("mail.send: invalid address {to}")));
                }
                let size = text(&argument(2, "body")).chars().count();
                Ok(json!({"to": to, "subject": argument(1, "subject"), "size": size, "status": "sent"}))
            }
            "slow.echo" => {
                tokio::time::sleep(Duration::from_millis(count(1, "ms", 5) as u64)).await;
                Ok(argument(0, "value"))
            }
            name => Err(HostError {
                kind: "AttributeError".to_owned(),
                message: format!("no tool '{name}' in harness.py and programs.rs"),
            }),
        }
    }
}

/// Formats a value like Python's `str`.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

impl Host for Tools {
    fn names(&self, names: Vec<String>) -> BoxFuture<'_, Vec<NameKind>> {
        let packs = ["shop", "web", "db", "flaky", "notes", "mail", "slow"];
        let kind = move |name: &String| {
            if packs.contains(&name.as_str()) { NameKind::Pack } else { NameKind::Unknown { hint: None } }
        };
        Box::pin(async move { names.iter().map(kind).collect() })
    }

    fn call(&self, call: HostCall) -> BoxFuture<'_, Result<HostReply, HostError>> {
        Box::pin(async { self.execute(call).await.map(HostReply::from) })
    }
}

/// Runs all programs in the system's Python. Returns their results by name.
fn in_cpython(programs: &[PathBuf]) -> HashMap<String, Value> {
    let install = "this test compares with CPython 3.11 or newer: run `apt-get install python3`, or your system's equivalent";
    let output = Command::new("python3").arg(directory().join("harness.py")).args(programs).output();
    let output = output.unwrap_or_else(|error| panic!("cannot start python3: {error}; {install}"));
    assert!(output.status.success(), "{install}\n{}", String::from_utf8_lossy(&output.stderr));
    let stdout = String::from_utf8(output.stdout).unwrap();
    let results = stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let by_name = |mut result: Value| {
        let name = result.as_object_mut().unwrap().remove("program").unwrap();
        (text(&name), result)
    };
    let results: HashMap<String, Value> = results.map(by_name).collect();
    assert_eq!(results.len(), programs.len(), "{}", String::from_utf8_lossy(&output.stderr));
    results
}

/// Runs a program in the sandbox. Returns its result in the format of the harness.
async fn in_sandbox(sandbox: &Sandbox, path: &Path) -> Value {
    let program = Program {
        source: fs::read_to_string(path).unwrap(),
        file_name: "run.py".to_owned(),
        input: Input::Nothing,
        depth: 0,
    };
    match sandbox.run(program, &limits(), Arc::new(Tools::new())).await {
        Ok(Outcome { value: Completion::Value(value), printed, .. }) => {
            json!({"value": serde_json::from_str::<Value>(&value).unwrap(), "printed": printed})
        }
        Ok(Outcome { printed, .. }) => json!({"printed": printed}),
        Err(RunError::Exception { kind, message, line, printed, .. }) => {
            json!({"kind": kind, "message": message, "line": line, "printed": printed})
        }
        Err(other) => json!({"failed": other.to_string()}),
    }
}

#[tokio::test]
async fn programs_have_the_same_results_as_in_cpython() {
    let programs = programs();
    assert!(programs.len() >= 60, "only {} programs", programs.len());
    let mut expected = in_cpython(&programs);
    let sandbox = sandbox();
    let mut wrong = Vec::new();
    for path in &programs {
        let name = path.file_name().unwrap().to_str().unwrap();
        let (expected, found) = (expected.remove(name).unwrap(), in_sandbox(&sandbox, path).await);
        // A program that fails in both because a tool or module is missing tests nothing.
        let is_intended = expected.get("kind").is_none() || name.starts_with("error_");
        if expected != found || !is_intended {
            wrong.push(format!("{name}\n  CPython {expected}\n  sandbox {found}"));
        }
    }
    assert!(wrong.is_empty(), "{} programs differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// Returns the modules that a text imports.
fn imports(text: &str) -> BTreeSet<String> {
    let mut modules = BTreeSet::new();
    for line in text.lines().map(str::trim) {
        if let Some(names) = line.strip_prefix("import ") {
            let first = |part: &str| part.split_whitespace().next().unwrap_or_default().to_owned();
            modules.extend(names.split(',').map(first));
        } else if let Some((module, _)) = line.strip_prefix("from ").and_then(|it| it.split_once(" import "))
        {
            modules.insert(module.to_owned());
        }
    }
    modules
}

#[test]
fn every_module_of_the_coverage_table_is_in_a_program() {
    let table = include_str!("../coverage.md");
    let library = table.split("\n# ").find(|part| part.starts_with("Standard library")).unwrap();
    let used: BTreeSet<String> =
        programs().iter().flat_map(|path| imports(&fs::read_to_string(path).unwrap())).collect();
    let missing: Vec<String> = imports(library).into_iter().filter(|it| !used.contains(it)).collect();
    assert!(imports(library).len() > 50, "the table was not parsed correctly");
    assert!(missing.is_empty(), "no program uses {missing:?}");
}
