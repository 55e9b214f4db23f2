//! Evaluating a scalar expression allocates nothing, and a program of one is small. Alone in its binary, since the counter
//! replaces the allocator.
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
use std::sync::Arc;

use cel::{
    Env, Program, Type, Value, library,
    program::Options,
    types::{Field, TypeProvider},
    value::Map,
};

/// What a program of such an expression may keep, and with its text and tree, which it keeps for places in errors.
const MOST_BYTES: u64 = 3 * 1024;
const MOST_BYTES_WITH_TREE: u64 = 8 * 1024;

const SCALARS: [&str; 22] = [
    "x > 5 && s.startsWith('ab')",
    "o.size > 10 && o.labels.app == 'web'",
    "t.size > 10 && t.labels.app == 'web' && has(t.size) && !has(t.labels.tier)",
    "has(o.size) ? x * 2 + 1 == 15 : false",
    "s in ['a', 'abc'] || s.size() > 100",
    "s.matches('^a.c$') && !s.matches('b$')",
    "s.endsWith('c') && s < 'b' && !(s == 'x')",
    "['a', 'b'].exists(i, s.contains(i) && i != 'a')",
    "double(x) * 1.5 > 10.0 && 0.5 <= double(x)",
    "t.args[0] == 'a' && t.args[1] != 'a' && t.labels['app'] == 'web'",
    "t.?labels.?tier.orValue('none') == 'none' && t.?labels.app.hasValue()",
    "t.args.all(a, a.size() < 63) && t.args.exists_one(a, a == 'b') && t.args.size() == 2",
    "t.labels.all(k, k.size() <= 63 && t.labels[k].size() <= 63 && !k.startsWith('x/'))",
    "'app' in t.labels && t.labels.app in ['web', 'db'] && 'b' in t.args",
    "(x > 100 ? 'huge' : x > 5 ? 'medium' : 'small') == 'medium'",
    "duration('90m') > duration('1h') && timestamp('2026-01-01T00:00:00Z').getFullYear() == 2026",
    "duration(d).getHours() == 5 && timestamp(w) + duration('24h') > timestamp('2026-01-01T00:00:00Z')",
    "cel.bind(n, x + 1, n * n == 64)",
    "t == t && !(t != t) && t.args == ['a', 'b']",
    "sets.contains(t.args, ['a']) && t.args.isSorted() && t.args.max() == 'b' && t.args.indexOf('b') == 1",
    "int('7') == x && -x < 0 && x % 2 == 1",
    "string(true) == 'true' && bool('true')",
];

/// The type of `t`.
struct Objects;

impl TypeProvider for Objects {
    fn field(&self, _: &str, name: &str) -> Option<Field> {
        let ty = match name {
            "size" => Type::Int,
            "labels" => Type::map(Type::String, Type::String),
            "args" => Type::list(Type::String),
            _ => return None,
        };
        Some(Field { ty, key: name.into() })
    }
    fn field_names(&self, _: &str) -> Vec<Arc<str>> {
        vec![]
    }
    fn named_type(&self, _: &str) -> Option<Type> {
        None
    }
}

fn env() -> Env {
    let libraries = library::all().into_iter().fold(Env::builder(), cel::EnvBuilder::library);
    let variables = [("x", Type::Int), ("s", Type::String), ("o", Type::Dyn), ("t", Type::Object("T".into()))];
    let texts = [("d", Type::String), ("w", Type::String)];
    let variables = variables.into_iter().chain(texts);
    variables.fold(libraries, |env, (name, ty)| env.variable(name, ty)).provider(Arc::new(Objects)).build()
}

fn variables() -> Vec<Option<Value>> {
    let labels: Map = [("app", Value::from("web"))].into_iter().collect();
    let args = Value::from(vec!["a".into(), "b".into()]);
    let object: Map = [("size", Value::Int(20)), ("labels", Value::Map(labels)), ("args", args)].into_iter().collect();
    let object = Value::Map(object);
    let texts = ["5h30m".into(), "2026-03-01T00:00:00Z".into()];
    [Value::Int(7), "abc".into(), object.clone(), object].into_iter().chain(texts).map(Some).collect()
}

fn program(env: &Env, text: &str) -> Program {
    env.program(&env.compile(text).unwrap_or_else(|issues| panic!("{text}: {issues}"))).unwrap()
}

#[test]
fn scalar_expressions_allocate_nothing() {
    let (env, variables) = (env(), variables());
    let mut allocating = vec![];
    for text in SCALARS {
        let program = program(&env, text);
        // A pattern's first use makes its caches, which the program keeps.
        let _ = program.evaluate(variables.as_slice(), Options::default());
        let mut result = None;
        let used = allocation_counter::measure(|| {
            result = Some(program.evaluate(variables.as_slice(), Options::default()).result);
        });
        assert_eq!(result, Some(Ok(Value::Bool(true))), "{text}");
        if used.count_total != 0 {
            allocating.push((used.count_total, text));
        }
    }
    assert!(allocating.is_empty(), "{allocating:#?}");
}

#[test]
fn a_program_is_small() {
    let env = env();
    for text in SCALARS.iter().filter(|text| !text.contains("matches")) {
        let (checked, mut planned, mut whole) = (env.compile(text).unwrap(), None, None);
        let kept = |used: allocation_counter::AllocationInfo| u64::try_from(used.bytes_current).unwrap();
        let alone = kept(allocation_counter::measure(|| planned = env.program(&checked).ok()));
        // What checking found is dropped; the program keeps the tree.
        let both = kept(allocation_counter::measure(|| whole = Some(program(&env, text))));
        let (alone, both) = (alone + size_of::<Program>() as u64, both + size_of::<Program>() as u64);
        println!("{alone:5} bytes, {both:5} with its tree, the text has {:3}: {text}", text.len());
        assert!(alone <= MOST_BYTES && both <= MOST_BYTES_WITH_TREE, "{alone}, {both} bytes: {text}");
    }
}

#[test]
fn a_program_goes_between_threads() {
    fn check<T: Send + Sync>() {}
    check::<Program>();
}
