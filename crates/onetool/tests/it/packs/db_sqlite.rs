//! The pack `db` with a real SQLite file.

use std::path::Path;
use std::time::Duration;

use onetool::{CallContext, Gateway};
use onetool_testkit::Client;
use rusqlite::Connection;
use serde_json::json;
use tempfile::TempDir;

use super::{call, failure};
use crate::{gateway, gateway_with_run, object};

fn shop(folder: &Path) -> Connection {
    let connection = Connection::open(folder.join("shop.db")).unwrap();
    let sql = "create table items (id integer primary key, name text not null, price real default 1.5, photo blob);
        insert into items (name, price, photo) values ('apple', 0.5, x'00ff'), ('pear', null, null), ('o''range', 2, null);
        create view cheap as select * from items where price < 1;";
    connection.execute_batch(sql).unwrap();
    connection
}

fn with_shop(folder: &Path, more: &str) -> Gateway {
    shop(folder);
    gateway(folder, &format!("packs: {{db: {{urls: {{shop: 'sqlite:shop.db'}}{more}}}}}\n"))
}

#[tokio::test]
async fn rows_are_returned_as_data() {
    let folder = TempDir::new().unwrap();
    let gateway = with_shop(folder.path(), "");
    let args = json!({"url": "shop", "sql": "select * from items order by id"});
    assert_eq!(
        call(&gateway, "db.query", args).await,
        json!({"columns": ["id", "name", "price", "photo"], "count": 3, "rows": [
            {"id": 1, "name": "apple", "price": 0.5, "photo": {"base64": "AP8="}},
            {"id": 2, "name": "pear", "price": null, "photo": null},
            {"id": 3, "name": "o'range", "price": 2.0, "photo": null}]})
    );
    let same =
        call(&gateway, "db.query", json!({"url": "sqlite:shop.db", "sql": "select 1 as a, 2 as a"})).await;
    assert_eq!(
        same["rows"][0],
        json!({"a": 1, "a_2": 2}),
        "a URL works as well as a name, and no column is lost"
    );
    let limited =
        call(&gateway, "db.query", json!({"url": "shop", "sql": "select id from items", "limit": 2})).await;
    assert_eq!((&limited["count"], &limited["truncated"]), (&json!(2), &json!(true)));
    assert_eq!(
        call(&gateway, "db.tables", json!({"url": "shop"})).await,
        json!({"tables": [{"name": "cheap", "kind": "view"}, {"name": "items", "kind": "table"}]})
    );
    let columns =
        call(&gateway, "db.schema", json!({"url": "shop", "table": "items"})).await["columns"].clone();
    assert_eq!(
        columns[0],
        json!({"name": "id", "type": "INTEGER", "nullable": 1, "default": null, "primary_key": 1})
    );
    assert_eq!(columns[2]["default"], "1.5");
}

#[tokio::test]
async fn values_are_bound_and_never_become_sql() {
    let folder = TempDir::new().unwrap();
    let gateway = with_shop(folder.path(), "");
    let sql = "select name from items where name = ?1 or id = ?2";
    let args = json!({"url": "shop", "sql": sql, "params": ["o'range", 1]});
    assert_eq!(call(&gateway, "db.query", args).await["count"], 2);
    let args = json!({"url": "shop", "sql": sql, "params": ["x' or '1'='1", null]});
    assert_eq!(call(&gateway, "db.query", args).await["count"], 0);
    let args = json!({"url": "shop", "sql": "select ? as a, ? as b, ? as c, ? as d", "params": [true, 1.5, [1], 9_007_199_254_740_993_i64]});
    assert_eq!(
        call(&gateway, "db.query", args).await["rows"][0],
        json!({"a": 1, "b": 1.5, "c": "[1]", "d": 9_007_199_254_740_993_i64})
    );
    let error = failure(&gateway, "db.query", json!({"url": "shop", "sql": sql, "params": [1]})).await;
    assert!(error.contains("Wrong number of parameters"), "{error}");
}

#[tokio::test]
async fn a_database_that_is_not_writable_stays_unchanged() {
    let folder = TempDir::new().unwrap();
    let gateway = with_shop(folder.path(), "");
    let other = folder.path().join("other.db");
    for sql in [
        "insert into items (name) values ('x')",
        "delete from items",
        "drop table items",
        "create temp table t (a)",
        "update items set name = 'x' returning id",
        "vacuum",
        "begin",
    ] {
        let error = failure(&gateway, "db.query", json!({"url": "shop", "sql": sql})).await;
        assert!(error.contains("'shop' is read-only; packs.db.writable"), "{sql}: {error}");
    }
    for sql in [
        format!("attach '{}' as other", other.display()),
        "pragma query_only = off".into(),
        "pragma writable_schema = on".into(),
        "select load_extension('x')".into(),
        format!("vacuum into '{}'", other.display()),
    ] {
        failure(&gateway, "db.query", json!({"url": "shop", "sql": sql})).await;
    }
    let error =
        failure(&gateway, "db.query", json!({"url": "shop", "sql": "select 1; delete from items"})).await;
    assert!(error.contains("Multiple statements") || error.contains("is read-only"), "{error}");
    assert!(!other.exists());
    let count: i64 = Connection::open(folder.path().join("shop.db"))
        .unwrap()
        .query_row("select count(*) from items", [], |row| row.get(0))
        .unwrap();
    assert_eq!(count, 3);
    let hints = gateway.server().catalog().resolve("db.query").unwrap().spec().annotations.unwrap();
    assert_eq!(hints.read_only_hint, Some(true));
}

#[tokio::test]
async fn only_the_writable_database_is_changed() {
    let folder = TempDir::new().unwrap();
    let gateway = with_shop(folder.path(), ", writable: [shop]");
    let args = json!({"url": "shop", "sql": "update items set price = ? where price is null", "params": [9]});
    assert_eq!(call(&gateway, "db.query", args).await, json!({"changed": 1}));
    let args = json!({"url": "shop", "sql": "insert into items (name) values ('fig') returning id, price"});
    assert_eq!(call(&gateway, "db.query", args).await["rows"], json!([{"id": 4, "price": 1.5}]));
    let other = folder.path().join("other.db");
    for sql in
        [format!("attach '{}' as other", other.display()), format!("vacuum into '{}'", other.display())]
    {
        let error = failure(&gateway, "db.query", json!({"url": "shop", "sql": sql})).await;
        assert!(error.contains("are not allowed"), "{error}");
    }
    assert!(!other.exists());
    let hints = gateway.server().catalog().resolve("db.query").unwrap().spec().annotations.unwrap();
    assert_eq!((hints.read_only_hint, hints.destructive_hint), (Some(false), Some(true)));
}

#[tokio::test]
async fn errors_name_the_problem() {
    let folder = TempDir::new().unwrap();
    let gateway = with_shop(folder.path(), "");
    for (args, expected) in [
        (
            json!({"url": "shopp", "sql": "select 1"}),
            "unknown database 'shopp'; packs.db.urls in the configuration has: shop",
        ),
        (json!({"url": "sqlite:/etc/passwd", "sql": "select 1"}), "unknown database"),
        (json!({"url": "shop", "sql": " "}), "'sql' is empty"),
        (
            json!({"url": "shop", "sql": "selec 1"}),
            "SQLite error: near \"selec\": syntax error (at character 0)",
        ),
        (json!({"url": "shop", "sql": "select missing"}), "no such column: missing"),
    ] {
        let error = failure(&gateway, "db.query", args).await;
        assert!(error.contains(expected), "{error}");
    }
    let error = failure(&gateway, "db.schema", json!({"url": "shop", "table": "none"})).await;
    assert!(error.contains("unknown table 'none'; db.tables(url='shop') lists the tables"), "{error}");
    let gone = crate::gateway(
        folder.path(),
        "packs: {db: {urls: {gone: 'sqlite:gone.db', dev: 'sqlite:/dev/zero'}}}\n",
    );
    let error = failure(&gone, "db.query", json!({"url": "gone", "sql": "select 1"})).await;
    assert!(error.contains("cannot open") && error.contains("gone.db: "), "{error}");
    assert!(!folder.path().join("gone.db").exists(), "a missing file is not created");
    let error = failure(&gone, "db.query", json!({"url": "dev", "sql": "select 1"})).await;
    assert!(error.contains("/dev/zero is not a file"), "{error}");
}

const ENDLESS: &str =
    "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n";

#[tokio::test]
async fn an_endless_query_is_stopped() {
    let folder = TempDir::new().unwrap();
    let gateway = with_shop(folder.path(), ", timeout: 0.3");
    let query = failure(&gateway, "db.query", json!({"url": "shop", "sql": ENDLESS}));
    let error = tokio::time::timeout(Duration::from_secs(30), query).await.expect("the query is stopped");
    assert!(error.contains("took longer than 0.3 s and was stopped"), "{error}");
    let rows =
        "with recursive n(i) as (select 1 union all select i + 1 from n) select i, zeroblob(1000000) from n";
    let error = failure(&gateway, "db.query", json!({"url": "shop", "sql": rows, "limit": 100_000})).await;
    assert!(error.contains("larger than 33554432 bytes") || error.contains("took longer"), "{error}");
}

#[tokio::test]
async fn a_canceled_call_stops_its_query() {
    let folder = TempDir::new().unwrap();
    let gateway = with_shop(folder.path(), ", timeout: 3600, writable: [shop]");
    let writing = "with recursive n(i) as (select 1 union all select i + 1 from n) insert into items (name) select count(*) from n";
    let args = object(json!({"url": "shop", "sql": writing}));
    let cx = CallContext::detached().with_deadline(std::time::Instant::now() + Duration::from_millis(300));
    let error = gateway.server().call("db.query", args, cx).await.unwrap_err();
    let is_timeout =
        ["timed out after", "took longer than 0."].iter().any(|it| error.to_string().contains(it));
    assert!(is_timeout, "{error}");
    // The statement's lock is released as soon as the query is interrupted.
    let connection = Connection::open(folder.path().join("shop.db")).unwrap();
    connection.busy_timeout(Duration::from_secs(30)).unwrap();
    connection.execute("insert into items (name) values ('free')", []).unwrap();
}

#[tokio::test]
async fn large_results_go_to_the_result_store() {
    let folder = TempDir::new().unwrap();
    shop(folder.path());
    let yaml = "packs: {db: {urls: {shop: 'sqlite:shop.db'}}}\n";
    let gateway = gateway_with_run(folder.path(), yaml, |_| {});
    let client = Client::connect(gateway.server()).await;
    let sql = "with recursive n(i) as (select 1 union all select i + 1 from n limit 900) select i, hex(zeroblob(50)) as x from n";
    let command = format!("db.query(url='shop', sql='{sql}')");
    let result = client.call_text("run", json!({"command": command})).await;
    assert!(result.len() < 4096 && result.contains("handle"), "{result}");
}
