//! Rules of the code base that are tests: arrows point inward, every file says what it owns, nothing banned is in the tree.
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
    path::{Path, PathBuf},
};

/// Layer, and the layers of this crate that it may name besides itself. From the design: main -> cli -> server ->
/// storage -> {engine, api}; engine and api do not know each other.
const ARROWS: [(&str, &[&str]); 5] = [
    ("cli", &["server", "storage", "engine", "api"]),
    ("server", &["storage", "engine", "api"]),
    ("storage", &["engine", "api"]),
    ("engine", &[]),
    ("api", &[]),
];

/// What a layer says is absent from it.
const ABSENT: [(&str, &[&str]); 2] = [
    (
        "src/engine",
        &[
            "tokio",
            "std::fs",
            "std::net::Tcp",
            "ToSocketAddrs",
            "std::time",
            "std::thread",
            "async fn",
            ".await",
            "k8s_openapi",
            "kube::",
        ],
    ),
    (
        "crates/cel/src",
        &[
            "tokio",
            "std::fs",
            "std::net::Tcp",
            "ToSocketAddrs",
            "Instant::now",
            "SystemTime",
            "std::thread",
            "async fn",
            ".await",
            "kube::",
        ],
    ),
];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Whether a file is a module's tests.
fn is_test(file: &str) -> bool {
    file.ends_with("/tests.rs") || file.contains("/tests/")
}

/// All Rust files below a folder, with their text; none where there is no such folder.
fn sources(below: &str) -> Vec<(String, String)> {
    fn walk(path: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(path).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|e| e == "rs") {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    walk(&root().join(below), &mut found);
    found.sort();
    let name = |path: &Path| path.strip_prefix(root()).unwrap().display().to_string();
    found.into_iter().map(|path| (name(&path), fs::read_to_string(&path).unwrap())).collect()
}

/// The text without comment lines, and without the tests at its end.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests").next().unwrap_or(text);
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// The layers of this crate that a text names: `crate::storage`, and `crate::{storage::..., ...}`.
fn layers_named(text: &str) -> Vec<&'static str> {
    let flat: String = code(text).split_whitespace().collect();
    let names = |layer: &&str| {
        let direct = format!("crate::{layer}");
        let ends = |after: &str| !after.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        flat.match_indices(&direct).any(|(i, m)| ends(&flat[i + m.len()..]))
            || flat.match_indices("crate::{").any(|(i, m)| {
                let items = group(&flat[i + m.len()..]);
                items.iter().any(|item| item == *layer || item.starts_with(&format!("{layer}::")))
            })
    };
    ARROWS.iter().map(|(layer, _)| *layer).filter(names).collect()
}

/// The items of a `{...}` group at its top level.
fn group(text: &str) -> Vec<String> {
    let mut depth = 0_usize;
    let mut items = vec![String::new()];
    for c in text.chars() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                items.push(String::new());
                continue;
            }
            _ => {}
        }
        items.last_mut().unwrap().push(c);
    }
    items
}

#[test]
fn layers_are_found_in_every_form_of_use() {
    assert_eq!(layers_named("use crate::storage::x;"), ["storage"]);
    assert_eq!(layers_named("use crate::{\n    api,\n    engine::{plan::Plan, x},\n};"), ["engine", "api"]);
    assert_eq!(layers_named("fn f(x: crate::server::X) {}\n// crate::cli"), ["server"]);
    assert_eq!(layers_named("// crate::cli\nuse crate::apiary;"), [""; 0]);
}

#[test]
fn arrows_point_inward() {
    let mut wrong = Vec::new();
    for (layer, allowed) in ARROWS {
        let mut files = sources(&format!("src/{layer}"));
        let map = format!("src/{layer}.rs");
        files.push((map.clone(), fs::read_to_string(root().join(&map)).unwrap()));
        for (file, text) in files.into_iter().filter(|(file, _)| !is_test(file)) {
            let named = layers_named(&text).into_iter().filter(|named| *named != layer && !allowed.contains(named));
            wrong.extend(named.map(|named| format!("{file} names `{named}`")));
        }
    }
    assert!(wrong.is_empty(), "arrows that point outward:\n{}", wrong.join("\n"));
}

#[test]
fn layers_do_without_what_they_say_is_absent() {
    let mut wrong = Vec::new();
    for (below, absent) in ABSENT {
        for (file, text) in sources(below).into_iter().filter(|(file, _)| !is_test(file)) {
            let code = code(&text);
            let named = absent.iter().filter(|word| code.contains(**word));
            wrong.extend(named.map(|word| format!("{file} names `{word}`")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_file_says_what_it_owns() {
    let folders = ["src", "crates/cel/src", "tests", "crates/cel/tests", "benches", "fuzz/fuzz_targets"];
    let files = folders.map(sources).concat();
    let headless: Vec<_> = files.iter().filter(|(_, text)| !text.starts_with("//!")).map(|(file, _)| file).collect();
    assert!(headless.is_empty(), "files without a `//!` header: {headless:#?}");
}

#[test]
fn main_contains_nothing_interesting() {
    let main = fs::read_to_string(root().join("src/main.rs")).unwrap();
    assert!(main.lines().count() <= 18, "main is longer than 18 lines");
}

#[test]
fn nothing_banned_is_in_the_lock_file() {
    let deny = fs::read_to_string(root().join("deny.toml")).unwrap();
    let lock = fs::read_to_string(root().join("Cargo.lock")).unwrap();
    let names = deny.lines().filter_map(|line| line.trim().strip_prefix("{ crate = \"")?.split('"').next());
    let banned: Vec<&str> = names.collect();
    assert!(banned.len() > 3, "deny.toml lists what is banned, one a line");
    let present: Vec<_> = banned.iter().filter(|name| lock.contains(&format!("name = \"{name}\"\n"))).collect();
    assert!(present.is_empty(), "banned crates in Cargo.lock: {present:?}");
}
