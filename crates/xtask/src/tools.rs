//! What comes from npm and PyPI: pinned in `tests/outside`, `tests/clients`, `tests/browser` and `crates/onetool-web`,
//! installed under `~/.cache/onetool`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::cargo::root;
use crate::process;

/// The Node that the conformance package needs, and the version installed when there is an older one.
const NODE_OLDEST: u32 = 22;
const NODE_VERSION: &str = "22.23.3";

/// A Python environment with its own pinned packages.
#[derive(Clone, Copy)]
pub(crate) enum Venv {
    /// The first generation of the official client.
    Mcp1,
    /// The second one.
    Mcp,
    /// A client, the peer of the start-up measurement, and a real server made with it.
    Fastmcp,
    /// Real servers for the gateway.
    Upstreams,
    /// Real servers on an old version of the SDK.
    UpstreamsOld,
}

/// How to run the conformance suite.
pub(crate) struct Conformance {
    pub(crate) node: PathBuf,
    pub(crate) script: PathBuf,
}

/// Real servers for the gateway, the official TypeScript client, and a Node that runs them.
pub(crate) struct Upstreams {
    pub(crate) node: PathBuf,
    /// The folder with `node_modules`.
    pub(crate) packages: PathBuf,
    /// The folders with the programs from PyPI.
    pub(crate) programs: [PathBuf; 3],
}

/// Real clients for the gateway, and a Node that runs them.
pub(crate) struct Clients {
    pub(crate) node: PathBuf,
    /// The folder with `node_modules`.
    pub(crate) packages: PathBuf,
    /// The interpreters that have `mcp` 1, `mcp` 2 and FastMCP.
    pub(crate) pythons: [PathBuf; 3],
}

/// How to drive the browser.
pub(crate) struct Browser {
    pub(crate) node: PathBuf,
    /// The folder with `node_modules`.
    pub(crate) packages: PathBuf,
    /// The folder with our scripts.
    pub(crate) scripts: PathBuf,
}

/// What checks the page's modules: Prettier and TypeScript.
pub(crate) struct Page {
    pub(crate) node: PathBuf,
    /// The folder with `node_modules`.
    pub(crate) packages: PathBuf,
}

/// Installs everything that tests and measurements need, unless it is there.
pub(crate) fn install_all() -> Result<()> {
    require_programs()?;
    conformance()?;
    clients()?;
    upstreams()?;
    page()?;
    postgres()?;
    api_descriptions()?;
    Ok(())
}

/// Installs Debian's PostgreSQL, which the tests of the pack `db` start; says how where we may not.
fn postgres() -> Result<()> {
    let is_there = || {
        let versions = fs::read_dir("/usr/lib/postgresql");
        versions.is_ok_and(|versions| versions.flatten().any(|it| it.path().join("bin/initdb").exists()))
    };
    if is_there() {
        return Ok(());
    }
    apt_install("postgresql");
    if !is_there() {
        bail!(
            "these programs are missing:\n  postgresql: `apt-get install postgresql` (or your system's way)"
        );
    }
    Ok(())
}

/// Installs a package of Debian where this user may, as in most containers; whether it worked is seen by what is there.
fn apt_install(package: &str) {
    println!("installing {package}");
    let apt = |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        process::run(command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive")).is_ok()
    };
    let install = ["install", "--yes", "--no-install-recommends", package];
    // The lists of packages may be missing or old.
    let _ = apt(&install) || apt(&["update"]) && apt(&install);
}

/// Fails with every missing program and the command that installs it.
pub(crate) fn require_programs() -> Result<()> {
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
        .map(|(program, _, install)| format!("  {program}: `{install}` (or your system's way)"))
        .collect();
    if !missing.is_empty() {
        bail!("these programs are missing:\n{}", missing.join("\n"));
    }
    Ok(())
}

/// Installs the conformance suite and, if needed, a Node that can run it.
pub(crate) fn conformance() -> Result<Conformance> {
    let folder = npm_packages("npm", &outside())?;
    Ok(Conformance {
        node: node()?,
        script: folder.join("node_modules/@modelcontextprotocol/conformance/dist/index.js"),
    })
}

/// Installs the real servers and the client that drives the gateway in front of them.
pub(crate) fn upstreams() -> Result<Upstreams> {
    let packages = npm_packages("npm-upstreams", &root().join("tests/upstreams"))?;
    let folder = |which| -> Result<PathBuf> {
        Ok(venv(which)?.parent().context("invariant: an interpreter lies in a folder")?.to_owned())
    };
    let programs = [folder(Venv::Upstreams)?, folder(Venv::UpstreamsOld)?, folder(Venv::Fastmcp)?];
    Ok(Upstreams { node: node()?, packages, programs })
}

/// Installs the clients that drive the gateway.
pub(crate) fn clients() -> Result<Clients> {
    let packages = npm_packages("npm-clients", &root().join("tests/clients"))?;
    let pythons = [venv(Venv::Mcp1)?, venv(Venv::Mcp)?, venv(Venv::Fastmcp)?];
    Ok(Clients { node: node()?, packages, pythons })
}

/// Installs what drives the browser, and the browser where that may be done.
pub(crate) fn browser() -> Result<Browser> {
    chromium()?;
    let scripts = root().join("tests/browser");
    Ok(Browser { node: node()?, packages: npm_packages("npm-browser", &scripts)?, scripts })
}

/// Installs what checks the page's modules.
pub(crate) fn page() -> Result<Page> {
    let packages = npm_packages("npm-page", &root().join("crates/onetool-web"))?;
    Ok(Page { node: node()?, packages })
}

/// Looks for Chromium, and installs it where this user may and Debian's way works, as in most containers.
pub(crate) fn chromium() -> Result<()> {
    let is_there = || process::works("chromium", &["--version"]);
    if !is_there() {
        apt_install("chromium");
    }
    if !is_there() {
        bail!("these programs are missing:\n  chromium: `apt-get install chromium` (or your system's way)");
    }
    Ok(())
}

/// Installs the npm packages that the lock file in `pinned` names, and returns their folder.
fn npm_packages(name: &str, pinned: &Path) -> Result<PathBuf> {
    let folder = cache()?.join(name);
    let files = ["package.json", "package-lock.json"];
    let stamp = files.iter().map(|file| read(&pinned.join(file))).collect::<Result<String>>()?;
    install(&folder, &stamp, || {
        for file in files {
            fs::copy(pinned.join(file), folder.join(file))?;
        }
        npm(&folder, &["ci"])
    })?;
    Ok(folder)
}

/// Installs the packages of the environment and returns its interpreter.
pub(crate) fn venv(which: Venv) -> Result<PathBuf> {
    let name = match which {
        Venv::Mcp1 => "mcp1",
        Venv::Mcp => "mcp",
        Venv::Fastmcp => "fastmcp",
        Venv::Upstreams => "upstreams",
        Venv::UpstreamsOld => "upstreams-old",
    };
    let folder = cache()?.join(format!("venv-{name}"));
    let pinned = outside().join(format!("requirements-{name}.txt"));
    let python = folder.join("bin/python");
    install(&folder, &read(&pinned)?, || {
        process::run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
        process::run(
            Command::new(&python)
                .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"])
                .arg(&pinned),
        )
    })?;
    Ok(python)
}

/// Fetches the packages that hold real API descriptions, keeps only those, and returns their folder.
pub(crate) fn api_descriptions() -> Result<PathBuf> {
    let folder = cache()?.join("apis");
    let pinned = read(&outside().join("apis.txt"))?;
    install(&folder, &pinned, || {
        for line in pinned.lines().filter(|line| !line.starts_with('#')) {
            let [package, version, path] = line.split(' ').collect::<Vec<_>>()[..] else {
                bail!("apis.txt: a line has a package, a version and a path, not '{line}'");
            };
            fetch(&folder, package, version, path)?;
        }
        Ok(())
    })?;
    Ok(folder)
}

/// Fetches a file or a folder of a package.
fn fetch(folder: &Path, package: &str, version: &str, path: &str) -> Result<()> {
    let target = folder.join(package);
    fs::create_dir_all(&target)?;
    npm(&target, &["pack", &format!("{package}@{version}")])?;
    let archive = format!("{}-{version}.tgz", package.trim_start_matches('@').replace('/', "-"));
    let member = format!("package/{path}");
    let unpack = ["--extract", "--gzip", "--strip-components=1", "--file", &archive, &member];
    process::run(Command::new("tar").current_dir(&target).args(unpack))?;
    Ok(fs::remove_file(target.join(archive))?)
}

/// Returns the folder of the pinned files and scripts.
pub(crate) fn outside() -> PathBuf {
    root().join("tests/outside")
}

/// Returns `~/.cache/onetool`.
pub(crate) fn cache() -> Result<PathBuf> {
    let home = std::env::home_dir().context("no home folder: set HOME")?;
    Ok(home.join(".cache/onetool"))
}

/// Returns an empty folder for one run's files.
pub(crate) fn scratch(name: &str) -> Result<PathBuf> {
    let folder = cache()?.join(format!("scratch-{name}"));
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    Ok(folder)
}

/// Returns a Node that is new enough: the one in PATH, else one of our own.
fn node() -> Result<PathBuf> {
    let version = process::output(Command::new("node").arg("--version"))?;
    if major(&version).is_some_and(|major| major >= NODE_OLDEST) {
        return Ok("node".into());
    }
    let package = node_package()?;
    let folder = cache()?.join("node");
    let pinned = format!("{package}@{NODE_VERSION}");
    install(&folder, &pinned, || {
        fs::write(folder.join("package.json"), "{\"private\": true}\n")?;
        npm(&folder, &["install", "--no-save", &pinned])
    })?;
    Ok(folder.join("node_modules").join(package).join("bin/node"))
}

/// Names the npm package that carries a Node binary for this system.
fn node_package() -> Result<String> {
    let system = match std::env::consts::OS {
        "linux" => "linux",
        "macos" => "darwin",
        other => bail!("Node {NODE_OLDEST} or newer is needed: install it for {other} and put it in PATH"),
    };
    let machine = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => bail!("Node {NODE_OLDEST} or newer is needed: install it for {other} and put it in PATH"),
    };
    Ok(format!("node-{system}-{machine}"))
}

fn npm(folder: &Path, arguments: &[&str]) -> Result<()> {
    process::run(Command::new("npm").current_dir(folder).args(arguments).args([
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
        "--no-progress",
        "--loglevel=error",
    ]))
}

/// Runs the installation unless the folder was installed from the same pinned text before.
fn install(folder: &Path, pinned: &str, action: impl FnOnce() -> Result<()>) -> Result<()> {
    // Beside the folder, not in it: a fresh virtual environment clears its folder.
    let stamp = folder.with_extension("stamp");
    if folder.exists() && fs::read_to_string(&stamp).is_ok_and(|before| before == pinned) {
        return Ok(());
    }
    println!("installing into {}", folder.display());
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    action().with_context(|| format!("cannot install into {}", folder.display()))?;
    fs::write(&stamp, pinned).with_context(|| format!("cannot write {}", stamp.display()))
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

/// Reads the 22 of `v22.23.3`.
fn major(version: &str) -> Option<u32> {
    version.trim().strip_prefix('v')?.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_major_version_is_read() {
        assert_eq!(major("v22.23.3\n"), Some(22));
        assert_eq!(major("nonsense"), None);
    }

    #[test]
    fn an_installation_runs_again_only_when_the_pinned_text_changes() {
        let folder = std::env::temp_dir().join(format!("xtask-install-{}", std::process::id()));
        let mut runs = 0;
        for pinned in ["a==1", "a==1", "a==2"] {
            install(&folder, pinned, || {
                runs += 1;
                Ok(())
            })
            .unwrap();
        }
        fs::remove_dir_all(&folder).unwrap();
        fs::remove_file(folder.with_extension("stamp")).unwrap();
        assert_eq!(runs, 2);
    }
}
