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

use super::classify::{NotRead, ReadKind, classify, without_semicolon};
use super::{Budget, DbError, Outcome, Question, Rows, Target};
use onetool_config::Secret;

pub(super) const TABLES: &str = "select table_schema as schema, table_name as name, \
     case table_type when 'VIEW' then 'view' else 'table' end as kind from information_schema.tables \
     where table_schema not in ('pg_catalog', 'information_schema') order by 1, 2";
pub(super) const COLUMNS: &str = "select c.column_name as name, c.data_type as type, c.is_nullable = 'YES' as nullable, \
     c.column_default as default, exists (select 1 from information_schema.table_constraints t \
     join information_schema.key_column_usage k using (constraint_schema, constraint_name) \
     where t.constraint_type = 'PRIMARY KEY' and t.table_schema = c.table_schema and t.table_name = c.table_name \
     and k.column_name = c.column_name) as primary_key from information_schema.columns c \
     where c.table_schema = $1 and c.table_name = $2 order by c.ordinal_position";

/// Tells who asks, and what makes that role more than one that reads: roles that are or become a superuser, or that can
/// use the server's files and programs.
const ROLE: &str = "select session_user::text, array(select r.rolname::text from pg_catalog.pg_roles r \
     where (r.rolsuper or r.rolname in ('pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program')) \
     and (pg_catalog.pg_has_role(session_user, r.oid, 'member') or pg_catalog.pg_has_role(current_user, r.oid, 'member')) \
     order by 1)";
/// Finds, among names, a function that does more than give a value: one of the system's or of an extension's that its
/// author calls volatile. Functions that the database's own people wrote are theirs.
const VOLATILE: &str = "select p.proname::text from pg_catalog.pg_proc p where p.proname::text = any($1) \
     and (p.provolatile = 'v' or p.proname::text = any($2)) and not p.proname::text = any($3) \
     and (p.pronamespace = 'pg_catalog'::regnamespace or exists (select 1 from pg_catalog.pg_depend d \
     where d.classid = 'pg_catalog.pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')) order by 1 limit 1";
/// Functions of extensions that run whatever text they are given, and are not called volatile.
const RUNS_TEXT: [&str; 7] =
    ["connectby", "crosstab", "crosstab2", "crosstab3", "crosstab4", "crosstabn", "xpath_table"];
/// Volatile functions that only give a value.
const HARMLESS: [&str; 26] = [
    "clock_timestamp",
    "current_query",
    "currval",
    "gen_random_bytes",
    "gen_random_uuid",
    "gen_salt",
    "lastval",
    "lo_get",
    "pg_blocking_pids",
    "pg_collation_actual_version",
    "pg_current_wal_lsn",
    "pg_database_size",
    "pg_indexes_size",
    "pg_is_in_recovery",
    "pg_partition_ancestors",
    "pg_partition_tree",
    "pg_relation_size",
    "pg_sequence_last_value",
    "pg_table_size",
    "pg_tablespace_size",
    "pg_total_relation_size",
    "random",
    "random_normal",
    "timeofday",
    "uuid_generate_v4",
    "uuidv7",
];

/// Rows as JSON, but none that is longer than an answer may be (32 MiB): it would be here before it could be measured.
const MEASURED: &str = "select case when octet_length(line) <= 33554432 then line end from";

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
    #[error("'{name}' can only be read, unless packs.db.writable in the configuration names it")]
    NotRead { name: String, source: NotRead },
    #[error(
        "the function '{function}' is not allowed: '{name}' can only be read, and it does more than that; \
         packs.db.writable in the configuration allows it"
    )]
    Function { name: String, function: String },
    #[error(
        "the role '{role}' of '{name}' is too powerful for an agent ({why}); connect as another role, or name \
         '{name}' under packs.db.privileged in the configuration"
    )]
    Role { name: String, role: String, why: String },
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
    let form = if is_writable { Form::written(question) } else { Form::read(target, question).await? };
    let transaction = client.build_transaction().read_only(!is_writable).start().await.map_err(failed)?;
    let left = target.deadline.saturating_duration_since(Instant::now()).as_millis().max(1);
    // Texts are read as the parser reads them, whatever the server is set to.
    let settings =
        format!("set local statement_timeout = {left}; set local standard_conforming_strings = on");
    transaction.batch_execute(&settings).await.map_err(failed)?;
    check_role(&transaction, target).await?;
    check_functions(&transaction, target, &form.names).await?;
    // Prepared as it was written: that it is one whole statement is what makes it safe to be put into another.
    let statement = transaction.prepare(&question.sql).await.map_err(failed)?;
    let outcome = execute(&transaction, &statement, target, question, form.wrapped).await?;
    if is_writable {
        transaction.commit().await.map_err(failed)?;
    }
    Ok(outcome)
}

/// How a statement is sent.
struct Form {
    /// The statement inside another that gives its rows as JSON; `None` if it cannot be part of another.
    wrapped: Option<String>,
    /// The names to look at before it is sent.
    names: Vec<String>,
}

impl Form {
    /// Takes any statement.
    fn written(question: &Question) -> Self {
        let wrapped = as_json(&without_semicolon(&question.sql), question.limit);
        Self { wrapped, names: Vec::new() }
    }

    /// Takes a statement that only reads.
    async fn read(target: &Target, question: &Question) -> Result<Self, PostgresError> {
        let sql = question.sql.clone();
        let not_read = |source| PostgresError::NotRead { name: target.name.clone(), source };
        let read = tokio::task::spawn_blocking(move || classify(&sql)).await;
        let read = read.unwrap_or_else(|error| Err(NotRead::Syntax(error.to_string()))).map_err(not_read)?;
        let wrapped = match read.kind {
            ReadKind::Query => Some(wrapped_query(&read.sql, question.limit)),
            ReadKind::Information => None,
        };
        Ok(Self { wrapped, names: read.names })
    }
}

/// Refuses a role that can do more than its rows say, unless the configuration allows it.
async fn check_role(transaction: &Transaction<'_>, target: &Target) -> Result<(), PostgresError> {
    if target.config.is_privileged {
        return Ok(());
    }
    let row = transaction.query_one(ROLE, &[]).await.map_err(|error| explain(error, target))?;
    let (role, powers): (String, Vec<String>) = (row.get(0), row.get(1));
    if powers.is_empty() {
        return Ok(());
    }
    let why = if powers.contains(&role) {
        "it is a superuser".to_owned()
    } else {
        format!("it is a member of {}", powers.join(", "))
    };
    Err(PostgresError::Role { name: target.name.clone(), role, why })
}

/// Refuses functions that do more than give a value: a transaction that can only read does not stop them.
async fn check_functions(
    transaction: &Transaction<'_>,
    target: &Target,
    names: &[String],
) -> Result<(), PostgresError> {
    if names.is_empty() {
        return Ok(());
    }
    let (runs_text, harmless) = (RUNS_TEXT.as_slice(), HARMLESS.as_slice());
    let found = transaction.query_opt(VOLATILE, &[&names, &runs_text, &harmless]).await;
    match found.map_err(|error| explain(error, target))? {
        Some(row) => Err(PostgresError::Function { name: target.name.clone(), function: row.get(0) }),
        None => Ok(()),
    }
}

async fn execute(
    transaction: &Transaction<'_>,
    statement: &Statement,
    target: &Target,
    question: &Question,
    wrapped: Option<String>,
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
    let Some(sql) = wrapped else {
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
        // The server keeps a row to itself that is too long.
        let text: Option<&str> = row.try_get(0).map_err(failed)?;
        let text = text.ok_or(DbError::TooLarge)?;
        budget.take(text.len())?;
        let row = serde_json::from_str(text)
            .map_err(|source| PostgresError::Answer { name: target.name.clone(), source })?;
        answer.found.push(row);
    }
    Ok(Outcome::Rows(answer))
}

/// Puts a statement into another that gives its rows as JSON; `None` for one that cannot be part of another.
fn as_json(sql: &str, limit: usize) -> Option<String> {
    let first = sql.split(|c: char| !c.is_ascii_alphabetic()).find(|it| !it.is_empty())?.to_ascii_lowercase();
    match first.as_str() {
        "select" | "with" | "values" | "table" => Some(wrapped_query(sql, limit)),
        "insert" | "update" | "delete" | "merge" => {
            let lines = "select row_to_json(onetool)::text as line from onetool offset 0";
            Some(format!("with onetool as (\n{sql}\n) {MEASURED} ({lines}) as lines"))
        }
        _ => None,
    }
}

/// Puts a query into another that gives its rows as JSON. A line break ends a comment that the query may end with.
fn wrapped_query(sql: &str, limit: usize) -> String {
    let limit = limit.saturating_add(1);
    let lines =
        format!("select row_to_json(onetool)::text as line from (\n{sql}\n) as onetool limit {limit}");
    format!("{MEASURED} ({lines}) as lines")
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
