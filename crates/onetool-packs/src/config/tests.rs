//! Tests of `PacksConfig`: which packs are built, conflicts of names, and changes by agents.

use std::fs;

use onetool_config::Redactor;
use tempfile::TempDir;

use super::*;
use crate::own_files::OwnPaths;
use crate::testing::parse;

fn read(packs: &str) -> PacksConfig {
    try_read(packs).unwrap_or_else(|error| panic!("{packs}: {}", error.report()))
}

fn try_read(packs: &str) -> Result<PacksConfig, ConfigError> {
    PacksConfig::read(&parse(packs).root())
}

fn names(config: &PacksConfig) -> Vec<&'static str> {
    config.packs.iter().map(|it| it.name).collect()
}

fn context() -> PackContext {
    PackContext { own_files: OwnFiles::default(), jobs: None, redactor: Redactor::default() }
}

/// Builds the packs, and returns their names and the errors.
fn build(config: &PacksConfig, name_use: NameUse) -> (Vec<String>, Vec<String>) {
    let (packs, errors) = config.build(&context(), |_| name_use);
    (packs.iter().map(|it| it.name.to_string()).collect(), errors.iter().map(ToString::to_string).collect())
}

fn restrict(old: &PacksConfig, new: &PacksConfig) -> (PacksConfig, Vec<&'static str>, Vec<String>) {
    let mut pending = PendingChanges::default();
    let (allowed, waiting) = old.restrict(new, &mut pending);
    (allowed, waiting, pending.into_keys())
}

#[test]
fn every_pack_has_a_key_and_a_schema() {
    let keys: Vec<_> = PacksConfig::keys().collect();
    assert_eq!(keys, ["file", "ripgrep", "db", "web", "brave", "package", "llm"]);
    let schemas = PacksConfig::schemas(&mut SchemaGenerator::default());
    assert_eq!(schemas.keys().collect::<Vec<_>>(), keys);
}

#[cfg(all(feature = "brave", feature = "llm", feature = "package", feature = "web"))]
mod every_pack {
    use super::*;

    const UNNAMED: [&str; 4] = ["web", "brave", "package", "llm"];

    #[test]
    fn some_packs_need_no_configuration() {
        assert_eq!(names(&PacksConfig::default()), UNNAMED);
        assert_eq!(read(""), PacksConfig::default());
        let empty = read("{file: {}, db: {}, ripgrep: {}}");
        assert_eq!(names(&empty), UNNAMED, "these need roots or urls");
        assert_eq!(names(&read("{web: {enabled: false}, llm: {enabled: false}}")), ["brave", "package"]);
    }

    #[test]
    fn options_are_resolved_with_absolute_paths_and_hidden_keys() {
        let config = read(
            "{file: {roots: [., ..], read_only: true}, ripgrep: {roots: [..]},
              db: {urls: {shop: 'sqlite:shop.db', logs: 'postgres://reader:${TOKEN}@db.example/logs'}, writable: [shop]},
              web: {allow_private: true}, brave: {api_key: \"${TOKEN}\", base_url: 'https://a.example/v1/'},
              package: {enabled: false}, llm: {base_url: 'http://127.0.0.1:1/v1', api_key: \"${TOKEN}\", model: small}}",
        );
        assert_eq!(names(&config), ["file", "ripgrep", "db", "web", "brave", "llm"]);
        assert!(config.packs.iter().all(|it| it.at.is_some()));
        let roots: Vec<_> = config.options().flat_map(AnyOptions::roots).collect();
        assert_eq!(roots, ["/etc", "/etc/..", "/etc/.."].map(PathBuf::from));
        assert_eq!(config.used_files(), [PathBuf::from("/etc/shop.db")]);
        let secrets: Vec<_> = config.secrets().iter().map(|it| it.expose()).collect();
        assert_eq!(secrets, ["postgres://reader:canary-4711@db.example/logs", "canary-4711", "canary-4711"]);
        assert!(!format!("{config:?}").contains("canary"), "{config:?}");
    }

    #[test]
    fn packs_that_are_not_named_yield_to_others() {
        let config = PacksConfig::default();
        assert_eq!(build(&config, NameUse::Free).0, UNNAMED);
        assert_eq!(build(&config, NameUse::LocalPack), (vec![], vec![]));
        assert_eq!(build(&config, NameUse::Source), (vec![], vec![]));
    }

    #[test]
    fn packs_that_are_named_win_over_sources_and_conflict_with_local_packs() {
        let config =
            read("{brave: {enabled: false}, package: {enabled: false}, llm: {enabled: false}, web: {}}");
        assert_eq!(build(&config, NameUse::Source), (vec!["web".into()], vec![]));
        let (packs, errors) = config.build(&context(), |_| NameUse::LocalPack);
        assert!(packs.is_empty());
        assert_eq!(errors.len(), 1);
        assert!(
            errors[0].to_string().contains("another pack is also named 'web' and wins; rename it"),
            "{}",
            errors[0]
        );
        assert!(errors[0].to_string().contains("/etc/onetool.yaml:1"), "{}", errors[0]);
    }

    #[test]
    fn only_the_name_of_each_pack_matters() {
        let name_use = |name: &str| if name == "web" { NameUse::Source } else { NameUse::Free };
        let (packs, _) = PacksConfig::default().build(&context(), name_use);
        let names: Vec<_> = packs.iter().map(|it| &*it.name).collect();
        assert_eq!(names, ["brave", "package", "llm"]);
    }

    #[test]
    fn a_mistake_in_a_disabled_pack_is_an_error() {
        let error = try_read("web: {enabled: false, max_bytes: 0}").unwrap_err();
        assert_eq!(error.to_string(), "'web.max_bytes': must be at least 1");
        assert!(try_read("{llm: {enabled: false, model: x}}").is_err());
    }

    #[test]
    fn options_are_compared_by_value() {
        assert_eq!(read("web: {timeout: 5}"), read("web: {timeout: 5.0}"));
        assert_ne!(read("web: {timeout: 5}"), read("web: {timeout: 6}"));
        assert_ne!(read("web: {}"), read(""), "a pack that is named wins over sources");
    }

    #[test]
    fn an_agent_can_remove_packs_but_not_add_them() {
        let (none, all) = (read("{web: {enabled: false}, brave: {enabled: false}}"), read(""));
        let (allowed, waiting, pending) = restrict(&none, &all);
        assert_eq!(names(&allowed), ["package", "llm"]);
        assert_eq!(waiting, ["web", "brave"]);
        assert_eq!(pending, ["packs.web (new)", "packs.brave (new)"]);
        assert_eq!(restrict(&all, &none), (none, vec![], vec![]));
    }

    #[test]
    fn an_agent_gets_the_allowed_part_of_a_change() {
        let (old, new) =
            (read("{web: {}, llm: {}}"), read("{web: {allow_private: true, timeout: 5}, llm: {timeout: 5}}"));
        let (allowed, waiting, pending) = restrict(&old, &new);
        assert_eq!(allowed, read("{web: {timeout: 5}, llm: {timeout: 5}}"));
        assert_eq!((waiting, pending), (vec![], vec!["packs.web.allow_private (on)".to_owned()]));
    }
}

#[test]
fn a_pack_that_is_not_built_is_an_error_only_if_it_is_named() {
    let at = parse("web: 1").root().field("web").location().clone();
    let options = Options::NotBuilt { feature: "pack-web" };
    let config = PacksConfig { packs: vec![ConfiguredPack { name: "web", options, at: Some(at) }] };
    let (packs, errors) = build(&config, NameUse::Free);
    assert!(packs.is_empty());
    let expected = "this onetool was built without it; enable the feature pack-web";
    assert!(errors.len() == 1 && errors[0].contains(expected), "{errors:?}");
    assert_eq!((config.secrets().len(), config.used_files().len()), (0, 0));
    let (allowed, waiting, pending) = restrict(&PacksConfig { packs: Vec::new() }, &config);
    assert_eq!((allowed == config, waiting.len(), pending.len()), (true, 0, 0), "it has no rights");
}

#[cfg(feature = "file")]
#[test]
fn a_root_inside_the_state_directory_is_an_error() {
    let directory = TempDir::new().unwrap();
    let state = directory.path().join(".onetool");
    fs::create_dir_all(state.join("inner")).unwrap();
    let mut paths = OwnPaths::default();
    paths.add_state_directory(directory.path());
    let context = context();
    context.own_files.set(paths);
    for (root, is_allowed) in
        [(&state, false), (&state.join("inner"), false), (&directory.path().to_owned(), true)]
    {
        let config = read(&format!("file: {{roots: [{}]}}", root.display()));
        let (packs, errors) = config.build(&context, |_| NameUse::Free);
        assert_eq!(packs.iter().any(|it| &*it.name == "file"), is_allowed, "{}", root.display());
        let message = format!("the root {} is in onetool's own directory", root.display());
        assert_eq!(errors.iter().any(|it| it.to_string().contains(&message)), !is_allowed, "{errors:?}");
    }
}

#[cfg(not(feature = "web"))]
#[test]
fn a_pack_without_its_feature_is_known_but_not_built() {
    assert!(names(&PacksConfig::default()).iter().all(|it| *it != "web"));
    let (_, errors) = build(&read("web: {anything: true}"), NameUse::Free);
    assert!(errors[0].contains("enable the feature pack-web"), "{errors:?}");
}

#[test]
fn str_6_the_keys_and_the_documentation_of_every_pack_come_from_its_options() {
    let schemas = PacksConfig::schemas(&mut schemars::SchemaGenerator::default());
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/packs.md")).unwrap();
    for name in PacksConfig::keys() {
        assert!(schemas.contains_key(name), "packs.{name} has no schema");
        assert!(
            page.contains(&format!("keys of packs.{name};")),
            "docs/packs.md has no table for packs.{name}"
        );
    }
}
