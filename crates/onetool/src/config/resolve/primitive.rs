//! Resources and prompts.

use std::collections::HashSet;

use onetool_core::{PromptArgument, Role};

use super::template::Names;
use super::{filled, resolve_path};
use crate::config::ConfigError;
use crate::config::file::{PromptArgumentFile, PromptFile, ResourceFile};
use crate::config::resolved::{PromptConfig, PromptMessageConfig, ResourceBody, ResourceConfig};
use crate::config::tree::Place;
use crate::media_type;

pub(super) fn resource(file: ResourceFile, place: &Place<'_>) -> Result<ResourceConfig, ConfigError> {
    if url::Url::parse(&file.uri).is_err() {
        let message = "has to be a URI with a scheme, for example docs://readme";
        return Err(ConfigError::invalid(&place.field("uri"), message));
    }
    filled(Some(file.name.clone()), &place.field("name"))?;
    if let Some(mime_type) = file.mime_type.as_deref().filter(|it| !media_type::is_valid(it)) {
        let message = format!("invalid MIME type '{mime_type}'; write it like text/markdown");
        return Err(ConfigError::invalid(&place.field("mime_type"), message));
    }
    let body = match (file.text, file.file) {
        (Some(_), None) if file.blob.is_some() => {
            return Err(ConfigError::invalid(&place.field("blob"), "goes only with 'file'"));
        }
        (Some(text), None) => ResourceBody::Text(text),
        (None, Some(path)) => {
            let path = resolve_path(&path, &place.field("file"));
            ResourceBody::File {
                path,
                blob: file.blob.unwrap_or_else(|| is_binary(file.mime_type.as_deref())),
            }
        }
        (Some(_), Some(_)) => {
            return Err(ConfigError::invalid(place, "'text' and 'file' exclude each other, keep one"));
        }
        (None, None) => return Err(ConfigError::invalid(place, "a resource needs 'text' or 'file'")),
    };
    let ResourceFile { uri, name, description, mime_type, .. } = file;
    Ok(ResourceConfig { uri, name, description, mime_type, body, at: place.at.clone() })
}

/// Guesses from a MIME type; what is not known to be bytes is text.
fn is_binary(mime_type: Option<&str>) -> bool {
    let Some(mime_type) = mime_type else { return false };
    let essence = mime_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    ["image/", "audio/", "video/"].iter().any(|family| essence.starts_with(family))
        || ["application/octet-stream", "application/pdf", "application/zip"].contains(&essence.as_str())
}

pub(super) fn prompt(file: PromptFile, place: &Place<'_>) -> Result<PromptConfig, ConfigError> {
    filled(Some(file.name.clone()), &place.field("name"))?;
    let arguments = arguments(file.arguments.unwrap_or_default(), &place.field("arguments"))?;
    let names = Names(Some(arguments.iter().map(|it| it.name.clone()).collect()));
    let messages = match (file.template, file.messages) {
        (Some(text), None) => {
            names.check(&text, &place.field("template"))?;
            vec![PromptMessageConfig { role: Role::User, text }]
        }
        (None, Some(messages)) if !messages.is_empty() => {
            let place = place.field("messages");
            for (index, message) in messages.iter().enumerate() {
                names.check(&message.text, &place.item(index).field("text"))?;
            }
            messages.into_iter().map(|it| PromptMessageConfig { role: it.role, text: it.text }).collect()
        }
        (Some(_), Some(_)) => {
            return Err(ConfigError::invalid(
                place,
                "'template' and 'messages' exclude each other, keep one",
            ));
        }
        _ => {
            return Err(ConfigError::invalid(place, "a prompt needs 'template' or 'messages'"));
        }
    };
    let PromptFile { name, title, description, .. } = file;
    Ok(PromptConfig { name, title, description, arguments, messages, at: place.at.clone() })
}

fn arguments(files: Vec<PromptArgumentFile>, place: &Place<'_>) -> Result<Vec<PromptArgument>, ConfigError> {
    let mut seen = HashSet::new();
    let mut arguments = Vec::new();
    for (index, file) in files.into_iter().enumerate() {
        let place = place.item(index).field("name");
        filled(Some(file.name.clone()), &place)?;
        if !seen.insert(file.name.clone()) {
            return Err(ConfigError::invalid(&place, format!("argument '{}' stands here twice", file.name)));
        }
        let PromptArgumentFile { name, description, required } = file;
        arguments.push(PromptArgument { name, description, required: required.unwrap_or(false) });
    }
    Ok(arguments)
}
