//! Kubernetes' syntax errors: of every vector that does not parse, the first error's place and words; that every other one
//! parses, and prints to what parses again; how errors are rendered.
//!
//! Absent: check errors and values (the vectors' own harness).
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::result_large_err,
    unreachable_pub,
    reason = "tests fail by panicking"
)]
mod common;

use cel::{
    Env, Issue, Issues,
    library::Library,
    macros,
    source::{Span, position},
};
use serde_json::Value;

fn env(name: &str) -> Env {
    let mut all = vec![macros::standard(), macros::optional(), macros::two_variable(), macros::sort_by()];
    if matches!(name, "k8s+ext" | "celgo") {
        all.extend([macros::bind(), macros::math()]);
    }
    let macros = all.concat();
    Env::builder().library(Library { name: "macros", macros, ..Library::default() }).build()
}

/// The words before the set of expected tokens, which depends on ANTLR's tables.
fn gist(message: &str) -> &str {
    let gist = message.split(" expecting ").next().unwrap_or(message);
    gist.strip_prefix("Syntax error: ").unwrap_or(gist)
}

/// Every file of vectors.
fn files() -> Vec<Value> {
    common::shared("cel-vectors").map(|dir| common::json_files(&dir).into_values().collect()).unwrap_or_default()
}

/// The byte offset of a line and column.
fn offset(text: &str, line: usize, column: usize) -> u32 {
    let start: usize = text.split_inclusive('\n').take(line - 1).map(str::len).sum();
    let within: usize = text[start..].chars().take(column.saturating_sub(1)).map(char::len_utf8).sum();
    u32::try_from(start + within).unwrap()
}

#[test]
fn errors_are_rendered_as_kubernetes_prints_them() {
    for file in files() {
        for case in file["cases"].as_array().unwrap() {
            let text = case["expr"].as_str().unwrap();
            for phase in ["parse_error", "check"] {
                let expected = &case["expect"][phase];
                let (Some(errors), Some(rendered)) = (expected["errors"].as_array(), expected["text"].as_str()) else {
                    continue;
                };
                let issue = |error: &Value| {
                    let number = |field: &str| error[field].as_i64().and_then(|n| usize::try_from(n).ok());
                    let at = number("line").map(|line| offset(text, line, number("col").unwrap()));
                    Issue { span: Span::default(), at, message: error["msg"].as_str().unwrap().to_owned(), help: None }
                };
                if !rendered.contains("truncated") {
                    let issues = Issues { list: errors.iter().map(issue).collect(), omitted: 0 };
                    assert_eq!(issues.render(text), rendered, "{}", case["id"]);
                }
            }
        }
    }
}

#[test]
fn what_is_printed_parses_to_the_same_tree() {
    for file in files() {
        for case in file["cases"].as_array().unwrap() {
            let env = env("celgo").extend().escaped_identifiers(true).build();
            let Ok(ast) = env.parse(case["expr"].as_str().unwrap()) else { continue };
            let printed = ast.to_string();
            let again = env.parse(&printed).unwrap_or_else(|issues| panic!("{}: {printed}: {issues}", case["id"]));
            assert!(again.is_same(&ast), "{}: {printed}", case["id"]);
        }
    }
}

#[test]
fn the_first_error_is_kubernetes_own() {
    let mut failures = vec![];
    let mut cases = 0;
    for file in files() {
        for case in file["cases"].as_array().unwrap() {
            let text = case["expr"].as_str().unwrap();
            let fixture = &file["fixtures"][case["fixture"].as_str().unwrap_or_default()];
            let name = case["env"].as_str().or(fixture["env"].as_str()).unwrap_or_default();
            let parsed = env(name).parse(text);
            let expected = case["expect"]["parse_error"]["errors"].get(0);
            let agrees = match (&parsed, expected) {
                (Ok(_), None) => true,
                (Err(issues), Some(expected)) => {
                    let first = issues.list.first().unwrap();
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
                    let first = issues.list.into_iter().next().unwrap();
                    (first.at.map(|at| position(text, at)), first.message)
                });
                let text: String = text.chars().take(80).collect();
                failures.push(format!("{} {text:?}\n   ours {ours:?}\n   theirs {expected:?}", case["id"]));
            }
        }
    }
    assert!(failures.is_empty(), "{} of {cases} differ:\n{}", failures.len(), failures.join("\n"));
}
