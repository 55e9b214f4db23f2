//! No function panics, whatever it is given: every implementation and every price with every combination of awkward values.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::result_large_err,
    unreachable_pub,
    reason = "tests fail by panicking"
)]
use cel::{
    Value,
    eval::Context,
    library::{self, Cost},
    value::{MapBuilder, Timestamp},
};

/// Values at the edges of their types, and of each type one.
fn awkward() -> Vec<Value> {
    let mut map = MapBuilder::default();
    map.insert("a", Value::Int(1));
    let texts = [
        "",
        "a",
        "%",
        "%.9s %d",
        "\\",
        "(",
        "é😀é",
        "+1:-1",
        "1e2147483647",
        "-9223372036854775808",
        "::1",
        "[::1]:1",
        "0001-01-01T00:00:00Z",
    ];
    let mut values: Vec<Value> = texts.into_iter().map(Value::from).collect();
    values.extend([i64::MIN, -1, 0, 1, 63, i64::MAX].map(Value::Int));
    values.extend([0, u64::MAX].map(Value::Uint));
    values.extend([f64::NAN, f64::NEG_INFINITY, -0.0, 1.5, f64::MAX].map(Value::Double));
    values.extend([i64::MIN, i64::MAX].map(Value::Duration));
    let time = |seconds, offset_minutes| Value::Timestamp(Timestamp { seconds, nanos: 999_999_999, offset_minutes });
    values.extend([time(-62_135_596_800, -840), time(253_402_300_799, 840)]);
    values.extend([
        Value::Null,
        Value::Bool(true),
        Value::NONE,
        Value::some(Value::Int(1)),
        Value::Bytes([0xff].into()),
    ]);
    values.push(Value::List(vec![Value::Int(i64::MAX), "b".into(), Value::Null, Value::Double(f64::NAN)].into()));
    values.push(Value::List(vec![Value::Int(i64::MAX), Value::Int(1)].into()));
    values.push(Value::List(vec![].into()));
    values.push(Value::Map(map.build()));
    values.push(library::authorizer());
    values.push(library::request_resource("", "", "", "", ""));
    let nested = (0..300).fold(Value::Int(1), |value, _| Value::List(vec![value].into()));
    values.push(nested);
    for make in ["quantity", "ip", "cidr", "url", "semver"] {
        let text = ["1e-9", "::1", "10.0.0.0/0", "/", "18446744073709551615.0.0-a.1"];
        values.extend(text.into_iter().filter_map(|text| called(make, text)));
    }
    values
}

/// A library's value.
fn called(function: &str, text: &str) -> Option<Value> {
    let libraries = library::all();
    let functions = libraries.iter().flat_map(|library| &library.functions);
    let found = functions
        .into_iter()
        .filter(|f| &*f.name == function)
        .flat_map(|f| &f.overloads)
        .find(|o| o.params.len() == 1)?;
    (found.implementation)(&mut Context::new(u64::MAX, None), &[text.into()]).ok()
}

fn run() {
    let values = awkward();
    for library in library::all() {
        for function in &library.functions {
            for overload in &function.overloads {
                let arity = overload.params.len();
                // With more than two arguments, the others follow from the first two.
                for (i, a) in values.iter().enumerate() {
                    for (j, b) in values.iter().enumerate().take(if arity < 2 { 1 } else { values.len() }) {
                        let rest = (2..arity).map(|k| values[(i * 7 + j * 3 + k * 5) % values.len()].clone());
                        let args: Vec<Value> = [a.clone(), b.clone()].into_iter().take(arity).chain(rest).collect();
                        let mut context = Context::new(100_000, None);
                        let result = (overload.implementation)(&mut context, &args);
                        let _ = match overload.cost {
                            Cost::Fixed(cost) => cost,
                            Cost::Args(price) | Cost::ResolvedArgs(price) => price(&args),
                            Cost::Result(price) | Cost::ResolvedResult(price) => price(&args, result.as_ref().ok()),
                        };
                    }
                }
            }
        }
    }
}

#[test]
fn functions_do_not_panic() {
    std::thread::Builder::new().stack_size(2 << 20).spawn(run).unwrap().join().unwrap();
}
