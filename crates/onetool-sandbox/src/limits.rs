//! How much one run may use, and what is said when it uses more.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What one run may use at most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Wall-clock time, including the time in which tools run.
    pub time: Duration,
    /// Memory beyond what the interpreter itself takes.
    pub memory_bytes: u64,
    /// Calls to the host.
    pub max_calls: u32,
    /// Calls that are under way at the same time.
    ///
    /// Further calls wait their turn, first come, first served: a `gather` of a hundred is no mistake, and code that had
    /// to know this number would be wrong on the next gateway. What cannot wait is data: once the arguments of the calls
    /// that wait take more than [`max_result_bytes`](Self::max_result_bytes), the run ends with
    /// [`LimitKind::Parallel`], or code could fill the memory of the gateway instead of its own.
    pub max_parallel: u32,
    /// Bytes of printed text.
    pub max_print_bytes: usize,
    /// Bytes of the result, and of the arguments of one call, as JSON.
    pub max_result_bytes: usize,
    /// Bytes that the gateway holds for the run: arguments of calls, and answers that the code has not taken yet.
    pub max_buffer_bytes: usize,
    /// Whether to refuse to run code where the kernel lacks a layer of the cage. A layer that it has is always required.
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

/// Which limit a run went over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LimitKind {
    /// [`Limits::time`].
    Time,
    /// [`Limits::memory_bytes`].
    Memory,
    /// The code or its data nest deeper than the interpreter's stack allows.
    Nesting,
    /// [`Limits::max_calls`].
    Calls,
    /// [`Limits::max_parallel`]: too much waited for a call to end.
    Parallel,
    /// [`Limits::max_print_bytes`].
    Print,
    /// [`Limits::max_result_bytes`].
    Result,
    /// [`Limits::max_buffer_bytes`].
    Buffer,
}

impl LimitKind {
    /// Says, with the limit's own figures, what the code did.
    pub(crate) fn explain(self, limits: &Limits) -> String {
        match self {
            Self::Time => format!("the code ran longer than {}", Seconds(limits.time)),
            Self::Memory => format!("the code needed more than {} of memory", Bytes(limits.memory_bytes)),
            Self::Nesting => "the code or its data nest too deeply".to_owned(),
            Self::Calls => format!("the code made more than {} calls", limits.max_calls),
            Self::Parallel => format!(
                "calls waited for one of {max} to end with more than {} of arguments; use asyncio.Semaphore({max}) or fewer workers",
                Bytes(limits.max_result_bytes as u64),
                max = limits.max_parallel
            ),
            Self::Print => format!("the code printed more than {}", Bytes(limits.max_print_bytes as u64)),
            Self::Result => format!("the result is larger than {}", Bytes(limits.max_result_bytes as u64)),
            Self::Buffer => format!(
                "arguments and answers of calls in flight need more than {}; make fewer or smaller calls at a time",
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
