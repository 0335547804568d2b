//! The workspace's packages: their dependencies on each other, their size, and the files where their modules begin.

use anyhow::{Context, Result};
use serde_json::Value;

use crate::sources::File;

/// A crate of the workspace.
pub(super) struct Package {
    pub(super) name: String,
    pub(super) is_published: bool,
    /// All lines of the Rust files in `src`.
    pub(super) lines: usize,
    pub(super) dependencies: Vec<Dependency>,
    pub(super) roots: Vec<Root>,
}

/// A dependency on another crate of the workspace.
pub(super) struct Dependency {
    pub(super) name: String,
    pub(super) kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Required,
    Optional,
    /// Only tests, examples and benches use it.
    Test,
}

/// The first file of a library or binary.
pub(super) struct Root {
    /// `PACKAGE` for the library or the only binary, else `PACKAGE/BINARY`.
    pub(super) name: String,
    pub(super) file: String,
}

/// Reads the packages from `cargo metadata --no-deps`, and counts lines in the files.
pub(super) fn read(metadata: &Value, files: &[File]) -> Result<Vec<Package>> {
    let workspace = metadata["workspace_root"].as_str().context("cargo metadata has no workspace_root")?;
    let listed = metadata["packages"].as_array().context("cargo metadata has no packages")?;
    let names: Vec<&str> = listed.iter().filter_map(|package| package["name"].as_str()).collect();
    let mut packages = Vec::new();
    for package in listed {
        let name = package["name"].as_str().context("a package has no name")?;
        let manifest = relative(workspace, &package["manifest_path"])?;
        let source = format!("{}src/", manifest.strip_suffix("Cargo.toml").unwrap_or_default());
        let in_source = |file: &&File| file.path.starts_with(&source) && file.has_extension("rs");
        packages.push(Package {
            name: name.to_owned(),
            is_published: package["publish"].is_null(),
            lines: files.iter().filter(in_source).map(|file| file.text.lines().count()).sum(),
            dependencies: dependencies(package, &names),
            roots: roots(name, package, workspace, &source)?,
        });
    }
    packages.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(packages)
}

fn dependencies(package: &Value, names: &[&str]) -> Vec<Dependency> {
    let listed = package["dependencies"].as_array().into_iter().flatten();
    let mut found: Vec<Dependency> = listed
        .filter_map(|dependency| {
            let name = dependency["name"].as_str().filter(|name| names.contains(name))?;
            let kind = match (dependency["kind"].as_str(), &dependency["optional"]) {
                (Some("dev"), _) => Kind::Test,
                (_, Value::Bool(true)) => Kind::Optional,
                _ => Kind::Required,
            };
            Some(Dependency { name: name.to_owned(), kind })
        })
        .collect();
    found.sort_by(|a, b| (&a.name, a.kind).cmp(&(&b.name, b.kind)));
    // A crate may be both a dependency and one of the tests, with more features.
    found.dedup_by(|a, b| a.name == b.name);
    found
}

fn roots(name: &str, package: &Value, workspace: &str, source: &str) -> Result<Vec<Root>> {
    let mut libraries = Vec::new();
    let mut binaries = Vec::new();
    for target in package["targets"].as_array().into_iter().flatten() {
        let file = relative(workspace, &target["src_path"])?;
        let kind = target["kind"][0].as_str().unwrap_or_default();
        if !file.starts_with(source) {
            continue;
        }
        if kind == "bin" {
            let target = target["name"].as_str().unwrap_or_default();
            binaries.push(Root { name: format!("{name}/{target}"), file });
        } else if ["lib", "proc-macro", "rlib", "cdylib"].contains(&kind) {
            libraries.push(Root { name: name.to_owned(), file });
        }
    }
    if let ([], [only]) = (libraries.as_slice(), binaries.as_mut_slice()) {
        name.clone_into(&mut only.name);
    }
    libraries.extend(binaries);
    Ok(libraries)
}

fn relative(workspace: &str, path: &Value) -> Result<String> {
    let path = path.as_str().and_then(|path| path.strip_prefix(workspace));
    Ok(path.context("a path is outside the workspace")?.trim_start_matches('/').to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn reads_dependencies_sizes_and_roots() {
        let metadata = json!({"workspace_root": "/w", "packages": [
            {
                "name": "b", "publish": null, "manifest_path": "/w/crates/b/Cargo.toml",
                "dependencies": [
                    {"name": "kit", "kind": "dev", "optional": false},
                    {"name": "a", "kind": null, "optional": true},
                    {"name": "a", "kind": "dev", "optional": false},
                    {"name": "serde", "kind": null, "optional": false},
                ],
                "targets": [
                    {"name": "b", "kind": ["lib"], "src_path": "/w/crates/b/src/lib.rs"},
                    {"name": "tool", "kind": ["bin"], "src_path": "/w/crates/b/src/bin/tool.rs"},
                    {"name": "it", "kind": ["test"], "src_path": "/w/crates/b/tests/it.rs"},
                ],
            },
            {
                "name": "a", "publish": [], "manifest_path": "/w/crates/a/Cargo.toml", "dependencies": [],
                "targets": [{"name": "x", "kind": ["bin"], "src_path": "/w/crates/a/src/main.rs"}],
            },
            {"name": "kit", "publish": [], "manifest_path": "/w/crates/kit/Cargo.toml"},
        ]});
        let file = |path: &str, text: &str| File { path: path.to_owned(), text: text.to_owned() };
        let files = [
            file("crates/b/src/lib.rs", "one\ntwo\n"),
            file("crates/b/src/bin/tool.rs", "three\n"),
            file("crates/b/tests/it.rs", "four\n"),
        ];
        let packages = read(&metadata, &files).unwrap();
        let [a, b, _] = &packages[..] else { panic!("three packages") };
        assert!(!a.is_published && b.is_published);
        assert_eq!((a.lines, b.lines), (0, 3));
        let found: Vec<_> = b.dependencies.iter().map(|it| (it.name.as_str(), it.kind)).collect();
        assert!(found == [("a", Kind::Optional), ("kit", Kind::Test)]);
        let roots: Vec<_> = a.roots.iter().chain(&b.roots).map(|it| (&*it.name, &*it.file)).collect();
        assert_eq!(
            roots,
            [
                ("a", "crates/a/src/main.rs"),
                ("b", "crates/b/src/lib.rs"),
                ("b/tool", "crates/b/src/bin/tool.rs")
            ]
        );
    }
}
