//! The language against the `cel` crate, in one run. Ours checks types and counts cost all the while; the peer does neither.
//!
//! The peer gets its own value types, made before the clock starts, as ours are. Ours share the texts of keys, as the storage's
//! objects do.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::result_large_err,
    reason = "a benchmark fails by panicking"
)]
use std::{collections::HashMap, sync::Arc};

use cel::types::{Field, TypeProvider};
use celandine_benches::{Contender, compare};
use serde::de::DeserializeSeed;

/// Objects in the list: as many as a busy namespace holds.
const OBJECTS: i64 = 1_000;

fn main() {
    println!("{EXPLANATION}");
    println!("Compiling: text to program. Ours parses, checks types and plans; `cel` has no checker and only parses.");
    compile();
    println!("\nEvaluating. `typed`: over objects of a declared type, as Kubernetes types them; otherwise over `dyn`.");
    scalar();
    filter();
    map();
    template();
    bucket_info();
}

const EXPLANATION: &str = "\
Celandine's CEL (\"ours\": types checked, every step's cost counted and bounded) against the crate `cel` 0.15 (neither).
All run in turns in this process on the same data; a time is the median of one operation. \"(12.0x)\" after a time says that
it is 12 times the time of ours at the line's beginning: above 1 ours is faster.
";

const SCALAR: &str = "x > 5 && name.startsWith('web') && x * 2 < 100";
const FILTER: &str = "objects.filter(o, o.spec.size > 500 && o.metadata.labels.app == 'web')";
const MAP: &str = "objects.map(o, o.spec.size * 2)";

/// The type of `typed`: what a CustomResourceDefinition says of the objects.
struct Objects;

impl TypeProvider for Objects {
    fn field(&self, object: &str, name: &str) -> Option<Field> {
        let ty = match (object, name) {
            ("StoredObject", "metadata" | "spec") => cel::Type::Object(format!("StoredObject.{name}").into()),
            ("StoredObject.metadata", "name" | "namespace") => cel::Type::String,
            ("StoredObject.metadata", "labels") => cel::Type::map(cel::Type::String, cel::Type::String),
            ("StoredObject.spec", "size") => cel::Type::Int,
            ("StoredObject.spec", "bucket" | "key") => cel::Type::String,
            _ => return None,
        };
        Some(Field { ty, key: name.into() })
    }

    fn field_names(&self, _: &str) -> Vec<Arc<str>> {
        vec![]
    }

    fn named_type(&self, _: &str) -> Option<cel::Type> {
        None
    }
}

fn env() -> cel::Env {
    let libraries = cel::library::all().into_iter();
    libraries
        .fold(cel::Env::builder(), cel::EnvBuilder::library)
        .variable("x", cel::Type::Int)
        .variable("name", cel::Type::String)
        .variable("objects", cel::Type::list(cel::Type::Dyn))
        .variable("object", cel::Type::Dyn)
        .variable("typed", cel::Type::list(cel::Type::Object("StoredObject".into())))
        .provider(Arc::new(Objects))
        .build()
}

fn compile() {
    let env = env();
    let typed = FILTER.replace("objects", "typed");
    for (what, text, peer) in [
        ("parse, check, plan: scalar", SCALAR, SCALAR),
        ("parse, check, plan: filter", FILTER, FILTER),
        ("parse, check, plan: filter, typed", typed.as_str(), FILTER),
    ] {
        compare(
            what,
            vec![
                Contender::new("ours", || env.program(&env.compile(text).unwrap()).unwrap()),
                Contender::new("cel (parse only)", || peer::Program::compile(peer).unwrap()),
            ],
        );
    }
}

fn ours(text: &str, bindings: &[(&str, cel::Value)]) -> impl Fn() -> cel::Value + use<> {
    let env = env();
    let program = env.program(&env.compile(text).unwrap()).unwrap();
    let mut slots: Vec<Option<cel::Value>> = vec![None; env.variables().len()];
    for (name, value) in bindings {
        slots[env.slot(name).unwrap() as usize] = Some(value.clone());
    }
    move || program.evaluate(&*slots, Default::default()).result.unwrap()
}

fn object(i: i64) -> serde_json::Value {
    serde_json::json!({
        "apiVersion": "s3.acme.example/v1",
        "kind": "StoredObject",
        "metadata": {
            "name": format!("object-{i}"),
            "namespace": "default",
            "labels": {"app": if i % 3 == 0 { "web" } else { "db" }, "bucket": "photos"},
        },
        "spec": {"size": i, "bucket": "photos", "key": format!("img/{i}.jpg")},
    })
}

fn to_ours(json: &serde_json::Value) -> cel::Value {
    let mut keys = cel::json::Keys::default();
    cel::json::Decoder { keys: Some(&mut keys), repeated: None }.deserialize(json).unwrap()
}

fn to_peer(json: &serde_json::Value) -> peer::Value {
    match json {
        serde_json::Value::Null => peer::Value::Null,
        serde_json::Value::Bool(b) => peer::Value::Bool(*b),
        serde_json::Value::Number(n) => peer::Value::Int(n.as_i64().unwrap()),
        serde_json::Value::String(s) => peer::Value::String(Arc::new(s.clone())),
        serde_json::Value::Array(a) => peer::Value::List(Arc::new(a.iter().map(to_peer).collect())),
        serde_json::Value::Object(o) => {
            let entries: HashMap<String, peer::Value> = o.iter().map(|(k, v)| (k.clone(), to_peer(v))).collect();
            entries.into()
        }
    }
}

fn scalar() {
    let run = ours(SCALAR, &[("x", cel::Value::Int(7)), ("name", "web-1".into())]);
    let program = peer::Program::compile(SCALAR).unwrap();
    let mut context = peer::Context::default();
    context.add_variable_from_value("x", 7_i64);
    context.add_variable_from_value("name", "web-1");
    compare("scalar", vec![Contender::new("ours", run), Contender::new("cel", || program.execute(&context).unwrap())]);
}

fn over_objects(what: &str, text: &str, count: i64) {
    let objects = serde_json::Value::Array((0..count).map(object).collect());
    let values = to_ours(&objects);
    let run = ours(text, &[("objects", values.clone())]);
    let typed = ours(&text.replace("objects", "typed"), &[("typed", values)]);
    let program = peer::Program::compile(text).unwrap();
    let mut context = peer::Context::default();
    context.add_variable_from_value("objects", to_peer(&objects));
    let mut contenders = vec![Contender::new("ours", run), Contender::new("ours, typed", typed)];
    // It lacks some functions.
    if program.execute(&context).is_ok() {
        contenders.push(Contender::new("cel", || program.execute(&context).unwrap()));
    }
    compare(what, contenders);
}

fn filter() {
    over_objects("filter over 1,000 objects", FILTER, OBJECTS);
}

fn map() {
    over_objects("map over 1,000 objects", MAP, OBJECTS);
}

/// What the BucketInfo of `examples/` computes, over as many objects as the load benchmark has in a bucket.
fn bucket_info() {
    for (what, text) in [
        ("how many of 100 objects", "objects.size()"),
        ("bytes of 100 objects", "objects.map(o, o.spec.size).sum()"),
        ("their sizes alone", "objects.map(o, o.spec.size)"),
        (
            "the largest 3 of 100 objects",
            "objects.sortBy(o, -o.spec.size).map(o, o.spec.key).slice(0, math.least(3, objects.size()))",
        ),
    ] {
        over_objects(what, text, 100);
    }
}

/// Ten fields as a `status` has them; each is an expression of its own.
fn template() {
    let fields = [
        "object.metadata.name",
        "object.metadata.namespace",
        "object.spec.size > 100 ? 'large' : 'small'",
        "object.spec.key + '@' + object.spec.bucket",
        "object.spec.size * 2",
        "object.metadata.labels.app",
        "has(object.spec.key)",
        "object.spec.size / 10",
        "object.metadata.labels.app == 'web' && object.spec.size > 1",
        "size(object.metadata.name)",
    ];
    let json = object(150);
    let ours: Vec<_> = fields.iter().map(|text| ours(text, &[("object", to_ours(&json))])).collect();
    let programs: Vec<_> = fields.iter().map(|text| peer::Program::compile(text).unwrap()).collect();
    let mut context = peer::Context::default();
    context.add_variable_from_value("object", to_peer(&json));
    compare(
        "template of 10 fields",
        vec![
            Contender::new("ours", || ours.iter().map(|run| run()).collect::<Vec<_>>()),
            Contender::new("cel", || programs.iter().map(|p| p.execute(&context).unwrap()).collect::<Vec<_>>()),
        ],
    );
}
