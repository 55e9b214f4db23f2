//! What authors and backends may try besides URLs: to get at credentials, to spend memory and time of all.
use std::{sync::Arc, time::Duration};

use celandine::{
    api::ephemeral_schema::Method,
    storage::egress::{
        Egress, EgressError,
        dial::TcpDialer,
        pages::{FieldPath, Next, Pagination},
    },
};
use futures_util::{FutureExt, future::BoxFuture};

use crate::{
    backends::{Backend, Deed, answer, json, serve},
    world::{World, get, make, word},
};

const SECRET: &str = "s3cr/t-hunter2";

/// A backend that repeats what it was sent, and a policy that lets everything through.
async fn mirror(auth: serde_json::Value) -> (World, Backend, Egress) {
    let backend = serve(None, |exchange| {
        let fields = ["authorization", "x-api-key"].map(|name| exchange.field(name).unwrap_or_default().to_owned());
        let body = serde_json::json!({"you": {"sent": fields}}).to_string();
        match exchange.target().split('?').next().unwrap_or_default() {
            "/token" => json(r#"{"access_token": "t0k3n-0f-acme", "token_type": "bearer"}"#),
            "/escaped" => json(&body.replace('/', "\\/")),
            "/text" => Deed::Send(answer(200, "Content-Type: text/plain", &body)),
            "/zipped" => {
                let zipped =
                    ruzstd::encoding::compress_to_vec(body.as_bytes(), ruzstd::encoding::CompressionLevel::Fastest);
                Deed::Send(answer(200, "Content-Encoding: zstd\r\nContent-Type: application/json", zipped))
            }
            "/head" => {
                let [authorization, key] = fields;
                Deed::Send(format!("HTTP/1.1 200 X\r\nX-You-Sent: {authorization}{key}\r\n\r\n").into_bytes())
            }
            "/password" => json(&serde_json::json!({"error": format!("wrong password: {SECRET}")}).to_string()),
            _ => json(&body),
        }
    })
    .await;
    let world = World::new(Arc::new(TcpDialer));
    world.names.set("backend.example", vec![vec!["127.0.0.1".parse().unwrap()]]);
    world.keys.0.lock().unwrap().insert("k".into(), SECRET.into());
    let port = backend.address.port();
    let mut auth = auth;
    for kind in ["bearer", "basic", "header", "oauth2"] {
        if let Some(of) = auth.get_mut(kind) {
            of["secretRef"] = serde_json::json!({"namespace": "n", "name": "s", "key": "k"});
        }
    }
    if let Some(oauth2) = auth.get_mut("oauth2") {
        oauth2["tokenUrl"] = format!("http://backend.example:{port}/token").into();
    }
    let egress = world.egress(serde_json::json!({
        "endpoints": [{"scheme": "http", "host": "backend.example", "port": port, "methods": ["GET", "HEAD", "POST"]}],
        "networks": {"allow": ["127.0.0.0/8"]},
        "auth": auth,
    }));
    (world, backend, egress)
}

#[tokio::test]
async fn an_answer_that_repeats_credentials_is_none() {
    for auth in [
        serde_json::json!({"bearer": {}}),
        serde_json::json!({"basic": {"username": "jane"}}),
        serde_json::json!({"header": {"name": "X-Api-Key"}}),
        serde_json::json!({"oauth2": {"clientId": "c"}}),
    ] {
        let (_world, backend, egress) = mirror(auth.clone()).await;
        for path in ["/json", "/escaped", "/text", "/zipped", "/head"] {
            let mut call = get(&format!("http://backend.example:{}{path}", backend.address.port()));
            match path {
                "/head" => call.method = Method::Head,
                "/text" => call.format = celandine::storage::egress::Format::Text,
                _ => {}
            }
            let result = make(&egress, &call).await;
            assert_eq!(result.as_ref().err().map(word).as_deref(), Some("Body Echo"), "{auth} {path} {result:?}");
        }
        // The client's secret is never sent where schemas call, so that it is not known there.
        if auth.get("oauth2").is_none() {
            let result =
                make(&egress, &get(&format!("http://backend.example:{}/password", backend.address.port()))).await;
            assert_eq!(result.err().as_ref().map(word).as_deref(), Some("Body Echo"), "{auth}");
        }
    }
}

#[tokio::test]
async fn nobody_but_the_policy_asks_for_tokens() {
    let (_world, backend, egress) = mirror(serde_json::json!({"oauth2": {"clientId": "c"}})).await;
    for path in ["/token", "/token/", "/%74oken", "/token?grant_type=client_credentials"] {
        for method in [Method::Get, Method::Head, Method::Post] {
            let mut call = get(&format!("http://backend.example:{}{path}", backend.address.port()));
            call.method = method;
            assert_eq!(
                make(&egress, &call).await.err().as_ref().map(word).as_deref(),
                Some("NotAllowed Path"),
                "{path}"
            );
        }
    }
    assert_eq!(backend.requests.lock().unwrap().len(), 0);
}

/// A resolver that never answers.
#[derive(Debug)]
struct Silence;

impl celandine::storage::egress::resolve::Resolve for Silence {
    fn resolve(&self, _: &str) -> BoxFuture<'static, celandine::storage::egress::resolve::Addresses> {
        std::future::pending().boxed()
    }
}

#[tokio::test(start_paused = true)]
async fn names_that_are_never_resolved_end_with_the_policys_time() {
    let world = World::with(Arc::new(TcpDialer), Some(Arc::new(Silence)));
    let egress = world.egress(serde_json::json!({
        "endpoints": [{"host": "backend.example"}], "limits": {"timeoutSeconds": 3}, "retry": {"attempts": 5},
    }));
    let begun = tokio::time::Instant::now();
    assert_eq!(
        make(&egress, &get("https://backend.example/")).await.err().as_ref().map(word).as_deref(),
        Some("Timeout")
    );
    assert!(begun.elapsed() < Duration::from_millis(3200), "{:?}", begun.elapsed());
}

fn free(port: u16, more: serde_json::Value) -> (World, Egress) {
    let world = World::new(Arc::new(TcpDialer));
    world.names.set("backend.example", vec![vec!["127.0.0.1".parse().unwrap()]]);
    let mut policy = serde_json::json!({
        "endpoints": [{"scheme": "http", "host": "backend.example", "port": port, "methods": ["GET", "POST", "PUT"]}],
        "networks": {"allow": ["127.0.0.0/8"]},
    });
    policy.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let egress = world.egress(policy);
    (world, egress)
}

#[tokio::test]
async fn answers_in_use_take_so_much_memory_and_no_more() {
    // 20 MiB as values, half a megabyte as text.
    let body = format!("[{}0]", "0,".repeat(400_000));
    let backend = serve(None, move |_| json(&body)).await;
    let port = backend.address.port();
    let (_world, egress) = free(port, serde_json::json!({}));
    let mut held = vec![];
    let refused = loop {
        match make(&egress, &get(&format!("http://backend.example:{port}/{}", held.len()))).await {
            Ok(reply) => held.push(reply),
            Err(error) => break error,
        }
        assert!(held.len() < 10);
    };
    assert_eq!((refused, held.len()), (EgressError::Memory, 3));
    let mut other = get(&format!("http://backend.example:{port}/other"));
    other.asker.workspace = "root:other".into();
    assert!(make(&egress, &other).await.is_ok());
    drop(held);
    assert!(make(&egress, &get(&format!("http://backend.example:{port}/again"))).await.is_ok());
}

#[tokio::test]
async fn pages_hold_no_more_values_than_one_answer() {
    let body = format!("[{}0]", "0,".repeat(300_000));
    let backend = serve(None, move |exchange| {
        let fields = format!("Content-Type: application/json\r\nLink: </?{}>; rel=next", exchange.request.len());
        Deed::Send(answer(200, &fields, &body))
    })
    .await;
    let port = backend.address.port();
    let (_world, egress) = free(port, serde_json::json!({"limits": {"maxResponseBytes": 8_388_608}}));
    let mut call = get(&format!("http://backend.example:{port}/"));
    call.pagination = Some(Pagination { next: Next::Link, items: FieldPath::default(), max_pages: 100 });
    assert_eq!(make(&egress, &call).await.err().as_ref().map(word).as_deref(), Some("Pages Values"));
    assert_eq!(backend.requests.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn only_what_may_be_repeated_is() {
    let backend = serve(None, |exchange| match exchange.before {
        0 => Deed::Send(answer(503, "", "")),
        _ => json("1"),
    })
    .await;
    let port = backend.address.port();
    let (_world, egress) = free(port, serde_json::json!({"retry": {"attempts": 3}}));
    for (method, want) in [(Method::Get, None), (Method::Put, None), (Method::Post, Some("Status 503"))] {
        let mut call = get(&format!("http://backend.example:{port}/{method:?}"));
        call.method = method;
        assert_eq!(make(&egress, &call).await.err().as_ref().map(word).as_deref(), want, "{method:?}");
    }
    assert_eq!(backend.requests.lock().unwrap().len(), 5);
}
