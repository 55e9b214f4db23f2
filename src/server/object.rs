//! Objects on their way out: taken apart where a form needs it.
//!
//! Absent: writing them (values write themselves), which form (read, create).
use std::sync::Arc;

use cel::{Value, value::Map};

use crate::{api::Status, server::reply::Failure, storage::encode};

/// The JSON tree of a stored object, for what looks into it (printer columns).
pub fn tree(value: &Value) -> serde_json::Value {
    serde_json::to_value(value).unwrap_or_default()
}

/// The JSON tree of an answer. Its expressions may have made it endless: it is known to be writable before it is built.
pub fn answer_tree(value: &Value) -> Result<serde_json::Value, Failure> {
    encode::json(value).map_err(Status::from)?;
    Ok(tree(value))
}

/// The JSON tree of an object without anything but its metadata.
pub fn metadata(value: &Value) -> serde_json::Value {
    let metadata = match value {
        Value::Map(object) => object.get("metadata").map(tree),
        _ => None,
    };
    serde_json::json!({"metadata": metadata.unwrap_or_else(|| serde_json::json!({}))})
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
