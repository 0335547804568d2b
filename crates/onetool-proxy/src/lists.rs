//! Reads an upstream's lists, page by page.

use std::time::Duration;

use rmcp::model::{
    ClientRequest, ListPromptsRequest, ListResourceTemplatesRequest, ListResourcesRequest, ListToolsRequest,
    PaginatedRequestParams,
};
use rmcp::service::ServiceError;
use serde_json::Value;
use tokio::time::timeout;

use crate::Limits;
use crate::answer::take;
use crate::exchange::plain;
use crate::link::Link;

/// One of the lists of the protocol.
#[derive(Clone, Copy)]
pub(crate) enum Listing {
    Tools,
    Resources,
    Templates,
    Prompts,
}

impl Listing {
    fn method(self) -> &'static str {
        match self {
            Self::Tools => "tools/list",
            Self::Resources => "resources/list",
            Self::Templates => "resources/templates/list",
            Self::Prompts => "prompts/list",
        }
    }

    fn field(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Resources => "resources",
            Self::Templates => "resourceTemplates",
            Self::Prompts => "prompts",
        }
    }

    fn is_offered(self, link: &Link) -> bool {
        let offered = &link.info.capabilities;
        match self {
            Self::Tools => offered.tools.is_some(),
            Self::Resources | Self::Templates => offered.resources.is_some(),
            Self::Prompts => offered.prompts.is_some(),
        }
    }

    fn request(self, cursor: Option<String>) -> ClientRequest {
        let params = cursor.map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
        match self {
            Self::Tools => ListToolsRequest { params, ..Default::default() }.into(),
            Self::Resources => ListResourcesRequest { params, ..Default::default() }.into(),
            Self::Templates => ListResourceTemplatesRequest { params, ..Default::default() }.into(),
            Self::Prompts => ListPromptsRequest { params, ..Default::default() }.into(),
        }
    }
}

/// Reads a whole list; an empty one if the upstream does not offer it.
///
/// # Errors
/// When a page does not come within `patience`, or is no page.
pub(crate) async fn list(
    link: &Link,
    listing: Listing,
    limits: &Limits,
    patience: Duration,
) -> Result<Vec<Value>, String> {
    let mut items = Vec::new();
    if !listing.is_offered(link) {
        return Ok(items);
    }
    let mut cursor: Option<String> = None;
    for _ in 0..limits.pages {
        let asked = link.peer.send_request(listing.request(cursor.clone()));
        let answer = timeout(patience, asked)
            .await
            .map_err(|_| format!("{} got no answer within {} s", listing.method(), patience.as_secs_f64()))?;
        let mut page = match answer {
            Ok(result) => plain(result).unwrap_or_default(),
            Err(ServiceError::McpError(error)) => {
                return Err(format!("{} was refused: {}", listing.method(), error.message));
            }
            Err(error) => return Err(format!("{} failed: {error}", listing.method())),
        };
        let Value::Array(listed) = take(&mut page, listing.field()) else {
            return Err(format!("the answer to {} has no list of {}", listing.method(), listing.field()));
        };
        items.extend(listed);
        let next = page["nextCursor"].as_str().filter(|next| !next.is_empty()).map(str::to_owned);
        // A server that gives the same cursor again would be followed in circles.
        if next.is_none() || next == cursor || items.len() >= limits.items {
            if items.len() > limits.items {
                tracing::warn!(
                    method = listing.method(),
                    limit = limits.items,
                    "a list is too long and is cut"
                );
                items.truncate(limits.items);
            }
            return Ok(items);
        }
        cursor = next;
    }
    tracing::warn!(method = listing.method(), limit = limits.pages, "a list has too many pages and is cut");
    Ok(items)
}
