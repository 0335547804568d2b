//! Sealed state that a stateless client passes from one request to the next and cannot change.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use onetool_core::state::{SealingKeys, SessionStore, StoreError};
use onetool_core::sync::Unpoisoned as _;
use onetool_core::{Caller, InputError};
use rmcp::model::{RequestStateCodec, SealOptions};
use serde::{Deserialize, Serialize};
use serde_json::Value;

const TIME_TO_LIVE: Duration = Duration::from_hours(1);

/// Seals and opens request state with the keys that all servers with the same store share.
pub(crate) struct StateSeal {
    sessions: Arc<dyn SessionStore>,
    /// The keys that were used last, ready for use.
    ring: Mutex<Option<KeyRing>>,
}

/// Seals with the newest key, opens with any.
#[derive(Clone)]
pub(super) struct KeyRing {
    keys: Arc<SealingKeys>,
    codecs: Arc<[RequestStateCodec]>,
}

/// The state that a stateless client passes from one request to the next.
///
/// It includes the responses of earlier rounds, because a client sends only those of the last one.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct RequestState {
    #[serde(rename = "answers")]
    pub(super) responses: BTreeMap<String, Value>,
    pub(super) state: Option<Value>,
    /// The name of the call that waits for the responses.
    #[serde(default)]
    pub(super) parked: Option<String>,
}

impl StateSeal {
    pub(crate) fn new(sessions: Arc<dyn SessionStore>) -> Self {
        Self { sessions, ring: Mutex::default() }
    }

    /// Returns the current keys.
    ///
    /// # Errors
    /// If the store fails.
    pub(super) async fn ring(&self) -> Result<KeyRing, StoreError> {
        let keys = self.sessions.sealing_keys().await?;
        let mut ring = self.ring.lock().unpoisoned();
        if let Some(known) = ring.as_ref().filter(|it| Arc::ptr_eq(&it.keys, &keys)) {
            return Ok(known.clone());
        }
        Ok(ring.insert(KeyRing::new(keys)).clone())
    }
}

impl KeyRing {
    fn new(keys: Arc<SealingKeys>) -> Self {
        let codec = |key: &[u8; 32]| {
            RequestStateCodec::try_new(*key).expect("invariant: a key of 32 bytes is long enough")
        };
        Self { codecs: keys.iter().map(codec).collect(), keys }
    }

    /// Seals state for one caller and one target, such as `tool weather.now`. It cannot be opened for any other.
    pub(super) fn seal(&self, caller: &Caller, target: &str, state: &RequestState) -> String {
        let bound_to = bound_to(caller, target);
        let options = SealOptions::new().associated_data(&bound_to).ttl(TIME_TO_LIVE);
        let newest = self.codecs.first().expect("invariant: there is always a key");
        newest.seal_with(&serde_json::to_vec(state).unwrap_or_default(), &options)
    }

    /// Opens state that a client sent back.
    pub(super) fn open(
        &self,
        caller: &Caller,
        target: &str,
        sealed: &str,
    ) -> Result<RequestState, InputError> {
        let bound_to = bound_to(caller, target);
        let opened = self.codecs.iter().find_map(|it| it.open_with(sealed, &bound_to).ok());
        serde_json::from_slice(&opened.ok_or(InputError::State)?).map_err(|_| InputError::State)
    }
}

fn bound_to(caller: &Caller, target: &str) -> Vec<u8> {
    format!("{}\0{}\0{target}", caller.principal, caller.profile).into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_sealed_with_an_older_key_still_opens_until_the_key_is_removed() {
        let (old, new) = ([1; 32], [2; 32]);
        let caller = Caller::default();
        let ring = |keys| KeyRing::new(Arc::new(keys));
        let before = ring(SealingKeys::new(old, []));
        let during = ring(SealingKeys::new(new, [old]));
        let after = ring(SealingKeys::new(new, []));
        let sealed = before.seal(&caller, "tool a", &RequestState::default());
        assert!(during.open(&caller, "tool a", &sealed).is_ok());
        assert!(during.open(&caller, "tool b", &sealed).is_err(), "it is bound to what it was sealed for");
        assert!(after.open(&caller, "tool a", &sealed).is_err());
        let sealed = during.seal(&caller, "tool a", &RequestState::default());
        assert!(after.open(&caller, "tool a", &sealed).is_ok(), "the newest key seals");
    }
}
