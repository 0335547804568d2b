//! The state of the cage's layers.

use serde::{Deserialize, Serialize};

/// The state of one layer of the cage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// Fully applied.
    Applied,
    /// Partly applied, because the kernel supports only part of it.
    Partial,
    /// Not applied, because the kernel does not support it or does not allow this process to use it.
    #[default]
    Missing,
}

/// The state of the cage's layers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CageReport {
    /// Limits on memory, files, descriptors and core dumps.
    pub rlimits: Layer,
    /// The process can never gain privileges.
    pub no_new_privs: Layer,
    /// The process has no capabilities, not even as root.
    pub capabilities: Layer,
    /// Separate user, PID and network namespaces. Containers often forbid them, so they are not required.
    pub namespaces: Layer,
    /// Landlock: no access to files and the network.
    pub landlock: Layer,
    /// Seccomp: a system call that is not needed for computing kills the process.
    pub seccomp: Layer,
}

impl CageReport {
    /// Returns whether every required layer is fully applied.
    pub fn is_complete(&self) -> bool {
        self.gaps().is_empty()
    }

    /// Returns the names of the required layers that are not fully applied.
    pub fn gaps(&self) -> Vec<&'static str> {
        let layers = [
            ("resource limits", "all resource limits", self.rlimits),
            ("no-new-privileges", "all of no-new-privileges", self.no_new_privs),
            ("dropped capabilities", "all dropped capabilities", self.capabilities),
            ("Landlock", "all of Landlock (the kernel supports an older version)", self.landlock),
            ("seccomp", "all of seccomp", self.seccomp),
        ];
        let gap = |(missing, partial, layer)| match layer {
            Layer::Applied => None,
            Layer::Partial => Some(partial),
            Layer::Missing => Some(missing),
        };
        layers.into_iter().filter_map(gap).collect()
    }
}
