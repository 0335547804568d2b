//! Landlock: no file can be opened, no port reached.

use std::io;
use std::path::PathBuf;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, LandlockStatus, Ruleset, RulesetAttr as _,
    RulesetCreatedAttr as _, RulesetStatus, Scope, path_beneath_rules,
};

use crate::Layer;

/// Forbids this process every file, port and abstract socket, for good; except that it may read and write, but not
/// execute, what is in `directories`.
pub(crate) fn forbid_all_but(directories: &[PathBuf]) -> io::Result<Layer> {
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
            Err(io::Error::other("the kernel has Landlock and did not apply it"))
        }
        (RulesetStatus::NotEnforced, _) => Ok(Layer::Missing),
    }
}
