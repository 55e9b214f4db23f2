//! Creates in process: BucketInfo of `examples/` evaluated, from memory, and from memory as the server answers a request for it,
//! and how a quiet user fares beside a greedy one whose sources are slow. `cargo bench --bench create -- creates` leaves the
//! latter out, which takes longer, and `neighbours` the former.
//!
//! Absent: sockets to clients, TLS; what a whole server answers in a second.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::result_large_err,
    reason = "a benchmark fails by panicking"
)]
use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use celandine::{
    api::UserInfo,
    server::{Limits, Service},
    storage::{
        answers::Answers,
        create::{self, CreateRequest, Created, Moment, Shared, Target},
        directory::Directory,
        encode,
        fair::{Bounds, Fair},
        strategy::FieldValidation,
        throttle::Throttles,
        workspace::Workspace,
    },
};
use celandine_benches::{Contender, compare};
use http::Request;
use http_body_util::{BodyExt as _, Full};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
    runtime::Runtime,
};

/// The program's own.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Objects in the bucket.
const OBJECTS: usize = 100;

fn main() {
    // cargo adds flags of its own.
    let wanted: Vec<_> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let is_wanted = |part: &str| wanted.is_empty() || wanted.iter().any(|wanted| wanted == part);
    if is_wanted("creates") {
        bucket_info();
    }
    if is_wanted("neighbours") {
        noisy_neighbour();
    }
}

/// Who asks for what.
#[derive(Clone)]
struct Ask {
    user: UserInfo,
    plural: &'static str,
    body: String,
}

fn named(user: &str) -> UserInfo {
    // Everybody may do everything: rights are no part of what is measured.
    UserInfo { username: user.into(), ..UserInfo::admin() }
}

async fn ask(workspace: &Workspace, shared: &Shared, ask: &Ask) -> Option<Created> {
    let catalog = workspace.catalog();
    let (kind, version) = catalog.ephemeral_version("storage.acme.example", "v1", ask.plural)?;
    let target = Target { workspace, catalog: &catalog, kind, version };
    let request = CreateRequest {
        namespace: "default",
        body: ask.body.as_bytes(),
        content_type: Some("application/json"),
        field_validation: FieldValidation::Strict,
        dry_run: false,
        user: &ask.user,
        moment: Moment::now(),
        timeout: None,
    };
    create::authorize(&target, request.user, request.namespace).await.ok()?;
    create::create(shared, target, &request).await.ok()
}

fn workspace(layers: &[&Path]) -> (Directory, Arc<Workspace>) {
    let layers: Vec<_> = layers.iter().map(|path| path.to_path_buf()).collect();
    let (directory, report) = Directory::overlay(&layers).unwrap();
    assert!(!report.has_errors(), "{}", report.render(celandine::storage::manifest::Color::Never));
    let workspace = directory.workspaces().root().unwrap();
    (directory, workspace)
}

fn bucket_info() {
    let more = tempfile::tempdir().unwrap();
    let objects: String = (4..=OBJECTS)
        .map(|i| {
            format!(
                "---\napiVersion: s3.acme.example/v1\nkind: StoredObject\n\
                 metadata: {{name: photos-{i}, namespace: default, labels: {{bucket: photos}}}}\n\
                 spec: {{key: 2025/{i}.jpg, size: {i}, stored: \"2025-07-14T09:30:00Z\"}}\n"
            )
        })
        .collect();
    std::fs::write(more.path().join("more.yaml"), objects).unwrap();
    let (directory, workspace) = workspace(&[&Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples"), more.path()]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let question = Ask {
        user: named("jane"),
        plural: "bucketinfos",
        body: r#"{"apiVersion":"storage.acme.example/v1","kind":"BucketInfo",
            "metadata":{"name":"photos-now","namespace":"default"},"spec":{"bucket":"photos"}}"#
            .into(),
    };
    let guards = |answers| Shared {
        answers,
        throttles: Some(Throttles::default()),
        seats: Some(Fair::new(Bounds::default())),
        computing: None,
        turn: Duration::ZERO,
    };
    let (cached, uncached) = (guards(Some(Answers::default())), guards(None));
    let run = |shared: &Shared| {
        let created = runtime.block_on(ask(&workspace, shared, &question)).unwrap();
        encode::json(&created.object).unwrap()
    };
    let answer = String::from_utf8(run(&uncached)).unwrap();
    assert!(answer.contains(&format!(r#""objects":{OBJECTS}"#)), "{answer}");
    let service = Service::new(Arc::clone(directory.workspaces()), Limits::default());
    let request = request(&question.body);
    let serve = || {
        runtime.block_on(async { service.call(request.clone()).await.into_body().collect().await }).unwrap().to_bytes()
    };
    let answer = serve();
    assert!(String::from_utf8_lossy(&answer).contains(&format!(r#""objects":{OBJECTS}"#)), "{answer:?}");
    println!(
        "a create with its answer as JSON: one get, one list of {OBJECTS} objects; the first, then how many times slower"
    );
    compare(
        "BucketInfo",
        vec![
            Contender::new("from memory", || run(&cached)),
            Contender::new("from memory, by the server", serve),
            Contender::new("evaluated", || run(&uncached)),
        ],
    );
}

/// A create as kubectl asks for it.
fn request(body: &str) -> Request<Full<Bytes>> {
    let path = "/apis/storage.acme.example/v1/namespaces/default/bucketinfos";
    Request::post(format!("{path}?fieldManager=kubectl-create&fieldValidation=Strict"))
        .header("host", "localhost")
        .header("user-agent", "kubectl/v1.32.4 (linux/amd64) kubernetes/59526cd")
        .header("accept", "application/json")
        .header("accept-encoding", "gzip")
        .header("content-type", "application/json")
        .header("kubectl-command", "kubectl create")
        .header("kubectl-session", "0f6f1f0c-9f0b-4b7e-8f43-6f0f3f4bb1a1")
        .header("impersonate-user", "jane")
        .header("content-length", body.len())
        .body(Full::new(Bytes::copy_from_slice(body.as_bytes())))
        .unwrap()
}

/// What a slow source takes.
const SLOW: Duration = Duration::from_millis(50);
/// Creates at work.
const SEATS: usize = 16;
/// How long each measurement is.
const SPAN: Duration = Duration::from_secs(4);

fn noisy_neighbour() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let port = runtime.block_on(slow_service());
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("all.yaml"), slow_schema(port)).unwrap();
    let (_directory, workspace) = workspace(&[folder.path()]);
    let bounds = Bounds { seats: SEATS, queue_per_flow: SEATS, queue: 4 * SEATS, ..Bounds::default() };
    let shared = Arc::new(Shared {
        answers: Some(Answers::default()),
        throttles: Some(Throttles::default()),
        seats: Some(Fair::new(bounds)),
        computing: None,
        turn: Duration::ZERO,
    });
    // A flow's share is half of what the seats can do.
    let share = SEATS as f64 / 2.0 / SLOW.as_secs_f64();
    println!("\n{SEATS} creates at work at most, each waits {SLOW:?} for its source; a share is {share:.0} a second");
    for (what, plural) in [("a source that takes 50 ms", "slows"), ("no source", "quicks")] {
        let quiet = || measure(&runtime, &workspace, &shared, plural);
        let alone = quiet();
        let greedy = Greedy::start(&runtime, &workspace, &shared, 20.0 * share);
        let beside = quiet();
        let (answered, refused) = greedy.stop();
        println!(
            "a quiet user, {what}: p99 {:.2} ms alone, {:.2} ms beside a greedy one ({:.2}x), {} and {} refused; \
             the greedy one: {answered} answered, {refused} refused",
            alone.p99,
            beside.p99,
            beside.p99 / alone.p99,
            alone.refused,
            beside.refused,
        );
    }
}

struct Measured {
    p99: f64,
    refused: usize,
}

/// Four clients of one user, one request after the other.
fn measure(runtime: &Runtime, workspace: &Arc<Workspace>, shared: &Arc<Shared>, plural: &'static str) -> Measured {
    let clients: Vec<_> = (0..4)
        .map(|client| {
            let (workspace, shared) = (Arc::clone(workspace), Arc::clone(shared));
            runtime.spawn(async move {
                let mut taken = vec![];
                let mut refused = 0;
                let begun = Instant::now();
                while begun.elapsed() < SPAN {
                    let question = slow(plural, "quiet", &format!("{client}-{}", taken.len()));
                    let asked = Instant::now();
                    match ask(&workspace, &shared, &question).await {
                        Some(_) => taken.push(asked.elapsed().as_secs_f64() * 1000.0),
                        None => refused += 1,
                    }
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
                (taken, refused)
            })
        })
        .collect();
    let mut all = vec![];
    let mut refused = 0;
    for client in clients {
        let (taken, more) = runtime.block_on(client).unwrap();
        all.extend(taken);
        refused += more;
    }
    all.sort_by(f64::total_cmp);
    Measured { p99: all.get(all.len() * 99 / 100).copied().unwrap_or(f64::NAN), refused }
}

/// Requests at a steady rate, whatever becomes of them.
struct Greedy {
    stop: tokio::sync::watch::Sender<bool>,
    done: tokio::task::JoinHandle<(usize, usize)>,
    runtime: tokio::runtime::Handle,
}

impl Greedy {
    fn start(runtime: &Runtime, workspace: &Arc<Workspace>, shared: &Arc<Shared>, per_second: f64) -> Greedy {
        let (stop, stopped) = tokio::sync::watch::channel(false);
        let (workspace, shared) = (Arc::clone(workspace), Arc::clone(shared));
        let done = runtime.spawn(async move {
            let mut requests = tokio::task::JoinSet::new();
            let mut tick = tokio::time::interval(Duration::from_millis(5));
            let (mut answered, mut refused) = (0, 0);
            let mut sent = 0;
            let mut count = |outcome: bool| if outcome { answered += 1 } else { refused += 1 };
            while !*stopped.borrow() {
                tick.tick().await;
                for _ in 0..(per_second * 0.005) as usize {
                    sent += 1;
                    let question = slow("slows", "greedy", &sent.to_string());
                    let (workspace, shared) = (Arc::clone(&workspace), Arc::clone(&shared));
                    requests.spawn(async move { ask(&workspace, &shared, &question).await.is_some() });
                }
                while let Some(Ok(outcome)) = requests.try_join_next() {
                    count(outcome);
                }
            }
            while let Some(Ok(outcome)) = requests.join_next().await {
                count(outcome);
            }
            (answered, refused)
        });
        // Its queue is full before the other one asks.
        let handle = runtime.handle().clone();
        handle.block_on(async { tokio::time::sleep(4 * SLOW).await });
        Greedy { stop, done, runtime: handle }
    }

    fn stop(self) -> (usize, usize) {
        self.stop.send_replace(true);
        self.runtime.block_on(self.done).unwrap()
    }
}

fn slow(plural: &'static str, user: &str, id: &str) -> Ask {
    let kind = if plural == "slows" { "Slow" } else { "Quick" };
    Ask {
        user: named(user),
        plural,
        body: format!(
            r#"{{"apiVersion":"storage.acme.example/v1","kind":"{kind}","metadata":{{}},"spec":{{"id":"{user}-{id}"}}}}"#
        ),
    }
}

fn slow_schema(port: u16) -> String {
    let schema = |kind: &str, projection: &str| {
        let plural = format!("{}s", kind.to_lowercase());
        format!(
            "---\napiVersion: celandine.dev/v1alpha1\nkind: EphemeralSchema\n\
             metadata: {{name: {plural}.storage.acme.example}}\nspec:\n  group: storage.acme.example\n\
             \x20 scope: Namespaced\n  names: {{kind: {kind}, plural: {plural}}}\n  versions:\n  - name: v1\n\
             \x20   served: true\n    schema: {{simple: {{spec: {{id: string | required=true}}}}}}\n\
             \x20   projection: {projection}\n"
        )
    };
    let source = format!(
        "{{sources: [{{id: answer, http: {{egressPolicy: slow, url: \"http://localhost:{port}/\", \
         query: {{id: \"${{object.spec.id}}\"}}}}}}], status: {{ok: \"${{answer.ok}}\"}}}}"
    );
    let policy = format!(
        "---\napiVersion: celandine.dev/v1alpha1\nkind: EgressPolicy\nmetadata: {{name: slow}}\nspec:\n\
         \x20 endpoints: [{{scheme: http, host: localhost, port: {port}}}]\n\
         \x20 networks: {{allow: [127.0.0.0/8, \"::1/128\"]}}\n\
         \x20 limits: {{requestsPerSecond: 100000, burst: 100000, maxInFlight: 1000}}\n\
         \x20 usableBy: {{schemas: [\"*\"], workspaces: [\"*\"]}}\n"
    );
    [schema("Slow", &source), schema("Quick", "{status: {ok: \"${object.spec.id.size() > 0}\"}}"), policy].concat()
}

/// Answers each request after [`SLOW`].
async fn slow_service() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut head = vec![];
                let mut bytes = [0; 4096];
                while let Ok(read @ 1..) = socket.read(&mut bytes).await {
                    head.extend_from_slice(&bytes[..read]);
                    if !head.ends_with(b"\r\n\r\n") {
                        continue;
                    }
                    head.clear();
                    tokio::time::sleep(SLOW).await;
                    let answer = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncache-control: no-store\r\n\
                                  content-length: 11\r\n\r\n{\"ok\":true}";
                    if socket.write_all(answer.as_bytes()).await.is_err() {
                        return;
                    }
                }
            });
        }
    });
    port
}
