//! `celandine serve` as an administrator runs it: its flags, its credentials, its log.
//!
//! Absent: the protocol (http), what egress refuses (egress).
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
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

/// A server; ended with its test.
struct Running {
    child: Child,
    address: String,
}

impl Running {
    fn start(dir: &Path, more: &[&str]) -> Running {
        let mut child = Command::new(env!("CARGO_BIN_EXE_celandine"))
            .args(["serve", "--listen", "127.0.0.1:0", "--dir"])
            .arg(dir)
            .args(more)
            .env("NO_COLOR", "1")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().rsplit_once("http://").unwrap_or_else(|| panic!("{line:?}")).1.to_owned();
        Running { child, address }
    }

    /// Creates an object; the whole answer with its head.
    fn create(&self, path: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let head = format!("Host: localhost\r\nContent-Type: application/json\r\nContent-Length: {}", body.len());
        write!(stream, "POST {path} HTTP/1.1\r\n{head}\r\nConnection: close\r\n\r\n{body}").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Ends it; what it wrote to standard error.
    fn end(mut self) -> String {
        self.child.kill().unwrap();
        let mut text = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
        text
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A backend that answers `7` and keeps the heads of its requests.
fn backend() -> (u16, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let heads: Arc<Mutex<Vec<String>>> = Arc::default();
    let kept = Arc::clone(&heads);
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let lines = BufReader::new(&stream).lines();
            let head: Vec<String> = lines.map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
            kept.lock().unwrap().push(head.join("\n"));
            let head = "Content-Type: application/json\r\nContent-Length: 1\r\nConnection: close";
            let _ = write!(stream, "HTTP/1.1 200 OK\r\n{head}\r\n\r\n7");
        }
    });
    (port, heads)
}

/// A schema that asks the backend, by its address, and a policy for it.
fn write_directory(dir: &Path, port: u16) {
    let schema = format!(
        r#"
apiVersion: celandine.dev/v1alpha1
kind: EphemeralSchema
metadata: {{name: answers.info.acme.example}}
spec:
  group: info.acme.example
  scope: Cluster
  names: {{kind: Answer, plural: answers}}
  versions:
  - name: v1
    schema: {{simple: {{spec: {{path: string}}}}}}
    projection:
      sources:
      - id: found
        http: {{egressPolicy: acme, url: "http://127.0.0.1:{port}/api/${{object.spec.path}}"}}
      status: {{found: "${{found}}"}}
"#
    );
    let policy = format!(
        r#"
apiVersion: celandine.dev/v1alpha1
kind: EgressPolicy
metadata: {{name: acme}}
spec:
  endpoints: [{{scheme: http, host: 127.0.0.1, port: {port}, pathPrefixes: [/api/]}}]
  networks: {{allow: [127.0.0.1/32]}}
  auth: {{bearer: {{secretRef: {{namespace: platform, name: metrics, key: token}}}}}}
  usableBy: {{schemas: ["*"], workspaces: ["*"]}}
"#
    );
    fs::create_dir_all(dir).unwrap();
    fs::write(dir.join("schema.yaml"), schema).unwrap();
    fs::write(dir.join("policy.yaml"), policy).unwrap();
}

const ANSWERS: &str = "/apis/info.acme.example/v1/answers";

fn asking(path: &str) -> String {
    let object = serde_json::json!({"apiVersion": "info.acme.example/v1", "kind": "Answer", "spec": {"path": path}});
    object.to_string()
}

#[test]
fn credentials_are_files_that_may_be_rotated_and_are_not_logged() {
    let root = tempfile::tempdir().unwrap();
    let (port, heads) = backend();
    write_directory(&root.path().join("dir"), port);
    let secret = root.path().join("secrets/platform/metrics");
    let secrets = root.path().join("secrets");
    fs::create_dir_all(&secret).unwrap();
    let server = Running::start(
        &root.path().join("dir"),
        &["--secrets-dir", secrets.to_str().unwrap(), "--log-level", "trace", "--advertise-address", "192.0.2.1"],
    );
    let missing = server.create(ANSWERS, &asking("x"));
    assert!(missing.contains("the credentials of egress policy `acme` are not available"), "{missing}");
    for (file, sent) in [("hunter2", "hunter2"), ("r0tated\n", "r0tated")] {
        fs::write(secret.join("token"), file).unwrap();
        let answer = server.create(ANSWERS, &asking("x"));
        assert!(answer.starts_with("HTTP/1.1 201 ") && answer.contains("\"found\":7"), "{answer}");
        let head = heads.lock().unwrap().pop().unwrap();
        assert!(head.to_ascii_lowercase().contains(&format!("authorization: bearer {sent}")), "{head}");
        assert!(
            answer.contains("cache;desc=miss, queue;dur=") && answer.contains("source.found;desc=miss;dur="),
            "{answer}"
        );
    }
    assert!(heads.lock().unwrap().is_empty());
    let unfit = server.create(ANSWERS, &asking("..;x"));
    assert!(unfit.starts_with("HTTP/1.1 500 ") && unfit.contains("sources[0].http"), "{unfit}");
    let log = server.end();
    assert!(log.contains("answered") && log.contains("celandine::access"), "{log}");
    assert!(!log.contains("hunter2") && !log.contains("r0tated"), "{log}");
}

#[test]
fn the_log_says_which_address_was_refused_and_the_answer_does_not() {
    let root = tempfile::tempdir().unwrap();
    let (port, heads) = backend();
    write_directory(root.path(), port);
    let policy = fs::read_to_string(root.path().join("policy.yaml")).unwrap();
    let policy = policy.lines().filter(|line| !line.contains("networks:") && !line.contains("auth:"));
    fs::write(root.path().join("policy.yaml"), policy.collect::<Vec<_>>().join("\n")).unwrap();
    let server = Running::start(root.path(), &["--max-mutating-requests-inflight", "1"]);
    let answer = server.create(ANSWERS, &asking("x"));
    assert!(answer.contains("the host is in a network that egress policy `acme` does not allow"), "{answer}");
    assert!(!answer.contains("127.0.0.1"), "{answer}");
    let log = server.end();
    assert!(log.contains("refused address policy=acme host=127.0.0.1 address=127.0.0.1"), "{log}");
    assert!(heads.lock().unwrap().is_empty());
}

#[test]
fn flags_that_make_no_sense_are_told() {
    let run = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_celandine"))
            .args(["serve", "--dir", "examples"])
            .args(arguments)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .unwrap();
        assert!(!output.status.success(), "{arguments:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(run(&["--secrets-dir", "nowhere"]).contains("--secrets-dir: `nowhere` is no directory"));
    assert!(run(&["--log-level", "celandine=lots"]).contains("--log-level: `celandine=lots`"));
    assert!(run(&["--request-timeout", "5"]).contains("a duration from 1s to 24h"));
    assert!(run(&["--max-requests-inflight", "0"]).contains("a number from 1 to 1000000"));
    assert!(run(&["--advertise-address", "acme.example"]).contains("--advertise-address"));
}
