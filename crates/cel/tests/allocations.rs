//! Evaluating a scalar expression allocates nothing. Alone in its binary, since the counter replaces the allocator.
//!
//! Absent: speed.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::result_large_err,
    unreachable_pub,
    reason = "tests fail by panicking"
)]
use cel::{Env, Type, Value, program::Options, value::Map};

#[track_caller]
fn check(text: &str, want: bool) {
    let env = Env::standard().variable("x", Type::Int).variable("s", Type::String).variable("o", Type::Dyn).build();
    let program = env.program(&env.compile(text).unwrap()).unwrap();
    let labels: Map = [("app", Value::from("web"))].into_iter().collect();
    let object: Map = [("size", Value::Int(20)), ("labels", Value::Map(labels))].into_iter().collect();
    let variables = [Some(Value::Int(7)), Some("abc".into()), Some(Value::Map(object))];
    // A pattern's first use makes its caches, which the program keeps.
    let _ = program.evaluate(variables.as_slice(), Options::default());
    let mut result = None;
    let used = allocation_counter::measure(|| {
        result = Some(program.evaluate(variables.as_slice(), Options::default()).result);
    });
    assert_eq!(result, Some(Ok(Value::Bool(want))), "{text}");
    assert_eq!(used.count_total, 0, "{text}");
}

#[test]
fn scalar_expressions_allocate_nothing() {
    check("x > 5 && s.startsWith('ab')", true);
    check("o.size > 10 && o.labels.app == 'web'", true);
    check("has(o.size) ? x * 2 + 1 == 15 : false", true);
    check("s in ['a', 'abc'] || s.size() > 100", true);
    check("s.matches('^a.c$') && !s.matches('b$')", true);
    check("s.endsWith('c') && s < 'b' && !(s == 'x')", true);
    check("['a', 'b'].exists(i, s.contains(i) && i != 'a')", true);
}
