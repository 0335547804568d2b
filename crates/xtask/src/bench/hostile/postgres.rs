//! A PostgreSQL server whose administrator an agent gets to speak as.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::process::{self, Running};

/// Whom Debian calls `nobody`: the server does not start for root.
const NOBODY: u32 = 65534;

pub(super) struct Postgres {
    pub(super) url: String,
    /// Where the server may write.
    pub(super) folder: PathBuf,
    running: Running,
}

impl Postgres {
    pub(super) fn start(logs: &Path) -> Result<Self> {
        let programs = programs()?;
        // Its own directory: nobody cannot enter ours, and a socket's path has to be short.
        let folder = std::env::temp_dir().join(format!("onetool-hostile-{}", std::process::id()));
        fs::create_dir(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let is_root = fs::metadata("/proc/self")?.uid() == 0;
        if is_root {
            chown(&folder, Some(NOBODY), Some(NOBODY))?;
        }
        let command = |program: &str| {
            let mut command = Command::new(programs.join(program));
            command.current_dir(&folder).env("LC_ALL", "C.UTF-8").stdin(Stdio::null());
            if is_root {
                command.uid(NOBODY).gid(NOBODY);
            }
            command
        };
        let quiet = ["--username=ada", "--auth=trust", "--no-sync", "--encoding=UTF8", "--pgdata=data"];
        process::output(command("initdb").args(quiet))?;
        let log = fs::File::create(logs.join("postgres.log"))?;
        let mut server = command("postgres");
        server.args(["-D", "data", "-c", "listen_addresses=", "-c", "fsync=off", "-k"]).arg(&folder);
        let running = Running::spawn(server.stdout(log.try_clone()?).stderr(log))?;
        let deadline = Instant::now() + Duration::from_secs(30);
        while !process::works(programs.join("pg_isready"), &["-h", &folder.display().to_string()]) {
            if Instant::now() > deadline {
                bail!("PostgreSQL does not answer; see {}", logs.join("postgres.log").display());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let host = folder.display().to_string().replace('/', "%2F");
        Ok(Self { url: format!("postgresql://ada@{host}/postgres"), folder, running })
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // Nothing of it is wanted; a directory that stays is in /tmp.
        let _ = self.running.0.kill();
        let _ = self.running.0.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Returns the directory of Debian's PostgreSQL, which `cargo xtask install` provides.
fn programs() -> Result<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut found =
        versions.map(|version| version.path().join("bin")).filter(|it| it.join("initdb").exists());
    found.next().context("PostgreSQL is missing: `cargo xtask install` installs it")
}
