//! JSON Schema as schemars writes it for Rust types -> [`Structural`].
//!
//! Absent: complaints. What it says and a structural schema cannot is left out; types of programs are trusted to be right.
use std::sync::Arc;

use serde_json::{Map, Value as Json};

use crate::engine::schema::{
    MAX_DEPTH, Structural,
    json::from_json,
    structural::{Additional, ListType, MapType, SchemaType},
};

/// Lowers a JSON Schema (draft 2020-12, `$defs` and `$ref`). What recurs is cut to anything; what is not known is left out.
pub fn from_json_schema(schema: &Json) -> Structural {
    let definitions = ["$defs", "definitions"].iter().find_map(|name| schema.get(name)?.as_object());
    Lowering { definitions, within: Vec::new() }.node(schema, 0)
}

struct Lowering<'a> {
    definitions: Option<&'a Map<String, Json>>,
    /// Names of the definitions that are being expanded.
    within: Vec<&'a str>,
}

impl<'a> Lowering<'a> {
    fn node(&mut self, schema: &'a Json, depth: usize) -> Structural {
        let Some(map) = schema.as_object().filter(|_| depth <= MAX_DEPTH) else { return Structural::anything() };
        if let Some(reference) = map.get("$ref").and_then(Json::as_str) {
            return described(self.definition(reference, depth), map);
        }
        // One alternative beside null is the optional form of it; a lone `allOf` carries a description.
        for name in ["anyOf", "oneOf", "allOf"] {
            let alternatives = map.get(name).and_then(Json::as_array).map_or(&[][..], Vec::as_slice);
            let is_null = |s: &&Json| s.get("type").and_then(Json::as_str) == Some("null");
            let mut rest = alternatives.iter().filter(|s| !is_null(s));
            if let (Some(only), None) = (rest.next(), rest.next())
                && !map.contains_key("properties")
            {
                return described(self.node(only, depth + 1), map);
            }
        }
        let mut out = self.plain(map, depth);
        if out.ty.is_none() && !out.int_or_string {
            out = described(Structural::anything(), map);
        }
        out
    }

    fn definition(&mut self, reference: &str, depth: usize) -> Structural {
        let name = reference.rsplit('/').next().unwrap_or("");
        let name = name.replace("~1", "/").replace("~0", "~");
        let Some((name, definition)) = self.definitions.and_then(|all| all.get_key_value(&name)) else {
            return Structural::anything();
        };
        if self.within.contains(&name.as_str()) {
            return Structural::anything();
        }
        self.within.push(name);
        let out = self.node(definition, depth + 1);
        self.within.pop();
        out
    }

    fn plain(&mut self, map: &'a Map<String, Json>, depth: usize) -> Structural {
        let text = |name: &str| map.get(name).and_then(Json::as_str).map(Arc::from);
        let flag = |name: &str| map.get(name) == Some(&Json::Bool(true));
        let number = |name: &str| map.get(name).and_then(Json::as_f64);
        let count = |name: &str| map.get(name).and_then(Json::as_u64);
        let names = |name: &str| -> Vec<Arc<str>> {
            let list = map.get(name).and_then(Json::as_array);
            list.into_iter().flatten().filter_map(Json::as_str).map(Arc::from).collect()
        };
        let mut out = Structural {
            ty: schema_type(map),
            title: text("title").filter(|_| depth > 0),
            description: text("description"),
            default: map.get("default").map(from_json),
            example: map.get("example").map(from_json),
            nullable: flag("nullable"),
            preserve_unknown_fields: flag("x-kubernetes-preserve-unknown-fields"),
            int_or_string: flag("x-kubernetes-int-or-string") || text("format").as_deref() == Some("int-or-string"),
            embedded_resource: flag("x-kubernetes-embedded-resource"),
            list_map_keys: names("x-kubernetes-list-map-keys"),
            ..Structural::default()
        };
        if out.int_or_string {
            out.ty = None;
            return out;
        }
        out.list_type = match text("x-kubernetes-list-type").as_deref() {
            Some("set") => Some(ListType::Set),
            Some("map") => Some(ListType::Map),
            Some("atomic") => Some(ListType::Atomic),
            _ => None,
        };
        out.map_type = match text("x-kubernetes-map-type").as_deref() {
            Some("atomic") => Some(MapType::Atomic),
            Some("granular") => Some(MapType::Granular),
            _ => None,
        };
        let v = &mut out.validation;
        v.format = text("format");
        v.minimum = number("minimum");
        v.maximum = number("maximum");
        v.max_length = count("maxLength");
        v.min_length = count("minLength");
        v.max_items = count("maxItems");
        v.min_items = count("minItems");
        v.required = names("required");
        let enumeration = map.get("enum").and_then(Json::as_array);
        v.enumeration = enumeration.into_iter().flatten().filter(|v| !v.is_null()).map(from_json).collect();
        if let Some(properties) = map.get("properties").and_then(Json::as_object) {
            out.ty = out.ty.or(Some(SchemaType::Object));
            let lower = |(name, schema): (&'a String, &'a Json)| {
                let name: Arc<str> = name.as_str().into();
                (name, Arc::new(self.node(schema, depth + 1)))
            };
            out.properties = properties.iter().map(lower).collect();
        }
        match map.get("additionalProperties") {
            Some(Json::Bool(true)) => out.additional = Some(Additional::Anything),
            Some(values @ Json::Object(_)) => {
                out.additional = Some(Additional::Schema(Arc::new(self.node(values, depth + 1))));
            }
            _ => {}
        }
        if out.ty == Some(SchemaType::Array) {
            out.items = Some(Arc::new(map.get("items").map_or_else(Structural::anything, |i| self.node(i, depth + 1))));
        }
        // An object of which nothing is said holds anything, as RawExtension does.
        let said = !out.properties.is_empty() || out.additional.is_some() || map.contains_key("properties");
        out.preserve_unknown_fields |= out.ty == Some(SchemaType::Object) && !said;
        out
    }
}

/// The one type that is not null.
fn schema_type(map: &Map<String, Json>) -> Option<SchemaType> {
    match map.get("type")? {
        Json::String(name) => SchemaType::parse(name),
        Json::Array(names) => {
            let mut types = names.iter().filter_map(Json::as_str).filter(|name| *name != "null").map(SchemaType::parse);
            match (types.next(), types.next()) {
                (Some(only), None) => only,
                _ => None,
            }
        }
        _ => None,
    }
}

/// What is said beside a reference is said of this use of it.
fn described(mut schema: Structural, map: &Map<String, Json>) -> Structural {
    if let Some(text) = map.get("description").and_then(Json::as_str) {
        schema.description = Some(text.into());
    }
    schema
}
