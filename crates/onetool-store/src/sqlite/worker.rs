//! The thread that owns the database, and what it does when the file fails.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::database::{self, Database, OpenError};
use super::{Limits, Place, StorageError};
use onetool_core::clock::Clock;
use onetool_core::sync::Unpoisoned as _;

/// How long an attempt to return to the file may wait for a lock: nobody is helped if everything else waits too.
const BUSY_ON_RETURN: Duration = Duration::from_millis(100);

pub(super) type Job = Box<dyn FnOnce(&mut Worker) + Send>;

/// What is wrong at present, for everybody to read.
#[derive(Debug, Default)]
pub(super) struct Trouble(Mutex<Said>);

#[derive(Debug, Default)]
struct Said {
    now: Option<String>,
    last: Option<String>,
}

impl Trouble {
    pub(super) fn text(&self) -> Option<String> {
        self.0.lock().unpoisoned().now.clone()
    }

    /// Says it in the log, unless it was the last thing said.
    fn set(&self, text: String) {
        let mut said = self.0.lock().unpoisoned();
        if said.last.as_ref() != Some(&text) {
            tracing::warn!("{text}");
            said.last = Some(text.clone());
        }
        said.now = Some(text);
    }

    fn clear(&self) {
        self.0.lock().unpoisoned().now = None;
    }
}

/// Owns the database. It is opened by the first job.
pub(super) struct Worker {
    place: Place,
    limits: Limits,
    trouble: Arc<Trouble>,
    database: Option<Database>,
    /// When to try the file again, while memory stands in for it.
    return_at: Option<Instant>,
    has_set_aside: bool,
}

impl Worker {
    pub(super) fn new(place: Place, limits: Limits, trouble: Arc<Trouble>) -> Self {
        Self { place, limits, trouble, database: None, return_at: None, has_set_aside: false }
    }

    /// Does one job after the other until nobody can send any more.
    pub(super) fn serve(mut self, jobs: Receiver<Job>) {
        while let Ok(job) = jobs.recv() {
            if catch_unwind(AssertUnwindSafe(|| job(&mut self))).is_err() {
                tracing::error!("a job of the storage panicked");
            }
        }
    }

    /// Runs a job, once more where the file fails and something else can stand in for it.
    pub(super) fn run<T>(
        &mut self,
        job: &dyn Fn(&Database) -> rusqlite::Result<T>,
    ) -> Result<T, StorageError> {
        self.return_to_file();
        loop {
            let database = match self.database.take() {
                Some(open) => open,
                None => self.open()?,
            };
            match job(self.database.insert(database)) {
                Ok(done) => return Ok(done),
                Err(error) if database::is_trouble(&error) => self.give_way(error)?,
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Goes on in another place; what is wrong with the old one does not matter any more.
    pub(super) fn move_to(&mut self, place: Place) {
        self.trouble.clear();
        let (limits, trouble) = (self.limits, self.trouble.clone());
        *self = Self::new(place, limits, trouble);
    }

    /// Closes the file; memory stays, there would be nothing left of it.
    pub(super) fn close(&mut self) {
        self.database = self.database.take().filter(|database| !database.is_file());
    }

    fn open(&mut self) -> Result<Database, StorageError> {
        let Place::File(path) = self.place.clone() else { return Ok(Database::in_memory()?) };
        let error = match Database::open(&path, self.limits.busy) {
            Ok(database) => return Ok(database),
            Err(error) => error,
        };
        if error.is_corruption()
            && let Some(database) = self.start_anew(&path, &error)
        {
            return Ok(database);
        }
        self.memory_instead(&path, &error)
    }

    /// Finds something that works better than the database that just failed; each step leaves fewer to fail.
    fn give_way(&mut self, error: rusqlite::Error) -> Result<(), StorageError> {
        let (Place::File(path), Some(mut failed)) = (self.place.clone(), self.database.take()) else {
            return Err(error.into());
        };
        if failed.is_over_file() {
            failed.detach()?;
            self.database = Some(failed);
            return Ok(());
        }
        if !failed.is_file() {
            self.database = Some(failed);
            return Err(error.into());
        }
        drop(failed);
        let error = OpenError::from(error);
        if error.is_corruption()
            && is_really_corrupt(&path, self.limits.busy)
            && let Some(database) = self.start_anew(&path, &error)
        {
            self.database = Some(database);
            return Ok(());
        }
        self.database = Some(self.memory_instead(&path, &error)?);
        Ok(())
    }

    /// Keeps a corrupt file aside and begins a new one, once: a disk that spoils that one too is not trusted again.
    fn start_anew(&mut self, path: &Path, error: &OpenError) -> Option<Database> {
        if std::mem::replace(&mut self.has_set_aside, true) {
            return None;
        }
        let stamp = Clock::system().now().to_rfc3339().replace([':', '.'], "-");
        let aside = database::set_aside(path, &stamp).ok()?;
        let database = Database::open(path, self.limits.busy).ok()?;
        self.trouble.set(format!(
            "cannot use the database '{}': {error}; it is kept as '{}', and a new one was begun",
            path.display(),
            aside.display()
        ));
        Some(database)
    }

    fn memory_instead(&mut self, path: &Path, error: &OpenError) -> Result<Database, StorageError> {
        self.trouble.set(format!(
            "cannot use the database '{}': {error}; stored results and statistics are kept in memory, and are \
             lost when the gateway stops before the file can be used again",
            path.display()
        ));
        self.return_at = Some(Instant::now() + self.limits.retry);
        let mut memory = Database::in_memory()?;
        // What can still be read there stays readable; where that fails too, there is nothing to add.
        let _ = memory.attach(path, BUSY_ON_RETURN);
        Ok(memory)
    }

    /// Goes back to the file, with all that was kept in memory meanwhile, when it is time to try and it works.
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
                self.trouble.clear();
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

/// Looks again with fresh eyes: another gateway may have begun a new file, or the disk stumbled only once.
fn is_really_corrupt(path: &Path, busy: Duration) -> bool {
    match Database::open(path, busy) {
        Ok(database) => !database.is_sound(),
        Err(error) => error.is_corruption(),
    }
}
