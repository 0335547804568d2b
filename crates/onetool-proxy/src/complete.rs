//! Proposals of an upstream while somebody types an argument.

use std::time::Duration;

use rmcp::model::{ArgumentInfo, ClientRequest, CompleteRequest, CompleteRequestParams, Reference};

use crate::exchange::plain;
use crate::link::{Access, Phase};

/// Whoever types does not wait for long.
const PATIENCE: Duration = Duration::from_secs(5);

impl Access {
    /// Asks the upstream for proposals; one that has none to make, or is away, makes none.
    pub(crate) async fn complete(&self, reference: Reference, argument: &str, typed: &str) -> Vec<String> {
        let phase = self.phase.borrow().clone();
        let Phase::Up(link) = phase else { return Vec::new() };
        if link.info.capabilities.completions.is_none() {
            return Vec::new();
        }
        let params = CompleteRequestParams::new(reference, ArgumentInfo::new(argument, typed));
        let asked = link.peer.send_request(ClientRequest::CompleteRequest(CompleteRequest::new(params)));
        let Ok(Ok(result)) = tokio::time::timeout(PATIENCE, asked).await else { return Vec::new() };
        let Ok(result) = plain(result) else { return Vec::new() };
        let values = result["completion"]["values"].as_array().into_iter().flatten();
        values.filter_map(|value| value.as_str().map(str::to_owned)).collect()
    }
}
