//! The private cache of HTTP answers: RFC 9111 by http-cache-semantics, the bytes by moka.
//!
//! Private: an entry belongs to one policy, one version of its credentials and one workspace, so tenants cannot even tell by
//! time what others asked for. No heuristics: what neither the origin nor `ttlSeconds` gives a time is not reused.
//! Absent: sending what revalidates (channel), answers made from several (create).
use std::{
    fmt,
    sync::Arc,
    time::{Duration, SystemTime},
};

use cel::Value;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode, header};
use http_cache_semantics::{AfterResponse, BeforeRequest, CacheOptions, CachePolicy};
use moka::sync::Cache;

use crate::storage::egress::{body::Body, call::Freshness};

/// For how long a 404 is reused at most: what is missing is often being made.
const NEGATIVE: Duration = Duration::from_secs(5);
/// Entries nobody asks for go after this, however long they are fresh.
const IDLE: Duration = Duration::from_secs(3600);
/// What an entry takes besides its body, about.
const ENTRY_BYTES: usize = 2048;
/// No time of any header field is longer: sums of times must not overflow.
const LONGEST_SECONDS: u64 = 365 * 24 * 3600;

/// Names an entry: a digest of all that must be equal.
pub(super) type Key = [u8; 32];

/// The entries.
#[derive(Clone)]
pub(super) struct HttpCache(Cache<Key, Arc<Stored>>);

impl fmt::Debug for HttpCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HttpCache({})", self.0.entry_count())
    }
}

impl HttpCache {
    /// Holds about so many bytes.
    pub(super) fn new(bytes: u64) -> HttpCache {
        let weigh = |_: &Key, stored: &Arc<Stored>| u32::try_from(stored.weight()).unwrap_or(u32::MAX);
        HttpCache(Cache::builder().max_capacity(bytes).weigher(weigh).time_to_idle(IDLE).build())
    }

    pub(super) fn get(&self, key: &Key) -> Option<Arc<Stored>> {
        self.0.get(key)
    }

    pub(super) fn put(&self, key: Key, stored: &Arc<Stored>) {
        self.0.insert(key, Arc::clone(stored));
    }

    pub(super) fn remove(&self, key: &Key) {
        self.0.invalidate(key);
    }
}

/// An answer and how long it may be reused.
pub(super) struct Stored {
    pub(super) status: StatusCode,
    pub(super) body: Body,
    /// The `Link` header fields, for pages.
    pub(super) links: Vec<String>,
    policy: CachePolicy,
    directives: Directives,
    received: SystemTime,
}

/// What the origin says besides what http-cache-semantics knows.
#[derive(Clone, Copy, Debug, Default)]
struct Directives {
    /// It gives a time.
    explicit: bool,
    /// It gives what it can be asked by.
    validates: bool,
    /// It forbids reuse without asking again.
    asks_again: bool,
    /// For how long it may be used after its time when the origin fails (RFC 5861).
    stale_if_error: Duration,
}

impl Stored {
    /// An answer to a request, just received.
    pub(super) fn new(
        request: &Request<()>,
        status: StatusCode,
        headers: &HeaderMap,
        body: Body,
        now: SystemTime,
    ) -> Stored {
        let mut response = Response::new(());
        *response.status_mut() = status;
        *response.headers_mut() = sanitized(headers);
        let options = CacheOptions { shared: false, cache_heuristic: 0.0, ..CacheOptions::default() };
        let policy = CachePolicy::new_options(request, &response, now, options);
        let links = headers.get_all(header::LINK).iter().filter_map(|value| Some(value.to_str().ok()?.to_owned()));
        let directives = directives(response.headers());
        Stored { status, body, links: links.collect(), policy, directives, received: now }
    }

    /// How long it may still be reused by a call that allows `ttl`.
    pub(super) fn freshness(&self, ttl: Option<Duration>, now: SystemTime) -> Freshness {
        let age = self.policy.age(now);
        let longest = Duration::from_secs(LONGEST_SECONDS);
        let origin = self.policy.time_to_live(now).min(longest.saturating_sub(age));
        let call = ttl.map(|ttl| ttl.saturating_sub(age));
        let fresh_for = match (self.directives, call) {
            (Directives { asks_again: true, .. }, _) => Duration::ZERO,
            (Directives { explicit: true, .. }, Some(call)) => origin.min(call),
            (Directives { explicit: true, .. }, None) => origin,
            (Directives { explicit: false, .. }, Some(call)) => call,
            (Directives { explicit: false, .. }, None) => Duration::ZERO,
        };
        let resident = now.duration_since(self.received).unwrap_or_default();
        let negative = self.status == StatusCode::NOT_FOUND;
        let bound = if negative { NEGATIVE.saturating_sub(resident) } else { Duration::MAX };
        Freshness { observed: self.received, fresh_for: fresh_for.min(bound) }
    }

    /// Whether keeping it can ever be of use.
    pub(super) fn is_worth_keeping(&self, ttl: Option<Duration>, now: SystemTime) -> bool {
        let revalidates = self.status.is_success() && self.directives.validates;
        let fresh = !self.freshness(ttl, now).fresh_for.is_zero();
        self.policy.is_storable() && (fresh || revalidates)
    }

    /// The header fields that ask the origin whether it is still right; none where it cannot be asked.
    pub(super) fn validators(&self, request: &Request<()>) -> Vec<(HeaderName, HeaderValue)> {
        // Far from now, so that it is never fresh.
        let later = self.received + Duration::from_secs(2 * LONGEST_SECONDS);
        let BeforeRequest::Stale { request, .. } = self.policy.before_request(request, later) else { return vec![] };
        let ours = [header::IF_NONE_MATCH, header::IF_MODIFIED_SINCE];
        ours.into_iter().filter_map(|name| request.headers.get(&name).cloned().map(|value| (name, value))).collect()
    }

    /// The same answer after the origin said that it is still right; `None` where it spoke of another.
    pub(super) fn revalidated(&self, request: &Request<()>, headers: &HeaderMap, now: SystemTime) -> Option<Stored> {
        let mut response = Response::new(());
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        *response.headers_mut() = sanitized(headers);
        match self.policy.after_response(request, &response, now) {
            AfterResponse::NotModified(policy, parts) => {
                let directives = directives(&parts.headers);
                let (body, links) = (self.body.clone(), self.links.clone());
                Some(Stored { status: self.status, body, links, policy, directives, received: now })
            }
            AfterResponse::Modified(..) => None,
        }
    }

    /// Whether the origin allows it while it fails, counted from when a call that allows `ttl` would have asked again.
    pub(super) fn serves_on_error(&self, ttl: Option<Duration>, now: SystemTime) -> bool {
        let age = now.duration_since(self.received).unwrap_or_default();
        let fresh_for = self.freshness(ttl, self.received).fresh_for;
        !self.directives.asks_again && age < fresh_for.saturating_add(self.directives.stale_if_error)
    }

    /// The body.
    pub(super) fn value(&self) -> &Value {
        &self.body.value
    }

    fn weight(&self) -> usize {
        self.body.weight() + self.links.iter().map(String::len).sum::<usize>() + ENTRY_BYTES
    }
}

/// The header fields that caching depends on, in the form that http-cache-semantics reads: one `Cache-Control` in lower
/// case (RFC 9111, section 5.2: directives are case-insensitive), one `Vary`, an `Age` that no sum of overflows.
fn sanitized(headers: &HeaderMap) -> HeaderMap {
    let mut out = HeaderMap::new();
    for name in [header::DATE, header::EXPIRES, header::ETAG, header::LAST_MODIFIED, header::PRAGMA] {
        if let Some(value) = headers.get(&name) {
            out.insert(name, value.clone());
        }
    }
    for name in [header::CACHE_CONTROL, header::VARY] {
        let texts: Vec<&str> = headers.get_all(&name).iter().filter_map(|value| value.to_str().ok()).collect();
        if let Ok(value) = HeaderValue::from_str(&texts.join(", ").to_ascii_lowercase())
            && !texts.is_empty()
        {
            out.insert(name, value);
        }
    }
    if let Some(age) = headers.get(header::AGE) {
        // What is no number is as old as can be.
        let seconds = age.to_str().ok().and_then(|text| text.trim().parse::<u64>().ok()).unwrap_or(LONGEST_SECONDS);
        out.insert(header::AGE, HeaderValue::from(seconds.min(LONGEST_SECONDS)));
    }
    out
}

fn directives(headers: &HeaderMap) -> Directives {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let mut directives = Directives {
        explicit: headers.contains_key(header::EXPIRES),
        validates: headers.contains_key(header::ETAG) || headers.contains_key(header::LAST_MODIFIED),
        ..Directives::default()
    };
    let control = text(header::CACHE_CONTROL);
    for part in control.split(',') {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        let seconds = || value.trim().trim_matches('"').parse::<u64>().unwrap_or(0).min(LONGEST_SECONDS);
        match name.trim() {
            "max-age" => directives.explicit = true,
            "no-store" | "no-cache" => directives.asks_again = true,
            "stale-if-error" => directives.stale_if_error = Duration::from_secs(seconds()),
            _ => {}
        }
    }
    if control.split(',').any(|part| part.trim() == "must-revalidate") {
        directives.stale_if_error = Duration::ZERO;
    }
    if control.is_empty() && text(header::PRAGMA).to_ascii_lowercase().contains("no-cache") {
        directives.asks_again = true;
    }
    // All fields of a request are part of its key, so it varies by nothing; by anything else it cannot be told.
    if text(header::VARY).split(',').any(|name| name.trim() == "*") {
        directives.asks_again = true;
    }
    directives
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> Request<()> {
        Request::get("https://a.example/x").body(()).unwrap()
    }

    fn stored(status: u16, fields: &[(&'static str, &'static str)]) -> Stored {
        let fields =
            fields.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        let headers: HeaderMap = fields.collect();
        let body = crate::storage::egress::body::empty();
        Stored::new(&request(), StatusCode::from_u16(status).unwrap(), &headers, body, at(0))
    }

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777 + seconds)
    }

    #[track_caller]
    fn check(fields: &[(&'static str, &'static str)], ttl: Option<u64>, want: u64) {
        let freshness = stored(200, fields).freshness(ttl.map(Duration::from_secs), at(1));
        assert_eq!(freshness.fresh_for, Duration::from_secs(want), "{fields:?} {ttl:?}");
    }

    #[test]
    fn the_shorter_of_the_times_of_origin_and_call_counts() {
        check(&[], None, 0);
        check(&[], Some(30), 29);
        check(&[("cache-control", "max-age=60")], None, 59);
        check(&[("cache-control", "Max-Age=60, Public")], Some(30), 29);
        check(&[("cache-control", "private, max-age=10")], Some(30), 9);
        check(&[("cache-control", "max-age=60"), ("age", "50")], Some(30), 0);
        check(&[("expires", "Sun, 06 Nov 1994 08:50:37 GMT"), ("date", "Sun, 06 Nov 1994 08:49:37 GMT")], None, 59);
        check(&[("expires", "0")], Some(30), 0);
        check(&[("last-modified", "Sun, 06 Nov 1994 08:00:00 GMT")], None, 0);
        for forbidding in ["no-store", "no-cache", "No-Store, max-age=60", "max-age=60, no-cache"] {
            check(&[("cache-control", forbidding)], Some(30), 0);
        }
        check(&[("pragma", "no-cache")], Some(30), 0);
        check(&[("vary", "accept, *")], Some(30), 0);
        check(&[("vary", "accept, authorization")], Some(30), 29);
        check(&[("cache-control", "max-age=18446744073709551615"), ("age", "18446744073709551615")], None, 0);
    }

    #[test]
    fn what_is_missing_is_forgotten_soon() {
        let missing = stored(404, &[("cache-control", "max-age=60")]);
        assert_eq!(missing.freshness(None, at(2)).fresh_for, Duration::from_secs(3));
        assert_eq!(missing.freshness(None, at(5)).fresh_for, Duration::ZERO);
        assert!(!stored(500, &[("cache-control", "max-age=60")]).is_worth_keeping(None, at(0)));
    }

    #[test]
    fn answers_are_revalidated_by_what_the_origin_gave() {
        let tagged = stored(200, &[("etag", "\"a\"")]);
        let validators = tagged.validators(&request());
        assert_eq!(validators, [(header::IF_NONE_MATCH, HeaderValue::from_static("\"a\""))]);
        assert!(tagged.is_worth_keeping(None, at(0)) && !stored(200, &[]).is_worth_keeping(None, at(0)));
        let fresh = [("etag", "\"a\""), ("cache-control", "max-age=9")];
        let headers: HeaderMap =
            fresh.map(|(n, v)| (HeaderName::from_static(n), HeaderValue::from_static(v))).into_iter().collect();
        let again = tagged.revalidated(&request(), &headers, at(100));
        assert!(again.is_some_and(|again| again.freshness(None, at(100)).observed == at(100)));
        let other = HeaderMap::from_iter([(header::ETAG, HeaderValue::from_static("\"b\""))]);
        assert!(tagged.revalidated(&request(), &other, at(100)).is_none());
    }

    #[test]
    fn stale_answers_serve_while_the_origin_fails_if_it_allowed_that() {
        let stale = stored(200, &[("cache-control", "max-age=10, stale-if-error=20")]);
        assert!(stale.serves_on_error(None, at(29)) && !stale.serves_on_error(None, at(30)));
        // Whoever wants it no older than 5 s gets it for 20 s more, and where the origin allows nothing more, not even though
        // the origin itself would give it for 10 s.
        let five = Some(Duration::from_secs(5));
        assert!(stale.serves_on_error(five, at(24)) && !stale.serves_on_error(five, at(25)));
        assert!(!stored(200, &[("cache-control", "max-age=10")]).serves_on_error(five, at(6)));
        assert!(!stored(404, &[("cache-control", "max-age=60")]).serves_on_error(None, at(6)));
        for control in ["max-age=10", "max-age=10, stale-if-error=20, must-revalidate", "no-cache, stale-if-error=20"] {
            assert!(!stored(200, &[("cache-control", control)]).serves_on_error(None, at(15)), "{control}");
        }
    }
}
