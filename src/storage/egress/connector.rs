//! From an authority to a connection: resolve, judge every address, dial a judged one, TLS.
//!
//! The connector has to be ours. Every ready-made client (reqwest, hyper-util's own connector) takes a name and looks it up
//! itself, or lets a resolver be given but asks it nothing when the host is an address, and obeys proxies
//! of the environment; then the address that is judged is not the one that is dialled. hyper-util's client gives us pooling
//! and HTTP/1.1 and knows nothing of names. Absent: requests (exchange).
use std::{
    net::SocketAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use futures_util::future::BoxFuture;
use http::Uri;
use hyper_util::{
    client::legacy::connect::{Connected, Connection},
    rt::TokioIo,
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::TlsConnector;

use crate::{
    api::egress_policy::Scheme,
    storage::egress::{
        address,
        dial::{self, Dial, Stream},
        error::TlsFault,
        host::Host,
        network::Network,
        own::OwnAddresses,
        resolve::Resolve,
        target::{default_port, parse_scheme},
    },
};

/// Names with more addresses are refused: nobody needs them, and each is judged.
const MOST_ADDRESSES: usize = 256;

/// Why there is no connection. Its text is for logs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ConnectError {
    #[error("the name could not be resolved")]
    Resolve,
    #[error("a refused address ({})", .0.class)]
    Network(address::Refusal),
    #[error("no address answered")]
    Connect,
    #[error("it took too long")]
    Timeout,
    #[error("TLS failed: {0}")]
    Tls(TlsFault),
}

/// Opens connections for one policy.
#[derive(Clone)]
pub(super) struct Connector(pub(super) Arc<Parts>);

/// What it needs.
pub(super) struct Parts {
    pub(super) policy: Arc<str>,
    pub(super) resolver: Arc<dyn Resolve>,
    pub(super) dialer: Arc<dyn Dial>,
    pub(super) own: Arc<OwnAddresses>,
    pub(super) networks: Vec<Network>,
    pub(super) tls: TlsConnector,
    pub(super) timeout: Duration,
    /// Bytes of an answer with everything around it.
    pub(super) most_bytes: usize,
}

impl Parts {
    async fn connect(&self, uri: &Uri) -> Result<Box<dyn Stream>, ConnectError> {
        let scheme = parse_scheme(uri.scheme_str().unwrap_or_default()).map_err(|_| ConnectError::Connect)?;
        // The URI is made from a Target, so this only ever fails if that changes.
        let host = Host::parse(uri.host().unwrap_or_default()).map_err(|_| ConnectError::Resolve)?;
        let port = uri.port_u16().unwrap_or_else(|| default_port(scheme));
        let vetted = self.vetted(&host, port).await?;
        let stream = dial::first(&*self.dialer, &vetted).await.map_err(|error| {
            tracing::debug!(policy = %self.policy, %host, kind = ?error.kind(), "no connection");
            ConnectError::Connect
        })?;
        match scheme {
            Scheme::Http => Ok(stream),
            Scheme::Https => super::tls::handshake(&self.tls, &host, stream).await.map_err(ConnectError::Tls),
        }
    }

    /// The addresses of a host, all of which are allowed: one that is not speaks against whoever answered.
    async fn vetted(&self, host: &Host, port: u16) -> Result<Vec<SocketAddr>, ConnectError> {
        let found = match host {
            Host::Address(address) => vec![*address],
            Host::Name(name) => self.resolver.resolve(name).await.ok_or(ConnectError::Resolve)?.to_vec(),
        };
        if found.is_empty() || found.len() > MOST_ADDRESSES {
            return Err(ConnectError::Resolve);
        }
        let own = self.own.now();
        let judge = |address| address::vet(address, &self.networks, &own).map(|address| SocketAddr::new(address, port));
        found.into_iter().map(judge).collect::<Result<_, _>>().map_err(|refusal| {
            // The administrator needs the address to decide whether to allow it; answers never get it.
            tracing::warn!(policy = %self.policy, %host, address = %refusal.address, class = refusal.class, "refused address");
            ConnectError::Network(refusal)
        })
    }
}

impl tower_service::Service<Uri> for Connector {
    type Response = TokioIo<Connecting>;
    type Error = ConnectError;
    type Future = BoxFuture<'static, Result<TokioIo<Connecting>, ConnectError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ConnectError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let parts = Arc::clone(&self.0);
        Box::pin(async move {
            // Calls have deadlines of their own; this one ends attempts that the pool goes on with after its call ended.
            let connected = tokio::time::timeout(parts.timeout, parts.connect(&uri)).await;
            let stream = connected.unwrap_or(Err(ConnectError::Timeout))?;
            Ok(TokioIo::new(Connecting { stream, most: parts.most_bytes, read: 0, at_a_stretch: 0 }))
        })
    }
}

/// A connection as hyper-util wants it. It ends when more is read for one request than any acceptable answer has: heads are
/// bounded one by one, but a backend may send interim ones (`100 Continue`) for ever, and to parse them is work.
pub(super) struct Connecting {
    stream: Box<dyn Stream>,
    most: usize,
    /// Since the last byte of a request.
    read: usize,
    /// Without others having had a turn.
    at_a_stretch: usize,
}

/// What is read from one connection before others have a turn. A fast backend always has more, and what hyper does with it
/// between two reads (heads that it skips, chunks of one byte) may be much.
const MOST_AT_A_STRETCH: usize = 64 * 1024;

impl Connection for Connecting {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

impl AsyncRead for Connecting {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<std::io::Result<()>> {
        if self.at_a_stretch >= MOST_AT_A_STRETCH {
            self.at_a_stretch = 0;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let before = buf.filled().len();
        let result = Pin::new(&mut self.stream).poll_read(cx, buf);
        let read = buf.filled().len().saturating_sub(before);
        self.at_a_stretch = if result.is_pending() { 0 } else { self.at_a_stretch + read };
        self.read = self.read.saturating_add(read);
        if self.read > self.most {
            return Poll::Ready(Err(std::io::ErrorKind::InvalidData.into()));
        }
        result
    }
}

impl AsyncWrite for Connecting {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<std::io::Result<usize>> {
        self.read = 0;
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;

    /// A connection that always has more.
    fn flood() -> Connecting {
        let stream = Box::new(tokio::io::join(tokio::io::repeat(b'x'), tokio::io::sink()));
        Connecting { stream, most: usize::MAX, read: 0, at_a_stretch: 0 }
    }

    #[tokio::test]
    async fn a_fast_backend_lets_others_have_a_turn() {
        let (mut connection, mut space) = (flood(), [0; 8 * 1024]);
        let mut at_a_stretch = 0;
        std::future::poll_fn(|cx| {
            let mut buf = ReadBuf::new(&mut space);
            while Pin::new(&mut connection).poll_read(cx, &mut buf).is_ready() {
                at_a_stretch += buf.filled().len();
                assert!(at_a_stretch <= MOST_AT_A_STRETCH, "it never ends");
                buf.clear();
            }
            Poll::Ready(())
        })
        .await;
        assert_eq!(at_a_stretch, MOST_AT_A_STRETCH);
        // And it goes on afterwards.
        connection.read_exact(&mut vec![0; 4 * MOST_AT_A_STRETCH]).await.unwrap();
    }
}
