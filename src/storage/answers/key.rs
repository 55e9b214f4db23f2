//! What makes two requests equal: the same catalog of the same workspace, the same plan, and the same values at exactly the
//! paths that the plan reads.
//!
//! Absent: which paths those are (engine).
use std::sync::Arc;

use cel::{
    Value,
    value::{Key as MapKey, Timestamp},
};

use crate::{
    api::UserInfo,
    engine::{evaluation::Inputs, plan::Plan},
    storage::{catalog::Catalog, objects::Objects},
};

/// Levels of containers in a key: deeper than objects are in practice, and no danger to the stack.
const MAX_DEPTH: usize = 100;

/// Identifies equal requests. Compared as a whole, not by a hash.
///
/// INVARIANT: workspace and plan are told by their addresses, which no others get while they are alive: the caller holds
/// both while a flight is under way, and an `Entry` holds both allocations.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    objects: usize,
    catalog: u64,
    plan: usize,
    inputs: Box<[u8]>,
}

impl Key {
    /// The key of a request. It has the user where expressions ask the authorizer. `None` where no other request can be equal: the plan reads the time or the uid, or inputs that
    /// have no canonical form.
    pub(crate) fn new(
        objects: &Arc<Objects>,
        catalog: &Catalog,
        plan: &Arc<Plan>,
        user: &UserInfo,
        inputs: &Inputs,
    ) -> Option<Key> {
        let mut bytes = Vec::with_capacity(64);
        for path in plan.answer_inputs() {
            let root = match &*path.variable {
                "object" => &inputs.object,
                _ if path.fields.first().is_none_or(|field| matches!(&**field, "time" | "uid")) => return None,
                _ => &inputs.request,
            };
            walk(root, &path.fields, &mut bytes)?;
        }
        if plan.asks_authorizer() {
            person(user, &mut bytes);
            // `authorizer.requestResource`
            for field in ["namespace", "name"] {
                walk(&inputs.request, &[field.into()], &mut bytes)?;
            }
        }
        Some(Key {
            objects: Arc::as_ptr(objects).addr(),
            catalog: catalog.revision(),
            plan: Arc::as_ptr(plan).addr(),
            inputs: bytes.into(),
        })
    }

    /// Bytes that it takes.
    pub(crate) fn weight(&self) -> usize {
        size_of::<Key>() + self.inputs.len()
    }
}

/// The value at a path; where the path ends early, how far it came and what is there instead.
fn walk(root: &Value, fields: &[Arc<str>], out: &mut Vec<u8>) -> Option<()> {
    let mut value = root;
    for (depth, field) in fields.iter().enumerate() {
        match value {
            Value::Map(map) => match map.get(field) {
                Some(next) => value = next,
                None => {
                    out.push(b'-');
                    number(depth, out);
                    return Some(());
                }
            },
            _ => {
                out.push(b'!');
                number(depth, out);
                return encode(value, MAX_DEPTH, out);
            }
        }
    }
    encode(value, MAX_DEPTH, out)
}

/// One text for each value: a letter for the type, lengths before contents. The order of maps counts, for expressions that
/// go over them see it.
fn encode(value: &Value, levels: usize, out: &mut Vec<u8>) -> Option<()> {
    match value {
        Value::Null => out.push(b'n'),
        Value::Bool(false) => out.push(b'f'),
        Value::Bool(true) => out.push(b't'),
        Value::Int(int) => fixed(b'i', &int.to_le_bytes(), out),
        Value::Uint(uint) => fixed(b'u', &uint.to_le_bytes(), out),
        Value::Double(double) => fixed(b'd', &double.to_bits().to_le_bytes(), out),
        Value::Duration(nanos) => fixed(b'D', &nanos.to_le_bytes(), out),
        Value::Timestamp(Timestamp { seconds, nanos, offset_minutes }) => {
            fixed(b'T', &seconds.to_le_bytes(), out);
            out.extend_from_slice(&nanos.to_le_bytes());
            out.extend_from_slice(&offset_minutes.to_le_bytes());
        }
        Value::String(text) => sized(b's', text.as_bytes(), out),
        Value::Bytes(bytes) => sized(b'b', bytes, out),
        Value::List(list) => {
            out.push(b'[');
            number(list.len(), out);
            for element in list {
                encode(element, levels.checked_sub(1)?, out)?;
            }
        }
        Value::Map(map) => {
            out.push(b'{');
            number(map.len(), out);
            for (key, value) in map.iter() {
                match key {
                    MapKey::String(text) => sized(b's', text.as_bytes(), out),
                    other => encode(&Value::from(other), 0, out)?,
                }
                encode(value, levels.checked_sub(1)?, out)?;
            }
        }
        // No request holds them.
        Value::Optional(_) | Value::Type(_) | Value::Opaque(_) => return None,
    }
    Some(())
}

fn person(user: &UserInfo, out: &mut Vec<u8>) {
    let UserInfo { username, uid, groups, extra } = user;
    sized(b's', username.as_bytes(), out);
    sized(b's', uid.as_bytes(), out);
    texts(groups, out);
    number(extra.len(), out);
    for (key, values) in extra {
        sized(b's', key.as_bytes(), out);
        texts(values, out);
    }
}

fn texts(texts: &[String], out: &mut Vec<u8>) {
    number(texts.len(), out);
    for text in texts {
        sized(b's', text.as_bytes(), out);
    }
}

fn fixed(tag: u8, bytes: &[u8], out: &mut Vec<u8>) {
    out.push(tag);
    out.extend_from_slice(bytes);
}

fn sized(tag: u8, bytes: &[u8], out: &mut Vec<u8>) {
    out.push(tag);
    number(bytes.len(), out);
    out.extend_from_slice(bytes);
}

fn number(number: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(&(number as u64).to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(json: &str, path: &[&str]) -> Option<Vec<u8>> {
        let value: Value = serde_json::from_str(json).unwrap();
        let mut out = vec![];
        let path: Vec<Arc<str>> = path.iter().map(|field| Arc::from(*field)).collect();
        walk(&value, &path, &mut out).map(|()| out)
    }

    #[test]
    fn what_expressions_can_tell_apart_has_different_keys() {
        let values = [
            "{}",
            r#"{"a":null}"#,
            r#"{"a":0}"#,
            r#"{"a":0.0}"#,
            r#"{"a":-0.0}"#,
            r#"{"a":false}"#,
            r#"{"a":""}"#,
            r#"{"a":"0"}"#,
            r#"{"a":[]}"#,
            r#"{"a":{}}"#,
            r#"{"a":[[]]}"#,
            r#"{"a":["",""]}"#,
            r#"{"a":["a"]}"#,
            r#"{"a":["a","b"]}"#,
            r#"{"a":["ab"]}"#,
            r#"{"a":{"b":1}}"#,
            r#"{"a":{"b":null}}"#,
            r#"{"a":{"b":{}}}"#,
            r#"{"a":{"x":1,"y":2}}"#,
            r#"{"a":{"y":2,"x":1}}"#,
        ];
        for path in [&["a"][..], &[]] {
            let keys: std::collections::HashSet<_> = values.iter().map(|json| key(json, path).unwrap()).collect();
            assert_eq!(keys.len(), values.len(), "{path:?}");
        }
        let deeper: std::collections::HashSet<_> = values.iter().map(|json| key(json, &["a", "b"]).unwrap()).collect();
        // Maps without `b` are the same: absent, absent{}, {x, y}, {y, x}.
        assert_eq!(deeper.len(), values.len() - 2);
    }

    #[test]
    fn other_fields_do_not_count() {
        assert_eq!(key(r#"{"a":{"b":1,"c":2},"d":3}"#, &["a", "b"]), key(r#"{"d":4,"a":{"c":5,"b":1}}"#, &["a", "b"]));
    }

    #[test]
    fn depth_is_bounded() {
        let nest = |levels: usize| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
        assert!(key(&nest(MAX_DEPTH), &[]).is_some());
        assert!(key(&nest(MAX_DEPTH + 1), &[]).is_none());
    }
}
