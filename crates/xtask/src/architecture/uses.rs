//! Resolves the paths in modules to the modules they lead to.

use std::collections::BTreeMap;

use super::modules::{Module, ModulePath, Modules, Place};

/// How many re-exports a path may go through; more is a cycle of re-exports.
const MAX_HOPS: usize = 32;

/// Two modules with the same parent, of which one uses the other, and the first place where it does.
pub(super) type Uses = BTreeMap<(String, String), Place>;

/// Returns the uses between sibling modules, by the path of their parent.
///
/// A use counts at the deepest module that contains both ends, between its two children that contain them. A module that
/// uses an item of its parent's own file, or its own child, is not listed.
pub(super) fn uses(modules: &Modules) -> BTreeMap<ModulePath, Uses> {
    let mut found: BTreeMap<ModulePath, Uses> = BTreeMap::new();
    for (user, module) in modules {
        let resolver = Resolver { modules, user };
        let mut record = |used: Option<ModulePath>, place: &Place| {
            let Some((parent, from, to)) = used.and_then(|used| siblings(user, &used)) else { return };
            let uses = found.entry(parent).or_default();
            uses.entry((from, to)).or_insert_with(|| place.clone());
        };
        for reference in &module.references {
            record(resolver.follow(user, &reference.path, 0), &reference.place);
        }
        for glob in &module.globs {
            for (name, place) in &module.names {
                if !resolver.declares(user, module, name) {
                    let path: Vec<String> = glob.iter().cloned().chain([name.clone()]).collect();
                    record(resolver.follow(user, &path, 0), place);
                }
            }
        }
    }
    found
}

/// Returns the common parent, and its children that contain the user and the used module.
fn siblings(user: &[String], used: &[String]) -> Option<(ModulePath, String, String)> {
    let depth = user.iter().zip(used).take_while(|(a, b)| a == b).count();
    Some((user[..depth].to_vec(), user.get(depth)?.clone(), used.get(depth)?.clone()))
}

struct Resolver<'a> {
    modules: &'a Modules,
    /// The module whose paths are resolved.
    user: &'a [String],
}

impl Resolver<'_> {
    /// Follows a path in the module `from`; returns the first module on it that does not contain the user.
    ///
    /// A path stays inside the modules that contain the user while it goes up, and through their imports and re-exports.
    fn follow(&self, from: &[String], path: &[String], hops: usize) -> Option<ModulePath> {
        let mut current = from.to_vec();
        let mut rest = path;
        while let Some((first, after)) = rest.split_first() {
            match first.as_str() {
                "crate" => current.clear(),
                "super" => drop(current.pop()),
                "self" => {}
                _ => break,
            }
            rest = after;
        }
        while self.user.starts_with(&current) {
            let (name, after) = rest.split_first()?;
            let child: ModulePath = current.iter().cloned().chain([name.clone()]).collect();
            if self.modules.contains_key(&child) {
                current = child;
                rest = after;
                continue;
            }
            let module = self.module(&current)?;
            if module.items.contains(name) || hops == MAX_HOPS {
                return None;
            }
            if let Some(path) = module.imports.get(name) {
                let path: Vec<String> = path.iter().chain(after).cloned().collect();
                return self.follow(&current, &path, hops + 1);
            }
            let glob = module.globs.iter().find(|glob| self.glob_has(&current, glob, name))?;
            let path: Vec<String> = glob.iter().chain(rest).cloned().collect();
            return self.follow(&current, &path, hops + 1);
        }
        Some(current)
    }

    /// Returns whether `use GLOB::*` in the module `from` brings in a name.
    fn glob_has(&self, from: &[String], glob: &[String], name: &str) -> bool {
        let Some(target) = self.locate(from, glob) else { return false };
        self.module(&target).is_some_and(|module| self.declares(&target, module, name))
    }

    /// Returns the module that a path names, if it names one without going through imports.
    fn locate(&self, from: &[String], path: &[String]) -> Option<ModulePath> {
        let mut current = from.to_vec();
        for name in path {
            match name.as_str() {
                "crate" => current.clear(),
                "super" => drop(current.pop()),
                "self" => {}
                name => current.push(name.to_owned()),
            }
        }
        self.modules.contains_key(&current).then_some(current)
    }

    fn declares(&self, path: &[String], module: &Module, name: &str) -> bool {
        let child: ModulePath = path.iter().cloned().chain([name.to_owned()]).collect();
        module.items.contains(name) || module.imports.contains_key(name) || self.modules.contains_key(&child)
    }

    fn module(&self, path: &[String]) -> Option<&Module> {
        self.modules.get(path)
    }
}
