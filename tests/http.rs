//! The protocol without sockets: each transcript of `tests/http` is requests and their answers.
//!
//! A request is `> METHOD PATH`, then `> Header: value` and `> | body` lines; its answer follows, up to the next request.
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

use bytes::Bytes;
use http::{Request, Response, header};
use http_body_util::{BodyExt, Full};

const SHOWN: [&str; 9] =
    ["content-type", "allow", "warning", "location", "retry-after", "vary", "etag", "cache-control", "content-length"];

#[test]
fn transcripts() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let service = support::service();
    support::transcripts("tests/http", |text| runtime.block_on(run(&service, text)));
}

async fn run(service: &celandine::server::Service, text: &str) -> String {
    let mut out = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if line.starts_with('#') {
            out.push_str(&format!("{line}\n"));
        }
        let Some(request) = line.strip_prefix("> ") else { continue };
        out.push_str(&format!("\n{line}\n"));
        let (method, uri) = request.split_once(' ').unwrap();
        let mut builder = Request::builder().method(method).uri(uri);
        let mut body = String::new();
        while let Some(line) = lines.next_if(|l| l.starts_with("> ")) {
            out.push_str(&format!("{line}\n"));
            match line.strip_prefix("> | ") {
                Some(part) => body.push_str(&format!("{part}\n")),
                None => {
                    let (name, value) = line.trim_start_matches("> ").split_once(": ").unwrap();
                    builder = builder.header(name, value);
                }
            }
        }
        let response = service.call(builder.body(Full::new(Bytes::from(body))).unwrap()).await;
        out.push_str(&show(response).await);
    }
    out.trim_start().to_owned()
}

async fn show(response: Response<celandine::server::body::Body>) -> String {
    let mut out = format!("< {}\n", response.status());
    for name in SHOWN {
        for value in response.headers().get_all(name) {
            let value = value.to_str().unwrap();
            if !(name == "cache-control" && value == "no-cache, private") {
                out.push_str(&format!("< {name}: {value}\n"));
            }
        }
    }
    assert_eq!(response.headers()[header::X_CONTENT_TYPE_OPTIONS], "nosniff");
    assert!(response.headers().contains_key("audit-id"));
    let body = response.into_body().collect().await.unwrap().to_bytes();
    let body = String::from_utf8_lossy(&body).into_owned();
    let shown = match serde_json::from_str::<serde_json::Value>(&body) {
        Ok(value) => serde_json::to_string_pretty(&value).unwrap(),
        // Events of a watch.
        Err(_) if body.starts_with('{') => body
            .lines()
            .map(|l| serde_json::from_str::<serde_json::Value>(l).unwrap().to_string().replace("\":", "\": "))
            .collect::<Vec<_>>()
            .join("\n"),
        Err(_) => body.trim_end().to_owned(),
    };
    if !shown.is_empty() {
        out.push_str(&shown);
        out.push('\n');
    }
    support::stable(&out, "http://SERVER")
}
