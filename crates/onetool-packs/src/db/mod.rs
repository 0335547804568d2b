//! The pack `db`: queries to configured SQLite and PostgreSQL databases.

mod classify;
mod options;
mod postgres;
mod sqlite;
mod worker;

use std::sync::Arc;
use std::time::{Duration, Instant};

use indexmap::IndexMap;
use onetool_cage::Jobs;
use onetool_core::{CallContext, Json, Pack, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::own_files::OwnFiles;
use crate::tool::{About, Effect, pack, tool, tool_error};
use options::{Database, DatabaseAddress};
use postgres::Tls;
use worker::Sqlite;

pub(crate) use options::DbOptions;
pub(crate) use worker::JOB;

const DESCRIPTION: &str = "SQL queries to configured SQLite and PostgreSQL databases.";
const CATEGORY: &str = "database";
/// Maximum size of the rows in a result.
const MAX_BYTES: usize = 32 * 1024 * 1024;

/// Errors that both kinds of databases have.
#[derive(Debug, thiserror::Error)]
enum DbError {
    #[error("unknown database '{url}'; packs.db.urls in the configuration has: {known}")]
    Unknown { url: String, known: String },
    #[error("'sql' is empty")]
    Empty,
    #[error("unknown table '{table}'; db.tables(url='{url}') lists the tables")]
    NoTable { url: String, table: String },
    #[error("the rows are larger than {MAX_BYTES} bytes; select fewer columns, or set a lower limit")]
    TooLarge,
    #[error("the query took longer than {seconds} s and was stopped; query less, or raise packs.db.timeout")]
    Timeout { seconds: f64 },
    #[error("'{name}' is read-only; packs.db.writable in the configuration can allow changes")]
    ReadOnly { name: String },
}

/// The result of a query, up to its limit of rows.
#[derive(Serialize, Deserialize)]
struct ResultSet {
    columns: Vec<String>,
    rows: Vec<Value>,
    is_truncated: bool,
}

/// The outcome of a statement.
#[derive(Serialize, Deserialize)]
enum Outcome {
    Rows(ResultSet),
    /// The number of rows that it changed.
    Changed(u64),
}

impl Outcome {
    fn data(self) -> Value {
        match self {
            Self::Changed(count) => json!({"changed": count}),
            Self::Rows(ResultSet { columns, rows, is_truncated }) => {
                let mut data = json!({"columns": columns, "count": rows.len(), "rows": rows});
                if is_truncated {
                    data["truncated"] = true.into();
                }
                data
            }
        }
    }
}

/// Counts the bytes of rows, up to the maximum size of a result.
#[derive(Default)]
struct Budget(usize);

impl Budget {
    fn take(&mut self, bytes: usize) -> Result<(), DbError> {
        self.0 = self.0.saturating_add(bytes);
        if self.0 > MAX_BYTES { Err(DbError::TooLarge) } else { Ok(()) }
    }
}

/// A statement with its parameters.
struct Query {
    sql: String,
    params: Vec<Value>,
    limit: usize,
}

/// A database to query, and the time limit.
#[derive(Clone)]
struct Target {
    name: String,
    config: Database,
    deadline: Instant,
    timeout: Duration,
}

impl Target {
    fn timeout(&self) -> DbError {
        // Rounded to milliseconds, because the rest of a caller's deadline has many digits.
        DbError::Timeout { seconds: (self.timeout.as_secs_f64() * 1e3).round() / 1e3 }
    }

    fn read_only(&self) -> DbError {
        DbError::ReadOnly { name: self.name.clone() }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct QueryArguments {
    /// Name of the database in the configuration.
    url: String,
    /// One SQL statement, with ? (SQLite) or $1, $2 (PostgreSQL) for values.
    sql: String,
    /// The values, in order.
    #[serde(default)]
    params: Vec<Value>,
    /// Maximum number of rows.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 100_000))]
    limit: usize,
}

fn default_limit() -> usize {
    1000
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TablesArguments {
    /// Name of the database in the configuration.
    url: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SchemaArguments {
    /// Name of the database in the configuration.
    url: String,
    /// The table or view; for PostgreSQL with its schema, if that is not `public`.
    table: String,
}

struct Databases {
    by_name: IndexMap<String, Database>,
    timeout: Duration,
    tls: Tls,
    sqlite: Sqlite,
}

fn build(
    databases: IndexMap<String, Database>,
    timeout: Duration,
    own: OwnFiles,
    jobs: Option<Arc<Jobs>>,
) -> Pack {
    let is_any_writable = databases.values().any(|it| it.is_writable);
    let all = Arc::new(Databases {
        by_name: databases,
        timeout,
        tls: Tls::default(),
        sqlite: Sqlite::new(jobs, own),
    });
    let query = {
        let about = About {
            name: "db.query",
            description: "Query a SQLite or PostgreSQL database with one SQL statement; values are bound, never inserted into the text. Databases are read-only unless the configuration says otherwise.",
            effect: if is_any_writable { Effect::Destroys } else { Effect::Reads },
            example: "db.query(url=\"shop\", sql=\"select name, price from items where price < ?\", params=[10])",
            keywords: &["sql", "select", "sqlite", "postgres", "postgresql", "rows", "table", "database"],
            category: CATEGORY,
        };
        let all = all.clone();
        tool(about, move |args: QueryArguments, cx: CallContext| {
            let all = all.clone();
            async move { all.query(args, &cx).await.map(Json) }
        })
    };
    let tables = {
        let about = About {
            name: "db.tables",
            description: "List the tables and views of a database.",
            effect: Effect::Reads,
            example: "db.tables(url=\"shop\")",
            keywords: &["database", "sql", "views", "relations"],
            category: CATEGORY,
        };
        let all = all.clone();
        tool(about, move |args: TablesArguments, cx: CallContext| {
            let all = all.clone();
            async move { all.tables(&args.url, &cx).await.map(Json) }
        })
    };
    let schema = {
        let about = About {
            name: "db.schema",
            description: "Describe a table: its columns with types, defaults and keys.",
            effect: Effect::Reads,
            example: "db.schema(url=\"shop\", table=\"items\")",
            keywords: &["columns", "describe", "types", "database", "structure"],
            category: CATEGORY,
        };
        tool(about, move |args: SchemaArguments, cx: CallContext| {
            let all = all.clone();
            async move { all.schema(&args.url, &args.table, &cx).await.map(Json) }
        })
    };
    pack("db", DESCRIPTION, vec![query, tables, schema])
}

impl Databases {
    /// Finds a database by its name, or by its URL as written in the configuration.
    fn target(&self, url: &str, cx: &CallContext) -> Result<Target, ToolError> {
        let by_address = || self.by_name.iter().find(|(_, it)| it.written.expose() == url);
        let found = self.by_name.get_key_value(url).or_else(by_address);
        let Some((name, config)) = found else {
            let known = self.by_name.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
            // A URL that a caller made up may contain a password.
            let url = url.split("://").next().unwrap_or_default().to_owned();
            return Err(tool_error(DbError::Unknown { url, known }.into()));
        };
        let now = Instant::now();
        let left = cx.deadline().map_or(Duration::MAX, |it| it.saturating_duration_since(now));
        let timeout = self.timeout.min(left);
        Ok(Target { name: name.clone(), config: config.clone(), deadline: now + timeout, timeout })
    }

    async fn query(&self, args: QueryArguments, cx: &CallContext) -> Result<Value, ToolError> {
        let target = self.target(&args.url, cx)?;
        if args.sql.trim().is_empty() {
            return Err(tool_error(DbError::Empty.into()));
        }
        let query = Query { sql: args.sql, params: args.params, limit: args.limit };
        self.run(&target, query).await.map(Outcome::data)
    }

    async fn tables(&self, url: &str, cx: &CallContext) -> Result<Value, ToolError> {
        let target = self.target(url, cx)?;
        let sql = match target.config.address {
            DatabaseAddress::Sqlite(_) => sqlite::TABLES,
            DatabaseAddress::Postgres(_) => postgres::TABLES,
        };
        let query = Query { sql: sql.into(), params: Vec::new(), limit: 10_000 };
        let outcome = self.run(&target, query).await?;
        Ok(json!({"tables": rows(outcome)}))
    }

    async fn schema(&self, url: &str, table: &str, cx: &CallContext) -> Result<Value, ToolError> {
        let target = self.target(url, cx)?;
        let (sql, params) = match target.config.address {
            DatabaseAddress::Sqlite(_) => (sqlite::COLUMNS, vec![Value::from(table)]),
            DatabaseAddress::Postgres(_) => {
                let (schema, name) = table.split_once('.').unwrap_or(("public", table));
                (postgres::COLUMNS, vec![schema.into(), name.into()])
            }
        };
        let query = Query { sql: sql.into(), params, limit: 10_000 };
        let columns = rows(self.run(&target, query).await?);
        if columns.is_empty() {
            let (url, table) = (target.name, table.to_owned());
            return Err(tool_error(DbError::NoTable { url, table }.into()));
        }
        Ok(json!({"table": table, "columns": columns}))
    }

    async fn run(&self, target: &Target, query: Query) -> Result<Outcome, ToolError> {
        match &target.config.address {
            DatabaseAddress::Sqlite(path) => self.sqlite.run(path, target, query).await,
            DatabaseAddress::Postgres(url) => {
                let outcome = postgres::run(url, &self.tls, target, &query).await;
                outcome.map_err(|error| tool_error(error.into()))
            }
        }
    }
}

fn rows(outcome: Outcome) -> Vec<Value> {
    match outcome {
        Outcome::Rows(result) => result.rows,
        Outcome::Changed(_) => Vec::new(),
    }
}
