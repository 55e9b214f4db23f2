//! Expressions without type errors, evaluated here and by the `cel` crate: the same value, or an error in both.
//!
//! Only what both claim: ints, doubles, bools, strings, lists, maps, comparisons, logic, the macros of the standard. Left out is
//! what that crate is known to do otherwise: comparisons of lists that it did not make, `matches`, conversions of numbers to
//! strings, the order of maps, macros over maps.
#![no_main]

use std::{fmt::Write as _, sync::LazyLock};

use arbitrary::{Arbitrary, Result, Unstructured};
use cel::{Env, Type, Value, eval::Halt, program::Options};
use libfuzzer_sys::fuzz_target;

/// Nesting of an expression.
const DEPTH: u32 = 6;

/// What an expression may name.
static ENV: LazyLock<Env> = LazyLock::new(|| {
    let env = Env::standard().variable("i", Type::Int).variable("d", Type::Double).variable("s", Type::String);
    env.variable("l", Type::list(Type::Int)).variable("m", Type::map(Type::String, Type::Int)).build()
});

/// The types that expressions are made of.
#[derive(Clone, Copy)]
enum Kind {
    Bool,
    Int,
    Double,
    Text,
    Ints,
}

const KINDS: [Kind; 5] = [Kind::Bool, Kind::Int, Kind::Double, Kind::Text, Kind::Ints];

#[derive(Debug)]
struct Expression(String);

impl<'a> Arbitrary<'a> for Expression {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let mut text = String::new();
        let kind = *u.choose(&KINDS)?;
        write(u, &mut text, kind, DEPTH, 0)?;
        Ok(Expression(text))
    }
}

/// Writes an expression. `locals` are the ints that macros around it have bound: `x0`, `x1`, ...
fn write(u: &mut Unstructured<'_>, text: &mut String, kind: Kind, depth: u32, locals: u32) -> Result<()> {
    let forms: &[&str] = match (kind, depth) {
        (Kind::Bool, 0) => &["true", "false"],
        (Kind::Int, 0) => &["0", "1", "-3", "7", "9223372036854775807", "i", "X"],
        (Kind::Double, 0) => &["0.0", "1.5", "-2.25", "1e300", "d"],
        (Kind::Text, 0) => &["''", "'a'", "'ab'", "'zoë'", "s"],
        // Not `[]`, whose elements may be anything: `-[][0]` is a double.
        (Kind::Ints, 0) => &["[1]", "[3, 1, 2]", "l"],
        (Kind::Bool, _) => &[
            "true", "false", "(I == I)", "(I < I)", "(I >= I)", "(D == D)", "(D < D)", "(T == T)", "(T < T)", "(B && B)",
            "(B || B)", "!(B)", "(B ? B : B)", "(I in L)", "L.all(V, B)", "L.exists(V, B)", "L.exists_one(V, B)",
            "(T).startsWith(T)", "(T).endsWith(T)", "(T).contains(T)", "(T in m)", "has(m.a)", "has(m.zz)", "(B == B)",
            "(I != I)", "(T != T)",
        ],
        (Kind::Int, _) => &[
            "1", "i", "X", "(I + I)", "(I - I)", "(I * I)", "(I / I)", "(I % I)", "-(I)", "(B ? I : I)", "size(T)",
            "size(L)", "L[I]", "m.a", "m[T]", "int(D)",
        ],
        (Kind::Double, _) => &["1.5", "d", "(D + D)", "(D - D)", "(D * D)", "(D / D)", "-(D)", "(B ? D : D)", "double(I)"],
        (Kind::Text, _) => &["'a'", "s", "(T + T)", "(B ? T : T)"],
        (Kind::Ints, _) => &["l", "[I]", "[I, I]", "(L + L)", "L.filter(V, B)", "L.map(V, I)", "L.map(V, B, I)", "(B ? L : L)"],
    };
    let form = *u.choose(forms)?;
    let mut below = locals;
    for c in form.chars() {
        let depth = depth.saturating_sub(1);
        match c {
            'B' => write(u, text, Kind::Bool, depth, below)?,
            'I' => write(u, text, Kind::Int, depth, below)?,
            'D' => write(u, text, Kind::Double, depth, below)?,
            'T' => write(u, text, Kind::Text, depth, below)?,
            'L' => write(u, text, Kind::Ints, depth, below)?,
            'V' => {
                let _ = write!(text, "x{locals}");
                below = locals + 1;
            }
            'X' if locals == 0 => text.push('i'),
            'X' => {
                let _ = write!(text, "x{}", u.int_in_range(0..=locals - 1)?);
            }
            c => text.push(c),
        }
    }
    Ok(())
}

fn same(ours: &Value, theirs: &peer::Value) -> bool {
    match (ours, theirs) {
        (Value::Bool(a), peer::Value::Bool(b)) => a == b,
        (Value::Int(a), peer::Value::Int(b)) => a == b,
        (Value::Double(a), peer::Value::Float(b)) => a == b || a.is_nan() && b.is_nan(),
        (Value::String(a), peer::Value::String(b)) => **a == ***b,
        (Value::List(a), peer::Value::List(b)) => a.len() == b.len() && a.iter().zip(&**b).all(|(a, b)| same(a, b)),
        _ => false,
    }
}

fn peer_context() -> peer::Context<'static, 'static> {
    let mut context = peer::Context::default();
    context.add_variable_from_value("i", 5_i64);
    context.add_variable_from_value("d", 0.5_f64);
    context.add_variable_from_value("s", "text");
    context.add_variable_from_value("l", vec![4_i64, 0, 4]);
    context.add_variable_from_value("m", std::collections::HashMap::from([("a".to_owned(), 1_i64), ("b".to_owned(), 2)]));
    context
}

static VALUES: LazyLock<Vec<Option<Value>>> = LazyLock::new(|| {
    let ints = |ints: &[i64]| ints.iter().map(|i| Value::Int(*i)).collect::<Vec<_>>();
    let map: cel::value::Map = [("a", Value::Int(1)), ("b", Value::Int(2))].into_iter().collect();
    let values = [Value::Int(5), Value::Double(0.5), "text".into(), ints(&[4, 0, 4]).into(), Value::Map(map)];
    values.into_iter().map(Some).collect()
});

fuzz_target!(|expression: Expression| {
    let text = expression.0;
    // The peer's parser is recursive, and its tree is dropped recursively: texts stay small.
    if text.len() > 2_000 {
        return;
    }
    let checked = ENV.compile(&text).unwrap_or_else(|issues| panic!("{text} is refused: {issues}"));
    // A conversion of a constant that can only fail is refused here.
    let Ok(program) = ENV.program(&checked) else { return };
    let ours = program.evaluate(&VALUES[..], Options::default()).result;
    if matches!(&ours, Err(halt @ Halt::Error(_)) if halt.is_fatal()) {
        return;
    }
    let Ok(theirs) = peer::Program::compile(&text) else { panic!("the peer refuses {text}") };
    let theirs = theirs.execute(&peer_context());
    let agree = match (&ours, &theirs) {
        (Ok(ours), Ok(theirs)) => same(ours, theirs),
        (Err(_), Err(_)) => true,
        _ => false,
    };
    assert!(agree, "{text}\n  is {ours:?}\n  and by the peer {theirs:?}");
});
