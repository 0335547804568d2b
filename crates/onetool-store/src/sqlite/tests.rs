//! The file and what happens when it fails.

use std::fs::{self, Permissions};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use rusqlite::Connection;
use tempfile::TempDir;

use super::*;
use crate::store::{KeptText, MAX_QUERIES};

const LATER: Timestamp = Timestamp::from_millis(1_000_000);

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// Returns a store that waits for nothing, and tries its file again immediately if `retry` is zero.
fn impatient(path: &Path, retry: Duration) -> SqliteStore {
    let limits = Limits { busy: Duration::from_millis(50), retry, ..Limits::default() };
    SqliteStore::new(Place::File(path.to_owned()), limits)
}

const NEVER: Duration = Duration::from_hours(1);

fn result(handle: &str) -> KeptResult {
    let info = ResultInfo {
        handle: handle.into(),
        is_json: false,
        created_at: Timestamp::from_millis(1),
        expires_at: LATER,
        total_lines: 1,
        size_bytes: 4,
    };
    KeptResult { info, text: KeptText::Whole("text".into()) }
}

async fn put(store: &SqliteStore, handle: &str) {
    store.add_result(&Caller::default(), result(handle), u64::MAX).await.unwrap();
}

async fn has(store: &SqliteStore, handle: &str) -> bool {
    let found = store.result(&Caller::default(), &handle.into()).await.unwrap();
    found.is_some_and(|it| it.text == KeptText::Whole("text".into()))
}

fn problem_of(store: &SqliteStore) -> Option<String> {
    store.health().problem
}

/// Names of the files in a folder.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[tokio::test]
async fn what_is_kept_is_there_after_a_restart() {
    let folder = folder();
    let path = folder.path().join("onetool.db");
    let store = SqliteStore::at(path.clone());
    assert_eq!(names(folder.path()), [""; 0], "nothing is made before it is needed");
    put(&store, "a").await;
    let other_process = SqliteStore::at(path.clone());
    assert!(has(&other_process, "a").await, "two gateways can share a file");
    drop((store, other_process));
    let store = SqliteStore::at(path);
    assert!(has(&store, "a").await);
    assert_eq!(problem_of(&store), None);
}

#[tokio::test]
async fn two_gateways_can_make_the_file_at_the_same_time() {
    for _ in 0..20 {
        let folder = folder();
        let path = folder.path().join("onetool.db");
        let stores: Vec<SqliteStore> = (0..4).map(|_| SqliteStore::at(path.clone())).collect();
        let opening: Vec<_> = stores.iter().map(|it| it.submit(|_| Ok(()))).collect();
        for pending in opening {
            pending.await.unwrap();
        }
        let problems: Vec<String> = stores.iter().filter_map(problem_of).collect();
        assert_eq!(problems, [""; 0]);
    }
}

#[tokio::test]
async fn l4_the_file_and_its_log_are_readable_by_their_owner_alone() {
    let folder = folder();
    let path = folder.path().join("new/onetool.db");
    let store = SqliteStore::at(path.clone());
    put(&store, "a").await;
    assert_eq!(names(&folder.path().join("new")), ["onetool.db", "onetool.db-shm", "onetool.db-wal"]);
    for name in ["onetool.db", "onetool.db-shm", "onetool.db-wal"] {
        assert_eq!(mode(&path.with_file_name(name)), 0o600, "{name}");
    }
    drop(store);
    fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    put(&SqliteStore::at(path.clone()), "b").await;
    assert_eq!(mode(&path), 0o600, "an open file is closed");
}

#[tokio::test]
async fn r8_a_corrupt_file_is_renamed_and_replaced() {
    let folder = folder();
    let path = folder.path().join("onetool.db");
    fs::write(&path, "this is not a database, but someone may still want it").unwrap();
    let store = SqliteStore::at(path.clone());
    put(&store, "a").await;
    let problem = problem_of(&store).unwrap();
    assert!(problem.contains("corrupt") && problem.contains("a new one was created"), "{problem}");
    drop(store);
    let aside = names(folder.path()).into_iter().find(|it| it.starts_with("onetool.db.corrupt-")).unwrap();
    assert!(problem.contains(&aside), "{problem}");
    assert!(fs::read_to_string(folder.path().join(aside)).unwrap().starts_with("this is not a database"));
    let store = SqliteStore::at(path);
    assert!(has(&store, "a").await, "the new file lasts");
    assert_eq!(problem_of(&store), None);
}

#[tokio::test]
async fn r8_a_file_that_is_corrupted_while_in_use_is_renamed_too() {
    let folder = folder();
    let path = folder.path().join("onetool.db");
    let store = impatient(&path, NEVER);
    for number in 0..500 {
        put(&store, &format!("handle-{number}")).await;
    }
    let checkpoint = |it: &Database| it.connection().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)");
    store.submit(checkpoint).await.unwrap();
    let mut file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    let length = file.metadata().unwrap().len();
    file.seek(SeekFrom::Start(4096)).unwrap();
    file.write_all(&vec![0x5a; usize::try_from(length).unwrap() - 4096]).unwrap();
    // What the pages held is read again only by a connection that has not seen them.
    store.submit(|it| it.connection().execute_batch("PRAGMA shrink_memory")).await.unwrap();
    put(&store, "after").await;
    assert!(has(&store, "after").await);
    assert!(problem_of(&store).unwrap().contains("corrupt"), "{:?}", problem_of(&store));
    assert!(names(folder.path()).iter().any(|it| it.starts_with("onetool.db.corrupt-")));
}

#[tokio::test]
async fn r8_a_locked_file_is_replaced_by_memory_and_left_alone() {
    let folder = folder();
    let path = folder.path().join("onetool.db");
    let store = SqliteStore::at(path.clone());
    put(&store, "before").await;
    store.close().await.unwrap();
    assert_eq!(names(folder.path()), ["onetool.db"], "closed, the log is folded away");
    let other = Connection::open(&path).unwrap();
    other.execute_batch("PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE").unwrap();
    let store = impatient(&path, NEVER);
    put(&store, "a").await;
    assert!(has(&store, "a").await);
    let problem = problem_of(&store).unwrap();
    assert!(
        problem.contains("another program has locked it") && problem.contains("kept in memory"),
        "{problem}"
    );
    assert_eq!(names(folder.path()).iter().filter(|it| it.contains("corrupt")).count(), 0);
}

#[tokio::test]
async fn r8_while_the_file_can_only_be_read_new_things_go_to_memory_and_later_to_the_file() {
    let folder = folder();
    let path = folder.path().join("onetool.db");
    let store = impatient(&path, Duration::ZERO);
    put(&store, "before").await;
    assert_eq!(problem_of(&store), None);
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    put(&store, "during").await;
    assert!(problem_of(&store).is_some());
    assert!(has(&store, "during").await && has(&store, "before").await, "reads reach both");
    other.execute_batch("COMMIT").unwrap();
    put(&store, "after").await;
    assert_eq!(problem_of(&store), None, "the file is used again");
    drop(store);
    let store = SqliteStore::at(path);
    for handle in ["before", "during", "after"] {
        assert!(has(&store, handle).await, "{handle} is in the file");
    }
}

#[tokio::test]
async fn r8_a_full_disk_is_replaced_by_memory() {
    let folder = folder();
    let path = folder.path().join("onetool.db");
    let store = impatient(&path, NEVER);
    put(&store, "before").await;
    // A database that may not grow answers as a full disk does.
    store.submit(|it| it.connection().pragma_update(None, "max_page_count", 1)).await.unwrap();
    let large = KeptResult { text: KeptText::Whole("text".repeat(100_000)), ..result("large") };
    store.add_result(&Caller::default(), large.clone(), u64::MAX).await.unwrap();
    assert_eq!(store.result(&Caller::default(), &"large".into()).await.unwrap(), Some(large));
    assert!(has(&store, "before").await);
    assert!(problem_of(&store).unwrap().contains("the disk is full"), "{:?}", problem_of(&store));
}

#[tokio::test]
async fn r8_a_folder_that_cannot_be_written_is_replaced_by_memory() {
    let folder = folder();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    // The second is a folder that not even root can write to.
    for path in [file.join("onetool.db"), Path::new("/proc/self/task/onetool.db").to_owned()] {
        let store = impatient(&path, NEVER);
        put(&store, "a").await;
        assert!(has(&store, "a").await);
        let problem = problem_of(&store).unwrap();
        assert!(problem.contains(path.to_str().unwrap()) && problem.contains("kept in memory"), "{problem}");
    }
}

#[tokio::test]
async fn r8_a_read_only_file_is_read_and_not_changed() {
    let folder = folder();
    let path = folder.path().join("onetool.db");
    put(&SqliteStore::at(path.clone()), "before").await;
    let store = impatient(&path, NEVER);
    store.submit(|it| it.connection().pragma_update(None, "query_only", true)).await.unwrap();
    put(&store, "a").await;
    assert!(has(&store, "a").await && has(&store, "before").await);
    assert!(problem_of(&store).unwrap().contains("it is read-only"), "{:?}", problem_of(&store));
}

#[tokio::test]
async fn files_of_other_programs_and_of_newer_versions_are_left_alone() {
    let folder = folder();
    let path = folder.path().join("foreign.db");
    Connection::open(&path)
        .unwrap()
        .execute_batch("CREATE TABLE theirs (a); PRAGMA user_version = 1")
        .unwrap();
    let store = impatient(&path, NEVER);
    put(&store, "a").await;
    assert!(problem_of(&store).unwrap().contains("another program"), "{:?}", problem_of(&store));
    let tables: i64 = Connection::open(&path)
        .unwrap()
        .query_row("SELECT COUNT(*) FROM sqlite_schema", [], |row| row.get(0))
        .unwrap();
    assert_eq!(tables, 1);

    let path = folder.path().join("newer.db");
    put(&SqliteStore::at(path.clone()), "a").await;
    Connection::open(&path).unwrap().execute_batch("PRAGMA user_version = 77").unwrap();
    let store = impatient(&path, NEVER);
    put(&store, "b").await;
    let problem = problem_of(&store).unwrap();
    assert!(problem.contains("newer onetool (version 77 of the tables)"), "{problem}");
}

#[test]
fn r8_a_problem_is_reported_once() {
    let warnings = Warnings::default();
    tracing::subscriber::with_default(warnings.clone(), || {
        let limits = Limits { busy: Duration::ZERO, retry: Duration::ZERO, ..Limits::default() };
        let place = Place::File("/proc/self/task/onetool.db".into());
        let mut worker = Worker::new(place, limits, Arc::default());
        for _ in 0..5 {
            worker.run(&|_| Ok(())).unwrap();
        }
    });
    assert_eq!(warnings.0.load(Ordering::Relaxed), 1);
}

/// Counts what is said as a warning.
#[derive(Clone, Default)]
struct Warnings(Arc<AtomicUsize>);

impl tracing::Subscriber for Warnings {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        *metadata.level() == tracing::Level::WARN
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, _: &tracing::Event<'_>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}

#[tokio::test]
async fn a_job_that_panics_harms_no_other() {
    let store = SqliteStore::in_memory();
    let broken = store.submit::<()>(|_| panic!("broken"));
    assert!(matches!(broken.await, Err(StoreError::Stopped)));
    put(&store, "a").await;
    assert!(has(&store, "a").await);
}

#[tokio::test]
async fn seam_17_results_take_no_more_than_configured_and_the_file_grows_no_further() {
    let folder = folder();
    let store = SqliteStore::at(folder.path().join("onetool.db"));
    assert_eq!(store.health().size_bytes, None, "it is created when it is needed");
    let put = async |number: i64, max: u64| {
        let mut result = result(&format!("r{number}"));
        result.info.created_at = Timestamp::from_millis(number);
        result.info.size_bytes = 1 << 20;
        result.text = KeptText::Whole("x".repeat(1 << 20));
        store.add_result(&Caller::default(), result, max).await
    };
    for number in 0..30 {
        put(number, 2 << 20).await.unwrap();
    }
    let readable = store.results(&Caller::default(), Timestamp::from_millis(0)).await.unwrap();
    let handles: Vec<&str> = readable.iter().map(|it| it.handle.as_str()).collect();
    assert_eq!(handles, ["r29", "r28"]);
    let size = store.health().size_bytes.unwrap();
    assert!(size < 15 << 20, "{size} bytes for 2 MB of results, the log of the last writes included");
    let error = put(30, 1000).await.unwrap_err().to_string();
    assert_eq!(error, "1048576 bytes do not fit into the store (maximum 1000 bytes)");
}

#[tokio::test]
async fn a_result_that_memory_could_not_hold_is_refused_for_a_file_too() {
    let folder = folder();
    let limits = Limits { in_file: 10, in_memory: 10, ..Limits::default() };
    for place in [Place::Memory, Place::File(folder.path().join("onetool.db"))] {
        let store = SqliteStore::new(place, limits);
        assert_eq!(store.max_result(), 10);
        for (handle, created_at) in [("second", 2), ("first", 1), ("third", 3)] {
            let mut result = result(handle);
            result.info.created_at = Timestamp::from_millis(created_at);
            store.add_result(&Caller::default(), result, u64::MAX).await.unwrap();
        }
        assert!(has(&store, "second").await && has(&store, "third").await && !has(&store, "first").await);
        let mut large = result("large");
        large.info.size_bytes = 11;
        let error = store.add_result(&Caller::default(), large, u64::MAX).await.unwrap_err();
        assert_eq!(error.to_string(), "11 bytes do not fit into the store (maximum 10 bytes)");
    }
}

#[tokio::test]
async fn the_oldest_queries_make_room_for_new_ones() {
    let store = SqliteStore::in_memory();
    let fill = |database: &Database| {
        database.connection().execute(
            "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?1)
             INSERT INTO remembered (tool, query, at) SELECT 'a.b', n, n FROM numbers",
            [database::signed(MAX_QUERIES)],
        )
    };
    store.submit(fill).await.unwrap();
    store.remember_query("c.d", "new", LATER, 10).await.unwrap();
    let queries = store.remembered_queries().await.unwrap();
    assert_eq!((queries.len(), queries[0].query.as_str()), (MAX_QUERIES, "2"));
}
