//! The files of the page. Its modules are served as one file, without comments: one request, and a third smaller
//! when compressed than the same modules one by one.

use std::io::Write as _;
use std::sync::{LazyLock, OnceLock};

use flate2::Compression;
use flate2::write::GzEncoder;

/// The library that the page uses; the file names its authors and license.
const VENDORED: &str = "preact-htm.js";

/// The name under which the joined modules are served.
const SCRIPT: &str = "main.js";

/// The import statement of the joined modules: everything that the library exports.
const IMPORT: &str = "import { createContext, html, render, useContext, useEffect, useMemo, useRef, useState } \
                      from \"./preact-htm.js\";\n";

/// One file of the page.
pub(crate) struct Asset {
    pub(crate) name: &'static str,
    pub(crate) content_type: &'static str,
    pub(crate) bytes: Vec<u8>,
    pub(crate) etag: String,
    gzip: OnceLock<Vec<u8>>,
}

/// Returns the file of that name.
pub(crate) fn find(name: &str) -> Option<&'static Asset> {
    ASSETS.iter().find(|asset| asset.name == name)
}

macro_rules! embed {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../assets/", $name)))),*]
    };
}

/// The modules of the page in the order in which they are joined: `lib` first, because views read it while they load.
const MODULES: &[(&str, &str)] = &embed![
    "lib/browser.js",
    "lib/calls.js",
    "lib/connection.js",
    "lib/diff.js",
    "lib/events.js",
    "lib/format.js",
    "lib/hints.js",
    "lib/history.js",
    "lib/initial-value.js",
    "lib/json.js",
    "lib/route.js",
    "lib/schema.js",
    "lib/search.js",
    "lib/secrets.js",
    "lib/server.js",
    "lib/servers.js",
    "lib/snippets.js",
    "lib/store.js",
    "lib/token.js",
    "lib/tools.js",
    "lib/use-request.js",
    "widgets/badge.js",
    "widgets/call-details.js",
    "widgets/connection-state.js",
    "widgets/content-block.js",
    "widgets/copy-button.js",
    "widgets/days-chart.js",
    "widgets/dialog.js",
    "widgets/empty.js",
    "widgets/form/boolean-input.js",
    "widgets/form/const-input.js",
    "widgets/form/control.js",
    "widgets/form/enum-input.js",
    "widgets/form/errors.js",
    "widgets/form/field.js",
    "widgets/form/form.js",
    "widgets/form/json-input.js",
    "widgets/form/list-input.js",
    "widgets/form/map-input.js",
    "widgets/form/number-input.js",
    "widgets/form/object-fields.js",
    "widgets/form/object-input.js",
    "widgets/form/text-input.js",
    "widgets/form/variants-input.js",
    "widgets/history-list.js",
    "widgets/json-tree.js",
    "widgets/loading.js",
    "widgets/outcome.js",
    "widgets/output.js",
    "widgets/plain-text.js",
    "widgets/problem.js",
    "widgets/request-panel.js",
    "widgets/result-difference.js",
    "widgets/result-reader.js",
    "widgets/segments.js",
    "widgets/server-card.js",
    "widgets/server-log.js",
    "widgets/shortcut-list.js",
    "widgets/text-block.js",
    "widgets/tile.js",
    "widgets/tool-groups.js",
    "widgets/tool-list.js",
    "widgets/tool-row.js",
    "widgets/tool-table.js",
    "views/app.js",
    "views/console.js",
    "views/history.js",
    "views/results.js",
    "views/servers.js",
    "views/stats.js",
    "views/token.js",
    "views/tool.js",
    "views/welcome.js",
    "main.js",
];

static ASSETS: LazyLock<Vec<Asset>> = LazyLock::new(|| {
    let files = embed!["theme.js", "look.css", "app.css", "icon.svg", "preact-htm.js"];
    let served = files.into_iter().map(|(name, text)| {
        Asset::new(name, if name == VENDORED { text.to_owned() } else { without_comments(text) })
    });
    served.chain([Asset::new(SCRIPT, joined_modules())]).collect()
});

impl Asset {
    fn new(name: &'static str, text: String) -> Self {
        let bytes = text.into_bytes();
        let content_type = match name.rsplit_once('.') {
            Some((_, "js")) => "text/javascript; charset=utf-8",
            Some((_, "css")) => "text/css; charset=utf-8",
            Some((_, "svg")) => "image/svg+xml",
            _ => "application/octet-stream",
        };
        let etag = format!("\"{:016x}\"", fnv1a(&bytes));
        Self { name, content_type, bytes, etag, gzip: OnceLock::new() }
    }

    /// Returns the compressed file; it is compressed on first use.
    pub(crate) fn gzip(&self) -> &[u8] {
        self.gzip.get_or_init(|| {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
            // Writing to memory cannot fail.
            let _ = encoder.write_all(&self.bytes);
            encoder.finish().unwrap_or_default()
        })
    }
}

/// Joins the modules into one, without their imports. Names do not clash because no two modules declare the same one.
fn joined_modules() -> String {
    let bodies = MODULES.iter().map(|(_, text)| without_imports(&without_comments(text)));
    std::iter::once(IMPORT.to_owned()).chain(bodies).collect()
}

/// Removes import statements and the word `export`.
fn without_imports(text: &str) -> String {
    let mut is_import = false;
    let mut body = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        is_import |= line.starts_with("import ");
        if !is_import {
            body.push_str(line.strip_prefix("export ").unwrap_or(line));
        }
        is_import &= !line.trim_end().ends_with(';');
    }
    body
}

/// Removes empty lines and lines with only a comment: they are for readers of the source.
fn without_comments(text: &str) -> String {
    let mut is_comment = false;
    let is_code = |line: &&str| {
        let line = line.trim();
        let starts = line.starts_with("/*") && (line.ends_with("*/") || !line.contains("*/"));
        let is_hidden = is_comment || starts || line.starts_with("//") || line.is_empty();
        is_comment = (is_comment || starts) && !line.ends_with("*/");
        !is_hidden
    };
    text.split_inclusive('\n').filter(is_code).collect()
}

/// 64-bit FNV-1a. It only has to distinguish one release of a file from the next.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RAW_BUDGET: usize = 160_000;
    const GZIP_BUDGET: usize = 50_000;

    /// Our own files, without the vendored library.
    fn ours() -> impl Iterator<Item = (&'static str, &'static str)> {
        let files = ASSETS.iter().filter(|asset| asset.name != VENDORED);
        let files = files.map(|asset| (asset.name, std::str::from_utf8(&asset.bytes).unwrap()));
        files.chain([("index.html", include_str!("../assets/index.html"))])
    }

    #[test]
    fn the_page_stays_small() {
        let page = include_bytes!("../assets/index.html").len();
        let raw: usize = page + ASSETS.iter().map(|asset| asset.bytes.len()).sum::<usize>();
        let gzip: usize = page + ASSETS.iter().map(|asset| asset.gzip().len()).sum::<usize>();
        println!("assets: {raw} bytes, {gzip} compressed");
        assert!(raw < RAW_BUDGET, "{raw} bytes");
        assert!(gzip < GZIP_BUDGET, "{gzip} bytes compressed");
    }

    #[test]
    fn o7_no_asset_evaluates_strings_or_names_another_host() {
        let banned =
            ["innerHTML", "outerHTML", "insertAdjacentHTML", "eval(", "new Function", "document.write"];
        for (name, text) in ours() {
            for word in banned {
                assert!(!text.contains(word), "{name} contains {word}");
            }
            assert!(!text.contains("style="), "{name} contains an inline style, which the policy forbids");
            let urls = text.replace("http://www.w3.org/2000/svg", "");
            let foreign = urls.split("http").skip(1).filter(|rest| {
                let rest = rest.trim_start_matches('s');
                rest.strip_prefix("://")
                    .is_some_and(|host| host.starts_with(|c: char| c.is_ascii_alphanumeric()))
            });
            assert_eq!(foreign.count(), 0, "{name} names another host");
        }
    }

    #[test]
    fn comments_are_not_served() {
        let source = "// head\n\nlet a = 1; // kept\n  /** about b */\n/**\n * more\n */\nlet b = /** @type {C} */ (`\n  text`);\n";
        assert_eq!(without_comments(source), "let a = 1; // kept\nlet b = /** @type {C} */ (`\n  text`);\n");
        assert!(ours().all(|(_, text)| !text.contains("\n// ")));
    }

    #[test]
    fn joined_modules_import_only_the_library() {
        let source =
            "import { a } from \"./a.js\";\nimport {\n  b,\n  c,\n} from \"./b.js\";\nexport const d = a;\n";
        assert_eq!(without_imports(source), "const d = a;\n");
        let script = joined_modules();
        assert_eq!(script.matches("\nimport ").count(), 0);
        assert_eq!(script.matches("\nexport ").count(), 0);
    }

    #[test]
    fn no_two_modules_declare_the_same_name() {
        let mut modules = std::collections::HashMap::new();
        for (module, text) in MODULES {
            let mut imports = text.split("\nimport ").skip(1).filter_map(|rest| rest.split(';').next());
            assert!(
                !imports.any(|it| it.contains(" as ")),
                "{module} renames an import, which joining would lose"
            );
            for line in text.lines() {
                let line = line.strip_prefix("export ").unwrap_or(line);
                let line = line.strip_prefix("async ").unwrap_or(line);
                let Some((keyword, rest)) = line.split_once(' ') else { continue };
                if ["function", "class", "const", "let"].contains(&keyword) {
                    let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap();
                    let other = modules.insert(name, module);
                    assert_eq!(other, None, "{module} also declares {name}");
                }
            }
        }
    }

    #[test]
    fn every_asset_file_is_embedded() {
        let root = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/assets"));
        let mut folders = vec![root.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
                let is_module = MODULES.iter().any(|(module, _)| *module == name);
                let is_known = name == "index.html" || name.ends_with(".d.ts") || is_module;
                assert!(is_known || find(&name).is_some(), "add {name} to assets.rs");
            }
        }
    }
}
