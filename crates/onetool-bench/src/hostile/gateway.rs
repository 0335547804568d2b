//! The gateway under attack: started with a memory limit, watched, killed at the end.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use xtask::process::Running;

/// The access token of the innocent client and of the attackers, which every agent has.
pub(super) const TOKEN: &str = "token-of-the-hostile-run";

pub(super) struct Gateway {
    /// The URL of its MCP endpoint.
    pub(super) url: String,
    running: Running,
    log: PathBuf,
    limit: Option<MemoryLimit>,
}

impl Gateway {
    pub(super) fn start(onetool: &Path, config: &Path, memory: Option<u64>) -> Result<Self> {
        let limit = memory.map(MemoryLimit::new).transpose();
        let limit = limit.context("cannot limit memory: run as root, or with --no-memory-limit")?;
        let mut command = match &limit {
            Some(limit) => limit.command(onetool),
            None => Command::new(onetool),
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
        let mut gateway = Self { url: String::new(), running, log, limit };
        gateway.url = gateway.wait_for_url()?;
        Ok(gateway)
    }

    /// Waits for the log line with the URL.
    fn wait_for_url(&mut self) -> Result<String> {
        let deadline = Instant::now() + Duration::from_secs(30);
        loop {
            let log = self.log()?;
            if let Some(url) = log.lines().find_map(|line| line.trim().strip_prefix("MCP: ")) {
                return Ok(url.trim().to_owned());
            }
            let has_exited = self.running.0.try_wait()?.is_some();
            if has_exited || Instant::now() > deadline {
                bail!("the gateway did not start; its log:\n{log}");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Returns `HOST:PORT`.
    pub(super) fn address(&self) -> &str {
        self.url.trim_start_matches("http://").trim_end_matches("/mcp")
    }

    /// Returns its log, at the level `debug`.
    pub(super) fn log(&self) -> Result<String> {
        let log = fs::read(&self.log).with_context(|| format!("cannot read {}", self.log.display()))?;
        Ok(String::from_utf8_lossy(&log).into_owned())
    }

    /// Resets the peak to the current memory.
    pub(super) fn reset_peak(&self) -> Result<()> {
        fs::write(self.proc("clear_refs"), "5").context("the gateway has exited")
    }

    /// Returns the peak of the gateway's resident memory, in kB.
    pub(super) fn peak_kb(&self) -> Result<u64> {
        let status = fs::read_to_string(self.proc("status")).context("the gateway has exited")?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let peak = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse().ok());
        peak.context("/proc/PID/status has no VmHWM")
    }

    fn proc(&self, file: &str) -> PathBuf {
        PathBuf::from(format!("/proc/{}/{file}", self.running.0.id()))
    }

    /// Kills the gateway; all its child processes must exit soon.
    pub(super) fn kill(self) -> Result<()> {
        drop(self.running);
        let Some(limit) = self.limit else { return Ok(()) };
        let deadline = Instant::now() + Duration::from_secs(5);
        loop {
            let remaining = limit.processes()?;
            if remaining.is_empty() {
                return Ok(());
            }
            if Instant::now() > deadline {
                bail!("these processes outlived the gateway: {}", remaining.join(", "));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

/// A control group whose processes share a memory limit.
struct MemoryLimit {
    directory: PathBuf,
}

impl MemoryLimit {
    fn new(bytes: u64) -> Result<Self> {
        let root = Path::new("/sys/fs/cgroup");
        let is_version_2 = root.join("cgroup.controllers").exists();
        let (parent, file) = if is_version_2 {
            (root.to_owned(), "memory.max")
        } else {
            (root.join("memory"), "memory.limit_in_bytes")
        };
        let limit = Self { directory: parent.join(format!("onetool-hostile-{}", std::process::id())) };
        fs::create_dir(&limit.directory)
            .with_context(|| format!("cannot create the control group {}", limit.directory.display()))?;
        let path = limit.directory.join(file);
        fs::write(&path, bytes.to_string()).with_context(|| format!("cannot write {}", path.display()))?;
        if is_version_2 {
            // Without swap, or it would get slow instead of failing.
            let _ = fs::write(limit.directory.join("memory.swap.max"), "0");
        }
        Ok(limit)
    }

    /// Returns a command that enters the group and runs the program.
    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", "echo $$ > \"$0\" && exec \"$@\""]).arg(self.directory.join("cgroup.procs"));
        command.arg(program);
        command
    }

    /// Returns the ids and command lines of the processes in the group.
    fn processes(&self) -> Result<Vec<String>> {
        let ids = fs::read_to_string(self.directory.join("cgroup.procs"))?;
        let name = |id: &str| fs::read_to_string(format!("/proc/{id}/cmdline")).unwrap_or_default();
        Ok(ids.lines().map(|id| format!("{id} {}", name(id).replace('\0', " "))).collect())
    }
}

impl Drop for MemoryLimit {
    fn drop(&mut self) {
        // Fails only if processes remain, which `kill` has reported.
        let _ = fs::remove_dir(&self.directory);
    }
}
