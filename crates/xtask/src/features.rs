//! `cargo xtask features`: every published crate with no features, and with each of its features alone.

use std::time::Instant;

use anyhow::{Context, Result, bail};
use serde_json::Value;
use xtask::cargo::{self, cargo};
use xtask::process;

pub(crate) fn run() -> Result<()> {
    let mut problems = Vec::new();
    for (package, feature) in combinations(&cargo::metadata()?)? {
        let mut command = cargo(&["clippy", "--quiet", "--ignore-rust-version", "--no-default-features"]);
        command.args(["-p", &package]);
        if let Some(feature) = &feature {
            command.args(["--features", feature]);
        }
        let start = Instant::now();
        let result = process::run(command.args(["--", "-D", "warnings"]));
        let shown = feature.as_deref().unwrap_or("no features");
        println!("{package:<20}{shown:<16}{:>8.1} s", start.elapsed().as_secs_f64());
        problems.extend(result.err().map(|error| format!("{error:#}")));
    }
    if !problems.is_empty() {
        bail!("{}", problems.join("\n"));
    }
    Ok(())
}

/// Returns each published package with `None`, and with each of its features except `default` and private ones (`_…`).
fn combinations(metadata: &Value) -> Result<Vec<(String, Option<String>)>> {
    let packages = metadata["packages"].as_array().context("cargo metadata has no packages")?;
    let mut found = Vec::new();
    for package in packages.iter().filter(|package| package["publish"].is_null()) {
        let name = package["name"].as_str().context("a package has no name")?;
        let features = package["features"].as_object().into_iter().flat_map(|features| features.keys());
        let features = features.filter(|feature| *feature != "default" && !feature.starts_with('_'));
        found.push((name.to_owned(), None));
        found.extend(features.map(|feature| (name.to_owned(), Some(feature.clone()))));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn str_11_lists_each_public_feature_of_each_published_crate() {
        let metadata = json!({"packages": [
            {"name": "a", "publish": null, "features": {"_private": [], "default": ["web"], "web": []}},
            {"name": "kit", "publish": [], "features": {"web": []}},
            {"name": "b", "publish": null, "features": {}},
        ]});
        let found = combinations(&metadata).unwrap();
        let found: Vec<_> = found.iter().map(|(name, feature)| (name.as_str(), feature.as_deref())).collect();
        assert_eq!(found, [("a", None), ("a", Some("web")), ("b", None)]);
    }
}
