//! The law of the cache of HTTP answers: over any sequence of changes, times and calls, an answer is what the backend says now,
//! or what it said no longer ago than backend and call allow; and nobody gets what was got for somebody else.
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use celandine::storage::egress::{CacheUse, dial::TcpDialer};

use crate::{
    backends::{Deed, answer, serve},
    world::{World, get, make},
};

/// Path, its `Cache-Control`, whether it has an ETag, and for how long it may be reused; `None` where the call alone says it.
const PATHS: [(&str, &str, bool, Option<u64>); 6] = [
    ("/fresh", "Cache-Control: max-age=10\r\n", false, Some(10)),
    ("/tagged", "Cache-Control: max-age=3\r\n", true, Some(3)),
    ("/asks", "Cache-Control: no-cache\r\n", true, Some(0)),
    ("/secret", "Cache-Control: no-store\r\n", true, Some(0)),
    ("/old", "Cache-Control: max-age=10\r\nAge: 6\r\n", false, Some(4)),
    ("/silent", "", false, None),
];

#[tokio::test]
async fn an_answer_is_never_older_than_it_may_be() {
    let version = Arc::new(Mutex::new(0_u64));
    let said = Arc::clone(&version);
    let backend = serve(None, move |exchange| {
        let now = *said.lock().unwrap();
        let (_, control, tagged, _) = PATHS.iter().find(|(path, ..)| *path == exchange.target()).unwrap();
        let tag = if *tagged { format!("ETag: \"{now}\"\r\n") } else { String::new() };
        if *tagged && exchange.field("if-none-match") == Some(&format!("\"{now}\"")) {
            return Deed::Send(format!("HTTP/1.1 304 X\r\n{control}{tag}\r\n").into_bytes());
        }
        let owner = exchange.field("x-asker").unwrap_or_default();
        Deed::Send(answer(
            200,
            &format!("Content-Type: application/json\r\n{control}{tag}X: y"),
            format!("[{now}, \"{owner}\"]"),
        ))
    })
    .await;
    let port = backend.address.port();
    let world = World::new(Arc::new(TcpDialer));
    world.names.set("backend.example", vec![vec!["127.0.0.1".parse().unwrap()]]);
    let egress = world.egress(serde_json::json!({
        "endpoints": [{"scheme": "http", "host": "backend.example", "port": port}],
        "networks": {"allow": ["127.0.0.0/8"]},
    }));
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = |n: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 33) % n
    };
    // When each version ended, by the seconds that have passed.
    let mut ended: Vec<u64> = vec![];
    let (mut now, mut reused, mut revalidated) = (0_u64, 0, 0);
    for _ in 0..1500 {
        match next(8) {
            0 => {
                *version.lock().unwrap() += 1;
                ended.push(now);
            }
            1 | 2 => {
                let seconds = next(5);
                now += seconds;
                world.clock.advance(seconds);
            }
            _ => {
                let (path, _, _, allowed) = PATHS[usize::try_from(next(6)).unwrap()];
                let ttl = [None, Some(2), Some(6)][usize::try_from(next(3)).unwrap()];
                let asker = ["jane", "sam"][usize::try_from(next(2)).unwrap()];
                let mut call = get(&format!("http://backend.example:{port}{path}"));
                call.ttl = ttl.map(Duration::from_secs);
                call.headers = vec![("X-Asker".into(), asker.into())];
                let reply = make(&egress, &call).await.unwrap();
                let value: (u64, String) =
                    serde_json::from_value(serde_json::to_value(reply.value.unwrap()).unwrap()).unwrap();
                assert_eq!(value.1, asker, "{path}");
                let most = match (allowed, ttl) {
                    (Some(origin), Some(ttl)) => origin.min(ttl),
                    (Some(only), None) | (None, Some(only)) => only,
                    (None, None) => 0,
                };
                // A version that has ended was said before its end.
                if let Some(end) = ended.get(usize::try_from(value.0).unwrap()) {
                    assert!(now - end < most, "{path} {ttl:?}: ended {} s ago, {:?}", now - end, reply.cache);
                }
                assert!(reply.freshness.fresh_for.as_secs() <= most, "{path} {ttl:?}: {:?}", reply.freshness);
                reused += usize::from(reply.cache == CacheUse::Hit);
                revalidated += usize::from(reply.cache == CacheUse::Revalidated);
            }
        }
    }
    assert!(reused > 100 && revalidated > 50, "{reused} reused, {revalidated} revalidated: too few to show anything");
}
