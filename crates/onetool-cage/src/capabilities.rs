//! Capabilities: a caged process drops them, even as root.

use std::io;

use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities,
};

use crate::Layer;

/// Permanently drops all capabilities of this process except `kept`.
pub(crate) fn drop_all_but(kept: CapabilitySet) -> io::Result<Layer> {
    // Fails for ordinary users, which is fine: without capabilities, and with no way to gain privileges, the bounding set
    // is useless.
    for capability in CapabilitySet::all().difference(kept).iter() {
        let _ = remove_capability_from_bounding_set(capability);
    }
    clear_ambient_capability_set()?;
    let (kept, none) = (capabilities(None)?.permitted & kept, CapabilitySet::empty());
    set_capabilities(None, CapabilitySets { effective: kept, permitted: kept, inheritable: none })?;
    let remaining = capabilities(None)?;
    if remaining.permitted == kept && remaining.effective == kept {
        Ok(Layer::Applied)
    } else {
        Err(io::Error::other("cannot drop all capabilities"))
    }
}
