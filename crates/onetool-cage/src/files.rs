//! Landlock: denies access to files and the network.

use std::io;
use std::path::PathBuf;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, LandlockStatus, Ruleset, RulesetAttr as _,
    RulesetCreatedAttr as _, RulesetStatus, Scope, path_beneath_rules,
};

use crate::Layer;

/// Permanently denies this process access to files, ports and abstract sockets, except that it can read and write, but
/// not execute, files in `directories`.
pub(crate) fn restrict_to(directories: &[PathBuf]) -> io::Result<Layer> {
    let abi = ABI::V6;
    let data = AccessFs::from_all(abi) & !AccessFs::Execute;
    let restricted = Ruleset::default()
        .handle_access(AccessFs::from_all(abi))
        .and_then(|rules| rules.handle_access(AccessNet::from_all(abi)))
        .and_then(|rules| rules.scope(Scope::from_all(abi)))
        .and_then(Ruleset::create)
        .and_then(|rules| rules.add_rules(path_beneath_rules(directories, data)))
        .and_then(landlock::RulesetCreated::restrict_self)
        .map_err(io::Error::other)?;
    match (restricted.ruleset, restricted.landlock) {
        (RulesetStatus::FullyEnforced, _) => Ok(Layer::Applied),
        (RulesetStatus::PartiallyEnforced, _) => Ok(Layer::Partial),
        (RulesetStatus::NotEnforced, LandlockStatus::Available { .. }) => {
            Err(io::Error::other("the kernel supports Landlock but did not apply it"))
        }
        (RulesetStatus::NotEnforced, _) => Ok(Layer::Missing),
    }
}
