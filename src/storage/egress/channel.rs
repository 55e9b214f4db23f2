//! One policy at work: from a call that its asker may make to an answer, through cache, throttle and breaker.
//!
//! Absent: which policies there are (gateway), each of the steps by itself (their files).
mod send;

use std::{
    collections::HashMap,
    fmt,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use futures_util::FutureExt;
use http::{HeaderMap, HeaderValue, Request, StatusCode, header};
use sha2::{Digest, Sha256};
use tokio::time::Instant;

use self::send::passes;
use crate::{
    api::{egress_policy::EgressPolicySpec, ephemeral_schema::Method},
    storage::egress::{
        auth::Credentials,
        body,
        breaker::Breaker,
        cache::{Key, Stored},
        call::{CacheUse, Call, Format, Freshness, Reply, Timing},
        connector::{Connector, Parts},
        error::{BodyFault, EgressError, PagesFault},
        exchange::{self, Answer, Client, client},
        flight::Flights,
        gateway::Shared,
        headers, oauth2,
        pages::Pages,
        policy::{PolicyError, Rules},
        target::Target,
        throttle::Throttle,
        tls,
    },
};

/// How long a call waits for its own request to end by itself.
const GRACE: Duration = Duration::from_millis(100);

/// What a request is told of us.
const USER_AGENT: &str = concat!("celandine/", env!("CARGO_PKG_VERSION"));

/// The failures of backends by their authority.
type Breakers = Mutex<HashMap<String, Breaker>>;

/// A policy with the state of its calls.
pub(super) struct Channel {
    /// Tells its cached answers from those of others, also of its own earlier versions.
    id: u64,
    policy: Arc<str>,
    rules: Rules,
    credentials: Option<Credentials>,
    tokens: oauth2::Tokens,
    client: Client,
    throttle: Throttle,
    breakers: Breakers,
    flights: Flights<Key, Result<Arc<Fetched>, EgressError>>,
    shared: Arc<Shared>,
}

impl fmt::Debug for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Channel").field("policy", &self.policy).field("rules", &self.rules).finish_non_exhaustive()
    }
}

/// A request of a call, or of one of its pages.
#[derive(Clone, Debug)]
struct Prepared {
    workspace: Arc<str>,
    method: Method,
    target: Target,
    headers: HeaderMap,
    body: Bytes,
    format: Format,
    ttl: Option<Duration>,
}

/// What a request gave.
struct Fetched {
    stored: Arc<Stored>,
    cache: CacheUse,
    requests: u32,
}

impl Channel {
    /// A policy at which nothing was called yet.
    pub(super) fn new(
        shared: &Arc<Shared>,
        workspace: &Arc<str>,
        policy: &Arc<str>,
        spec: &EgressPolicySpec,
    ) -> Result<Channel, Vec<PolicyError>> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let rules = Rules::read(spec)?;
        let bundle = spec.tls.as_ref().and_then(|tls| tls.ca_bundle.as_deref());
        let tls = tls::connector(bundle).map_err(|error| vec![error])?;
        let surroundings = &shared.surroundings;
        let connector = Connector(Arc::new(Parts {
            policy: Arc::clone(policy),
            resolver: Arc::clone(&surroundings.resolver),
            dialer: Arc::clone(&surroundings.dialer),
            own: Arc::clone(&shared.own),
            networks: rules.networks.clone(),
            tls,
            timeout: rules.limits.timeout,
            most_bytes: exchange::most_bytes(&rules.limits),
        }));
        let credentials = match &spec.auth {
            Some(auth) => {
                Some(Credentials::new(auth, workspace, &surroundings.secrets).ok_or_else(|| vec![PolicyError::Auth])?)
            }
            None => None,
        };
        Ok(Channel {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            policy: Arc::clone(policy),
            client: client(connector, &rules.limits),
            throttle: Throttle::new(&rules.limits, rules.is_for_one_workspace()),
            rules,
            credentials,
            tokens: oauth2::Tokens::default(),
            breakers: Mutex::default(),
            flights: Flights::default(),
            shared: Arc::clone(shared),
        })
    }

    /// What it allows.
    pub(super) fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Whether a schema may use it, and in a workspace where that is known.
    pub(super) fn admit_asker(&self, schema: &str, workspace: Option<&str>) -> Result<(), EgressError> {
        if !self.rules.admits_schema(schema) {
            return Err(EgressError::Schema { policy: Arc::clone(&self.policy), schema: schema.into() });
        }
        match workspace {
            Some(workspace) if !self.rules.admits_workspace(workspace) => {
                Err(EgressError::Workspace { policy: Arc::clone(&self.policy), workspace: workspace.into() })
            }
            _ => Ok(()),
        }
    }

    /// Makes a call that its asker may make.
    pub(super) async fn call(self: &Arc<Self>, call: &Call, deadline: Instant) -> Result<Reply, EgressError> {
        let started = Instant::now();
        // Each request ends by itself when the policy's time is over, and tells the breaker so. A caller with less time
        // drops it instead, which says nothing about the backend: no caller can open the breaker by being in a hurry.
        let deadline = deadline.min(started + self.rules.limits.timeout + GRACE);
        let made = tokio::time::timeout_at(deadline, self.pages(call)).await;
        let mut reply = made.unwrap_or(Err(EgressError::Timeout))?;
        reply.timing.total = started.elapsed();
        Ok(reply)
    }

    async fn pages(self: &Arc<Self>, call: &Call) -> Result<Reply, EgressError> {
        let field = self.credentials.as_ref().map(Credentials::field);
        let mut headers = headers::of_call(&call.headers, field)?;
        headers.entry(header::ACCEPT).or_insert(HeaderValue::from_static(match call.format {
            Format::Json => "application/json",
            Format::JsonLines => "application/x-ndjson, application/json",
            Format::Text => "text/plain, */*;q=0.1",
        }));
        headers.entry(header::USER_AGENT).or_insert(HeaderValue::from_static(USER_AGENT));
        let mut body = Bytes::new();
        if let Some((bytes, content_type)) = &call.body {
            let value = HeaderValue::from_str(content_type);
            let value = value.map_err(|_| EgressError::HeaderValue { name: "content-type".into() })?;
            headers.insert(header::CONTENT_TYPE, value);
            body = bytes.clone();
        }
        let mut target = Target::parse(&call.url)?;
        let mut pages = call.pagination.as_ref().map(|p| Pages::new(p, self.rules.limits.response_bytes));
        if let Some(pages) = &mut pages {
            target = pages.first(target)?;
        }
        self.admit(&target, call.method)?;
        let Call { method, format, ttl, .. } = *call;
        let workspace = Arc::clone(&call.asker.workspace);
        let mut prepared = Prepared { workspace, method, target, headers, body, format, ttl };
        let mut sum: Option<Reply> = None;
        loop {
            let fetched = self.fetch(&prepared).await?;
            let reply = self.reply(call, &fetched)?;
            let reply = match sum.take() {
                None => reply,
                Some(before) => joined(&before, reply),
            };
            let Some(current) = pages.as_mut().filter(|_| reply.value.is_some()) else { return Ok(reply) };
            match current.take(&prepared.target, &fetched.stored)? {
                None => return Ok(Reply { value: pages.map(Pages::into_value), ..reply }),
                // The policy is asked about each: a backend must not choose what we call.
                Some(next) => {
                    self.admit(&next, call.method).map_err(|_| PagesFault::Next)?;
                    prepared.target = next;
                    sum = Some(reply);
                }
            }
        }
    }

    fn admit(&self, target: &Target, method: Method) -> Result<(), EgressError> {
        let refused = |part| EgressError::NotAllowed { policy: Arc::clone(&self.policy), part };
        self.rules.admit(target, method).map_err(refused)
    }

    fn reply(&self, call: &Call, fetched: &Fetched) -> Result<Reply, EgressError> {
        let Fetched { stored, cache, requests } = fetched;
        let absent = stored.status == StatusCode::NOT_FOUND;
        if absent && !call.optional {
            return Err(EgressError::Status { status: stored.status.as_u16() });
        }
        let held = self.shared.memory.take(&call.asker.workspace, stored.body.weight()).ok_or(EgressError::Memory)?;
        let now = self.shared.surroundings.clock.now();
        let freshness = match cache {
            // What the origin would no longer answer for is not passed on.
            CacheUse::StaleOnError => Freshness { fresh_for: Duration::ZERO, ..stored.freshness(call.ttl, now) },
            CacheUse::Hit | CacheUse::Revalidated | CacheUse::Miss => stored.freshness(call.ttl, now),
        };
        Ok(Reply {
            status: stored.status.as_u16(),
            value: (!absent).then(|| stored.value().clone()),
            freshness,
            cache: *cache,
            bytes: stored.body.bytes,
            timing: Timing { total: Duration::ZERO, requests: *requests, pages: 1 },
            held,
        })
    }

    /// The answer to a request, from the cache if it is there.
    async fn fetch(self: &Arc<Self>, prepared: &Prepared) -> Result<Arc<Fetched>, EgressError> {
        let deadline = Instant::now() + self.rules.limits.timeout;
        if !matches!(prepared.method, Method::Get | Method::Head) {
            let (answer, requests) = self.attempts(prepared, &[], deadline).await;
            let stored = Arc::new(self.read(prepared, answer?).await?);
            return Ok(Arc::new(Fetched { stored, cache: CacheUse::Miss, requests }));
        }
        let key = self.key(prepared).await?;
        let known = self.shared.cache.get(&key);
        let now = self.shared.surroundings.clock.now();
        if let Some(stored) = known.clone().filter(|known| !known.freshness(prepared.ttl, now).fresh_for.is_zero()) {
            return Ok(Arc::new(Fetched { stored, cache: CacheUse::Hit, requests: 0 }));
        }
        let (flight, started) = self.flights.join(key, || {
            let (channel, prepared) = (Arc::clone(self), prepared.clone());
            async move { channel.refresh(&prepared, key, known, deadline).await.map(Arc::new) }.boxed()
        });
        let fetched = flight.await?;
        if started {
            return Ok(fetched);
        }
        Ok(Arc::new(Fetched { stored: Arc::clone(&fetched.stored), cache: fetched.cache, requests: 0 }))
    }

    /// Asks the origin, whether what is known is still right where there is something.
    async fn refresh(
        &self,
        prepared: &Prepared,
        key: Key,
        known: Option<Arc<Stored>>,
        deadline: Instant,
    ) -> Result<Fetched, EgressError> {
        let asked = plain(prepared);
        let validators = known.as_ref().map_or(vec![], |known| known.validators(&asked));
        let (answer, requests) = self.attempts(prepared, &validators, deadline).await;
        let now = self.shared.surroundings.clock.now();
        let answer = match (answer, known) {
            (Err(error), Some(known)) if passes(&error) && known.serves_on_error(prepared.ttl, now) => {
                return Ok(Fetched { stored: known, cache: CacheUse::StaleOnError, requests });
            }
            (Ok(answer), Some(known)) if answer.status == StatusCode::NOT_MODIFIED => {
                match known.revalidated(&asked, &answer.headers, now) {
                    Some(stored) => {
                        let stored = Arc::new(stored);
                        self.shared.cache.put(key, &stored);
                        return Ok(Fetched { stored, cache: CacheUse::Revalidated, requests });
                    }
                    None => {
                        self.shared.cache.remove(&key);
                        Err(EgressError::Status { status: answer.status.as_u16() })
                    }
                }
            }
            (answer, _) => answer,
        };
        let stored = Arc::new(self.read(prepared, answer?).await?);
        if stored.is_worth_keeping(prepared.ttl, now) {
            self.shared.cache.put(key, &stored);
        } else {
            self.shared.cache.remove(&key);
        }
        Ok(Fetched { stored, cache: CacheUse::Miss, requests })
    }

    async fn read(&self, prepared: &Prepared, answer: Answer) -> Result<Stored, EgressError> {
        let Answer { status, headers, body, sent, in_flight: _in_flight } = answer;
        if status == StatusCode::NOT_MODIFIED {
            // Nobody asked it to compare.
            return Err(EgressError::Status { status: status.as_u16() });
        }
        let no_content = matches!(status, StatusCode::NO_CONTENT | StatusCode::RESET_CONTENT);
        let body = match prepared.method {
            _ if no_content || !status.is_success() => body::empty(),
            Method::Head if sent.is_in_fields(&headers) => return Err(BodyFault::Echo.into()),
            Method::Head => body::of_headers(&headers),
            Method::Get | Method::Post | Method::Put | Method::Patch | Method::Delete => {
                let source = body::Source { headers: headers.clone(), bytes: body, sent };
                body::read(source, prepared.format, self.rules.limits.response_bytes, &self.shared.readers).await?
            }
        };
        let now = self.shared.surroundings.clock.now();
        Ok(Stored::new(&plain(prepared), status, &headers, body, now))
    }

    /// All that must be equal for one answer to be another's.
    async fn key(&self, prepared: &Prepared) -> Result<Key, EgressError> {
        let identity = match &self.credentials {
            None => [0; 32],
            Some(credentials) => {
                let fault = |fault| EgressError::Credentials { policy: Arc::clone(&self.policy), fault };
                credentials.material().await.map_err(fault)?.identity
            }
        };
        let mut digest = Sha256::new();
        let mut add = |bytes: &[u8]| {
            // With lengths, so that no two lists of parts are one text.
            digest.update(u64::try_from(bytes.len()).unwrap_or(u64::MAX).to_be_bytes());
            digest.update(bytes);
        };
        add(&self.id.to_be_bytes());
        add(&identity);
        add(prepared.workspace.as_bytes());
        add(format!("{:?} {:?}", prepared.method, prepared.format).as_bytes());
        add(prepared.target.to_string().as_bytes());
        add(&prepared.body);
        for (name, value) in &prepared.headers {
            add(name.as_str().as_bytes());
            add(value.as_bytes());
        }
        Ok(digest.finalize().into())
    }
}

/// The request without body and credentials.
fn plain(prepared: &Prepared) -> Request<()> {
    let mut request = Request::new(());
    *request.method_mut() = match prepared.method {
        Method::Get => http::Method::GET,
        Method::Head => http::Method::HEAD,
        Method::Post => http::Method::POST,
        Method::Put => http::Method::PUT,
        Method::Patch => http::Method::PATCH,
        Method::Delete => http::Method::DELETE,
    };
    // A target prints as a URI always; should it ever not, `/` has no authority and goes nowhere.
    *request.uri_mut() = prepared.target.to_string().parse().unwrap_or_default();
    *request.headers_mut() = prepared.headers.clone();
    request
}

/// One reply of two pages; the value comes later.
fn joined(before: &Reply, after: Reply) -> Reply {
    let observed = before.freshness.observed.min(after.freshness.observed);
    let fresh_for = before.freshness.fresh_for.min(after.freshness.fresh_for);
    Reply {
        freshness: Freshness { observed, fresh_for },
        cache: before.cache.max(after.cache),
        bytes: before.bytes + after.bytes,
        held: before.held.clone().and(after.held),
        timing: Timing {
            total: Duration::ZERO,
            requests: before.timing.requests + after.timing.requests,
            pages: before.timing.pages + after.timing.pages,
        },
        status: after.status,
        value: after.value,
    }
}
