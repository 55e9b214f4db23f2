//! What the conformance suites share: where the data lies, tables of results, base64.
//!
//! Absent: what a suite's cases look like.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]
#![allow(dead_code, reason = "each suite is a crate of its own and uses a part")]
use std::{collections::BTreeMap, path::PathBuf};

/// The directory of shared test data, or `None` (said loudly) where there is none.
pub(crate) fn shared(part: &str) -> Option<PathBuf> {
    let root = std::env::var_os("CELANDINE_SHARED")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")), PathBuf::from);
    let dir = root.join(part);
    if dir.is_dir() {
        return Some(dir);
    }
    eprintln!("SKIPPED: there is no {} (set CELANDINE_SHARED)", dir.display());
    None
}

/// The JSON files of a directory by their stem.
pub(crate) fn json_files(dir: &std::path::Path) -> BTreeMap<String, serde_json::Value> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "json") {
            let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
            files.insert(stem, json(&std::fs::read_to_string(&path).unwrap()));
        }
    }
    files
}

/// Holds `docs/conformance.md` to what a suite found: the part under its heading. `UPDATE_GOLDEN=1` writes it anew.
pub(crate) fn conformance(heading: &str, found: &str) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/conformance.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let from = page.find(heading).unwrap_or_else(|| panic!("docs/conformance.md has no {heading:?}")) + heading.len();
    let to = page[from..].find("\n## ").map_or(page.len(), |at| from + at);
    let expected = format!("\n\n{}\n", found.trim());
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, format!("{}{expected}{}", &page[..from], &page[to..])).unwrap();
        return;
    }
    let stale = page[from..to].lines().zip(expected.lines()).find(|(one, other)| one != other);
    assert!(
        page[from..to] == expected,
        "docs/conformance.md is stale: run with UPDATE_GOLDEN=1; first difference: {stale:?}"
    );
}

/// Expected values nest deeper than serde_json allows by itself.
fn json(text: &str) -> serde_json::Value {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    deserializer.disable_recursion_limit();
    serde::Deserialize::deserialize(&mut deserializer).unwrap()
}

/// Runs on a thread with the 2 MiB stack that the language promises to manage with.
pub(crate) fn on_small_stack(test: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(2 << 20).spawn(test).unwrap().join().unwrap();
}

pub(crate) fn base64(text: &str) -> Vec<u8> {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut out, mut bits, mut count) = (vec![], 0u32, 0);
    for byte in text.bytes().filter(|b| *b != b'=') {
        let six = ALPHABET.iter().position(|a| *a == byte).unwrap();
        bits = bits << 6 | u32::try_from(six).unwrap();
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count & 0xff) as u8);
        }
    }
    out
}
