//! One request from its first byte to its access-log line: identity, deadline, bounds, the last resort, headers.
//!
//! Absent: sockets (listen), what is answered (routes).
use std::{
    borrow::Cow,
    error::Error,
    panic::AssertUnwindSafe,
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use futures_util::FutureExt;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, header};
use hyper::body::Body as HttpBody;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use crate::{
    api::UserInfo,
    server::{
        body::{self, Body},
        config::Limits,
        documents::Cache,
        identity,
        negotiate::{self, Encoding},
        query::{Query, go_duration},
        reply::{self, Answer, Failure, Millis, SERVER_TIMING},
        request_info::RequestInfo,
        routes, status,
    },
    storage::{
        answers::Answers,
        computing::Places,
        create::{Entropy, Shared},
        fair::{Bounds, Fair},
        throttle::Throttles,
        workspace::Workspaces,
    },
};

/// Answers below are not counted: sockets and connections hold as much on their own.
const SMALL_KIB: u32 = 64;

/// Bytes of a body from which on few are answered at once: as many below it as there are seats take no more.
const LARGE: usize = 128 * 1024;

/// Some evaluations of a hundred objects; a tenth of what anybody notices.
const TURN: Duration = Duration::from_micros(500);

const AUDIT_ID: HeaderName = HeaderName::from_static("audit-id");
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The target of the access log.
const ACCESS: &str = "celandine::access";

/// Answers requests; cheap to clone.
#[derive(Clone, Debug)]
pub struct Service(Arc<Inner>);

/// What all requests share.
#[derive(Debug)]
pub(super) struct Inner {
    pub(super) workspaces: Arc<Workspaces>,
    pub(super) limits: Limits,
    pub(super) documents: Cache,
    pub(super) watches: Arc<Semaphore>,
    pub(super) creates: Shared,
    in_flight: Fair,
    large: Fair,
    closing: watch::Sender<bool>,
    /// KiB of answers that may wait for their clients to take them.
    unread: Arc<Semaphore>,
}

impl Inner {
    /// Turns true when the server shuts down.
    pub(super) fn closing(&self) -> watch::Receiver<bool> {
        self.closing.subscribe()
    }
}

/// A request whose head is understood.
#[derive(Debug)]
pub(super) struct Context<'a> {
    pub(super) server: &'a Arc<Inner>,
    pub(super) method: &'a Method,
    pub(super) headers: &'a HeaderMap,
    pub(super) info: &'a RequestInfo<'a>,
    pub(super) query: &'a Query<'a>,
    pub(super) user: UserInfo,
    /// When the client gives up.
    pub(super) deadline: Duration,
}

impl Context<'_> {
    /// The text of a header; empty for none and for what is no text.
    pub(super) fn header(&self, name: HeaderName) -> Option<&str> {
        self.headers.get(name).and_then(|v| v.to_str().ok())
    }

    /// What the client accepts, all its headers of this name joined.
    pub(super) fn accept(&self) -> Option<Cow<'_, str>> {
        let mut all = self.headers.get_all(header::ACCEPT).iter().filter_map(|v| v.to_str().ok());
        let first = all.next()?;
        Some(all.fold(Cow::Borrowed(first), |all, more| Cow::Owned(format!("{all},{more}"))))
    }

    /// Does what may take long, such as to write megabytes: it takes turns with evaluations. An error when the request's time
    /// is over before.
    pub(super) async fn apart<T>(&self, work: impl FnOnce() -> T) -> Result<T, Failure> {
        let deadline = tokio::time::Instant::now() + self.deadline;
        let done = self.server.creates.apart(&self.info.workspace, &self.user.username, deadline, work);
        done.await.map_err(|_| Box::new(status::timeout()))
    }

    /// JSON, indented if the client wants to read it.
    pub(super) fn pretty(&self, encoding: Encoding) -> Encoding {
        if encoding == Encoding::Json && self.query.bool("pretty") { Encoding::PrettyJson } else { encoding }
    }
}

impl Service {
    /// Serves workspaces.
    pub fn new(workspaces: Arc<Workspaces>, limits: Limits) -> Service {
        Service(Arc::new(Inner {
            workspaces,
            documents: Cache::default(),
            watches: Arc::new(Semaphore::new(limits.watches)),
            creates: Shared {
                answers: Some(Answers::new(limits.answer_bytes)),
                throttles: Some(Throttles::default()),
                seats: Some(Fair::new(limits.creates)),
                computing: Some(Places::new(limits.computing)),
                turn: TURN,
            },
            // Nobody waits here: a body that is read holds memory.
            in_flight: Fair::new(Bounds { seats: limits.in_flight, queue: 0, queue_per_flow: 0, ..limits.creates }),
            large: Fair::new(limits.large),
            closing: watch::Sender::new(false),
            unread: Arc::new(Semaphore::new(limits.unread_kib as usize)),
            limits,
        }))
    }

    /// Room for the bytes of an answer until they are taken; `None` where there is none. Small ones need none.
    pub(super) fn room(&self, bytes: u64) -> Option<Option<OwnedSemaphorePermit>> {
        let kib = u32::try_from(bytes / 1024).unwrap_or(u32::MAX);
        if kib < SMALL_KIB {
            return Some(None);
        }
        // One answer may take all of it, and no more.
        let kib = kib.min(self.0.limits.unread_kib);
        Arc::clone(&self.0.unread).try_acquire_many_owned(kib).ok().map(Some)
    }

    /// From now on `/readyz` fails and watches end.
    pub fn close(&self) {
        self.0.closing.send_replace(true);
    }

    /// Answers a request. It never fails: a failure is a Status.
    pub async fn call<B>(&self, request: Request<B>) -> Response<Body>
    where
        B: HttpBody<Data = Bytes> + Send,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        let begun = Instant::now();
        let (parts, body) = request.into_parts();
        let audit_id = audit_id(&parts.headers);
        let query = Query::parse(parts.uri.query().unwrap_or_default());
        let mut log = tracing::enabled!(target: ACCESS, tracing::Level::INFO).then(Log::default);
        let answer = {
            let answer = pin!(self.answer(&parts, &query, body, &mut log));
            AssertUnwindSafe(answer).catch_unwind().await
        };
        let mut response = match answer {
            Ok(Ok(response)) => response,
            Ok(Err(failure)) => reply::failure(&failure, wanted_encoding(&parts.headers)),
            Err(_) => {
                tracing::error!(path = ?status::echo(parts.uri.path()), audit_id = %text(&audit_id), "answering a request panicked");
                reply::failure(&status::internal("the server has a defect; its log tells more"), Encoding::Json)
            }
        };
        if let Some(log) = log {
            tracing::info!(
                target: ACCESS,
                // Quoted: what a client says of itself must not look like another field, or another line.
                user = ?status::echo(&log.user),
                verb = ?status::echo(&log.verb),
                workspace = ?status::echo(&log.workspace),
                path = ?status::echo(parts.uri.path()),
                code = response.status().as_u16(),
                latency_us = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX),
                audit_id = text(&audit_id),
                "request"
            );
        }
        finish(&mut response, &parts.method, audit_id, begun.elapsed());
        response
    }

    async fn answer<B>(&self, parts: &http::request::Parts, query: &Query<'_>, body: B, log: &mut Option<Log>) -> Answer
    where
        B: HttpBody<Data = Bytes> + Send,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        let server = &self.0;
        if let Some(log) = log {
            parts.method.as_str().clone_into(&mut log.verb);
        }
        refuse_browsers(parts)?;
        let info = RequestInfo::parse(&parts.method, parts.uri.path(), query)
            .map_err(|e| Box::new(status::bad_request(e.to_string())))?;
        if let Some(log) = log {
            info.verb.as_ref().clone_into(&mut log.verb);
            info.workspace.as_ref().clone_into(&mut log.workspace);
        }
        let user = identity::user(&parts.headers)?;
        if let Some(log) = log {
            user.username.clone_into(&mut log.user);
        }
        let watching = info.verb == "watch";
        let limits = &server.limits;
        let deadline = if watching { limits.watch_deadline } else { deadline(query, limits.request_deadline)? };
        // Probes are answered however busy the server is; watches are counted apart, when they begin.
        let exempt = watching || routes::is_probe(&info.segments);
        let flow = server.in_flight.flow(&info.workspace, &user.username);
        let seat = if exempt { None } else { Some(server.in_flight.try_seat(flow)) };
        if let Some(Err(_)) = seat {
            return Ok(busy());
        }
        let context =
            Context { server, method: &parts.method, headers: &parts.headers, info: &info, query, user, deadline };
        // Pinned: what waits for it would else be a copy of it, and it is large.
        let whole = pin!(async {
            let bytes = match parts.method {
                Method::GET | Method::HEAD | Method::OPTIONS => Bytes::new(),
                _ => {
                    let read = body::read(&parts.headers, body, limits.body_bytes, limits.body_deadline).await;
                    read.map_err(|e| Box::new(status::body(&e)))?
                }
            };
            let _large = match bytes.len() > LARGE {
                true => {
                    let flow = server.large.flow(&context.info.workspace, &context.user.username);
                    match server.large.seat(flow, tokio::time::Instant::now() + deadline).await {
                        Ok(seat) => Some(seat),
                        Err(_) => return Ok(busy()),
                    }
                }
                false => None,
            };
            routes::route(&context, bytes).await
        });
        match tokio::time::timeout(deadline, whole).await {
            Ok(answer) => answer,
            Err(_) => Err(Box::new(status::timeout())),
        }
    }
}

/// What the access log tells of a request, as far as it was understood.
#[derive(Default)]
struct Log {
    user: String,
    verb: String,
    workspace: String,
}

/// A web page that the user looks at must not act as the user: neither by a form or `fetch` of another site, nor by a name
/// that is made to resolve to loopback.
fn refuse_browsers(parts: &http::request::Parts) -> Result<(), Failure> {
    let forbidden = |why: &str| {
        let status =
            crate::api::Status::new(crate::api::ErrorCode::FORBIDDEN, "Forbidden", format!("forbidden: {why}"));
        Err(Box::new(status))
    };
    let site = parts.headers.get(SEC_FETCH_SITE).map(HeaderValue::as_bytes);
    if site.is_some_and(|s| s != b"same-origin" && s != b"none") {
        return forbidden("requests of web pages of other origins are not answered");
    }
    // One that is no text is nobody's name.
    let host = parts.headers.get(header::HOST).map(|h| h.to_str().unwrap_or_default());
    let host = host.or(parts.uri.authority().map(http::uri::Authority::as_str));
    // Browsers that do not send the other header yet send this one with whatever changes something.
    if let Some(origin) = parts.headers.get(header::ORIGIN) {
        let origin = origin.to_str().ok().and_then(|origin| origin.split_once("://"));
        if origin.is_none() || origin.map(|(_, authority)| authority) != host {
            return forbidden("requests of web pages of other origins are not answered");
        }
    }
    match host {
        Some(host) if !is_local(host) => {
            forbidden("the Host of the request must be localhost or an address, since callers are not authenticated")
        }
        _ => Ok(()),
    }
}

fn is_local(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    };
    let name = name.strip_prefix('[').and_then(|n| n.strip_suffix(']')).unwrap_or(name);
    let domain = name.rsplit_once('.').map_or(name, |(_, domain)| domain);
    domain.eq_ignore_ascii_case("localhost") || name.parse::<std::net::IpAddr>().is_ok()
}

fn deadline(query: &Query<'_>, most: Duration) -> Result<Duration, Failure> {
    let Some(text) = query.non_empty("timeout") else { return Ok(most) };
    match go_duration(text) {
        // kube-apiserver takes 0 for its default.
        Some(Duration::ZERO) => Ok(most),
        Some(asked) => Ok(asked.min(most)),
        None => Err(Box::new(status::bad_request(format!(
            "invalid timeout specified in the request URL - time: invalid duration \"{}\"",
            status::echo(text)
        )))),
    }
}

/// 429; the header makes client-go wait and try again.
pub(super) fn busy() -> Response<Body> {
    let response = reply::failure(&status::too_many_requests(), Encoding::Json);
    reply::with(response, header::RETRY_AFTER, "1")
}

fn wanted_encoding(headers: &HeaderMap) -> Encoding {
    let accept = headers.get(header::ACCEPT).and_then(|v| v.to_str().ok());
    negotiate::objects(accept).map_or(Encoding::Json, |w| w.encoding)
}

fn audit_id(headers: &HeaderMap) -> HeaderValue {
    let usable = |id: &[u8]| (1..=64).contains(&id.len()) && id.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'-');
    match headers.get(AUDIT_ID).filter(|id| usable(id.as_bytes())) {
        Some(id) => id.clone(),
        // For logs only. A UUID is a header's value.
        None => HeaderValue::try_from(Entropy::random().uid()).unwrap_or(HeaderValue::from_static("")),
    }
}

fn text(value: &HeaderValue) -> &str {
    value.to_str().unwrap_or_default()
}

fn finish(response: &mut Response<Body>, method: &Method, mut audit_id: HeaderValue, elapsed: Duration) {
    if *method == Method::HEAD {
        let length = response.body().size_hint().exact();
        *response.body_mut() = body::full(Bytes::new());
        if let Some(length) = length {
            response.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(length));
        }
    }
    let headers = response.headers_mut();
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-cache, private"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    // As HTTP/2 has it, a value that is not to be remembered: it is not seen again, and would take the place of one that is.
    audit_id.set_sensitive(true);
    headers.insert(AUDIT_ID, audit_id);
    let mut timing = format!("total;dur={}", Millis(elapsed));
    if let Some(parts) = headers.get(SERVER_TIMING) {
        timing.push_str(", ");
        timing.push_str(text(parts));
    }
    if let Ok(mut timing) = HeaderValue::try_from(timing) {
        timing.set_sensitive(true);
        headers.insert(SERVER_TIMING, timing);
    }
}

/// An error and its sources, for the log.
pub(super) fn chain(error: &dyn Error) -> String {
    let mut out = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        out.push_str(": ");
        out.push_str(&error.to_string());
        source = error.source();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_local_hosts() {
        for host in
            ["localhost", "localhost:8001", "127.0.0.1:8001", "[::1]:8001", "[::1]", "LOCALHOST", "a.localhost:1"]
        {
            assert!(is_local(host), "{host}");
        }
        for host in ["example.com", "localhost.example.com", "127.0.0.1.nip.io:80", ""] {
            assert!(!is_local(host), "{host}");
        }
    }
}
