//! The pack `db` with a real PostgreSQL server, started by each test.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use onetool::{CallContext, Gateway};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{call, failure};
use crate::{gateway, object};

/// A server with its data and socket in a temporary directory. It stops with the test.
struct Postgres {
    folder: TempDir,
    server: Child,
}

impl Postgres {
    /// Starts a server. The binaries come from Debian's package; without them the test fails.
    fn start() -> Self {
        let binaries = binaries();
        let folder = TempDir::new().unwrap();
        let user = unprivileged();
        if let Some((uid, gid)) = user {
            chown(folder.path(), Some(uid), Some(gid)).unwrap();
            fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        }
        let command = |program: &str| {
            let mut command = Command::new(binaries.join(program));
            command
                .current_dir(folder.path())
                .env_clear()
                .env("PATH", "/usr/bin:/bin")
                .env("LC_ALL", "C.UTF-8");
            if let Some((uid, gid)) = user {
                std::os::unix::process::CommandExt::uid(&mut command, uid);
                std::os::unix::process::CommandExt::gid(&mut command, gid);
            }
            command
        };
        let data = folder.path().join("data");
        let made = command("initdb")
            .args(["--username=ada", "--auth=trust", "--no-sync", "--encoding=UTF8", "--pgdata"])
            .arg(&data)
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let log = fs::File::create(folder.path().join("log")).unwrap();
        let server = command("postgres")
            .arg("-D")
            .arg(&data)
            .args(["-c", "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=20", "-k"])
            .arg(folder.path())
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        let mut this = Self { folder, server };
        this.wait();
        this.run("create role reader login; create role nobody login");
        for kind in ["tables", "sequences", "functions"] {
            this.run(&format!("alter default privileges in schema public grant all on {kind} to reader"));
        }
        this
    }

    /// Waits until the server accepts connections.
    fn wait(&mut self) {
        let deadline = Instant::now() + Duration::from_mins(1);
        while !self.psql("select 1").status.success() {
            let log = || fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
            assert!(self.server.try_wait().unwrap().is_none(), "the server exited: {}", log());
            assert!(Instant::now() < deadline, "the server does not respond: {}", log());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn psql(&self, sql: &str) -> std::process::Output {
        let mut command = Command::new(binaries().join("psql"));
        command.arg("-h").arg(self.folder.path());
        command.args(["-U", "ada", "-d", "postgres", "-At", "-v", "ON_ERROR_STOP=1", "-c", sql]);
        command.output().unwrap()
    }

    fn run(&self, sql: &str) -> String {
        let output = self.psql(sql);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn gateway(&self, folder: &Path, more: &str) -> Gateway {
        self.gateway_as("reader", folder, more)
    }

    fn gateway_as(&self, role: &str, folder: &Path, more: &str) -> Gateway {
        let host = self.folder.path().display().to_string().replace('/', "%2F");
        let url = format!("postgresql://{role}:canary-password@{host}/postgres");
        gateway(folder, &format!("packs: {{db: {{urls: {{shop: '{url}'}}{more}}}}}\n"))
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // Its child processes exit when they notice that the postmaster is gone.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn binaries() -> PathBuf {
    let versions =
        fs::read_dir("/usr/lib/postgresql").map_or_else(|_| Vec::new(), |it| it.flatten().collect());
    let mut folders: Vec<PathBuf> = versions.iter().map(|it| it.path().join("bin")).collect();
    folders.retain(|it| it.join("initdb").exists());
    folders.sort();
    folders
        .pop()
        .expect("PostgreSQL is needed: apt-get install postgresql (`cargo xtask install` does it as root)")
}

/// Returns the user `nobody` if the test runs as root, which PostgreSQL refuses to run as.
fn unprivileged() -> Option<(u32, u32)> {
    rustix::process::geteuid().is_root().then_some((65534, 65534))
}

const TABLES: &str = "create type mood as enum ('sad', 'happy');
    create table items (id serial primary key, name text not null, price numeric(10, 2), tags text[], data jsonb,
        made timestamptz default '2026-01-02 03:04:05+00', mood mood, code uuid, photo bytea);
    insert into items (name, price, tags, data, mood, code, photo) values
        ('apple', 0.50, '{a,b}', '{\"x\": [1]}', 'happy', '00000000-0000-0000-0000-000000000001', '\\x00ff'),
        ('pear', null, null, null, null, null, null);
    create view cheap as select * from items where price < 1";

#[tokio::test]
async fn postgres_is_queried_like_any_database() {
    let (postgres, folder) = (Postgres::start(), TempDir::new().unwrap());
    postgres.run(TABLES);
    let gateway = postgres.gateway(folder.path(), "");
    let query = async |sql: &str, params: Value| {
        call(&gateway, "db.query", json!({"url": "shop", "sql": sql, "params": params})).await
    };

    let all = query("select * from items order by id; -- all of them", json!([])).await;
    assert_eq!(all["columns"].as_array().unwrap().len(), 9);
    assert_eq!(
        all["rows"][0],
        json!({"id": 1, "name": "apple", "price": 0.50, "tags": ["a", "b"], "data": {"x": [1]},
            "made": all["rows"][0]["made"], "mood": "happy", "code": "00000000-0000-0000-0000-000000000001", "photo": "\\x00ff"})
    );
    assert_eq!(all["rows"][1]["price"], Value::Null);

    // Values are bound with the type that the statement expects.
    let sql = "select name from items where name = $1 and price <= $2 and code = $3 and made > $4 and mood = $5 and data = $6";
    let params =
        json!(["apple", 0.5, "00000000-0000-0000-0000-000000000001", "2026-01-01", "happy", {"x": [1]}]);
    assert_eq!(query(sql, params).await["rows"], json!([{"name": "apple"}]));
    let none = query("select name from items where name = $1", json!(["x' or '1'='1"])).await;
    assert_eq!(none["count"], 0);
    let typed = query("select $1::int + 1 as a, $2::bool as b, $3::text as c", json!([41, true, null])).await;
    assert_eq!(typed["rows"][0], json!({"a": 42, "b": true, "c": null}));

    let args = json!({"url": "shop", "sql": "select generate_series(1, 1000000) as n", "limit": 3});
    let limited = call(&gateway, "db.query", args).await;
    assert_eq!((&limited["rows"][2]["n"], &limited["truncated"]), (&json!(3), &json!(true)));
    assert_eq!(
        query("with x as (select 1 as a) select * from x", json!([])).await["rows"],
        json!([{"a": 1}])
    );
    assert_eq!(
        query("show transaction_read_only", json!([])).await["rows"][0]["transaction_read_only"],
        "on"
    );
    assert!(query("explain select 1", json!([])).await["count"].as_u64().unwrap() > 0);

    assert_eq!(
        call(&gateway, "db.tables", json!({"url": "shop"})).await["tables"],
        json!([{"schema": "public", "name": "cheap", "kind": "view"}, {"schema": "public", "name": "items", "kind": "table"}])
    );
    let columns =
        call(&gateway, "db.schema", json!({"url": "shop", "table": "items"})).await["columns"].clone();
    assert_eq!(columns[0]["primary_key"], true);
    assert_eq!(
        (&columns[1]["name"], &columns[1]["type"], &columns[1]["nullable"]),
        (&json!("name"), &json!("text"), &json!(false))
    );
}

#[tokio::test]
async fn postgres_can_only_be_read_unless_configured() {
    let (postgres, folder) = (Postgres::start(), TempDir::new().unwrap());
    postgres.run(TABLES);
    let readable = postgres.gateway(folder.path(), "");
    for sql in [
        "insert into items (name) values ('x')",
        "delete from items returning id",
        "create table t (a int)",
        "with x as (delete from items returning id) select * from x",
        "select nextval('items_id_seq')",
    ] {
        let error = failure(&readable, "db.query", json!({"url": "shop", "sql": sql})).await;
        assert!(error.contains("'shop' is read-only"), "{sql}: {error}");
    }
    for sql in [
        "select 1; delete from items",
        "select 1) x; delete from items; select * from (select 1",
        "commit; delete from items",
    ] {
        let error = failure(&readable, "db.query", json!({"url": "shop", "sql": sql})).await;
        assert!(error.contains("'shop' is read-only"), "{sql}: {error}");
    }
    assert_eq!(postgres.run("select count(*) from items"), "2\n");

    let writable = postgres.gateway(folder.path(), ", writable: [shop]");
    let args = json!({"url": "shop", "sql": "update items set price = $1 where name = $2", "params": ["3.25", "pear"]});
    assert_eq!(call(&writable, "db.query", args).await, json!({"changed": 1}));
    let args = json!({"url": "shop", "sql": "insert into items (name) values ('fig') returning id, name"});
    assert_eq!(call(&writable, "db.query", args).await["rows"][0]["name"], "fig");
    assert_eq!(postgres.run("select price from items where name = 'pear'"), "3.25\n");

    for (args, expected) in [
        (
            json!({"url": "shop", "sql": "select * from nothing"}),
            "PostgreSQL error: relation \"nothing\" does not exist",
        ),
        (
            json!({"url": "shop", "sql": "select $1::int", "params": []}),
            "the statement has 1 parameters ($1, …), but params has 0",
        ),
        (
            json!({"url": "shop", "sql": "select $1::int", "params": ["x"]}),
            "invalid input syntax for type integer",
        ),
    ] {
        let error = failure(&readable, "db.query", args).await;
        assert!(error.contains(expected), "{error}");
        assert!(!error.contains("canary-password"), "{error}");
    }
}

#[tokio::test]
async fn a_postgres_query_stops_at_its_timeout_or_with_its_caller() {
    let (postgres, folder) = (Postgres::start(), TempDir::new().unwrap());
    let gateway = postgres.gateway(folder.path(), ", timeout: 0.5");
    let endless = "select count(*) from generate_series(1, 100000000000)";
    let query = failure(&gateway, "db.query", json!({"url": "shop", "sql": endless}));
    let error = tokio::time::timeout(Duration::from_secs(30), query).await.expect("the query is stopped");
    assert!(error.contains("took longer than 0.5 s"), "{error}");
    let without_timeout = postgres.gateway(folder.path(), ", timeout: 3600, writable: [shop]");
    let args = object(json!({"url": "shop", "sql": "select pg_sleep(601)"}));
    let calling = without_timeout.server().call("db.query", args, CallContext::detached());
    let sleeping = "select count(*) from pg_stat_activity where query like '%pg_sleep(601)%' and state = 'active' and pid <> pg_backend_pid()";
    tokio::select! {
        ended = calling => panic!("{ended:?}"),
        () = until(&postgres, sleeping, "1\n") => {}
    }
    until(&postgres, sleeping, "0\n").await;
}

/// Runs the query until it returns the expected result.
async fn until(postgres: &Postgres, sql: &str, expected: &str) {
    let deadline = Instant::now() + Duration::from_mins(1);
    while postgres.run(sql) != expected {
        assert!(Instant::now() < deadline, "{sql} never returned {expected}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn an_unreachable_server_is_named() {
    let folder = TempDir::new().unwrap();
    let gateway = gateway(
        folder.path(),
        "packs: {db: {urls: {gone: 'postgres://ada:canary-password@127.0.0.1:1/x'}}}\n",
    );
    let error = failure(&gateway, "db.query", json!({"url": "gone", "sql": "select 1"})).await;
    assert!(error.contains("cannot connect to 'gone': ") && !error.contains("canary"), "{error}");
    assert!(!format!("{:?}", gateway.config()).contains("canary"));
}

/// Statements that would succeed in a read-only transaction, most for a superuser and some for any role.
const ATTACKS: [&str; 34] = [
    "copy items to program 'touch /tmp/onetool-h7'",
    "copy (select 1) to program 'touch /tmp/onetool-h7'",
    "copy items to '/tmp/onetool-h7'",
    "copy items from program 'id'",
    "select pg_read_file('/etc/passwd')",
    "select pg_read_file ('/etc/passwd')",
    "select pg_catalog.\"pg_read_file\"/* */('/etc/passwd')",
    "select U&\"pg\\0072ead_file\"('/etc/passwd')",
    "select * from pg_ls_dir('/')",
    "select x from items left join lateral pg_ls_dir('/') as x on true",
    "select pg_stat_file('/etc/passwd')",
    "select lo_import('/etc/passwd')",
    "select lo_export(1, '/tmp/onetool-h7')",
    "select lo_create(4711)",
    "select dblink_exec('dbname=postgres', 'insert into items (name) values (''x'')')",
    "select * from dblink('dbname=postgres', 'insert into items (name) values (''x'') returning id') as t(id int)",
    "select dblink_connect('dbname=postgres')",
    "select pg_terminate_backend(pid) from pg_stat_activity",
    "select pg_cancel_backend(1)",
    "select pg_sleep(0)",
    "select PG_SLEEP_FOR('0 seconds')",
    "select set_config('transaction_read_only', 'off', true)",
    "select set_config('role', 'ada', true)",
    "select nextval('items_id_seq')",
    "select setval('items_id_seq', 1)",
    "select pg_advisory_lock(1)",
    "select pg_notify('a', 'b')",
    "select query_to_xml('select pg_sleep(0)', true, true, '')",
    "select * from crosstab('select 1, 2, pg_sleep(0)::text') as t(a int, b text)",
    "select ts_stat('select pg_sleep(0)::text::tsvector')",
    "explain analyze select pg_sleep(0)",
    "set role ada",
    "do $$ begin perform pg_sleep(0); end $$",
    "select 1; select pg_sleep(0)",
];

#[tokio::test]
async fn h7_only_statements_and_functions_that_read_are_run() {
    let (postgres, folder) = (Postgres::start(), TempDir::new().unwrap());
    postgres.run(TABLES);
    postgres.run("create extension dblink; create extension tablefunc");
    postgres.run("grant execute on all functions in schema pg_catalog, public to reader");
    let gateway = postgres.gateway(folder.path(), "");
    // Also if the role could do all of it, and the configuration allows such a role.
    let superuser = postgres.gateway_as("ada", folder.path(), ", privileged: [shop]");
    for gateway in [&gateway, &superuser] {
        for sql in ATTACKS {
            let error = failure(gateway, "db.query", json!({"url": "shop", "sql": sql})).await;
            assert!(error.contains("'shop' is read-only"), "{sql}: {error}");
        }
    }
    assert!(!Path::new("/tmp/onetool-h7").exists());
    assert_eq!(postgres.run("select count(*) from items"), "2\n");

    postgres.run("create function own(int) returns int language plpgsql as 'begin return $1 + 1; end'");
    for (sql, expected) in [
        ("select '; -- ' as x", json!({"x": "; -- "})),
        ("select ';' as x; -- ; and more", json!({"x": ";"})),
        ("select own(41) as x", json!({"x": 42})),
        ("select random() < 2 as x, gen_random_uuid() is null as y", json!({"x": true, "y": false})),
        ("select coalesce(null, 1) as x, pg_relation_size('items') > 0 as y", json!({"x": 1, "y": true})),
        ("values ('a;b')", json!({"column1": "a;b"})),
        ("with x as (select 1 as a) select * from x union all select 2 limit 1", json!({"a": 1})),
        ("table cheap limit 1", json!(null)),
    ] {
        let result = call(&gateway, "db.query", json!({"url": "shop", "sql": sql})).await;
        assert!(expected.is_null() || result["rows"][0] == expected, "{sql}: {result}");
        assert_eq!(result["count"], 1, "{sql}");
    }
    let writable = postgres.gateway(folder.path(), ", writable: [shop]");
    let slept = json!({"url": "shop", "sql": "select pg_sleep(0)::text as x"});
    assert_eq!(call(&writable, "db.query", slept).await["rows"][0], json!({"x": ""}));
}

#[tokio::test]
async fn h7_a_role_with_server_privileges_is_rejected() {
    let (postgres, folder) = (Postgres::start(), TempDir::new().unwrap());
    postgres.run(
        "create role files login; grant pg_read_server_files to files;
         create role team; grant pg_execute_server_program to team;
         create role member login noinherit; grant team to member;
         create role writer login; grant pg_write_server_files to writer;
         create role deputy login; grant ada to deputy",
    );
    let one = json!({"url": "shop", "sql": "select 1 as one"});
    for more in ["", ", writable: [shop]"] {
        for (role, why) in [
            ("ada", "it is a superuser"),
            ("files", "pg_read_server_files"),
            ("member", "pg_execute_server_program"),
            ("writer", "pg_write_server_files"),
            ("deputy", "a member of ada"),
        ] {
            let gateway = postgres.gateway_as(role, folder.path(), more);
            for name in ["db.query", "db.tables"] {
                let args = if name == "db.query" { one.clone() } else { json!({"url": "shop"}) };
                let error = failure(&gateway, name, args).await;
                assert!(error.contains(&format!("the role '{role}' of 'shop'")), "{role}: {error}");
                assert!(error.contains(why) && error.contains("packs.db.privileged"), "{role}: {error}");
            }
            let allowed = postgres.gateway_as(role, folder.path(), &format!("{more}, privileged: [shop]"));
            assert_eq!(call(&allowed, "db.query", one.clone()).await["count"], 1, "{role}");
        }
        let plain = postgres.gateway_as("nobody", folder.path(), more);
        assert_eq!(call(&plain, "db.query", one.clone()).await["count"], 1);
    }
}

#[tokio::test]
async fn h7_a_result_is_bounded() {
    let (postgres, folder) = (Postgres::start(), TempDir::new().unwrap());
    let gateway = postgres.gateway(folder.path(), "");
    for sql in [
        "select repeat('x', 40000000) as x",
        "select repeat('x', 1000000) as x from generate_series(1, 1000)",
        "select string_agg(repeat('x', 1000), '') as x from generate_series(1, 100000)",
    ] {
        let error = failure(&gateway, "db.query", json!({"url": "shop", "sql": sql})).await;
        assert!(error.contains("larger than 33554432 bytes"), "{sql}: {error}");
    }
}
