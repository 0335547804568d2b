//! Which layers of the cage are in place.

use serde::{Deserialize, Serialize};

/// How far one layer of the cage is in place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// Everything that it should restrict is restricted.
    Applied,
    /// The kernel knows only part of what it should restrict.
    Partial,
    /// The kernel does not offer it, or does not let this process use it.
    #[default]
    Missing,
}

/// Which layers of the cage are in place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CageReport {
    /// Limits on memory, files, descriptors and core dumps.
    pub rlimits: Layer,
    /// The process can never gain privileges.
    pub no_new_privs: Layer,
    /// The process has no capabilities, not even as root.
    pub capabilities: Layer,
    /// User, process and network namespaces of its own. Containers often forbid them, so no cage requires them.
    pub namespaces: Layer,
    /// Landlock: no file can be opened, no port reached.
    pub landlock: Layer,
    /// Seccomp: a system call that computing does not need ends the process.
    pub seccomp: Layer,
}

impl CageReport {
    /// Whether every layer that a cage requires is in place.
    pub fn is_complete(&self) -> bool {
        self.gaps().is_empty()
    }

    /// Names the required layers that are not fully in place.
    pub fn gaps(&self) -> Vec<&'static str> {
        let layers = [
            ("resource limits", "all resource limits", self.rlimits),
            ("no-new-privileges", "all of no-new-privileges", self.no_new_privs),
            ("dropped capabilities", "all dropped capabilities", self.capabilities),
            ("Landlock", "all of Landlock (the kernel has an older version)", self.landlock),
            ("seccomp", "all of seccomp", self.seccomp),
        ];
        let gap = |(whole, part, layer)| match layer {
            Layer::Applied => None,
            Layer::Partial => Some(part),
            Layer::Missing => Some(whole),
        };
        layers.into_iter().filter_map(gap).collect()
    }
}
