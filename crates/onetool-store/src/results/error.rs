//! Why a stored result cannot be read.

use onetool_core::state::StoreError;

use super::ResultHandle;
use super::path::PathError;

/// Why a stored result cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// Lines count from 1.
    #[error("offset must be >= 1 (1-indexed), got {0}")]
    Offset(i64),
    /// No lines were asked for.
    #[error("limit must be >= 1, got {0}")]
    Limit(i64),
    /// It does not exist, or belongs to another caller.
    #[error("result not found: '{handle}'")]
    NotFound {
        /// The handle.
        handle: ResultHandle,
    },
    /// It was there.
    #[error("result expired: '{handle}' is past its time to live; run the code again")]
    Expired {
        /// The handle.
        handle: ResultHandle,
    },
    /// The pattern is none; the reason shows where.
    #[error("search is not a valid regular expression: {reason}")]
    Pattern {
        /// What is wrong, with a mark under the place.
        reason: String,
    },
    /// The pattern is too long.
    #[error("search has {length} bytes, at most {max} are allowed")]
    LongSearch {
        /// Its length.
        length: usize,
        /// The limit.
        max: usize,
    },
    /// Nobody waits for the answer any more.
    #[error("the search was canceled")]
    Canceled,
    /// There are no words to be like.
    #[error("fuzzy=True needs search='words to look for'")]
    FuzzyWithoutSearch,
    /// The search took too long.
    #[error("the search took longer than {seconds} s; use a simpler pattern")]
    TooSlow {
        /// The limit.
        seconds: u64,
    },
    /// Text has no parts.
    #[error("path works on stored JSON, and '{handle}' is text; use offset, limit or search")]
    NotJson {
        /// The handle.
        handle: ResultHandle,
    },
    /// The path leads nowhere.
    #[error(transparent)]
    Path(#[from] PathError),
    /// It would take too much memory once parsed.
    #[error(
        "result '{handle}' is too large to load; read it in parts with ot.result(handle='{handle}', offset=1)"
    )]
    TooLarge {
        /// The handle.
        handle: ResultHandle,
    },
    /// The stored text is not valid JSON.
    #[error("cannot read the stored result '{handle}' as JSON")]
    Unreadable {
        /// The handle.
        handle: ResultHandle,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
    /// The store failed.
    #[error("cannot read the stored result '{handle}'")]
    Store {
        /// The handle.
        handle: ResultHandle,
        /// Why.
        #[source]
        source: StoreError,
    },
}
