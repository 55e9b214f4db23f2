//! What a client sends, and what an author's expressions make of it, is answered in bounded time, memory and words, on the
//! stack of an ordinary thread.
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

use std::{fmt::Write as _, fs, sync::Arc};

use bytes::Bytes;
use celandine::{
    server::{Limits, Service},
    storage::{directory::Directory, fair::Bounds},
};
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};

/// A failure is for people.
const MOST_WORDS: usize = 64 * 1024;
const MIB: usize = 1024 * 1024;

/// A kind that is answered by `status`, made of `variables`.
fn schema(kind: &str, variables: &[(String, String)], status: &Value) -> String {
    let plural = format!("{}s", kind.to_lowercase());
    let variables: Vec<_> = variables.iter().map(|(name, e)| json!({"name": name, "expression": e})).collect();
    let spec = json!({
        "type": "object",
        "properties": {
            "s": {"type": "string"},
            "l": {"type": "array", "items": {"type": "integer"}},
            "m": {
                "type": "object",
                "additionalProperties": {
                    "type": "array",
                    "items": {"type": "integer", "x-kubernetes-validations": [{"rule": "self > 0"}]},
                },
            },
            "any": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        },
    });
    json!({
        "apiVersion": "celandine.dev/v1alpha1",
        "kind": "EphemeralSchema",
        "metadata": {"name": format!("{plural}.x.example")},
        "spec": {
            "group": "x.example",
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural},
            "versions": [{
                "name": "v1",
                "served": true,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}},
                "additionalPrinterColumns": [{"name": "X", "type": "string", "jsonPath": ".status.x"}],
                "projection": {"variables": variables, "status": status},
            }],
        },
    })
    .to_string()
}

/// `v1` of two `v0`, `v2` of two `v1`, ...
fn chain(first: &str, next: fn(&str) -> String) -> Vec<(String, String)> {
    let mut variables = vec![("v0".to_owned(), first.to_owned())];
    for i in 1..60 {
        variables.push((format!("v{i}"), next(&format!("variables.v{}", i - 1))));
    }
    variables
}

fn service() -> Service {
    limited(Limits::default())
}

fn limited(limits: Limits) -> Service {
    let directory = tempfile::tempdir().unwrap();
    let last = json!({"x": "${variables.v59}"});
    let texts: serde_json::Map<_, _> = (0..100).map(|i| (format!("k{i}"), json!("a ${object.spec.s} z"))).collect();
    let sizes: Vec<_> = (0..60).map(|i| format!("variables.v{i}.size()")).collect();
    let lists: Vec<_> = (0..60).map(|i| (format!("v{i}"), "object.spec.l + object.spec.l".to_owned())).collect();
    for (file, text) in [
        ("echo.yaml", schema("Echo", &[], &json!({"x": "heard"}))),
        ("endless.yaml", schema("Endless", &chain("[1]", |v| format!("[{v}, {v}]")), &last)),
        ("deep.yaml", schema("Deep", &chain("[1]", |v| format!("[[[[[{v}]]]]]")), &last)),
        ("texts.yaml", schema("Texts", &[], &Value::Object(texts))),
        ("lists.yaml", schema("Lists", &lists, &json!({"x": format!("${{{}}}", sizes.join(" + "))}))),
        ("failing.yaml", schema("Failing", &[], &json!({"x": "${{'a': 1}[object.spec.s]}"}))),
        ("looping.yaml", schema("Looping", &[], &json!({"x": "${lists.range(object.spec.l[0]).all(i, i >= 0)}"}))),
    ] {
        fs::write(directory.path().join(file), text).unwrap();
    }
    let (directory, report) = Directory::load(directory.path()).unwrap();
    assert!(!report.has_errors(), "{:#?}", report.findings);
    Service::new(Arc::clone(directory.workspaces()), limits)
}

async fn post(service: &Service, path: &str, headers: &[(&str, &str)], body: String) -> (StatusCode, String) {
    let mut request = Request::post(path).header("host", "localhost").header("content-type", "application/json");
    for (name, value) in headers {
        request
            .headers_mut()
            .unwrap()
            .insert(http::HeaderName::from_bytes(name.as_bytes()).unwrap(), value.parse().unwrap());
    }
    let response = service.call(request.body(Full::new(Bytes::from(body))).unwrap()).await;
    let status = response.status();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(bytes.to_vec()).unwrap())
}

fn plural(kind: &str, query: &str) -> String {
    format!("/apis/x.example/v1/namespaces/default/{}s{query}", kind.to_lowercase())
}

fn body(kind: &str, metadata: &Value, spec: &Value) -> String {
    json!({"apiVersion": "x.example/v1", "kind": kind, "metadata": metadata, "spec": spec}).to_string()
}

/// A body is refused, with a Status of few words.
async fn refused(service: &Service, name: &str, query: &str, body: String, code: u16) -> Value {
    assert!(body.len() <= 3 * MIB, "{name}");
    let (status, text) = post(service, &plural("Echo", query), &[], body).await;
    assert_eq!(status.as_u16(), code, "{name}: {}", text.chars().take(1000).collect::<String>());
    // 256 causes have a message and a field each.
    assert!(text.len() < if code == 422 { 2 * MIB } else { MOST_WORDS }, "{name}: {} bytes", text.len());
    let status: Value = serde_json::from_str(&text).unwrap();
    assert!(status["message"].as_str().unwrap().len() < MOST_WORDS, "{name}");
    status
}

#[tokio::test]
async fn failures_repeat_little_of_what_was_sent() {
    let service = service();
    let huge = "x".repeat(2 * MIB);
    let whole = |field: &str| {
        let mut body = json!({"apiVersion": "x.example/v1", "kind": "Echo", "spec": {}});
        body[field] = huge.as_str().into();
        body.to_string()
    };
    refused(&service, "apiVersion", "", whole("apiVersion"), 400).await;
    refused(&service, "kind", "", whole("kind"), 422).await;
    let group = json!({"apiVersion": format!("a/b/{huge}"), "kind": "Echo"}).to_string();
    refused(&service, "group", "", group, 400).await;
    for (field, code) in [("name", 422), ("generateName", 422), ("namespace", 400), ("creationTimestamp", 400)] {
        let mut metadata = json!({});
        metadata[field] = huge.as_str().into();
        refused(&service, field, "", body("Echo", &metadata, &json!({})), code).await;
    }
    let named = |count: usize| -> Value {
        (0..count).map(|i| (format!("f{i}!"), json!("!"))).collect::<serde_json::Map<_, _>>().into()
    };
    let strict = "?fieldValidation=Strict";
    let mut unknown = json!({});
    unknown[&huge] = 1.into();
    refused(&service, "a long unknown field", strict, body("Echo", &json!({}), &unknown), 400).await;
    refused(&service, "unknown fields", strict, body("Echo", &json!({}), &named(100_000)), 400).await;
    refused(&service, "unknown metadata", strict, body("Echo", &named(100_000), &json!({})), 400).await;
    let status =
        refused(&service, "labels", "", body("Echo", &json!({"labels": named(100_000)}), &json!({})), 422).await;
    assert_eq!(status["details"]["causes"].as_array().unwrap().len(), 256);
    refused(&service, "annotations", "", body("Echo", &json!({"annotations": named(100_000)}), &json!({})), 422).await;
}

/// A path may be as long as the body, and be told as often as there are elements.
#[tokio::test]
async fn long_paths_are_not_told_again_and_again() {
    let service = service();
    let key = "k".repeat(MIB);
    let deep = |item: &str, count: usize| {
        let items = vec![item; count].join(",");
        format!(r#"{{"apiVersion":"x.example/v1","kind":"Echo","spec":{{"m":{{"{key}":[{items}]}}}}}}"#)
    };
    let status = refused(&service, "rules", "", deep("0", 500_000), 422).await;
    assert_eq!(status["details"]["causes"].as_array().unwrap().len(), 256);
    let status = refused(&service, "types", "", deep("true", 300_000), 422).await;
    assert_eq!(status["details"]["causes"].as_array().unwrap().len(), 256);
    let repeated = r#""a":0,"#.repeat(200_000);
    let body = format!(r#"{{"apiVersion":"x.example/v1","kind":"Echo","spec":{{"{key}":{{{repeated}"b":1}}}}}}"#);
    let status = refused(&service, "repeated", "?fieldValidation=Strict", body, 400).await;
    assert!(status["message"].as_str().unwrap().contains("duplicate field \"spec.kkk"));
}

/// Test threads have 2 MiB of stack, as the server's.
#[tokio::test]
async fn nesting_is_refused_and_not_recursed_into() {
    let service = service();
    let block = |depth: usize, entry: &str| {
        let mut text = String::new();
        for level in 0..depth {
            let _ = writeln!(text, "{}{entry}", " ".repeat(level + 4));
        }
        text
    };
    let yaml = [("content-type", "application/yaml")];
    for depth in [60, 90, 99, 101, 127, 200, 1_000] {
        for nested in [
            format!("{}{}", "[".repeat(depth), "]".repeat(depth)),
            format!("{}1{}", "{a: ".repeat(depth), "}".repeat(depth)),
            format!("\n   {}1", "- ".repeat(depth)),
            format!("\n   {}1", "? ".repeat(depth)),
            format!("\n{}", block(depth, "a:")),
            format!("\n{}", block(depth, "-")),
        ] {
            for (path, text) in [
                (plural("Echo", ""), format!("apiVersion: x.example/v1\nkind: Echo\nspec:\n  any:\n    a: {nested}\n")),
                (
                    "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews".to_owned(),
                    format!("apiVersion: authorization.k8s.io/v1\nkind: SelfSubjectAccessReview\nx: {nested}\n"),
                ),
            ] {
                let (status, text) = post(&service, &path, &yaml, text).await;
                let known = [StatusCode::CREATED, StatusCode::BAD_REQUEST, StatusCode::UNPROCESSABLE_ENTITY];
                assert!(known.contains(&status), "{depth} {status} {text}");
                assert!(depth < 101 || status != StatusCode::CREATED, "{depth} {nested}");
            }
        }
    }
}

/// Every form of an answer ends where it grows too large, however small it is in memory.
#[tokio::test]
async fn endless_answers_end() {
    let service = service();
    let forms = [
        ("", "application/json"),
        ("?pretty=true", "application/json"),
        ("", "application/yaml"),
        ("", "application/json;as=Table;g=meta.k8s.io;v=v1"),
        ("?includeObject=Object", "application/json;as=Table;g=meta.k8s.io;v=v1"),
    ];
    for (query, accept) in forms {
        for (kind, words) in
            [("Endless", "the answer is larger than 8388608 bytes"), ("Deep", "value nests too deeply")]
        {
            let body = body(kind, &json!({"name": "n"}), &json!({}));
            let (status, text) = post(&service, &plural(kind, query), &[("accept", accept)], body).await;
            assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR, "{kind} {query} {accept}");
            assert!(text.contains(words) && text.len() < MOST_WORDS, "{kind} {query} {accept}: {text}");
        }
    }
    let metadata = [("accept", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1")];
    let body = body("Endless", &json!({"name": "n"}), &json!({}));
    let (status, text) = post(&service, &plural("Endless", ""), &metadata, body).await;
    assert!(status == StatusCode::CREATED && text.contains(r#""name":"n""#), "{status} {text}");
}

#[tokio::test]
async fn what_expressions_do_not_pay_for_is_bounded_for_the_whole_request() {
    let service = service();
    for (kind, spec, words) in [
        ("Texts", json!({"s": "x".repeat(MIB)}), "the texts of one request may have 8388608 bytes, and have more"),
        ("Lists", json!({"l": vec![1; 500_000]}), "and cost more"),
        ("Failing", json!({"s": "x".repeat(MIB)}), "no such key: xxx"),
    ] {
        let (status, text) = post(&service, &plural(kind, ""), &[], body(kind, &json!({}), &spec)).await;
        assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR, "{kind}");
        assert!(
            text.contains(words) && text.len() < MOST_WORDS,
            "{kind}: {}",
            text.chars().take(1000).collect::<String>()
        );
    }
    let (status, text) = post(&service, &plural("Texts", ""), &[], body("Texts", &json!({}), &json!({"s": "x"}))).await;
    assert!(status == StatusCode::CREATED && text.contains("a x z"), "{text}");
}

/// Whoever computes or writes much needs a place; probes and discovery do not.
#[tokio::test(start_paused = true)]
async fn computing_does_not_keep_probes_waiting() {
    let service = limited(Limits { computing: 0, ..Limits::default() });
    let (status, text) = post(&service, &plural("Echo", ""), &[], body("Echo", &json!({}), &json!({}))).await;
    assert_eq!(status, StatusCode::GATEWAY_TIMEOUT, "{text}");
    for (path, expected) in [
        ("/api/v1/pods", StatusCode::GATEWAY_TIMEOUT),
        ("/readyz", StatusCode::OK),
        ("/apis", StatusCode::OK),
        ("/apis/x.example/v1", StatusCode::OK),
    ] {
        let request = Request::get(path).header("host", "localhost").body(Full::new(Bytes::new())).unwrap();
        assert_eq!(service.call(request).await.status(), expected, "{path}");
    }
}

/// What is made of large bodies takes memory: few are answered at once, and small ones at any time.
#[tokio::test(start_paused = true)]
async fn few_large_bodies_are_answered_at_once() {
    let none = Bounds { seats: 0, ..Limits::default().large };
    let service = limited(Limits { large: none, ..Limits::default() });
    let large = body("Echo", &json!({}), &json!({"s": "x".repeat(200 * 1024)}));
    for (path, body, expected) in [
        (plural("Echo", ""), body("Echo", &json!({}), &json!({})), StatusCode::CREATED),
        (plural("Echo", ""), large.clone(), StatusCode::TOO_MANY_REQUESTS),
        ("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews".to_owned(), large, StatusCode::TOO_MANY_REQUESTS),
    ] {
        let (status, text) = post(&service, &path, &[], body).await;
        assert_eq!(status, expected, "{path} {text}");
    }
}

/// One thread, which everything shares: what takes long leaves it to others, even where all before was quick.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn what_takes_long_keeps_no_thread_of_the_runtime() {
    let service = service();
    let ask = |n: u64| {
        let service = service.clone();
        let body = body("Looping", &json!({}), &json!({"l": [n]}));
        tokio::spawn(async move { post(&service, &plural("Looping", ""), &[], body).await })
    };
    for _ in 0..5 {
        let (status, text) = ask(1).await.unwrap();
        assert_eq!(status, StatusCode::CREATED, "{text}");
    }
    let long = ask(100_000);
    let mut probes = 0;
    while !long.is_finished() {
        let service = service.clone();
        let request = Request::get("/readyz").header("host", "localhost").body(Full::new(Bytes::new())).unwrap();
        assert_eq!(tokio::spawn(async move { service.call(request).await.status() }).await.unwrap(), StatusCode::OK);
        probes += 1;
    }
    let (status, text) = long.await.unwrap();
    assert!(status == StatusCode::CREATED && text.contains(r#""x":true"#), "{text}");
    // Were the thread kept, one could come before and one after it.
    assert!(probes > 3, "{probes}");
}
