//! Objects as expressions see them.
//!
//! Absent: whether they fit (validate), their types (types).
use std::sync::Arc;

use cel::{
    Value,
    value::{FieldKey, Identity, Key, List, Map},
};

use crate::engine::schema::{
    MAX_DEPTH, Structural,
    admit::{Change, number, rebuild},
    format,
    structural::{Additional, ListType, SchemaType},
};

/// The final form: strings of date-time, date, duration and byte formats become timestamps, durations, bytes; numbers take
/// the schema's type; a null field of an object goes, as `has()` is false of it. What does not parse stays as it is, and what
/// does not change is shared.
pub fn to_cel(schema: &Structural, value: &Value) -> Value {
    View { identities: false }.node(schema, value, 0).unwrap_or_else(|| value.clone())
}

/// The same as a schema's own rules see it: lists that are sets or maps are equal in any order, and adding to them merges.
pub fn to_rules(schema: &Structural, value: &Value) -> Value {
    View { identities: true }.node(schema, value, 0).unwrap_or_else(|| value.clone())
}

struct View {
    identities: bool,
}

impl View {
    fn node(&self, schema: &Structural, value: &Value, depth: usize) -> Option<Value> {
        if depth > MAX_DEPTH {
            return None;
        }
        match value {
            Value::Map(map) if !schema.properties.is_empty() || schema.additional.is_some() => {
                self.entries(schema, map, depth).map(Value::Map)
            }
            Value::List(list) => {
                let items = schema.items.as_deref()?;
                let identity = self.identity(schema, list);
                let mut changed = identity.is_some().then(|| list.as_slice().to_vec());
                for (i, item) in list.as_slice().iter().enumerate() {
                    if let Some(new) = self.node(items, item, depth + 1)
                        && let Some(slot) = changed.get_or_insert_with(|| list.as_slice().to_vec()).get_mut(i)
                    {
                        *slot = new;
                    }
                }
                changed.map(|items| match identity {
                    Some(identity) => Value::List(List::with_identity(items, Arc::new(identity))),
                    None => Value::List(items.into()),
                })
            }
            Value::String(text) if schema.ty == Some(SchemaType::String) => {
                match schema.validation.format.as_deref()? {
                    "date-time" => format::date_time(text).map(Value::Timestamp),
                    "date" => format::date(text).map(Value::Timestamp),
                    "duration" => format::duration(text).map(Value::Duration),
                    "byte" => format::bytes(text).map(|bytes| Value::Bytes(bytes.into())),
                    _ => None,
                }
            }
            scalar => number(schema, scalar),
        }
    }

    fn identity(&self, schema: &Structural, list: &List) -> Option<Identity> {
        if !self.identities || list.identity().is_some() {
            return None;
        }
        match schema.list_type? {
            ListType::Set => Some(Identity::Set),
            ListType::Map => Some(Identity::Map(schema.list_map_keys.iter().cloned().map(FieldKey::new).collect())),
            ListType::Atomic => None,
        }
    }

    fn entries(&self, schema: &Structural, map: &Map, depth: usize) -> Option<Map> {
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
            } else if let Some(new) = self.node(known, value, depth + 1) {
                changes.push((i, Change::Replace(new)));
            }
        }
        rebuild(map, changes, Vec::new())
    }
}
