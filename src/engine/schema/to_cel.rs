//! Objects as expressions see them.
//!
//! Absent: whether they fit (validate), their types (types).
use cel::{
    Value,
    value::{Key, Map},
};

use crate::engine::schema::{
    MAX_DEPTH, Structural,
    admit::{Change, number, rebuild},
    format,
    structural::{Additional, SchemaType},
};

/// The final form: strings of date-time, date, duration and byte formats become timestamps, durations, bytes; numbers take
/// the schema's type; a null field of an object goes, as `has()` is false of it. What does not parse stays as it is, and what
/// does not change is shared.
pub fn to_cel(schema: &Structural, value: &Value) -> Value {
    node(schema, value, 0).unwrap_or_else(|| value.clone())
}

fn node(schema: &Structural, value: &Value, depth: usize) -> Option<Value> {
    if depth > MAX_DEPTH {
        return None;
    }
    match value {
        Value::Map(map) if !schema.properties.is_empty() || schema.additional.is_some() => {
            entries(schema, map, depth).map(Value::Map)
        }
        Value::List(list) => {
            let items = schema.items.as_deref()?;
            let mut changed: Option<Vec<Value>> = None;
            for (i, item) in list.as_slice().iter().enumerate() {
                if let Some(new) = node(items, item, depth + 1)
                    && let Some(slot) = changed.get_or_insert_with(|| list.as_slice().to_vec()).get_mut(i)
                {
                    *slot = new;
                }
            }
            changed.map(|items| Value::List(items.into()))
        }
        Value::String(text) if schema.ty == Some(SchemaType::String) => match schema.validation.format.as_deref()? {
            "date-time" => format::date_time(text).map(Value::Timestamp),
            "date" => format::date(text).map(Value::Timestamp),
            "duration" => format::duration(text).map(Value::Duration),
            "byte" => format::bytes(text).map(|bytes| Value::Bytes(bytes.into())),
            _ => None,
        },
        scalar => number(schema, scalar),
    }
}

fn entries(schema: &Structural, map: &Map, depth: usize) -> Option<Map> {
    let mut changes: Vec<(usize, Change)> = Vec::new();
    for (i, (key, value)) in map.iter().enumerate() {
        let Key::String(name) = key else { continue };
        let (known, property) = match (schema.properties.get(name), &schema.additional) {
            (Some(property), _) => (property, true),
            (None, Some(Additional::Schema(values))) => (values, false),
            (None, _) => continue,
        };
        if property && matches!(value, Value::Null) {
            changes.push((i, Change::Remove));
        } else if let Some(new) = node(known, value, depth + 1) {
            changes.push((i, Change::Replace(new)));
        }
    }
    rebuild(map, changes, Vec::new())
}
