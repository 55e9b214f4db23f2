//! Who answers instead of backends (fixtures of tests), or watches what backends answer (recordings).
//!
//! It stands where a request would leave, so that policies, throttles, caches, pages and bodies are those of a real call.
//! INVARIANT: it is shown no credentials. Absent: what it answers (whoever tests).
use std::{fmt, time::Duration};

use bytes::Bytes;
use http::{Request, Response, header};

use crate::storage::egress::{
    decode,
    echo::Sent,
    error::{BodyFault, EgressError},
    exchange::Answer,
};

/// How long a backend would have taken to answer: an extension of what a stand-in answers. Nobody waits for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delay(pub Duration);

/// Stands in for all backends.
pub trait StandIn: fmt::Debug + Send + Sync {
    /// Whether it answers everything, so that no backend is asked for anything: no token is fetched, no retry waits.
    fn replays(&self) -> bool;

    /// The answer; `None` where the backend is to be asked.
    fn answer(&self, request: &Request<Bytes>) -> Option<Result<Response<Bytes>, EgressError>>;

    /// What the backend answered, decompressed; and whether the policy's credentials are in it.
    fn saw(&self, request: &Request<Bytes>, answer: &Result<Response<Bytes>, EgressError>, has_credentials: bool);
}

/// What a stand-in answered, as from a backend that has so much time.
pub(super) fn taken(response: Response<Bytes>, limit: usize, time: Duration) -> Result<Answer, EgressError> {
    let (parts, body) = response.into_parts();
    if parts.extensions.get().is_some_and(|Delay(delay)| *delay >= time) {
        return Err(EgressError::Timeout);
    }
    if body.len() > limit {
        return Err(BodyFault::TooLarge { limit }.into());
    }
    let body = if parts.status.is_success() { body } else { Bytes::new() };
    Ok(Answer { status: parts.status, headers: parts.headers, body, sent: Sent::default(), in_flight: None })
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
