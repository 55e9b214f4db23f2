//! UsageReport over a real Prometheus: Debian's, started here on loopback, scraping a page of this test.
//!
//! The page has samples with times of their own, so that what a range and a step give is known exactly.
//! Absent: what other answers do (golden).
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::result_large_err,
    unreachable_pub,
    reason = "tests fail by panicking"
)]
use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

/// How long Prometheus may take to start and to scrape, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(90);

/// Ended with the test, also when it fails.
struct Prometheus(Child);

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Serves one text to everybody; gives the port.
fn page(text: String) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut stream = stream;
            let mut lines = BufReader::new(&stream).lines();
            while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
            let head = format!("content-type: text/plain; version=0.0.4\r\ncontent-length: {}", text.len());
            let _ = write!(stream, "HTTP/1.1 200 OK\r\n{head}\r\nconnection: close\r\n\r\n{text}");
        }
    });
    port
}

/// The JSON that Prometheus answers; `None` while it does not.
fn ask(port: u16, path: &str) -> Option<Value> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
    write!(stream, "GET {path} HTTP/1.0\r\n\r\n").ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    serde_json::from_str(answer.split_once("\r\n\r\n")?.1).ok()
}

fn start(data: &Path, scraped: u16) -> (Prometheus, u16) {
    let config = data.join("prometheus.yml");
    let job = format!("{{job_name: buckets, static_configs: [{{targets: [\"127.0.0.1:{scraped}\"]}}]}}");
    fs::write(&config, format!("global: {{scrape_interval: 1s}}\nscrape_configs: [{job}]\n")).unwrap();
    // Prometheus does not tell which port it was given, so it is given one that was free a moment ago.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let child = Command::new("prometheus")
        .arg(format!("--config.file={}", config.display()))
        .arg(format!("--storage.tsdb.path={}", data.join("data").display()))
        .arg(format!("--web.listen-address=127.0.0.1:{port}"))
        .stdout(Stdio::null())
        .stderr(fs::File::create(data.join("log")).unwrap())
        .spawn();
    (Prometheus(child.unwrap()), port)
}

/// The examples with the Prometheus of this test instead of `metrics.acme.example`.
fn directory(root: &Path, port: u16) {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let schema = fs::read_to_string(examples.join("usagereport.yaml")).unwrap();
    let moved = schema.replace("https://metrics.acme.example/", &format!("http://127.0.0.1:{port}/"));
    assert_ne!(schema, moved);
    fs::write(root.join("usagereport.yaml"), moved).unwrap();
    let policy = format!(
        r#"
apiVersion: celandine.dev/v1alpha1
kind: EgressPolicy
metadata: {{name: acme-metrics}}
spec:
  endpoints: [{{scheme: http, host: 127.0.0.1, port: {port}, pathPrefixes: [/api/v1/]}}]
  networks: {{allow: [127.0.0.1/32]}}
  usableBy: {{schemas: ["usagereports.storage.acme.example"], workspaces: ["*"]}}
"#
    );
    fs::write(root.join("egress.yaml"), policy).unwrap();
}

struct Asked<'a> {
    namespace: &'a str,
    bucket: &'a str,
    from: Timestamp,
    to: Timestamp,
    step: &'a str,
}

/// What `celandine create` answers: the status, or what it says of the failure.
fn create(root: &Path, asked: &Asked<'_>) -> Result<Value, String> {
    let Asked { namespace, bucket, from, to, step } = asked;
    let request = serde_json::json!({
        "apiVersion": "storage.acme.example/v1",
        "kind": "UsageReport",
        "metadata": {"name": "r", "namespace": namespace},
        "spec": {"bucket": bucket, "from": from.to_string(), "to": to.to_string(), "step": step},
    });
    let file = root.join("request.json");
    fs::write(&file, request.to_string()).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_celandine"))
        .args(["create", "-o", "json", "-f"])
        .arg(&file)
        .arg("--dir")
        .arg(root.join("platform"))
        .output()
        .unwrap();
    if !output.status.success() {
        return Err(String::from_utf8(output.stderr).unwrap());
    }
    Ok(serde_json::from_slice::<Value>(&output.stdout).unwrap()["status"].take())
}

#[test]
fn usage_over_a_range_of_time() {
    if Command::new("prometheus").arg("--version").output().is_err() {
        eprintln!("SKIPPED: there is no `prometheus` on PATH (Debian's package of that name)");
        return;
    }
    let root = tempfile::tempdir().unwrap();
    // Prometheus takes samples of the last hour. A whole minute, so that times are written as they are here.
    let now = Timestamp::now().as_second();
    let begin = Timestamp::from_second(now - now % 60 - 50 * 60).unwrap();
    let after = |minutes: i64| begin.checked_add(SignedDuration::from_mins(minutes)).unwrap();
    let sample = |labels: &str, value: i64, minutes: i64| {
        format!("bucket_bytes{{{labels}}} {value} {}\n", after(minutes).as_millisecond())
    };
    let mut text = "# TYPE bucket_bytes gauge\n".to_owned();
    for minute in 0..=40 {
        text += &sample(r#"namespace="default",bucket="photos""#, 1000 + minute, minute);
        text += &sample(r#"namespace="shop",bucket="photos""#, 7, minute);
    }
    let (mut prometheus, port) = start(root.path(), page(text));

    let query = format!("/api/v1/query?query=bucket_bytes&time={}", after(40).as_second());
    let deadline = Instant::now() + PATIENCE;
    let scraped =
        |answer: Option<Value>| answer.is_some_and(|a| a["data"]["result"].as_array().is_some_and(|r| r.len() == 2));
    while !scraped(ask(port, &query)) {
        let log = || fs::read_to_string(root.path().join("log")).unwrap_or_default();
        assert!(prometheus.0.try_wait().unwrap().is_none(), "prometheus ended:\n{}", log());
        assert!(Instant::now() < deadline, "nothing was scraped in {PATIENCE:?}:\n{}", log());
        thread::sleep(Duration::from_millis(100));
    }

    fs::create_dir(root.path().join("platform")).unwrap();
    directory(&root.path().join("platform"), port);
    let ask = |asked: Asked<'_>| create(root.path(), &asked);
    let photos = Asked { namespace: "default", bucket: "photos", from: after(0), to: after(40), step: "10m" };
    let status = ask(Asked { ..photos }).unwrap();
    assert_eq!(status["values"], serde_json::json!([1000, 1010, 1020, 1030, 1040]));
    let times: Vec<String> = (0..5).map(|i| after(i * 10).to_string()).collect();
    assert_eq!(status["times"], serde_json::json!(times));
    assert_eq!((&status["points"], &status["max"], &status["unit"]), (&5.into(), &1040.into(), &"bytes".into()));

    // Range and step are those of the request.
    let status = ask(Asked { from: after(7), to: after(9), step: "1m", ..photos }).unwrap();
    assert_eq!(status["values"], serde_json::json!([1007, 1008, 1009]));

    // Another namespace has a bucket of the same name.
    let status = ask(Asked { namespace: "shop", ..photos }).unwrap();
    assert_eq!(status["values"], serde_json::json!([7, 7, 7, 7, 7]));

    // Prometheus itself says whether a value stays within its quotes: each of these would find something if it did not.
    for bucket in [
        r#"photos",namespace=~".*"#,
        r#"x"}) or sum(bucket_bytes{bucket="photos"#,
        r#"x"}) or vector(1) or sum({job=""#,
        "photos\\",
        "photos\\\"",
        "photos&query=vector(1)",
        "photos' or '\n",
        "`photos`",
        "ph\u{f6}tos",
    ] {
        let status = ask(Asked { bucket, ..photos }).unwrap();
        assert_eq!(status["points"], 0, "{bucket:?}: {status}");
    }

    let refused = ask(Asked { from: after(40), to: after(0), ..photos }).unwrap_err();
    assert!(refused.contains("spec.from: Invalid value: must be before spec.to"), "{refused}");

    // With Prometheus gone the source is named.
    drop(prometheus);
    let failed = ask(photos).unwrap_err();
    assert!(failed.contains("source usage failed: the backend could not be connected to"), "{failed}");
}
