//! What a server is told: where to listen, with which certificate, its limits.
//!
//! Absent: flags (cli), what is served (service).
use std::{net::SocketAddr, path::PathBuf, time::Duration};

use crate::storage::{computing::places, fair::Bounds};

/// How to listen and what to bound.
#[derive(Clone, Debug)]
pub struct Config {
    /// A loopback address: callers are not authenticated, so nobody else may reach it. Port 0 takes any free port.
    pub listen: SocketAddr,
    /// HTTPS when there is a certificate.
    pub tls: Option<TlsFiles>,
    /// Bounds.
    pub limits: Limits,
}

/// PEM files of a certificate chain and its key. They are read again when they change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// `--tls-cert`
    pub cert: PathBuf,
    /// `--tls-key`
    pub key: PathBuf,
}

/// Bounds, each with its reason at [`Limits::default`].
#[derive(Clone, Debug)]
pub struct Limits {
    /// For the header of a request, and for a TLS handshake.
    pub header_deadline: Duration,
    /// For the body of a request.
    pub body_deadline: Duration,
    /// For a whole request but a watch; `?timeout=` shortens it.
    pub request_deadline: Duration,
    /// From the head of a request to the last byte of its answer, a watch's apart: then the connection is closed.
    pub exchange_deadline: Duration,
    /// A connection without requests is closed after it, or when there are too many connections and it waits the longest.
    pub idle_timeout: Duration,
    /// A watch ends after it even if the client asks for longer; clients watch again from where they were.
    pub watch_deadline: Duration,
    /// What is in flight at shutdown gets this long.
    pub shutdown_grace: Duration,
    /// Bytes of a request's header.
    pub header_bytes: usize,
    /// Bytes of a request's body.
    pub body_bytes: usize,
    /// Headers of an HTTP/1 request.
    pub headers: usize,
    /// KiB of answers that clients have not taken yet; past it only small ones are given.
    pub unread_kib: u32,
    /// Open connections; more wait in the listener's backlog.
    pub connections: usize,
    /// Requests being answered, watches apart; more get 429. One user of a workspace may have half of what others leave.
    pub in_flight: usize,
    /// Creates at work, and those that wait for it; more get 429.
    pub creates: Bounds,
    /// Requests with large bodies that are answered at once, and those that wait for it.
    pub large: Bounds,
    /// Places for what computes longer than sockets can wait; each is a thread while it is taken.
    pub computing: usize,
    /// Bytes of answers that are kept.
    pub answer_bytes: u64,
    /// Watches open at once; more get 429.
    pub watches: usize,
    /// Requests at once on one HTTP/2 connection.
    pub streams: u32,
}

impl Default for Limits {
    fn default() -> Limits {
        let creates = Bounds::default();
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Limits {
            // Go's and kube-apiserver's ReadHeaderTimeout is 32 s for slow links; ours is loopback.
            header_deadline: Duration::from_secs(10),
            body_deadline: Duration::from_secs(10),
            // kube-apiserver gives a request 34 s when it creates.
            request_deadline: Duration::from_secs(34),
            // kube-apiserver's --request-timeout: what is left of it after the rest is for a client that reads slowly.
            exchange_deadline: Duration::from_secs(60),
            // kube-apiserver's IdleTimeout.
            idle_timeout: Duration::from_secs(90),
            // kube-apiserver ends watches after 30 to 60 minutes (--min-request-timeout 1800).
            watch_deadline: Duration::from_secs(1800),
            // One create deadline, and a second to write its answer.
            shutdown_grace: Duration::from_secs(35),
            // nginx and Go serve 8 KiB to 1 MiB; impersonation headers of users with hundreds of groups take 32 KiB.
            header_bytes: 64 * 1024,
            // kube-apiserver's --max-resource-write-bytes.
            body_bytes: 3 * 1024 * 1024,
            // Each group of a user who is impersonated is a header of its own.
            headers: 1_000,
            // 64 of the largest answers.
            unread_kib: 512 * 1024,
            connections: 1_000,
            // Twice the creates that can be at work or wait: one greedy user has half of it and fills its queue there. At
            // least kube-apiserver's --max-requests-inflight.
            in_flight: (2 * (creates.seats + creates.queue)).max(400),
            creates,
            // The values of a body take up to twenty times its bytes: 60 MB each. Mostly they keep a processor busy.
            large: Bounds { seats: (2 * cores).clamp(4, 8), queue_per_flow: 32, queue: 64, ..creates },
            // One user alone has all cores and no more threads than that; the next one has its part of them at once.
            computing: places(cores),
            // Some ten thousand answers of a few kilobytes.
            answer_bytes: 64 * 1024 * 1024,
            watches: 1_000,
            // kube-apiserver's --http2-max-streams-per-connection.
            streams: 100,
        }
    }
}

impl Default for Config {
    /// Loopback, port 8001 (that of `kubectl proxy`), without TLS.
    fn default() -> Config {
        Config { listen: SocketAddr::from(([127, 0, 0, 1], 8001)), tls: None, limits: Limits::default() }
    }
}
