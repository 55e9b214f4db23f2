//! No function panics, whatever it is given: every implementation and every price with every combination of awkward values.
//! Nor does one do what is not counted: neither with values whose parts are shared, nor where the checker knows no types.
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
    Env, EnvBuilder, Type, Value,
    eval::Context,
    library::{self, Cost, Overload},
    program::Options,
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

/// 2^60 values, written out, of a few that share their parts.
fn shared(end: Value, link: fn(Value) -> Value) -> Value {
    (0..60).fold(end, |value, _| link(value))
}

fn shared_values() -> Vec<Value> {
    let list = |value: Value| Value::from(vec![value.clone(), value]);
    let map = |value: Value| {
        let mut map = MapBuilder::default();
        map.insert("a", value.clone());
        map.insert("b", value);
        Value::Map(map.build())
    };
    let one = |value: Value| Value::from(vec![value]);
    vec![
        shared(Value::Int(1), list),
        shared(Value::Int(1), list),
        shared(Value::from(vec![]), list),
        shared(Value::from(""), map),
        shared(Value::from(""), map),
        one(shared(Value::Int(1), list)),
        one(shared(Value::Int(1), map)),
        one(Value::some(shared(Value::Int(1), map))),
        "%s".into(),
    ]
}

/// Where one is walked over without being counted, this does not end.
#[test]
fn shared_parts_are_counted() {
    let run = || {
        let values = shared_values();
        for overload in library::all().iter().flat_map(|library| &library.functions).flat_map(|f| &f.overloads) {
            let seconds = if overload.params.len() < 2 { 1 } else { values.len() };
            for (a, b) in values.iter().flat_map(|a| values.iter().take(seconds).map(move |b| (a, b))) {
                let all = [a, b].into_iter().cycle().take(overload.params.len());
                if !all.clone().zip(&overload.params).all(|(value, ty)| fits(ty, value)) {
                    continue;
                }
                let args: Vec<Value> = all.cloned().collect();
                let mut context = Context::new(1_000_000, None);
                let result = (overload.implementation)(&mut context, &args);
                let _ = price(overload, &args, result.as_ref().ok());
            }
        }
        let (a, b) = (&values[0], &values[1]);
        assert!(a.equals(b).is_err(), "they are compared");
        assert!(a != b);
    };
    std::thread::Builder::new().stack_size(2 << 20).spawn(run).unwrap().join().unwrap();
}

fn price(overload: &Overload, args: &[Value], result: Option<&Value>) -> u64 {
    match overload.cost {
        Cost::Fixed(cost) => cost,
        Cost::Args(price) | Cost::ResolvedArgs(price) => price(args),
        Cost::Result(price) | Cost::ResolvedResult(price) => price(args, result),
    }
}

fn fits(ty: &Type, value: &Value) -> bool {
    match ty {
        Type::List(_) => matches!(value, Value::List(_)),
        Type::Map(..) => matches!(value, Value::Map(_)),
        Type::String => matches!(value, Value::String(_)),
        Type::Dyn | Type::Param(_) => true,
        _ => false,
    }
}

/// Kubernetes' model prices a call of which the checker knows no types at 1, and others at a constant. What they read is counted
/// all the same: a text, and what goes through a list.
#[test]
fn what_is_read_is_counted() {
    const SIZE: usize = 100_000;
    let text = Value::from("ab ".repeat(SIZE / 3).as_str());
    let long = |ty: &Type| match ty {
        Type::String => Some(text.clone()),
        Type::Bytes => Some(Value::Bytes(b"x".repeat(SIZE).into())),
        Type::List(element) if **element == Type::Int => Some(Value::from(vec![Value::Int(1); SIZE / 8])),
        Type::List(element) if **element == Type::String => Some(Value::from(vec![Value::from("a"); SIZE / 8])),
        _ => None,
    };
    let env = library::all().into_iter().fold(Env::builder(), EnvBuilder::library);
    let env = env.variable("a", Type::Dyn).variable("b", Type::Dyn).variable("c", Type::Dyn).build();
    let mut calls = 0;
    for function in env.functions() {
        for overload in &function.overloads {
            let receivers = match &overload.params[..] {
                [first, ..] if overload.params.len() <= 3 => long(first),
                _ => None,
            };
            let (Some(first), true) = (receivers, function.name.chars().all(|c| c.is_alphanumeric() || c == '.'))
            else {
                continue;
            };
            // A list's length and its ends are there at once.
            if matches!(overload.cost, Cost::Fixed(_)) && matches!(first, Value::List(_)) {
                continue;
            }
            let names = ["a", "b", "c"];
            let rest = names[1..overload.params.len()].join(", ");
            let call = match overload.member {
                true => format!("a.{}({rest})", function.name),
                false => format!("{}({})", function.name, names[..overload.params.len()].join(", ")),
            };
            let Ok(checked) = env.compile(&call) else { continue };
            let others = overload.params[1..].iter().map(|ty| match ty {
                Type::String => "a".into(),
                _ => Value::Int(1),
            });
            let variables: Vec<_> = [first].into_iter().chain(others).map(Some).collect();
            let options = Options { budget: u64::MAX, ..Options::default() };
            let evaluation = env.program(&checked).unwrap().evaluate(&variables[..], options);
            let counted = evaluation.work + 8 * evaluation.cost;
            assert!(counted >= SIZE as u64 / 8, "{call} ({}) counts {counted}", overload.id);
            calls += 1;
        }
    }
    assert!(calls > 60, "{calls} calls");
    for expression in [
        "a in {'a': 1}",
        "{'a': 1}[?a].hasValue()",
        "{a: 1} == {}",
        "a == b",
        "[a] == [b]",
        "a < b",
        "a in [b]",
        "{'k': a} == {'k': b}",
        "[a, b].sort() == []",
        "[a, b].distinct() == []",
        "sets.contains([a], [b])",
        "[a].indexOf(b) == 0",
        "optional.of(a) == optional.of(b)",
    ] {
        let variables = [Some(text.clone()), Some(Value::from(text.to_string()[1..=SIZE / 3 * 3].to_string())), None];
        let program = env.program(&env.compile(expression).unwrap()).unwrap();
        let evaluation = program.evaluate(&variables[..], Options::default());
        let counted = evaluation.work + 8 * evaluation.cost;
        assert!(counted >= SIZE as u64 / 10, "{expression} counts {counted}: {:?}", evaluation.result);
    }
}

/// All matches of a pattern may each take a look at the rest of the text.
#[test]
fn looking_ahead_is_counted() {
    let env = library::all().into_iter().fold(Env::builder(), EnvBuilder::library).variable("a", Type::String).build();
    let text = Value::from("ab".repeat(10_000).as_str());
    let outcome = |expression: &str| {
        let program = env.program(&env.compile(expression).unwrap()).unwrap();
        // A sixteenth of what an evaluation has, since this is slow.
        let options = Options { work: 4 << 20, ..Options::default() };
        let evaluation = program.evaluate(&[Some(text.clone())][..], options);
        (evaluation.result.is_ok(), evaluation.work)
    };
    for all in ["a.findAll(P)", "a.findAll(P + '')", "regex.extractAll(a, P)", "regex.replace(a, P, '')"] {
        assert!(!outcome(&all.replace('P', "'.*x|a|b'")).0, "{all}");
        assert!(!outcome(&all.replace('P', "'a.*x|a|b'")).0, "{all}");
        let (done, work) = outcome(&all.replace('P', "'a|b'"));
        assert!(done && work < 1_000_000, "{all} counts {work}");
    }
    assert!(outcome("a.findAll('a.*x|a', 100)").0);
}

/// What has a fixed price is counted too where it reads or makes much: parts of a URL that was read before, a list that is gone
/// through, digits.
#[test]
fn what_is_made_for_a_fixed_price_is_counted() {
    let env = library::all().into_iter().fold(Env::builder(), EnvBuilder::library);
    let env = env.variable("a", Type::String).variable("l", Type::list(Type::optional(Type::Int))).build();
    let url = format!("https://h/{}?{}", "a".repeat(50_000), "b=1&".repeat(12_500));
    let list = Value::from(vec![Value::Optional(None); 12_500]);
    let variables = [Some(url.as_str().into()), Some(list)];
    let work = |expression: &str| {
        let checked = env.compile(expression).unwrap_or_else(|issues| panic!("{expression}: {issues:?}"));
        let options = Options { budget: u64::MAX, ..Options::default() };
        let evaluation = env.program(&checked).unwrap().evaluate(&variables[..], options);
        evaluation.result.unwrap_or_else(|halt| panic!("{expression}: {halt:?}"));
        evaluation.work
    };
    let read = work("url(a)");
    assert!(read > 500_000 && work("isURL(a)") > 500_000, "{read}");
    for part in ["getEscapedPath", "getHost", "getHostname", "getPort", "getScheme", "getQuery"] {
        let whole = work(&format!("url(a).{part}()"));
        assert!(whole - read > 100_000, "{part}: {whole} after {read}");
    }
    assert!(work("l.unwrapOpt()") >= 100_000);
    assert!(work("'%f'.format([1.7e308])") >= 8 * 1024);
}
