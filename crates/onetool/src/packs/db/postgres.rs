//! PostgreSQL: one connection for one question, in a transaction that can only read unless more is allowed.

use std::error::Error;
use std::net::IpAddr;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use bytes::BytesMut;
use futures::{StreamExt as _, pin_mut};
use rustls_platform_verifier::BuilderVerifierExt;
use serde_json::{Map, Value};
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::types::{Format, IsNull, ToSql, Type};
use tokio_postgres::{
    CancelToken, Client, Config, NoTls, SimpleQueryMessage, Socket, Statement, Transaction,
};
use tokio_postgres_rustls::MakeRustlsConnect;
use tokio_util::task::AbortOnDropHandle;

use super::{Budget, DbError, Outcome, Question, Rows, Target};
use crate::config::Secret;

pub(super) const TABLES: &str = "select table_schema as schema, table_name as name, \
     case table_type when 'VIEW' then 'view' else 'table' end as kind from information_schema.tables \
     where table_schema not in ('pg_catalog', 'information_schema') order by 1, 2";
pub(super) const COLUMNS: &str = "select c.column_name as name, c.data_type as type, c.is_nullable = 'YES' as nullable, \
     c.column_default as default, exists (select 1 from information_schema.table_constraints t \
     join information_schema.key_column_usage k using (constraint_schema, constraint_name) \
     where t.constraint_type = 'PRIMARY KEY' and t.table_schema = c.table_schema and t.table_name = c.table_name \
     and k.column_name = c.column_name) as primary_key from information_schema.columns c \
     where c.table_schema = $1 and c.table_name = $2 order by c.ordinal_position";

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The code that a server gives to what a transaction that can only read refuses.
const READ_ONLY: &str = "25006";
/// The code of a statement that took too long or was cancelled.
const CANCELED: &str = "57014";

/// What can go wrong with a PostgreSQL server.
#[derive(Debug, thiserror::Error)]
pub(super) enum PostgresError {
    #[error(transparent)]
    Db(#[from] DbError),
    #[error("the address of '{name}' cannot be read")]
    Address { name: String, source: tokio_postgres::Error },
    #[error("cannot connect to '{name}'")]
    Connect { name: String, source: tokio_postgres::Error },
    #[error(
        "the certificates of this system cannot be read: {reason}; ?sslmode=disable in the url does without"
    )]
    Certificates { reason: String },
    #[error("the server says: {message}")]
    Sql { message: String },
    #[error("the connection to '{name}' broke")]
    Connection { name: String, source: tokio_postgres::Error },
    #[error("the statement has {wanted} values ($1, …), but params has {given}")]
    Params { wanted: usize, given: usize },
    #[error("a statement of this kind takes no params")]
    NoParams,
    #[error("the answer of '{name}' cannot be read")]
    Answer { name: String, source: serde_json::Error },
}

/// The certificates to check those of servers with, read when the first server is asked that may be far away.
#[derive(Default)]
pub(super) struct Tls(OnceLock<Result<MakeRustlsConnect, String>>);

impl Tls {
    fn get(&self) -> Result<MakeRustlsConnect, PostgresError> {
        let made = self.0.get_or_init(|| {
            let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
            let config = rustls::ClientConfig::builder_with_provider(provider)
                .with_safe_default_protocol_versions()
                .and_then(BuilderVerifierExt::with_platform_verifier);
            config.map(|it| MakeRustlsConnect::new(it.with_no_client_auth())).map_err(|it| it.to_string())
        });
        made.clone().map_err(|reason| PostgresError::Certificates { reason })
    }
}

/// Asks the server to stop what it does when nobody waits for it any more.
struct CancelOnDrop<T>
where
    T: MakeTlsConnect<Socket> + Send + 'static,
    T::TlsConnect: Send,
    T::Stream: Send,
    <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
{
    asked: Option<(CancelToken, T)>,
}

impl<T> Drop for CancelOnDrop<T>
where
    T: MakeTlsConnect<Socket> + Send + 'static,
    T::TlsConnect: Send,
    T::Stream: Send,
    <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
{
    fn drop(&mut self) {
        if let Some((token, tls)) = self.asked.take() {
            // Nobody waits for this either; a server that does not hear it has its own time limit.
            tokio::spawn(async move {
                let _ = tokio::time::timeout(CONNECT_TIMEOUT, token.cancel_query(tls)).await;
            });
        }
    }
}

pub(super) async fn ask(
    url: &Secret,
    tls: &Tls,
    target: &Target,
    question: &Question,
) -> Result<Outcome, PostgresError> {
    let mut config: Config = url
        .expose()
        .parse()
        .map_err(|source| PostgresError::Address { name: target.name.clone(), source })?;
    config.application_name("onetool").connect_timeout(CONNECT_TIMEOUT);
    // What stays on this machine needs no certificate, and seldom has one that could be checked.
    let is_plain = match config.get_ssl_mode() {
        SslMode::Disable => true,
        SslMode::Prefer => config.get_hosts().iter().all(is_here),
        _ => false,
    };
    let left = target.deadline.saturating_duration_since(Instant::now());
    let answer = async {
        if is_plain {
            config.ssl_mode(SslMode::Disable);
            answer(&config, NoTls, target, question).await
        } else {
            answer(&config, tls.get()?, target, question).await
        }
    };
    tokio::time::timeout(left, answer).await.unwrap_or_else(|_| Err(target.timeout().into()))
}

fn is_here(host: &Host) -> bool {
    match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => name == "localhost" || name.parse::<IpAddr>().is_ok_and(|it| it.is_loopback()),
    }
}

async fn answer<T>(
    config: &Config,
    tls: T,
    target: &Target,
    question: &Question,
) -> Result<Outcome, PostgresError>
where
    T: MakeTlsConnect<Socket> + Clone + Send + 'static,
    T::TlsConnect: Send,
    T::Stream: Send,
    <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
{
    let connected = config.connect(tls.clone()).await;
    let (mut client, connection) =
        connected.map_err(|source| PostgresError::Connect { name: target.name.clone(), source })?;
    let _driver = AbortOnDropHandle::new(tokio::spawn(connection));
    let mut cancel = CancelOnDrop { asked: Some((client.cancel_token(), tls)) };
    let answer = in_transaction(&mut client, target, question).await;
    cancel.asked = None;
    answer
}

async fn in_transaction(
    client: &mut Client,
    target: &Target,
    question: &Question,
) -> Result<Outcome, PostgresError> {
    let failed = |error| explain(error, target);
    let is_writable = target.config.is_writable;
    let transaction = client.build_transaction().read_only(!is_writable).start().await.map_err(failed)?;
    let left = target.deadline.saturating_duration_since(Instant::now()).as_millis().max(1);
    transaction.batch_execute(&format!("set local statement_timeout = {left}")).await.map_err(failed)?;
    // Prepared as it was written: that it is one whole statement is what makes it safe to be put into another.
    let statement = transaction.prepare(&question.sql).await.map_err(failed)?;
    let outcome = execute(&transaction, &statement, target, question).await?;
    if is_writable {
        transaction.commit().await.map_err(failed)?;
    }
    Ok(outcome)
}

async fn execute(
    transaction: &Transaction<'_>,
    statement: &Statement,
    target: &Target,
    question: &Question,
) -> Result<Outcome, PostgresError> {
    let failed = |error| explain(error, target);
    let (wanted, given) = (statement.params().len(), question.params.len());
    if wanted != given {
        return Err(PostgresError::Params { wanted, given });
    }
    let params: Vec<Parameter<'_>> = question.params.iter().map(Parameter).collect();
    if statement.columns().is_empty() {
        let changed = transaction.execute_raw(statement, params).await.map_err(failed)?;
        return Ok(Outcome::Changed(changed));
    }
    let columns: Vec<String> = statement.columns().iter().map(|it| it.name().to_owned()).collect();
    let Some(sql) = as_json(&question.sql, question.limit) else {
        return simple(transaction, target, question, columns).await;
    };
    // The server writes every row as JSON, so that every type that it knows comes out as it means it.
    let rows = transaction.query_raw(&sql, params).await.map_err(failed)?;
    pin_mut!(rows);
    let mut answer = Rows { columns, found: Vec::new(), is_more: false };
    let mut budget = Budget::default();
    while let Some(row) = rows.next().await {
        if answer.found.len() == question.limit {
            answer.is_more = true;
            break;
        }
        let row = row.map_err(failed)?;
        let text: &str = row.try_get(0).map_err(failed)?;
        budget.take(text.len())?;
        let row = serde_json::from_str(text)
            .map_err(|source| PostgresError::Answer { name: target.name.clone(), source })?;
        answer.found.push(row);
    }
    Ok(Outcome::Rows(answer))
}

/// Puts a statement into another that gives its rows as JSON; `None` for one that cannot stand inside another.
fn as_json(sql: &str, limit: usize) -> Option<String> {
    let sql = without_end(sql);
    let first = sql.split(|c: char| !c.is_ascii_alphabetic()).find(|it| !it.is_empty())?.to_ascii_lowercase();
    // A line break ends a comment that the statement may end with.
    match first.as_str() {
        "select" | "with" | "values" | "table" => {
            let limit = limit.saturating_add(1);
            Some(format!("select row_to_json(onetool)::text from (\n{sql}\n) as onetool limit {limit}"))
        }
        "insert" | "update" | "delete" | "merge" => {
            Some(format!("with onetool as (\n{sql}\n) select row_to_json(onetool)::text from onetool"))
        }
        _ => None,
    }
}

/// Takes the semicolon at the end away, and what is said behind it: only comments can be, in one statement.
fn without_end(sql: &str) -> &str {
    let end = sql.match_indices(';').find(|(at, _)| is_comment(&sql[at + 1..]));
    end.map_or(sql, |(at, _)| &sql[..at])
}

fn is_comment(mut text: &str) -> bool {
    loop {
        text = text.trim_start_matches(|c: char| c.is_whitespace() || c == ';');
        let (start, end) = match text.get(..2) {
            Some("--") => ("--", "\n"),
            Some("/*") => ("/*", "*/"),
            _ => return text.is_empty(),
        };
        text = text[start.len()..].split_once(end).map_or("", |(_, rest)| rest);
    }
}

/// Asks what only tells something, such as `show` and `explain`; its values are texts.
async fn simple(
    transaction: &Transaction<'_>,
    target: &Target,
    question: &Question,
    columns: Vec<String>,
) -> Result<Outcome, PostgresError> {
    if !question.params.is_empty() {
        return Err(PostgresError::NoParams);
    }
    let messages = transaction.simple_query(&question.sql).await.map_err(|error| explain(error, target))?;
    let (mut rows, mut budget) = (Vec::new(), Budget::default());
    for message in messages {
        let SimpleQueryMessage::Row(row) = message else { continue };
        let mut object = Map::new();
        for (index, column) in columns.iter().enumerate() {
            let text = row.get(index);
            budget.take(column.len() + text.map_or(0, str::len))?;
            object.insert(column.clone(), text.into());
        }
        rows.push(Value::Object(object));
    }
    let is_more = rows.len() > question.limit;
    rows.truncate(question.limit);
    Ok(Outcome::Rows(Rows { columns, found: rows, is_more }))
}

fn explain(error: tokio_postgres::Error, target: &Target) -> PostgresError {
    let Some(said) = error.as_db_error() else {
        return PostgresError::Connection { name: target.name.clone(), source: error };
    };
    match said.code().code() {
        READ_ONLY if !target.config.is_writable => target.read_only().into(),
        CANCELED => target.timeout().into(),
        _ => {
            let hint = said.hint().map_or_else(String::new, |hint| format!(" ({hint})"));
            PostgresError::Sql { message: format!("{}{hint}", said.message()) }
        }
    }
}

/// A value of a caller, sent as text: the server reads it as whatever the statement wants there.
#[derive(Debug)]
struct Parameter<'a>(&'a Value);

impl ToSql for Parameter<'_> {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        let is_json = matches!(*ty, Type::JSON | Type::JSONB);
        match self.0 {
            Value::Null => return Ok(IsNull::Yes),
            Value::String(text) if !is_json => out.extend_from_slice(text.as_bytes()),
            other => out.extend_from_slice(other.to_string().as_bytes()),
        }
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    fn to_sql_checked(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        self.to_sql(ty, out)
    }

    fn encode_format(&self, _: &Type) -> Format {
        Format::Text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_is_put_into_another_without_its_end() {
        assert_eq!(without_end("select 1"), "select 1");
        assert_eq!(without_end("select 1 ;\n ; "), "select 1 ");
        assert_eq!(without_end("select 1; -- all; of them\n/* and; more */"), "select 1");
        assert_eq!(without_end("select ';' as \"a;b\""), "select ';' as \"a;b\"");
        assert_eq!(without_end("select 1 -- x"), "select 1 -- x");
        assert!(as_json("  Values (1)", 5).unwrap().ends_with("limit 6"));
        assert!(as_json("insert into t values (1) returning a", 5).unwrap().starts_with("with onetool as"));
        assert_eq!(as_json("show all", 5), None);
    }
}
