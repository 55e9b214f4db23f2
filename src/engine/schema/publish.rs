//! Schemas as OpenAPI shows them.
//!
//! Absent: documents and paths (server).
use serde_json::{Map, Value as Json, json};

use crate::engine::schema::{
    MAX_DEPTH, Structural,
    json::to_json,
    structural::{Additional, ListType, MapType, Rule, SchemaType, Validation},
};

/// The schema as OpenAPI v3, everything that it says.
pub fn openapi(schema: &Structural) -> Json {
    Json::Object(node(schema, Version::V3, 0))
}

/// The subset that OpenAPI v2 can say and kubectl understands: types, descriptions, formats, limits.
pub fn openapi_v2(schema: &Structural) -> Json {
    Json::Object(node(schema, Version::V2, 0))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    V2,
    V3,
}

fn node(schema: &Structural, version: Version, depth: usize) -> Map<String, Json> {
    let mut out = Map::new();
    if depth > MAX_DEPTH {
        return out;
    }
    let v3 = version == Version::V3;
    // Clients that validate by v2 know neither null nor alternatives: where a value may be of several types, v2 says none.
    let typed = v3 || !schema.nullable;
    if let Some(ty) = schema.ty.filter(|_| typed) {
        out.insert("type".into(), ty.as_str().into());
    }
    text(&mut out, "title", schema.title.as_deref());
    text(&mut out, "description", schema.description.as_deref());
    if v3 {
        value(&mut out, "default", schema.default.as_ref());
        value(&mut out, "example", schema.example.as_ref());
        flag(&mut out, "nullable", schema.nullable);
    }
    if typed && (v3 || !schema.preserve_unknown_fields) {
        structure(&mut out, schema, version, depth);
    }
    flag(&mut out, "x-kubernetes-preserve-unknown-fields", schema.preserve_unknown_fields);
    flag(&mut out, "x-kubernetes-int-or-string", schema.int_or_string);
    flag(&mut out, "x-kubernetes-embedded-resource", schema.embedded_resource);
    let list_type = schema.list_type.map(|t| match t {
        ListType::Atomic => "atomic",
        ListType::Set => "set",
        ListType::Map => "map",
    });
    text(&mut out, "x-kubernetes-list-type", list_type);
    names(&mut out, "x-kubernetes-list-map-keys", &schema.list_map_keys);
    let map_type = schema.map_type.map(|t| match t {
        MapType::Atomic => "atomic",
        MapType::Granular => "granular",
    });
    text(&mut out, "x-kubernetes-map-type", map_type);
    if !schema.rules.is_empty() {
        out.insert("x-kubernetes-validations".into(), schema.rules.iter().map(rule).collect());
    }
    validation(&mut out, &schema.validation, version, depth);
    out
}

fn structure(out: &mut Map<String, Json>, schema: &Structural, version: Version, depth: usize) {
    let child = |schema: &Structural| Json::Object(node(schema, version, depth + 1));
    if !schema.properties.is_empty() {
        let properties: Map<String, Json> =
            schema.properties.iter().map(|(name, s)| (name.to_string(), child(s))).collect();
        out.insert("properties".into(), Json::Object(properties));
    }
    match &schema.additional {
        Some(Additional::Anything) => drop(out.insert("additionalProperties".into(), Json::Bool(true))),
        Some(Additional::Schema(values)) => drop(out.insert("additionalProperties".into(), child(values))),
        None => {}
    }
    if let Some(items) = &schema.items {
        out.insert("items".into(), child(items));
    } else if schema.ty == Some(SchemaType::Array) {
        out.insert("items".into(), json!({}));
    }
}

fn validation(out: &mut Map<String, Json>, v: &Validation, version: Version, depth: usize) {
    text(out, "format", v.format.as_deref());
    number(out, "maximum", v.maximum);
    flag(out, "exclusiveMaximum", v.exclusive_maximum);
    number(out, "minimum", v.minimum);
    flag(out, "exclusiveMinimum", v.exclusive_minimum);
    number(out, "multipleOf", v.multiple_of);
    for (name, count) in [
        ("maxLength", v.max_length),
        ("minLength", v.min_length),
        ("maxItems", v.max_items),
        ("minItems", v.min_items),
        ("maxProperties", v.max_properties),
        ("minProperties", v.min_properties),
    ] {
        if let Some(count) = count {
            out.insert(name.into(), count.into());
        }
    }
    text(out, "pattern", v.pattern.as_ref().map(|p| p.as_str()));
    names(out, "required", &v.required);
    if !v.enumeration.is_empty() {
        out.insert("enum".into(), v.enumeration.iter().map(to_json).collect());
    }
    if version == Version::V2 {
        return;
    }
    let child = |schema: &Structural| Json::Object(node(schema, version, depth + 1));
    for (name, schemas) in [("allOf", &v.all_of), ("anyOf", &v.any_of), ("oneOf", &v.one_of)] {
        if !schemas.is_empty() {
            out.insert(name.into(), schemas.iter().map(|s| child(s)).collect());
        }
    }
    if let Some(not) = &v.not {
        out.insert("not".into(), child(not));
    }
}

fn rule(rule: &Rule) -> Json {
    let mut out = Map::new();
    text(&mut out, "rule", Some(&rule.rule));
    text(&mut out, "message", rule.message.as_deref());
    text(&mut out, "messageExpression", rule.message_expression.as_deref());
    text(&mut out, "reason", rule.reason.as_deref());
    text(&mut out, "fieldPath", rule.field_path.as_deref());
    flag(&mut out, "optionalOldSelf", rule.optional_old_self);
    Json::Object(out)
}

fn text(out: &mut Map<String, Json>, name: &str, text: Option<&str>) {
    if let Some(text) = text {
        out.insert(name.into(), text.into());
    }
}

fn value(out: &mut Map<String, Json>, name: &str, value: Option<&cel::Value>) {
    if let Some(value) = value {
        out.insert(name.into(), to_json(value));
    }
}

fn flag(out: &mut Map<String, Json>, name: &str, flag: bool) {
    if flag {
        out.insert(name.into(), Json::Bool(true));
    }
}

/// Limits that are whole numbers are written as such.
fn number(out: &mut Map<String, Json>, name: &str, number: Option<f64>) {
    let Some(number) = number else { return };
    let whole = super::admit::integral(number).map(Json::from);
    out.insert(name.into(), whole.unwrap_or_else(|| number.into()));
}

fn names(out: &mut Map<String, Json>, name: &str, names: &[std::sync::Arc<str>]) {
    if !names.is_empty() {
        out.insert(name.into(), names.iter().map(|n| Json::from(&**n)).collect());
    }
}
