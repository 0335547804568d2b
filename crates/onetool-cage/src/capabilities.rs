//! Capabilities: a caged process has none, not even as root.

use std::io;

use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities,
};

use crate::Layer;

/// Drops every capability of this process but those to keep, for good.
pub(crate) fn drop_all_but(kept: CapabilitySet) -> io::Result<Layer> {
    // Needs a privilege that an ordinary user does not have, and then does not need either: a process that has no
    // capabilities and can never gain privileges gets nothing out of the bounding set.
    for capability in CapabilitySet::all().difference(kept).iter() {
        let _ = remove_capability_from_bounding_set(capability);
    }
    clear_ambient_capability_set()?;
    let (kept, none) = (capabilities(None)?.permitted & kept, CapabilitySet::empty());
    set_capabilities(None, CapabilitySets { effective: kept, permitted: kept, inheritable: none })?;
    let left = capabilities(None)?;
    if left.permitted == kept && left.effective == kept {
        Ok(Layer::Applied)
    } else {
        Err(io::Error::other("the process kept capabilities"))
    }
}
