//! The example of every function and macro is true, and each is documented.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::result_large_err,
    unreachable_pub,
    reason = "tests fail by panicking"
)]
use std::collections::BTreeSet;

use cel::{
    Env, Value,
    eval::{Halt, Host},
    library,
    program::Options,
};

/// Allows whatever is asked.
struct Anything;

impl Host for Anything {
    fn ask(&mut self, _: &Value) -> Result<Value, Halt> {
        Ok(library::decision(true, "", ""))
    }
}

#[test]
fn examples_are_true() {
    let env = library::all()
        .into_iter()
        .fold(Env::builder(), cel::EnvBuilder::library)
        .variable("authorizer", library::authorizer_type())
        .build();
    let variables = [Some(library::authorizer())];
    let mut failures = vec![];
    let macros = library::all().into_iter().flat_map(|library| library.macros).map(|known| (known.name, known.example));
    let functions = library::reference(&library::all()).into_iter().map(|entry| (entry.overload, entry.example));
    for (name, example) in functions.filter(|(_, example)| !example.is_empty()).chain(macros) {
        let outcome = env.compile(example).and_then(|checked| env.program(&checked)).map(|program| {
            let options = Options { budget: 1_000_000, host: Some(&mut Anything), ..Options::default() };
            program.evaluate(variables.as_slice(), options).result
        });
        if !matches!(outcome, Ok(Ok(Value::Bool(true)))) {
            failures.push(format!("{name} {example}: {outcome:?}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn functions_are_documented_once() {
    let mut ids = BTreeSet::new();
    for entry in library::reference(&library::all()) {
        assert!(ids.insert(entry.overload), "`{}` is there twice", entry.overload);
        assert!(entry.doc.ends_with('.'), "`{}` has no sentence: {:?}", entry.overload, entry.doc);
        assert!(!entry.cost.is_empty(), "`{}` has no price in words", entry.overload);
        assert!(
            !entry.example.is_empty() || entry.doc.starts_with("Always an error"),
            "`{}` has no example",
            entry.overload
        );
    }
    assert!(ids.len() > 250, "only {} overloads", ids.len());
    for known in library::all().into_iter().flat_map(|library| library.macros) {
        assert!(known.form.contains(known.name) && known.form.contains(" -> "), "`{}` has no form", known.name);
        assert!(known.doc.ends_with('.'), "`{}` has no sentence: {:?}", known.name, known.doc);
        assert!(known.example.contains(known.name), "`{}` is not in its example", known.name);
    }
}
