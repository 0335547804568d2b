//! Reads the modules of a library or binary with `syn`: what each declares, imports and refers to.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail};
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, ImplItem, Item, ItemMod, Lit, Meta, TraitItem, UseTree};

use super::cfg;

/// The path of a module from the root of its crate; the root's path is empty.
pub(super) type ModulePath = Vec<String>;

/// A line of a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) file: String,
    pub(super) line: usize,
}

/// A path in the source, as written, that may lead to another module.
pub(super) struct Reference {
    pub(super) path: Vec<String>,
    pub(super) place: Place,
}

/// The contents of a module's own file, without its child modules.
#[derive(Default)]
pub(super) struct Module {
    /// The items that it defines.
    pub(super) items: BTreeSet<String>,
    /// The names that it imports or re-exports, with their paths.
    pub(super) imports: BTreeMap<String, Vec<String>>,
    /// The paths `P` of its `use P::*`.
    pub(super) globs: Vec<Vec<String>>,
    /// Every path that begins with `crate`, `super` or `self`.
    pub(super) references: Vec<Reference>,
    /// The first name of every other path, which a glob import may bring in.
    pub(super) names: BTreeMap<String, Place>,
}

/// All modules of a library or binary.
pub(super) type Modules = BTreeMap<ModulePath, Module>;

/// Reads the modules from the root file on. `sources` are all files of the workspace.
pub(super) fn read(root: &str, sources: &BTreeMap<&str, &str>) -> Result<Modules> {
    let mut reader = Reader { sources, modules: Modules::new() };
    let (directory, _) = root.rsplit_once('/').context("a root file is in a directory")?;
    reader.read_file(root, directory.to_owned(), Vec::new())?;
    Ok(reader.modules)
}

struct Reader<'a> {
    sources: &'a BTreeMap<&'a str, &'a str>,
    modules: Modules,
}

impl Reader<'_> {
    /// Reads a file. The files of its child modules are in `directory`.
    fn read_file(&mut self, file: &str, directory: String, path: ModulePath) -> Result<()> {
        let text = self.sources.get(file).with_context(|| format!("cannot find the module file {file}"))?;
        let parsed = syn::parse_file(text).with_context(|| format!("cannot parse {file}"))?;
        self.read_items(&parsed.items, file, directory, path)
    }

    fn read_items(&mut self, items: &[Item], file: &str, directory: String, path: ModulePath) -> Result<()> {
        let mut exported_macros = Vec::new();
        let module = self.modules.entry(path.clone()).or_default();
        for item in items.iter().filter(|item| !cfg::is_test_only(attributes(item))) {
            declare(item, module, &mut exported_macros);
        }
        let mut collector = Collector { file, module, children: Vec::new() };
        for item in items {
            collector.visit_item(item);
        }
        let children = collector.children;
        // `#[macro_export]` puts a macro into the root.
        for name in exported_macros.into_iter().filter(|_| !path.is_empty()) {
            let root = self.modules.entry(Vec::new()).or_default();
            let target = std::iter::once("crate".to_owned()).chain(path.clone()).chain([name.clone()]);
            root.imports.insert(name, target.collect());
        }
        for child in children {
            self.read_child(child, file, &directory, &path)?;
        }
        Ok(())
    }

    fn read_child(&mut self, item: &ItemMod, file: &str, directory: &str, parent: &[String]) -> Result<()> {
        let name = item.ident.to_string();
        let path: ModulePath = parent.iter().cloned().chain([name.clone()]).collect();
        let own_directory = format!("{directory}/{name}");
        if let Some((_, items)) = &item.content {
            return self.read_items(items, file, own_directory, path);
        }
        if let Some(written) = path_attribute(&item.attrs) {
            let (here, _) = file.rsplit_once('/').unwrap_or_default();
            let (below, _) = written.rsplit_once('/').unwrap_or_default();
            let directory = format!("{here}/{below}").trim_end_matches('/').to_owned();
            return self.read_file(&format!("{here}/{written}"), directory, path);
        }
        let candidates = [format!("{own_directory}.rs"), format!("{own_directory}/mod.rs")];
        match candidates.iter().find(|file| self.sources.contains_key(file.as_str())) {
            Some(file) => self.read_file(file, own_directory, path),
            None => bail!("{file}: cannot find the file of `mod {name}`"),
        }
    }
}

/// Records the names that an item adds to its module.
fn declare(item: &Item, module: &mut Module, exported_macros: &mut Vec<String>) {
    let name = match item {
        Item::Const(item) => Some(&item.ident),
        Item::Enum(item) => Some(&item.ident),
        Item::Fn(item) => Some(&item.sig.ident),
        Item::Macro(item) => {
            let is_exported = item.attrs.iter().any(|attribute| attribute.path().is_ident("macro_export"));
            exported_macros.extend(item.ident.iter().filter(|_| is_exported).map(ToString::to_string));
            item.ident.as_ref()
        }
        Item::Static(item) => Some(&item.ident),
        Item::Struct(item) => Some(&item.ident),
        Item::Trait(item) => Some(&item.ident),
        Item::TraitAlias(item) => Some(&item.ident),
        Item::Type(item) => Some(&item.ident),
        Item::Union(item) => Some(&item.ident),
        Item::Use(item) => {
            flatten(&item.tree, &[], &mut |leaf| match leaf.name {
                Some(name) => drop(module.imports.insert(name, leaf.path)),
                None => module.globs.push(leaf.path),
            });
            None
        }
        _ => None,
    };
    module.items.extend(name.map(ToString::to_string));
}

/// One name of a `use` declaration.
struct Leaf {
    path: Vec<String>,
    /// The name it gets here; none for `*`.
    name: Option<String>,
    line: usize,
}

/// Calls `found` for each name of a `use` tree.
fn flatten(tree: &UseTree, prefix: &[String], found: &mut dyn FnMut(Leaf)) {
    let joined = |ident: &syn::Ident| -> Vec<String> {
        // `a::{self}` is `a`.
        let own = Some(ident.to_string()).filter(|name| name != "self" || prefix.is_empty());
        prefix.iter().cloned().chain(own).collect()
    };
    match tree {
        UseTree::Path(it) => flatten(&it.tree, &joined(&it.ident), found),
        UseTree::Name(it) => {
            let path = joined(&it.ident);
            let name = path.last().cloned();
            found(Leaf { path, name, line: line(it.ident.span()) });
        }
        UseTree::Rename(it) => {
            let name = Some(it.rename.to_string());
            found(Leaf { path: joined(&it.ident), name, line: line(it.ident.span()) });
        }
        UseTree::Glob(it) => {
            found(Leaf { path: prefix.to_vec(), name: None, line: line(it.star_token.spans[0]) });
        }
        UseTree::Group(it) => it.items.iter().for_each(|tree| flatten(tree, prefix, found)),
    }
}

/// Visits the items of one module, except its child modules, and records the paths in them.
struct Collector<'a, 'ast> {
    file: &'a str,
    module: &'a mut Module,
    children: Vec<&'ast ItemMod>,
}

impl Collector<'_, '_> {
    fn record(&mut self, path: Vec<String>, line: usize) {
        let place = Place { file: self.file.to_owned(), line };
        match path.first() {
            Some(first) if !is_keyword(first) => {
                self.module.names.entry(first.clone()).or_insert(place);
            }
            Some(_) if path.len() > 1 => self.module.references.push(Reference { path, place }),
            Some(_) | None => {}
        }
    }

    /// Records the paths in unparsed tokens: the arguments of macros and attributes.
    fn record_tokens(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            match &tokens[at] {
                TokenTree::Ident(ident) if is_keyword(&ident.to_string()) && is_colons(&tokens, at + 1) => {
                    at = self.record_path(&tokens, at, Vec::new());
                }
                TokenTree::Group(group) => {
                    self.record_tokens(group.stream());
                    at += 1;
                }
                TokenTree::Literal(literal) => {
                    self.record_string(literal);
                    at += 1;
                }
                _ => at += 1,
            }
        }
    }

    /// Records the path, or the group of paths, that begins at a token; returns the index after it.
    fn record_path(&mut self, tokens: &[TokenTree], mut at: usize, mut path: Vec<String>) -> usize {
        let mut first_line = None;
        loop {
            match tokens.get(at) {
                Some(TokenTree::Ident(ident)) => {
                    path.push(ident.to_string());
                    first_line.get_or_insert_with(|| line(ident.span()));
                    at += 1;
                }
                Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                    let inside: Vec<TokenTree> = group.stream().into_iter().collect();
                    let is_comma =
                        |tree: &TokenTree| matches!(tree, TokenTree::Punct(it) if it.as_char() == ',');
                    for part in inside.split(is_comma).filter(|part| !part.is_empty()) {
                        self.record_path(part, 0, path.clone());
                    }
                    return at + 1;
                }
                _ => break,
            }
            if !is_colons(tokens, at) {
                break;
            }
            at += 2;
        }
        if let Some(line) = first_line {
            self.record(path, line);
        }
        at
    }

    /// Records a path in an attribute's string, as in `#[serde(default = "super::default_port")]`.
    fn record_string(&mut self, literal: &proc_macro2::Literal) {
        let text = literal.to_string();
        let inside = text.trim_matches('"');
        let is_path = inside.chars().all(|c| c.is_alphanumeric() || c == '_' || c == ':');
        let path: Vec<String> = inside.split("::").map(str::to_owned).collect();
        if is_path && path.len() > 1 && is_keyword(&path[0]) {
            self.record(path, line(literal.span()));
        }
    }
}

impl<'ast> Visit<'ast> for Collector<'_, 'ast> {
    fn visit_item(&mut self, item: &'ast Item) {
        if cfg::is_test_only(attributes(item)) {
            return;
        }
        match item {
            Item::Mod(module) => self.children.push(module),
            Item::Use(item) => {
                flatten(&item.tree, &[], &mut |leaf| self.record(leaf.path, leaf.line));
            }
            _ => visit::visit_item(self, item),
        }
    }

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        let attributes = match item {
            ImplItem::Const(it) => &it.attrs,
            ImplItem::Fn(it) => &it.attrs,
            ImplItem::Type(it) => &it.attrs,
            ImplItem::Macro(it) => &it.attrs,
            _ => return,
        };
        if !cfg::is_test_only(attributes) {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_trait_item(&mut self, item: &'ast TraitItem) {
        let attributes = match item {
            TraitItem::Const(it) => &it.attrs,
            TraitItem::Fn(it) => &it.attrs,
            TraitItem::Type(it) => &it.attrs,
            TraitItem::Macro(it) => &it.attrs,
            _ => return,
        };
        if !cfg::is_test_only(attributes) {
            visit::visit_trait_item(self, item);
        }
    }

    fn visit_field(&mut self, field: &'ast syn::Field) {
        if !cfg::is_test_only(&field.attrs) {
            visit::visit_field(self, field);
        }
    }

    fn visit_field_value(&mut self, field: &'ast syn::FieldValue) {
        if !cfg::is_test_only(&field.attrs) {
            visit::visit_field_value(self, field);
        }
    }

    fn visit_variant(&mut self, variant: &'ast syn::Variant) {
        if !cfg::is_test_only(&variant.attrs) {
            visit::visit_variant(self, variant);
        }
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        if !cfg::is_test_only(&arm.attrs) {
            visit::visit_arm(self, arm);
        }
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        if !cfg::is_test_only(&local.attrs) {
            visit::visit_local(self, local);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        // `::name` is another crate.
        if path.leading_colon.is_none() {
            let names = path.segments.iter().map(|segment| segment.ident.to_string());
            let line = path.segments.first().map_or(0, |segment| line(segment.ident.span()));
            self.record(names.collect(), line);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.record_tokens(call.tokens.clone());
        visit::visit_macro(self, call);
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        match &attribute.meta {
            Meta::List(list) => self.record_tokens(list.tokens.clone()),
            Meta::NameValue(_) | Meta::Path(_) => {}
        }
    }
}

fn is_keyword(name: &str) -> bool {
    ["crate", "super", "self"].contains(&name)
}

fn is_colons(tokens: &[TokenTree], at: usize) -> bool {
    let is_colon = |at| matches!(tokens.get(at), Some(TokenTree::Punct(it)) if it.as_char() == ':');
    is_colon(at) && is_colon(at + 1)
}

fn line(span: proc_macro2::Span) -> usize {
    span.start().line
}

/// Returns the value of `#[path = "…"]`.
fn path_attribute(attributes: &[Attribute]) -> Option<String> {
    attributes.iter().find_map(|attribute| match &attribute.meta {
        Meta::NameValue(meta) if meta.path.is_ident("path") => match &meta.value {
            Expr::Lit(syn::ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    })
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(it) => &it.attrs,
        Item::Enum(it) => &it.attrs,
        Item::ExternCrate(it) => &it.attrs,
        Item::Fn(it) => &it.attrs,
        Item::ForeignMod(it) => &it.attrs,
        Item::Impl(it) => &it.attrs,
        Item::Macro(it) => &it.attrs,
        Item::Mod(it) => &it.attrs,
        Item::Static(it) => &it.attrs,
        Item::Struct(it) => &it.attrs,
        Item::Trait(it) => &it.attrs,
        Item::TraitAlias(it) => &it.attrs,
        Item::Type(it) => &it.attrs,
        Item::Union(it) => &it.attrs,
        Item::Use(it) => &it.attrs,
        _ => &[],
    }
}
