//! SQLite: one connection per query, with limits on size, memory and time.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use onetool_core::json_size;
use rusqlite::config::DbConfig;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::types::{ToSqlOutput, Value as SqlValue, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags, Row, ToSql};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{Budget, Outcome, ResultSet};
use crate::blocking::Stop;

pub(super) const TABLES: &str = "select name, type as kind from sqlite_schema \
     where type in ('table', 'view') and name not like 'sqlite_%' order by name";
pub(super) const COLUMNS: &str = "select name, type, \"notnull\" = 0 as nullable, dflt_value as \"default\", pk > 0 as \
     primary_key from pragma_table_info(?) order by cid";

/// Number of virtual machine steps between checks whether to stop.
const STEPS: i32 = 1000;
/// Maximum size of a value or a row in bytes.
const MAX_LENGTH: i32 = 16 * 1024 * 1024;
/// Limits of a connection. For others, SQLite's defaults apply.
const LIMITS: [(Limit, i32); 6] = [
    (Limit::SQLITE_LIMIT_LENGTH, MAX_LENGTH),
    (Limit::SQLITE_LIMIT_SQL_LENGTH, 1_000_000),
    (Limit::SQLITE_LIMIT_VDBE_OP, 250_000),
    (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 500),
    (Limit::SQLITE_LIMIT_ATTACHED, 0),
    (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
];
/// Functions that can access more than the file.
const REFUSED_FUNCTIONS: [&str; 2] = ["load_extension", "fts3_tokenizer"];
/// Pragmas that only return information.
const READ_ONLY_PRAGMAS: [&str; 12] = [
    "table_info",
    "table_xinfo",
    "table_list",
    "index_list",
    "index_info",
    "index_xinfo",
    "foreign_key_list",
    "compile_options",
    "collation_list",
    "function_list",
    "page_count",
    "page_size",
];

/// A query to a file, with everything that another process needs to run it.
#[derive(Serialize, Deserialize)]
pub(super) struct Request {
    pub(super) path: PathBuf,
    pub(super) is_writable: bool,
    pub(super) sql: String,
    pub(super) params: Vec<Value>,
    pub(super) limit: usize,
    pub(super) timeout: Duration,
    /// Memory limit of SQLite in bytes. It applies to the whole process and can only be lowered.
    pub(super) max_heap: u64,
}

/// Why a query failed.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Failure {
    /// The file cannot be opened.
    Open(String),
    /// The path is not a regular file.
    NotAFile,
    /// It took too long, or was canceled.
    Stopped,
    ReadOnly,
    NotAllowed,
    TooLarge,
    TooLong,
    Memory,
    Sql(String),
}

/// Runs a query. This blocks until it is done, the time limit is reached, or `stop` is set.
pub(super) fn run(job: &Request, stop: &Stop) -> Result<Outcome, Failure> {
    let connection = open(job, stop)?;
    let explain = |source: rusqlite::Error| match source.sqlite_error_code() {
        Some(ErrorCode::OperationInterrupted) => Failure::Stopped,
        Some(ErrorCode::OutOfMemory) => Failure::Memory,
        Some(ErrorCode::TooBig) => Failure::TooLong,
        Some(ErrorCode::AuthorizationForStatementDenied) if job.is_writable => Failure::NotAllowed,
        Some(ErrorCode::AuthorizationForStatementDenied | ErrorCode::ReadOnly) => {
            if is_never_allowed(&job.sql) { Failure::NotAllowed } else { Failure::ReadOnly }
        }
        _ => sql_error(source),
    };
    let mut statement = connection.prepare(&job.sql).map_err(explain)?;
    let params = rusqlite::params_from_iter(job.params.iter().map(Parameter));
    if statement.column_count() == 0 {
        let changed = statement.execute(params).map_err(explain)?;
        return Ok(Outcome::Changed(changed as u64));
    }
    let columns = unique_names(statement.column_names());
    let (mut rows, mut is_truncated, mut budget) = (Vec::new(), false, Budget::default());
    let mut found = statement.query(params).map_err(explain)?;
    while let Some(row) = found.next().map_err(explain)? {
        if rows.len() == job.limit {
            is_truncated = true;
            break;
        }
        rows.push(read_row(row, &columns, &mut budget)?);
    }
    Ok(Outcome::Rows(ResultSet { columns, rows, is_truncated }))
}

/// Returns whether a refused statement would also be refused for a writable database.
fn is_never_allowed(sql: &str) -> bool {
    let sql = sql.trim_start().to_ascii_lowercase();
    ["attach", "detach", "pragma"].iter().any(|it| sql.starts_with(it))
        || REFUSED_FUNCTIONS.iter().any(|it| sql.contains(it))
}

/// Returns the message of SQLite, without the statement, which the caller knows.
fn sql_error(error: rusqlite::Error) -> Failure {
    Failure::Sql(match error {
        rusqlite::Error::SqlInputError { msg, offset, .. } => format!("{msg} (at character {offset})"),
        rusqlite::Error::SqliteFailure(_, Some(message)) => message,
        other => other.to_string(),
    })
}

fn open(job: &Request, stop: &Stop) -> Result<Connection, Failure> {
    let path: &Path = &job.path;
    // Opening a pipe or a device could block.
    if path.exists() && !path.is_file() {
        return Err(Failure::NotAFile);
    }
    let is_writable = job.is_writable;
    let access =
        if is_writable { OpenFlags::SQLITE_OPEN_READ_WRITE } else { OpenFlags::SQLITE_OPEN_READ_ONLY };
    let failed = |error: rusqlite::Error| Failure::Open(error.to_string());
    let mut connection =
        Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX).map_err(failed)?;
    apply_limits(&connection, job).map_err(failed)?;
    connection.busy_timeout(job.timeout).map_err(failed)?;
    let (stop, deadline) = (stop.clone(), Instant::now() + job.timeout);
    let is_over = move || stop.is_set() || Instant::now() >= deadline;
    connection.progress_handler(STEPS, Some(is_over)).map_err(failed)?;
    connection
        .authorizer(Some(move |context: AuthContext<'_>| authorize(context, is_writable)))
        .map_err(failed)?;
    Ok(connection)
}

/// Applies the limits that do not depend on the statement.
fn apply_limits(connection: &Connection, job: &Request) -> rusqlite::Result<()> {
    for (limit, value) in LIMITS {
        connection.set_limit(limit, value)?;
    }
    // Intermediate results count toward the memory limit instead of filling the disk.
    connection.pragma_update(None, "temp_store", "memory")?;
    let heap = format!("pragma hard_heap_limit = {}", job.max_heap);
    connection.query_row(&heap, [], |_| Ok(()))?;
    // Others may have written the schema of the file, so it gets no more rights than a query.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    if !job.is_writable {
        connection.pragma_update(None, "query_only", true)?;
    }
    Ok(())
}

/// Decides what a statement may do: access nothing but this file, and change it only if it is writable.
fn authorize(context: AuthContext<'_>, is_writable: bool) -> Authorization {
    let is_allowed = match context.action {
        AuthAction::Select | AuthAction::Read { .. } | AuthAction::Recursive => true,
        AuthAction::Function { function_name } => {
            !REFUSED_FUNCTIONS.contains(&function_name.to_ascii_lowercase().as_str())
        }
        AuthAction::Pragma { pragma_name, .. } => {
            READ_ONLY_PRAGMAS.contains(&pragma_name.to_ascii_lowercase().as_str())
        }
        AuthAction::Attach { .. } | AuthAction::Detach { .. } => false,
        _ => is_writable,
    };
    if is_allowed { Authorization::Allow } else { Authorization::Deny }
}

/// Adds a number to the names of columns that occur more than once.
fn unique_names<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut columns: Vec<String> = Vec::new();
    for name in names {
        let mut unique = name.to_owned();
        let mut number = 2;
        while columns.contains(&unique) {
            unique = format!("{name}_{number}");
            number += 1;
        }
        columns.push(unique);
    }
    columns
}

fn read_row(row: &Row<'_>, columns: &[String], budget: &mut Budget) -> Result<Value, Failure> {
    let mut object = Map::new();
    for (index, column) in columns.iter().enumerate() {
        let value = match row.get_ref(index).map_err(sql_error)? {
            ValueRef::Null => Value::Null,
            ValueRef::Integer(number) => number.into(),
            // JSON has no infinity and no NaN.
            ValueRef::Real(number) => {
                serde_json::Number::from_f64(number).map_or_else(|| number.to_string().into(), Value::from)
            }
            ValueRef::Text(text) => String::from_utf8_lossy(text).into(),
            ValueRef::Blob(bytes) => json!({"base64": BASE64.encode(bytes)}),
        };
        // The size as JSON, in which a control character has six bytes.
        budget.take(column.len() + json_size(&value) + 4).map_err(|_| Failure::TooLarge)?;
        object.insert(column.clone(), value);
    }
    Ok(Value::Object(object))
}

/// A caller's value.
struct Parameter<'a>(&'a Value);

impl ToSql for Parameter<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self.0 {
            Value::Null => ToSqlOutput::Owned(SqlValue::Null),
            Value::Bool(flag) => ToSqlOutput::Owned(SqlValue::Integer((*flag).into())),
            Value::Number(number) => ToSqlOutput::Owned(match (number.as_i64(), number.as_f64()) {
                (Some(whole), _) => SqlValue::Integer(whole),
                (None, Some(real)) => SqlValue::Real(real),
                (None, None) => SqlValue::Text(number.to_string()),
            }),
            Value::String(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
            data => ToSqlOutput::Owned(SqlValue::Text(data.to_string())),
        })
    }
}
