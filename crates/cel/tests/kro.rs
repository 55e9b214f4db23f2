//! What kro's functions give and refuse, and that they stay within the budget.
//!
//! Absent: their examples (examples).
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
    Env, EnvBuilder, Evaluation, Type, Value,
    eval::{ErrorKind, Halt},
    library,
    program::Options,
};

static ENV: LazyLock<Env> = LazyLock::new(|| {
    let libraries = library::kubernetes().into_iter().chain(library::kro()).chain([library::encoders()]);
    libraries.fold(Env::builder().lenient(true), EnvBuilder::library).variable("x", Type::Dyn).build()
});

fn evaluate(expression: &str, x: Value) -> Evaluation {
    let program = ENV.compile(expression).and_then(|checked| ENV.program(&checked));
    program.unwrap_or_else(|issues| panic!("{expression}: {issues}")).evaluate(&[Some(x)][..], Options::default())
}

#[track_caller]
fn gives(expression: &str, want: &str) {
    let result = evaluate(expression, Value::Null).result;
    assert_eq!(result.map(|value| value.to_string()), Ok(want.to_string()), "{expression}");
}

#[track_caller]
fn writes(expression: &str, want: &str) {
    let result = evaluate(&format!("json.marshal({expression})"), Value::Null).result;
    assert_eq!(result, Ok(Value::from(want)), "{expression}");
}

#[track_caller]
fn fails(expression: &str, want: &str) {
    match evaluate(expression, Value::Null).result {
        Err(Halt::Error(error)) => assert_eq!(error.message, want, "{expression}"),
        other => panic!("{expression}: {other:?}"),
    }
}

/// Go's `encoding/json` writes the same.
#[test]
fn json_is_canonical() {
    writes("{'b': 1, 'a': {'d': [true, null], 'c': 'x'}, 'B': 2u}", r#"{"B":2,"a":{"c":"x","d":[true,null]},"b":1}"#);
    writes(
        "[1.0, 0.1, 1e20, 1e21, 1.5e300, 1e-6, 1e-7, -0.0]",
        "[1,0.1,100000000000000000000,1e+21,1.5e+300,0.000001,1e-7,-0]",
    );
    writes(
        "[9223372036854775807, -9223372036854775808, 18446744073709551615u]",
        "[9223372036854775807,-9223372036854775808,18446744073709551615]",
    );
    writes(r#"'"\\/<&>\u2028\b\f\n\r\t\u0001é😀'"#, r#""\"\\/\u003c\u0026\u003e\u2028\b\f\n\r\t\u0001é😀""#);
    writes(
        "[b'\\xff\\x00', timestamp('2024-01-02T03:04:05.5Z'), duration('90s')]",
        r#"["/wA=","2024-01-02T03:04:05.5Z","90s"]"#,
    );
    writes("[quantity('1500m'), ip('10.0.0.1')]", r#"["1500m","10.0.0.1"]"#);
    writes("{'a': optional.of(1), 'b': optional.none()}", r#"{"a":1}"#);
    writes("{'\\uE000': 1, '😀': 2}", "{\"\u{E000}\":1,\"😀\":2}");
}

#[test]
fn json_refuses_what_it_cannot_hold() {
    fails("json.marshal([0.0 / 0.0])", "json.marshal failed to convert value: unsupported value: NaN");
    fails("json.marshal(-1.0 / 0.0)", "json.marshal failed to convert value: unsupported value: -Inf");
    fails("json.marshal({1: 'a'})", "json.marshal failed to convert value: map key must be string, got int");
    fails("json.marshal([optional.none()])", "json.marshal failed to convert value: an absent optional has no value");
    fails("json.marshal(type(1))", "json.marshal failed to convert value: unsupported type: type");
    fails("json.marshal(x.y)", "no such key: y");
}

#[test]
fn json_is_read_with_its_types() {
    gives(
        r#"json.unmarshal('{"a": [1, -0, 1.0, 1e2, "\\u00e9\\ud83d\\ude00"], "b": {}}')"#,
        r#"{"a": [1, -0.0, 1.0, 100.0, "é😀"], "b": {}}"#,
    );
    gives(
        "json.unmarshal('[9223372036854775807, 9223372036854775808]')",
        "[9223372036854775807, 9.223372036854776e18]",
    );
    gives("json.unmarshal(' null ')", "null");
    gives("json.unmarshal(json.marshal({'a': [1, 'x', 2.5]})) == {'a': [1, 'x', 2.5]}", "true");
}

#[test]
fn what_is_no_json_is_refused() {
    let because = |text: &str, why: &str| {
        fails(&format!("json.unmarshal('{text}')"), &format!("json.unmarshal failed to parse JSON: {why}"));
    };
    because("", "EOF while parsing a value at line 1 column 0");
    because("{} x", "trailing characters at line 1 column 4");
    because("[1,]", "trailing comma at line 1 column 4");
    because("01", "invalid number at line 1 column 2");
    because("NaN", "expected value at line 1 column 1");
    because("1e999", "number out of range at line 1 column 5");
    because(r#"{"a": {"b": 1, "b": 2}}"#, r#"key "a.b" is repeated"#);
    because(&format!("{}{}", "[".repeat(1000), "]".repeat(1000)), "value nests too deeply at line 1 column 251");
}

#[test]
fn nesting_is_bounded() {
    common::on_small_stack(|| {
        let nested = |levels: usize| {
            let text = format!("{}{}", r#"{"a":["#.repeat(levels / 2), "]}".repeat(levels / 2));
            evaluate("json.marshal(json.unmarshal(x)) == x", text.into()).result
        };
        assert_eq!(nested(248), Ok(Value::Bool(true)));
        assert!(matches!(nested(260), Err(Halt::Error(error)) if error.kind == ErrorKind::InvalidArgument));
        let deep = (0..100_000).fold(Value::Null, |inner, _| vec![inner].into());
        too_deep("json.marshal(x)", deep);
        let deep =
            |leaf: &str| (0..100_000).fold(Value::from(leaf), |v, _| Value::Map([("a", v)].into_iter().collect()));
        let both = Value::Map([("l", deep("x")), ("r", deep("y"))].into_iter().collect());
        too_deep("x.l.deepMerge(x.r)", both);
    });
}

#[track_caller]
fn too_deep(expression: &str, x: Value) {
    match evaluate(expression, x).result {
        Err(Halt::Error(error)) => assert_eq!(error.kind, ErrorKind::TooDeep, "{expression}"),
        other => panic!("{expression}: {}", other.is_ok()),
    }
}

/// A small text must not become a large value or text for free.
#[test]
fn sizes_are_charged_before_they_are_there() {
    let over = |expression: &str, x: Value| match evaluate(expression, x).result {
        Err(Halt::Error(error)) => assert_eq!(error.kind, ErrorKind::CostExceeded, "{expression}"),
        other => panic!("{expression}: {}", other.is_ok()),
    };
    let long: Value = "x".repeat(11_000_000).into();
    over("json.marshal(x)", long.clone());
    over("json.unmarshal(x)", long.clone());
    over("hash.sha256(x)", long);
    let shared = (0..40).fold(Value::from("y"), |v, _| vec![v.clone(), v].into());
    over("json.marshal(x)", shared);
    over("json.unmarshal(x)", format!("[{}1]", "1,".repeat(4_000_000)).into());
    let many: Value = vec![Value::Int(1); 1_000_000].into();
    over("lists.insertAtIndex(x, 0, 1).size()", many);
}

#[test]
fn prices_are_in_proportion() {
    let cost = |expression: &str, x: Value| evaluate(expression, x).cost;
    assert_eq!(cost("json.marshal(x)", "y".repeat(98).into()), 1 + 1 + 10);
    assert_eq!(cost("json.unmarshal(x)", "[1]".into()), 1 + 1 + 1);
    assert_eq!(cost("hash.md5(x)", "y".repeat(100).into()), 1 + 1 + 10);
    assert_eq!(cost("lists.removeAtIndex(x, 0)", vec![Value::Int(1); 5].into()), 1 + 11 + 4);
    assert_eq!(cost("x.merge(x)", Value::Map([("a", Value::Null)].into_iter().collect())), 1 + 1 + 31 + 2);
}

#[test]
fn lists_are_changed_at_an_index() {
    gives("lists.setAtIndex(['a', 'b', 'c'], 0, 'z')", r#"["z", "b", "c"]"#);
    gives("lists.insertAtIndex([1, 2], 0, 9)", "[9, 1, 2]");
    gives("lists.insertAtIndex([], 0, 9)", "[9]");
    gives("lists.removeAtIndex([1], 0)", "[]");
    fails("lists.setAtIndex([1, 2, 3], 3, 9)", "lists.setAtIndex: index 3 out of bounds [0, 3)");
    fails("lists.insertAtIndex([1, 2, 3], 4, 9)", "lists.insertAtIndex: index 4 out of bounds [0, 3]");
    fails("lists.removeAtIndex([], -1)", "lists.removeAtIndex: index -1 out of bounds [0, 0)");
}

#[test]
fn maps_are_merged() {
    gives("{}.merge({'a': 1})", r#"{"a": 1}"#);
    gives("{'b': 1, 'a': 1}.merge({'c': 3, 'b': 2})", r#"{"b": 2, "a": 1, "c": 3}"#);
    gives("{1: 'a'}.merge({2: 'b'})", r#"{1: "a", 2: "b"}"#);
    gives("{'a': {'x': 1, 'y': [1]}}.deepMerge({'a': {'y': [2], 'z': 3}})", r#"{"a": {"x": 1, "y": [2], "z": 3}}"#);
    gives("{'a': {'x': 1}}.merge({'a': {'y': 1}})", r#"{"a": {"y": 1}}"#);
    fails("x.merge({'a': 1})", "no such overload: merge(null_type, map)");
}

#[test]
fn types_are_checked() {
    for (expression, words) in [
        ("{'a': 1}.merge({'a': 'b'})", "found no matching overload for 'merge'"),
        ("lists.setAtIndex([1], 0, 'a') ", "found no matching overload for 'lists.setAtIndex'"),
        ("hash.sha256(b'a')", "found no matching overload for 'hash.sha256'"),
        ("json.unmarshal(1)", "found no matching overload for 'json.unmarshal'"),
    ] {
        let issues = ENV.compile(expression).map(|checked| checked.result_type().to_string()).unwrap_err();
        assert!(issues.to_string().contains(words), "{expression}: {issues}");
    }
}
