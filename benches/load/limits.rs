//! Memory where requests and answers are as large as they may be, and where connections are as many: it must be bounded, and
//! be given back. Each row has a server of its own.
//!
//! Absent: ordinary creates (main).
use std::{
    fs,
    io::{Read as _, Write as _},
    net::TcpStream,
    path::Path,
    thread,
    time::Duration,
};

use rustls::{ClientConnection, StreamOwned, pki_types::ServerName};

use super::{
    CONNECTIONS,
    client::{Client, Protocol as _, Ran, Version},
    http1::Http1,
    neighbours::{ID, OK, QUIET},
    quantiles,
    server::Server,
    workload::{Asks, RIGHTS, schema},
};

/// One measurement, and so many answers at most.
const SPAN: Duration = Duration::from_secs(10);
const ANSWERS: usize = 20_000;
/// Without requests, after it.
const REST: Duration = Duration::from_secs(2);
/// A body may have 3 MiB; this much of it is the spec.
const SPEC: usize = 3 * 1024 * 1024 - 256;
/// An answer may have 8 MiB; it repeats a text of this many bytes a thousand times.
const LINE: usize = 8 * 1024 * 1024 / 1000 - 50;
/// `--max-connections` by default.
const MOST_CONNECTIONS: usize = 1_000;

pub fn measure(binary: &Path) {
    let folder = tempfile::tempdir().unwrap();
    let large = "{text: string, list: \"[]integer\", map: \"map[string]integer\", last: integer | maximum=9}";
    let long = "{status: {lines: \"${lists.range(1000).map(i, object.spec.text)}\"}}";
    let ok = "{status: {ok: \"${true}\"}}";
    let schemas = [schema("Quick", ID, OK), schema("Large", large, ok), schema("Long", "{text: string}", long)];
    fs::write(folder.path().join("all.yaml"), [&schemas.concat(), RIGHTS].concat()).unwrap();
    println!(
        "\n{:<44}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}",
        "largest, over TLS", "a second", "p99 ms", "refused", "idle MB", "peak MB", "after MB"
    );
    let start = || Server::start(binary, folder.path());

    // Few large bodies are answered at once.
    let created = Asks { user: "jane", kind: "Large", may_be_refused: true, ..QUIET };
    let invalid = Asks { code: 422, answer: "less than or equal to 9", ..created };
    let broken = Asks { code: 400, answer: "json parse error", ..created };
    let (text, list, map) =
        (["{\"text\":\"", "x", "\"}"], ["{\"list\":[0", ",1", "]}"], ["{\"map\":{\"a\":1", ",\"#\":1", "}}"]);
    for (what, [begin, item, end], asks) in [
        ("a text, 201", text, created),
        ("a list, 201", list, created),
        ("a map, 201", map, created),
        ("a list, 422 at the end", [list[0], list[1], "],\"last\":10}"], invalid),
        ("a map, 422 at the end", [map[0], map[1], "},\"last\":10}"], invalid),
        ("a text, 400 at the end", [text[0], text[1], "\"]"], broken),
        ("a list, 400 at the end", [list[0], list[1], "]]"], broken),
        ("a map, 400 at the end", [map[0], map[1], "}]"], broken),
    ] {
        let asks = Asks { spec: filled(begin, item, end), ..asks };
        row(&format!("{CONNECTIONS} send {what}"), start(), |server| ran(server, CONNECTIONS, asks));
    }

    let spec = format!("{{\"text\":\"{}\"}}", "x".repeat(LINE)).leak();
    let long = Asks { kind: "Long", spec, answer: "lines", may_be_refused: false, ..created };
    let yaml = Asks { accept: "application/yaml", ..long };
    for (what, asks) in [("JSON", long), ("JSON, ?pretty=true", Asks { query: "&pretty=true", ..long }), ("YAML", yaml)]
    {
        row(&format!("{CONNECTIONS} read {what}"), start(), |server| ran(server, CONNECTIONS, asks));
    }
    for connections in [16, 64, 128] {
        row(&format!("one beside {connections} that do not read JSON"), start(), |server| {
            let held: Vec<_> = (0..connections).map(|_| unread(server, &long)).collect();
            let refused = held.iter().filter(|(code, _)| code == b"429").count();
            (Ran { refused, ..ran(server, 1, QUIET).0 }, ())
        });
    }
    for version in [Version::Http1, Version::Http2] {
        row(&format!("{MOST_CONNECTIONS} ask once, {}", version.name()), start(), |server| {
            let mut client = Client::connect(server, version, MOST_CONNECTIONS, QUIET);
            (client.run(|_| false), client)
        });
    }
}

/// What work on a new server says, and the server's memory before, at most, and some time after it; what the work returns
/// lives until then.
fn row<T>(what: &str, server: Server, work: impl FnOnce(&Server) -> (Ran, T)) {
    let idle = server.resident();
    let (Ran { mut micros, refused, taken }, _kept) = work(&server);
    thread::sleep(REST);
    println!(
        "{what:<44}{:>9.0}{:>9.1}{refused:>9}{idle:>9.1}{:>9.1}{:>9.1}",
        micros.len() as f64 / taken.as_secs_f64(),
        quantiles(&mut micros)(0.99),
        server.peak(),
        server.resident(),
    );
}

/// A run, and its connections, which are still open.
fn ran(server: &Server, connections: usize, asks: Asks) -> (Ran, Client) {
    let mut client = Client::connect(server, Version::Http1, connections, asks);
    let mut left = ANSWERS;
    let ran = client.run(|elapsed| {
        left = left.saturating_sub(1);
        left > 0 && elapsed < SPAN
    });
    (ran, client)
}

/// Asks, and reads no more of the answer than its status.
fn unread(server: &Server, asks: &Asks) -> ([u8; 3], StreamOwned<ClientConnection, TcpStream>) {
    let tls = ClientConnection::new(server.tls(b"http/1.1"), ServerName::try_from("localhost").unwrap()).unwrap();
    let mut stream = StreamOwned::new(tls, TcpStream::connect(server.address()).unwrap());
    let mut request = vec![];
    Http1::new(asks).ask(asks.body(0).as_bytes(), &mut request);
    stream.write_all(&request).unwrap();
    let mut head = [0; 12];
    stream.read_exact(&mut head).unwrap();
    (head[9..].try_into().unwrap(), stream)
}

/// A spec of as many items as there is room for, numbered where they have a `#`.
fn filled(begin: &str, item: &str, end: &str) -> &'static str {
    let mut spec = begin.to_owned();
    for number in 0.. {
        let item = item.replace('#', &number.to_string());
        if spec.len() + item.len() + end.len() > SPEC {
            break;
        }
        spec.push_str(&item);
    }
    spec.push_str(end);
    spec.leak()
}
