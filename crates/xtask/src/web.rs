//! `cargo xtask web`: format, line lengths and types of the page's modules, with pinned Prettier and TypeScript.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use xtask::{cargo, process, tools};

const MAX_COLUMNS: usize = 120;

/// The files that Prettier formats, in the crate's directory.
const FORMATTED: [&str; 4] =
    ["package.json", "tsconfig.json", "assets/**/*.{js,ts,css}", "!assets/preact-htm.js"];

/// Whether to check the format or to fix it.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Format {
    Check,
    Write,
}

pub(crate) fn run(format: Format) -> Result<()> {
    tools::require_programs()?;
    let tools::Page { node, packages } = tools::page()?;
    let directory = cargo::root().join("crates/onetool-web");
    let tool = |path: &str| {
        let mut command = Command::new(&node);
        command.current_dir(&directory).arg(packages.join("node_modules").join(path));
        command
    };

    println!("--- prettier");
    let mut prettier = tool("prettier/bin/prettier.cjs");
    let mode = if format == Format::Write { "--write" } else { "--check" };
    prettier.args([mode, "--log-level", "warn"]).args(FORMATTED);
    process::run(&mut prettier).context("run `cargo xtask web --fix` to format the files")?;

    println!("--- line lengths");
    check_lengths(&directory.join("assets"))?;

    println!("--- tsc");
    process::run(tool("typescript/bin/tsc").args(["--project", "tsconfig.json"]))
}

/// Fails with every line that is too long: Prettier does not break lines inside templates.
fn check_lengths(assets: &Path) -> Result<()> {
    let mut long = Vec::new();
    for file in sources(assets)? {
        let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let lines = text.lines().enumerate().filter(|(_, line)| line.chars().count() > MAX_COLUMNS);
        long.extend(lines.map(|(at, _)| format!("  {}:{}", file.display(), at + 1)));
    }
    if !long.is_empty() {
        bail!("lines longer than {MAX_COLUMNS} characters, to be broken by hand:\n{}", long.join("\n"));
    }
    Ok(())
}

/// Returns the scripts, types and style sheets below a directory, except the vendored library.
fn sources(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let entries = fs::read_dir(directory).with_context(|| format!("cannot read {}", directory.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(sources(&path)?);
        } else if !path.ends_with("preact-htm.js")
            && path.extension().is_some_and(|extension| ["js", "ts", "css"].iter().any(|it| extension == *it))
        {
            found.push(path);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn str_10_only_our_own_sources_are_checked() {
        let found = sources(&cargo::root().join("crates/onetool-web/assets")).unwrap();
        let is_found = |name: &str| found.iter().any(|path| path.ends_with(name));
        assert!(is_found("views/app.js") && is_found("types.d.ts") && is_found("app.css"));
        assert!(!is_found("preact-htm.js") && !is_found("icon.svg"));
    }
}
