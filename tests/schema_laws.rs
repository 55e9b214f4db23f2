//! Laws of schemas, on random schemas and values: admission is idempotent and shares what it does not change, nothing panics,
//! every finding's place is a part of the text.
//!
//! Absent: what particular schemas say (schemas).
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::result_large_err,
    unreachable_pub,
    reason = "tests fail by panicking"
)]
use cel::{Value, value::MapBuilder};
use celandine::engine::{
    diagnostic::{FieldPath, Place, Severity},
    schema::{
        Structural, admit, admit_bounded, default, from_type, openapi, prune, rules, simple, to_cel, types, validate,
    },
};

/// A small generator (xorshift), so that every run is the same.
struct Random(u64);

impl Random {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % below as u64) as usize
    }

    fn one<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        of[self.next(of.len())]
    }

    fn chance(&mut self) -> bool {
        self.next(3) == 0
    }
}

const NAMES: [&str; 6] = ["a", "b", "c-d", "metadata", "items", "ü"];

fn map(entries: Vec<(&str, Value)>) -> Value {
    let mut out = MapBuilder::default();
    for (key, value) in entries {
        out.insert(key, value);
    }
    Value::Map(out.build())
}

fn list(items: Vec<Value>) -> Value {
    Value::List(items.into())
}

fn value(random: &mut Random, depth: usize) -> Value {
    let kinds = if depth > 3 {
        0..9
    } else if depth == 0 {
        9..13
    } else {
        0..13
    };
    match kinds.start + random.next(kinds.len()) {
        0 => Value::Null,
        1 => Value::Bool(random.chance()),
        2 => Value::Int(random.next(5) as i64 - 2),
        3 => Value::Double(random.next(5) as f64 / 2.0),
        4 => Value::Int(i64::MAX),
        5 => Value::Double(1e300),
        6 => Value::from(random.one(&["", "a", "2024-05-06T07:08:09Z", "1h", "aGVsbG8=", "é"])),
        7 => Value::Double(f64::NAN),
        8 => Value::Double(3.0),
        9 | 10 => list((0..random.next(4)).map(|_| value(random, depth + 1)).collect()),
        _ => map((0..random.next(5)).map(|_| (random.one(&NAMES), value(random, depth + 1))).collect()),
    }
}

fn schema(random: &mut Random, depth: usize) -> Value {
    let mut out = Vec::new();
    let nullable = random.chance();
    if nullable {
        out.push(("nullable", Value::Bool(true)));
    }
    let kinds = if depth > 3 {
        0..6
    } else if depth == 0 {
        6..10
    } else {
        0..10
    };
    match kinds.start + random.next(kinds.len()) {
        0 => {
            out.push(("type", "string".into()));
            out.push(("format", random.one(&["date-time", "duration", "byte", "uuid", "date"]).into()));
        }
        1 => out.extend([("type", "string".into()), ("maxLength", Value::Int(3)), ("pattern", "^[a-z]*$".into())]),
        2 => {
            out.extend([("type", "integer".into()), ("maximum", Value::Int(3)), ("format", "int32".into())]);
            if random.chance() {
                out.push(("default", Value::Int(1)));
            }
        }
        3 => out.extend([("type", "number".into()), ("multipleOf", Value::Double(0.5)), ("default", Value::Int(1))]),
        4 => out.push(("x-kubernetes-int-or-string", Value::Bool(true))),
        5 => out.push(("x-kubernetes-preserve-unknown-fields", Value::Bool(true))),
        6 => {
            out.extend([("type", "array".into()), ("items", schema(random, depth + 1)), ("maxItems", Value::Int(2))]);
        }
        7 => out.extend([("type", "object".into()), ("additionalProperties", schema(random, depth + 1))]),
        _ => {
            let mut names = NAMES.to_vec();
            names.truncate(1 + random.next(NAMES.len()));
            out.push(("properties", map(names.iter().map(|name| (*name, schema(random, depth + 1))).collect())));
            out.extend([("type", "object".into()), ("required", list(vec![names[0].into()]))]);
            if random.chance() {
                out.push(("x-kubernetes-preserve-unknown-fields", Value::Bool(true)));
            }
            if random.chance() {
                out.push(("anyOf", list(vec![map(vec![("required", list(vec![names[0].into()]))])])));
            }
        }
    }
    map(out)
}

fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Map(a), Value::Map(b)) => a.same(b),
        (Value::List(a), Value::List(b)) => a.same(b),
        // Scalars are not shared; NaN equals nothing.
        (Value::Double(a), Value::Double(b)) => a.to_bits() == b.to_bits(),
        (a, b) => a == b,
    }
}

#[test]
fn admission_is_idempotent_and_shares() {
    let random = &mut Random(0x9e37_79b9_7f4a_7c15);
    let mut changed = 0;
    for _ in 0..1500 {
        let (schema, found) = Structural::from_openapi_part(&schema(random, 0), &FieldPath::root());
        let Some(schema) = schema else { panic!("{found:#?}") };
        for _ in 0..5 {
            let given = value(random, 0);
            let (admitted, _) = admit(&schema, given.clone());
            changed += usize::from(!same(&given, &admitted));
            let (again, unknown) = admit(&schema, admitted.clone());
            assert!(same(&again, &admitted), "{schema:#?}\n{given:?}\n{admitted:?}\n{again:?}");
            assert_eq!(unknown, Vec::<String>::new());
            let defaulted = default(&schema, given.clone()).unwrap();
            assert!(same(&default(&schema, defaulted.clone()).unwrap(), &defaulted), "{schema:#?}\n{given:?}");
            let (pruned, _) = prune(&schema, given.clone());
            let at_once = admit_bounded(&schema, given.clone()).unwrap();
            assert_eq!(format!("{at_once:?}"), format!("{:?}", prune(&schema, defaulted)), "{schema:#?}\n{given:?}");
            let (again, unknown) = prune(&schema, pruned.clone());
            assert!(same(&again, &pruned) && unknown.is_empty(), "{schema:#?}\n{given:?}");
            validate(&schema, &given, &FieldPath::root());
            let valid = validate(&schema, &admitted, &FieldPath::root()).is_empty();
            let seen = to_cel(&schema, &admitted);
            assert!(same(&to_cel(&schema, &seen), &seen), "{schema:#?}\n{admitted:?}");
            let _ = (valid, openapi(&schema));
        }
    }
    assert!(changed > 1000, "only {changed} values changed: the laws were hardly tried");
}

#[test]
fn published_schemas_read_back() {
    let random = &mut Random(42);
    for _ in 0..1000 {
        let (schema, _) = Structural::from_openapi_part(&schema(random, 0), &FieldPath::root());
        let published = openapi(&schema.unwrap());
        let read: Value = serde_json::from_value(published.clone()).unwrap();
        let (again, found) = Structural::from_openapi_part(&read, &FieldPath::root());
        assert_eq!(openapi(&again.unwrap_or_else(|| panic!("{found:#?}"))), published);
    }
}

#[test]
fn any_value_may_pose_as_a_schema() {
    let random = &mut Random(7);
    let words = [
        "type",
        "properties",
        "items",
        "allOf",
        "default",
        "enum",
        "required",
        "x-kubernetes-validations",
        "minimum",
        "$ref",
    ];
    fn garbage(random: &mut Random, words: &[&str], depth: usize) -> Value {
        match random.next(8) {
            0..=3 if depth < 5 => {
                map((0..random.next(5)).map(|_| (random.one(words), garbage(random, words, depth + 1))).collect())
            }
            4 if depth < 5 => list((0..random.next(3)).map(|_| garbage(random, words, depth + 1)).collect()),
            5 => Value::from(random.one(&["object", "array", "string", "self", "(", ""])),
            _ => value(random, 3),
        }
    }
    for _ in 0..5000 {
        let (schema, found) = Structural::from_openapi(&garbage(random, &words, 0), &FieldPath::root());
        assert_eq!(schema.is_none(), found.iter().any(|d| d.severity == Severity::Error));
    }
}

#[test]
fn any_text_may_pose_as_a_simple_schema() {
    let random = &mut Random(11);
    let env = cel::Env::standard().build();
    let parts = [
        "string",
        "integer",
        "[]",
        "map[",
        "string]",
        "T",
        "object",
        " ",
        "|",
        " | ",
        "required",
        "=",
        "true",
        "default",
        "\"",
        "\\",
        "[",
        "]",
        "{",
        "}",
        "enum",
        "1",
        ",",
        "🦀",
        "validation",
        "self",
        "pattern",
        "(",
        "minLength",
        "float",
        "immutable",
    ];
    for _ in 0..20_000 {
        let text: String = (0..random.next(12)).map(|_| random.one(&parts)).collect();
        let types = map(vec![("T", map(vec![("x", text.as_str().into())]))]);
        let document = map(vec![("spec", map(vec![("f", text.as_str().into())])), ("types", types)]);
        let (schema, mut found) = simple::parse(&document, &FieldPath::root());
        assert_eq!(schema.is_none(), found.iter().any(|d| d.severity == Severity::Error), "{text}");
        if let Some(schema) = schema {
            found.extend(rules::compile(&env, &schema, &FieldPath::root()).1);
        }
        for diagnostic in found {
            if let Place::Within(bytes) = diagnostic.place {
                assert!(text.get(bytes.clone()).is_some(), "{text:?} {bytes:?} {}", diagnostic.message);
            }
        }
    }
}

/// Test threads have stacks of 2 MiB, as a server's have.
#[test]
fn depth_ends_in_a_message() {
    let mut deep_schema = map(vec![("type", "string".into())]);
    let mut deep_value = Value::from("x");
    for _ in 0..200 {
        deep_schema = map(vec![("type", "array".into()), ("items", deep_schema)]);
        deep_value = list(vec![deep_value]);
    }
    let (schema, found) = Structural::from_openapi_part(&deep_schema, &FieldPath::root());
    assert!(schema.is_none());
    assert!(found.iter().any(|d| d.message.contains("nests deeper")), "{found:?}");

    let mut schema = Structural::of(celandine::engine::schema::structural::SchemaType::String);
    for _ in 0..200 {
        schema = Structural::array(schema);
    }
    let errors = validate(&schema, &deep_value, &FieldPath::root());
    assert!(errors.iter().any(|e| e.message.contains("nests deeper")), "{errors:?}");
    admit(&schema, deep_value.clone());
    to_cel(&schema, &deep_value);
    openapi(&schema);
    let mut registry = types::Registry::builder(types::Dialect::Workspace);
    let ty = registry.add("deep", &std::sync::Arc::new(schema));
    from_type(&ty, &registry.build());
}

#[test]
fn types_of_types_stay_small() {
    let names: Vec<String> = (0..40).map(|i| format!("T{i}")).collect();
    let types = names.iter().enumerate().map(|(i, name)| {
        let next = if i + 1 < names.len() { format!("T{}", i + 1) } else { "string".to_owned() };
        (name.as_str(), map(vec![("a", next.as_str().into()), ("b", next.as_str().into())]))
    });
    let document = map(vec![("types", map(types.collect())), ("spec", map(vec![("f", "T0".into())]))]);
    let (schema, found) = simple::parse(&document, &FieldPath::root());
    assert!(schema.is_none());
    assert!(found.iter().any(|d| d.message.contains("expands to more than")), "{found:?}");
}
