//! D1: whatever changes, every listed name resolves to the tool that was listed.

use onetool_core::{CallContext, JsonObject, ToolSpec, dynamic_tool};
use proptest::prelude::*;

use super::super::Offer;
use super::*;

fn tool(name: &str) -> Arc<dyn onetool_core::Tool> {
    let spec = ToolSpec::new(name, "");
    Arc::new(dynamic_tool(spec, |_: JsonObject, _: CallContext| async { "" }))
}

/// A change to a catalog.
#[derive(Debug, Clone)]
enum Step {
    Register(String),
    Remove(String),
    /// A server lists these tools.
    Offer(&'static str, Vec<String>),
    /// A server disconnects.
    Disconnect(&'static str),
    /// A reload with these tools in the configuration and in packs.
    Reload(Vec<String>, Vec<String>),
}

/// Names that collide in every way: unchanged, flattened, at 64 characters, and with reserved ones.
fn name() -> impl Strategy<Value = String> {
    let part =
        prop::sample::select(vec!["a", "b", "a_b", "a-b", "é", "ü", "a_b_2", "tool", "find", "run", "ot"]);
    let long = prop::sample::select(vec![58_usize, 60, 62, 63, 64, 70]);
    let end = prop::sample::select(vec!["", "x", "é", "ü", "_2"]);
    prop_oneof![
        4 => part.clone().prop_map(str::to_owned),
        8 => (part.clone(), part.clone()).prop_map(|(pack, tool)| format!("{pack}.{tool}")),
        4 => (part.clone(), part).prop_map(|(pack, tool)| format!("{pack}_{tool}")),
        2 => (long, end).prop_map(|(length, end)| format!("a.{}{end}", "x".repeat(length - 2))),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let names = || prop::collection::vec(name(), 0..6);
    let server = || prop::sample::select(vec!["one", "two"]);
    prop_oneof![
        4 => name().prop_map(Step::Register),
        2 => name().prop_map(Step::Remove),
        3 => (server(), names()).prop_map(|(server, names)| Step::Offer(server, names)),
        1 => server().prop_map(Step::Disconnect),
        2 => (names(), names()).prop_map(|(tools, packs)| Step::Reload(tools, packs)),
    ]
}

fn apply(catalog: &mut Catalog, step: &Step) {
    match step {
        Step::Register(name) => {
            let before = listing(catalog);
            if catalog.add_tool(tool(name), Source::Code).is_err() {
                assert_eq!(listing(catalog), before, "a rejected registration changes nothing");
            }
        }
        Step::Remove(name) => drop(catalog.remove_tool(name)),
        Step::Offer(server, names) => {
            let offer = Offer { tools: names.iter().map(|it| tool(it)).collect(), ..Offer::default() };
            catalog.set_source(&Source::Proxy((*server).into()), server, &offer);
        }
        Step::Disconnect(server) => catalog.remove_source(&Source::Proxy((*server).into())),
        Step::Reload(tools, packs) => {
            catalog.remove_source(&Source::Config);
            catalog.remove_source(&Source::Pack);
            for (names, source) in [(tools, Source::Config), (packs, Source::Pack)] {
                for name in names {
                    let _ = catalog.add_tool(tool(name), source.clone());
                }
            }
            catalog.settle_remote_names();
        }
    }
}

fn listing(catalog: &Catalog) -> Vec<(String, String)> {
    catalog.tools.values().map(|it| (it.flat_name().to_owned(), it.name().to_string())).collect()
}

fn check(catalog: &Catalog) {
    for entry in catalog.tools.values() {
        for spelling in [entry.flat_name(), entry.name().as_str()] {
            let called = catalog.get(spelling).map(|it| (it.name(), it.source()));
            assert_eq!(called, Some((entry.name(), entry.source())), "'{spelling}'");
        }
        assert!(entry.flat_name().len() <= FLAT_NAME_MAX, "{}", entry.flat_name());
        assert!(!catalog.reserved.iter().any(|it| it == entry.flat_name()), "{}", entry.flat_name());
        if entry.source().is_registration() {
            assert_eq!(entry.flat_name(), entry.name().flat(), "a registration keeps its own flat name");
        }
    }
    assert_eq!(catalog.by_flat_name.len(), catalog.tools.len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn d1_every_listed_name_resolves_to_the_tool_that_was_listed(steps in prop::collection::vec(step(), 1..12)) {
        let mut catalog = Catalog::default();
        catalog.reserve(&["run", "tool_find", "ot"]);
        for step in &steps {
            apply(&mut catalog, step);
            check(&catalog);
        }
    }
}

#[test]
fn d1_thousands_of_names_with_one_flat_spelling_get_numbers_in_order() {
    let mut catalog = Catalog::default();
    let odd = (0x4e00..0x4e00 + 5000).filter_map(char::from_u32).map(|c| tool(&format!("up.{c}")));
    let offer = Offer { tools: odd.collect(), ..Offer::default() };
    assert!(catalog.set_source(&Source::Proxy("up".into()), "up", &offer).is_empty());
    check(&catalog);
    let flat: Vec<&str> = catalog.tools.values().map(|it| it.flat_name()).collect();
    assert_eq!(flat[..4], ["up__", "up___2", "up___3", "up___4"]);
    assert_eq!(flat.last(), Some(&"up___5000"));
}
