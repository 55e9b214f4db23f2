//! Sockets: what is refused, bounded, encrypted, and finished at shutdown.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::result_large_err,
    unreachable_pub,
    reason = "tests fail by panicking"
)]
mod support;

use std::{net::SocketAddr, sync::Arc, time::Duration};

use celandine::{
    server::{Config, Limits, ServeError, Server, TlsFiles, bind},
    storage::directory::Directory,
};
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::oneshot,
    task::JoinHandle,
};

struct Running {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    server: JoinHandle<()>,
}

async fn start(config: Config) -> Running {
    serving(bind(config, support::workspaces()).await.unwrap())
}

fn serving(server: Server) -> Running {
    let (stop, stopped) = oneshot::channel();
    let address = server.address();
    let server = tokio::spawn(server.run(async {
        let _ = stopped.await;
    }));
    Running { address, stop, server }
}

fn config(limits: Limits) -> Config {
    Config { listen: "127.0.0.1:0".parse().unwrap(), tls: None, limits }
}

/// Sends bytes and reads until the server closes.
async fn raw(address: SocketAddr, sent: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(sent).await.unwrap();
    let mut out = Vec::new();
    // A reset after the answer is an end too.
    let _ = stream.read_to_end(&mut out).await;
    String::from_utf8_lossy(&out).into_owned()
}

#[tokio::test]
async fn only_loopback_is_listened_on() {
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:80", "[::ffff:192.0.2.1]:80"] {
        let config = Config { listen: address.parse().unwrap(), ..Config::default() };
        let error = bind(config, support::workspaces()).await.err().unwrap();
        assert!(matches!(error, ServeError::NotLoopback(_)), "{address}");
        assert!(error.to_string().contains("callers are not authenticated yet"), "{error}");
    }
    for address in ["127.0.0.1:0", "127.8.8.8:0", "[::1]:0"] {
        let config = Config { listen: address.parse().unwrap(), ..Config::default() };
        assert!(bind(config, support::workspaces()).await.is_ok(), "{address}");
    }
}

#[tokio::test]
async fn slow_and_idle_connections_are_closed() {
    let short = Duration::from_millis(100);
    let limits = Limits { header_deadline: short, idle_timeout: short, body_deadline: short, ..Limits::default() };
    let running = start(config(limits)).await;
    assert_eq!(raw(running.address, b"").await, "", "nothing was sent");
    let half = raw(running.address, b"GET /livez HTTP/1.1\r\nHost: loc").await;
    assert!(half.is_empty() || half.starts_with("HTTP/1.1 408"), "{half}");
    let kept = raw(running.address, b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    assert!(kept.starts_with("HTTP/1.1 200 OK"), "{kept}");
    let body =
        b"POST /apis/storage.acme.example/v1/greetings HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{";
    let slow = raw(running.address, body).await;
    assert!(slow.starts_with("HTTP/1.1 408"), "{slow}");
    // HTTP/2, prior knowledge: the preface and nothing else.
    raw(running.address, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00").await;
}

#[tokio::test]
async fn large_requests_are_refused_before_they_are_read() {
    let running = start(config(Limits { header_bytes: 8 * 1024, ..Limits::default() })).await;
    let head = "POST /apis/storage.acme.example/v1/greetings HTTP/1.1\r\nHost: localhost\r\n";
    let announced = raw(running.address, format!("{head}Content-Length: 3145729\r\n\r\n").as_bytes()).await;
    assert!(announced.starts_with("HTTP/1.1 413"), "{announced}");
    assert!(announced.contains("Request entity too large: limit is 3145728"), "{announced}");
    let long = format!("GET /livez HTTP/1.1\r\nHost: localhost\r\nX-Long: {}\r\n\r\n", "x".repeat(20_000));
    let long = raw(running.address, long.as_bytes()).await;
    assert!(long.starts_with("HTTP/1.1 431"), "{long}");
    for smuggled in [
        format!("{head}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /x HTTP/1.1\r\n\r\n"),
        format!("{head}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab"),
        format!("{head}Transfer-Encoding: chunked\r\n\r\nzz\r\n"),
        "GET /li vez HTTP/1.1\r\n\r\n".to_owned(),
    ] {
        let answer = raw(running.address, smuggled.as_bytes()).await;
        assert!(answer.matches("HTTP/1.1").count() <= 1, "{answer}");
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 400"), "{smuggled}\n{answer}");
    }
}

#[tokio::test]
async fn more_than_may_be_in_flight_is_told_to_wait() {
    let running = start(config(Limits { in_flight: 0, watches: 0, ..Limits::default() })).await;
    let get = |path: &str| format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    for path in ["/version", "/api/v1/pods?watch=true"] {
        let busy = raw(running.address, get(path).as_bytes()).await;
        assert!(busy.starts_with("HTTP/1.1 429"), "{busy}");
        assert!(busy.contains("retry-after: 1"), "{busy}");
        assert!(busy.contains("Too many requests, please try again later."), "{busy}");
    }
    let alive = raw(running.address, get("/livez").as_bytes()).await;
    assert!(alive.starts_with("HTTP/1.1 200"), "{alive}");
}

#[tokio::test]
async fn what_is_in_flight_is_finished_at_shutdown() {
    let running = start(config(Limits::default())).await;
    let watching = tokio::spawn(raw(
        running.address,
        b"GET /apis/s3.acme.example/v1/buckets?watch=true HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ));
    let mut posting = TcpStream::connect(running.address).await.unwrap();
    let body = br#"{"apiVersion":"storage.acme.example/v1","kind":"Greeting","metadata":{},"spec":{"name":"late"}}"#;
    let head = format!(
        "POST /apis/storage.acme.example/v1/greetings HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n\
         Content-Length: {}\r\n\r\n",
        body.len()
    );
    posting.write_all(head.as_bytes()).await.unwrap();
    // The interim answer tells that the request is in flight.
    let mut interim = [0; 25];
    posting.read_exact(&mut interim).await.unwrap();
    assert!(interim.starts_with(b"HTTP/1.1 100"));
    running.stop.send(()).unwrap();
    let watched = watching.await.unwrap();
    assert!(watched.is_empty() || watched.ends_with("0\r\n\r\n"), "the watch ends whole: {watched}");
    posting.write_all(body).await.unwrap();
    let mut answer = String::new();
    posting.read_to_string(&mut answer).await.unwrap();
    assert!(answer.contains("hello late"), "{answer}");
    running.server.await.unwrap();
    assert!(TcpStream::connect(running.address).await.is_err(), "nobody listens any more");
}

#[tokio::test]
async fn http2_is_spoken() {
    let running = start(config(Limits::default())).await;
    let stream = TokioIo::new(TcpStream::connect(running.address).await.unwrap());
    let (mut sender, connection) = hyper::client::conn::http2::handshake(TokioExecutor::new(), stream).await.unwrap();
    tokio::spawn(connection);
    let request = Request::get(format!("http://{}/version", running.address)).body(Full::<bytes::Bytes>::default());
    let response = sender.send_request(request.unwrap()).await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    let body = response.into_body().collect().await.unwrap().to_bytes();
    assert!(String::from_utf8_lossy(&body).contains("celandine"));
}

#[tokio::test]
async fn https_is_served_from_pem_files() {
    use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto::ring};
    let tls = support::path("tests/fixtures/tls");
    let files = |cert: &str, key: &str| TlsFiles { cert: tls.join(cert), key: tls.join(key) };
    let with = |tls| Config { tls: Some(tls), ..config(Limits::default()) };
    for (cert, key, told) in [
        ("nothing.pem", "key.pem", "could not be read"),
        ("key.pem", "key.pem", "no PEM certificate"),
        ("cert.pem", "cert.pem", "no PEM private key"),
        ("cert.pem", "other-key.pem", "does not belong to the first certificate"),
    ] {
        let error = bind(with(files(cert, key)), support::workspaces()).await.err().unwrap().to_string();
        assert!(error.contains(told) && error.contains(".pem"), "{error}");
    }
    let running = start(with(files("cert.pem", "key.pem"))).await;
    let mut roots = RootCertStore::empty();
    let pem = std::fs::read(tls.join("cert.pem")).unwrap();
    roots.add(rustls_pki_types::pem::PemObject::from_pem_slice(&pem).unwrap()).unwrap();
    let mut client = ClientConfig::builder_with_provider(ring::default_provider().into())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    client.alpn_protocols = vec![b"h2".to_vec()];
    let connector = tokio_rustls::TlsConnector::from(std::sync::Arc::new(client));
    let stream = TcpStream::connect(running.address).await.unwrap();
    let stream = connector.connect("localhost".try_into().unwrap(), stream).await.unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let request = Request::get("https://localhost/livez").body(Full::<bytes::Bytes>::default()).unwrap();
    assert_eq!(sender.send_request(request).await.unwrap().status(), StatusCode::OK);
}

/// Who does nothing makes room, the longest first; who is at work does not.
#[tokio::test]
async fn idle_connections_make_room() {
    let limits = Limits { connections: 3, ..Limits::default() };
    let running = start(config(limits)).await;
    let watch = b"GET /api/v1/namespaces?watch=true HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let mut watching = TcpStream::connect(running.address).await.unwrap();
    watching.write_all(watch).await.unwrap();
    let mut first = [0; 15];
    watching.read_exact(&mut first).await.unwrap();
    assert_eq!(&first, b"HTTP/1.1 200 OK");
    let mut held = Vec::new();
    for _ in 0..20 {
        held.push(TcpStream::connect(running.address).await.unwrap());
        let answer = raw(running.address, b"GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").await;
        assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
    }
    let mut end = Vec::new();
    let _ = held.remove(0).read_to_end(&mut end).await;
    assert!(end.is_empty());
    let mut one = [0; 1];
    let going_on = tokio::time::timeout(Duration::from_millis(50), async {
        while watching.read(&mut one).await.is_ok_and(|n| n > 0) {}
    });
    assert!(going_on.await.is_err(), "the watch was ended");
}

/// More than the sockets of both sides hold: 24 MiB of ConfigMaps.
fn much() -> Directory {
    let directory = tempfile::tempdir().unwrap();
    let text = "x".repeat(12 * 1024 * 1024);
    for name in ["one", "two"] {
        let metadata = serde_json::json!({"name": name, "namespace": "default"});
        let big =
            serde_json::json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"text": text}});
        std::fs::write(directory.path().join(format!("{name}.json")), big.to_string()).unwrap();
    }
    let (directory, report) = Directory::load(directory.path()).unwrap();
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    directory
}

/// A client that asks and does not read is left, and what it was to be sent is freed.
#[tokio::test]
async fn answers_that_are_not_taken_are_dropped() {
    let directory = much();
    let limits = Limits { exchange_deadline: Duration::from_millis(300), connections: 1, ..Limits::default() };
    let running = serving(bind(config(limits), Arc::clone(directory.workspaces())).await.unwrap());
    let mut stalled = TcpStream::connect(running.address).await.unwrap();
    let ask = b"GET /api/v1/namespaces/default/configmaps HTTP/1.1\r\nHost: localhost\r\n\r\n";
    stalled.write_all(ask).await.unwrap();
    let mut first = [0; 15];
    stalled.read_exact(&mut first).await.unwrap();
    assert_eq!(&first, b"HTTP/1.1 200 OK");
    // There is room for one connection: this one is answered when the other is gone.
    let answer = raw(running.address, b"GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
    let mut taken = Vec::new();
    let _ = stalled.read_to_end(&mut taken).await;
    assert!(taken.len() < 24 * 1024 * 1024, "{}", taken.len());
}

/// What waits for its client is bounded, until the client takes it or is left.
#[tokio::test]
async fn answers_that_wait_to_be_taken_are_bounded() {
    let directory = much();
    let limits = Limits { exchange_deadline: Duration::from_secs(2), unread_kib: 30 * 1024, ..Limits::default() };
    let running = serving(bind(config(limits), Arc::clone(directory.workspaces())).await.unwrap());
    let ask = b"GET /api/v1/namespaces/default/configmaps HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let mut stalled = TcpStream::connect(running.address).await.unwrap();
    stalled.write_all(ask).await.unwrap();
    let mut first = [0; 15];
    stalled.read_exact(&mut first).await.unwrap();
    assert_eq!(&first, b"HTTP/1.1 200 OK");
    let answer = raw(running.address, ask).await;
    assert!(answer.starts_with("HTTP/1.1 429 Too Many Requests"), "{}", &answer[..40]);
    let small = raw(running.address, b"GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").await;
    assert!(small.starts_with("HTTP/1.1 200 OK"), "{small}");
    // The first one is left at its deadline, and there is room again.
    let mut tries = tokio::time::interval(Duration::from_millis(100));
    let again = async {
        loop {
            tries.tick().await;
            let answer = raw(running.address, ask).await;
            if answer.starts_with("HTTP/1.1 200 OK") {
                return answer;
            }
        }
    };
    let answer = tokio::time::timeout(Duration::from_secs(60), again).await.unwrap();
    assert!(answer.len() > 24 * 1024 * 1024 && answer.ends_with("}\n"), "{}", answer.len());
    let mut taken = Vec::new();
    let _ = stalled.read_to_end(&mut taken).await;
    assert!(taken.len() < 24 * 1024 * 1024, "{}", taken.len());
}

#[tokio::test]
async fn requests_name_one_host() {
    let running = start(config(Limits::default())).await;
    for (hosts, words) in [
        ("", "missing required Host header"),
        ("Host: localhost\r\nHost: evil.example\r\n", "too many Host headers"),
        ("Host: \u{e9}\r\n", "must be localhost or an address"),
        ("Host: localhost\r\nOrigin: https://evil.example\r\n", "other origins are not answered"),
        ("Host: localhost\r\nOrigin: null\r\n", "other origins are not answered"),
    ] {
        let answer =
            raw(running.address, format!("GET /livez HTTP/1.1\r\n{hosts}Connection: close\r\n\r\n").as_bytes()).await;
        assert!(answer.contains(words), "{hosts}: {answer}");
    }
    for request in [
        "GET /livez HTTP/1.0\r\n\r\n".to_owned(),
        "GET /livez HTTP/1.1\r\nHost: localhost:1\r\nOrigin: http://localhost:1\r\nConnection: close\r\n\r\n"
            .to_owned(),
        // Each group of a user who is impersonated is a header.
        format!(
            "GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nImpersonate-User: sam\r\n{}\r\n",
            "Impersonate-Group: g\r\n".repeat(500)
        ),
    ] {
        let answer = raw(running.address, request.as_bytes()).await;
        assert!(answer.split(' ').nth(1) == Some("200"), "{answer}");
    }
}
