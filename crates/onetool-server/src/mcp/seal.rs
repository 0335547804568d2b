//! What a handler wants to find again when a stateless client comes back, sealed so that nobody can change it.

use std::collections::BTreeMap;
use std::time::Duration;

use onetool_core::{Caller, InputError};
use rmcp::model::{RequestStateCodec, SealOptions};
use serde::{Deserialize, Serialize};
use serde_json::Value;

const TIME_TO_LIVE: Duration = Duration::from_hours(1);

/// Seals and opens request state with a key that this process alone knows.
pub(crate) struct StateSeal(RequestStateCodec);

/// What a stateless client carries from one request to the next.
///
/// Answers of earlier rounds travel along: a client sends only those of the last one.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Carried {
    pub(super) answers: BTreeMap<String, Value>,
    pub(super) state: Option<Value>,
    /// The call that waits for the answers.
    #[serde(default)]
    pub(super) parked: Option<String>,
}

impl StateSeal {
    pub(crate) fn random() -> Self {
        let codec = RequestStateCodec::try_new(crate::random::bytes::<32>());
        Self(codec.expect("invariant: a key of 32 bytes is long enough"))
    }

    /// Seals state for one caller and one thing (`tool weather.now`); it opens for no other.
    pub(super) fn seal(&self, caller: &Caller, thing: &str, carried: &Carried) -> String {
        let bound_to = bound_to(caller, thing);
        let options = SealOptions::new().associated_data(&bound_to).ttl(TIME_TO_LIVE);
        self.0.seal_with(&serde_json::to_vec(carried).unwrap_or_default(), &options)
    }

    /// Opens what came back.
    pub(super) fn open(&self, caller: &Caller, thing: &str, sealed: &str) -> Result<Carried, InputError> {
        let opened = self.0.open_with(sealed, &bound_to(caller, thing)).map_err(|_| InputError::State)?;
        serde_json::from_slice(&opened).map_err(|_| InputError::State)
    }
}

fn bound_to(caller: &Caller, thing: &str) -> Vec<u8> {
    format!("{}\0{}\0{thing}", caller.principal, caller.profile).into_bytes()
}
