//! Resources: text, bytes, a template, and one to subscribe to.

use onetool::{CallContext, ReadRequest, RegisterError, ResourceContents, Server, resource_fn};
use serde_json::json;

use crate::media::PIXEL;

pub(crate) fn register(server: &Server) -> Result<(), RegisterError> {
    let text = resource_fn("test://static-text", "Static text", static_text);
    server.register_resource(text.description("Text that never changes.").mime_type("text/plain"))?;
    let binary = resource_fn("test://static-binary", "Static binary", static_binary);
    server.register_resource(binary.description("An image that never changes.").mime_type("image/png"))?;
    let watched = resource_fn("test://watched-resource", "Watched resource", watched);
    server.register_resource(watched.description("Text to subscribe to.").mime_type("text/plain"))?;
    let template = resource_fn("test://template/{id}/data", "Template", filled_template);
    server.register_resource(template.description("Data for an id.").mime_type("application/json"))
}

async fn static_text(_: ReadRequest, _: CallContext) -> ResourceContents {
    ResourceContents::text("This is the content of the static text resource.", "text/plain")
}

async fn static_binary(_: ReadRequest, _: CallContext) -> ResourceContents {
    ResourceContents::blob(PIXEL, "image/png")
}

async fn watched(_: ReadRequest, _: CallContext) -> ResourceContents {
    ResourceContents::text("Nothing has happened yet.", "text/plain")
}

async fn filled_template(request: ReadRequest, _: CallContext) -> ResourceContents {
    let id = &request.values["id"];
    let data = json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
    ResourceContents::text(data.to_string(), "application/json")
}
