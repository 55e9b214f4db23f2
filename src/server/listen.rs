//! Sockets: accepting connections, TLS, idle connections, shutting down.
//!
//! Absent: what a request is answered (service), when a connection has waited long enough (activity).
mod activity;

use std::{
    convert::Infallible,
    io,
    net::SocketAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Version, header};
use hyper::{
    body::{Body as HttpBody, Frame, Incoming, SizeHint},
    service::service_fn,
};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::conn::auto,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpSocket, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore, watch},
    task::JoinSet,
};
use tokio_rustls::TlsAcceptor;

use self::activity::{Busy, Crowd, End};
use crate::{
    server::{
        body::Body,
        config::{Config, Limits},
        negotiate::Encoding,
        reply::{self, Endless},
        service::{self, Service},
        status,
        tls::{self, TlsError},
    },
    storage::workspace::Workspaces,
};

/// Connections that wait to be accepted. The standard library's 128 are there at once when a controller starts; past them
/// clients wait a second to try again.
const BACKLOG: u32 = 1024;

/// Why the server does not listen.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Not loopback.
    #[error(
        "refusing to listen on `{0}`: callers are not authenticated yet, so whoever reaches the server is an administrator; \
         listen on 127.0.0.1 or [::1] (from elsewhere, use a tunnel such as `ssh -L`)"
    )]
    NotLoopback(SocketAddr),
    /// The socket cannot be had.
    #[error("cannot listen on `{address}`: another process may use the port, --listen 127.0.0.1:0 takes a free one")]
    Bind {
        /// Which.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// No certificate.
    #[error(transparent)]
    Tls(#[from] TlsError),
}

/// A server that listens and does not accept yet.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    tls: Option<TlsAcceptor>,
    reload: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    service: Service,
    limits: Limits,
}

/// Listens, then serves until `shutdown` resolves and what is in flight is done or the grace is over.
pub async fn serve(
    config: Config,
    workspaces: Arc<Workspaces>,
    shutdown: impl Future<Output = ()> + Send,
) -> Result<(), ServeError> {
    bind(config, workspaces).await?.run(shutdown).await;
    Ok(())
}

/// Listens: after this, clients can connect.
pub async fn bind(config: Config, workspaces: Arc<Workspaces>) -> Result<Server, ServeError> {
    if !config.listen.ip().to_canonical().is_loopback() {
        return Err(ServeError::NotLoopback(config.listen));
    }
    let (tls, reload) = match config.tls {
        None => (None, None),
        Some(files) => {
            let (acceptor, reload) = tls::acceptor(files)?;
            (Some(acceptor), Some(Box::pin(reload) as Pin<Box<dyn Future<Output = ()> + Send>>))
        }
    };
    let bind = |source| ServeError::Bind { address: config.listen, source };
    let listener = listen(config.listen).map_err(bind)?;
    let address = listener.local_addr().map_err(bind)?;
    let service = Service::new(workspaces, config.limits.clone());
    Ok(Server { listener, address, tls, reload, service, limits: config.limits })
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // As the standard library binds: a server that restarts finds its port free.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

impl Server {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// `http://127.0.0.1:8001`
    pub fn url(&self) -> String {
        format!("{}://{}", if self.tls.is_some() { "https" } else { "http" }, self.address)
    }

    /// Serves until `shutdown` resolves and what is in flight is done or the grace is over.
    pub async fn run(self, shutdown: impl Future<Output = ()> + Send) {
        let Server { listener, tls, reload, service, limits, .. } = self;
        let (closing, closed) = watch::channel(false);
        let permits = Arc::new(Semaphore::new(limits.connections));
        let crowd = Arc::new(Crowd::default());
        let mut tasks = JoinSet::new();
        let mut reload = reload.unwrap_or_else(|| Box::pin(std::future::pending()));
        let mut shutdown = std::pin::pin!(shutdown);
        let mut arrived = None;
        loop {
            if arrived.is_some() && permits.available_permits() == 0 {
                // Who does nothing makes room for who may have something to ask.
                crowd.make_room();
            }
            tokio::select! {
                () = &mut shutdown => break,
                () = &mut reload => {}
                Some(_) = tasks.join_next() => {}
                stream = accept(&listener), if arrived.is_none() => arrived = stream,
                permit = Arc::clone(&permits).acquire_owned(), if arrived.is_some() => {
                    let Some(stream) = arrived.take() else { continue };
                    let (service, tls, closed) = (service.clone(), tls.clone(), closed.clone());
                    let (limits, crowd) = (limits.clone(), Arc::clone(&crowd));
                    tasks.spawn(async move {
                        connection(stream, tls, service, Bounds { limits: &limits, crowd: &crowd }, closed).await;
                        drop(permit);
                    });
                }
            }
        }
        drop(listener);
        service.close();
        // Receivers live in the tasks; none is no error.
        let _ = closing.send(true);
        let all = async { while tasks.join_next().await.is_some() {} };
        if tokio::time::timeout(limits.shutdown_grace, all).await.is_err() {
            tracing::warn!("requests were still in flight when the grace of shutting down was over");
        }
    }
}

async fn accept(listener: &TcpListener) -> Option<TcpStream> {
    match listener.accept().await {
        Ok((stream, _)) => Some(stream),
        Err(error) => {
            // Out of descriptors, or the peer is gone: neither is cured by trying again at once.
            tracing::warn!(%error, "a connection was not accepted");
            tokio::time::sleep(Duration::from_millis(50)).await;
            None
        }
    }
}

/// What bounds a connection.
#[derive(Clone, Copy)]
struct Bounds<'a> {
    limits: &'a Limits,
    /// All connections.
    crowd: &'a Arc<Crowd>,
}

async fn connection(
    stream: TcpStream,
    tls: Option<TlsAcceptor>,
    service: Service,
    bounds: Bounds<'_>,
    closed: watch::Receiver<bool>,
) {
    // Without it the answer's last packet waits for an acknowledgement.
    let _ = stream.set_nodelay(true);
    match tls {
        None => http(stream, service, bounds, closed).await,
        Some(tls) => match tokio::time::timeout(bounds.limits.header_deadline, tls.accept(stream)).await {
            Ok(Ok(stream)) => http(stream, service, bounds, closed).await,
            Ok(Err(error)) => tracing::debug!(%error, "a TLS handshake failed"),
            Err(_) => tracing::debug!("a TLS handshake took too long"),
        },
    }
}

async fn http<S>(stream: S, service: Service, bounds: Bounds<'_>, mut closed: watch::Receiver<bool>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let Bounds { limits, crowd } = bounds;
    let member = crowd.join();
    let answer = service_fn(|request: Request<Incoming>| {
        let (service, busy) = (service.clone(), member.busy());
        // Boxed: it is large, and hyper moves it from hand to hand.
        Box::pin(async move { Ok::<_, Infallible>(answered(&service, request, busy).await) })
    });
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.header_deadline)
        .max_headers(limits.headers)
        .max_buf_size(limits.header_bytes.max(8 * 1024));
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(limits.streams)
        .max_header_list_size(u32::try_from(limits.header_bytes).unwrap_or(u32::MAX))
        // Go's ReadIdleTimeout and PingTimeout of Kubernetes: a peer that is gone is found out.
        .keep_alive_interval(Duration::from_secs(30))
        .keep_alive_timeout(Duration::from_secs(15));
    let mut connection = std::pin::pin!(builder.serve_connection(TokioIo::new(stream), answer));
    let serving = async {
        tokio::select! {
            result = &mut connection => return Some(result),
            end = member.end(limits.idle_timeout, limits.exchange_deadline) => {
                if end == End::Now {
                    return None;
                }
            }
            _ = closed.wait_for(|closed| *closed) => {}
        }
        // What is in flight, a watch too, is finished first. A peer that does not take its leave is left.
        connection.as_mut().graceful_shutdown();
        tokio::select! {
            result = &mut connection => Some(result),
            _ = member.end(limits.header_deadline, limits.exchange_deadline) => None,
        }
    };
    if let Some(Err(error)) = serving.await {
        tracing::debug!(error = %crate::server::service::chain(&*error), "a connection broke");
    }
}

/// The answer to a request; its body holds what it takes until its end.
async fn answered(service: &Service, request: Request<Incoming>, busy: Busy) -> http::Response<Guarded> {
    // RFC 9112, section 3.2; who guards against other names by it must not be told two.
    let hosts = request.headers().get_all(header::HOST).iter().count();
    let missing = hosts == 0 && request.version() == Version::HTTP_11;
    let mut response = match (missing, hosts) {
        (true, _) => reply::failure(&status::bad_request("missing required Host header"), Encoding::Json),
        (_, 0 | 1) => service.call(request).await,
        _ => reply::failure(&status::bad_request("too many Host headers"), Encoding::Json),
    };
    let length = response.body().size_hint().exact().unwrap_or_default();
    let room = service.room(length).unwrap_or_else(|| {
        response = service::busy();
        None
    });
    if response.extensions().get::<Endless>().is_some() {
        busy.endless();
    }
    response.map(|body| Guarded { body, piece: Bytes::new(), _busy: busy, _room: room })
}

/// Bytes of an answer that are handed over at once. HTTP/1 takes all that it is handed, and lets go of the body when that was
/// its end: what guards it would be gone while most of it still waits for the client.
const PIECE: usize = 64 * 1024;

/// The body of an answer, in pieces.
struct Guarded {
    body: Body,
    /// What of its last frame was not handed over yet.
    piece: Bytes,
    _busy: Busy,
    _room: Option<OwnedSemaphorePermit>,
}

impl HttpBody for Guarded {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.piece.is_empty() {
            let frame = match ready!(Pin::new(&mut self.body).poll_frame(cx)) {
                Some(Ok(frame)) => frame,
                end => return Poll::Ready(end),
            };
            match frame.into_data() {
                Ok(data) => self.piece = data,
                Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
            }
        }
        let length = self.piece.len().min(PIECE);
        Poll::Ready(Some(Ok(Frame::data(self.piece.split_to(length)))))
    }

    fn is_end_stream(&self) -> bool {
        self.piece.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (body, piece) = (self.body.size_hint(), self.piece.len() as u64);
        let mut hint = SizeHint::new();
        if let Some(most) = body.upper() {
            hint.set_upper(most + piece);
        }
        hint.set_lower(body.lower() + piece);
        hint
    }
}
