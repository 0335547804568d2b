//! What happened, in numbers.

use std::fmt;
use std::time::Duration;

use onetool_core::{ToolName, random};

/// Something that happened. It holds names and sizes, never arguments, code or results.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A tool was called, by a client or by code. `run` itself is an [`Event::Run`] instead.
    Call {
        /// The tool's canonical name.
        tool: ToolName,
        /// The name that the client reports.
        client: Option<String>,
        /// How long it took.
        duration: Duration,
        /// Bytes of the arguments.
        args_size: u64,
        /// Bytes of the result, or of the error.
        output_size: u64,
        /// How it ended.
        outcome: Outcome,
        /// The run that called it; the result then went to code and not to the client.
        in_run: Option<RunId>,
    },
    /// Code was run.
    Run {
        /// The id that its calls have, too.
        id: RunId,
        /// The name that the client reports.
        client: Option<String>,
        /// How long it took.
        duration: Duration,
        /// Bytes of the code.
        code_size: u64,
        /// Bytes of the response to the client.
        output_size: u64,
        /// How many calls the code made.
        inner_calls: u64,
        /// Bytes of the results of all these calls.
        inner_bytes: u64,
        /// How it ended.
        outcome: Outcome,
    },
    /// A session began.
    Session {
        /// The name that the client reports.
        client: Option<String>,
        /// Tokens of the definitions that the client did not have to hold.
        kept_out: u64,
        /// Tokens of the definitions that it got instead.
        own: u64,
    },
}

/// How a call or run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// With a result.
    Success,
    /// With an error of the tool, a refusal, a limit, or because it was canceled.
    Failure,
}

impl Outcome {
    /// Returns whether there was a result.
    pub fn is_success(self) -> bool {
        self == Self::Success
    }
}

/// Identifies a run, in this gateway and in all others that use the same store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RunId(i64);

impl RunId {
    /// Creates a new id.
    #[expect(clippy::new_without_default, reason = "each one is different")]
    pub fn new() -> Self {
        Self(i64::from_ne_bytes(random::bytes()))
    }

    /// Creates an id from its number.
    pub fn from_raw(raw: i64) -> Self {
        Self(raw)
    }

    /// Returns the number.
    pub fn get(self) -> i64 {
        self.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// Maximum of a number in an event. No real one is larger, and the sum of a million of them does not overflow.
pub(crate) const MAX_AMOUNT: u64 = 1 << 40;

const NAME_CHARACTERS: usize = 200;
/// No tool that can be registered has a longer name.
const TOOL_CHARACTERS: usize = 512;

impl Event {
    /// Keeps a client from filling the store with its name.
    #[must_use]
    pub fn with_short_names(mut self) -> Self {
        let (Self::Call { client, .. } | Self::Run { client, .. } | Self::Session { client, .. }) = &mut self;
        if let Some(name) = client
            && let Some((end, _)) = name.char_indices().nth(NAME_CHARACTERS)
        {
            name.truncate(end);
        }
        if let Self::Call { tool, .. } = &mut self
            && let Some((end, _)) = tool.as_str().char_indices().nth(TOOL_CHARACTERS)
        {
            *tool = ToolName::new(&tool.as_str()[..end]);
        }
        self
    }
}
