//! One HTTP request and its answer, bounded in every part.
//!
//! HTTP/1.1 only: no backend needs more, and what HTTP/2 adds (streams, flow control, header tables) is for a hostile one to
//! use. Connections are pooled per policy and authority. Absent: retries and credentials (channel), what a body means (body).
use std::{
    error::Error,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, Method, Request, StatusCode, header};
use http_body_util::{BodyExt, Full};
use hyper::body::{Body as _, Incoming};
use hyper_util::{
    client::legacy,
    rt::{TokioExecutor, TokioTimer},
};
use tokio::sync::Notify;

use crate::storage::egress::{
    connector::{ConnectError, Connector},
    echo::Sent,
    error::{BodyFault, EgressError},
    policy::Limits,
    throttle::InFlight,
};

/// Bytes of the head of an answer.
const MOST_HEAD_BYTES: usize = 64 * 1024;
/// Interim answers (`103 Early Hints`) before the one that counts.
const MOST_INTERIM: u32 = 16;
/// Header fields of an answer.
const MOST_FIELDS: usize = 128;
/// For how long a connection is kept without a request: shorter than the usual server's 60 s, so that few are closed under us.
const IDLE: Duration = Duration::from_secs(30);
/// Idle connections that are kept per authority.
const MOST_IDLE: usize = 32;
/// The longest body of an error that is read only to keep the connection, and for how long.
const DRAINED_BYTES: u64 = 16 * 1024;
const DRAINED_TIME: Duration = Duration::from_millis(250);

/// What may be read for one request: the body in chunks of any size from one byte, and some heads.
pub(super) fn most_bytes(limits: &Limits) -> usize {
    limits.response_bytes.saturating_mul(8).saturating_add(4 * MOST_HEAD_BYTES)
}

/// A client with the connections of one policy.
pub(super) type Client = legacy::Client<Connector, Full<Bytes>>;

/// A client without connections yet.
pub(super) fn client(connector: Connector, limits: &Limits) -> Client {
    legacy::Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(IDLE)
        .pool_max_idle_per_host(limits.in_flight.min(MOST_IDLE))
        .http1_max_buf_size(MOST_HEAD_BYTES)
        .http1_max_headers(MOST_FIELDS)
        .build(connector)
}

/// What came.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    /// As it was sent; empty unless the status is 2xx.
    pub(super) body: Bytes,
    /// With which credentials it was asked for.
    pub(super) sent: Sent,
    /// That the request is unanswered, until the answer is read.
    pub(super) in_flight: Option<InFlight>,
}

/// Sends a request and reads the answer, at most `limit` bytes of body. It has no deadline of its own.
pub(super) async fn exchange(
    client: &Client,
    policy: &Arc<str>,
    mut request: Request<Full<Bytes>>,
    limit: usize,
) -> Result<Answer, EgressError> {
    let head = request.method() == Method::HEAD;
    let (interim, flooded) = (AtomicU32::new(0), Arc::new(Notify::new()));
    let noticed = Arc::clone(&flooded);
    hyper::ext::on_informational(&mut request, move |_| {
        if interim.fetch_add(1, Ordering::Relaxed) == MOST_INTERIM {
            noticed.notify_one();
        }
    });
    let response = tokio::select! {
        biased;
        response = client.request(request) => response.map_err(|error| failure(&error, policy))?,
        () = flooded.notified() => {
            tracing::debug!(%policy, "interim answers without end");
            return Err(EgressError::Broken);
        }
    };
    let (parts, body) = response.into_parts();
    let bytes = if parts.status.is_success() && !head {
        collect(body, &parts.headers, limit).await?
    } else {
        drain(body).await;
        Bytes::new()
    };
    Ok(Answer { status: parts.status, headers: parts.headers, body: bytes, sent: Sent::default(), in_flight: None })
}

async fn collect(mut body: Incoming, headers: &HeaderMap, limit: usize) -> Result<Bytes, EgressError> {
    let announced = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|length| usize::try_from(length).map_or(true, |length| length > limit)) {
        return Err(BodyFault::TooLarge { limit }.into());
    }
    let mut bytes = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| {
            tracing::debug!(%error, "the body broke off");
            EgressError::Broken
        })?;
        if let Ok(data) = frame.into_data() {
            if bytes.len() + data.len() > limit {
                return Err(BodyFault::TooLarge { limit }.into());
            }
            bytes.extend_from_slice(&data);
        }
    }
    Ok(bytes.freeze())
}

/// Reads what is left of a short body, so that the connection can be used again.
async fn drain(mut body: Incoming) {
    if body.size_hint().exact().is_some_and(|length| length <= DRAINED_BYTES) {
        let read = async { while body.frame().await.is_some_and(|frame| frame.is_ok()) {} };
        // Late is as good as never: the connection is closed then.
        let _ = tokio::time::timeout(DRAINED_TIME, read).await;
    }
}

/// What the client's error means. Its own text may hold anything, so it goes to the log only.
fn failure(error: &legacy::Error, policy: &Arc<str>) -> EgressError {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(at) = cause {
        if let Some(error) = at.downcast_ref::<ConnectError>() {
            return match error {
                ConnectError::Resolve => EgressError::Resolve,
                ConnectError::Network(_) => EgressError::Network { policy: Arc::clone(policy) },
                ConnectError::Connect => EgressError::Connect,
                ConnectError::Timeout => EgressError::Timeout,
                ConnectError::Tls(fault) => EgressError::Tls(*fault),
            };
        }
        cause = at.source();
    }
    tracing::debug!(%policy, %error, cause = error.source().map(tracing::field::display), "the exchange broke off");
    EgressError::Broken
}
