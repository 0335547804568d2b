//! A PostgreSQL server that agents access as its administrator.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use xtask::process::{self, Running};

/// Debian's user `nobody`: the server refuses to run as root.
const NOBODY: u32 = 65534;

pub(super) struct Postgres {
    pub(super) url: String,
    /// The directory that the server may write to.
    pub(super) directory: PathBuf,
    running: Running,
}

impl Postgres {
    pub(super) fn start(logs: &Path) -> Result<Self> {
        let programs = programs()?;
        // A separate directory: the user cannot enter ours, and the path of a socket must be short.
        let directory = std::env::temp_dir().join(format!("onetool-hostile-{}", std::process::id()));
        fs::create_dir(&directory).with_context(|| format!("cannot create {}", directory.display()))?;
        let is_root = fs::metadata("/proc/self")?.uid() == 0;
        if is_root {
            chown(&directory, Some(NOBODY), Some(NOBODY))?;
        }
        let command = |program: &str| {
            let mut command = Command::new(programs.join(program));
            command.current_dir(&directory).env("LC_ALL", "C.UTF-8").stdin(Stdio::null());
            if is_root {
                command.uid(NOBODY).gid(NOBODY);
            }
            command
        };
        let quiet = ["--username=ada", "--auth=trust", "--no-sync", "--encoding=UTF8", "--pgdata=data"];
        process::output(command("initdb").args(quiet))?;
        let log = fs::File::create(logs.join("postgres.log"))?;
        let mut server = command("postgres");
        server.args(["-D", "data", "-c", "listen_addresses=", "-c", "fsync=off", "-k"]).arg(&directory);
        let running = Running::spawn(server.stdout(log.try_clone()?).stderr(log))?;
        let deadline = Instant::now() + Duration::from_secs(30);
        while !process::works(programs.join("pg_isready"), &["-h", &directory.display().to_string()]) {
            if Instant::now() > deadline {
                bail!("PostgreSQL does not respond; see {}", logs.join("postgres.log").display());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let host = directory.display().to_string().replace('/', "%2F");
        Ok(Self { url: format!("postgresql://ada@{host}/postgres"), directory, running })
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // A leftover directory in /tmp is not a failure.
        let _ = self.running.0.kill();
        let _ = self.running.0.wait();
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// Returns the directory of Debian's PostgreSQL, which `cargo xtask install` installs.
fn programs() -> Result<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut found =
        versions.map(|version| version.path().join("bin")).filter(|it| it.join("initdb").exists());
    found.next().context("PostgreSQL is not installed: run `cargo xtask install`")
}
