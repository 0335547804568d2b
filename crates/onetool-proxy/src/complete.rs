//! Completions that an upstream suggests for the value of an argument.

use std::time::Duration;

use rmcp::model::{ArgumentInfo, ClientRequest, CompleteRequest, CompleteRequestParams, Reference};

use crate::decode::raw_result;
use crate::link::{Phase, UpstreamHandle};

/// How long to wait for completions: a user is typing.
const TIMEOUT: Duration = Duration::from_secs(5);

impl UpstreamHandle {
    /// Asks the upstream for completions; returns none if it does not support them or is not connected.
    pub(crate) async fn complete(&self, reference: Reference, argument: &str, typed: &str) -> Vec<String> {
        let phase = self.phase.borrow().clone();
        let Phase::Up(link) = phase else { return Vec::new() };
        if link.info.capabilities.completions.is_none() {
            return Vec::new();
        }
        let params = CompleteRequestParams::new(reference, ArgumentInfo::new(argument, typed));
        let response = link.peer.send_request(ClientRequest::CompleteRequest(CompleteRequest::new(params)));
        let Ok(Ok(result)) = tokio::time::timeout(TIMEOUT, response).await else { return Vec::new() };
        let Ok(result) = raw_result(result) else { return Vec::new() };
        let values = result["completion"]["values"].as_array().into_iter().flatten();
        values.filter_map(|value| value.as_str().map(str::to_owned)).collect()
    }
}
