//! One request from its first byte to its access-log line: identity, deadline, bounds, the last resort, headers.
//!
//! Absent: sockets (listen), what is answered (routes).
use std::{
    borrow::Cow,
    error::Error,
    panic::AssertUnwindSafe,
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
        reply::{self, Answer, Failure},
        request_info::{RequestInfo, Target},
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

/// Some evaluations of a hundred objects; a tenth of what anybody notices.
const TURN: Duration = Duration::from_micros(500);

const AUDIT_ID: HeaderName = HeaderName::from_static("audit-id");

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
    pub(super) info: &'a RequestInfo,
    pub(super) query: &'a Query,
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

    /// Makes an answer that may be megabytes: who writes them takes turns with those who evaluate. An error when the
    /// request's time is over before.
    pub(super) async fn apart(&self, answer: impl FnOnce() -> Answer) -> Answer {
        let deadline = tokio::time::Instant::now() + self.deadline;
        let made = self.server.creates.apart(&self.info.workspace, &self.user.username, deadline, answer);
        made.await.unwrap_or_else(|_| Err(Box::new(status::timeout())))
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
        let mut log = Log { user: String::new(), verb: String::new(), workspace: String::new() };
        let answer = AssertUnwindSafe(self.answer(&parts, &query, body, &mut log)).catch_unwind().await;
        let mut response = match answer {
            Ok(Ok(response)) => response,
            Ok(Err(failure)) => reply::failure(&failure, wanted_encoding(&parts.headers)),
            Err(_) => {
                tracing::error!(path = ?status::echo(parts.uri.path()), %audit_id, "answering a request panicked");
                reply::failure(&status::internal("the server has a defect; its log tells more"), Encoding::Json)
            }
        };
        finish(&mut response, &parts.method, &audit_id, begun.elapsed());
        tracing::info!(
            target: "celandine::access",
            // Quoted: what a client says of itself must not look like another field, or another line.
            user = ?status::echo(&log.user),
            verb = ?status::echo(&log.verb),
            workspace = ?status::echo(&log.workspace),
            path = ?status::echo(parts.uri.path()),
            code = response.status().as_u16(),
            latency_us = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX),
            audit_id,
            "request"
        );
        response
    }

    async fn answer<B>(&self, parts: &http::request::Parts, query: &Query, body: B, log: &mut Log) -> Answer
    where
        B: HttpBody<Data = Bytes> + Send,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        let server = &self.0;
        parts.method.as_str().clone_into(&mut log.verb);
        refuse_browsers(parts)?;
        let info = RequestInfo::parse(&parts.method, parts.uri.path(), query)
            .map_err(|e| Box::new(status::bad_request(e.to_string())))?;
        log.verb.clone_from(&info.verb.clone().into_owned());
        log.workspace.clone_from(&info.workspace);
        let user = identity::user(&parts.headers)?;
        log.user.clone_from(&user.username);
        let watching = info.verb == "watch";
        let limits = &server.limits;
        let deadline = if watching { limits.watch_deadline } else { deadline(query, limits.request_deadline)? };
        // Probes are answered however busy the server is; watches are counted apart, when they begin.
        let exempt = watching || matches!(&info.target, Target::Path(path) if routes::is_probe(path));
        let flow = server.in_flight.flow(&info.workspace, &user.username);
        let seat = if exempt { None } else { Some(server.in_flight.try_seat(flow)) };
        if let Some(Err(_)) = seat {
            return Ok(busy());
        }
        let context =
            Context { server, method: &parts.method, headers: &parts.headers, info: &info, query, user, deadline };
        let whole = async {
            let bytes = match parts.method {
                Method::GET | Method::HEAD | Method::OPTIONS => Bytes::new(),
                _ => {
                    let read = body::read(&parts.headers, body, limits.body_bytes, limits.body_deadline).await;
                    read.map_err(|e| Box::new(status::body(&e)))?
                }
            };
            routes::route(&context, bytes).await
        };
        match tokio::time::timeout(deadline, whole).await {
            Ok(answer) => answer,
            Err(_) => Err(Box::new(status::timeout())),
        }
    }
}

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
    let site = parts.headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
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
    let name = name.to_ascii_lowercase();
    name == "localhost" || name.ends_with(".localhost") || name.parse::<std::net::IpAddr>().is_ok()
}

fn deadline(query: &Query, most: Duration) -> Result<Duration, Failure> {
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

fn audit_id(headers: &HeaderMap) -> String {
    let given = headers.get(AUDIT_ID).and_then(|v| v.to_str().ok());
    match given.filter(|id| (1..=64).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-'))
    {
        Some(id) => id.to_owned(),
        // For logs only.
        None => Entropy::random().uid(),
    }
}

fn finish(response: &mut Response<Body>, method: &Method, audit_id: &str, elapsed: Duration) {
    if *method == Method::HEAD {
        let length = response.body().size_hint().exact();
        *response.body_mut() = body::full(Bytes::new());
        if let Some(length) = length {
            response.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(length));
        }
    }
    let timing = response.extensions_mut().remove::<reply::ServerTiming>();
    let headers = response.headers_mut();
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-cache, private"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if let Ok(id) = HeaderValue::from_str(audit_id) {
        headers.insert(AUDIT_ID, id);
    }
    let parts = timing.map(|reply::ServerTiming(parts)| format!(", {parts}")).unwrap_or_default();
    let timing = format!("total;dur={:.3}{parts}", elapsed.as_secs_f64() * 1000.0);
    if let Ok(timing) = HeaderValue::from_str(&timing) {
        headers.insert("server-timing", timing);
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
