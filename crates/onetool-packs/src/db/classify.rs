//! Recognizes PostgreSQL statements that only read, with a parser.

use std::collections::BTreeSet;

use sqlparser::ast::{Query, SetExpr, Statement};
use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::keywords::Keyword;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Location, Token, TokenWithSpan, Tokenizer};

/// Maximum number of tokens. The tree of a chain of operators is as deep as the chain is long, so this also bounds the
/// stack.
const MAX_TOKENS: usize = 20_000;
const MAX_DEPTH: usize = 150;
/// Enough for a tree of that depth, even in unoptimized builds.
const STACK: usize = 128 * 1024 * 1024;

/// A statement that only reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Read {
    pub(super) kind: ReadKind,
    /// The statement without its final semicolon.
    pub(super) sql: String,
    /// Every name before a parenthesis: the functions that it calls, and possibly others.
    pub(super) names: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReadKind {
    /// A query, which can be part of another statement.
    Query,
    /// `show` or `explain`.
    Information,
}

/// Why a statement is not accepted as one that only reads.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum NotRead {
    #[error("the statement cannot be parsed: {0}")]
    Syntax(String),
    #[error("expected one statement, got {0}")]
    Several(usize),
    #[error("only queries (select, values, table), show and explain are allowed")]
    Writes,
    #[error("names and strings with Unicode escapes (U&) are not supported; write the characters themselves")]
    Escapes,
    #[error("the statement is too long (limit {MAX_TOKENS} tokens)")]
    TooLong,
}

/// Parses a statement, and refuses one that does more than read. This blocks for a moment.
pub(super) fn classify(sql: &str) -> Result<Read, NotRead> {
    let sql = sql.to_owned();
    // The parser's trees can be as deep as a statement is long, and dropping them recurses as deeply.
    let thread = std::thread::Builder::new().name("onetool-sql".into()).stack_size(STACK);
    let parsed = thread.spawn(move || classify_here(&sql));
    let failed = |reason: &str| Err(NotRead::Syntax(reason.to_owned()));
    match parsed.map(std::thread::JoinHandle::join) {
        Ok(Ok(read)) => read,
        Ok(Err(_)) => failed("the parser failed"),
        Err(error) => failed(&error.to_string()),
    }
}

fn classify_here(sql: &str) -> Result<Read, NotRead> {
    let tokens = tokens(sql)?;
    if tokens.len() > MAX_TOKENS {
        return Err(NotRead::TooLong);
    }
    if has_escapes(sql, &tokens) {
        return Err(NotRead::Escapes);
    }
    let sql = before_semicolon(sql, &tokens).to_owned();
    let names = called_names(&tokens);
    let statement = statement(tokens)?;
    let kind = kind(&statement).ok_or(NotRead::Writes)?;
    Ok(Read { kind, sql, names })
}

fn tokens(sql: &str) -> Result<Vec<TokenWithSpan>, NotRead> {
    let tokens = Tokenizer::new(&PostgreSqlDialect {}, sql).tokenize_with_location();
    tokens.map_err(|error| NotRead::Syntax(error.to_string()))
}

/// Returns the statement without its final semicolon; unchanged if it cannot be tokenized.
pub(super) fn without_semicolon(sql: &str) -> String {
    tokens(sql).map_or_else(|_| sql.to_owned(), |tokens| before_semicolon(sql, &tokens).to_owned())
}

fn before_semicolon<'a>(sql: &'a str, tokens: &[TokenWithSpan]) -> &'a str {
    let end = tokens.iter().find(|it| it.token == Token::SemiColon);
    end.and_then(|it| offset(sql, it.span.start)).map_or(sql, |end| &sql[..end])
}

/// Returns the byte offset of a line and column, which the tokenizer counts in characters from 1.
fn offset(sql: &str, location: Location) -> Option<usize> {
    let (mut line, mut column) = (1, 1);
    for (at, c) in sql.char_indices() {
        if (line, column) == (location.line, location.column) {
            return Some(at);
        }
        (line, column) = if c == '\n' { (line + 1, 1) } else { (line, column + 1) };
    }
    None
}

/// Returns whether a statement has Unicode escapes, because the parser reads `U&"…"` differently from the server.
fn has_escapes(sql: &str, tokens: &[TokenWithSpan]) -> bool {
    let is_escape = |token: &Token| matches!(token, Token::UnicodeStringLiteral(_));
    let text = sql.to_ascii_lowercase();
    tokens.iter().any(|it| is_escape(&it.token)) || text.contains("u&\"") || text.contains("u&'")
}

/// Returns every name before a parenthesis. No function is called without one, however the statement is parsed.
fn called_names(tokens: &[TokenWithSpan]) -> Vec<String> {
    let mut names = BTreeSet::new();
    let mut last: Option<&Token> = None;
    for token in tokens.iter().map(|it| &it.token) {
        match (token, last) {
            (Token::Whitespace(_), _) => continue,
            (Token::LParen, Some(Token::Word(word))) => {
                let is_quoted = word.quote_style.is_some();
                names.insert(if is_quoted { word.value.clone() } else { word.value.to_lowercase() });
            }
            _ => {}
        }
        last = Some(token);
    }
    names.into_iter().collect()
}

fn statement(mut tokens: Vec<TokenWithSpan>) -> Result<Statement, NotRead> {
    let is_word = |token: &Token| !matches!(token, Token::Whitespace(_) | Token::LParen);
    // The parser does not support `table items`, which is `select * from items`.
    if let Some(first) = tokens.iter().position(|it| is_word(&it.token))
        && matches!(&tokens[first].token, Token::Word(word) if word.keyword == Keyword::TABLE)
    {
        let word = |text: &str| TokenWithSpan::wrap(Token::make_keyword(text));
        tokens.splice(first..=first, [word("SELECT"), TokenWithSpan::wrap(Token::Mul), word("FROM")]);
    }
    let dialect = PostgreSqlDialect {};
    let mut parser = Parser::new(&dialect).with_recursion_limit(MAX_DEPTH).with_tokens_with_locations(tokens);
    let mut statements = parser.parse_statements().map_err(|error| NotRead::Syntax(error.to_string()))?;
    match (statements.len(), statements.pop()) {
        (1, Some(statement)) => Ok(statement),
        (count, _) => Err(NotRead::Several(count)),
    }
}

fn kind(statement: &Statement) -> Option<ReadKind> {
    match statement {
        Statement::Query(query) => reads(query).then_some(ReadKind::Query),
        Statement::Explain { statement, .. } => kind(statement).map(|_| ReadKind::Information),
        Statement::ShowVariable { .. } => Some(ReadKind::Information),
        _ => None,
    }
}

/// Returns whether a query and all its parts only read. PostgreSQL does not allow statements that change data anywhere
/// else in a query.
fn reads(query: &Query) -> bool {
    let parts = query.with.iter().flat_map(|it| &it.cte_tables).map(|it| &*it.query);
    query.locks.is_empty() && parts.into_iter().all(reads) && body_reads(&query.body)
}

fn body_reads(body: &SetExpr) -> bool {
    match body {
        SetExpr::Select(select) => select.into.is_none(),
        SetExpr::Query(query) => reads(query),
        SetExpr::SetOperation { left, right, .. } => body_reads(left) && body_reads(right),
        SetExpr::Values(_) | SetExpr::Table(_) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind_of(sql: &str) -> Result<ReadKind, NotRead> {
        classify(sql).map(|it| it.kind)
    }

    #[test]
    fn h7_queries_are_reads() {
        for sql in [
            "select '; -- ' as x",
            "select 1",
            "Select 1 ; -- and; more\n/* ; */",
            "with x as (select 1), y as materialized (select * from x) select * from x union all (select 2)",
            "with recursive r(n) as (select 1 union all select n + 1 from r where n < 5) select * from r",
            "values (1), (2)",
            "table items",
            "  table public.items;",
            "select E'a\\'b;' || $$x;y$$ || $t$z;$t$ || 'it''s;'",
            "select a -> 'b' ->> 'c', d @> '{}', e ? 'f' from t where g ~* 'h' order by 1 limit 3",
            "select count(*) filter (where a > 1) over (partition by b) from t tablesample system (1)",
            "select * from json_to_recordset('[]') as x(a int, b text) cross join lateral unnest(array[1]) with ordinality",
            "select distinct on (a) $1::int from t group by rollup (a) having count(*) > 1 fetch first 3 rows only",
        ] {
            assert_eq!(kind_of(sql), Ok(ReadKind::Query), "{sql}");
        }
        for sql in
            ["show all", "show server_version", "explain (analyze, format json) select 1", "explain select 1"]
        {
            assert_eq!(kind_of(sql), Ok(ReadKind::Information), "{sql}");
        }
    }

    #[test]
    fn h7_everything_else_is_not() {
        for sql in [
            "copy items to program 'id'",
            "copy items to '/tmp/x'",
            "copy (select 1) to program 'id'",
            "insert into t values (1)",
            "with x as (delete from t returning *) select * from x",
            "with x as (select 1) insert into t select * from x",
            "with x as (with y as (update t set a = 1 returning *) select * from y) select * from x",
            "select 1 into t",
            "select * from t for update",
            "(select 1 into t)",
            "explain analyze delete from t",
            "explain analyze insert into t values (1)",
            "create table t (a int)",
            "create extension dblink",
            "call f()",
            "set role postgres",
            "set transaction read write",
            "begin",
            "commit",
            "rollback",
            "listen x",
            "lock table t",
            "vacuum",
            "truncate t",
            "execute x",
            "declare c cursor for select 1",
        ] {
            assert!(kind_of(sql).is_err(), "{sql}");
        }
        assert_eq!(kind_of("select 1; select 2"), Err(NotRead::Several(2)));
        assert_eq!(kind_of("select 1; commit; delete from t"), Err(NotRead::Several(3)));
        assert_eq!(kind_of(";"), Err(NotRead::Several(0)));
        assert!(matches!(kind_of("do $$ begin end $$"), Err(NotRead::Syntax(_))));
        assert!(matches!(
            kind_of("select 1) x; delete from t; select * from (select 1"),
            Err(NotRead::Syntax(_))
        ));
        assert_eq!(kind_of("select U&\"pg\\0072ead_file\"('/etc/passwd')"), Err(NotRead::Escapes));
        assert_eq!(kind_of("select u&'\\0061'"), Err(NotRead::Escapes));
    }

    #[test]
    fn h7_every_call_is_found_however_it_is_written() {
        let sql = "select pg_sleep(1), pg_catalog.\"pg_Odd\" /* x */ (2), t.PG_LS_DIR\n('.') from lateral f (1) where exists (select g())";
        let names = classify(sql).unwrap().names;
        for name in ["pg_sleep", "pg_Odd", "pg_ls_dir", "f", "g"] {
            assert!(names.contains(&name.to_owned()), "{name}: {names:?}");
        }
    }

    #[test]
    fn h7_a_statement_loses_its_semicolon_and_nothing_else() {
        assert_eq!(without_semicolon("select '; -- ' as x"), "select '; -- ' as x");
        assert_eq!(
            without_semicolon("select 'é;'\n , ';' as \"a;b\" -- ;\n;\n; -- end"),
            "select 'é;'\n , ';' as \"a;b\" -- ;\n"
        );
        assert_eq!(without_semicolon("select 1 -- x"), "select 1 -- x");
        assert_eq!(without_semicolon("select 'open"), "select 'open");
    }

    #[test]
    fn h7_no_statement_takes_the_stack_or_the_time() {
        for sql in [
            format!("select {}", vec!["1"; 9_000].join("+")),
            format!("select {}", vec!["1"; 500_000].join("+")),
            format!("select {}1{}", "(".repeat(9_000), ")".repeat(9_000)),
            format!("select * from {}t", "(".repeat(9_000)),
            format!("select {} 1", "not ".repeat(9_000)),
            vec!["select 1"; 4_000].join(" union all "),
            format!("select {}", "case when ".repeat(9_000)),
            format!("select {}", "array[".repeat(9_000)),
        ] {
            // Only a crash or a hang matters here, so the result is ignored.
            let _ = classify(&sql);
        }
        assert_eq!(kind_of(&format!("select {}", vec!["1"; 500_000].join("+"))), Err(NotRead::TooLong));
    }
}
