//! The language over all its areas, as a reader would try it: `language/*.txt` hold an expression a line, what it gives and
//! what that costs.
//!
//! ```text
//! 1 + 2 => 3 (cost 1)
//! 1 / 0 => error: division by zero (cost 1)
//! 1 + 'a' => refused: found no matching overload for '_+_' applied to '(int, string)'
//! ```
//!
//! `UPDATE_GOLDEN=1` writes what comes out; the difference is to be reviewed.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::result_large_err,
    unreachable_pub,
    reason = "tests fail by panicking"
)]
use std::{fmt::Write, path::Path};

use cel::{Env, Type, Value, eval::Halt, library, program::Options, value::MapBuilder};

/// As Kubernetes has it, and what cel-go has besides; `x` is 3, `s` is `text`, `l` is `[3, 1, 2]`, `m` is `{'a': 1, 'b': null}`.
fn environment() -> (Env, Vec<Option<Value>>) {
    let beyond = [library::math(), library::encoders(), library::bindings(), library::regex()];
    let libraries = library::kubernetes().into_iter().chain(beyond);
    let env = libraries.fold(Env::builder(), cel::EnvBuilder::library);
    let env = env
        .variable("x", Type::Int)
        .variable("s", Type::String)
        .variable("l", Type::list(Type::Int))
        .variable("m", Type::Dyn);
    let mut map = MapBuilder::default();
    map.insert("a", Value::Int(1));
    map.insert("b", Value::Null);
    let list = [3, 1, 2].map(Value::Int).to_vec();
    (
        env.build(),
        vec![Some(Value::Int(3)), Some("text".into()), Some(Value::List(list.into())), Some(Value::Map(map.build()))],
    )
}

fn outcome(env: &Env, variables: &[Option<Value>], text: &str) -> String {
    let program = match env.compile(text).and_then(|checked| env.program(&checked)) {
        Ok(program) => program,
        Err(issues) => return format!("refused: {issues}"),
    };
    let evaluation = program.evaluate(variables, Options { budget: 1_000_000, ..Options::default() });
    let result = match evaluation.result {
        Ok(value) => value.to_string(),
        Err(Halt::Error(error)) => format!("error: {}", error.message),
        Err(Halt::Unknown(_)) => "unknown".to_string(),
    };
    format!("{result} (cost {})", evaluation.cost)
}

#[test]
fn expressions_give_what_is_written() {
    let (env, variables) = environment();
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/language");
    let (mut count, mut failures) = (0, vec![]);
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let mut written = String::new();
        for line in text.lines() {
            if line.is_empty() || line.starts_with('#') {
                let _ = writeln!(written, "{line}");
                continue;
            }
            let (expression, want) = line.split_once(" => ").unwrap_or((line, ""));
            let got = outcome(&env, &variables, expression);
            if got != want {
                failures.push(format!("{}: {expression}\n  got  {got}\n  want {want}", path.display()));
            }
            let _ = writeln!(written, "{expression} => {got}");
            count += 1;
        }
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(&path, written).unwrap();
            failures.clear();
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(count > 200, "only {count} expressions");
}
