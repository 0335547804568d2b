//! The packs that come with onetool: which of them a configuration wants.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use onetool_cage::Jobs;
use onetool_core::Tool;

use super::PackError;
use crate::catalog::{Catalog, ToolDocs};
use crate::config::{Config, PacksConfig, Redactor};
use crate::own_files::OwnFiles;

/// A pack that comes with onetool.
pub(crate) struct Bundle {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    pub(crate) tools: Vec<BundledTool>,
}

/// A tool, with what helps to find and use it.
pub(crate) struct BundledTool {
    pub(crate) tool: Arc<dyn Tool>,
    pub(crate) docs: ToolDocs,
}

/// Makes every pack that the configuration wants, and says which it wants in vain.
///
/// `jobs` reads documents from outside for them.
pub(crate) fn bundles(
    config: &Config,
    catalog: &Catalog,
    own: &OwnFiles,
    jobs: Option<&Arc<Jobs>>,
) -> (Vec<Bundle>, Vec<PackError>) {
    let (mut bundles, mut missing) = (Vec::new(), Vec::new());
    for (name, wanted) in wanted(&config.packs, &config.redactor, own, jobs.cloned()) {
        let named = config.packs.named.get(name);
        let failed = |reason: String| PackError {
            name: name.to_owned(),
            path: named.map_or_else(PathBuf::new, |at| at.file.to_path_buf()),
            line: named.and_then(|at| u32::try_from(at.line).ok()),
            reason,
        };
        let is_taken_from_outside = config.servers.contains_key(name) || config.apis.contains_key(name);
        match wanted {
            Wanted::No => {}
            // What nobody asked for is not missed.
            Wanted::Without { .. } if named.is_none() => {}
            Wanted::Without { why } => missing.push(failed(why)),
            Wanted::Yes(_) if catalog.has_local_pack(name) => {
                if named.is_some() {
                    let reason = format!("another pack here is called '{name}', too, and wins; rename it");
                    missing.push(failed(reason));
                }
            }
            Wanted::Yes(_) if is_taken_from_outside && named.is_none() => {}
            Wanted::Yes(_) if let Some(root) = closed_root(name, &config.packs, own) => {
                let reason = format!(
                    "the root {} lies in onetool's own directory, which no tool can open; name a directory outside \
                     of it (paths are relative to the file: '..' is the directory above .onetool)",
                    root.display()
                );
                missing.push(failed(reason));
            }
            Wanted::Yes(make) => bundles.push(make()),
        }
    }
    (bundles, missing)
}

/// Returns a root of a pack of files that is closed, so that nothing in it could be opened.
fn closed_root<'a>(name: &str, packs: &'a PacksConfig, own: &OwnFiles) -> Option<&'a Path> {
    let roots = match name {
        "file" => packs.file.as_ref().map(|it| &it.roots),
        "ripgrep" => packs.ripgrep.as_ref().map(|it| &it.roots),
        _ => None,
    }?;
    let closed = own.look();
    let is_closed = |root: &&PathBuf| File::open(root).is_ok_and(|it| closed.check(&it).is_err());
    roots.iter().find(is_closed).map(PathBuf::as_path)
}

enum Wanted {
    No,
    #[cfg_attr(not(feature = "_pack"), expect(dead_code, reason = "a program without packs makes none"))]
    Yes(Box<dyn FnOnce() -> Bundle>),
    /// The configuration wants it, but this program was built without it.
    #[cfg_attr(feature = "packs", expect(dead_code, reason = "a program with all packs lacks none"))]
    Without {
        why: String,
    },
}

/// Says of a pack whether it is wanted: `$config` holds its configuration, `$make` makes it where `$feature` is on, out of
/// the configuration and clones of what else is named.
macro_rules! pack {
    ($feature:literal, $config:expr, $make:expr $(, $more:ident)*) => {{
        #[cfg(feature = $feature)]
        let wanted = match $config.clone() {
            Some(config) => {
                $(let $more = $more.clone();)*
                Wanted::Yes(Box::new(move || $make(config $(, $more)*)))
            }
            None => Wanted::No,
        };
        #[cfg(not(feature = $feature))]
        let wanted = match $config {
            Some(_) => Wanted::Without {
                why: concat!("this onetool is built without it; build it with the feature ", $feature).into(),
            },
            None => Wanted::No,
        };
        wanted
    }};
}

fn wanted(
    packs: &PacksConfig,
    redactor: &Redactor,
    own: &OwnFiles,
    jobs: Option<Arc<Jobs>>,
) -> Vec<(&'static str, Wanted)> {
    let _ = (redactor, own, &jobs);
    vec![
        ("file", pack!("pack-file", packs.file, super::file::pack, own)),
        ("ripgrep", pack!("pack-ripgrep", packs.ripgrep, super::ripgrep::pack, own)),
        ("db", pack!("pack-db", packs.db, super::db::pack, own, jobs)),
        ("web", pack!("pack-web", packs.web, super::web::pack, jobs)),
        ("brave", pack!("pack-brave", packs.brave, super::brave::pack, redactor)),
        ("package", pack!("pack-package", packs.package, super::package::pack)),
        ("llm", pack!("pack-llm", packs.llm, super::llm::pack, redactor)),
    ]
}
