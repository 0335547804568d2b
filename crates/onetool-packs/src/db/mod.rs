//! The pack `db`: questions to the SQLite and PostgreSQL databases that the configuration names.

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

const DESCRIPTION: &str = "The SQLite and PostgreSQL databases that the configuration names, asked with SQL.";
const CATEGORY: &str = "database";
/// The most bytes of the rows of one answer.
const MAX_BYTES: usize = 32 * 1024 * 1024;

/// What can go wrong with a question, whatever kind of database it is for.
#[derive(Debug, thiserror::Error)]
enum DbError {
    #[error("there is no database '{url}'; packs.db.urls in the configuration has: {known}")]
    Unknown { url: String, known: String },
    #[error("'sql' is empty")]
    Empty,
    #[error("there is no table '{table}'; db.tables(url='{url}') lists them")]
    NoTable { url: String, table: String },
    #[error("the rows have more than {MAX_BYTES} bytes; ask for fewer columns, or set a lower limit")]
    TooLarge,
    #[error(
        "the query took longer than {seconds} s and was stopped; ask for less, or raise packs.db.timeout"
    )]
    Timeout { seconds: f64 },
    #[error("'{name}' can only be read, unless packs.db.writable in the configuration names it")]
    ReadOnly { name: String },
}

/// The rows of an answer, as far as they were wanted.
#[derive(Serialize, Deserialize)]
struct Rows {
    columns: Vec<String>,
    found: Vec<Value>,
    is_more: bool,
}

/// What a statement did.
#[derive(Serialize, Deserialize)]
enum Outcome {
    Rows(Rows),
    /// How many rows it changed.
    Changed(u64),
}

impl Outcome {
    fn data(self) -> Value {
        match self {
            Self::Changed(count) => json!({"changed": count}),
            Self::Rows(Rows { columns, found, is_more }) => {
                let mut data = json!({"columns": columns, "count": found.len(), "rows": found});
                if is_more {
                    data["truncated"] = true.into();
                }
                data
            }
        }
    }
}

/// Counts the bytes of rows, and refuses more than one answer may have.
#[derive(Default)]
struct Budget(usize);

impl Budget {
    fn take(&mut self, bytes: usize) -> Result<(), DbError> {
        self.0 = self.0.saturating_add(bytes);
        if self.0 > MAX_BYTES { Err(DbError::TooLarge) } else { Ok(()) }
    }
}

/// A question to one database.
struct Question {
    sql: String,
    params: Vec<Value>,
    limit: usize,
}

/// A database to ask, and until when.
#[derive(Clone)]
struct Target {
    name: String,
    config: Database,
    deadline: Instant,
    timeout: Duration,
}

impl Target {
    fn timeout(&self) -> DbError {
        // To the millisecond: what is left of a caller's deadline has many digits.
        DbError::Timeout { seconds: (self.timeout.as_secs_f64() * 1e3).round() / 1e3 }
    }

    fn read_only(&self) -> DbError {
        DbError::ReadOnly { name: self.name.clone() }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Query {
    /// The database, by its name in the configuration.
    url: String,
    /// One SQL statement; values stand as ? (SQLite) or $1, $2 (PostgreSQL).
    sql: String,
    /// The values, in order.
    #[serde(default)]
    params: Vec<Value>,
    /// The most rows to give.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 100_000))]
    limit: usize,
}

fn default_limit() -> usize {
    1000
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Tables {
    /// The database, by its name in the configuration.
    url: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Schema {
    /// The database, by its name in the configuration.
    url: String,
    /// The table or view; for PostgreSQL with its schema, if it is not `public`.
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
            description: "Ask a SQLite or PostgreSQL database with one SQL statement; values are bound, never put into the text. Databases can only be read unless the configuration says otherwise.",
            effect: if is_any_writable { Effect::Destroys } else { Effect::Reads },
            example: "db.query(url=\"shop\", sql=\"select name, price from items where price < ?\", params=[10])",
            keywords: &["sql", "select", "sqlite", "postgres", "postgresql", "rows", "table", "database"],
            category: CATEGORY,
        };
        let all = all.clone();
        tool(about, move |args: Query, cx: CallContext| {
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
        tool(about, move |args: Tables, cx: CallContext| {
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
        tool(about, move |args: Schema, cx: CallContext| {
            let all = all.clone();
            async move { all.schema(&args.url, &args.table, &cx).await.map(Json) }
        })
    };
    pack("db", DESCRIPTION, vec![query, tables, schema])
}

impl Databases {
    /// Finds a database by its name, or by its address as the configuration writes it.
    fn target(&self, url: &str, cx: &CallContext) -> Result<Target, ToolError> {
        let by_address = || self.by_name.iter().find(|(_, it)| it.written.expose() == url);
        let found = self.by_name.get_key_value(url).or_else(by_address);
        let Some((name, config)) = found else {
            let known = self.by_name.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
            // An address that callers make up may hold a password.
            let url = url.split("://").next().unwrap_or_default().to_owned();
            return Err(tool_error(DbError::Unknown { url, known }.into()));
        };
        let now = Instant::now();
        let left = cx.deadline().map_or(Duration::MAX, |it| it.saturating_duration_since(now));
        let timeout = self.timeout.min(left);
        Ok(Target { name: name.clone(), config: config.clone(), deadline: now + timeout, timeout })
    }

    async fn query(&self, args: Query, cx: &CallContext) -> Result<Value, ToolError> {
        let target = self.target(&args.url, cx)?;
        if args.sql.trim().is_empty() {
            return Err(tool_error(DbError::Empty.into()));
        }
        let question = Question { sql: args.sql, params: args.params, limit: args.limit };
        self.ask(&target, question).await.map(Outcome::data)
    }

    async fn tables(&self, url: &str, cx: &CallContext) -> Result<Value, ToolError> {
        let target = self.target(url, cx)?;
        let sql = match target.config.address {
            DatabaseAddress::Sqlite(_) => sqlite::TABLES,
            DatabaseAddress::Postgres(_) => postgres::TABLES,
        };
        let question = Question { sql: sql.into(), params: Vec::new(), limit: 10_000 };
        let outcome = self.ask(&target, question).await?;
        Ok(json!({"tables": rows_of(outcome)}))
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
        let question = Question { sql: sql.into(), params, limit: 10_000 };
        let columns = rows_of(self.ask(&target, question).await?);
        if columns.is_empty() {
            let (url, table) = (target.name, table.to_owned());
            return Err(tool_error(DbError::NoTable { url, table }.into()));
        }
        Ok(json!({"table": table, "columns": columns}))
    }

    async fn ask(&self, target: &Target, question: Question) -> Result<Outcome, ToolError> {
        match &target.config.address {
            DatabaseAddress::Sqlite(path) => self.sqlite.ask(path, target, question).await,
            DatabaseAddress::Postgres(url) => {
                let answer = postgres::ask(url, &self.tls, target, &question).await;
                answer.map_err(|error| tool_error(error.into()))
            }
        }
    }
}

fn rows_of(outcome: Outcome) -> Vec<Value> {
    match outcome {
        Outcome::Rows(rows) => rows.found,
        Outcome::Changed(_) => Vec::new(),
    }
}
