//! The thread that owns the database, and what it does when the file fails.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use onetool_core::clock::Clock;
use onetool_core::state::StoreError;
use onetool_core::sync::Unpoisoned as _;

use super::database::{self, Database, OpenError};
use super::{Limits, Place};

/// How long an attempt to return to the file may wait for a lock; everything else waits meanwhile.
const BUSY_ON_RETURN: Duration = Duration::from_millis(100);

pub(super) type Job = Box<dyn FnOnce(&mut Worker) + Send>;

/// What is wrong at present.
#[derive(Debug, Default)]
pub(super) struct Problem(Mutex<Reported>);

#[derive(Debug, Default)]
struct Reported {
    now: Option<String>,
    last: Option<String>,
}

impl Problem {
    pub(super) fn text(&self) -> Option<String> {
        self.0.lock().unpoisoned().now.clone()
    }

    /// Reports a problem in the log, unless it is the one that was reported last.
    fn set(&self, text: String) {
        let mut reported = self.0.lock().unpoisoned();
        if reported.last.as_ref() != Some(&text) {
            tracing::warn!("{text}");
            reported.last = Some(text.clone());
        }
        reported.now = Some(text);
    }

    fn clear(&self) {
        self.0.lock().unpoisoned().now = None;
    }
}

/// Owns the database. It is opened by the first job.
pub(super) struct Worker {
    place: Place,
    limits: Limits,
    problem: Arc<Problem>,
    database: Option<Database>,
    /// When to try the file again, while memory replaces it.
    return_at: Option<Instant>,
    has_renamed: bool,
}

impl Worker {
    pub(super) fn new(place: Place, limits: Limits, problem: Arc<Problem>) -> Self {
        Self { place, limits, problem, database: None, return_at: None, has_renamed: false }
    }

    /// Does one job after the other until there can be no more.
    pub(super) fn serve(mut self, jobs: Receiver<Job>) {
        while let Ok(job) = jobs.recv() {
            if catch_unwind(AssertUnwindSafe(|| job(&mut self))).is_err() {
                tracing::error!("a job of the store panicked");
            }
        }
    }

    /// Runs a job, and again if the file fails and something else can replace it.
    pub(super) fn run<T>(&mut self, job: &dyn Fn(&Database) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        self.return_to_file();
        loop {
            let database = match self.database.take() {
                Some(open) => open,
                None => self.open()?,
            };
            match job(self.database.insert(database)) {
                Ok(done) => return Ok(done),
                Err(error) if database::is_file_problem(&error) => self.replace(error)?,
                Err(error) => return Err(failed(error)),
            }
        }
    }

    /// Closes the file. Memory stays, because closing it would lose everything.
    pub(super) fn close(&mut self) {
        self.database = self.database.take().filter(|database| !database.is_file());
    }

    fn open(&mut self) -> Result<Database, StoreError> {
        let Place::File(path) = self.place.clone() else { return Database::in_memory().map_err(failed) };
        let error = match Database::open(&path, self.limits.busy) {
            Ok(database) => return Ok(database),
            Err(error) => error,
        };
        if error.is_corruption()
            && let Some(database) = self.start_over(&path, &error)
        {
            return Ok(database);
        }
        self.memory_instead(&path, &error)
    }

    /// Replaces the database that just failed. Each step leaves fewer that can fail.
    fn replace(&mut self, error: rusqlite::Error) -> Result<(), StoreError> {
        let (Place::File(path), Some(mut broken)) = (self.place.clone(), self.database.take()) else {
            return Err(failed(error));
        };
        if broken.is_over_file() {
            broken.detach().map_err(failed)?;
            self.database = Some(broken);
            return Ok(());
        }
        if !broken.is_file() {
            self.database = Some(broken);
            return Err(failed(error));
        }
        drop(broken);
        let error = OpenError::from(error);
        if error.is_corruption()
            && is_really_corrupt(&path, self.limits.busy)
            && let Some(database) = self.start_over(&path, &error)
        {
            self.database = Some(database);
            return Ok(());
        }
        self.database = Some(self.memory_instead(&path, &error)?);
        Ok(())
    }

    /// Renames a corrupt file and starts a new one, once: a disk that corrupts this one too is not trusted again.
    fn start_over(&mut self, path: &Path, error: &OpenError) -> Option<Database> {
        if std::mem::replace(&mut self.has_renamed, true) {
            return None;
        }
        let stamp = Clock::system().now().to_rfc3339().replace([':', '.'], "-");
        let renamed = database::rename_corrupt(path, &stamp).ok()?;
        let database = Database::open(path, self.limits.busy).ok()?;
        self.problem.set(format!(
            "cannot use the database '{}': {error}; it was renamed to '{}', and a new one was created",
            path.display(),
            renamed.display()
        ));
        Some(database)
    }

    fn memory_instead(&mut self, path: &Path, error: &OpenError) -> Result<Database, StoreError> {
        self.problem.set(format!(
            "cannot use the database '{}': {error}; stored results and statistics are kept in memory, and are \
             lost when the gateway stops before the file can be used again",
            path.display()
        ));
        self.return_at = Some(Instant::now() + self.limits.retry);
        let mut memory = Database::in_memory().map_err(failed)?;
        // What can still be read there stays readable; if nothing can, the report says enough.
        let _ = memory.attach(path, BUSY_ON_RETURN);
        Ok(memory)
    }

    /// Returns to the file with everything that was kept in memory meanwhile, if it is time to try and it works.
    fn return_to_file(&mut self) {
        let due = self.return_at.is_some_and(|at| at <= Instant::now());
        let (true, Place::File(path), Some(memory)) = (due, self.place.clone(), self.database.as_mut())
        else {
            return;
        };
        self.return_at = Some(Instant::now() + self.limits.retry);
        match copy_back(memory, &path) {
            Ok(file) => {
                tracing::info!("the database '{}' can be used again", path.display());
                self.database = Some(file);
                self.return_at = None;
                self.problem.clear();
            }
            Err(error) => tracing::debug!("the database '{}' still cannot be used: {error}", path.display()),
        }
    }
}

fn copy_back(memory: &mut Database, path: &Path) -> Result<Database, OpenError> {
    let file = Database::open(path, BUSY_ON_RETURN)?;
    if !memory.is_over_file() {
        memory.attach(path, BUSY_ON_RETURN)?;
    }
    memory.copy_into_file()?;
    Ok(file)
}

/// Checks again with a new connection: another gateway may have started a new file, or the disk failed only once.
fn is_really_corrupt(path: &Path, busy: Duration) -> bool {
    match Database::open(path, busy) {
        Ok(database) => !database.is_intact(),
        Err(error) => error.is_corruption(),
    }
}

fn failed(error: rusqlite::Error) -> StoreError {
    StoreError::Failed(Box::new(error))
}
