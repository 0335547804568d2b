//! Everything that lasts: one SQLite file, or memory where there is no file or it cannot be used.
//!
//! The other rooms see rows and never SQL, so that another database can stand behind this one.

mod database;
mod error;
mod events;
mod openings;
mod remembered;
mod results;
mod schema;
mod worker;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;

use onetool_core::sync::Unpoisoned as _;
use tokio::sync::oneshot;

pub use error::StorageError;
pub use events::{DaySum, EventSums, ToolSum};
pub use results::{ResultPart, ResultRow, ResultRowInfo};

use database::Database;
use worker::{Trouble, Worker};

/// Keeps what has to outlive a call; clones share it.
///
/// The database is opened by the first use, on a thread of its own, so neither the start nor the runtime waits for
/// it. A file that cannot be used (full disk, read-only folder, locked, written by another program) is replaced by
/// memory, and tried again now and then; a corrupt one is kept aside and begun anew. [`Storage::trouble`] tells.
#[derive(Debug, Clone)]
pub struct Storage(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    place: Mutex<Place>,
    limits: Limits,
    /// What the configuration lets all stored results take together, in bytes.
    max_results: AtomicU64,
    trouble: Arc<Trouble>,
    jobs: OnceLock<Sender<worker::Job>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    File(PathBuf),
    Memory,
}

#[derive(Debug, Clone, Copy)]
struct Limits {
    /// How long to wait while another program holds a lock.
    busy: Duration,
    /// How long memory stands in for the file before it is tried again.
    retry: Duration,
    /// What all stored results may take together in the file, in bytes; the oldest make room for new ones.
    in_file: u64,
    /// The same in memory.
    in_memory: u64,
}

impl Default for Limits {
    fn default() -> Self {
        let (busy, retry) = (Duration::from_secs(2), Duration::from_secs(30));
        Self { busy, retry, in_file: 1 << 30, in_memory: 256 << 20 }
    }
}

/// The answer of a job that was handed in; jobs run in the order in which they were handed in.
pub struct Pending<T>(oneshot::Receiver<Result<T, StorageError>>);

impl<T> Pending<T> {
    /// Waits until the job is done.
    ///
    /// # Errors
    /// When it could not be done.
    pub async fn done(self) -> Result<T, StorageError> {
        self.0.await.unwrap_or(Err(StorageError::Stopped))
    }
}

impl Storage {
    /// Keeps everything in the SQLite file `path`, which is made when it is first needed.
    pub fn at(path: PathBuf) -> Self {
        Self::new(Place::File(path), Limits::default())
    }

    /// Keeps everything in memory, until the last clone is gone.
    pub fn in_memory() -> Self {
        Self::new(Place::Memory, Limits::default())
    }

    fn new(place: Place, limits: Limits) -> Self {
        Self(Arc::new(Shared {
            place: Mutex::new(place),
            limits,
            max_results: AtomicU64::new(u64::MAX),
            trouble: Arc::default(),
            jobs: OnceLock::new(),
        }))
    }

    /// Keeps everything in another file (or memory) from now on, once what was handed in so far is done. What is in the
    /// old place stays there.
    pub fn move_to(&self, path: Option<PathBuf>) {
        let place = path.map_or(Place::Memory, Place::File);
        // The lock is held until the job is in the queue, so that the last of several moves is the last job, too.
        let mut current = self.place();
        if *current == place {
            return;
        }
        *current = place.clone();
        if let Some(jobs) = self.0.jobs.get() {
            // Where the thread is gone there is nothing to move.
            let _ = jobs.send(Box::new(move |worker| worker.move_to(place)));
        }
    }

    /// Bounds what all stored results take together from the next one on.
    pub fn set_max_results(&self, bytes: u64) {
        self.0.max_results.store(bytes, Ordering::Relaxed);
    }

    /// Returns how large the file is, its log included; nothing where there is none.
    pub fn file_size(&self) -> Option<u64> {
        let Place::File(path) = self.place().clone() else { return None };
        let log = path.with_extension("db-wal");
        let size = |path: &Path| std::fs::metadata(path).map(|it| it.len()).ok();
        Some(size(&path)? + size(&log).unwrap_or_default())
    }

    fn place(&self) -> MutexGuard<'_, Place> {
        self.0.place.lock().unpoisoned()
    }

    /// Returns what is wrong with the file at present, and what that means for what is kept.
    pub fn trouble(&self) -> Option<String> {
        self.0.trouble.text()
    }

    /// Opens the database now, so that [`Storage::trouble`] tells the truth before anything is kept.
    ///
    /// # Errors
    /// When there is not even memory.
    pub async fn open(&self) -> Result<(), StorageError> {
        self.submit(|_| Ok(())).done().await
    }

    /// Does what was handed in so far and closes the file, which folds its log away; the next use opens it again.
    pub async fn close(&self) {
        let Some(jobs) = self.0.jobs.get() else { return };
        let (reply, closed) = oneshot::channel();
        let job: worker::Job = Box::new(move |worker| {
            worker.close();
            let _ = reply.send(());
        });
        if jobs.send(job).is_ok() {
            let _ = closed.await;
        }
    }

    /// Hands in a job without waiting for it. It may run twice: again where the first attempt failed with the file.
    fn submit<T: Send + 'static>(
        &self,
        job: impl Fn(&Database) -> rusqlite::Result<T> + Send + 'static,
    ) -> Pending<T> {
        let (reply, pending) = oneshot::channel();
        let job: worker::Job = Box::new(move |worker| {
            let answer = worker.run(&job);
            drop(job);
            let _ = reply.send(answer);
        });
        // Where the thread is gone the reply is dropped with the job, and that is the answer.
        let _ = self.0.jobs.get_or_init(|| self.start()).send(job);
        Pending(pending)
    }

    fn start(&self) -> Sender<worker::Job> {
        let (sender, receiver) = mpsc::channel();
        let worker = Worker::new(self.place().clone(), self.0.limits, self.0.trouble.clone());
        let thread = std::thread::Builder::new().name("onetool-storage".into());
        if let Err(error) = thread.spawn(move || worker.serve(receiver)) {
            tracing::error!("cannot start the thread of the storage: {error}");
        }
        sender
    }
}
