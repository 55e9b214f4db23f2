//! Lists that are sets or maps: no element, no key twice.
//!
//! Absent: their elements (validate).
use std::collections::HashMap;

use cel::{
    Value,
    value::{Key, List, Map, MapBuilder},
};

use crate::engine::schema::{
    FieldError, Structural, field_error,
    json::to_json,
    structural::{ListType, SchemaType},
    trail::Trail,
    validate::Errors,
};

/// Kubernetes reports these after all else, so they are a walk of their own.
pub(super) fn check(schema: &Structural, value: &Value, at: &Trail<'_>, errors: &mut Errors, depth: usize) {
    if depth > super::MAX_DEPTH || errors.is_full() {
        return;
    }
    match value {
        Value::List(list) if schema.ty == Some(SchemaType::Array) => {
            match schema.list_type {
                Some(ListType::Set) => set(list, at, errors),
                Some(ListType::Map) => map(schema, list, at, errors),
                Some(ListType::Atomic) | None => {}
            }
            let Some(items) = schema.items.as_deref() else { return };
            for (i, item) in list.as_slice().iter().enumerate() {
                check(items, item, &Trail::Index(at, i), errors, depth + 1);
            }
        }
        Value::Map(fields) => {
            embedded(schema, fields, at, errors);
            for (key, value) in fields.iter() {
                let Key::String(name) = key else { continue };
                if !matches!(value, Value::List(_) | Value::Map(_)) {
                    continue;
                }
                if let Some(property) = schema.properties.get(name) {
                    check(property, value, &Trail::Field(at, name), errors, depth + 1);
                } else if let Some(values) = schema.field(name) {
                    check(values, value, &Trail::Key(at, name), errors, depth + 1);
                }
            }
        }
        _ => {}
    }
}

/// Embedded resources have an apiVersion and a kind.
fn embedded(schema: &Structural, fields: &Map, at: &Trail<'_>, errors: &mut Errors) {
    if !schema.embedded_resource {
        return;
    }
    for name in ["apiVersion", "kind"] {
        let path = || Trail::Field(at, name).path();
        match fields.get(name) {
            None => errors.push(field_error::required(&path(), "must not be empty")),
            Some(Value::String(text)) if text.is_empty() => {
                errors.push(field_error::invalid(&path(), &Value::from(""), "must not be empty"));
            }
            Some(Value::String(_)) => {}
            Some(other) => errors.push(field_error::invalid(&path(), other, "must be a string")),
        }
    }
}

fn set(list: &List, at: &Trail<'_>, errors: &mut Errors) {
    for i in repeated(list.as_slice()) {
        if let Some(item) = list.as_slice().get(i) {
            errors.push(field_error::duplicate(&Trail::Index(at, i).path(), item));
        }
    }
}

fn map(schema: &Structural, list: &List, at: &Trail<'_>, errors: &mut Errors) {
    let mut keys = Vec::with_capacity(list.len());
    for (i, item) in list.as_slice().iter().enumerate() {
        let mut key = MapBuilder::default();
        match item {
            Value::Map(item) => {
                for name in &schema.list_map_keys {
                    if let Some(value) = item.get(name) {
                        key.insert(name.clone(), value.clone());
                    }
                }
            }
            Value::Null => {}
            other => {
                let detail = "must be an object for an array of list-type map";
                let error: FieldError = field_error::invalid(&Trail::Index(at, i).path(), other, detail);
                return errors.push(error);
            }
        }
        keys.push(Value::Map(key.build()));
    }
    for i in repeated(&keys) {
        if let Some(key) = keys.get(i) {
            errors.push(field_error::duplicate(&Trail::Index(at, i).path(), key));
        }
    }
}

/// Where a value stands for the second time. Values are compared by their JSON, whose objects are sorted by their keys.
fn repeated(values: &[Value]) -> Vec<usize> {
    let mut seen: HashMap<String, u32> = HashMap::with_capacity(values.len());
    let mut second = Vec::new();
    for (i, value) in values.iter().enumerate() {
        let times = seen.entry(to_json(value).to_string()).or_default();
        *times += 1;
        if *times == 2 {
            second.push(i);
        }
    }
    second
}
