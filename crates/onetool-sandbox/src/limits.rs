//! Limits of a run, and the messages for exceeding them.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Limits of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Wall-clock time, including the time spent in tools.
    pub time: Duration,
    /// Memory in addition to what the interpreter itself needs.
    pub memory_bytes: u64,
    /// Maximum number of calls to the host.
    pub max_calls: u32,
    /// Maximum number of concurrent calls.
    ///
    /// Further calls wait in a queue, first come, first served: a `gather` of a hundred calls is legitimate, and code
    /// should not depend on this number, which differs between gateways. But if the arguments of the queued calls take
    /// more than [`max_result_bytes`](Self::max_result_bytes), the run ends with [`LimitKind::Parallel`]; otherwise code
    /// could fill the gateway's memory instead of its own.
    pub max_parallel: u32,
    /// Maximum size of printed text, in bytes.
    pub max_print_bytes: usize,
    /// Maximum size of the result, and of the arguments of one call, in bytes of JSON.
    pub max_result_bytes: usize,
    /// Maximum size of what the gateway holds for the run, in bytes: arguments of calls, and results that the code has
    /// not read yet.
    pub max_buffer_bytes: usize,
    /// Whether to refuse to run code if the kernel does not support a layer of the cage. A layer that it supports is
    /// always required.
    pub require_complete_cage: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            time: Duration::from_mins(2),
            memory_bytes: 256 * 1024 * 1024,
            max_calls: 1000,
            max_parallel: 16,
            max_print_bytes: 1_000_000,
            max_result_bytes: 50_000_000,
            max_buffer_bytes: 100_000_000,
            require_complete_cage: false,
        }
    }
}

/// The limit that a run exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LimitKind {
    /// [`Limits::time`].
    Time,
    /// [`Limits::memory_bytes`].
    Memory,
    /// The code or its data is nested too deeply for the interpreter's stack.
    Nesting,
    /// [`Limits::max_calls`].
    Calls,
    /// [`Limits::max_parallel`]: the arguments of queued calls are too large.
    Parallel,
    /// [`Limits::max_print_bytes`].
    Print,
    /// [`Limits::max_result_bytes`].
    Result,
    /// [`Limits::max_buffer_bytes`].
    Buffer,
}

impl LimitKind {
    /// Returns a message that says what the code did, with the value of the limit.
    pub(crate) fn explain(self, limits: &Limits) -> String {
        match self {
            Self::Time => format!("the code ran longer than {}", Seconds(limits.time)),
            Self::Memory => format!("the code needed more than {} of memory", Bytes(limits.memory_bytes)),
            Self::Nesting => "the code or its data is nested too deeply".to_owned(),
            Self::Calls => format!("the code made more than {} calls", limits.max_calls),
            Self::Parallel => format!(
                "more than {max} concurrent calls, and those in the queue have more than {} of arguments; \
                 use asyncio.Semaphore({max}) or fewer workers",
                Bytes(limits.max_result_bytes as u64),
                max = limits.max_parallel
            ),
            Self::Print => format!("the code printed more than {}", Bytes(limits.max_print_bytes as u64)),
            Self::Result => format!("the result is larger than {}", Bytes(limits.max_result_bytes as u64)),
            Self::Buffer => format!(
                "arguments and results of in-flight calls need more than {}; make fewer or smaller calls at a time",
                Bytes(limits.max_buffer_bytes as u64)
            ),
        }
    }
}

impl fmt::Display for LimitKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Time => "time limit",
            Self::Memory => "memory limit",
            Self::Nesting => "nesting limit",
            Self::Calls => "call limit",
            Self::Parallel => "parallel call limit",
            Self::Print => "print limit",
            Self::Result => "result limit",
            Self::Buffer => "buffer limit",
        })
    }
}

struct Seconds(Duration);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.subsec_millis() == 0 {
            write!(f, "{} s", self.0.as_secs())
        } else {
            write!(f, "{} ms", self.0.as_millis())
        }
    }
}

struct Bytes(u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MB: u64 = 1024 * 1024;
        if self.0 >= MB && self.0.is_multiple_of(MB) {
            write!(f, "{} MB", self.0 / MB)
        } else {
            write!(f, "{} bytes", self.0)
        }
    }
}
