//! Faulty backends, each on loopback: what each gives, and that the others go on.
use std::{io::Write, sync::Arc};

use celandine::storage::egress::{Format, dial::TcpDialer};
use futures_util::future::join_all;

use crate::{
    backends::{Authority, Backend, Deed, Exchange, answer, json, serve},
    world::{World, get, make, word},
};

/// 8 MiB of spaces in 8 KiB.
fn gzip_bomb() -> Vec<u8> {
    static BOMB: std::sync::OnceLock<Vec<u8>> = std::sync::OnceLock::new();
    BOMB.get_or_init(make_bomb).clone()
}

fn make_bomb() -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(vec![], flate2::Compression::best());
    writer.write_all(&vec![b' '; 8 << 20]).unwrap();
    writer.finish().unwrap()
}

fn behave(exchange: &Exchange<'_>) -> Deed {
    const JSON: &str = "Content-Type: application/json";
    let chunked = |fields: &str| format!("HTTP/1.1 200 X\r\n{fields}Transfer-Encoding: chunked\r\n\r\n").into_bytes();
    match exchange.target() {
        "/slow-headers" => Deed::SendAndHang(vec![]),
        "/half-a-head" => Deed::SendAndHang(b"HTTP/1.1 200 X\r\nContent-".to_vec()),
        "/slow-body" => Deed::SendAndHang(b"HTTP/1.1 200 X\r\nContent-Length: 9\r\n\r\n[".to_vec()),
        "/continues" => Deed::SendForEver(vec![], b"HTTP/1.1 100 Continue\r\n\r\n".to_vec()),
        "/endless" => Deed::SendForEver(chunked(""), b"5\r\n12345\r\n".to_vec()),
        "/endless-head" => Deed::SendForEver(b"HTTP/1.1 200 X\r\n".to_vec(), b"X-A: 12345\r\n".to_vec()),
        "/endless-field" => Deed::SendForEver(b"HTTP/1.1 200 X\r\nX-A: ".to_vec(), vec![b'a'; 1000]),
        "/endless-trailers" => {
            Deed::SendForEver([chunked(""), b"2\r\n[]\r\n0\r\n".to_vec()].concat(), b"X: 1\r\n".to_vec())
        }
        "/announced" => Deed::SendAndHang(b"HTTP/1.1 200 X\r\nContent-Length: 99999999999999999999\r\n\r\n".to_vec()),
        "/announced-10-gb" => Deed::SendAndHang(b"HTTP/1.1 200 X\r\nContent-Length: 10737418240\r\n\r\n".to_vec()),
        "/bomb" => Deed::Send(answer(200, "Content-Encoding: gzip", gzip_bomb())),
        "/bomb-in-bomb" => Deed::Send(answer(200, "Content-Encoding: gzip, gzip", gzip_bomb())),
        "/broken-gzip" => Deed::Send(answer(200, "Content-Encoding: gzip", "nonsense")),
        "/deflate" => Deed::Send(answer(200, "Content-Encoding: deflate", "x")),
        "/wrong-json" => Deed::Send(answer(200, JSON, "{\"token\": s3cr3t}")),
        "/deep-json" => Deed::Send(answer(200, JSON, "[".repeat(60_000))),
        "/no-json" => Deed::Send(answer(200, JSON, "")),
        "/wrong-type" => Deed::Send(answer(200, "Content-Type: text/html", "<html>s3cr3t</html>")),
        "/wrong-charset" => Deed::Send(answer(200, "Content-Type: application/json; charset=utf-16", "[]")),
        "/no-utf-8" => Deed::Send(answer(200, JSON, b"\"\xff\"")),
        "/500" => Deed::Send(answer(500, "", "s3cr3t: at 10.0.0.1")),
        "/502" => Deed::Send(answer(502, "", "")),
        "/503" => Deed::Send(answer(503, "Retry-After: 600", "")),
        "/429" => Deed::Send(answer(429, "Retry-After: 600", "")),
        "/206" => Deed::Send(answer(206, "Content-Type: application/json\r\nContent-Range: bytes 0-1/9", "[]")),
        "/16-hints" => Deed::Send(["HTTP/1.1 103 X\r\n\r\n".repeat(16).into_bytes(), answer(200, JSON, "[]")].concat()),
        "/17-hints" => Deed::SendAndHang("HTTP/1.1 103 X\r\n\r\n".repeat(17).into_bytes()),
        "/403" => Deed::Send(answer(403, "", "")),
        "/404" => Deed::Send(answer(404, "", "")),
        "/418" => Deed::Send(answer(418, "", "")),
        "/999" => Deed::Send(answer(999, "", "")),
        "/101" => Deed::SendAndHang(b"HTTP/1.1 101 X\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n".to_vec()),
        "/redirect" => Deed::Send(answer(302, "Location: http://127.0.0.1:1/", "")),
        "/reset" => Deed::Reset,
        "/closed" => Deed::SendAndClose(vec![]),
        "/truncated" => Deed::SendAndClose(b"HTTP/1.1 200 X\r\nContent-Length: 9\r\n\r\n[1".to_vec()),
        "/truncated-chunk" => Deed::SendAndClose([chunked(""), b"5\r\n12".to_vec()].concat()),
        "/wrong-chunk" => Deed::SendAndClose([chunked(""), b"zz\r\n12\r\n".to_vec()].concat()),
        "/no-http" => Deed::SendAndClose(b"SSH-2.0-OpenSSH_9.9\r\n".to_vec()),
        "/two-lengths" => Deed::Send(b"HTTP/1.1 200 X\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n[]".to_vec()),
        "/flapping" if exchange.before.is_multiple_of(2) => Deed::Send(answer(503, "", "")),
        "/resets-once" if exchange.before == 0 => Deed::Reset,
        _ => json("[1]"),
    }
}

/// Path, and how it ends.
const FAULTS: &[(&str, &str)] = &[
    ("/ok", "Ok"),
    ("/slow-headers", "Timeout"),
    ("/half-a-head", "Timeout"),
    ("/slow-body", "Timeout"),
    ("/continues", "Broken"),
    ("/endless", "Body TooLarge"),
    ("/endless-head", "Broken"),
    ("/endless-field", "Broken"),
    ("/endless-trailers", "Broken"),
    ("/announced", "Broken"),
    ("/announced-10-gb", "Body TooLarge"),
    ("/bomb", "Body TooLarge"),
    ("/bomb-in-bomb", "Body Encoding"),
    ("/broken-gzip", "Body Compression"),
    ("/deflate", "Body Encoding"),
    ("/wrong-json", "Body Json"),
    ("/deep-json", "Body Depth"),
    ("/no-json", "Body Json"),
    ("/wrong-type", "Body ContentType"),
    ("/wrong-charset", "Body Charset"),
    ("/no-utf-8", "Body Charset"),
    ("/500", "Status 500"),
    ("/502", "Status 502"),
    ("/503", "Status 503"),
    ("/429", "BackendBusy"),
    ("/206", "Status 206"),
    ("/16-hints", "Ok"),
    ("/17-hints", "Broken"),
    ("/403", "Refused 403"),
    ("/404", "Status 404"),
    ("/418", "Status 418"),
    ("/999", "Status 999"),
    ("/101", "Status 101"),
    ("/redirect", "Redirect 302"),
    ("/reset", "Broken"),
    ("/closed", "Broken"),
    ("/truncated", "Broken"),
    ("/truncated-chunk", "Broken"),
    ("/wrong-chunk", "Broken"),
    ("/no-http", "Broken"),
    ("/two-lengths", "Broken"),
    ("/flapping", "Ok"),
    ("/resets-once", "Ok"),
];

fn world() -> World {
    let world = World::new(Arc::new(TcpDialer));
    world.names.set("backend.example", vec![vec!["127.0.0.1".parse().unwrap()]]);
    world
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_fault_has_its_error_and_the_others_go_on() {
    let backend = serve(None, behave).await;
    let port = backend.address.port();
    let egress = world().egress(serde_json::json!({
        "endpoints": [{"scheme": "http", "host": "backend.example", "port": port}],
        "networks": {"allow": ["127.0.0.0/8"]},
        "limits": {"timeoutSeconds": 3, "maxResponseBytes": 65536, "maxInFlight": 100},
        "retry": {"attempts": 2},
    }));
    gzip_bomb();
    let calls = FAULTS.iter().map(|(path, _)| {
        let (egress, call) = (egress.clone(), get(&format!("http://backend.example:{port}{path}")));
        async move { make(&egress, &call).await }
    });
    let mut wrong = vec![];
    for ((path, want), result) in FAULTS.iter().zip(join_all(calls).await) {
        let got = result.as_ref().map_or_else(word, |_| "Ok".to_owned());
        if got != *want {
            wrong.push(format!("{path}: {got}, not {want}"));
        }
        let Err(error) = result else { continue };
        let text = format!("{error} {error:?}");
        assert!(!text.contains("s3cr3t") && !text.contains("127.0.0.1") && !text.contains("backend.example"), "{text}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(make(&egress, &get(&format!("http://backend.example:{port}/ok"))).await.is_ok());
    // A backend that asks for ten minutes of rest gets it from this call.
    assert_eq!(backend.count("/503"), 1);
}

/// The most memory that a process had, in KiB.
fn most_memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0");
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// In a process of its own, where nobody else takes memory.
#[test]
fn faulty_backends_take_little_memory() {
    const ALONE: &str = "CELANDINE_ALONE";
    if std::env::var_os(ALONE).is_some() {
        let before = most_memory();
        every_fault_has_its_error_and_the_others_go_on();
        println!("grew by {} KiB", most_memory() - before);
        return;
    }
    if most_memory() == 0 {
        println!("SKIPPED: there is no VmHWM in /proc/self/status");
        return;
    }
    let test = ["faulty::faulty_backends_take_little_memory", "--exact", "--nocapture"];
    let output =
        std::process::Command::new(std::env::current_exe().unwrap()).args(test).env(ALONE, "1").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let grew = text.split("grew by ").nth(1).and_then(|rest| rest.split(' ').next()?.parse::<usize>().ok());
    // 40 backends send all they can for up to 3 s, in buffers of the sockets of both sides and of the bomb's maker.
    assert!(grew.is_some_and(|grew| grew < 100 * 1024), "{grew:?} KiB\n{text}");
}

/// A server whose answer to any ClientHello is these bytes.
async fn tls_of_old(answer: Vec<u8>) -> std::net::SocketAddr {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.read(&mut [0; 4096]).await;
            let _ = stream.write_all(&answer).await;
            let _ = stream.read(&mut [0; 4096]).await;
        }
    });
    address
}

#[tokio::test]
async fn servers_are_verified() {
    let (ours, other) = (Authority::new("ours"), Authority::new("other"));
    // A ServerHello of TLS 1.0 with an empty session and TLS_RSA_WITH_AES_128_CBC_SHA, and an alert: protocol version.
    let hello = [&[22, 3, 1, 0, 42, 2, 0, 0, 38, 3, 1][..], &[7; 32], &[0, 0, 47, 0]].concat();
    let alert = vec![21, 3, 1, 0, 2, 2, 70];
    let tls = |acceptor| async { serve(Some(acceptor), |_| json("[1]")).await };
    let backends: Vec<(&str, std::net::SocketAddr)> = vec![
        ("Ok", tls(ours.acceptor("backend.example", 2200)).await.address),
        ("Tls Expired", tls(ours.acceptor("backend.example", 2001)).await.address),
        ("Tls Name", tls(ours.acceptor("other.example", 2200)).await.address),
        ("Tls Issuer", tls(other.acceptor("backend.example", 2200)).await.address),
        ("Tls Handshake", tls_of_old(hello).await),
        ("Tls Handshake", tls_of_old(alert).await),
        ("Tls Handshake", tls_of_old(b"HTTP/1.1 400 X\r\n\r\n".to_vec()).await),
        ("Timeout", serve(None, |_| Deed::SendAndHang(vec![])).await.address),
    ];
    for (want, address) in backends {
        let egress = world().egress(serde_json::json!({
            "endpoints": [{"host": "backend.example", "port": address.port()}],
            "networks": {"allow": ["127.0.0.0/8"]},
            "limits": {"timeoutSeconds": 1},
            "tls": {"caBundle": ours.pem},
        }));
        let result = make(&egress, &get(&format!("https://backend.example:{}/", address.port()))).await;
        assert_eq!(result.map_or_else(|error| word(&error), |_| "Ok".to_owned()), want);
    }
}

#[tokio::test]
async fn formats_and_what_is_absent() {
    let backend: Backend = serve(None, |exchange| match exchange.target() {
        "/lines" => Deed::Send(answer(200, "Content-Type: application/x-ndjson", "{\"a\":1}\n{\"a\":2}\n")),
        "/text" => Deed::Send(answer(200, "Content-Type: text/plain; charset=iso-8859-1", b"b\xfccher")),
        "/nothing" => Deed::Send(b"HTTP/1.1 204 X\r\n\r\n".to_vec()),
        "/head" => Deed::Send(b"HTTP/1.1 200 X\r\nX-Size: 7\r\nSet-Cookie: a=b\r\nContent-Length: 99\r\n\r\n".to_vec()),
        _ => Deed::Send(answer(404, "", "not here")),
    })
    .await;
    let port = backend.address.port();
    let egress = world().egress(serde_json::json!({
        "endpoints": [{"scheme": "http", "host": "backend.example", "port": port}],
        "networks": {"allow": ["127.0.0.0/8"]},
    }));
    let call = |path: &str, format| {
        let mut call = get(&format!("http://backend.example:{port}{path}"));
        call.format = format;
        call
    };
    let value =
        async |call| make(&egress, &call).await.map(|reply| reply.value.map(|value| value.to_string())).unwrap();
    assert_eq!(value(call("/lines", Format::JsonLines)).await.as_deref(), Some(r#"[{"a": 1}, {"a": 2}]"#));
    assert_eq!(value(call("/text", Format::Text)).await.as_deref(), Some("\"bücher\""));
    assert_eq!(value(call("/nothing", Format::Json)).await.as_deref(), Some("null"));
    let mut missing = call("/missing", Format::Json);
    missing.optional = true;
    assert_eq!(value(missing).await, None);
    let mut head = call("/head", Format::Json);
    head.method = celandine::api::ephemeral_schema::Method::Head;
    assert_eq!(value(head).await.as_deref(), Some(r#"{"x-size": "7", "content-length": "99"}"#));
}
