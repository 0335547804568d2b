//! Events, in the tables `calls`, `runs` and `sessions`: written in batches, read as sums.

use onetool_core::clock::Timestamp;
use rusqlite::{Connection, Row, named_params, params};

use super::database::{Database, unsigned};
use crate::events::{Batch, Event, MAX_AMOUNT, RunId};
use crate::store::{DaySum, EventSums, RunSum, SessionSum, ToolSum};

pub(super) fn add(database: &Database, batch: &Batch) -> rusqlite::Result<()> {
    if batch.events().is_empty() {
        return Ok(());
    }
    let transaction = database.connection().unchecked_transaction()?;
    for (at, event) in batch.events() {
        insert(&transaction, at.as_millis(), event)?;
    }
    transaction.commit()?;
    batch.set_written();
    Ok(())
}

pub(super) fn sums(
    database: &Database,
    since: Option<Timestamp>,
    tool: Option<&str>,
) -> rusqlite::Result<EventSums> {
    let since = since.map_or(i64::MIN, Timestamp::as_millis);
    // One transaction, so that the sums agree with each other.
    let transaction = database.connection().unchecked_transaction()?;
    let (runs, sessions) = match tool {
        None => (all_runs(&transaction, since)?, sessions(&transaction, since)?),
        Some(tool) => (runs_with(&transaction, since, tool)?, SessionSum::default()),
    };
    let tools = tools(&transaction, since, tool)?;
    Ok(EventSums { tools, days: days(&transaction, since, tool)?, runs, sessions })
}

fn insert(connection: &Connection, at: i64, event: &Event) -> rusqlite::Result<()> {
    match event {
        Event::Call { tool, client, duration, args_size, output_size, outcome, in_run } => {
            let sql =
                "INSERT INTO calls (at, tool, client, duration_us, args_size, output_size, success, run)
                       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
            connection.prepare_cached(sql)?.execute(params![
                at,
                tool.as_str(),
                client,
                bounded(duration.as_micros()),
                bounded(*args_size),
                bounded(*output_size),
                outcome.is_success(),
                in_run.map(RunId::get),
            ])?;
        }
        Event::Run { id, client, duration, code_size, output_size, inner_calls, inner_bytes, outcome } => {
            let sql = "INSERT INTO runs (id, at, client, duration_us, code_size, output_size, inner_calls,
                                         inner_bytes, success) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
            connection.prepare_cached(sql)?.execute(params![
                id.get(),
                at,
                client,
                bounded(duration.as_micros()),
                bounded(*code_size),
                bounded(*output_size),
                bounded(*inner_calls),
                bounded(*inner_bytes),
                outcome.is_success(),
            ])?;
        }
        Event::Session { client, kept_out, own } => {
            let sql = "INSERT INTO sessions (at, client, kept_out, own) VALUES (?1, ?2, ?3, ?4)";
            connection.prepare_cached(sql)?.execute(params![
                at,
                client,
                bounded(*kept_out),
                bounded(*own)
            ])?;
        }
    }
    Ok(())
}

fn tools(connection: &Connection, since: i64, tool: Option<&str>) -> rusqlite::Result<Vec<ToolSum>> {
    let mut statement = connection.prepare_cached(
        "SELECT tool, COUNT(*), SUM(success), SUM(duration_us), SUM(args_size + output_size),
                SUM(iif(run IS NULL, 0, output_size)), SUM(iif(run IS NULL, args_size + output_size, 0))
         FROM all_calls WHERE at >= :since AND (:tool IS NULL OR tool = :tool)
         GROUP BY tool ORDER BY COUNT(*) DESC, tool",
    )?;
    let sum = |row: &Row<'_>| {
        Ok(ToolSum {
            tool: row.get(0)?,
            calls: count(row, 1)?,
            succeeded: count(row, 2)?,
            duration_us: count(row, 3)?,
            bytes: count(row, 4)?,
            bytes_in_runs: count(row, 5)?,
            bytes_direct: count(row, 6)?,
        })
    };
    statement.query_map(named_params! {":since": since, ":tool": tool}, sum)?.collect()
}

fn days(connection: &Connection, since: i64, tool: Option<&str>) -> rusqlite::Result<Vec<DaySum>> {
    let mut statement = connection.prepare_cached(
        "SELECT day, SUM(calls), SUM(succeeded), SUM(runs) FROM (
             SELECT at / 86400000 AS day, COUNT(*) AS calls, SUM(success) AS succeeded, 0 AS runs
             FROM all_calls WHERE at >= :since AND (:tool IS NULL OR tool = :tool) GROUP BY day
             UNION ALL
             SELECT at / 86400000 AS day, 0, 0, COUNT(*)
             FROM all_runs WHERE at >= :since AND :tool IS NULL GROUP BY day
         ) GROUP BY day ORDER BY day",
    )?;
    let sum = |row: &Row<'_>| {
        Ok(DaySum {
            day: row.get(0)?,
            calls: count(row, 1)?,
            succeeded: count(row, 2)?,
            runs: count(row, 3)?,
        })
    };
    statement.query_map(named_params! {":since": since, ":tool": tool}, sum)?.collect()
}

fn all_runs(connection: &Connection, since: i64) -> rusqlite::Result<RunSum> {
    let mut statement = connection.prepare_cached(
        "SELECT COUNT(*), SUM(success), SUM(duration_us), SUM(code_size + output_size), SUM(inner_bytes),
                SUM(MAX(inner_calls - 1, 0))
         FROM all_runs WHERE at >= ?1",
    )?;
    statement.query_row([since], run_sum)
}

/// Adds up the runs that called `tool`. What a run cost is shared evenly by all calls in it.
fn runs_with(connection: &Connection, since: i64, tool: &str) -> rusqlite::Result<RunSum> {
    let mut statement = connection.prepare_cached(
        "SELECT COUNT(*), SUM(success), SUM(duration_us),
                SUM((code_size + output_size) * calls / MAX(inner_calls, calls)), SUM(bytes), SUM(calls - 1)
         FROM (SELECT run, COUNT(*) AS calls, SUM(output_size) AS bytes
               FROM all_calls WHERE at >= :since AND tool = :tool AND run IS NOT NULL GROUP BY run)
         JOIN all_runs ON id = run",
    )?;
    statement.query_row(named_params! {":since": since, ":tool": tool}, run_sum)
}

fn run_sum(row: &Row<'_>) -> rusqlite::Result<RunSum> {
    Ok(RunSum {
        runs: count(row, 0)?,
        succeeded: count(row, 1)?,
        duration_us: count(row, 2)?,
        bytes: count(row, 3)?,
        inner_bytes: count(row, 4)?,
        beyond_first: count(row, 5)?,
    })
}

fn sessions(connection: &Connection, since: i64) -> rusqlite::Result<SessionSum> {
    let mut statement = connection
        .prepare_cached("SELECT COUNT(*), SUM(kept_out), SUM(own) FROM all_sessions WHERE at >= ?1")?;
    statement.query_row([since], |row| {
        Ok(SessionSum { sessions: count(row, 0)?, kept_out: count(row, 1)?, own: count(row, 2)? })
    })
}

fn bounded(amount: impl TryInto<u64>) -> i64 {
    amount.try_into().unwrap_or(u64::MAX).min(MAX_AMOUNT).cast_signed()
}

/// Reads a sum; that of no rows is null.
fn count(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    Ok(unsigned(row.get::<_, Option<i64>>(column)?.unwrap_or_default()))
}
