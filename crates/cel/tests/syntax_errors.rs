//! Kubernetes' syntax errors: of every vector that does not parse, the first error's place and words; and that every other
//! one parses.
//!
//! Absent: check errors and values (the vectors' own harness).
use std::{fs, path::PathBuf};

use cel::{Env, library::Library, macros, source::position};
use serde_json::Value;

/// Where the vectors are, if this checkout has them.
fn vectors() -> Option<PathBuf> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared");
    let shared = std::env::var_os("CELANDINE_SHARED").map_or_else(|| PathBuf::from(beside), PathBuf::from);
    let vectors = shared.join("cel-vectors");
    vectors.is_dir().then_some(vectors)
}

fn env(name: &str) -> Env {
    let mut all = vec![macros::standard(), macros::optional(), macros::two_variable(), macros::sort_by()];
    if matches!(name, "k8s+ext" | "celgo") {
        all.extend([macros::bind(), macros::math()]);
    }
    let macros = all.concat();
    Env::builder().library(Library { name: "macros", macros, ..Library::default() }).build()
}

/// Expected values nest deeper than serde_json allows by itself.
fn json(text: &str) -> Value {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    deserializer.disable_recursion_limit();
    serde::Deserialize::deserialize(&mut deserializer).unwrap()
}

/// The words before the set of expected tokens, which depends on ANTLR's tables.
fn gist(message: &str) -> &str {
    let gist = message.split(" expecting ").next().unwrap_or(message);
    gist.strip_prefix("Syntax error: ").unwrap_or(gist)
}

#[test]
fn the_first_error_is_kubernetes_own() {
    let Some(vectors) = vectors() else {
        eprintln!("SKIPPED: no cel-vectors beside the repository; set CELANDINE_SHARED");
        return;
    };
    let mut failures = vec![];
    let mut cases = 0;
    for entry in fs::read_dir(vectors).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let file = json(&fs::read_to_string(&path).unwrap());
        for case in file["cases"].as_array().unwrap() {
            let text = case["expr"].as_str().unwrap();
            let fixture = &file["fixtures"][case["fixture"].as_str().unwrap_or_default()];
            let name = case["env"].as_str().or(fixture["env"].as_str()).unwrap_or_default();
            let parsed = env(name).parse(text);
            let expected = case["expect"]["parse_error"]["errors"].get(0);
            let agrees = match (&parsed, expected) {
                (Ok(_), None) => true,
                (Err(issues), Some(expected)) => {
                    let first = issues.0.first().unwrap();
                    let place = first.at.map_or((-1, 0), |at| {
                        let position = position(text, at);
                        (i64::from(position.line), i64::from(position.column))
                    });
                    place == (expected["line"].as_i64().unwrap(), expected["col"].as_i64().unwrap())
                        && gist(&first.message) == gist(expected["msg"].as_str().unwrap())
                }
                _ => false,
            };
            cases += 1;
            if !agrees {
                let ours = parsed.err().map(|issues| {
                    let first = issues.0.into_iter().next().unwrap();
                    (first.at.map(|at| position(text, at)), first.message)
                });
                let text: String = text.chars().take(80).collect();
                failures.push(format!("{} {text:?}\n   ours {ours:?}\n   theirs {expected:?}", case["id"]));
            }
        }
    }
    assert!(failures.is_empty(), "{} of {cases} differ:\n{}", failures.len(), failures.join("\n"));
}
