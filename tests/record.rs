//! Fixtures of golden tests: what is missing and what is not used is told; recordings replay, and hold no credentials.
//!
//! Absent: what answers mean (golden).
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
    io::{BufRead, BufReader, Write},
    net::TcpListener,
    path::Path,
};

use celandine::cli::golden::{Options, Report, run};

const SECRET: &str = "s3cret-token";

const SCHEMA: &str = r#"
apiVersion: celandine.dev/v1alpha1
kind: EphemeralSchema
metadata: {name: answers.asked.acme.example}
spec:
  group: asked.acme.example
  scope: Cluster
  names: {kind: Answer, plural: answers}
  versions:
  - name: v1
    schema: {simple: {spec: {question: string}}}
    projection:
      sources:
      - id: found
        http:
          egressPolicy: acme
          url: http://127.0.0.1:PORT/ask
          query: {q: "${object.spec.question}", lang: en}
          schema: {type: object, properties: {answer: {type: string}}}
      status: {answer: "${found.answer}"}
---
apiVersion: celandine.dev/v1alpha1
kind: EgressPolicy
metadata: {name: acme}
spec:
  endpoints: [{scheme: http, host: 127.0.0.1, port: PORT}]
  networks: {allow: [127.0.0.1/32]}
  auth: {bearer: {secretRef: {namespace: platform, name: acme, key: token}}}
  usableBy: {schemas: ["*"], workspaces: ["*"]}
---
apiVersion: v1
kind: Secret
metadata: {name: acme, namespace: platform}
stringData: {token: s3cret-token}
"#;

/// Answers every request with a body for as long as the test runs; gives its port.
fn backend(body: &'static str) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let head: Vec<String> =
                BufReader::new(&stream).lines().map(Result::unwrap).take_while(|line| !line.is_empty()).collect();
            // Who has no token gets nothing: the call was a real one.
            let known = head.iter().any(|line| line.eq_ignore_ascii_case(&format!("authorization: Bearer {SECRET}")));
            let status = if known { "200 OK" } else { "401 Unauthorized" };
            let length = body.len();
            let fields = format!("content-type: application/json\r\nset-cookie: a=b\r\ncontent-length: {length}");
            write!(stream, "HTTP/1.1 {status}\r\n{fields}\r\nconnection: close\r\n\r\n{body}").unwrap();
        }
    });
    port
}

fn suite(port: u16) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path(), "suite/schema.yaml", &SCHEMA.replace("PORT", &port.to_string()));
    let input = "apiVersion: asked.acme.example/v1\nkind: Answer\nmetadata: {name: a}\nspec: {question: why & how}\n";
    write(directory.path(), "suite/why/input.yaml", input);
    directory
}

fn write(directory: &Path, name: &str, text: &str) {
    let path = directory.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn golden(directory: &Path, update: bool, record: bool) -> Report {
    run(&[directory.join("suite")], Options { update, record, ..Options::default() }).unwrap()
}

#[test]
fn recordings_replay() {
    let port = backend(r#"{"answer": "because", "more": [1, 2.5, null]}"#);
    let directory = suite(port);
    let recorded = golden(directory.path(), true, true);
    assert_eq!((recorded.passed, recorded.failed), (1, 0), "{}", recorded.text);
    let expected = fs::read_to_string(directory.path().join("suite/why/expected.yaml")).unwrap();
    assert!(expected.contains("answer: because"), "{expected}");
    let fixture = fs::read_to_string(directory.path().join("suite/why/http/recorded.yaml")).unwrap();
    assert_eq!(
        fixture,
        format!(
            "request:\n  url: http://127.0.0.1:{port}/ask\n  query:\n    lang: en\n    q: why & how\n\
             response:\n  status: 200\n  bodyJSON:\n    answer: because\n    more:\n    - 1\n    - 2.5\n    - null\n"
        )
    );

    // The fixture answers now: it may say something else than the backend.
    write(directory.path(), "suite/why/http/recorded.yaml", &fixture.replace("because", "therefore"));
    let replayed = golden(directory.path(), false, false);
    assert!(replayed.text.contains("+  answer: therefore"), "{}", replayed.text);

    // What is the author's answers also when the rest is recorded, and a recording that is no longer needed goes.
    fs::rename(directory.path().join("suite/why/http/recorded.yaml"), directory.path().join("suite/why/http/own.yaml"))
        .unwrap();
    assert!(golden(directory.path(), false, true).text.contains("+  answer: therefore"));
    assert!(!directory.path().join("suite/why/http/recorded.yaml").exists());
}

#[test]
fn answers_that_echo_credentials_are_not_recorded() {
    let directory = suite(backend(r#"{"answer": "you sent Bearer s3cret-token"}"#));
    let recorded = golden(directory.path(), true, true);
    assert_eq!(recorded.failed, 1);
    assert!(recorded.text.contains("holds the credentials of its policy"), "{}", recorded.text);
    assert!(!recorded.text.contains(SECRET), "{}", recorded.text);
    assert!(!directory.path().join("suite/why/http").exists());
    assert!(!directory.path().join("suite/why/expected.yaml").exists());
}

#[test]
fn calls_without_fixtures_and_fixtures_without_calls_fail() {
    // Nobody listens there, and nobody is asked.
    let directory = suite(9);
    let report = golden(directory.path(), true, false);
    assert_eq!((report.passed, report.failed), (0, 1));
    let wanted = "a call has no fixture; in a file of http/ it would be, with what the service answers:\n    \
                  request:\n      url: http://127.0.0.1:9/ask\n      query:\n        lang: en\n        q: why & how\n    \
                  response:\n      status: 200\n      bodyJSON: {}\n";
    assert!(report.text.contains(wanted), "{}", report.text);
    assert!(!directory.path().join("suite/why/expected.yaml").exists());

    let fixture = |query: &str| {
        format!("request: {{url: \"http://127.0.0.1:9/ask?{query}\"}}\nresponse: {{bodyJSON: {{answer: x}}}}\n")
    };
    write(directory.path(), "suite/http/all.yaml", &fixture("q=why%20%26%20how&lang=en"));
    let report = golden(directory.path(), true, false);
    assert_eq!((report.passed, report.failed), (1, 0), "{}", report.text);

    // A case's own come first; then that of the suite is used by none.
    write(directory.path(), "suite/why/http/own.yaml", &fixture("lang=en&q=why%20%26%20how").replace('x', "y"));
    let report = golden(directory.path(), true, false);
    assert!(report.text.contains("FAILED  suite/http/all.yaml\n    no case used this fixture\n"), "{}", report.text);
    fs::remove_dir_all(directory.path().join("suite/http")).unwrap();

    write(directory.path(), "suite/why/http/zzz.yaml", &fixture("q=else&lang=en"));
    let report = golden(directory.path(), true, false);
    assert!(report.text.contains("the fixture http/zzz.yaml was not used"), "{}", report.text);

    write(directory.path(), "suite/why/http/zzz.yaml", "request: {url: x}\nrespons: {}\n");
    let report = golden(directory.path(), true, false);
    assert_eq!(report.failed, 1, "{}", report.text);
    assert!(report.text.contains("did you mean `response`?"), "{}", report.text);
}
