//! `Section`: reading values, locations, unknown keys; templates; `PendingChanges`.

use indexmap::IndexMap;
use serde_json::{Value, json};

use super::{Files, parse};
use crate::{PendingChanges, TemplateNames, is_template};

#[test]
fn a_section_has_the_location_of_its_value_or_of_the_nearest_key() {
    let document = parse("a:\n  b:\n    - one\n    - c: two\n");
    let root = document.root();
    let section = root.field("a").field("b");
    assert_eq!((section.path(), section.location().line), ("a.b", 3));
    let item = section.item(1).field("c");
    assert_eq!((item.path(), item.location().line, item.text()), ("a.b[1].c", 4, Some("two")));
    let missing = section.item(7).field("d").field("e");
    assert_eq!((missing.path(), missing.location().line), ("a.b[7].d.e", 3));
    assert_eq!(missing.location().to_string(), "/etc/onetool.yaml:3");
    assert_eq!((root.path(), root.location().line), ("", 1));
}

#[test]
fn a_key_is_present_with_or_without_a_value() {
    let document = parse("a:\nb: 1\nc: ${TOKEN}\nd: [x]");
    let field = |key: &str| document.root().field(key);
    assert_eq!(["a", "b", "z"].map(|key| field(key).is_present()), [true, true, false]);
    assert_eq!(["a", "b", "z"].map(|key| field(key).text()), [None, Some("1"), None]);
    assert_eq!(["b", "c", "d"].map(|key| field(key).is_expanded()), [false, true, false]);
    assert_eq!(field("d").text(), None);
    assert_eq!(field("d").keys().count() + field("b").items().count(), 0);
    assert_eq!(document.root().keys().collect::<Vec<_>>(), ["a", "b", "c", "d"]);
}

#[test]
fn missing_and_empty_keys_have_the_default() {
    let document = parse("a:\nb: 3");
    let read = |key: &str| document.root().field(key).read::<u64>().unwrap();
    assert_eq!((read("a"), read("b"), read("z")), (0, 3, 0));
    let required =
        |key: &str| document.root().field(key).read_required::<u64>().map_err(|error| error.to_string());
    assert_eq!(required("b"), Ok(3));
    assert_eq!(required("z"), Err("'z': a value is required".into()));
    assert_eq!(required("a"), Err("'a' must be a whole number, 0 or more, not empty".into()));
}

#[test]
fn entries_and_items_are_read_in_order_with_their_paths() {
    let document = parse("map: {b: 1, a: 2}\nlist: [x, y]\nnone:");
    let root = document.root();
    let entries = root.field("map").read_entries(|name, section| {
        assert_eq!(section.path(), format!("map.{name}"));
        section.read_required::<u64>()
    });
    assert_eq!(entries.unwrap(), IndexMap::from([("b".to_owned(), 1), ("a".to_owned(), 2)]));
    let items = root.field("list").read_items(|section| Ok(section.path().to_owned())).unwrap();
    assert_eq!(items, ["list[0]", "list[1]"]);
    for key in ["none", "missing"] {
        assert!(root.field(key).read_entries(|_, _| Ok(())).unwrap().is_empty());
        assert!(root.field(key).read_items(|_| Ok(())).unwrap().is_empty());
    }
}

#[test]
fn the_wrong_kind_of_collection_is_an_error_that_names_what_was_found() {
    let document = parse("text: a\nnumber: 1\nflag: true\nlist: [a]\nmap: {a: b}");
    let entries = |key: &str| document.root().field(key).read_entries(|_, _| Ok(())).unwrap_err().to_string();
    let items = |key: &str| document.root().field(key).read_items(|_| Ok(())).unwrap_err().to_string();
    assert_eq!(entries("text"), "'text' must be a map, not text");
    assert_eq!(entries("number"), "'number' must be a map, not a whole number");
    assert_eq!(entries("flag"), "'flag' must be a map, not true or false");
    assert_eq!(entries("list"), "'list' must be a map, not a list");
    assert_eq!(items("map"), "'map' must be a list, not a map");
    assert_eq!(items("text"), "'text' must be a list, not text");
}

#[test]
fn an_unknown_key_is_reported_at_its_own_line_with_a_suggestion() {
    let files = Files::new(&[("onetool.yaml", "server:\n  name: a\n  instrctions:\n    x: 1\n  zzz: 1")]);
    let document = files.read().unwrap();
    let section = document.root().field("server");
    let error = section.check_keys(&["name", "instructions"]).unwrap_err();
    assert_eq!(error.to_string(), "unknown key 'instrctions' in 'server', did you mean 'instructions'?");
    assert_eq!((error.location().unwrap().line, error.hint()), (3, None));
    let error = section.check_keys(&["name", "instrctions"]).unwrap_err();
    assert_eq!(error.to_string(), "unknown key 'zzz' in 'server'");
    assert_eq!(error.hint().as_deref(), Some("known keys: name, instrctions"));
    assert_eq!(error.location().unwrap().line, 5);
    section.check_keys(&["name", "instrctions", "zzz"]).unwrap();
    assert_eq!(document.root().check_keys(&[]).unwrap_err().to_string(), "unknown key 'server'");
    section.field("name").check_keys(&[]).unwrap();
    section.field("missing").check_keys(&[]).unwrap();
}

#[test]
fn templates_may_use_only_known_names() {
    let document = parse("a: x\nsecret: ${TOKEN}");
    let section = document.root().field("a");
    let names = TemplateNames::new(["city".to_owned(), "days".to_owned()].into());
    names.check("{{ city }} {% for n in range(days) %}{{ n }}{% endfor %}", &section).unwrap();
    TemplateNames::any().check("{{ anything }}", &section).unwrap();
    let message = |text: &str, section| names.check(text, section).unwrap_err().to_string();
    assert_eq!(
        message("{{ cty }}", &section),
        "'a': the template uses 'cty', which is not a parameter, did you mean 'city'?"
    );
    assert!(message("{{ city", &section).starts_with("'a': invalid template: "));
    let secret = document.root().field("secret");
    assert_eq!(message("{{ cty }}", &secret), "'secret': the template uses a name that is not a parameter");
    assert_eq!(message("{{ city", &secret), "'secret': invalid template: unbalanced {{ }} or {% %}");
    assert!(TemplateNames::any().check("{% if", &section).is_err());
}

#[test]
fn templates_inside_json_are_checked_with_their_paths() {
    let document = parse("json: {a: [1, '{{ cty }}'], b: true}");
    let section = document.root().field("json");
    let value: Value = section.read().unwrap();
    let names = TemplateNames::new(["city".to_owned()].into());
    let error = names.check_json(&value, &section).unwrap_err().to_string();
    assert!(error.starts_with("'json.a[1]': the template uses 'cty'"), "{error}");
    names.check_json(&json!({"a": ["{{ city }}", 1, null]}), &section).unwrap();
    assert_eq!(["{{ a }}", "{% a %}", "{# a #}", "{ a }"].map(is_template), [true, true, true, false]);
}

#[test]
fn pending_changes_keep_the_old_value_and_list_the_key() {
    let mut pending = PendingChanges::default();
    assert_eq!(pending.keep("a", &1, 1), 1);
    assert_eq!(pending.keep("b", &1, 2), 1);
    assert_eq!(pending.choose("c", "wider", &1, 2, true), 2);
    assert_eq!(pending.choose("d", "wider", &1, 2, false), 1);
    pending.add("e", "new");
    assert_eq!(pending.into_keys(), ["b (changed)", "d (wider)", "e (new)"]);
}

#[test]
fn pending_entries_can_be_removed_and_restricted_but_not_added() {
    let map = |entries: &[(&str, u64)]| -> IndexMap<String, u64> {
        entries.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
    };
    let mut pending = PendingChanges::default();
    let old = map(&[("removed", 1), ("same", 2), ("smaller", 5), ("larger", 5)]);
    let new = map(&[("same", 2), ("smaller", 3), ("larger", 9), ("new", 1)]);
    let allowed = pending.entries("limits", &old, new, |old, new| *old.min(new));
    assert_eq!(allowed, map(&[("same", 2), ("smaller", 3), ("larger", 5)]));
    assert_eq!(pending.into_keys(), ["limits.larger (changed)", "limits.new (new)"]);
}
