//! What the events of a period add up to.

/// The sums of all events of a period.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventSums {
    /// One for each tool, the one with the most calls first; those with equally many calls by name.
    pub tools: Vec<ToolSum>,
    /// One for each UTC day on which something happened, the earliest first.
    pub days: Vec<DaySum>,
    /// All runs; if only one tool was asked for, its share of the runs that called it.
    pub runs: RunSum,
    /// All sessions; zero if only one tool was asked for.
    pub sessions: SessionSum,
}

/// The calls of one tool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolSum {
    /// The tool's name.
    pub tool: String,
    /// How many calls there were.
    pub calls: u64,
    /// How many of them succeeded.
    pub succeeded: u64,
    /// How long all calls took, in microseconds.
    pub duration_us: u64,
    /// Bytes of arguments and results.
    pub bytes: u64,
    /// Bytes of results that went to code instead of to the client.
    pub bytes_in_runs: u64,
    /// Bytes of arguments and results that the client sent and got.
    pub bytes_direct: u64,
}

/// One UTC day.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DaySum {
    /// The day, counted from 1970.
    pub day: i64,
    /// How many calls there were.
    pub calls: u64,
    /// How many of them succeeded.
    pub succeeded: u64,
    /// How many runs there were.
    pub runs: u64,
}

/// The runs of a period.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RunSum {
    /// How many runs there were.
    pub runs: u64,
    /// How many of them succeeded.
    pub succeeded: u64,
    /// How long all of them took, in microseconds.
    pub duration_us: u64,
    /// Bytes of code that came in and of output that went out. For one tool, the share of its calls among all calls of
    /// each run.
    pub bytes: u64,
    /// Bytes of results that calls returned to the code.
    pub inner_bytes: u64,
    /// Calls by code, without the first one of each run.
    pub beyond_first: u64,
}

/// The sessions of a period.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SessionSum {
    /// How many sessions there were.
    pub sessions: u64,
    /// Tokens of definitions that the clients did not have to hold.
    pub kept_out: u64,
    /// Tokens of definitions that they got instead.
    pub own: u64,
}
