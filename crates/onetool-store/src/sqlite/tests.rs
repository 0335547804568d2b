//! The file and what happens when it fails.

use std::fs::{self, Permissions};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use onetool_core::Caller;
use rusqlite::Connection;
use tempfile::TempDir;

use super::*;
use onetool_core::clock::Timestamp;

const LATER: Timestamp = Timestamp::from_millis(1_000_000);

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// A storage that waits for nothing, and tries its file again at once if `retry` is zero.
fn impatient(path: &Path, retry: Duration) -> Storage {
    let limits = Limits { busy: Duration::from_millis(50), retry, ..Limits::default() };
    Storage::new(Place::File(path.to_owned()), limits)
}

const NEVER: Duration = Duration::from_hours(1);

fn row(handle: &str) -> ResultRow {
    let info = ResultRowInfo {
        handle: handle.into(),
        is_json: false,
        created_at: Timestamp::from_millis(1),
        expires_at: LATER,
        total_lines: 1,
        size_bytes: 4,
    };
    ResultRow { info, body: Some("text".into()) }
}

async fn put(storage: &Storage, handle: &str) {
    storage.add_result(&Caller::default(), row(handle)).await.unwrap();
}

async fn has(storage: &Storage, handle: &str) -> bool {
    let found = storage.result(&Caller::default(), handle).await.unwrap();
    found.is_some_and(|it| it.body.as_deref() == Some("text"))
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
    let storage = Storage::at(path.clone());
    assert_eq!(names(folder.path()), [""; 0], "nothing is made before it is needed");
    put(&storage, "a").await;
    let other_process = Storage::at(path.clone());
    assert!(has(&other_process, "a").await, "two gateways can share a file");
    drop((storage, other_process));
    let storage = Storage::at(path);
    assert!(has(&storage, "a").await);
    assert_eq!(storage.trouble(), None);
}

#[tokio::test]
async fn two_gateways_can_make_the_file_at_the_same_time() {
    for _ in 0..20 {
        let folder = folder();
        let path = folder.path().join("onetool.db");
        let storages: Vec<Storage> = (0..4).map(|_| Storage::at(path.clone())).collect();
        let opening: Vec<_> = storages.iter().map(|it| it.submit(|_| Ok(()))).collect();
        for pending in opening {
            pending.done().await.unwrap();
        }
        let troubles: Vec<String> = storages.iter().filter_map(Storage::trouble).collect();
        assert_eq!(troubles, [""; 0]);
    }
}

#[tokio::test]
async fn l4_the_file_and_its_log_are_readable_by_their_owner_alone() {
    let folder = folder();
    let path = folder.path().join("new/onetool.db");
    let storage = Storage::at(path.clone());
    put(&storage, "a").await;
    assert_eq!(names(&folder.path().join("new")), ["onetool.db", "onetool.db-shm", "onetool.db-wal"]);
    for name in ["onetool.db", "onetool.db-shm", "onetool.db-wal"] {
        assert_eq!(mode(&path.with_file_name(name)), 0o600, "{name}");
    }
    drop(storage);
    fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    put(&Storage::at(path.clone()), "b").await;
    assert_eq!(mode(&path), 0o600, "an open file is closed");
}

#[tokio::test]
async fn r8_a_corrupt_file_is_kept_aside_and_begun_anew() {
    let folder = folder();
    let path = folder.path().join("onetool.db");
    fs::write(&path, "this is no database, but somebody may still want it").unwrap();
    let storage = Storage::at(path.clone());
    put(&storage, "a").await;
    let trouble = storage.trouble().unwrap();
    assert!(trouble.contains("corrupt") && trouble.contains("a new one was begun"), "{trouble}");
    drop(storage);
    let aside = names(folder.path()).into_iter().find(|it| it.starts_with("onetool.db.corrupt-")).unwrap();
    assert!(trouble.contains(&aside), "{trouble}");
    assert!(fs::read_to_string(folder.path().join(aside)).unwrap().starts_with("this is no database"));
    let storage = Storage::at(path);
    assert!(has(&storage, "a").await, "the new file lasts");
    assert_eq!(storage.trouble(), None);
}

#[tokio::test]
async fn r8_a_file_that_is_spoilt_while_in_use_is_kept_aside_too() {
    let folder = folder();
    let path = folder.path().join("onetool.db");
    let storage = impatient(&path, NEVER);
    for number in 0..500 {
        put(&storage, &format!("handle-{number}")).await;
    }
    storage
        .submit(|it| it.connection().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)"))
        .done()
        .await
        .unwrap();
    let mut file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    let length = file.metadata().unwrap().len();
    file.seek(SeekFrom::Start(4096)).unwrap();
    file.write_all(&vec![0x5a; usize::try_from(length).unwrap() - 4096]).unwrap();
    // What the pages held is read again only by a connection that has not seen them.
    storage.submit(|it| it.connection().execute_batch("PRAGMA shrink_memory")).done().await.unwrap();
    put(&storage, "after").await;
    assert!(has(&storage, "after").await);
    assert!(storage.trouble().unwrap().contains("corrupt"), "{:?}", storage.trouble());
    assert!(names(folder.path()).iter().any(|it| it.starts_with("onetool.db.corrupt-")));
}

#[tokio::test]
async fn r8_a_locked_file_is_replaced_by_memory_and_left_alone() {
    let folder = folder();
    let path = folder.path().join("onetool.db");
    let storage = Storage::at(path.clone());
    put(&storage, "before").await;
    storage.close().await;
    assert_eq!(names(folder.path()), ["onetool.db"], "closed, the log is folded away");
    let other = Connection::open(&path).unwrap();
    other.execute_batch("PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE").unwrap();
    let storage = impatient(&path, NEVER);
    put(&storage, "a").await;
    assert!(has(&storage, "a").await);
    let trouble = storage.trouble().unwrap();
    assert!(
        trouble.contains("another program has locked it") && trouble.contains("kept in memory"),
        "{trouble}"
    );
    assert_eq!(names(folder.path()).iter().filter(|it| it.contains("corrupt")).count(), 0);
}

#[tokio::test]
async fn r8_while_the_file_can_only_be_read_new_things_go_to_memory_and_later_to_the_file() {
    let folder = folder();
    let path = folder.path().join("onetool.db");
    let storage = impatient(&path, Duration::ZERO);
    put(&storage, "before").await;
    assert_eq!(storage.trouble(), None);
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    put(&storage, "during").await;
    assert!(storage.trouble().is_some());
    assert!(has(&storage, "during").await && has(&storage, "before").await, "reads reach both");
    other.execute_batch("COMMIT").unwrap();
    put(&storage, "after").await;
    assert_eq!(storage.trouble(), None, "the file is used again");
    drop(storage);
    let storage = Storage::at(path);
    for handle in ["before", "during", "after"] {
        assert!(has(&storage, handle).await, "{handle} is in the file");
    }
}

#[tokio::test]
async fn r8_a_full_disk_is_replaced_by_memory() {
    let folder = folder();
    let path = folder.path().join("onetool.db");
    let storage = impatient(&path, NEVER);
    put(&storage, "before").await;
    // A database that may not grow answers as a full disk does.
    storage.submit(|it| it.connection().pragma_update(None, "max_page_count", 1)).done().await.unwrap();
    let mut large = row("large");
    large.body = Some("text".repeat(100_000));
    storage.add_result(&Caller::default(), large).await.unwrap();
    let found = storage.result(&Caller::default(), "large").await.unwrap().unwrap();
    assert_eq!(found.body.unwrap().len(), 400_000);
    assert!(has(&storage, "before").await);
    assert!(storage.trouble().unwrap().contains("the disk is full"), "{:?}", storage.trouble());
}

#[tokio::test]
async fn r8_a_folder_that_cannot_be_written_is_replaced_by_memory() {
    let folder = folder();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    // The second is a folder that not even root can write to.
    for path in [file.join("onetool.db"), Path::new("/proc/self/task/onetool.db").to_owned()] {
        let storage = impatient(&path, NEVER);
        put(&storage, "a").await;
        assert!(has(&storage, "a").await);
        let trouble = storage.trouble().unwrap();
        assert!(trouble.contains(path.to_str().unwrap()) && trouble.contains("kept in memory"), "{trouble}");
    }
}

#[tokio::test]
async fn r8_a_read_only_file_is_read_and_not_changed() {
    let folder = folder();
    let path = folder.path().join("onetool.db");
    put(&Storage::at(path.clone()), "before").await;
    let storage = impatient(&path, NEVER);
    storage.submit(|it| it.connection().pragma_update(None, "query_only", true)).done().await.unwrap();
    put(&storage, "a").await;
    assert!(has(&storage, "a").await && has(&storage, "before").await);
    assert!(storage.trouble().unwrap().contains("it is read-only"), "{:?}", storage.trouble());
}

#[tokio::test]
async fn files_of_other_programs_and_of_newer_versions_are_left_alone() {
    let folder = folder();
    let path = folder.path().join("foreign.db");
    Connection::open(&path)
        .unwrap()
        .execute_batch("CREATE TABLE theirs (a); PRAGMA user_version = 1")
        .unwrap();
    let storage = impatient(&path, NEVER);
    put(&storage, "a").await;
    assert!(storage.trouble().unwrap().contains("another program"), "{:?}", storage.trouble());
    let tables: i64 = Connection::open(&path)
        .unwrap()
        .query_row("SELECT COUNT(*) FROM sqlite_schema", [], |row| row.get(0))
        .unwrap();
    assert_eq!(tables, 1);

    let path = folder.path().join("newer.db");
    put(&Storage::at(path.clone()), "a").await;
    Connection::open(&path).unwrap().execute_batch("PRAGMA user_version = 77").unwrap();
    let storage = impatient(&path, NEVER);
    put(&storage, "b").await;
    let trouble = storage.trouble().unwrap();
    assert!(trouble.contains("newer onetool (version 77 of the tables)"), "{trouble}");
}

#[test]
fn r8_trouble_is_said_once() {
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
    let storage = Storage::in_memory();
    let broken = storage.submit::<()>(|_| panic!("broken"));
    assert!(matches!(broken.done().await, Err(StorageError::Stopped)));
    put(&storage, "a").await;
    assert!(has(&storage, "a").await);
}

#[tokio::test]
async fn seam_17_results_take_no_more_than_configured_and_the_file_grows_no_further() {
    let folder = folder();
    let storage = Storage::at(folder.path().join("onetool.db"));
    assert_eq!(storage.file_size(), None, "it is made when it is needed");
    storage.set_max_results(2 << 20);
    let put = async |number: i64| {
        let mut row = row(&format!("r{number}"));
        row.info.created_at = Timestamp::from_millis(number);
        row.info.size_bytes = 1 << 20;
        row.body = Some("x".repeat(1 << 20));
        storage.add_result(&Caller::default(), row).await
    };
    for number in 0..30 {
        put(number).await.unwrap();
    }
    let readable = storage.results(&Caller::default(), Timestamp::from_millis(0)).await.unwrap();
    let handles: Vec<&str> = readable.iter().map(|it| it.handle.as_str()).collect();
    assert_eq!(handles, ["r29", "r28"]);
    let size = storage.file_size().unwrap();
    assert!(size < 15 << 20, "{size} bytes for 2 MB of results, the log of the last writes included");
    storage.set_max_results(1000);
    let error = put(30).await.unwrap_err().to_string();
    assert_eq!(error, "1048576 bytes are more than the storage can hold (1000 bytes)");
}

#[tokio::test]
async fn the_oldest_results_make_room_for_new_ones() {
    let folder = folder();
    let limits = Limits { in_file: 10, in_memory: 10, ..Limits::default() };
    for place in [Place::Memory, Place::File(folder.path().join("onetool.db"))] {
        let storage = Storage::new(place, limits);
        for (handle, created_at) in [("second", 2), ("first", 1), ("third", 3)] {
            let mut row = row(handle);
            row.info.created_at = Timestamp::from_millis(created_at);
            storage.add_result(&Caller::default(), row).await.unwrap();
        }
        assert!(has(&storage, "second").await && has(&storage, "third").await);
        let first = storage.result(&Caller::default(), "first").await.unwrap().unwrap();
        assert_eq!((first.body, first.info.expires_at), (None, Timestamp::from_millis(1)), "it has expired");
        let mut large = row("large");
        large.info.size_bytes = 11;
        let error = storage.add_result(&Caller::default(), large).await.unwrap_err();
        assert_eq!(error.to_string(), "11 bytes are more than the storage can hold (10 bytes)");
    }
}
