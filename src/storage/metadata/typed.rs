//! ObjectMeta as Kubernetes decodes it: the types of its fields, the unknown ones, Go's words.
//!
//! Absent: which values are valid (validate).
use std::sync::Arc;

use cel::{
    Value,
    value::{Key, Map, MapBuilder},
};

use super::Metadata;
use crate::{api::shown, storage::decode::json_type};

/// The type of a field.
enum Type {
    /// A string; Go's name of its type.
    String(&'static str),
    Int,
    Bool,
    Time,
    Strings,
    StringMap,
    /// Structs: their name and fields.
    Structs(&'static str, Fields),
    Anything,
}

/// Unknown fields that are listed, as Kubernetes' decoder lists at most.
const MAX_UNKNOWN: usize = 100;

type Fields = &'static [(&'static str, Type)];

const STRING: Type = Type::String("string");

const OBJECT_META: Fields = &[
    ("name", STRING),
    ("generateName", STRING),
    ("namespace", STRING),
    ("selfLink", STRING),
    ("uid", Type::String("types.UID")),
    ("resourceVersion", STRING),
    ("generation", Type::Int),
    ("creationTimestamp", Type::Time),
    ("deletionTimestamp", Type::Time),
    ("deletionGracePeriodSeconds", Type::Int),
    ("labels", Type::StringMap),
    ("annotations", Type::StringMap),
    ("ownerReferences", Type::Structs("OwnerReference", OWNER_REFERENCE)),
    ("finalizers", Type::Strings),
    ("managedFields", Type::Structs("ManagedFieldsEntry", MANAGED_FIELDS)),
];

const OWNER_REFERENCE: Fields = &[
    ("apiVersion", STRING),
    ("kind", STRING),
    ("name", STRING),
    ("uid", Type::String("types.UID")),
    ("controller", Type::Bool),
    ("blockOwnerDeletion", Type::Bool),
];

const MANAGED_FIELDS: Fields = &[
    ("manager", STRING),
    ("operation", Type::String("v1.ManagedFieldsOperationType")),
    ("apiVersion", STRING),
    ("time", Type::Time),
    ("fieldsType", STRING),
    ("fieldsV1", Type::Anything),
    ("subresource", STRING),
];

/// Reads `metadata`, and lists its unknown fields in their order: `unknown field "metadata.nmae"`.
///
/// # Errors
/// A field of a wrong type: `json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string`.
pub fn decode(metadata: Option<&Value>) -> Result<(Metadata, Vec<String>), String> {
    let map = match metadata {
        None | Some(Value::Null) => return Ok((Metadata::default(), Vec::new())),
        Some(Value::Map(map)) => map,
        Some(other) => {
            return Err(format!("json: cannot unmarshal {} into Go value of type v1.ObjectMeta", json_type(other)));
        }
    };
    let mut unknown = Vec::new();
    check_struct("ObjectMeta", OBJECT_META, map, &Place::default(), &mut unknown)?;
    let metadata = Metadata {
        name: text(map, "name"),
        generate_name: text(map, "generateName"),
        namespace: text(map, "namespace"),
        labels: texts(map, "labels"),
        annotations: texts(map, "annotations"),
    };
    Ok((metadata, unknown))
}

/// A struct within ObjectMeta, as text is made of it where something is wrong; `default()` is ObjectMeta itself.
#[derive(Default)]
struct Place {
    /// Go's: the fields on the way, without indexes, with a dot after each.
    stack: String,
    /// With indexes, and a dot before each.
    path: String,
}

fn check_struct(name: &str, fields: Fields, map: &Map, at: &Place, unknown: &mut Vec<String>) -> Result<(), String> {
    for (key, value) in map.iter() {
        let Key::String(key) = key else { continue };
        match fields.iter().find(|(field, _)| *field == &**key) {
            None if unknown.len() < MAX_UNKNOWN => {
                unknown.push(format!("unknown field \"metadata{}.{}\"", at.path, shown(key)));
            }
            None => {}
            Some((field, ty)) => check(name, field, ty, value, at, unknown)?,
        }
    }
    Ok(())
}

fn check(
    name: &str,
    field: &str,
    ty: &Type,
    value: &Value,
    at: &Place,
    unknown: &mut Vec<String>,
) -> Result<(), String> {
    let stack = &at.stack;
    let wrong = |value: &Value, go: &str| {
        let json = json_type(value);
        Err(format!("json: cannot unmarshal {json} into Go struct field {name}.{stack}{field} of type {go}"))
    };
    match (ty, value) {
        (Type::Anything, _) | (_, Value::Null) => Ok(()),
        (Type::String(_), Value::String(_)) | (Type::Int, Value::Int(_)) | (Type::Bool, Value::Bool(_)) => Ok(()),
        (Type::Int, Value::Double(number)) => {
            let place = format!("{name}.{stack}{field}");
            Err(format!("json: cannot unmarshal number {number} into Go struct field {place} of type int64"))
        }
        (Type::Time, Value::String(text)) if text.parse::<jiff::Timestamp>().is_ok() => Ok(()),
        (Type::Time, Value::String(text)) => {
            let text = shown(text);
            Err(format!("parsing time {text:?} as \"2006-01-02T15:04:05Z07:00\": cannot parse {text:?} as \"2006\""))
        }
        (Type::Time, other) => Err(format!("json: cannot unmarshal {} into Go value of type string", json_type(other))),
        (Type::Strings, Value::List(items)) => {
            match items.as_slice().iter().find(|item| !matches!(item, Value::String(_) | Value::Null)) {
                Some(item) => wrong(item, "string"),
                None => Ok(()),
            }
        }
        (Type::StringMap, Value::Map(map)) => {
            match map.iter().find(|(_, value)| !matches!(value, Value::String(_) | Value::Null)) {
                Some((_, value)) => wrong(value, "string"),
                None => Ok(()),
            }
        }
        (Type::Structs(item_name, fields), Value::List(items)) => {
            for (index, item) in items.as_slice().iter().enumerate() {
                match item {
                    Value::Null => {}
                    Value::Map(map) => {
                        let path = format!("{}.{field}[{index}]", at.path);
                        check_struct(
                            item_name,
                            fields,
                            map,
                            &Place { stack: format!("{stack}{field}."), path },
                            unknown,
                        )?;
                    }
                    other => return wrong(other, &format!("v1.{item_name}")),
                }
            }
            Ok(())
        }
        (Type::String(go), other) => wrong(other, go),
        (Type::Int, other) => wrong(other, "int64"),
        (Type::Bool, other) => wrong(other, "bool"),
        (Type::Strings, other) => wrong(other, "[]string"),
        (Type::StringMap, other) => wrong(other, "map[string]string"),
        (Type::Structs(item_name, _), other) => wrong(other, &format!("[]v1.{item_name}")),
    }
}

/// A string that is there; an empty one is as good as none to Kubernetes.
fn text(map: &Map, field: &str) -> Option<Arc<str>> {
    match map.get(field) {
        Some(Value::String(text)) if !text.is_empty() => Some(text.clone()),
        _ => None,
    }
}

/// A map of strings; null is Go's zero value, the empty string.
fn texts(map: &Map, field: &str) -> Map {
    let Some(Value::Map(map)) = map.get(field) else { return Map::default() };
    if map.iter().all(|(_, value)| matches!(value, Value::String(_))) {
        return map.clone();
    }
    let mut texts = MapBuilder::with_capacity(map.len());
    for (key, value) in map.iter() {
        texts.insert(key.clone(), if matches!(value, Value::Null) { "".into() } else { value.clone() });
    }
    texts.build()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::decode::{Format, object};

    #[track_caller]
    fn check(metadata: &str, expected: Result<&[&str], &str>) {
        let body = format!(r#"{{"kind":"A","metadata":{metadata}}}"#);
        let decoded = object(Format::Json, body.as_bytes(), "A").unwrap();
        let Value::Map(map) = decoded.value else { panic!("no map") };
        let got = decode(map.get("metadata"));
        match expected {
            Ok(unknown) => assert_eq!(got.unwrap().1, unknown, "{metadata}"),
            Err(message) => assert_eq!(got.unwrap_err(), message, "{metadata}"),
        }
    }

    #[test]
    fn types_and_unknown_fields() {
        check(r#"{"name":"a","labels":{"a":"b","c":null},"generation":1,"creationTimestamp":null}"#, Ok(&[]));
        check(r#"null"#, Ok(&[]));
        check(r#"{"nmae":"a"}"#, Ok(&[r#"unknown field "metadata.nmae""#]));
        check(r#""x""#, Err("json: cannot unmarshal string into Go value of type v1.ObjectMeta"));
        check(
            r#"{"labels":{"a":1}}"#,
            Err("json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string"),
        );
        check(
            r#"{"labels":"a"}"#,
            Err("json: cannot unmarshal string into Go struct field ObjectMeta.labels of type map[string]string"),
        );
        check(
            r#"{"name":5}"#,
            Err("json: cannot unmarshal number into Go struct field ObjectMeta.name of type string"),
        );
        check(
            r#"{"finalizers":"a"}"#,
            Err("json: cannot unmarshal string into Go struct field ObjectMeta.finalizers of type []string"),
        );
        check(
            r#"{"ownerReferences":[{"x":1},{"controller":"yes"}]}"#,
            Err(
                "json: cannot unmarshal string into Go struct field OwnerReference.ownerReferences.controller of type \
                 bool",
            ),
        );
        check(r#"{"ownerReferences":[{"x":1}]}"#, Ok(&[r#"unknown field "metadata.ownerReferences[0].x""#]));
        check(r#"{"creationTimestamp":"2026-01-01T00:00:00Z"}"#, Ok(&[]));
        check(
            r#"{"creationTimestamp":"yesterday"}"#,
            Err(r#"parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006""#),
        );
    }
}
