//! The packs that come with onetool: which of them a configuration wants.

use std::path::PathBuf;
use std::sync::Arc;

use onetool_cage::Jobs;
use onetool_core::Tool;

use super::PackError;
use crate::catalog::{Catalog, ToolDocs};
use crate::config::{Config, PacksConfig, Redactor};

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
    jobs: Option<&Arc<Jobs>>,
) -> (Vec<Bundle>, Vec<PackError>) {
    let (mut bundles, mut missing) = (Vec::new(), Vec::new());
    for (name, wanted) in wanted(&config.packs, &config.redactor, jobs.cloned()) {
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
            Wanted::Yes(make) => bundles.push(make()),
        }
    }
    (bundles, missing)
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

fn wanted(packs: &PacksConfig, redactor: &Redactor, jobs: Option<Arc<Jobs>>) -> Vec<(&'static str, Wanted)> {
    let _ = (redactor, &jobs);
    vec![
        ("file", pack!("pack-file", packs.file, super::file::pack)),
        ("ripgrep", pack!("pack-ripgrep", packs.ripgrep, super::ripgrep::pack)),
        ("db", pack!("pack-db", packs.db, super::db::pack)),
        ("web", pack!("pack-web", packs.web, super::web::pack, jobs)),
        ("brave", pack!("pack-brave", packs.brave, super::brave::pack, redactor)),
        ("package", pack!("pack-package", packs.package, super::package::pack)),
        ("llm", pack!("pack-llm", packs.llm, super::llm::pack, redactor)),
    ]
}
