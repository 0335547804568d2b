//! Public items of the library crates have an example in their documentation (STR-5).

use syn::{Attribute, Expr, Ident, Item, Lit, Meta, UseTree, Visibility};

use crate::finding::Finding;
use crate::sources::File;

/// The crates that other programs use as libraries.
const CRATES: [&str; 2] = ["crates/onetool-core/src", "crates/onetool-server/src"];

pub(super) fn check(files: &[File], findings: &mut Vec<Finding>) {
    for root in CRATES {
        if let Some(module) = Module::read(files, &format!("{root}/lib.rs"), root) {
            module.check(files, findings);
        }
    }
}

/// A parsed file. The files of its child modules are in `directory`.
struct Module<'a> {
    path: &'a str,
    directory: String,
    items: Vec<Item>,
}

impl<'a> Module<'a> {
    fn read(files: &'a [File], path: &str, directory: &str) -> Option<Self> {
        let file = files.iter().find(|file| file.path == path)?;
        let items = syn::parse_file(&file.text).ok()?.items;
        Some(Self { path: &file.path, directory: directory.to_owned(), items })
    }

    fn child(&self, files: &'a [File], name: &str) -> Option<Self> {
        let directory = format!("{}/{name}", self.directory);
        Self::read(files, &format!("{directory}.rs"), &directory)
            .or_else(|| Self::read(files, &format!("{directory}/mod.rs"), &directory))
    }

    /// Checks all items that are visible in the documentation of this module.
    fn check(&self, files: &'a [File], findings: &mut Vec<Finding>) {
        for item in &self.items {
            match item {
                Item::Mod(module) if is_visible(&module.vis, &module.attrs) => {
                    if let Some(child) = self.child(files, &module.ident.to_string()) {
                        child.check(files, findings);
                    }
                }
                Item::Use(reexport) if is_visible(&reexport.vis, &reexport.attrs) => {
                    for path in leaves(&reexport.tree) {
                        self.check_reexport(files, &path, findings);
                    }
                }
                item => self.check_item(item, findings),
            }
        }
    }

    /// Checks a re-exported item. Paths into other crates are not followed.
    fn check_reexport(&self, files: &'a [File], path: &[String], findings: &mut Vec<Finding>) {
        let [module, rest @ ..] = path else { return };
        let is_child = |item: &Item| matches!(item, Item::Mod(child) if child.ident == module.as_str());
        if rest.is_empty() {
            let is_named = |item: &&Item| documented(item).is_some_and(|(name, _)| name == module.as_str());
            if let Some(item) = self.items.iter().find(is_named) {
                self.check_item(item, findings);
                return;
            }
            let reexports = self.items.iter().filter_map(|item| match item {
                Item::Use(reexport) if is_visible(&reexport.vis, &reexport.attrs) => Some(&reexport.tree),
                _ => None,
            });
            for path in
                reexports.flat_map(leaves).filter(|path| path.len() > 1 && path.last() == Some(module))
            {
                self.check_reexport(files, &path, findings);
            }
        } else if self.items.iter().any(is_child)
            && let Some(child) = self.child(files, module)
        {
            child.check_reexport(files, rest, findings);
        }
    }

    fn check_item(&self, item: &Item, findings: &mut Vec<Finding>) {
        let Some((name, attributes)) = documented(item) else { return };
        if !docs(attributes).contains("```") {
            findings.push(Finding::new(
                self.path,
                name.span().start().line,
                format!("the documentation of `{name}` has no example: add one, or `#[doc(hidden)]`"),
            ));
        }
    }
}

/// Returns the name and the attributes of an item that needs an example: a visible type, trait, function or macro.
fn documented(item: &Item) -> Option<(&Ident, &[Attribute])> {
    let (visibility, name, attributes) = match item {
        Item::Struct(item) => (&item.vis, &item.ident, &item.attrs),
        Item::Enum(item) => (&item.vis, &item.ident, &item.attrs),
        Item::Trait(item) => (&item.vis, &item.ident, &item.attrs),
        Item::Fn(item) => (&item.vis, &item.sig.ident, &item.attrs),
        Item::Macro(item) if item.attrs.iter().any(|it| it.path().is_ident("macro_export")) => {
            return item.ident.as_ref().map(|name| (name, item.attrs.as_slice()));
        }
        _ => return None,
    };
    is_visible(visibility, attributes).then_some((name, attributes))
}

fn is_visible(visibility: &Visibility, attributes: &[Attribute]) -> bool {
    let is_hidden = |attribute: &Attribute| match &attribute.meta {
        Meta::List(list) => list.path.is_ident("doc") && list.tokens.to_string() == "hidden",
        _ => false,
    };
    matches!(visibility, Visibility::Public(_)) && !attributes.iter().any(is_hidden)
}

fn docs(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(doc) if doc.path.is_ident("doc") => match &doc.value {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Str(text) => Some(text.value()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the paths that a `use` imports, without globs.
fn leaves(tree: &UseTree) -> Vec<Vec<String>> {
    match tree {
        UseTree::Path(path) => {
            let prefixed = |mut leaf: Vec<String>| {
                leaf.insert(0, path.ident.to_string());
                leaf
            };
            leaves(&path.tree).into_iter().map(prefixed).collect()
        }
        UseTree::Name(name) => vec![vec![name.ident.to_string()]],
        UseTree::Rename(rename) => vec![vec![rename.ident.to_string()]],
        UseTree::Group(group) => group.items.iter().flat_map(leaves).collect(),
        UseTree::Glob(_) => Vec::new(),
    }
}
