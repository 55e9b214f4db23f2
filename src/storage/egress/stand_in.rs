//! Who answers instead of backends (fixtures of tests), or watches what backends answer (recordings).
//!
//! It stands where a request would leave, so that policies, throttles, caches, pages and bodies are those of a real call.
//! INVARIANT: it is shown no credentials. Absent: what it answers (whoever tests).
use std::fmt;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http::{HeaderValue, Request, Response, header};

use crate::storage::egress::{
    decode,
    error::{BodyFault, EgressError},
    exchange::Answer,
};

/// Stands in for all backends.
pub trait StandIn: fmt::Debug + Send + Sync {
    /// Whether it answers everything, so that no backend is asked for anything: no token is fetched, no retry waits.
    fn replays(&self) -> bool;

    /// The answer; `None` where the backend is to be asked.
    fn answer(&self, request: &Request<Bytes>) -> Option<Result<Response<Bytes>, EgressError>>;

    /// What the backend answered, decompressed; and whether the policy's credentials are in it.
    fn saw(&self, request: &Request<Bytes>, answer: &Result<Response<Bytes>, EgressError>, has_credentials: bool);
}

/// What a stand-in answered, as from a backend.
pub(super) fn taken(response: Response<Bytes>, limit: usize) -> Result<Answer, EgressError> {
    let (parts, body) = response.into_parts();
    if body.len() > limit {
        return Err(BodyFault::TooLarge { limit }.into());
    }
    let body = if parts.status.is_success() { body } else { Bytes::new() };
    Ok(Answer { status: parts.status, headers: parts.headers, body })
}

/// What a backend answered, as a stand-in sees it.
pub(super) fn shown(answer: &Answer, limit: usize) -> Result<Response<Bytes>, EgressError> {
    let mut headers = answer.headers.clone();
    let body = match decode::encoding(&headers)? {
        Some(encoding) => {
            headers.remove(header::CONTENT_ENCODING);
            decode::decompress(encoding, &answer.body, limit)?.into()
        }
        None => answer.body.clone(),
    };
    let mut response = Response::new(body);
    *response.status_mut() = answer.status;
    *response.headers_mut() = headers;
    Ok(response)
}

/// Whether a response holds what was sent as credentials: backends that echo do.
pub(super) fn holds(response: &Response<Bytes>, sent: &HeaderValue) -> bool {
    // `Bearer <token>`, `Basic <base64 of user:password>`, or the secret itself.
    let whole = sent.as_bytes();
    let last = whole.rsplit(|byte| *byte == b' ').next().unwrap_or(whole);
    let decoded = STANDARD.decode(last).unwrap_or_default();
    let password = decoded.iter().position(|byte| *byte == b':').and_then(|at| decoded.get(at + 1..));
    let secrets = [Some(last), password].into_iter().flatten().filter(|secret| !secret.is_empty());
    let within = |text: &[u8], secret: &[u8]| text.windows(secret.len()).any(|window| window == secret);
    secrets.into_iter().any(|secret| {
        within(response.body(), secret) || response.headers().values().any(|value| within(value.as_bytes(), secret))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn echoed_credentials_are_found() {
        let response = |body: &'static str| Response::new(Bytes::from_static(body.as_bytes()));
        let check = |sent: &'static str, body, want| {
            assert_eq!(holds(&response(body), &HeaderValue::from_static(sent)), want, "{sent} {body}");
        };
        check("Bearer s3cret", r#"{"authorization": "Bearer s3cret"}"#, true);
        check("Basic dTpzM2NyZXQ=", "the password is s3cret", true);
        check("Basic dTpzM2NyZXQ=", "dTpzM2NyZXQ=", true);
        check("s3cret", "x-api-key: s3cret", true);
        check("Bearer s3cret", r#"{"points": []}"#, false);
    }
}
