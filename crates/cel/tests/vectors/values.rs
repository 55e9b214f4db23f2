//! Values of the vectors: from JSON, and compared with what came out.
use cel::{
    Type, Value,
    value::{Key, MapBuilder},
};
use serde_json::Value as Json;

use crate::common;

/// Untyped data: integral numbers are `int`.
pub(crate) fn from_json(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(b) => Value::Bool(*b),
        Json::Number(n) => n.as_i64().map_or_else(|| Value::Double(n.as_f64().unwrap()), Value::Int),
        Json::String(s) => s.as_str().into(),
        Json::Array(a) => Value::List(a.iter().map(from_json).collect::<Vec<_>>().into()),
        Json::Object(o) => {
            let mut map = MapBuilder::default();
            for (key, value) in o {
                map.insert(key.as_str(), from_json(value));
            }
            Value::Map(map.build())
        }
    }
}

/// Types as the checker's result prints them.
pub(crate) fn type_text(ty: &Type) -> String {
    match ty {
        Type::Null => "null_type".to_string(),
        Type::Timestamp => "google.protobuf.Timestamp".to_string(),
        Type::Duration => "google.protobuf.Duration".to_string(),
        Type::List(t) => format!("list({})", type_text(t)),
        Type::Map(kv) => format!("map({}, {})", type_text(&kv.0), type_text(&kv.1)),
        Type::Optional(t) => format!("optional_type({})", type_text(t)),
        Type::Type(t) => match &**t {
            // As the names that stand for them are typed.
            Type::Type(inner) if **inner == Type::Dyn => "type(type)".to_string(),
            Type::Optional(inner) if **inner == Type::Dyn => "type(optional_type)".to_string(),
            t => format!("type({})", type_text(t)),
        },
        other => other.to_string(),
    }
}

/// Whether a value is the expected `{"t", "v"}`.
pub(crate) fn equal(got: &Value, want: &Json) -> Result<(), String> {
    if same(got, want) { Ok(()) } else { Err(format!("got  {got:?}\n    want {want}")) }
}

fn same(got: &Value, want: &Json) -> bool {
    let v = &want["v"];
    let text = || v.as_str().unwrap_or("");
    match (want["t"].as_str().unwrap_or(""), got) {
        ("null" | "go-nil", Value::Null) => true,
        ("bool", Value::Bool(b)) => v == *b,
        ("int", Value::Int(i)) => text() == i.to_string(),
        ("uint", Value::Uint(u)) => text() == u.to_string(),
        ("double", Value::Double(d)) => {
            let want: f64 = text().parse().unwrap();
            want.to_bits() == d.to_bits() || want.is_nan() && d.is_nan()
        }
        ("string", Value::String(s)) => text() == &**s,
        ("bytes", Value::Bytes(b)) => common::base64(text()) == **b,
        ("timestamp", Value::Timestamp(t)) => {
            let utc = cel::value::Timestamp { offset_minutes: 0, ..*t };
            text() == utc.to_string()
        }
        ("duration", Value::Duration(d)) => text() == d.to_string(),
        ("list", Value::List(l)) => {
            let want = v.as_array().unwrap();
            want.len() == l.len() && l.as_slice().iter().zip(want).all(|(got, want)| same(got, want))
        }
        ("map", Value::Map(m)) => {
            let want = v.as_array().unwrap();
            let has = |entry: &Json| m.iter().any(|(k, v)| same_key(k, &entry[0]) && same(v, &entry[1]));
            want.len() == m.len() && want.iter().all(has)
        }
        (object, Value::Map(m)) if object.starts_with("object:") => {
            // Upstream's patches have the empty text where none was given.
            let given = |(_, want): &(&String, &Json)| want["t"] != "string" || want["v"] != "";
            let want: Vec<_> = v.as_object().unwrap().iter().filter(given).collect();
            want.len() == m.len()
                && want.iter().all(|(field, want)| m.get(field).is_some_and(|got| same_field(got, want)))
        }
        ("optional", Value::Optional(o)) => match o {
            None => v.is_null(),
            Some(inner) => same(inner, v),
        },
        ("type", Value::Type(t)) => text() == type_text(t).split('(').next().unwrap(),
        ("quantity", Value::Opaque(o)) => format!("{o:?}") == text(),
        ("ip" | "cidr" | "url" | "semver", Value::Opaque(o)) => {
            matches!(o.to_json(), Some(Value::String(s)) if *s == *text())
        }
        ("format", Value::Opaque(o)) => o.type_of().to_string() == "kubernetes.NamedFormat",
        ("opaque", Value::Opaque(_)) => true,
        _ => false,
    }
}

fn same_key(key: &Key, want: &Json) -> bool {
    if same(&Value::from(key), want) {
        return true;
    }
    // The keys of objects are printed by their CEL names upstream.
    matches!(key, Key::String(s) if want["t"] == "string" && want["v"] == super::schema::escape(s).unwrap_or_default())
}

/// The fields of made objects are given as values or as JSON.
fn same_field(got: &Value, want: &Json) -> bool {
    if want.get("t").is_some() { same(got, want) } else { *got == from_json(want) }
}
