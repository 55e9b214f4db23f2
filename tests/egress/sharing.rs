//! What calls share, and what they must not: caches, flights, limits, breakers, credentials, pages.
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use celandine::{
    api::ephemeral_schema::Method,
    storage::egress::{
        Call, Egress, EgressError, Reply,
        dial::TcpDialer,
        pages::{Count, FieldPath, Next, Pagination},
    },
};
use futures_util::future::join_all;

use crate::{
    backends::{Backend, Deed, Exchange, answer, json, serve},
    world::{World, get, make, word},
};

/// A world, a backend in it, and a policy for it.
struct Scene {
    world: World,
    backend: Backend,
    policy: serde_json::Value,
}

impl Scene {
    async fn new(policy: serde_json::Value, handler: impl Fn(&Exchange<'_>) -> Deed + Send + Sync + 'static) -> Scene {
        let backend = serve(None, handler).await;
        let world = World::new(Arc::new(TcpDialer));
        world.names.set("backend.example", vec![vec!["127.0.0.1".parse().unwrap()]]);
        let mut policy = policy;
        let port = backend.address.port();
        let methods = ["GET", "HEAD", "POST"];
        policy["endpoints"] = serde_json::json!([{"scheme": "http", "host": "backend.example", "port": port,
                                                  "pathPrefixes": ["/api"], "methods": methods},
                                                 {"scheme": "http", "host": "backend.example", "port": port,
                                                  "pathPrefixes": ["/token"], "methods": ["DELETE"]}]);
        policy["networks"] = serde_json::json!({"allow": ["127.0.0.0/8"]});
        if let Some(oauth2) = policy.pointer_mut("/auth/oauth2") {
            oauth2["tokenUrl"] = format!("http://backend.example:{port}/token").into();
        }
        Scene { world, backend, policy }
    }

    fn egress(&self) -> Egress {
        self.world.egress(self.policy.clone())
    }

    fn call(&self, path: &str) -> Call {
        get(&format!("http://backend.example:{}{path}", self.backend.address.port()))
    }
}

fn summary(result: &Result<Reply, EgressError>) -> String {
    match result {
        Ok(reply) => format!("{:?} {}", reply.cache, reply.value.as_ref().map_or("absent".into(), ToString::to_string)),
        Err(error) => word(error),
    }
}

fn cached(fields: &str, body: &str) -> Deed {
    Deed::Send(answer(200, &format!("Content-Type: application/json\r\n{fields}"), body))
}

#[tokio::test]
async fn answers_are_reused_as_the_origin_and_the_call_allow() {
    let scene = Scene::new(serde_json::json!({}), |exchange| match exchange.target() {
        "/api/fresh" => cached("Cache-Control: max-age=60", &exchange.before.to_string()),
        "/api/secret" => cached("Cache-Control: no-store", &exchange.before.to_string()),
        "/api/tagged" if exchange.field("if-none-match") == Some("\"a\"") => {
            Deed::Send(b"HTTP/1.1 304 X\r\nETag: \"a\"\r\n\r\n".to_vec())
        }
        "/api/tagged" => cached("ETag: \"a\"", &exchange.before.to_string()),
        "/api/stale" if exchange.before > 0 => Deed::Send(answer(503, "", "")),
        "/api/stale" => cached("Cache-Control: max-age=1, stale-if-error=60", "7"),
        _ => cached("X-A: b", &exchange.before.to_string()),
    })
    .await;
    let egress = scene.egress();
    let ask = async |path: &str, ttl: Option<u64>| {
        let mut call = scene.call(path);
        call.ttl = ttl.map(Duration::from_secs);
        summary(&make(&egress, &call).await)
    };
    assert_eq!(ask("/api/fresh", None).await, "Miss 0");
    assert_eq!(ask("/api/fresh", None).await, "Hit 0");
    assert_eq!(ask("/api/plain", None).await, "Miss 0");
    assert_eq!(ask("/api/plain", Some(10)).await, "Miss 1");
    assert_eq!(ask("/api/plain", Some(10)).await, "Hit 1");
    assert_eq!(ask("/api/secret", Some(10)).await, "Miss 0");
    assert_eq!(ask("/api/secret", Some(10)).await, "Miss 1");
    assert_eq!(ask("/api/tagged", None).await, "Miss 0");
    assert_eq!(ask("/api/tagged", None).await, "Revalidated 0");
    assert_eq!(ask("/api/stale", None).await, "Miss 7");
    scene.world.clock.advance(30);
    assert_eq!(ask("/api/stale", None).await, "StaleOnError 7");
    assert_eq!(ask("/api/fresh", Some(20)).await, "Miss 1");
    scene.world.clock.advance(60);
    assert_eq!(ask("/api/fresh", None).await, "Miss 2");
    assert_eq!(ask("/api/stale", None).await, "Status 503");
}

#[tokio::test]
async fn tenants_credentials_policies_and_fields_do_not_share_answers() {
    let policy =
        serde_json::json!({"auth": {"bearer": {"secretRef": {"namespace": "n", "name": "s", "key": "token"}}}});
    let scene = Scene::new(policy, |exchange| cached("Cache-Control: max-age=60", &exchange.before.to_string())).await;
    scene.world.keys.0.lock().unwrap().insert("token".into(), "0ne-s3cret\n".into());
    let egress = scene.egress();
    let call = scene.call("/api/x");
    assert_eq!(summary(&make(&egress, &call).await), "Miss 0");
    assert_eq!(summary(&make(&egress, &call).await), "Hit 0");
    let mut other = call.clone();
    other.asker.workspace = "root:other".into();
    assert_eq!(summary(&make(&egress, &other).await), "Miss 1");
    let mut other = call.clone();
    other.headers.push(("X-Scope".into(), "a".into()));
    assert_eq!(summary(&make(&egress, &other).await), "Miss 2");
    // The same policy in the next snapshot keeps what it has; a changed one begins anew.
    assert_eq!(summary(&make(&scene.egress(), &call).await), "Hit 0");
    scene.world.keys.0.lock().unwrap().insert("token".into(), "tw0-s3cret".into());
    assert_eq!(summary(&make(&egress, &call).await), "Miss 3");
    let mut changed = scene.policy.clone();
    changed["limits"] = serde_json::json!({"timeoutSeconds": 7});
    assert_eq!(summary(&make(&scene.world.egress(changed), &call).await), "Miss 4");
    let sent = scene.backend.requests.lock().unwrap().join("\n").to_ascii_lowercase();
    assert_eq!(
        (sent.matches("authorization: bearer 0ne-s3cret\r").count(), sent.matches("bearer tw0-s3cret\r").count()),
        (3, 2)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn equal_calls_in_flight_share_one_and_survive_their_first() {
    let (release, wait) = std::sync::mpsc::channel::<()>();
    let wait = Mutex::new(wait);
    let arrived = Arc::new(tokio::sync::Notify::new());
    let tell = Arc::clone(&arrived);
    let scene = Scene::new(serde_json::json!({}), move |exchange| {
        tell.notify_one();
        if exchange.before == 0 {
            // Blocks a thread of the test's runtime, on purpose: the answer is not there before the test says so.
            tokio::task::block_in_place(|| wait.lock().unwrap().recv().unwrap());
        }
        json(&exchange.before.to_string())
    });
    let scene = scene.await;
    let (egress, call) = (scene.egress(), scene.call("/api/x"));
    let leader = tokio::spawn({
        let (egress, call) = (egress.clone(), call.clone());
        async move { make(&egress, &call).await }
    });
    arrived.notified().await;
    let mut followers: Vec<_> = (0..10).map(|_| Box::pin(make(&egress, &call))).collect();
    for follower in &mut followers {
        assert!(futures_util::poll!(follower).is_pending());
    }
    leader.abort();
    let _ = leader.await;
    release.send(()).unwrap();
    for result in join_all(followers).await {
        let reply = result.unwrap();
        assert_eq!((summary(&Ok(reply.clone())).as_str(), reply.timing.requests), ("Miss 0", 0));
    }
    assert_eq!(scene.backend.count("/api/x"), 1);
}

#[tokio::test]
async fn rates_and_breakers_answer_at_once() {
    let limits = serde_json::json!({"limits": {"requestsPerSecond": 1, "burst": 2}});
    let scene = Scene::new(limits, |_| json("1")).await;
    let egress = scene.egress();
    let mut ends = vec![];
    for n in 0..3 {
        ends.push(make(&egress, &scene.call(&format!("/api/{n}"))).await);
    }
    assert!(ends[0].is_ok() && ends[1].is_ok(), "{ends:?}");
    let error = ends[2].as_ref().unwrap_err();
    assert!(error.retry_after().is_some_and(|after| after <= Duration::from_secs(2)), "{error:?}");

    let breaker = serde_json::json!({"breaker": {"failures": 2, "openSeconds": 3600}});
    let scene = Scene::new(breaker, |exchange| match exchange.target() {
        "/api/bad" => Deed::Send(answer(500, "", "")),
        _ => json("1"),
    })
    .await;
    let egress = scene.egress();
    let ask = async |path: &str| summary(&make(&egress, &scene.call(path)).await);
    assert_eq!(ask("/api/bad").await, "Status 500");
    assert_eq!(ask("/api/good").await, "Miss 1");
    assert_eq!(ask("/api/bad").await, "Status 500");
    assert_eq!(ask("/api/bad").await, "Status 500");
    assert_eq!(ask("/api/good").await, "Open");
    assert_eq!(scene.backend.requests.lock().unwrap().len(), 4);
}

#[tokio::test]
async fn tokens_are_got_once_and_again_when_refused() {
    let policy = serde_json::json!({"auth": {"oauth2": {
        "tokenUrl": "", "clientId": "cli:ent", "scopes": ["a", "b"],
        "secretRef": {"namespace": "n", "name": "s", "key": "client"},
    }}});
    let scene = Scene::new(policy, |exchange| match (exchange.target(), exchange.field("authorization")) {
        ("/token", Some("Basic Y2xpJTNBZW50Om9wZW4lMjBzZXNhbWU=")) if exchange.request.ends_with("scope=a%20b") => {
            json(&format!(r#"{{"access_token": "t{}", "token_type": "bearer", "expires_in": 3600}}"#, exchange.before))
        }
        ("/api/late", Some("Bearer t0")) => Deed::Send(answer(401, "", "")),
        (path, Some("Bearer t0" | "Bearer t1")) if path.starts_with("/api/") => json("1"),
        _ => Deed::Send(answer(401, "", "")),
    })
    .await;
    scene.world.keys.0.lock().unwrap().insert("client".into(), "open sesame".into());
    let egress = scene.egress();
    let calls: Vec<Call> = (0..5).map(|n| scene.call(&format!("/api/{n}"))).collect();
    for result in join_all(calls.iter().map(|call| make(&egress, call))).await {
        assert_eq!(summary(&result), "Miss 1");
    }
    assert_eq!(scene.backend.count("/token"), 1);
    assert_eq!(summary(&make(&egress, &scene.call("/api/late")).await), "Miss 1");
    assert_eq!(scene.backend.count("/token"), 2);
    // Authors reach neither the token endpoint nor the credentials.
    let mut post = scene.call("/token");
    post.method = Method::Post;
    assert_eq!(summary(&make(&egress, &post).await), "NotAllowed Path");
    let mut own = scene.call("/api/1");
    own.headers.push(("authorization".into(), "Bearer mine".into()));
    assert_eq!(summary(&make(&egress, &own).await), "Header");
    scene.world.keys.0.lock().unwrap().clear();
    assert_eq!(summary(&make(&egress, &scene.call("/api/9")).await), "Credentials Missing");
}

#[tokio::test]
async fn pages_become_one_list() {
    let page = |fields: &str, body: &str| Deed::Send(answer(200, fields, body));
    let scene =
        Scene::new(serde_json::json!({"limits": {"maxResponseBytes": 400}}), move |exchange| match exchange.target() {
            "/api/link" => page("Link: </api/link?page=2>; rel=\"next\"", "[1,2]"),
            "/api/link?page=2" => page("Link: </api/link>; rel=\"first\"", "[3]"),
            "/api/cursor?limit=2" => page("", r#"{"items": [1, 2], "metadata": {"continue": "a&b"}}"#),
            "/api/cursor?limit=2&continue=a%26b" => page("", r#"{"items": [3], "metadata": {"continue": ""}}"#),
            "/api/offset?offset=0" => page("", "[1,2]"),
            "/api/offset?offset=2" => page("", "[3,4]"),
            "/api/offset?offset=4" => page("", "[]"),
            "/api/numbers?page=1" => page("", "[1,2]"),
            "/api/numbers?page=2" => page("", "[3]"),
            "/api/url" => page("", r#"{"items": [1], "next": "/api/url?2"}"#),
            "/api/url?2" => page("", r#"{"items": [2], "next": null}"#),
            "/api/out" => page("", r#"{"items": [1], "next": "/token"}"#),
            "/api/bad" => page("", r#"{"items": {}, "next": null}"#),
            long if long.starts_with("/api/long") => page(
                &format!("Link: </api/long?{}>; rel=next", exchange.request.len()),
                &format!("[{}]", "1,".repeat(80) + "1"),
            ),
            more => page(&format!("Link: <{more}x>; rel=next"), "[1]"),
        })
        .await;
    let egress = scene.egress();
    let path = |text: &str| FieldPath::parse(text).unwrap();
    let ask = async |url: &str, next: Next, items: &str| {
        let mut call = scene.call(url);
        call.pagination = Some(Pagination { next, items: path(items), max_pages: 3 });
        summary(&make(&egress, &call).await)
    };
    let url = || Next::Url { path: path("next") };
    let offset = |count, first, page_size| Next::Offset { parameter: "offset".into(), count, first, page_size };
    assert_eq!(ask("/api/link", Next::Link, "").await, "Miss [1, 2, 3]");
    let cursor = Next::Cursor { path: path("$.metadata.continue"), parameter: "continue".into() };
    assert_eq!(ask("/api/cursor?limit=2", cursor, "items").await, "Miss [1, 2, 3]");
    assert_eq!(ask("/api/offset", offset(Count::Items, 0, None), "").await, "Miss [1, 2, 3, 4]");
    let number = Next::Offset { parameter: "page".into(), count: Count::Pages, first: 1, page_size: Some(2) };
    assert_eq!(ask("/api/numbers?page=7", number, "").await, "Miss [1, 2, 3]");
    assert_eq!(ask("/api/url", url(), "items").await, "Miss [1, 2]");
    assert_eq!(ask("/api/out", url(), "items").await, "Pages Next");
    assert_eq!(ask("/api/bad", url(), "items").await, "Pages Items");
    assert_eq!(ask("/api/many", Next::Link, "").await, "Pages TooMany");
    assert_eq!(ask("/api/long", Next::Link, "").await, "Pages TooLarge");
}

#[tokio::test]
async fn no_credential_is_printed() {
    let log = Log::default();
    let subscriber =
        tracing_subscriber::fmt().with_env_filter("trace").with_writer(log.clone()).with_ansi(false).finish();
    let guard = tracing::subscriber::set_default(subscriber);
    let secret = serde_json::json!({"namespace": "n", "name": "s", "key": "k"});
    let auths = [
        serde_json::json!({"bearer": {"secretRef": secret}}),
        serde_json::json!({"basic": {"username": "jane", "secretRef": secret}}),
        serde_json::json!({"header": {"name": "X-Api-Key", "secretRef": secret}}),
        serde_json::json!({"oauth2": {"tokenUrl": "", "clientId": "c", "secretRef": secret}}),
    ];
    for auth in auths {
        let scene = Scene::new(serde_json::json!({"auth": auth, "retry": {"attempts": 2}}), |exchange| match exchange
            .target()
        {
            "/token" => json(r#"{"access_token": "t0k3n", "token_type": "bearer"}"#),
            "/api/bad" => Deed::Send(answer(503, "", exchange.request)),
            "/api/echo" => Deed::Send(answer(200, "Content-Type: application/json", exchange.request)),
            "/api/reset" => Deed::Reset,
            _ => json("1"),
        })
        .await;
        scene.world.keys.0.lock().unwrap().insert("k".into(), "hunter2".into());
        let egress = scene.egress();
        for path in ["/api/good", "/api/bad", "/api/echo", "/api/reset"] {
            let result = make(&egress, &scene.call(path)).await;
            tracing::info!(?result, ?egress, gateway = ?scene.world.gateway, "ended");
            if let Err(error) = result {
                tracing::info!(%error, "ended");
            }
        }
        assert_eq!(scene.backend.count("/api/good"), 1);
    }
    drop(guard);
    let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(text.contains("answered") && text.contains("ended"));
    for secret in ["hunter2", "t0k3n", "amFuZTpodW50ZXIy", "YzpodW50ZXIy"] {
        let printed =
            text.lines().find(|line| line.contains(secret)).map(|line| line.chars().take(200).collect::<String>());
        assert_eq!(printed, None, "{secret} was printed");
    }
}

/// Where the log goes.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> tracing_subscriber::fmt::MakeWriter<'a> for Log {
    type Writer = Log;

    fn make_writer(&'a self) -> Log {
        self.clone()
    }
}
