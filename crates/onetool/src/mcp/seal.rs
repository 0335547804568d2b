//! What a handler wants to find again when a stateless client comes back, sealed so that nobody can change it.

use std::collections::BTreeMap;
use std::time::Duration;

use onetool_core::{Caller, InputError, InputState};
use rmcp::model::{RequestStateCodec, SealOptions};
use serde::{Deserialize, Serialize};
use serde_json::Value;

const TIME_TO_LIVE: Duration = Duration::from_hours(1);

/// Seals and opens request state with a key that this process alone knows.
pub(crate) struct StateSeal(RequestStateCodec);

/// Answers of earlier rounds travel along: a client sends only those of the last one.
#[derive(Serialize, Deserialize)]
struct Sealed {
    answers: BTreeMap<String, Value>,
    state: Option<Value>,
}

impl StateSeal {
    pub(crate) fn random() -> Self {
        let codec = RequestStateCodec::try_new(crate::random::bytes::<32>());
        Self(codec.expect("invariant: a key of 32 bytes is long enough"))
    }

    /// Seals state for one caller and one thing (`tool weather.now`); it opens for no other.
    pub(super) fn seal(&self, caller: &Caller, thing: &str, input: &InputState) -> String {
        let sealed = Sealed { answers: input.answers.clone(), state: input.state.clone() };
        let bound_to = bound_to(caller, thing);
        let options = SealOptions::new().associated_data(&bound_to).ttl(TIME_TO_LIVE);
        self.0.seal_with(&serde_json::to_vec(&sealed).unwrap_or_default(), &options)
    }

    /// Opens what came back and adds the answers of this round.
    pub(super) fn open(
        &self,
        caller: &Caller,
        thing: &str,
        sealed: Option<&str>,
        answers: BTreeMap<String, Value>,
    ) -> Result<InputState, InputError> {
        let Some(sealed) = sealed else { return Ok(InputState { answers, state: None }) };
        let opened = self.0.open_with(sealed, &bound_to(caller, thing)).map_err(|_| InputError::State)?;
        let earlier: Sealed = serde_json::from_slice(&opened).map_err(|_| InputError::State)?;
        let mut all = earlier.answers;
        all.extend(answers);
        Ok(InputState { answers: all, state: earlier.state })
    }
}

fn bound_to(caller: &Caller, thing: &str) -> Vec<u8> {
    format!("{}\0{}\0{thing}", caller.principal, caller.profile).into_bytes()
}
