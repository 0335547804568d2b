//! Credentials: which of them a call needs, where they go, and tokens that are fetched for it.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use indexmap::IndexMap;
use onetool_core::ToolError;
use onetool_core::sync::Unpoisoned as _;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue};
use serde_json::value::RawValue;
use tokio::sync::Mutex;
use url::Url;

use super::request::Request;
use super::style::Escape;
use crate::plan::model::{Alternative, Place, Scheme};
use crate::transport::{LazyClient, causes, read_limited};
use crate::{Auth, Credential};

/// A token is renewed this long before it ends.
const EARLY: Duration = Duration::from_secs(30);

/// What a token lasts if nobody says so.
const USUAL_LIFE: Duration = Duration::from_mins(5);

/// A token that claims to last longer is renewed all the same.
const LONGEST_LIFE: Duration = Duration::from_hours(24);

const MAX_TOKEN_ANSWER: usize = 1 << 20;

/// Shorter values are not worth hiding: they stand in ordinary words.
const REDACTED_MIN: usize = 6;

/// The credentials of one API.
pub(super) struct Authenticator {
    auth: Auth,
    schemes: IndexMap<String, Scheme>,
    /// Held while a token is fetched: calls that need the same one wait for it instead of fetching their own.
    tokens: Mutex<HashMap<TokenKey, Token>>,
    secrets: std::sync::RwLock<Vec<String>>,
}

/// Client, URL and scope.
type TokenKey = (String, String, String);

/// What a token is asked for with.
struct TokenRequest<'a> {
    client_id: &'a str,
    secret: &'a str,
    url: Url,
    scope: String,
}

struct Token {
    value: String,
    ends: Instant,
}

/// A URL that a client secret is sent to.
pub(crate) struct TokenUrl {
    /// The key of the configuration that sets it.
    pub(crate) key: String,
    pub(crate) url: Url,
    /// Whether the operator said so, and not the description.
    pub(crate) is_given: bool,
}

/// One credential of a call.
struct Proof<'a> {
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
            this.hide(secret);
        }
        this
    }

    /// Returns the URLs that client secrets are sent to.
    pub(super) fn token_urls(&self) -> Vec<TokenUrl> {
        let any = self.auth.any.as_ref().map(|it| ("auth".to_owned(), it));
        let named = self.auth.schemes.iter().map(|(name, it)| (format!("auth.schemes.{name}"), it));
        let mut urls = Vec::new();
        for (key, credential) in any.into_iter().chain(named) {
            let Credential::ClientCredentials { token_url, .. } = credential else { continue };
            let key = format!("{key}.client_credentials.token_url");
            if let Some(url) = token_url {
                urls.push(TokenUrl { key, url: url.clone(), is_given: true });
                continue;
            }
            let is_meant = |name: &str| self.proof(name, &[]).is_some_and(|it| it.credential == credential);
            let schemes = self.schemes.iter().filter(|(name, _)| is_meant(name));
            let described = schemes.filter_map(|(_, scheme)| described_token_url(Some(scheme)));
            urls.extend(described.map(|url| TokenUrl { key: key.clone(), url, is_given: false }));
        }
        urls
    }

    /// Puts the credentials of a call into its request; tells whether one of them can be renewed.
    pub(super) async fn apply(
        &self,
        request: &mut Request,
        security: Option<&[Alternative]>,
        client: &LazyClient,
    ) -> Result<bool, ToolError> {
        let mut renewable = false;
        for Proof { credential, scheme, scopes } in self.choose(security) {
            match (credential, scheme) {
                (Credential::ApiKey(key), Some(Scheme::ApiKey { name, place })) => {
                    put(request, name, *place, key.expose())?;
                }
                (Credential::Bearer(token), Some(Scheme::ApiKey { name, place })) => {
                    let is_authorization =
                        *place == Place::Header && name.eq_ignore_ascii_case("authorization");
                    let token = token.expose();
                    let token = if is_authorization { format!("Bearer {token}") } else { token.to_owned() };
                    put(request, name, *place, &token)?;
                }
                (Credential::Bearer(token) | Credential::ApiKey(token), _) => {
                    authorize(request, &format!("Bearer {}", token.expose()))?;
                }
                (Credential::Basic { username, password }, _) => {
                    authorize(request, &format!("Basic {}", basic(username, password.expose())))?;
                }
                (Credential::ClientCredentials { client_id, client_secret, scopes: given, token_url }, _) => {
                    let Some(url) = token_url.clone().or_else(|| described_token_url(scheme)) else {
                        return Err(ToolError::failed("nobody says where OAuth2 tokens are; set token_url"));
                    };
                    let scope = if given.is_empty() { scopes.join(" ") } else { given.join(" ") };
                    let wanted = TokenRequest { client_id, secret: client_secret.expose(), url, scope };
                    let token = self.token(&wanted, client).await?;
                    authorize(request, &format!("Bearer {token}"))?;
                    renewable = true;
                }
            }
        }
        Ok(renewable)
    }

    /// Forgets all tokens: one of them was refused.
    pub(super) async fn renew(&self) {
        self.tokens.lock().await.clear();
    }

    /// Takes everything secret out of a text.
    pub(super) fn scrub(&self, text: &str) -> String {
        let secrets = self.secrets.read().unpoisoned();
        secrets.iter().fold(text.to_owned(), |text, secret| {
            if text.contains(secret.as_str()) { text.replace(secret.as_str(), "[redacted]") } else { text }
        })
    }

    fn hide(&self, secret: String) {
        if secret.chars().count() < REDACTED_MIN {
            return;
        }
        let mut secrets = self.secrets.write().unpoisoned();
        for spelling in [Escape::Url(false).text(&secret), secret] {
            if !secrets.contains(&spelling) {
                secrets.push(spelling);
            }
        }
        // Longest first, so that no secret hides behind a part of itself.
        secrets.sort_by_key(|it| std::cmp::Reverse(it.len()));
    }

    /// Chooses the first alternative that all credentials are there for.
    fn choose<'a>(&'a self, security: Option<&'a [Alternative]>) -> Vec<Proof<'a>> {
        match security {
            Some([]) => return Vec::new(), // open to everybody, says the description
            Some(alternatives) => {
                let complete = |all: &'a Alternative| {
                    all.iter().map(|(name, scopes)| self.proof(name, scopes)).collect::<Option<Vec<_>>>()
                };
                let mut not_empty = alternatives.iter().filter(|it| !it.is_empty());
                if let Some(proofs) = not_empty.find_map(complete) {
                    return proofs;
                }
            }
            None => {}
        }
        // Descriptions often forget their security schemes. A key needs one, to know its place.
        let fallback = self.auth.any.as_ref().filter(|it| !matches!(it, Credential::ApiKey(_)));
        fallback.map(|credential| Proof { credential, scheme: None, scopes: &[] }).into_iter().collect()
    }

    fn proof<'a>(&'a self, name: &str, scopes: &'a [String]) -> Option<Proof<'a>> {
        let scheme = self.schemes.get(name);
        let of_name = self.auth.schemes.get(name);
        let any = || self.auth.any.as_ref().filter(|credential| fits(credential, scheme));
        Some(Proof { credential: of_name.or_else(any)?, scheme, scopes })
    }

    /// Returns a token that still lasts, and fetches one if there is none.
    async fn token(&self, wanted: &TokenRequest<'_>, client: &LazyClient) -> Result<String, ToolError> {
        let key = (wanted.client_id.to_owned(), wanted.url.to_string(), wanted.scope.clone());
        let mut tokens = self.tokens.lock().await;
        if let Some(token) = tokens.get(&key).filter(|it| it.ends > Instant::now()) {
            return Ok(token.value.clone());
        }
        let token = wanted.fetch(client).await?;
        self.hide(token.value.clone());
        let value = token.value.clone();
        tokens.insert(key, token);
        Ok(value)
    }
}

/// Returns where the description says that tokens are.
fn described_token_url(scheme: Option<&Scheme>) -> Option<Url> {
    match scheme {
        Some(Scheme::OAuth2 { token_url: Some(url) }) => Url::parse(url).ok(),
        _ => None,
    }
}

fn fits(credential: &Credential, scheme: Option<&Scheme>) -> bool {
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
    /// Gets a token, first with the client in the header as RFC 6749 wants it, then in the body as some servers do.
    async fn fetch(&self, client: &LazyClient) -> Result<Token, ToolError> {
        let failed = |reason: String| ToolError::failed(format!("cannot get an OAuth2 token: {reason}"));
        client.guard().check(&self.url).await.map_err(|error| failed(error.to_string()))?;
        let http = client.get().map_err(failed)?;
        let mut refused = String::new();
        for is_in_body in [false, true] {
            let response = self.send(http, is_in_body).await;
            let response = response.map_err(|error| failed(causes(&error.without_url())))?;
            let status = response.status();
            if matches!(status.as_u16(), 400 | 401) && !is_in_body {
                continue;
            }
            let bytes = read_limited(response, MAX_TOKEN_ANSWER).await;
            let bytes = bytes.map_err(|error| failed(causes(&error)))?.unwrap_or_default();
            let answer: TokenAnswer = serde_json::from_slice(&bytes).unwrap_or_default();
            if let Some(token) = Token::from_answer(&answer).filter(|_| status.is_success()) {
                return Ok(token);
            }
            let error = text(&answer, "error").unwrap_or_else(|| "no access_token in the answer".to_owned());
            refused = format!("HTTP {status}: {error}");
        }
        Err(failed(refused))
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
            form.push_str(&field("client_secret", self.secret));
        } else {
            request =
                request.basic_auth(Escape::Form.text(self.client_id), Some(Escape::Form.text(self.secret)));
        }
        request.header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(form).send().await
    }
}

/// What a token server answers, as it is written: a number may be larger than any that we could hold.
type TokenAnswer = HashMap<String, Box<RawValue>>;

fn text(answer: &TokenAnswer, key: &str) -> Option<String> {
    serde_json::from_str(answer.get(key)?.get()).ok()
}

impl Token {
    /// Reads a token server's answer.
    fn from_answer(answer: &TokenAnswer) -> Option<Self> {
        let value = text(answer, "access_token")?;
        let life = answer.get("expires_in").map_or(USUAL_LIFE, |it| lifetime(it.get()));
        Some(Self { value, ends: Instant::now() + life.saturating_sub(EARLY) })
    }
}

/// Reads how long a token lasts: seconds, some servers write them as text.
fn lifetime(written: &str) -> Duration {
    match written.trim_matches('"').trim().parse::<f64>() {
        Ok(seconds) if !seconds.is_nan() => {
            let seconds = seconds.clamp(0.0, LONGEST_LIFE.as_secs_f64());
            Duration::try_from_secs_f64(seconds).unwrap_or(USUAL_LIFE)
        }
        _ => USUAL_LIFE,
    }
}

fn basic(username: &str, password: &str) -> String {
    BASE64.encode(format!("{username}:{password}"))
}

fn authorize(request: &mut Request, value: &str) -> Result<(), ToolError> {
    put(request, AUTHORIZATION.as_str(), Place::Header, value)
}

fn put(request: &mut Request, name: &str, place: Place, value: &str) -> Result<(), ToolError> {
    match place {
        Place::Header | Place::Path => {
            let wrong = || {
                ToolError::failed(format!("the credential for header '{name}' cannot be sent in a header"))
            };
            let header = HeaderName::try_from(name).map_err(|_| wrong())?;
            let mut value = HeaderValue::from_str(value).map_err(|_| wrong())?;
            value.set_sensitive(true);
            request.headers.insert(header, value);
        }
        Place::Query => request.add_query(name, value),
        Place::Cookie => {
            let value = Escape::Url(false).text(value);
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
    fn h11_a_lifetime_of_any_size_is_read() {
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
        for (written, expected) in cases {
            assert_eq!(lifetime(written).as_secs(), expected, "{written}");
            let answer = format!(r#"{{"access_token": "t", "expires_in": {written}}}"#);
            let answer: TokenAnswer = serde_json::from_str(&answer).unwrap();
            assert_eq!(Token::from_answer(&answer).unwrap().value, "t", "{written}");
        }
    }
}
