//! `cargo xtask docs`: runs the `console` blocks in the documentation and compares their output (CONTRIBUTING.md).

mod page;
#[cfg(test)]
mod tests;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use xtask::cargo::{self, Profile, root};
use xtask::process::{self, Running};

use page::{Exchange, Item};

/// How long to wait for each line of a server's output.
const SERVER_TIMEOUT: Duration = Duration::from_secs(20);

/// The address in the pages; servers use a free port instead.
const SHOWN_ADDRESS: &str = "127.0.0.1:7411";

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Use the existing release binary, even if it is outdated
    #[arg(long)]
    no_build: bool,
    /// Write the actual output to the pages instead of comparing it
    #[arg(long)]
    bless: bool,
}

pub(crate) fn check() -> Result<()> {
    run(&Options { no_build: false, bless: false })
}

pub(crate) fn run(options: &Options) -> Result<()> {
    if !options.no_build {
        cargo::build_release(&["onetool"])?;
    }
    let binary = cargo::binary(Profile::Release, "onetool")?;
    let (mut run, mut marked) = (0, 0);
    let mut differences = Vec::new();
    for path in pages()? {
        let file = root().join(&path);
        let text = fs::read_to_string(&file).with_context(|| format!("cannot read {path}"))?;
        let items = page::read(&text).with_context(|| format!("cannot read the blocks of {path}"))?;
        if !items.iter().any(|item| matches!(item, Item::Console { .. } | Item::Skipped { .. })) {
            continue;
        }
        let mut session = Session::new(&binary)?;
        let mut found = Vec::new();
        for item in &items {
            match item {
                Item::Skipped { line, reason } => {
                    marked += 1;
                    println!("{path}:{line}: marked as not run: {reason}");
                }
                Item::Setup { line, script } => {
                    session.set_up(script).with_context(|| format!("{path}:{line}: setup failed"))?;
                }
                Item::Write { to, text } => session.write(to, text)?,
                Item::Console { line, server, exchanges } => {
                    let outputs = if *server { session.serve(exchanges) } else { session.run(exchanges) };
                    let outputs = outputs.with_context(|| format!("{path}:{line}"))?;
                    run += exchanges.len();
                    found.extend(
                        exchanges.iter().zip(outputs).filter(|(exchange, output)| !exchange.matches(output)),
                    );
                }
            }
        }
        if options.bless && !found.is_empty() {
            fs::write(&file, page::with_outputs(&text, &found))
                .with_context(|| format!("cannot write {path}"))?;
            println!("wrote {path}");
        } else {
            differences.extend(found.iter().map(|(exchange, output)| difference(&path, exchange, output)));
        }
    }
    if differences.is_empty() {
        println!("docs: the output of {run} commands matches; {marked} blocks are marked as not run");
        return Ok(());
    }
    for difference in &differences {
        println!("{difference}");
    }
    bail!(
        "the output of {} of {run} commands differs: fix it, or run `cargo xtask docs --bless`",
        differences.len()
    )
}

/// Returns README.md and the pages directly under docs/.
fn pages() -> Result<Vec<String>> {
    let mut pages = vec!["README.md".to_owned()];
    for entry in fs::read_dir(root().join("docs")).context("cannot list docs")? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if Path::new(&name).extension().is_some_and(|extension| extension == "md") {
            pages.push(format!("docs/{name}"));
        }
    }
    pages.sort();
    Ok(pages)
}

fn difference(path: &str, exchange: &Exchange, output: &[String]) -> String {
    let indent =
        |lines: &[String]| lines.iter().fold(String::new(), |text, line| text + "    " + line + "\n");
    format!(
        "{path}:{}: `{}`\n  expected:\n{}  actual:\n{}",
        exchange.line,
        exchange.command,
        indent(&exchange.expected),
        indent(output)
    )
}

/// The shell session of one page: all its blocks share a home directory and a project, empty at first.
struct Session {
    scratch: PathBuf,
    directory: PathBuf,
    /// The server that a block started; it runs until the end of the page.
    server: Option<Server>,
}

struct Server {
    /// Its address with the actual port.
    address: String,
    _process: Running,
}

impl Session {
    fn new(binary: &Path) -> Result<Self> {
        let scratch = std::env::temp_dir().join(format!("onetool-docs-{}", std::process::id()));
        let directory = scratch.join("home/ada/my-project");
        let session = Self { scratch, directory, server: None };
        fs::create_dir_all(&session.directory).context("cannot create a scratch directory")?;
        fs::create_dir_all(session.scratch.join("bin"))?;
        std::os::unix::fs::symlink(binary, session.scratch.join("bin/onetool"))
            .context("cannot link the release binary")?;
        Ok(session)
    }

    /// Returns a shell with a timeout, for commands that should not wait.
    fn shell(&self, script: &str) -> Command {
        let mut command = self.program("timeout");
        command.args(["60", "sh", "-c", script]);
        command
    }

    /// Returns a command with only the variables that the pages rely on.
    fn program(&self, name: &str) -> Command {
        let mut command = Command::new(name);
        command
            .current_dir(&self.directory)
            .env_clear()
            .env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", self.scratch.join("bin").display()))
            .env("HOME", self.scratch.join("home/ada"))
            .env("LANG", "C.UTF-8")
            .stdin(Stdio::null());
        command
    }

    fn set_up(&self, script: &str) -> Result<()> {
        let output =
            self.shell(&format!("exec 2>&1\nset -e\n{script}")).output().context("cannot start sh")?;
        if !output.status.success() {
            bail!("{}", String::from_utf8_lossy(&output.stdout).trim_end());
        }
        Ok(())
    }

    fn write(&self, to: &str, text: &str) -> Result<()> {
        let path = self.directory.join(to);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&path, text).with_context(|| format!("cannot write {to}"))
    }

    /// Runs the commands of a block in one shell, and returns the output lines of each.
    fn run(&mut self, exchanges: &[Exchange]) -> Result<Vec<Vec<String>>> {
        let mut script = "exec 2>&1\n".to_owned();
        for exchange in exchanges {
            script += &self.on_server(&exchange.command);
            script += "\nprintf '\\036'\n";
        }
        script += "pwd";
        let output = process::output(&mut self.shell(&script))?;
        let mut parts: Vec<&str> = output.split('\u{1e}').collect();
        if parts.len() != exchanges.len() + 1 {
            bail!("the shell exited before the last command:\n{output}");
        }
        self.directory = parts.pop().unwrap_or_default().trim_end().into();
        Ok(parts.into_iter().map(|part| part.lines().map(|line| self.shown(line)).collect()).collect())
    }

    /// Starts the command of a block on a free port, and returns as many output lines as the page shows.
    fn serve(&mut self, exchanges: &[Exchange]) -> Result<Vec<Vec<String>>> {
        let [exchange] = exchanges else { bail!("a block that starts a server has exactly one command") };
        let script = format!("exec 2>&1\nexec {} 127.0.0.1:0", exchange.command);
        // Without `timeout`, so that the killed process is the server.
        let mut process = Running::spawn(self.program("sh").args(["-c", &script]).stdout(Stdio::piped()))?;
        let stdout = process.0.stdout.take().context("invariant: stdout is piped")?;
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            // Keep reading, or later output would fill the pipe.
            BufReader::new(stdout).lines().map_while(Result::ok).for_each(|line| drop(sender.send(line)));
        });
        let mut output: Vec<String> = Vec::new();
        while output.len() < exchange.expected.len() {
            let Ok(line) = lines.recv_timeout(SERVER_TIMEOUT) else { break };
            output.push(line);
        }
        let address = output.iter().find_map(|line| address(line)).unwrap_or_default().to_owned();
        self.server = Some(Server { address, _process: process });
        Ok(vec![output.iter().map(|line| self.shown(line)).collect()])
    }

    /// Replaces the address in the pages with that of the running server.
    fn on_server(&self, command: &str) -> String {
        self.server
            .as_ref()
            .map_or_else(|| command.to_owned(), |server| command.replace(SHOWN_ADDRESS, &server.address))
    }

    /// Replaces the scratch directory and the server's port with what the pages show.
    fn shown(&self, line: &str) -> String {
        let line = line.replace(&*self.scratch.to_string_lossy(), "");
        let line = self
            .server
            .as_ref()
            .map_or_else(|| line.clone(), |server| line.replace(&server.address, SHOWN_ADDRESS));
        line.trim_end().to_owned()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // A leftover scratch directory is not a failure.
        let _ = fs::remove_dir_all(&self.scratch);
    }
}

/// Returns the loopback address and port in a line.
fn address(line: &str) -> Option<&str> {
    const HOST: &str = "127.0.0.1:";
    let rest = &line[line.find(HOST)?..];
    let end = rest[HOST.len()..]
        .find(|c: char| !c.is_ascii_digit())
        .map_or(rest.len(), |digits| HOST.len() + digits);
    Some(&rest[..end])
}
