//! Objects on their way out: taken apart where a form needs it.
//!
//! Absent: writing them (values write themselves), which form (read, create).
use std::sync::Arc;

use cel::{Value, value::Map};

/// The JSON tree of a value, for what looks into it (printer columns).
pub fn tree(value: &Value) -> serde_json::Value {
    serde_json::to_value(value).unwrap_or_default()
}

/// The same object with another `metadata.resourceVersion`.
pub fn at_revision(value: &Value, revision: u64) -> Value {
    let Value::Map(object) = value else { return value.clone() };
    let mut metadata = match object.get("metadata") {
        Some(Value::Map(metadata)) => metadata.clone(),
        _ => Map::default(),
    };
    metadata.insert("resourceVersion", Value::String(Arc::from(revision.to_string())));
    let mut object = object.clone();
    object.insert("metadata", Value::Map(metadata));
    Value::Map(object)
}
