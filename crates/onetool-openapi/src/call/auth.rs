//! Credentials: which ones a call needs, where they go, and OAuth2 tokens that are fetched for it.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use indexmap::IndexMap;
use onetool_core::sync::Unpoisoned as _;
use onetool_core::{ToolError, error_chain};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue};
use serde_json::value::RawValue;
use tokio::sync::Mutex;
use url::Url;

use super::request::Request;
use super::style::Escape;
use crate::options::{Auth, Credential};
use crate::plan::model::{Place, Scheme, SecurityRequirement};
use crate::transport::{LazyClient, read_limited};

/// How long before its expiry a token is renewed.
const RENEWAL_MARGIN: Duration = Duration::from_secs(30);

/// The lifetime of a token if the token server does not specify one.
const DEFAULT_LIFETIME: Duration = Duration::from_mins(5);

/// The maximum lifetime of a token, whatever the token server says.
const MAX_LIFETIME: Duration = Duration::from_hours(24);

const MAX_TOKEN_RESPONSE: usize = 1 << 20;

/// Minimum length of secrets to redact. Shorter ones occur in ordinary words.
const MIN_REDACTED_LENGTH: usize = 6;

/// The credentials of one API.
pub(super) struct Authenticator {
    auth: Auth,
    schemes: IndexMap<String, Scheme>,
    /// Locked while a token is fetched, so that calls that need the same token wait for it.
    tokens: Mutex<HashMap<TokenKey, Token>>,
    /// Values to redact in errors.
    secrets: std::sync::RwLock<Vec<String>>,
}

/// Client ID, token URL and scope.
type TokenKey = (String, String, String);

/// The parameters of a token request.
struct TokenRequest<'a> {
    client_id: &'a str,
    client_secret: &'a str,
    url: Url,
    scope: String,
}

struct Token {
    value: String,
    expires: Instant,
}

/// A URL that a client secret is sent to.
pub(crate) struct TokenUrl {
    /// The configuration key that sets it.
    pub(crate) key: String,
    pub(crate) url: Url,
    /// Whether it comes from the operator, not from the description.
    pub(crate) is_configured: bool,
}

/// A credential that was chosen for a call.
struct ChosenCredential<'a> {
    credential: &'a Credential,
    scheme: Option<&'a Scheme>,
    scopes: &'a [String],
}

impl Authenticator {
    pub(super) fn new(auth: Auth, schemes: IndexMap<String, Scheme>, headers: &[String]) -> Self {
        let mut secrets = headers.to_vec();
        for credential in auth.all() {
            match credential {
                Credential::Bearer(secret) | Credential::ApiKey(secret) => {
                    secrets.push(secret.expose().into());
                }
                Credential::Basic { username, password } => {
                    secrets.push(password.expose().into());
                    secrets.push(basic(username, password.expose()));
                }
                Credential::ClientCredentials { client_id, client_secret, .. } => {
                    secrets.push(client_secret.expose().into());
                    secrets.push(basic(client_id, client_secret.expose()));
                }
            }
        }
        let this = Self { auth, schemes, tokens: Mutex::default(), secrets: std::sync::RwLock::default() };
        for secret in secrets {
            this.add_secret(secret);
        }
        this
    }

    /// Returns the URLs that client secrets are sent to.
    pub(super) fn token_urls(&self) -> Vec<TokenUrl> {
        let default = self.auth.default.as_ref().map(|it| ("auth".to_owned(), it));
        let by_scheme = self.auth.schemes.iter().map(|(name, it)| (format!("auth.schemes.{name}"), it));
        let mut urls = Vec::new();
        for (key, credential) in default.into_iter().chain(by_scheme) {
            let Credential::ClientCredentials { token_url, .. } = credential else { continue };
            let key = format!("{key}.client_credentials.token_url");
            if let Some(url) = token_url {
                urls.push(TokenUrl { key, url: url.clone(), is_configured: true });
                continue;
            }
            let uses_it =
                |name: &str| self.credential(name, &[]).is_some_and(|it| it.credential == credential);
            let schemes = self.schemes.iter().filter(|(name, _)| uses_it(name));
            let described = schemes.filter_map(|(_, scheme)| described_token_url(Some(scheme)));
            urls.extend(described.map(|url| TokenUrl { key: key.clone(), url, is_configured: false }));
        }
        urls
    }

    /// Adds the credentials of a call to its request; returns whether one of them can be renewed.
    pub(super) async fn apply(
        &self,
        request: &mut Request,
        security: Option<&[SecurityRequirement]>,
        client: &LazyClient,
    ) -> Result<bool, ToolError> {
        let mut is_renewable = false;
        for ChosenCredential { credential, scheme, scopes } in self.choose(security) {
            match (credential, scheme) {
                (Credential::ApiKey(key), Some(Scheme::ApiKey { name, place })) => {
                    add_credential(request, name, *place, key.expose())?;
                }
                (Credential::Bearer(token), Some(Scheme::ApiKey { name, place })) => {
                    let is_authorization =
                        *place == Place::Header && name.eq_ignore_ascii_case("authorization");
                    let token = token.expose();
                    let token = if is_authorization { format!("Bearer {token}") } else { token.to_owned() };
                    add_credential(request, name, *place, &token)?;
                }
                (Credential::Bearer(token) | Credential::ApiKey(token), _) => {
                    authorize(request, &format!("Bearer {}", token.expose()))?;
                }
                (Credential::Basic { username, password }, _) => {
                    authorize(request, &format!("Basic {}", basic(username, password.expose())))?;
                }
                (
                    Credential::ClientCredentials { client_id, client_secret, scopes: configured, token_url },
                    _,
                ) => {
                    let Some(url) = token_url.clone().or_else(|| described_token_url(scheme)) else {
                        return Err(ToolError::failed(
                            "the description has no OAuth2 tokenUrl; set token_url",
                        ));
                    };
                    let scope = if configured.is_empty() { scopes.join(" ") } else { configured.join(" ") };
                    let token_request =
                        TokenRequest { client_id, client_secret: client_secret.expose(), url, scope };
                    let token = self.token(&token_request, client).await?;
                    authorize(request, &format!("Bearer {token}"))?;
                    is_renewable = true;
                }
            }
        }
        Ok(is_renewable)
    }

    /// Discards all tokens, so that the next call fetches new ones.
    pub(super) async fn forget_tokens(&self) {
        self.tokens.lock().await.clear();
    }

    /// Replaces all secrets in a text.
    pub(super) fn redact(&self, text: &str) -> String {
        let secrets = self.secrets.read().unpoisoned();
        secrets.iter().fold(text.to_owned(), |text, secret| {
            if text.contains(secret.as_str()) { text.replace(secret.as_str(), "[redacted]") } else { text }
        })
    }

    fn add_secret(&self, secret: String) {
        if secret.chars().count() < MIN_REDACTED_LENGTH {
            return;
        }
        let mut secrets = self.secrets.write().unpoisoned();
        for variant in [Escape::URL.text(&secret), secret] {
            if !secrets.contains(&variant) {
                secrets.push(variant);
            }
        }
        // Longest first: redacting a shorter secret could leave the rest of a longer one that contains it.
        secrets.sort_by_key(|it| std::cmp::Reverse(it.len()));
    }

    /// Chooses the credentials for the first security requirement that can be met completely.
    fn choose<'a>(&'a self, security: Option<&'a [SecurityRequirement]>) -> Vec<ChosenCredential<'a>> {
        match security {
            Some([]) => return Vec::new(), // the operation is public
            Some(requirements) => {
                let credentials = |requirement: &'a SecurityRequirement| {
                    let schemes = requirement.iter();
                    schemes.map(|(name, scopes)| self.credential(name, scopes)).collect::<Option<Vec<_>>>()
                };
                let mut not_empty = requirements.iter().filter(|it| !it.is_empty());
                if let Some(credentials) = not_empty.find_map(credentials) {
                    return credentials;
                }
            }
            None => {}
        }
        // Descriptions often omit their security schemes. Only an API key needs one, to know where to go.
        let fallback = self.auth.default.as_ref().filter(|it| !matches!(it, Credential::ApiKey(_)));
        let chosen = fallback.map(|credential| ChosenCredential { credential, scheme: None, scopes: &[] });
        chosen.into_iter().collect()
    }

    /// Returns the credential for a security scheme.
    fn credential<'a>(&'a self, name: &str, scopes: &'a [String]) -> Option<ChosenCredential<'a>> {
        let scheme = self.schemes.get(name);
        let by_name = self.auth.schemes.get(name);
        let default = || self.auth.default.as_ref().filter(|credential| can_use(scheme, credential));
        Some(ChosenCredential { credential: by_name.or_else(default)?, scheme, scopes })
    }

    /// Returns a cached token if it is still valid, otherwise fetches one.
    async fn token(&self, request: &TokenRequest<'_>, client: &LazyClient) -> Result<String, ToolError> {
        let key = (request.client_id.to_owned(), request.url.to_string(), request.scope.clone());
        let mut tokens = self.tokens.lock().await;
        if let Some(token) = tokens.get(&key).filter(|it| it.expires > Instant::now()) {
            return Ok(token.value.clone());
        }
        let token = request.fetch(client).await?;
        self.add_secret(token.value.clone());
        let value = token.value.clone();
        tokens.insert(key, token);
        Ok(value)
    }
}

/// Returns the token URL in the description.
fn described_token_url(scheme: Option<&Scheme>) -> Option<Url> {
    match scheme {
        Some(Scheme::OAuth2 { token_url: Some(url) }) => Url::parse(url).ok(),
        _ => None,
    }
}

/// Returns whether a security scheme can use a credential.
fn can_use(scheme: Option<&Scheme>, credential: &Credential) -> bool {
    match (credential, scheme) {
        (Credential::ApiKey(_), Some(Scheme::ApiKey { .. }))
        | (Credential::Basic { .. }, Some(Scheme::Basic))
        | (
            Credential::Bearer(_) | Credential::ClientCredentials { .. },
            Some(Scheme::Bearer | Scheme::OAuth2 { .. }),
        ) => true,
        (Credential::Bearer(_), Some(Scheme::ApiKey { name, place: Place::Header })) => {
            name.eq_ignore_ascii_case("authorization")
        }
        _ => false,
    }
}

impl TokenRequest<'_> {
    /// Fetches a token, first with the credentials in a header as RFC 6749 says, then in the body for other servers.
    async fn fetch(&self, client: &LazyClient) -> Result<Token, ToolError> {
        let failed = |reason: String| ToolError::failed(format!("cannot get an OAuth2 token: {reason}"));
        client.guard().check(&self.url).await.map_err(|error| failed(error.to_string()))?;
        let http = client.get().map_err(failed)?;
        let mut rejection = String::new();
        for is_in_body in [false, true] {
            let response = self.send(http, is_in_body).await;
            let response = response.map_err(|error| failed(error_chain(&error.without_url())))?;
            let status = response.status();
            if matches!(status.as_u16(), 400 | 401) && !is_in_body {
                continue;
            }
            let bytes = read_limited(response, MAX_TOKEN_RESPONSE).await;
            let bytes = bytes.map_err(|error| failed(error_chain(&error)))?.unwrap_or_default();
            let response: TokenResponse = serde_json::from_slice(&bytes).unwrap_or_default();
            if let Some(token) = Token::from_response(&response).filter(|_| status.is_success()) {
                return Ok(token);
            }
            let error =
                text(&response, "error").unwrap_or_else(|| "no access_token in the response".to_owned());
            rejection = format!("HTTP {status}: {error}");
        }
        Err(failed(rejection))
    }

    async fn send(
        &self,
        http: &reqwest::Client,
        is_in_body: bool,
    ) -> Result<reqwest::Response, reqwest::Error> {
        let mut form = "grant_type=client_credentials".to_owned();
        let field = |name: &str, value: &str| format!("&{name}={}", Escape::Form.text(value));
        if !self.scope.is_empty() {
            form.push_str(&field("scope", &self.scope));
        }
        let mut request = http.post(self.url.clone());
        if is_in_body {
            form.push_str(&field("client_id", self.client_id));
            form.push_str(&field("client_secret", self.client_secret));
        } else {
            let escape = |text: &str| Escape::Form.text(text);
            request = request.basic_auth(escape(self.client_id), Some(escape(self.client_secret)));
        }
        request.header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(form).send().await
    }
}

/// The response of a token server. Values are not parsed, because numbers may be too large for any type.
type TokenResponse = HashMap<String, Box<RawValue>>;

fn text(response: &TokenResponse, key: &str) -> Option<String> {
    serde_json::from_str(response.get(key)?.get()).ok()
}

impl Token {
    fn from_response(response: &TokenResponse) -> Option<Self> {
        let value = text(response, "access_token")?;
        let lifetime = response.get("expires_in").map_or(DEFAULT_LIFETIME, |it| parse_lifetime(it.get()));
        Some(Self { value, expires: Instant::now() + lifetime.saturating_sub(RENEWAL_MARGIN) })
    }
}

/// Parses the lifetime of a token in seconds, which some servers send as a string.
fn parse_lifetime(json: &str) -> Duration {
    match json.trim_matches('"').trim().parse::<f64>() {
        Ok(seconds) if !seconds.is_nan() => {
            let seconds = seconds.clamp(0.0, MAX_LIFETIME.as_secs_f64());
            Duration::try_from_secs_f64(seconds).unwrap_or(DEFAULT_LIFETIME)
        }
        _ => DEFAULT_LIFETIME,
    }
}

fn basic(username: &str, password: &str) -> String {
    BASE64.encode(format!("{username}:{password}"))
}

fn authorize(request: &mut Request, value: &str) -> Result<(), ToolError> {
    add_credential(request, AUTHORIZATION.as_str(), Place::Header, value)
}

fn add_credential(request: &mut Request, name: &str, place: Place, value: &str) -> Result<(), ToolError> {
    match place {
        Place::Header | Place::Path => {
            let invalid = || {
                let problem = "its name or the credential contains characters that headers cannot contain";
                ToolError::failed(format!("invalid header '{name}': {problem}"))
            };
            let header = HeaderName::try_from(name).map_err(|_| invalid())?;
            let mut value = HeaderValue::from_str(value).map_err(|_| invalid())?;
            value.set_sensitive(true);
            request.headers.insert(header, value);
        }
        Place::Query => request.add_query(name, value),
        Place::Cookie => {
            let value = Escape::URL.text(value);
            request.cookies.retain(|(cookie, _)| cookie != name);
            request.cookies.push((name.to_owned(), value));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn h11_a_lifetime_of_any_size_is_parsed() {
        let cases = [
            ("3600", 3600),
            ("\"3600\"", 3600),
            ("3600.9", 3600),
            ("0", 0),
            ("-1", 0),
            ("-1e400", 0),
            ("86401", 86400),
            ("18446744073709551615", 86400),
            ("99999999999999999999999999", 86400),
            ("1e400", 86400),
            ("\"1e400\"", 86400),
            ("null", 300),
            ("\"soon\"", 300),
            ("{}", 300),
        ];
        for (json, expected) in cases {
            assert_eq!(parse_lifetime(json).as_secs(), expected, "{json}");
            let response = format!(r#"{{"access_token": "t", "expires_in": {json}}}"#);
            let response: TokenResponse = serde_json::from_str(&response).unwrap();
            assert_eq!(Token::from_response(&response).unwrap().value, "t", "{json}");
        }
    }
}
