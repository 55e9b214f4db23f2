//! A quiet user beside a greedy one, over TLS: how long the quiet one waits for its answers alone, beside one whose creates
//! take the processors, and beside one whose creates wait for a slow source.
//!
//! Absent: the same without sockets (the benchmark `create`).
use std::{
    fs,
    io::{Read as _, Write as _},
    net::TcpListener,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use super::{
    client::{Client, Ran, Version},
    quantiles,
    server::Server,
    workload::{self, Asks, RIGHTS, schema},
};

/// One measurement.
const SPAN: Duration = Duration::from_secs(5);
/// Connections of the greedy user: with these it is at 20 times its share of the processors, a half.
const GREEDY: usize = 40;
/// And of the seats at work, of which it may have a half.
const GREEDY_SLOW: usize = 320;
/// What a slow source takes.
const SLOW: Duration = Duration::from_millis(50);

/// Answered at once.
pub const QUIET: Asks =
    Asks { user: "quiet", kind: "Quick", spec: "{\"id\":\"a\"}", answer: "\"ok\":true", ..workload::BUCKET_INFO };
pub const ID: &str = "{id: string | required=true}";
pub const OK: &str = "{status: {ok: \"${object.spec.id.size() > 0}\"}}";

pub fn measure(binary: &Path) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("all.yaml"), workspace(slow_service())).unwrap();
    let server = Server::start(binary, folder.path());
    let quiet = || {
        let mut client = Client::connect(&server, Version::Http1, 2, QUIET);
        client.pause = Duration::from_millis(1);
        let Ran { mut micros, refused, .. } = client.run(|elapsed| elapsed < SPAN);
        assert_eq!(refused, 0);
        quantiles(&mut micros)(0.99)
    };
    let beside = |kind, connections| {
        let asks = Asks { user: "greedy", kind, may_be_refused: true, ..QUIET };
        let mut greedy = Client::connect(&server, Version::Http1, connections, asks);
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            let greedy = scope.spawn(|| greedy.run(|_| !stop.load(Ordering::Relaxed)));
            thread::sleep(4 * SLOW);
            let p99 = quiet();
            stop.store(true, Ordering::Relaxed);
            (p99, greedy.join().unwrap())
        })
    };
    let alone = quiet();
    println!("\na quiet user over TLS, p99: {alone:.2} ms alone");
    for (what, kind, connections) in
        [("takes the processors", "Heavy", GREEDY), ("has slow sources", "Slow", GREEDY_SLOW)]
    {
        let (p99, Ran { mut micros, refused, taken }) = beside(kind, connections);
        println!(
            "  {p99:.2} ms ({:.1}x), none refused, beside one that {what}: {connections} connections, {:.0} answered a second, \
             p50 {:.1} ms, {refused} refused",
            p99 / alone,
            micros.len() as f64 / taken.as_secs_f64(),
            quantiles(&mut micros)(0.5),
        );
    }
}

fn workspace(port: u16) -> String {
    // 20,000 steps, and the name, so that no two are equal.
    let heavy = "{status: {name: \"${object.metadata.name}\", ok: \"${lists.range(100).all(a, \
                 lists.range(100).all(b, a + b >= 0 || b > 100))}\"}}";
    let slow = format!(
        "{{sources: [{{id: answer, http: {{egressPolicy: slow, url: \"http://localhost:{port}/\", \
         query: {{id: \"${{object.metadata.name}}\"}}}}}}], status: {{ok: \"${{answer.ok}}\"}}}}"
    );
    let policy = format!(
        "apiVersion: celandine.dev/v1alpha1\nkind: EgressPolicy\nmetadata: {{name: slow}}\nspec:\n\
         \x20 endpoints: [{{scheme: http, host: localhost, port: {port}}}]\n\
         \x20 networks: {{allow: [127.0.0.0/8, \"::1/128\"]}}\n\
         \x20 limits: {{requestsPerSecond: 100000, burst: 100000, maxInFlight: 1000}}\n\
         \x20 usableBy: {{schemas: [\"*\"], workspaces: [\"*\"]}}\n"
    );
    [schema("Quick", ID, OK), schema("Heavy", ID, heavy), schema("Slow", ID, &slow), RIGHTS.into(), policy].concat()
}

/// Answers each request after [`SLOW`]; a thread each, for they only sleep.
fn slow_service() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        while let Ok((mut socket, _)) = listener.accept() {
            thread::spawn(move || {
                let mut head = vec![];
                let mut bytes = [0; 4096];
                while let Ok(read @ 1..) = socket.read(&mut bytes) {
                    head.extend_from_slice(&bytes[..read]);
                    if !head.ends_with(b"\r\n\r\n") {
                        continue;
                    }
                    head.clear();
                    thread::sleep(SLOW);
                    let answer = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncache-control: no-store\r\n\
                                  content-length: 11\r\n\r\n{\"ok\":true}";
                    if socket.write_all(answer.as_bytes()).is_err() {
                        return;
                    }
                }
            });
        }
    });
    port
}
