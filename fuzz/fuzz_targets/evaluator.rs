//! Expressions made from a grammar: checking and evaluating never panics, stops at the budget, and an accepted expression
//! raises no type error at run time.
#![no_main]

use std::{fmt::Write as _, sync::LazyLock};

use arbitrary::{Arbitrary, Unstructured};
use cel::{
    Env, Type, Value,
    eval::{ErrorKind, Halt},
    program::Options,
};
use libfuzzer_sys::fuzz_target;

/// Enough to run away, little enough for many runs a second.
const BUDGET: u64 = 20_000;

static ENV: LazyLock<Env> = LazyLock::new(|| {
    let env = cel::library::all().into_iter().fold(Env::builder(), cel::EnvBuilder::library);
    env.variable("i", Type::Int)
        .variable("u", Type::Uint)
        .variable("d", Type::Double)
        .variable("s", Type::String)
        .variable("b", Type::Bytes)
        .variable("t", Type::Timestamp)
        .variable("l", Type::list(Type::Int))
        .variable("m", Type::map(Type::String, Type::Int))
        .variable("o", Type::optional(Type::Int))
        .variable("x", Type::Dyn)
        .build()
});

static VALUES: LazyLock<Vec<Option<Value>>> = LazyLock::new(|| {
    let texts = ["1", "2u", "1.5", "'a-b é'", "b'xyz'", "timestamp('2026-01-01T00:00:00Z')", "[3, 1, 2]", "{'a': 1}"];
    let texts = texts.into_iter().chain(["optional.of(1)", "{'k': [1, 2.5, 'z', null], 'n': {'deep': true}}"]);
    let plain = Env::standard().build();
    let value = |text| plain.program(&plain.compile(text).unwrap()).unwrap().evaluate(&[][..], Options::default()).result;
    texts.map(|text| Some(value(text).unwrap())).collect()
});

/// An expression's text, written by the fuzzer's choices.
#[derive(Debug)]
struct Expression(String);

impl<'a> Arbitrary<'a> for Expression {
    fn arbitrary(u: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        let mut text = String::new();
        write_expression(u, &mut text, 0)?;
        Ok(Expression(text))
    }
}

const ATOMS: [&str; 34] = [
    "i", "u", "d", "s", "b", "t", "l", "m", "o", "x", "1", "0", "-9223372036854775808", "18446744073709551615u", "1.0",
    "1e308", "'a'", "''", "b'\\xff'", "true", "false", "null", "[]", "{}", "int", "x.k", "m.a", "x.n.deep",
    "duration('1h')", "timestamp('9999-12-31T23:59:59Z')", "optional.none()", "'%d %s'", "dyn(1)", "[1, 2, 3]",
];
const BINARY: [&str; 14] = ["+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "&&", "||", "in"];
const METHODS: [&str; 22] = [
    "size()", "contains('a')", "startsWith('a')", "matches('a*b')", "getFullYear()", "getHours('Europe/Berlin')",
    "charAt(0)", "split('-')", "join()", "replace('a', 'bb')", "format([1, 'x'])", "hasValue()", "orValue(1)", "value()",
    "sum()", "lowerAscii()", "substring(1)", "indexOf('b')", "trim()", "getSeconds()", "min()", "isSorted()",
];
const FUNCTIONS: [&str; 12] =
    ["int", "uint", "double", "string", "bytes", "bool", "type", "size", "dyn", "timestamp", "duration", "optional.of"];
const MACROS: [&str; 7] = ["all", "exists", "exists_one", "map", "filter", "optMap", "sortBy"];

fn write_expression(u: &mut Unstructured<'_>, text: &mut String, depth: usize) -> arbitrary::Result<()> {
    let form = if depth > 8 { 0 } else { u.int_in_range(0..=10)? };
    match form {
        0 | 1 => text.push_str(u.choose(&ATOMS)?),
        2 | 3 => {
            text.push('(');
            write_expression(u, text, depth + 1)?;
            let _ = write!(text, " {} ", u.choose(&BINARY)?);
            write_expression(u, text, depth + 1)?;
            text.push(')');
        }
        4 => {
            write_expression(u, text, depth + 1)?;
            let _ = write!(text, ".{}", u.choose(&METHODS)?);
        }
        5 => {
            let _ = write!(text, "{}(", u.choose(&FUNCTIONS)?);
            write_expression(u, text, depth + 1)?;
            text.push(')');
        }
        6 => {
            write_expression(u, text, depth + 1)?;
            let _ = write!(text, ".{}(i, ", u.choose(&MACROS)?);
            write_expression(u, text, depth + 1)?;
            text.push(')');
        }
        7 => {
            text.push('(');
            write_expression(u, text, depth + 1)?;
            text.push_str(" ? ");
            write_expression(u, text, depth + 1)?;
            text.push_str(" : ");
            write_expression(u, text, depth + 1)?;
            text.push(')');
        }
        8 => {
            let (open, close) = *u.choose(&[("[", "]"), ("[?", "]"), ("{'a': ", "}"), ("-(", ")"), ("!(", ")")])?;
            text.push_str(open);
            write_expression(u, text, depth + 1)?;
            text.push_str(close);
        }
        9 => {
            write_expression(u, text, depth + 1)?;
            let (open, close) = *u.choose(&[("[", "]"), ("[?", "]")])?;
            text.push_str(open);
            write_expression(u, text, depth + 1)?;
            text.push_str(close);
        }
        _ => {
            write_expression(u, text, depth + 1)?;
            text.push_str(u.choose(&[".k", ".?k", ".a", ".?n.deep"])?);
        }
    }
    Ok(())
}

fuzz_target!(|expression: Expression| {
    let text = expression.0;
    let Ok(ast) = ENV.parse(&text) else { return };
    let Ok(checked) = ENV.check(ast) else { return };
    let Ok(program) = ENV.program(&checked) else { return };
    let run = || program.evaluate(&VALUES[..], Options { budget: BUDGET, ..Options::default() });
    let evaluation = run();
    if let Err(Halt::Error(error)) = &evaluation.result {
        // What is typed all the way through cannot meet a wrong type. `dyn` can.
        let typed = (0..checked.ast().nodes().len() as u32)
            .all(|id| !checked.type_of(cel::ast::NodeId(id)).is_some_and(|ty| ty.to_string().contains("dyn")));
        assert!(!(typed && error.kind == ErrorKind::NoSuchOverload), "{text}: {error}");
    }
    let again = run();
    assert_eq!(evaluation.cost, again.cost, "the cost of {text}");
    assert_eq!(format!("{:?}", evaluation.result), format!("{:?}", again.result), "the value of {text}");
});
