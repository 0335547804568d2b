//! PostgreSQL: one connection per query, in a transaction that is read-only unless the database is writable.

use std::error::Error;
use std::net::IpAddr;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use bytes::BytesMut;
use futures::{StreamExt as _, pin_mut};
use onetool_config::Secret;
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
use super::{Budget, DbError, Outcome, Query, ResultSet, Target};

pub(super) const TABLES: &str = "select table_schema as schema, table_name as name, \
     case table_type when 'VIEW' then 'view' else 'table' end as kind from information_schema.tables \
     where table_schema not in ('pg_catalog', 'information_schema') order by 1, 2";
pub(super) const COLUMNS: &str = "select c.column_name as name, c.data_type as type, c.is_nullable = 'YES' as nullable, \
     c.column_default as default, exists (select 1 from information_schema.table_constraints t \
     join information_schema.key_column_usage k using (constraint_schema, constraint_name) \
     where t.constraint_type = 'PRIMARY KEY' and t.table_schema = c.table_schema and t.table_name = c.table_name \
     and k.column_name = c.column_name) as primary_key from information_schema.columns c \
     where c.table_schema = $1 and c.table_name = $2 order by c.ordinal_position";

/// Returns the current role, and the roles that make it too powerful: superusers that it is or can become, and roles
/// that can use the server's files and programs.
const ROLE: &str = "select session_user::text, array(select r.rolname::text from pg_catalog.pg_roles r \
     where (r.rolsuper or r.rolname in ('pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program')) \
     and (pg_catalog.pg_has_role(session_user, r.oid, 'member') or pg_catalog.pg_has_role(current_user, r.oid, 'member')) \
     order by 1)";
/// Finds, among names, a function that does more than return a value: a volatile function of the system or of an
/// extension. Functions that users of the database defined are allowed.
const VOLATILE: &str = "select p.proname::text from pg_catalog.pg_proc p where p.proname::text = any($1) \
     and (p.provolatile = 'v' or p.proname::text = any($2)) and not p.proname::text = any($3) \
     and (p.pronamespace = 'pg_catalog'::regnamespace or exists (select 1 from pg_catalog.pg_depend d \
     where d.classid = 'pg_catalog.pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')) order by 1 limit 1";
/// Functions of extensions that run SQL from their arguments, but are not declared volatile.
const RUN_SQL: [&str; 7] =
    ["connectby", "crosstab", "crosstab2", "crosstab3", "crosstab4", "crosstabn", "xpath_table"];
/// Volatile functions that only return a value.
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

/// Selects rows as JSON, with null for a row that is larger than a result may be (32 MiB). The server must check this,
/// because the client would receive the row before it could measure it.
const BOUNDED_ROWS: &str = "select case when octet_length(line) <= 33554432 then line end from";

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The error code of a statement that a read-only transaction refuses.
const READ_ONLY: &str = "25006";
/// The error code of a statement that took too long or was canceled.
const CANCELED: &str = "57014";

/// Errors of a query to a PostgreSQL server.
#[derive(Debug, thiserror::Error)]
pub(super) enum PostgresError {
    #[error(transparent)]
    Db(#[from] DbError),
    #[error("invalid URL of '{name}'")]
    Url { name: String, source: tokio_postgres::Error },
    #[error("cannot connect to '{name}'")]
    Connect { name: String, source: tokio_postgres::Error },
    #[error(
        "cannot read the certificates of this system: {reason}; ?sslmode=disable in the URL connects without them"
    )]
    Certificates { reason: String },
    #[error("PostgreSQL error: {message}")]
    Sql { message: String },
    #[error("lost the connection to '{name}'")]
    Connection { name: String, source: tokio_postgres::Error },
    #[error("the statement has {expected} parameters ($1, …), but params has {given}")]
    Params { expected: usize, given: usize },
    #[error("statements of this kind do not support params")]
    NoParams,
    #[error("'{name}' is read-only; packs.db.writable in the configuration can allow changes")]
    NotRead { name: String, source: NotRead },
    #[error(
        "the function '{function}' is not allowed, because it may do more than read and '{name}' is read-only; \
         packs.db.writable in the configuration can allow it"
    )]
    Function { name: String, function: String },
    #[error(
        "the role '{role}' of '{name}' is too powerful for an agent ({reason}); connect as another role, or add \
         '{name}' to packs.db.privileged in the configuration"
    )]
    Role { name: String, role: String, reason: String },
    #[error("invalid response of '{name}'")]
    Response { name: String, source: serde_json::Error },
}

/// The TLS configuration with the system's certificates, which are read for the first remote server.
#[derive(Default)]
pub(super) struct Tls(OnceLock<Result<MakeRustlsConnect, String>>);

impl Tls {
    fn get(&self) -> Result<MakeRustlsConnect, PostgresError> {
        let tls = self.0.get_or_init(|| {
            let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
            let config = rustls::ClientConfig::builder_with_provider(provider)
                .with_safe_default_protocol_versions()
                .and_then(BuilderVerifierExt::with_platform_verifier);
            config.map(|it| MakeRustlsConnect::new(it.with_no_client_auth())).map_err(|it| it.to_string())
        });
        tls.clone().map_err(|reason| PostgresError::Certificates { reason })
    }
}

/// Cancels the running query on the server when dropped.
struct CancelOnDrop<T>
where
    T: MakeTlsConnect<Socket> + Send + 'static,
    T::TlsConnect: Send,
    T::Stream: Send,
    <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
{
    query: Option<(CancelToken, T)>,
}

impl<T> Drop for CancelOnDrop<T>
where
    T: MakeTlsConnect<Socket> + Send + 'static,
    T::TlsConnect: Send,
    T::Stream: Send,
    <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
{
    fn drop(&mut self) {
        if let Some((token, tls)) = self.query.take() {
            // If the request fails, the server still has its statement timeout.
            tokio::spawn(async move {
                let _ = tokio::time::timeout(CONNECT_TIMEOUT, token.cancel_query(tls)).await;
            });
        }
    }
}

pub(super) async fn run(
    url: &Secret,
    tls: &Tls,
    target: &Target,
    query: &Query,
) -> Result<Outcome, PostgresError> {
    let mut config: Config =
        url.expose().parse().map_err(|source| PostgresError::Url { name: target.name.clone(), source })?;
    config.application_name("onetool").connect_timeout(CONNECT_TIMEOUT);
    // Connections on this machine need no encryption, and their servers rarely have a certificate that can be verified.
    let is_plain = match config.get_ssl_mode() {
        SslMode::Disable => true,
        SslMode::Prefer => config.get_hosts().iter().all(is_local),
        _ => false,
    };
    let remaining = target.deadline.saturating_duration_since(Instant::now());
    let outcome = async {
        if is_plain {
            config.ssl_mode(SslMode::Disable);
            connect_and_run(&config, NoTls, target, query).await
        } else {
            connect_and_run(&config, tls.get()?, target, query).await
        }
    };
    tokio::time::timeout(remaining, outcome).await.unwrap_or_else(|_| Err(target.timeout().into()))
}

fn is_local(host: &Host) -> bool {
    match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => name == "localhost" || name.parse::<IpAddr>().is_ok_and(|it| it.is_loopback()),
    }
}

async fn connect_and_run<T>(
    config: &Config,
    tls: T,
    target: &Target,
    query: &Query,
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
    let mut cancel = CancelOnDrop { query: Some((client.cancel_token(), tls)) };
    let outcome = run_in_transaction(&mut client, target, query).await;
    cancel.query = None;
    outcome
}

async fn run_in_transaction(
    client: &mut Client,
    target: &Target,
    query: &Query,
) -> Result<Outcome, PostgresError> {
    let failed = |error| explain(error, target);
    let is_writable = target.config.is_writable;
    let prepared = if is_writable { Prepared::any(query) } else { Prepared::read(target, query).await? };
    let transaction = client.build_transaction().read_only(!is_writable).start().await.map_err(failed)?;
    let remaining = target.deadline.saturating_duration_since(Instant::now()).as_millis().max(1);
    // The server must parse strings like our parser, regardless of its settings.
    let settings =
        format!("set local statement_timeout = {remaining}; set local standard_conforming_strings = on");
    transaction.batch_execute(&settings).await.map_err(failed)?;
    check_role(&transaction, target).await?;
    check_functions(&transaction, target, &prepared.names).await?;
    // The server accepts the original as a single statement; only then is it safe to embed it in another one.
    let statement = transaction.prepare(&query.sql).await.map_err(failed)?;
    let outcome = execute(&transaction, &statement, target, query, prepared.wrapped).await?;
    if is_writable {
        transaction.commit().await.map_err(failed)?;
    }
    Ok(outcome)
}

/// A statement in the form in which it is sent.
struct Prepared {
    /// The statement inside another that returns its rows as JSON; `None` if it cannot be part of another.
    wrapped: Option<String>,
    /// Names of functions to check before it is sent.
    names: Vec<String>,
}

impl Prepared {
    /// Accepts any statement.
    fn any(query: &Query) -> Self {
        let wrapped = wrap(&without_semicolon(&query.sql), query.limit);
        Self { wrapped, names: Vec::new() }
    }

    /// Accepts a statement that only reads.
    async fn read(target: &Target, query: &Query) -> Result<Self, PostgresError> {
        let sql = query.sql.clone();
        let not_read = |source| PostgresError::NotRead { name: target.name.clone(), source };
        let read = tokio::task::spawn_blocking(move || classify(&sql)).await;
        let read = read.unwrap_or_else(|error| Err(NotRead::Syntax(error.to_string()))).map_err(not_read)?;
        let wrapped = match read.kind {
            ReadKind::Query => Some(wrap_query(&read.sql, query.limit)),
            ReadKind::Information => None,
        };
        Ok(Self { wrapped, names: read.names })
    }
}

/// Refuses a role that is too powerful, unless the configuration allows it.
async fn check_role(transaction: &Transaction<'_>, target: &Target) -> Result<(), PostgresError> {
    if target.config.is_privileged {
        return Ok(());
    }
    let row = transaction.query_one(ROLE, &[]).await.map_err(|error| explain(error, target))?;
    let (role, powers): (String, Vec<String>) = (row.get(0), row.get(1));
    if powers.is_empty() {
        return Ok(());
    }
    let reason = if powers.contains(&role) {
        "it is a superuser".to_owned()
    } else {
        format!("it is a member of {}", powers.join(", "))
    };
    Err(PostgresError::Role { name: target.name.clone(), role, reason })
}

/// Refuses functions that do more than return a value, because a read-only transaction does not stop them.
async fn check_functions(
    transaction: &Transaction<'_>,
    target: &Target,
    names: &[String],
) -> Result<(), PostgresError> {
    if names.is_empty() {
        return Ok(());
    }
    let (run_sql, harmless) = (RUN_SQL.as_slice(), HARMLESS.as_slice());
    let found = transaction.query_opt(VOLATILE, &[&names, &run_sql, &harmless]).await;
    match found.map_err(|error| explain(error, target))? {
        Some(row) => Err(PostgresError::Function { name: target.name.clone(), function: row.get(0) }),
        None => Ok(()),
    }
}

async fn execute(
    transaction: &Transaction<'_>,
    statement: &Statement,
    target: &Target,
    query: &Query,
    wrapped: Option<String>,
) -> Result<Outcome, PostgresError> {
    let failed = |error| explain(error, target);
    let (expected, given) = (statement.params().len(), query.params.len());
    if expected != given {
        return Err(PostgresError::Params { expected, given });
    }
    let params: Vec<Parameter<'_>> = query.params.iter().map(Parameter).collect();
    if statement.columns().is_empty() {
        let changed = transaction.execute_raw(statement, params).await.map_err(failed)?;
        return Ok(Outcome::Changed(changed));
    }
    let columns: Vec<String> = statement.columns().iter().map(|it| it.name().to_owned()).collect();
    let Some(sql) = wrapped else {
        return execute_simple(transaction, target, query, columns).await;
    };
    // The server encodes every row as JSON, so that values of all its types are represented well.
    let found = transaction.query_raw(&sql, params).await.map_err(failed)?;
    pin_mut!(found);
    let (mut rows, mut is_truncated, mut budget) = (Vec::new(), false, Budget::default());
    while let Some(row) = found.next().await {
        if rows.len() == query.limit {
            is_truncated = true;
            break;
        }
        let row = row.map_err(failed)?;
        // The server sends null for a row that is too large.
        let text: Option<&str> = row.try_get(0).map_err(failed)?;
        let text = text.ok_or(DbError::TooLarge)?;
        budget.take(text.len())?;
        let row = serde_json::from_str(text)
            .map_err(|source| PostgresError::Response { name: target.name.clone(), source })?;
        rows.push(row);
    }
    Ok(Outcome::Rows(ResultSet { columns, rows, is_truncated }))
}

/// Embeds a statement in another that returns its rows as JSON; `None` for one that cannot be part of another.
fn wrap(sql: &str, limit: usize) -> Option<String> {
    let first = sql.split(|c: char| !c.is_ascii_alphabetic()).find(|it| !it.is_empty())?.to_ascii_lowercase();
    match first.as_str() {
        "select" | "with" | "values" | "table" => Some(wrap_query(sql, limit)),
        "insert" | "update" | "delete" | "merge" => {
            let lines = "select row_to_json(onetool)::text as line from onetool offset 0";
            Some(format!("with onetool as (\n{sql}\n) {BOUNDED_ROWS} ({lines}) as lines"))
        }
        _ => None,
    }
}

/// Embeds a query in another that returns its rows as JSON. The line break ends a comment at the end of the query.
fn wrap_query(sql: &str, limit: usize) -> String {
    let limit = limit.saturating_add(1);
    let lines =
        format!("select row_to_json(onetool)::text as line from (\n{sql}\n) as onetool limit {limit}");
    format!("{BOUNDED_ROWS} ({lines}) as lines")
}

/// Runs a statement that cannot be part of another, such as `show` and `explain`. Its values are strings.
async fn execute_simple(
    transaction: &Transaction<'_>,
    target: &Target,
    query: &Query,
    columns: Vec<String>,
) -> Result<Outcome, PostgresError> {
    if !query.params.is_empty() {
        return Err(PostgresError::NoParams);
    }
    let messages = transaction.simple_query(&query.sql).await.map_err(|error| explain(error, target))?;
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
    let is_truncated = rows.len() > query.limit;
    rows.truncate(query.limit);
    Ok(Outcome::Rows(ResultSet { columns, rows, is_truncated }))
}

fn explain(error: tokio_postgres::Error, target: &Target) -> PostgresError {
    let Some(db_error) = error.as_db_error() else {
        return PostgresError::Connection { name: target.name.clone(), source: error };
    };
    match db_error.code().code() {
        READ_ONLY if !target.config.is_writable => target.read_only().into(),
        CANCELED => target.timeout().into(),
        _ => {
            let hint = db_error.hint().map_or_else(String::new, |hint| format!(" ({hint})"));
            PostgresError::Sql { message: format!("{}{hint}", db_error.message()) }
        }
    }
}

/// A caller's value, sent as text. The server converts it to the type that the statement expects.
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
