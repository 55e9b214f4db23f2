//! Patterns mean what they mean to Go, and cannot be made to take time or memory out of proportion: what compiling takes is
//! counted before it is done.
//!
//! `patterns/go.jsonl` is what Go 1.26's `regexp` said of generated patterns: what it refuses, and what it finds in the texts of
//! [`TEXTS`]. Absent: where we differ on purpose (DIVERGENCES.md).
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

use std::sync::LazyLock;

use cel::{
    Env, EnvBuilder, Evaluation, Issues, Type, Value,
    eval::{ErrorKind, Halt},
    library,
    program::Options,
};

static ENV: LazyLock<Env> = LazyLock::new(|| {
    let libraries = library::kubernetes().into_iter().chain([library::regex()]);
    libraries.fold(Env::builder().lenient(true), EnvBuilder::library).variable("p", Type::String).build()
});

fn evaluate(expression: &str, pattern: &str) -> Result<Evaluation, Issues> {
    let program = ENV.program(&ENV.compile(expression)?)?;
    Ok(program.evaluate(&[Some(Value::from(pattern))][..], Options::default()))
}

#[track_caller]
fn exceeds(expression: &str) {
    match evaluate(expression, "").unwrap().result {
        Err(Halt::Error(error)) => assert_eq!(error.kind, ErrorKind::CostExceeded, "{expression}"),
        other => panic!("{expression}: {other:?}"),
    }
}

#[track_caller]
fn too_large(pattern: &str) {
    let start: String = pattern.chars().take(100).collect();
    let rest = if start.len() < pattern.len() { "..." } else { "" };
    let want = format!("error parsing regexp: expression too large: `{start}{rest}`");
    match evaluate("'a'.matches(p)", pattern).unwrap().result {
        Err(Halt::Error(error)) => assert_eq!(error.message, want),
        other => panic!("{start}: {other:?}"),
    }
}

#[track_caller]
fn is_taken(pattern: &str) {
    let result = evaluate("'a'.matches(p)", pattern).unwrap().result;
    assert_eq!(result, Ok(Value::Bool(true)), "{pattern}");
}

#[test]
fn patterns_of_people_are_taken() {
    is_taken("^\\p{L}{1,63}$");
    is_taken("(?i)^[\\p{L}\\p{N}_.-]{1,63}$");
    is_taken("^.{1,1000}$");
    is_taken("^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$");
    is_taken(&format!("^({})$", (0..2000).map(|i| format!("name-{i}|")).collect::<String>() + "a"));
}

#[test]
fn what_would_take_long_is_refused() {
    too_large("\\pL{1000}");
    too_large(&"\\pL".repeat(1000));
    too_large(&format!("(?i){}", "\\p{Any}".repeat(100)));
    too_large(&format!("(?i){}", "[\\x{80}-\\x{10FFFF}]".repeat(100)));
    too_large(&"[^\\x{100}-\\x{200}]{900}".repeat(100));
}

#[test]
fn computed_patterns_share_the_work_of_an_evaluation() {
    exceeds("lists.range(1000).all(i, !'1'.matches('\\\\pL{40}' + string(i)))");
    exceeds("lists.range(1000).all(i, '1'.find('\\\\pL{40}' + string(i)) == '')");
    exceeds("lists.range(1000).all(i, '1'.findAll('\\\\pL{40}' + string(i)) == [])");
    exceeds("lists.range(1000).all(i, regex.replace('1', '\\\\pL{40}' + string(i), '') == '1')");
    exceeds("lists.range(1000).all(i, regex.extractAll('1', '\\\\pL{40}' + string(i)) == [])");
}

/// Whether the process met a pattern before makes no difference, and one is counted once.
#[test]
fn work_is_the_same_each_time() {
    let all = "lists.range(1000).all(i, 'é'.matches(p))";
    let one = evaluate("'é'.matches(p)", "^[é\\pN]{1,20}$").unwrap();
    let (first, second) = (evaluate(all, "^[é\\pN]{1,20}$").unwrap(), evaluate(all, "^[é\\pN]{1,20}$").unwrap());
    assert_eq!(first.result, Ok(Value::Bool(true)));
    assert_eq!(first.work, second.work);
    assert!(one.work > 10_000 && first.work < 2 * one.work + 10_000, "{} {}", one.work, first.work);
}

/// What is written in an expression is compiled when it is planned, all of it within one effort.
#[test]
fn constant_patterns_share_the_effort_of_an_expression() {
    let matches = |count: usize| {
        let one = |i| format!("'1'.matches('\\\\pL{{40}}{i}')");
        evaluate(&(0..count).map(one).collect::<Vec<_>>().join(" || "), "")
    };
    assert_eq!(matches(5).unwrap().result, Ok(Value::Bool(false)));
    assert!(matches(500).unwrap_err().to_string().contains("expression too large"));
}

#[test]
fn groups_nest_on_a_small_stack() {
    common::on_small_stack(|| {
        is_taken(&format!("{}a{}", "(".repeat(98), ")".repeat(98)));
        is_taken(&format!("{}a{}", "(?:b|(?:".repeat(15), ")?c?)".repeat(15)));
        let deep = format!("{}a{}", "(".repeat(50_000), ")".repeat(50_000));
        match evaluate("'a'.matches(p)", &deep).unwrap().result {
            Err(Halt::Error(error)) => assert!(error.message.contains("expression nests too deeply"), "{error}"),
            other => panic!("{other:?}"),
        }
    });
}

/// What the patterns of `patterns/go.jsonl` were tried on. Where nothing is found, the text is not listed there.
const TEXTS: &[&str] = &[
    "a", "b", "é", "K", "\u{212a}", "s", "\u{17f}", "1", "٣", "_", "-", " ", "\n", "\u{a0}", "😀", ".", "*", "&", "~",
    "<a>", "[", "]", "{", "ab", "aab", "a&b", "é b", "foo bar", "AB", "\u{391}", "ς", "Ⅷ", "x41", "a{,2}",
];

#[test]
fn patterns_mean_what_they_mean_to_go() {
    let program = ENV.extend().variable("t", Type::String).build();
    let program = program.program(&program.compile("t.findAll(p)").unwrap()).unwrap();
    let mut count = 0;
    for line in include_str!("patterns/go.jsonl").lines() {
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        let pattern = case["pattern"].as_str().unwrap();
        let compiled = cel::pattern::Pattern::new(pattern).map(drop);
        let error = case["error"].as_str().map(str::to_owned);
        assert_eq!(compiled.err(), error, "{pattern}");
        count += 1;
        if error.is_some() {
            continue;
        }
        for text in TEXTS {
            let want = case["finds"][text].as_array().map_or(&[][..], Vec::as_slice);
            let want: Vec<Value> = want.iter().map(|part| Value::from(part.as_str().unwrap())).collect();
            let variables = [Some(Value::from(pattern)), Some(Value::from(*text))];
            let got = program.evaluate(&variables[..], Options::default()).result;
            assert_eq!(got, Ok(Value::from(want)), "{pattern} in {text:?}");
        }
    }
    assert!(count > 1000, "only {count} patterns");
}
