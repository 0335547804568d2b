//! How onetool is reached over HTTP.

use std::net::SocketAddr;
use std::time::Duration;

use onetool_core::{Authority, WebOrigin};

use super::{filled, seconds};
use crate::config::ConfigError;
use crate::config::file::HttpFile;
use crate::config::resolved::{HttpConfig, TokenConfig};
use crate::config::secrets::Secret;
use crate::config::tree::Place;
use crate::http::ConnectionLimits;

pub(super) fn resolve(file: HttpFile, place: &Place<'_>) -> Result<HttpConfig, ConfigError> {
    let default = HttpConfig::default();
    let token = match filled(file.token, &place.field("token"))?.as_deref() {
        None | Some("auto") => TokenConfig::Auto,
        Some("none") => TokenConfig::None,
        Some(value) => TokenConfig::Value(Secret::new(value)),
    };
    let limit = |key, given: Option<usize>, default| match given {
        Some(0) => Err(ConfigError::invalid(&place.field(key), "has to be more than 0")),
        given => Ok(given.unwrap_or(default)),
    };
    let timeout = |key, given, default: Duration| {
        Ok::<_, ConfigError>(seconds(given, &place.field(key))?.unwrap_or(default))
    };
    let ConnectionLimits { max, max_per_address, header_timeout, body_timeout, idle_timeout, write_timeout } =
        default.connections;
    let connections = ConnectionLimits {
        max: limit("max_connections", file.max_connections, max)?,
        max_per_address: limit(
            "max_connections_per_address",
            file.max_connections_per_address,
            max_per_address,
        )?,
        header_timeout: timeout("header_timeout", file.header_timeout, header_timeout)?,
        body_timeout: timeout("body_timeout", file.body_timeout, body_timeout)?,
        idle_timeout: timeout("idle_timeout", file.idle_timeout, idle_timeout)?,
        write_timeout: timeout("write_timeout", file.write_timeout, write_timeout)?,
    };
    Ok(HttpConfig {
        listen: listen(file.listen, default.listen, &place.field("listen"))?,
        token,
        allow_execute: file.allow_execute.unwrap_or(default.allow_execute),
        title: file.title.unwrap_or(default.title),
        history: file.history.unwrap_or(default.history),
        allowed_hosts: known(file.allowed_hosts, &place.field("allowed_hosts"), |text| {
            let example = "write a host name with or without a port, like tools.example.org";
            Authority::parse(text).map(drop).ok_or(("host", example))
        })?,
        allowed_origins: known(file.allowed_origins, &place.field("allowed_origins"), |text| {
            let example = "write a scheme and a host, like https://app.example.org";
            WebOrigin::parse(text).map(drop).ok_or(("origin", example))
        })?,
        max_body: limit("max_body", file.max_body, default.max_body)?,
        connections,
    })
}

fn listen(text: Option<String>, default: SocketAddr, place: &Place<'_>) -> Result<SocketAddr, ConfigError> {
    let message = "has to be an IP address and a port, for example 127.0.0.1:7411";
    let parsed = text.map(|text| text.parse().map_err(|_| ConfigError::invalid(place, message)));
    parsed.unwrap_or(Ok(default))
}

/// Refuses what could never match a request.
fn known(
    texts: Option<Vec<String>>,
    place: &Place<'_>,
    check: impl Fn(&str) -> Result<(), (&'static str, &'static str)>,
) -> Result<Vec<String>, ConfigError> {
    let texts = texts.unwrap_or_default();
    for (index, text) in texts.iter().enumerate() {
        if let Err((what, example)) = check(text) {
            let message = format!("invalid {what} '{text}'; {example}");
            return Err(ConfigError::invalid(&place.item(index), message));
        }
    }
    Ok(texts)
}
