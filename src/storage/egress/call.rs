//! What is asked of egress and what it answers.
//!
//! Absent: templates and what of a body is taken (engine), errors (error).
use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use cel::Value;

use crate::{
    api::ephemeral_schema::Method,
    storage::egress::{memory::Held, pages::Pagination},
};

/// Whose call it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Asker {
    /// The name of the EphemeralSchema: `bucketinfos.storage.acme.example`.
    pub schema: Arc<str>,
    /// The workspace of the consumer: `root:acme:team`.
    pub workspace: Arc<str>,
}

/// The part of a URL that is known before any expression is evaluated.
#[derive(Clone, Copy, Debug)]
pub struct Literal<'a> {
    /// `https`
    pub scheme: &'a str,
    /// `metrics.acme.example`, `[2001:db8::1]`
    pub host: &'a str,
    /// Where the URL has one.
    pub port: Option<u16>,
    /// The path up to its first template: `/api/v1/buckets/`. May end within a segment.
    pub path: &'a str,
    /// Whether `path` is the whole path.
    pub path_is_whole: bool,
    /// The method.
    pub method: Method,
}

/// An HTTP call.
#[derive(Clone, Debug)]
pub struct Call {
    /// The EgressPolicy that has to allow it.
    pub policy: Arc<str>,
    /// Whose call it is.
    pub asker: Asker,
    /// The method.
    pub method: Method,
    /// The whole URL with its query, every value percent-encoded for its place.
    pub url: String,
    /// Header fields, names in any case. Fields that belong to the connection or to credentials are refused.
    pub headers: Vec<(String, String)>,
    /// The body and its content type.
    pub body: Option<(Bytes, String)>,
    /// How the answer's body is read.
    pub format: Format,
    /// How further pages are found; without it there is one.
    pub pagination: Option<Pagination>,
    /// For how long an answer may be reused at most. It counts from when it was made; what the origin says may shorten
    /// it, and where the origin says nothing it is the whole rule.
    pub ttl: Option<Duration>,
    /// Whether 404 is an absent value instead of an error.
    pub optional: bool,
}

/// How a body is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Format {
    /// One JSON value.
    #[default]
    Json,
    /// JSON values, one a line; together a list.
    JsonLines,
    /// A string.
    Text,
}

/// An answer.
#[derive(Clone, Debug)]
pub struct Reply {
    /// 2xx; or 404 where the call is optional.
    pub status: u16,
    /// The body. `None` is the absent value of an optional call. Without a body null; for HEAD the header fields by
    /// their names in lower case. With pagination the items of all pages as one list.
    pub value: Option<Value>,
    /// How long it may be reused.
    pub freshness: Freshness,
    /// Where it came from; with several pages the costliest of them.
    pub cache: CacheUse,
    /// Bytes of all bodies after decompression, whether they were sent or came from the cache.
    pub bytes: usize,
    /// What it took.
    pub timing: Timing,
    /// Its memory: to be kept as long as the value is.
    pub held: Held,
}

/// How long an answer may be reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Freshness {
    /// When the origin was last asked; with several pages the earliest.
    pub observed: SystemTime,
    /// For how long from now; zero where it may not be reused.
    pub fresh_for: Duration,
}

/// Where an answer came from. Ordered by cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CacheUse {
    /// It was there and fresh.
    Hit,
    /// It was there but no longer fresh; the origin failed and had allowed this (RFC 5861).
    StaleOnError,
    /// It was there, and the origin said that it is still right.
    Revalidated,
    /// The origin sent it.
    Miss,
}

/// What an answer took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    /// From the call to its answer.
    pub total: Duration,
    /// Requests sent, retries included; 0 where everything came from the cache or from an equal call in flight.
    pub requests: u32,
    /// Pages read.
    pub pages: u32,
}
