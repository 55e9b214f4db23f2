//! How long evaluation takes, with cost counted: `cargo bench -p celandine-cel`. Prints the best of many runs.
//!
//! Absent: comparison with other implementations.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::result_large_err,
    unreachable_pub,
    reason = "tests fail by panicking"
)]
use std::{collections::HashMap, hint::black_box, sync::Arc, time::Instant};

use cel::{Env, Type, Value, program::Options, value::Map};

const ROWS: &[&str] = &[
    "x > 5 && s.startsWith('ab')",
    "x > 5",
    "s == 'abc'",
    "o.spec.size > 10",
    "o.spec.size > 10 && o.metadata.labels.app == 'web'",
    "has(o.spec.size) && o.spec.size in [1, 2, 20]",
    "s.matches('^[a-z]+$')",
    "s + 'def'",
    "objects.filter(o, o.spec.size > 10 && o.metadata.labels.app == 'web')",
    "objects.map(o, o.spec.size)",
    "objects.all(o, o.spec.size >= 0)",
    "objects.filter(o, has(o.metadata.labels) && o.metadata.name.startsWith('object-1')).map(o, o.spec.size)",
    "objects.exists_one(o, o.metadata.name == 'object-500')",
];

fn main() {
    let names = [("x", Type::Int), ("s", Type::String), ("o", Type::Dyn), ("objects", Type::list(Type::Dyn))];
    let env = names.iter().fold(Env::standard(), |env, (name, ty)| env.variable(name, ty.clone())).build();
    let mut keys = HashMap::new();
    let objects: Vec<Value> = (0..1000).map(|i| object(i, &mut keys)).collect();
    let variables = [Some(Value::Int(7)), Some("abc".into()), objects.get(20).cloned(), Some(objects.into())];
    for text in ROWS {
        let program = env.compile(text).and_then(|checked| env.program(&checked));
        let Ok(program) = program else {
            println!("{text}: does not compile");
            continue;
        };
        let mut best = f64::INFINITY;
        for _ in 0..30 {
            let start = Instant::now();
            let mut runs = 0u32;
            while runs < 1000 && start.elapsed().as_millis() < 20 {
                for _ in 0..10 {
                    let _ = black_box(program.evaluate(black_box(variables.as_slice()), Options::default()));
                }
                runs += 10;
            }
            best = best.min(start.elapsed().as_nanos() as f64 / f64::from(runs));
        }
        println!("{best:>10.0} ns  {text}");
    }
}

/// Keys are shared between objects, as a decoder does.
fn object(i: i64, keys: &mut HashMap<&'static str, Arc<str>>) -> Value {
    let app = if i % 2 == 0 { "web" } else { "db" };
    let mut map = |entries: Vec<(&'static str, Value)>| -> Value {
        let shared = entries.into_iter().map(|(k, v)| (keys.entry(k).or_insert_with(|| k.into()).clone(), v));
        Value::Map(shared.collect::<Map>())
    };
    let labels = map(vec![("app", app.into()), ("tier", "front".into())]);
    let metadata = map(vec![
        ("name", format!("object-{i}").into()),
        ("namespace", "default".into()),
        ("uid", format!("uid-{i}").into()),
        ("labels", labels),
    ]);
    let spec = map(vec![("bucket", "b".into()), ("size", (i % 100).into()), ("key", format!("k/{i}").into())]);
    map(vec![("apiVersion", "v1".into()), ("kind", "Object".into()), ("metadata", metadata), ("spec", spec)])
}
