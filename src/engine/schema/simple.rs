//! kro's SimpleSchema: `type | marker=value ...`, nested objects as nested maps, custom types.
//!
//! Absent: which values fit (validate).
mod fields;
mod markers;
mod text;

use std::{cell::RefCell, collections::BTreeMap, sync::Arc};

use cel::{
    Value,
    value::{Key, Map},
};

use crate::engine::{
    diagnostic::{Diagnostic, FieldPath, Place, Severity},
    schema::{
        MAX_DEPTH, Structural,
        parse::{describe, suggestion},
    },
};

/// Fields that custom types may expand to, so that types of types of types stay small.
const MAX_FIELDS: usize = 10_000;

/// Reads `{spec, types}`: an object with the property `spec`. All problems come at once; there is a schema unless one of
/// them is an error.
pub fn parse(schema: &Value, path: &FieldPath) -> (Option<Structural>, Vec<Diagnostic>) {
    let (structural, found) = parse_partly(schema, path);
    let broken = found.iter().any(|d| d.severity == Severity::Error);
    (structural.filter(|_| !broken), found)
}

/// The same, but there is a schema in spite of errors: what could be read, with anything where a type is wrong. For checking
/// what stands on it, not for use.
pub fn parse_partly(schema: &Value, path: &FieldPath) -> (Option<Structural>, Vec<Diagnostic>) {
    let mut found = Vec::new();
    let structural = root(schema, path, &mut found);
    (structural, found)
}

fn root(schema: &Value, path: &FieldPath, found: &mut Vec<Diagnostic>) -> Option<Structural> {
    let Value::Map(map) = schema else {
        found.push(Diagnostic::error(path.clone(), format!("must be an object with `spec`, not {}", describe(schema))));
        return None;
    };
    for (key, _) in map.iter() {
        let Key::String(name) = key else { continue };
        if !matches!(&**name, "spec" | "types") {
            let error = Diagnostic::error(path.field(name), format!("unknown field `{name}`")).at(Place::Key);
            let status = "the type of status is inferred from the expressions in `projection.status`".to_owned();
            let help = if &**name == "status" { Some(status) } else { suggestion(name, ["spec", "types"]) };
            found.push(Diagnostic { help, ..error });
        }
    }
    let types = types(map, path, found);
    let reader = fields::Reader { types: &types, path: path.field("types"), fields: RefCell::new(0) };
    for (name, value) in &types {
        reader.check_type(name, value, found);
    }
    let spec = match map.get("spec") {
        Some(Value::Map(spec)) => reader.object(spec, &path.field("spec"), found, 0),
        Some(other) => {
            found.push(Diagnostic::error(
                path.field("spec"),
                format!("must be an object of fields, not {}", describe(other)),
            ));
            return None;
        }
        None => {
            found.push(Diagnostic::error(path.clone(), "`spec` is required: the fields of the object's spec"));
            return None;
        }
    };
    let required = !spec.validation.required.is_empty();
    let mut object = Structural::object([(Arc::from("spec"), Arc::new(spec))]);
    if required {
        object.validation.required = vec!["spec".into()];
    }
    Some(object)
}

fn types<'a>(map: &'a Map, path: &FieldPath, found: &mut Vec<Diagnostic>) -> BTreeMap<&'a str, &'a Value> {
    let types = match map.get("types") {
        Some(Value::Map(types)) => types,
        None | Some(Value::Null) => return BTreeMap::new(),
        Some(other) => {
            found.push(Diagnostic::error(
                path.field("types"),
                format!("must be an object of types, not {}", describe(other)),
            ));
            return BTreeMap::new();
        }
    };
    let mut out = BTreeMap::new();
    for (key, value) in types.iter() {
        let Key::String(name) = key else { continue };
        if text::BUILT_IN.contains(&&**name) {
            let message = format!("`{name}` is a type already");
            found.push(Diagnostic::error(path.field("types").field(name), message).at(Place::Key));
        } else if !text::is_name(name) {
            let message = format!("`{name}` is no name of a type: letters, digits and `_`");
            found.push(Diagnostic::error(path.field("types").field(name), message).at(Place::Key));
        } else {
            out.insert(&**name, value);
        }
    }
    out
}
