//! What the surrounding program provides for child processes.

use std::fmt;
use std::sync::Arc;

use onetool_core::BoxFuture;

use crate::environment::ChildEnvironment;
use crate::guard::Guard;

/// How to start child processes, and what is known about them from earlier runs.
#[derive(Debug, Clone, Default)]
pub struct ChildContext {
    /// The variables that children inherit.
    pub environment: ChildEnvironment,
    /// How to start the guard, which ends everything that a child started when the child exits or when we are killed.
    /// Without a guard, only the child's process group is ended, and nothing is when we are killed.
    pub guard: Option<Guard>,
    /// What is known about servers from earlier runs. Without it, every run has to find out again.
    pub memory: Option<Arc<dyn ServerMemory>>,
}

/// Remembers facts about servers that run as child processes, from one run of the gateway to the next.
pub trait ServerMemory: fmt::Debug + Send + Sync + 'static {
    /// Returns the version of the server that this command line last started, if its first message has to be
    /// `initialize` because it fails on `server/discover`.
    fn needs_initialize<'a>(&'a self, command: &'a str, args: &'a [String]) -> BoxFuture<'a, Option<String>>;

    /// Remembers that this version of the server needs `initialize`; `None` forgets it.
    fn remember_initialize(&self, command: &str, args: &[String], version: Option<&str>);
}
