//! SQLite: one connection for one question, on a thread where it may take its time.

use std::path::{Path, PathBuf};
use std::time::Instant;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use onetool_core::ToolError;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::types::{ToSqlOutput, Value as SqlValue, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags, Row, ToSql};
use serde_json::{Map, Value, json};

use super::{Budget, DbError, Outcome, Question, Rows, Target};
use crate::own_files::{OwnFiles, Refused};
use crate::packs::blocking::{Stop, blocking};

pub(super) const TABLES: &str = "select name, type as kind from sqlite_schema \
     where type in ('table', 'view') and name not like 'sqlite_%' order by name";
pub(super) const COLUMNS: &str = "select name, type, \"notnull\" = 0 as nullable, dflt_value as \"default\", pk > 0 as \
     primary_key from pragma_table_info(?) order by cid";

/// How many steps of its machine SQLite does before it asks whether to go on.
const STEPS: i32 = 2000;
/// Functions that reach beyond the file.
const REFUSED: [&str; 2] = ["load_extension", "fts3_tokenizer"];
/// Pragmas that only tell something.
const TELLING: [&str; 12] = [
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

/// What can go wrong with a SQLite file.
#[derive(Debug, thiserror::Error)]
pub(super) enum SqliteError {
    #[error(transparent)]
    Db(#[from] DbError),
    #[error("cannot open {path}")]
    Open { path: String, source: rusqlite::Error },
    #[error("{path} is not a file")]
    NoFile { path: String },
    #[error("{path} is out of reach")]
    Closed { path: String, source: Refused },
    #[error("{path} was replaced while it was opened; try again")]
    Moved { path: String },
    #[error(
        "the statement is not allowed here: other files, extensions and settings of SQLite are out of reach"
    )]
    NotAllowed,
    #[error("SQLite says: {message}")]
    Sql { message: String },
}

pub(super) async fn ask(
    path: PathBuf,
    target: Target,
    question: Question,
    own: OwnFiles,
) -> Result<Outcome, ToolError> {
    blocking(move |stop| answer(&path, &target, &question, &own, stop)).await
}

fn answer(
    path: &Path,
    target: &Target,
    question: &Question,
    own: &OwnFiles,
    stop: &Stop,
) -> Result<Outcome, SqliteError> {
    let is_writable = target.config.is_writable;
    let connection = open_checked(path, target, own, stop)?;
    let explain = |source: rusqlite::Error| match source.sqlite_error_code() {
        Some(ErrorCode::OperationInterrupted) => target.timeout().into(),
        Some(ErrorCode::AuthorizationForStatementDenied) if is_writable => SqliteError::NotAllowed,
        Some(ErrorCode::AuthorizationForStatementDenied | ErrorCode::ReadOnly) => {
            denied(&question.sql).unwrap_or_else(|| target.read_only().into())
        }
        _ => said(source),
    };
    let mut statement = connection.prepare(&question.sql).map_err(explain)?;
    let params = question.params.iter().map(Parameter);
    let params = rusqlite::params_from_iter(params);
    if statement.column_count() == 0 {
        let changed = statement.execute(params).map_err(explain)?;
        return Ok(Outcome::Changed(changed as u64));
    }
    let columns = distinct(statement.column_names());
    let (mut rows, mut is_more, mut budget) = (Vec::new(), false, Budget::default());
    let mut found = statement.query(params).map_err(explain)?;
    while let Some(row) = found.next().map_err(explain)? {
        if rows.len() == question.limit {
            is_more = true;
            break;
        }
        rows.push(read(row, &columns, &mut budget)?);
    }
    Ok(Outcome::Rows(Rows { columns, found: rows, is_more }))
}

/// Tells of a statement that is refused for another reason than that it changes something.
fn denied(sql: &str) -> Option<SqliteError> {
    let sql = sql.trim_start().to_ascii_lowercase();
    let is_setting = ["attach", "detach", "pragma"].iter().any(|it| sql.starts_with(it));
    (is_setting || REFUSED.iter().any(|it| sql.contains(it))).then_some(SqliteError::NotAllowed)
}

/// Takes what SQLite says of an error, and not the statement, which the caller knows.
fn said(error: rusqlite::Error) -> SqliteError {
    let message = match error {
        rusqlite::Error::SqlInputError { msg, offset, .. } => format!("{msg} (at character {offset})"),
        rusqlite::Error::SqliteFailure(_, Some(message)) => message,
        other => other.to_string(),
    };
    SqliteError::Sql { message }
}

/// Opens a database that is none of our own files. SQLite opens by name, so the name has to lead to the same file before
/// and after.
fn open_checked(
    path: &Path,
    target: &Target,
    own: &OwnFiles,
    stop: &Stop,
) -> Result<Connection, SqliteError> {
    let closed = own.look();
    let shown = || path.display().to_string();
    let check = || closed.check_path(path).map_err(|source| SqliteError::Closed { path: shown(), source });
    let before = check()?;
    let connection = open(path, target, stop)?;
    if check()? == before { Ok(connection) } else { Err(SqliteError::Moved { path: shown() }) }
}

fn open(path: &Path, target: &Target, stop: &Stop) -> Result<Connection, SqliteError> {
    // A pipe or a device would keep us waiting.
    if path.exists() && !path.is_file() {
        return Err(SqliteError::NoFile { path: path.display().to_string() });
    }
    let is_writable = target.config.is_writable;
    let access =
        if is_writable { OpenFlags::SQLITE_OPEN_READ_WRITE } else { OpenFlags::SQLITE_OPEN_READ_ONLY };
    let opened = Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX);
    let failed = |source| SqliteError::Open { path: path.display().to_string(), source };
    let mut connection = opened.map_err(failed)?;
    let patience = target.deadline.saturating_duration_since(Instant::now());
    connection.busy_timeout(patience).map_err(failed)?;
    if !is_writable {
        connection.pragma_update(None, "query_only", true).map_err(failed)?;
    }
    let (stop, deadline) = (stop.clone(), target.deadline);
    let is_over = move || stop.is_set() || Instant::now() >= deadline;
    connection.progress_handler(STEPS, Some(is_over)).map_err(failed)?;
    connection
        .authorizer(Some(move |context: AuthContext<'_>| authorize(context, is_writable)))
        .map_err(failed)?;
    Ok(connection)
}

/// Says what a statement may do: nothing beyond this one file, and only reading unless it may be changed.
fn authorize(context: AuthContext<'_>, is_writable: bool) -> Authorization {
    let is_allowed = match context.action {
        AuthAction::Select | AuthAction::Read { .. } | AuthAction::Recursive => true,
        AuthAction::Function { function_name } => {
            !REFUSED.contains(&function_name.to_ascii_lowercase().as_str())
        }
        AuthAction::Pragma { pragma_name, .. } => {
            TELLING.contains(&pragma_name.to_ascii_lowercase().as_str())
        }
        AuthAction::Attach { .. } | AuthAction::Detach { .. } => false,
        _ => is_writable,
    };
    if is_allowed { Authorization::Allow } else { Authorization::Deny }
}

/// Gives columns of one name names of their own.
fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut columns: Vec<String> = Vec::new();
    for name in names {
        let mut free = name.to_owned();
        let mut number = 2;
        while columns.contains(&free) {
            free = format!("{name}_{number}");
            number += 1;
        }
        columns.push(free);
    }
    columns
}

fn read(row: &Row<'_>, columns: &[String], budget: &mut Budget) -> Result<Value, SqliteError> {
    let mut object = Map::new();
    for (index, column) in columns.iter().enumerate() {
        let value = row.get_ref(index).map_err(said)?;
        let value = match value {
            ValueRef::Null => Value::Null,
            ValueRef::Integer(number) => number.into(),
            // What JSON cannot say is said as a text.
            ValueRef::Real(number) => {
                serde_json::Number::from_f64(number).map_or_else(|| number.to_string().into(), Value::from)
            }
            ValueRef::Text(text) => {
                budget.take(text.len())?;
                String::from_utf8_lossy(text).into()
            }
            ValueRef::Blob(bytes) => {
                budget.take(bytes.len() * 4 / 3)?;
                json!({"base64": BASE64.encode(bytes)})
            }
        };
        budget.take(column.len() + 8)?;
        object.insert(column.clone(), value);
    }
    Ok(Value::Object(object))
}

/// A value of a caller.
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
