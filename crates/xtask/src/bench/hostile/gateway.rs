//! The gateway that is attacked: started with a limit on memory, watched, killed at the end.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::process::Running;

/// The token of the innocent client and of the attackers: an agent has one.
pub(super) const TOKEN: &str = "token-of-the-hostile-run";

pub(super) struct Gateway {
    /// Where MCP is.
    pub(super) url: String,
    running: Running,
    log: PathBuf,
    limit: Option<MemoryLimit>,
}

impl Gateway {
    pub(super) fn start(onetool: &Path, config: &Path, memory: u64) -> Result<Self> {
        let limit = MemoryLimit::new(memory);
        let mut command = match &limit {
            Ok(limit) => limit.command(onetool),
            Err(missing) => {
                println!("NOT LIMITED: {missing:#}; run it as root. Only the gateway's own peak is checked.");
                Command::new(onetool)
            }
        };
        let log = config.with_file_name("log");
        let running = Running::spawn(
            command
                .args(["serve", "--http", "127.0.0.1:0", "--config"])
                .arg(config)
                .env("ONETOOL_LOG", "debug")
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(fs::File::create(&log)?),
        )?;
        let mut gateway = Self { url: String::new(), running, log, limit: limit.ok() };
        gateway.url = gateway.announced()?;
        Ok(gateway)
    }

    /// Waits for the line with the address.
    fn announced(&mut self) -> Result<String> {
        let deadline = Instant::now() + Duration::from_secs(30);
        loop {
            let log = self.log()?;
            if let Some(url) = log.lines().find_map(|line| line.trim().strip_prefix("MCP: ")) {
                return Ok(url.trim().to_owned());
            }
            let has_ended = self.running.0.try_wait()?.is_some();
            if has_ended || Instant::now() > deadline {
                bail!("the gateway did not start; it said:\n{log}");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Returns `HOST:PORT`.
    pub(super) fn address(&self) -> &str {
        self.url.trim_start_matches("http://").trim_end_matches("/mcp")
    }

    /// Returns all that it has logged, at the level `debug`.
    pub(super) fn log(&self) -> Result<String> {
        let log = fs::read(&self.log).with_context(|| format!("cannot read {}", self.log.display()))?;
        Ok(String::from_utf8_lossy(&log).into_owned())
    }

    /// Lets the peak begin where memory stands now.
    pub(super) fn forget_peak(&self) -> Result<()> {
        fs::write(self.proc("clear_refs"), "5").context("the gateway is gone")
    }

    /// Returns the most memory that the gateway itself had resident, in kB.
    pub(super) fn peak_kb(&self) -> Result<u64> {
        let status = fs::read_to_string(self.proc("status")).context("the gateway is gone")?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let peak = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse().ok());
        peak.context("/proc/PID/status has no VmHWM")
    }

    fn proc(&self, file: &str) -> PathBuf {
        PathBuf::from(format!("/proc/{}/{file}", self.running.0.id()))
    }

    /// Kills the gateway as the kernel would; nothing that it started may be there a moment later.
    pub(super) fn kill(self) -> Result<()> {
        drop(self.running);
        let Some(limit) = self.limit else { return Ok(()) };
        let deadline = Instant::now() + Duration::from_secs(5);
        loop {
            let left = limit.processes()?;
            if left.is_empty() {
                return Ok(());
            }
            if Instant::now() > deadline {
                bail!("these processes outlived the gateway: {}", left.join(", "));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

/// A control group whose processes share a limit on memory.
struct MemoryLimit {
    directory: PathBuf,
}

impl MemoryLimit {
    fn new(bytes: u64) -> Result<Self> {
        let root = Path::new("/sys/fs/cgroup");
        let is_second = root.join("cgroup.controllers").exists();
        let (parent, file) = if is_second {
            (root.to_owned(), "memory.max")
        } else {
            (root.join("memory"), "memory.limit_in_bytes")
        };
        let limit = Self { directory: parent.join(format!("onetool-hostile-{}", std::process::id())) };
        fs::create_dir(&limit.directory)
            .with_context(|| format!("cannot make the control group {}", limit.directory.display()))?;
        let path = limit.directory.join(file);
        fs::write(&path, bytes.to_string()).with_context(|| format!("cannot write {}", path.display()))?;
        if is_second {
            // Without swap, or it would only get slow.
            let _ = fs::write(limit.directory.join("memory.swap.max"), "0");
        }
        Ok(limit)
    }

    /// Makes a command that enters the group and becomes the program.
    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", "echo $$ > \"$0\" && exec \"$@\""]).arg(self.directory.join("cgroup.procs"));
        command.arg(program);
        command
    }

    /// Names the processes in the group.
    fn processes(&self) -> Result<Vec<String>> {
        let ids = fs::read_to_string(self.directory.join("cgroup.procs"))?;
        let name = |id: &str| fs::read_to_string(format!("/proc/{id}/cmdline")).unwrap_or_default();
        Ok(ids.lines().map(|id| format!("{id} {}", name(id).replace('\0', " "))).collect())
    }
}

impl Drop for MemoryLimit {
    fn drop(&mut self) {
        // Fails only while there are processes in it, of which somebody has been told.
        let _ = fs::remove_dir(&self.directory);
    }
}
