//! The transport over HTTP, blocking.
//!
//! What is sent is a function of the request alone: a fixed set of headers, no dates, no cookies, no
//! random ids, nothing about this machine. Redirects are not followed and proxies of the environment
//! not used: bytes go where the user said or nowhere.

use std::io::Read;
use std::time::Duration;

use lrgeo_protocol::encoding::Encoding;
use lrgeo_protocol::offload::{Circle, Join, Joined, TableCircle, TicketState, UserMatrix};
use lrgeo_protocol::{path, quiet};
use serde::Serialize;
use serde::de::DeserializeOwned;
use ureq::config::ConfigBuilder;
use ureq::http::Response;
use ureq::typestate::AgentScope;
use ureq::{Agent, Body, RequestBuilder};

use crate::transport::{Answer, Offload, Quiet, Server, TransportError};

/// The header in which a server says its operator's key, for the first use.
pub const KEY_HEADER: &str = "x-lrgeo-key";

const CONNECT: Duration = Duration::from_secs(10);
const ANSWER: Duration = Duration::from_secs(60);
/// Messages other than public files: a matrix of 500 rows and 4,000 columns fits four times.
const MOST_MESSAGE: u64 = 64 << 20;
/// A refusal is a sentence.
const MOST_REFUSAL: u64 = 64 << 10;

/// A server reached over HTTP.
#[derive(Debug)]
pub struct Http {
    base: String,
    agent: Agent,
    token: Option<ApiToken>,
}

/// What an operator gave the app to be let in with. Not shown in a message or a log.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiToken(String);

impl std::fmt::Debug for ApiToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ApiToken(..)")
    }
}

impl std::str::FromStr for ApiToken {
    type Err = TransportError;

    fn from_str(text: &str) -> Result<Self, TransportError> {
        let text = text.trim();
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        match !text.is_empty() && text.len() <= 256 && text.chars().all(plain) {
            true => Ok(Self(text.to_owned())),
            false => Err(TransportError::Token),
        }
    }
}

impl Http {
    /// The server at `http://host[:port][/prefix]`, or `https://` where this was built with `tls`. Who signed its certificate must be one of
    /// those that browsers trust.
    pub fn new(address: &str) -> Result<Self, TransportError> {
        let base = normalised(address)?;
        Ok(Self { base, agent: configured().build().into(), token: None })
    }

    /// With a token of the operator's. All requests but those about a ticket, which has a token of its own, are then known to come from
    /// whoever it was given to: an app should have one for all its users, not one for each.
    pub fn token(self, token: Option<ApiToken>) -> Self {
        Self { token, ..self }
    }

    /// The same, whose certificate must be signed by one of these (PEM), and by nobody else.
    #[cfg(feature = "tls")]
    pub fn signed_by(address: &str, authorities: &[u8]) -> Result<Self, TransportError> {
        use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};
        let base = normalised(address)?;
        let wrong = |reason: &str| TransportError::Authorities(reason.to_owned());
        let mut trusted = Vec::new();
        for item in parse_pem(authorities) {
            if let PemItem::Certificate(one) = item.map_err(|_| wrong("is no PEM"))? {
                trusted.push(one);
            }
        }
        if trusted.is_empty() {
            return Err(wrong("holds no certificate (PEM)"));
        }
        let tls = TlsConfig::builder().root_certs(RootCerts::new_with_certs(&trusted)).build();
        Ok(Self { base, agent: configured().tls_config(tls).build().into(), token: None })
    }

    /// Without TLS there is nothing to sign.
    #[cfg(not(feature = "tls"))]
    pub fn signed_by(address: &str, _: &[u8]) -> Result<Self, TransportError> {
        normalised(address)?;
        Err(TransportError::Authorities(
            "is for https://, which this lrgeo was built without".into(),
        ))
    }

    /// Whether others on the way can read along.
    pub fn is_plain(&self) -> bool {
        let rest = self.base.strip_prefix("http://");
        let host = rest.map(|rest| rest.split(['/']).next().unwrap_or_default());
        let local = |host: &str| {
            let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
            let loopback = |ip: std::net::Ipv4Addr| ip.is_loopback();
            name == "localhost" || name == "[::1]" || name.parse().is_ok_and(loopback)
        };
        host.is_some_and(|host| !local(host))
    }

    fn get(&self, path: &str, accept: &str) -> RequestBuilder<ureq::typestate::WithoutBody> {
        self.agent.get(format!("{}{path}", self.base)).header("accept", accept)
    }

    /// The request as the operator wants to see it.
    fn admitted<B>(&self, request: RequestBuilder<B>) -> RequestBuilder<B> {
        match &self.token {
            Some(ApiToken(token)) => request.header("authorization", format!("Bearer {token}")),
            None => request,
        }
    }

    fn post<T: Serialize>(&self, path: &str, body: &T) -> Result<Response<Body>, TransportError> {
        let media = Encoding::Cbor.media_type();
        let request = self.agent.post(format!("{}{path}", self.base));
        let request = request.header("accept", media).header("content-type", media);
        self.admitted(request).send(&Encoding::Cbor.encode(body)[..]).map_err(failure)
    }
}

impl Quiet for Http {
    fn ask(&self, request: &quiet::Request, most_bytes: u64) -> Result<Answer, TransportError> {
        let response = match request.body() {
            Some(body) => self.post(&request.path(), &body)?,
            None => {
                let request = self.get(&request.path(), request.accept());
                self.admitted(request).call().map_err(failure)?
            }
        };
        let key = response.headers().get(KEY_HEADER).and_then(|value| value.to_str().ok());
        let key = key.map(str::to_owned);
        Ok(Answer { body: body(response, most_bytes)?, key })
    }
}

impl Offload for Http {
    fn circle(&self, circle: &Circle) -> Result<TableCircle, TransportError> {
        let Circle { map, centre, radius_km } = circle;
        let path =
            format!("{}?map={map}&centre={centre}&radius_km={radius_km}", path::TABLE_CIRCLE);
        let request = self.get(&path, Encoding::Cbor.media_type());
        message(self.admitted(request).call().map_err(failure)?)
    }

    fn join(&self, join: &Join) -> Result<Joined, TransportError> {
        message(self.post(path::ROUNDS, join)?)
    }

    fn state(&self, ticket: &Joined, wait_seconds: u32) -> Result<TicketState, TransportError> {
        let path = format!("{}?wait={wait_seconds}", path::ticket(plain_name(&ticket.ticket)?));
        let request = self.get(&path, Encoding::Cbor.media_type());
        let wait = ANSWER + Duration::from_secs(u64::from(wait_seconds));
        let request = request.config().timeout_global(Some(wait)).build();
        message(request.header("authorization", bearer(ticket)).call().map_err(failure)?)
    }

    fn matrix(&self, ticket: &Joined) -> Result<UserMatrix, TransportError> {
        let path = path::matrix(plain_name(&ticket.ticket)?);
        let request = self.get(&path, Encoding::Cbor.media_type());
        message(request.header("authorization", bearer(ticket)).call().map_err(failure)?)
    }
}

impl Server for Http {
    fn name(&self) -> &str {
        &self.base
    }

    fn offload(&self) -> Option<&dyn Offload> {
        Some(self)
    }
}

/// What all connections have in common.
fn configured() -> ConfigBuilder<AgentScope> {
    Agent::config_builder()
        .user_agent("lrgeo")
        .proxy(None)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .http_status_as_error(false)
        .timeout_connect(Some(CONNECT))
        .timeout_global(Some(ANSWER))
}

fn bearer(ticket: &Joined) -> String {
    format!("Bearer {}", ticket.token)
}

/// A ticket becomes part of a path: letters, digits and dashes only.
fn plain_name(ticket: &str) -> Result<&str, TransportError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    match !ticket.is_empty() && ticket.len() <= 128 && ticket.chars().all(plain) {
        true => Ok(ticket),
        false => Err(malformed("the ticket is not a plain name")),
    }
}

fn malformed(reason: &str) -> TransportError {
    lrgeo_protocol::encoding::Malformed(reason.to_owned()).into()
}

fn message<T: DeserializeOwned>(response: Response<Body>) -> Result<T, TransportError> {
    Ok(Encoding::Cbor.decode(&body(response, MOST_MESSAGE)?)?)
}

/// The body of a success, or why it is none.
fn body(response: Response<Body>, most_bytes: u64) -> Result<Vec<u8>, TransportError> {
    let status = response.status();
    if status.is_success() {
        return whole(response, most_bytes);
    }
    let media = response.headers().get("content-type").and_then(|value| value.to_str().ok());
    let encoding = media.and_then(Encoding::of);
    let bytes = whole(response, MOST_REFUSAL)?;
    let refusal = encoding.and_then(|encoding| encoding.decode(&bytes).ok());
    Err(match refusal {
        Some(refusal) => TransportError::Refused(refusal),
        None => TransportError::Status { status: status.as_u16() },
    })
}

fn whole(response: Response<Body>, most_bytes: u64) -> Result<Vec<u8>, TransportError> {
    let mut bytes = Vec::new();
    let mut limited = response.into_body().into_reader().take(most_bytes.saturating_add(1));
    limited.read_to_end(&mut bytes).map_err(|error| failure(ureq::Error::from(error)))?;
    match bytes.len() as u64 <= most_bytes {
        true => Ok(bytes),
        false => Err(TransportError::TooLong { most_bytes }),
    }
}

fn failure(error: ureq::Error) -> TransportError {
    match error {
        ureq::Error::Timeout(ureq::Timeout::Connect | ureq::Timeout::Resolve) => {
            TransportError::Unreachable("connecting took too long".into())
        }
        ureq::Error::Timeout(_) => TransportError::TimedOut,
        ureq::Error::Io(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
            TransportError::CutOff("the connection ended".into())
        }
        ureq::Error::Protocol(error) => TransportError::CutOff(error.to_string()),
        other => TransportError::Unreachable(other.to_string()),
    }
}

/// One spelling for one server, because keys are pinned to it.
fn normalised(address: &str) -> Result<String, TransportError> {
    let wrong = |reason: &str| TransportError::Address(format!("`{address}` {reason}"));
    let (scheme, rest) = address
        .trim()
        .split_once("://")
        .ok_or_else(|| wrong("is no address; write it like http://localhost:8080"))?;
    let scheme = scheme.to_ascii_lowercase();
    if scheme == "https" && !cfg!(feature = "tls") {
        return Err(wrong(
            "needs TLS, which this lrgeo was built without; build it with the feature `tls`",
        ));
    }
    if scheme != "http" && scheme != "https" {
        return Err(wrong("must begin with http:// or https://"));
    }
    if rest.contains(['?', '#', '@', ' ']) {
        return Err(wrong("must be host, port and path only"));
    }
    let (host, prefix) = rest.split_once('/').unwrap_or((rest, ""));
    let host = host.to_ascii_lowercase();
    let host = match scheme.as_str() {
        "http" => host.strip_suffix(":80").unwrap_or(&host),
        _ => host.strip_suffix(":443").unwrap_or(&host),
    };
    if host.is_empty() || host.starts_with(':') {
        return Err(wrong("names no host"));
    }
    let base = format!("{scheme}://{host}/{}", prefix.trim_end_matches('/'));
    Ok(base.trim_end_matches('/').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_has_one_name() {
        for (given, name) in [
            ("http://localhost:8080", "http://localhost:8080"),
            (" HTTP://LocalHost:8080/ ", "http://localhost:8080"),
            ("http://example.org:80/", "http://example.org"),
            ("http://example.org/maps/rome//", "http://example.org/maps/rome"),
        ] {
            assert_eq!(Http::new(given).unwrap().name(), name);
        }
        for bad in
            ["localhost:8080", "ftp://a", "http://", "http://:80", "http://u:p@a", "http://a?b"]
        {
            assert!(Http::new(bad).is_err(), "{bad} was accepted");
        }
        #[cfg(not(feature = "tls"))]
        assert!(Http::new("https://a").unwrap_err().to_string().contains("feature `tls`"));
    }

    #[test]
    fn who_can_read_along_is_known() {
        for private in ["http://localhost:1", "http://127.0.0.1:80", "http://[::1]:8080"] {
            assert!(!Http::new(private).unwrap().is_plain(), "{private}");
        }
        for plain in ["http://example.org", "http://127.example.org:80", "http://10.0.0.1"] {
            assert!(Http::new(plain).unwrap().is_plain(), "{plain}");
        }
    }

    #[test]
    fn tickets_cannot_leave_their_path() {
        assert!(plain_name("3f9a-b_C").is_ok());
        for bad in ["", "../reports", "a/b", "a?b", "a b", "é", &"a".repeat(129)] {
            assert!(plain_name(bad).is_err(), "{bad} was accepted");
        }
    }
}
