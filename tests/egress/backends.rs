//! Backends on loopback that behave as their paths say.
//!
//! Absent: what is expected of us (faulty, sharing).
use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::TcpListener,
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{ServerConfig, crypto::ring},
};

/// What a handler is told, and what it says.
pub(crate) struct Exchange<'a> {
    /// `GET /ok?x=1 HTTP/1.1` and the header fields, as they came; the body after an empty line.
    pub(crate) request: &'a str,
    /// How many requests came before with the same target.
    pub(crate) before: usize,
}

impl Exchange<'_> {
    /// `/ok?x=1`
    pub(crate) fn target(&self) -> &str {
        self.request.split(' ').nth(1).unwrap_or_default()
    }

    /// A header field of the request.
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        let fields = self.request.lines().filter_map(|line| line.split_once(": "));
        fields.into_iter().find(|(field, _)| field.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

/// What a backend does with a request.
pub(crate) enum Deed {
    /// Sends this and waits for the next request.
    Send(Vec<u8>),
    /// Sends this and closes.
    SendAndClose(Vec<u8>),
    /// Sends this and never again anything.
    SendAndHang(Vec<u8>),
    /// Sends the first once and the second for ever.
    SendForEver(Vec<u8>, Vec<u8>),
    /// Resets the connection.
    Reset,
}

type Handler = dyn Fn(&Exchange<'_>) -> Deed + Send + Sync;

/// A backend; it ends with its test.
pub(crate) struct Backend {
    pub(crate) address: SocketAddr,
    pub(crate) requests: Arc<Mutex<Vec<String>>>,
}

impl Backend {
    /// How many requests came for a target.
    pub(crate) fn count(&self, target: &str) -> usize {
        let starts = format!("{target} ");
        let requests = self.requests.lock().unwrap();
        requests.iter().filter(|r| r.split_once(' ').is_some_and(|(_, rest)| rest.starts_with(&starts))).count()
    }
}

/// Begins to serve, with TLS where there is an acceptor.
pub(crate) async fn serve(
    tls: Option<TlsAcceptor>,
    handler: impl Fn(&Exchange<'_>) -> Deed + Send + Sync + 'static,
) -> Backend {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let requests: Arc<Mutex<Vec<String>>> = Arc::default();
    let (handler, log): (Arc<Handler>, _) = (Arc::new(handler), Arc::clone(&requests));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (handler, log, tls) = (Arc::clone(&handler), Arc::clone(&log), tls.clone());
            tokio::spawn(async move {
                match tls {
                    None => {
                        if let Some(stream) = converse(stream, &handler, &log).await {
                            stream.set_zero_linger().unwrap();
                        }
                    }
                    Some(tls) => {
                        if let Ok(stream) = tls.accept(stream).await {
                            converse(stream, &handler, &log).await;
                        }
                    }
                }
            });
        }
    });
    Backend { address, requests }
}

/// Gives the stream back when it is to be reset.
async fn converse<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: S,
    handler: &Arc<Handler>,
    log: &Mutex<Vec<String>>,
) -> Option<S> {
    loop {
        let request = read_request(&mut stream).await?;
        let target = request.split(' ').nth(1).unwrap_or_default().to_owned();
        let before = {
            let mut log = log.lock().unwrap();
            let same = |r: &&String| r.split(' ').nth(1) == Some(&target);
            let before = log.iter().filter(same).count();
            log.push(request.clone());
            before
        };
        match handler(&Exchange { request: &request, before }) {
            Deed::Send(bytes) => stream.write_all(&bytes).await.ok()?,
            Deed::SendAndClose(bytes) => {
                stream.write_all(&bytes).await.ok()?;
                stream.shutdown().await.ok()?;
                return None;
            }
            Deed::SendAndHang(bytes) => {
                stream.write_all(&bytes).await.ok()?;
                stream.flush().await.ok()?;
                // Until the other side gives up.
                let _ = stream.read(&mut [0]).await;
                return None;
            }
            Deed::SendForEver(first, then) => {
                stream.write_all(&first).await.ok()?;
                let then = then.repeat(1000);
                while stream.write_all(&then).await.is_ok() {}
                return None;
            }
            Deed::Reset => return Some(stream),
        }
    }
}

async fn read_request(stream: &mut (impl AsyncRead + Unpin)) -> Option<String> {
    let mut bytes = vec![];
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(": ")?;
                name.eq_ignore_ascii_case("content-length").then(|| value.parse::<usize>().ok())?
            });
            if body.len() >= length.unwrap_or(0) {
                return Some(text);
            }
        }
        let mut more = [0; 4096];
        match stream.read(&mut more).await {
            Ok(0) | Err(_) => return None,
            Ok(n) => bytes.extend_from_slice(&more[..n]),
        }
    }
}

/// An answer with a body and its length.
pub(crate) fn answer(status: u16, fields: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let fields = if fields.is_empty() { String::new() } else { format!("{fields}\r\n") };
    let mut bytes = format!("HTTP/1.1 {status} X\r\n{fields}Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

/// JSON.
pub(crate) fn json(body: &str) -> Deed {
    Deed::Send(answer(200, "Content-Type: application/json", body))
}

/// An authority of the test's own.
pub(crate) struct Authority {
    issuer: rcgen::Issuer<'static, rcgen::KeyPair>,
    pub(crate) pem: String,
}

impl Authority {
    pub(crate) fn new(name: &str) -> Authority {
        let mut params = rcgen::CertificateParams::new(vec![]).unwrap();
        params.distinguished_name.push(rcgen::DnType::CommonName, name);
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let key = rcgen::KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        Authority { issuer: rcgen::Issuer::new(params, key), pem }
    }

    /// An acceptor with a certificate for a name, until a year.
    pub(crate) fn acceptor(&self, name: &str, until: i32) -> TlsAcceptor {
        let mut params = rcgen::CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.not_before = rcgen::date_time_ymd(2000, 1, 1);
        params.not_after = rcgen::date_time_ymd(until, 1, 1);
        let key = rcgen::KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(
                vec![certificate.der().clone()],
                rustls_pki_types::PrivateKeyDer::Pkcs8(key.serialize_der().into()),
            )
            .unwrap();
        TlsAcceptor::from(Arc::new(config))
    }
}
