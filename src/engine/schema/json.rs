//! JSON of defaults, enums and values in messages.
//!
//! Absent: how whole objects are written (the cel crate's serde).
use cel::{Value, value::Key};
use serde_json::Value as Json;

use crate::engine::schema::MAX_DEPTH;

/// JSON of a JSON-like value; what has no JSON form, or nests too deep, is null.
pub(super) fn to_json(value: &Value) -> Json {
    at(value, 0)
}

fn at(value: &Value, depth: usize) -> Json {
    if depth > MAX_DEPTH {
        return Json::Null;
    }
    match value {
        Value::Bool(flag) => Json::Bool(*flag),
        Value::Int(number) => (*number).into(),
        Value::Uint(number) => (*number).into(),
        Value::Double(number) => (*number).into(),
        Value::String(text) => Json::String(text.to_string()),
        Value::List(list) => list.as_slice().iter().map(|value| at(value, depth + 1)).collect(),
        Value::Map(map) => map.iter().map(|(key, value)| (key_text(key), at(value, depth + 1))).collect(),
        _ => Json::Null,
    }
}

fn key_text(key: &Key) -> String {
    match key {
        Key::String(text) => text.to_string(),
        Key::Int(number) => number.to_string(),
        Key::Uint(number) => number.to_string(),
        Key::Bool(flag) => flag.to_string(),
    }
}

/// A value of JSON. Integers that fit are ints.
pub(super) fn from_json(json: &Json) -> Value {
    from(json, 0)
}

fn from(json: &Json, depth: usize) -> Value {
    if depth > MAX_DEPTH {
        return Value::Null;
    }
    match json {
        Json::Null => Value::Null,
        Json::Bool(flag) => Value::Bool(*flag),
        Json::Number(number) => match number.as_i64() {
            Some(int) => Value::Int(int),
            None => Value::Double(number.as_f64().unwrap_or(f64::NAN)),
        },
        Json::String(text) => Value::from(text.as_str()),
        Json::Array(items) => Value::List(items.iter().map(|item| from(item, depth + 1)).collect::<Vec<_>>().into()),
        Json::Object(fields) => {
            let mut map = cel::value::MapBuilder::with_capacity(fields.len());
            for (name, value) in fields {
                map.insert(name.as_str(), from(value, depth + 1));
            }
            Value::Map(map.build())
        }
    }
}
