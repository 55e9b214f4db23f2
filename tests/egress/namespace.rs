//! End to end over real sockets, in a network namespace that owns the addresses which must not be called: listeners there get
//! no connection.
//!
//! The test runs itself once more inside of such a namespace. Where this machine gives none it says so and skips.
use std::{
    net::IpAddr,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use celandine::storage::egress::dial::TcpDialer;

use crate::{
    backends::answer,
    world::{World, get, make, word},
};

/// Tells the test that it is inside.
const INSIDE: &str = "CELANDINE_INSIDE_NAMESPACE";

/// Addresses that somebody listens at and nobody may call.
const FORBIDDEN: [&str; 10] = [
    "127.0.0.1",
    "::1",
    "169.254.169.254",
    "fd00:ec2::254",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.0.1",
    "100.64.0.1",
    "198.18.0.1",
    "2002:a00:1::1",
];

/// The one that the policy allows, so that the test shows that listeners would see us.
const ALLOWED: &str = "10.9.0.1";

fn ip(arguments: &[&str]) -> bool {
    Command::new("ip").args(arguments).status().is_ok_and(|status| status.success())
}

#[test]
fn listeners_at_forbidden_addresses_see_nobody() {
    if std::env::var_os(INSIDE).is_some() {
        return inside();
    }
    let namespace = ["--user", "--map-root-user", "--net"];
    if !Command::new("unshare").args(namespace).args(["ip", "link"]).output().is_ok_and(|out| out.status.success()) {
        println!("SKIPPED: `unshare --user --map-root-user --net` and `ip` are not to be had here");
        return;
    }
    let test = ["namespace::listeners_at_forbidden_addresses_see_nobody", "--exact", "--nocapture"];
    let mut run = Command::new("unshare");
    run.args(namespace).arg(std::env::current_exe().unwrap()).args(test).env(INSIDE, "1");
    let output = run.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[tokio::main]
async fn inside() {
    assert!(ip(&["link", "set", "lo", "up"]));
    let mut listeners = vec![];
    for text in FORBIDDEN.iter().chain([&ALLOWED]) {
        let address: IpAddr = text.parse().unwrap();
        // Without `nodad` an IPv6 address is tentative for a moment, and cannot be listened at.
        let (network, rest): (_, &[&str]) = match address {
            IpAddr::V4(_) => (format!("{text}/32"), &[]),
            IpAddr::V6(_) => (format!("{text}/128"), &["nodad"]),
        };
        assert!(address.is_loopback() || ip(&[&["addr", "add", &network, "dev", "lo"], rest].concat()), "{text}");
        listeners.push((*text, listen(address).await));
    }
    let world = World::new(Arc::new(TcpDialer));
    let egress = world.egress(serde_json::json!({
        "endpoints": [{"scheme": "http", "host": "backend.example", "port": 8080}],
        "networks": {"allow": ["10.9.0.0/16"]},
    }));
    let call = get("http://backend.example:8080/");
    let mapped = FORBIDDEN.iter().filter(|text| text.contains('.')).map(|text| format!("::ffff:{text}"));
    for text in FORBIDDEN.iter().map(|text| (*text).to_owned()).chain(mapped) {
        for answer in [vec![text.as_str()], vec![ALLOWED, &text], vec![&text, ALLOWED]] {
            world.names.set("backend.example", vec![answer.iter().map(|text| text.parse().unwrap()).collect()]);
            let error = make(&egress, &call).await.unwrap_err();
            assert_eq!(word(&error), "Network", "{answer:?}");
        }
    }
    world.names.set("backend.example", vec![vec![ALLOWED.parse().unwrap()]]);
    make(&egress, &call).await.unwrap();
    for (text, connections) in listeners {
        assert_eq!(connections.load(Ordering::Relaxed), usize::from(text == ALLOWED), "connections at {text}");
    }
}

/// Counts the connections to port 8080 of an address, and answers each.
async fn listen(address: IpAddr) -> Arc<AtomicUsize> {
    let listener =
        tokio::net::TcpListener::bind((address, 8080)).await.unwrap_or_else(|error| panic!("{address}: {error}"));
    let count: Arc<AtomicUsize> = Arc::default();
    let counter = Arc::clone(&count);
    tokio::spawn(async move {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        while let Ok((mut stream, _)) = listener.accept().await {
            counter.fetch_add(1, Ordering::Relaxed);
            let _ = stream.read(&mut [0; 4096]).await;
            let _ = stream.write_all(&answer(200, "", "[]")).await;
        }
    });
    count
}
