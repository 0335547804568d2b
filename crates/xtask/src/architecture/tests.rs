//! The resolver, the checks and the page on small made-up workspaces.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::modules::read;
use super::uses::uses;
use super::{Architecture, PAGE};
use crate::sources::File;

/// Returns the uses as `PARENT: from → to`, with an empty parent for the root.
fn found(files: &[(&str, &str)]) -> Vec<String> {
    let sources: BTreeMap<&str, &str> = files.iter().copied().collect();
    let modules = read("src/lib.rs", &sources).unwrap();
    let levels = uses(&modules);
    let lines = levels.iter().flat_map(|(parent, uses)| {
        uses.keys().map(move |(from, to)| format!("{}: {from} → {to}", parent.join("::")))
    });
    lines.collect()
}

/// The same for inline modules, all in one file.
fn inline(text: &str) -> Vec<String> {
    found(&[("src/lib.rs", text)])
}

#[test]
fn nested_groups_and_renames() {
    let text = "mod a { use crate::{b::{X, inner::{self, Y as Z}}, c as d}; }
        mod b { pub mod inner { pub struct Y; } pub struct X; }
        mod c {}
        mod e { use super::{b as _, c::*}; }";
    assert_eq!(inline(text), [": a → b", ": a → c", ": e → b", ": e → c"]);
}

#[test]
fn root_re_exports_lead_to_the_defining_module() {
    let text = "mod tool { pub struct Tool; pub struct Spec; }
        mod name { pub struct Name; }
        mod all { pub struct Thing; }
        pub use tool::{Spec as ToolSpec, Tool};
        pub(crate) use crate::name::Name as ToolName;
        pub use all::*;
        pub use serde_json::*;
        mod a { use crate::Tool; }
        mod b { fn f(_: super::ToolSpec) {} }
        mod c { use crate::{ToolName, Value}; }
        mod d { fn f() -> crate::Thing { crate::Thing } }";
    assert_eq!(inline(text), [": a → tool", ": b → tool", ": c → name", ": d → all"]);
}

#[test]
fn re_exports_of_a_parent_lead_to_its_children() {
    let text = "mod catalog {
            mod entry { pub struct Entry; }
            mod names { use super::Entry; use crate::catalog::SIZE; }
            use entry::Entry;
            const SIZE: usize = 1;
        }
        mod user { use crate::catalog::Entry; }";
    assert_eq!(inline(text), [": user → catalog", "catalog: names → entry"]);
}

#[test]
fn re_exports_of_re_exports_are_followed() {
    let text = "mod a { pub mod deep { pub struct X; } }
        mod b { pub use crate::a::deep::X; }
        pub use b::X as Y;
        pub use Y as Z;
        pub use circle as circle;
        mod c { use crate::Z; use crate::circle; }";
    assert_eq!(inline(text), [": b → a", ": c → b"]);
}

#[test]
fn super_chains_count_at_the_common_parent() {
    let files = [
        ("src/lib.rs", "mod a;\nmod b;"),
        ("src/a/mod.rs", "mod x;\nmod y;\npub(crate) fn own() {}"),
        ("src/a/x.rs", "mod deep;"),
        (
            "src/a/x/deep.rs",
            "use super::super::y::Y;\nuse super::super::own;\nfn f() { super::super::super::b::g() }",
        ),
        ("src/a/y.rs", "pub struct Y;"),
        ("src/b.rs", "pub fn g() { self::h() }\nfn h() {}"),
    ];
    assert_eq!(found(&files), [": a → b", "a: x → y"]);
}

#[test]
fn code_for_tests_and_fuzzing_does_not_count() {
    let text = "#[cfg(test)] use crate::b::X;
        mod a {
            #[cfg(test)] mod tests { use crate::b::X; }
            #[cfg(fuzzing)] pub fn fuzz() { crate::b::f() }
            #[cfg(doctest)] use crate::b::X;
            struct S { #[cfg(test)] x: crate::b::X }
            impl S { #[cfg(any(test, fuzzing))] fn f(_: crate::b::X) {} }
            fn g(n: u8) {
                #[cfg(test)]
                let x = crate::b::f();
                match n { #[cfg(test)] 0 => crate::b::f(), _ => {} }
            }
            /// See [`crate::b::X`].
            fn documented() {}
        }
        mod b { pub struct X; pub fn f() {} }
        #[cfg(feature = \"x\")] mod c { use crate::b::X; }";
    assert_eq!(inline(text), [": c → b"]);
}

#[test]
fn paths_in_expressions_types_macros_and_attributes() {
    let uses_b = [
        "fn f() -> Option<crate::b::X> { None }",
        "fn f() { let x = if true { crate::b::f() } else { 1 }; }",
        "impl crate::b::T for u8 {}",
        "fn f() { println!(\"{}\", crate::b::f()); }",
        "fn f() { vec![1, crate::b::f()]; }",
        "macro_rules! m { () => { use $crate::{b::{X, f}}; } }",
        "fn f() { crate::b::m!(); }",
        "#[derive(Deserialize)] struct S { #[serde(default = \"crate::b::f\")] x: u8 }",
        "#[derive(Error)] #[error(\"{}\", super::b::f())] struct E;",
        "fn f<T: super::b::T>() where T: Sized {}",
        "fn f() { use super::b::f; f() }",
        "fn f(x: u8) { matches!(x, crate::b::C) }",
        "pub(in crate::a) fn f() { self::super::b::f() }",
    ];
    for text in uses_b {
        let text = format!("mod a {{ {text} }} mod b {{ pub struct X; }}");
        assert_eq!(inline(&text), [": a → b"], "{text}");
    }
    for text in [
        "fn f() { ::b::f() }",
        "fn f() { b::f() }",
        "fn f() { println!(\"see crate::b::f\") }",
        "fn f(&self) { self.b() }",
    ] {
        let text = format!("mod a {{ {text} }} mod b {{ pub struct X; }}");
        assert_eq!(inline(&text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn glob_imports_bring_in_names_of_the_parent() {
    let text = "mod a { mod child { use super::*; fn f(_: X, _: Own) {} } use crate::b::X; struct Own; }
        mod b { pub struct X; }
        mod c { use super::*; fn f() { d::g() } }
        mod d { pub fn g() {} }";
    assert_eq!(inline(text), [": a → b", ": c → d"]);
}

#[test]
fn exported_macros_are_found_in_their_module() {
    let text = "mod a { #[macro_export] macro_rules! m { () => {} } } mod b { fn f() { crate::m!() } }";
    assert_eq!(inline(text), [": b → a"]);
}

#[test]
fn alternative_files_of_a_module_count_together() {
    let files = [
        (
            "src/lib.rs",
            "#[cfg(feature = \"x\")] mod a;\n#[cfg(not(feature = \"x\"))]\n#[path = \"no_a.rs\"]\nmod a;\nmod b {}\nmod c {}",
        ),
        ("src/a.rs", "use crate::b::X;"),
        ("src/no_a.rs", "use crate::c::X;"),
    ];
    assert_eq!(found(&files), [": a → b", ": a → c"]);
}

fn file(path: &str, text: &str) -> File {
    File { path: path.to_owned(), text: text.to_owned() }
}

fn package(name: &str, dependencies: &[&str]) -> Value {
    let dependencies: Vec<Value> =
        dependencies.iter().map(|name| json!({"name": name, "kind": null, "optional": false})).collect();
    json!({
        "name": name, "publish": null, "manifest_path": format!("/w/crates/{name}/Cargo.toml"),
        "dependencies": dependencies,
        "targets": [{"name": name, "kind": ["lib"], "src_path": format!("/w/crates/{name}/src/lib.rs")}],
    })
}

fn architecture(packages: &[Value], files: &[File]) -> Architecture {
    Architecture::read(&json!({"workspace_root": "/w", "packages": packages}), files).unwrap()
}

fn messages(findings: &[super::Finding]) -> Vec<String> {
    findings.iter().map(ToString::to_string).collect()
}

const CYCLE: &str = "mod a {\n    use crate::b::X;\n}\nmod b {\n    use crate::c::X;\n    use crate::d::X;\n}\nmod c {\n    fn f() -> crate::a::X {}\n}\nmod d {}\n";

#[test]
fn str_2_a_cycle_of_three_modules_is_reported_with_a_line_for_each_step() {
    let architecture = architecture(&[package("x", &[])], &[file("crates/x/src/lib.rs", CYCLE)]);
    assert_eq!(
        messages(&architecture.check_cycles()),
        [
            "crates/x/src/lib.rs:2: modules of `x` use each other: a → b → c → a\n    a → b at crates/x/src/lib.rs:2\n    \
          b → c at crates/x/src/lib.rs:5\n    c → a at crates/x/src/lib.rs:9"
        ]
    );
}

#[test]
fn crates_have_a_size_limit() {
    let large = "\n".repeat(10_001);
    let architecture = architecture(
        &[package("x", &[]), package("y", &[])],
        &[file("crates/x/src/lib.rs", &large), file("crates/y/src/lib.rs", "")],
    );
    let found = messages(&architecture.check_sizes());
    assert_eq!(found, ["crates/x/src:1: `x` has 10,001 lines in src, the limit is 10,000: split the crate"]);
}

const EMPTY_PAGE: &str = "# A\n\n<!-- generated: crates; `cargo xtask codegen` writes this section -->\n<!-- end of generated -->\n\nText.\n\n\
     <!-- generated: modules; `cargo xtask codegen` writes this section -->\n<!-- end of generated -->\nEnd.\n";

#[test]
fn str_2_drawings_are_current_until_a_dependency_changes() {
    let sources = |b: &str| {
        vec![
            file(
                "crates/x/src/lib.rs",
                &format!("mod a {{ use crate::b::X; }}\nmod b {{ {b} }}\nmod c {{}}\n"),
            ),
            file("crates/y/src/lib.rs", ""),
        ]
    };
    let packages = [package("x", &["y"]), package("y", &[])];
    let before = architecture(&packages, &sources(""));
    let generated = before.generate(EMPTY_PAGE).unwrap();
    let paths: Vec<&str> = generated.iter().map(|it| it.path.as_str()).collect();
    assert_eq!(paths, [PAGE, "docs/images/crates.svg", "docs/images/modules-x.svg"]);
    let page = &generated[0].text;
    assert!(
        page.starts_with("# A\n\n<!-- generated")
            && page.contains("\n\nText.\n\n")
            && page.ends_with("\nEnd.\n")
    );
    assert!(page.contains("| `x` | 100 | `y` | – |") && page.contains("- `a` → `b`\n- `b`\n"));

    let committed: Vec<File> = generated.iter().map(|it| file(&it.path, &it.text)).collect();
    assert_eq!(messages(&before.check_drawings(&committed)), Vec::<String>::new());
    let after = architecture(
        &[package("x", &["y", "z"]), package("y", &[]), package("z", &[])],
        &[sources("use crate::c::X;"), vec![file("crates/z/src/lib.rs", "")]]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>(),
    );
    assert_eq!(
        messages(&after.check_drawings(&committed)),
        [
            "ARCHITECTURE.md:1: crate `x` now depends on `z`; if that is intended run `cargo xtask codegen` and record it in docs/decisions",
            "ARCHITECTURE.md:1: module `b` of `x` now uses `c`; if that is intended run `cargo xtask codegen`",
        ]
    );
    let fewer = architecture(&[package("x", &[]), package("y", &[])], &sources(""));
    assert_eq!(
        messages(&fewer.check_drawings(&committed)),
        ["ARCHITECTURE.md:1: crate `x` no longer depends on `y`; run `cargo xtask codegen`"]
    );
}

#[test]
fn line_counts_change_only_when_they_are_off() {
    use super::page::rounded;
    assert_eq!(rounded(4321, None), 4400);
    assert_eq!(rounded(4321, Some(4400)), 4400);
    assert_eq!(rounded(4700, Some(4400)), 4400);
    assert_eq!(rounded(5000, Some(4400)), 5000);
    assert_eq!(rounded(90, Some(100)), 100);
}

#[test]
fn str_1_a_bare_server_needs_no_database_http_client_or_interpreter() {
    let tree = |package: &str| {
        let mut command = xtask::cargo::cargo(&["tree", "--offline", "--edges", "normal"]);
        let text = xtask::process::output(command.args(["--prefix", "none", "-p", package])).unwrap();
        let names = text.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned);
        names.collect::<std::collections::BTreeSet<String>>()
    };
    let server = tree("onetool-server");
    assert!(server.contains("axum") && server.contains("onetool-core"), "{server:?}");
    let heavy = [
        "rusqlite",
        "reqwest",
        "rustpython",
        "rustpython-vm",
        "tokio-postgres",
        "onetool-proxy",
        "onetool-openapi",
    ];
    assert!(heavy.iter().all(|name| !server.contains(*name)), "{server:?}");
    // The names are right: the gateway has them.
    let cli = tree("onetool-cli");
    assert!(heavy.iter().all(|name| cli.contains(*name)), "{cli:?}");
}
