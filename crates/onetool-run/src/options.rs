//! The options of `run`: limits of programs.

use onetool_cage::SlotLimits;
use onetool_config::{AtLeast, Seconds};
use schemars::JsonSchema;
use serde::Deserialize;

const MB: u64 = 1024 * 1024;

/// Limits of code in `run`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct RunOptions {
    /// Time limit of a program in seconds, including its tool calls.
    pub timeout: Seconds,
    /// Memory limit of a program in megabytes.
    pub memory_mb: AtLeast<16>,
    /// Maximum number of tool calls of a program.
    pub max_calls: u32,
    /// Maximum number of concurrent tool calls of a program; more wait.
    pub max_parallel: AtLeast<1>,
    /// Maximum size of printed text in bytes.
    pub max_print: usize,
    /// Maximum size of the result in bytes.
    pub max_result: usize,
    /// Maximum number of bytes that the gateway buffers for a program: arguments of its calls, and results that it has
    /// not read yet.
    pub max_buffer: usize,
    /// Maximum number of concurrent programs; more wait.
    pub max_concurrent: AtLeast<1>,
    /// Memory limit of all programs together in megabytes. Default: the memory of the machine or its container.
    pub max_total_memory_mb: Option<AtLeast<16>>,
    /// Maximum number of waiting programs; more are refused.
    pub max_waiting: usize,
    /// Whether to refuse to run code on a kernel that lacks an isolation layer (Landlock, seccomp). Layers that the
    /// kernel has are always required; `onetool check` lists those that it lacks.
    pub require_cage: bool,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            timeout: Seconds::new(120),
            memory_mb: AtLeast::new(256),
            max_calls: 1000,
            max_parallel: AtLeast::new(16),
            max_print: 1_000_000,
            max_result: 50_000_000,
            max_buffer: 100_000_000,
            max_concurrent: AtLeast::new(32),
            max_total_memory_mb: None,
            max_waiting: 64,
            require_cage: false,
        }
    }
}

impl RunOptions {
    /// Returns how many processes may exist at the same time.
    pub fn slots(&self) -> SlotLimits {
        let memory = self.max_total_memory_mb.map(|it| it.get().saturating_mul(MB));
        let memory = memory.unwrap_or_else(onetool_cage::total_memory);
        SlotLimits { running: self.max_concurrent.size(), memory, waiting: self.max_waiting }
    }

    /// Returns the memory limit of a program in bytes.
    #[cfg(feature = "_run")]
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.memory_mb.get().saturating_mul(MB)
    }
}
