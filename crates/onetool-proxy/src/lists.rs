//! Fetches an upstream's lists, page by page.

use std::time::Duration;

use rmcp::model::{
    ClientRequest, ListPromptsRequest, ListResourceTemplatesRequest, ListResourcesRequest, ListToolsRequest,
    PaginatedRequestParams,
};
use rmcp::service::ServiceError;
use serde_json::Value;
use tokio::time::timeout;

use crate::config::Limits;
use crate::decode::raw_result;
use crate::json::take;
use crate::link::Link;

/// One of the protocol's lists.
#[derive(Clone, Copy)]
pub(crate) enum List {
    Tools,
    Resources,
    Templates,
    Prompts,
}

impl List {
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
        let capabilities = &link.info.capabilities;
        match self {
            Self::Tools => capabilities.tools.is_some(),
            Self::Resources | Self::Templates => capabilities.resources.is_some(),
            Self::Prompts => capabilities.prompts.is_some(),
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

/// Fetches all pages of a list; returns an empty list if the upstream does not offer it.
///
/// # Errors
/// If a page does not arrive within `page_timeout`, or is invalid.
pub(crate) async fn fetch(
    link: &Link,
    list: List,
    limits: &Limits,
    page_timeout: Duration,
) -> Result<Vec<Value>, String> {
    let mut items = Vec::new();
    if !list.is_offered(link) {
        return Ok(items);
    }
    let mut cursor: Option<String> = None;
    for _ in 0..limits.pages {
        let response = link.peer.send_request(list.request(cursor.clone()));
        let response = timeout(page_timeout, response).await.map_err(|_| {
            format!("no response to {} within {} s", list.method(), page_timeout.as_secs_f64())
        })?;
        let mut page = match response {
            Ok(result) => raw_result(result).unwrap_or_default(),
            Err(ServiceError::McpError(error)) => {
                return Err(format!("{} was rejected: {}", list.method(), error.message));
            }
            Err(error) => return Err(format!("{} failed: {error}", list.method())),
        };
        let Value::Array(page_items) = take(&mut page, list.field()) else {
            return Err(format!("invalid response to {}: it has no list of {}", list.method(), list.field()));
        };
        items.extend(page_items);
        let next = page["nextCursor"].as_str().filter(|next| !next.is_empty()).map(str::to_owned);
        // A server that repeats its cursor would make this an endless loop.
        if next.is_none() || next == cursor || items.len() >= limits.items {
            if items.len() > limits.items {
                tracing::warn!(
                    method = list.method(),
                    limit = limits.items,
                    "list truncated: too many items"
                );
                items.truncate(limits.items);
            }
            return Ok(items);
        }
        cursor = next;
    }
    tracing::warn!(method = list.method(), limit = limits.pages, "list truncated: too many pages");
    Ok(items)
}
