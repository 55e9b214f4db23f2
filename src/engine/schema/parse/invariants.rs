//! What must hold of a structural schema as a whole.
use cel::Value;

use super::{Level, Reader, suggestion};
use crate::engine::{
    diagnostic::{Diagnostic, FieldPath},
    schema::{
        Structural, metadata,
        structural::{Additional, ListType, SchemaType},
        validate,
    },
};

pub(super) fn check(reader: &mut Reader, schema: &Structural, path: &FieldPath, level: Level) {
    if level != Level::Nested {
        types(reader, schema, path, level);
        lists(reader, schema, path);
        objects(reader, schema, path, level);
        for nested in nested(schema) {
            complete(reader, schema, nested.0, &path.join(&nested.1));
        }
    }
    ranges(reader, schema, path);
}

fn types(reader: &mut Reader, schema: &Structural, path: &FieldPath, level: Level) {
    let ty = path.field("type");
    match (schema.ty, level) {
        (None, _) if schema.embedded_resource => {
            reader.error(path, "`type: object` is required with x-kubernetes-embedded-resource");
        }
        (Some(other), _) if schema.embedded_resource && other != SchemaType::Object => {
            reader.error(&ty, "must be object with x-kubernetes-embedded-resource");
        }
        (None, Level::Root) => reader.error(path, "`type: object` is required at the root"),
        (Some(other), Level::Root) if other != SchemaType::Object => reader.error(&ty, "must be object at the root"),
        // One that is there and wrong, or is elsewhere, is reported already.
        (None, _) if reader.found.iter().any(|d| d.path == ty || d.path == path.field("$ref")) => {}
        (None, _) if !schema.int_or_string && !schema.preserve_unknown_fields => {
            let found = Diagnostic::error(path.clone(), "`type` is required");
            let help =
                "or `x-kubernetes-int-or-string: true`, or `x-kubernetes-preserve-unknown-fields: true` for anything";
            reader.found.push(found.help(help));
        }
        _ => {}
    }
    if schema.int_or_string {
        for (set, name) in [
            (schema.ty.is_some(), "type"),
            (schema.preserve_unknown_fields, "x-kubernetes-preserve-unknown-fields"),
            (schema.embedded_resource, "x-kubernetes-embedded-resource"),
        ] {
            if set {
                reader.error(&path.field(name), format!("`{name}` must not stand beside x-kubernetes-int-or-string"));
            }
        }
    }
}

fn lists(reader: &mut Reader, schema: &Structural, path: &FieldPath) {
    let array = schema.ty == Some(SchemaType::Array);
    if array && schema.items.is_none() {
        reader.error(path, "`items` is required with `type: array`");
    }
    if !array && schema.items.is_some() && schema.ty.is_some() {
        reader.error(&path.field("items"), "`items` needs `type: array`");
    }
    if schema.list_type.is_some() && !array {
        reader.error(&path.field("x-kubernetes-list-type"), "needs `type: array`");
    }
    let keys = path.field("x-kubernetes-list-map-keys");
    match (schema.list_type, schema.list_map_keys.is_empty()) {
        (Some(ListType::Map), true) => {
            reader.error(path, "`x-kubernetes-list-map-keys` is required with list type map")
        }
        (Some(ListType::Map), false) => map_keys(reader, schema, &keys),
        (_, false) => reader.error(&keys, "needs `x-kubernetes-list-type: map`"),
        (Some(ListType::Set), true) => {
            let simple = |items: &Structural| {
                let atomic_list = items.list_type.is_none_or(|t| t == ListType::Atomic);
                let atomic_map = items.map_type == Some(super::super::structural::MapType::Atomic);
                !items.nullable
                    && match items.ty {
                        Some(SchemaType::Array) => atomic_list,
                        Some(SchemaType::Object) => atomic_map,
                        _ => true,
                    }
            };
            if schema.items.as_deref().is_some_and(|items| !simple(items)) {
                reader.error(
                    &path.field("items"),
                    "items of a set must be scalars, atomic lists or atomic maps, and not nullable",
                );
            }
        }
        _ => {}
    }
}

fn map_keys(reader: &mut Reader, schema: &Structural, keys: &FieldPath) {
    let Some(items) = schema.items.as_deref() else { return };
    for (i, key) in schema.list_map_keys.iter().enumerate() {
        let path = keys.index(i);
        let Some(property) = items.properties.get(key) else {
            let help = suggestion(key, items.properties.iter().map(|(name, _)| &**name));
            let error = Diagnostic::error(path, format!("`{key}` is not a property of the items"));
            reader.found.push(Diagnostic { help, ..error });
            continue;
        };
        if matches!(property.ty, Some(SchemaType::Object | SchemaType::Array)) {
            reader.error(&path, format!("`{key}` must be a scalar to be a key"));
        }
        if !items.validation.required.contains(key) && property.default.is_none() {
            reader.error(&path, format!("`{key}` must be required or have a default to be a key"));
        }
    }
}

fn objects(reader: &mut Reader, schema: &Structural, path: &FieldPath, level: Level) {
    let object = schema.ty == Some(SchemaType::Object);
    if !schema.properties.is_empty() && !object && schema.ty.is_some() {
        reader.error(&path.field("properties"), "`properties` needs `type: object`");
    }
    if let Some(additional) = &schema.additional {
        let here = path.field("additionalProperties");
        if level == Level::Root {
            reader.error(&here, "must not be used at the root");
        } else if !schema.properties.is_empty() && matches!(additional, Additional::Schema(_)) {
            reader.error(&here, "must not stand beside `properties`: a value is a map or an object");
        } else if !object && schema.ty.is_some() {
            reader.error(&here, "`additionalProperties` needs `type: object`");
        }
    }
    if schema.map_type.is_some() && !object {
        reader.error(&path.field("x-kubernetes-map-type"), "needs `type: object`");
    }
    if schema.embedded_resource && schema.properties.is_empty() && !schema.preserve_unknown_fields {
        let message = "an embedded resource needs `properties` or `x-kubernetes-preserve-unknown-fields: true`";
        reader.error(path, message);
    }
    if level == Level::Root || schema.embedded_resource {
        head(reader, schema, path, level);
    }
    let open = schema.preserve_unknown_fields || schema.additional.is_some();
    if !open && object {
        for (i, name) in schema.validation.required.iter().enumerate() {
            let implied = level == Level::Root && matches!(&**name, "apiVersion" | "kind" | "metadata");
            if schema.properties.get(name).is_none() && !implied {
                let help = suggestion(name, schema.properties.iter().map(|(name, _)| &**name));
                let message = format!("`{name}` is required but is no property, so that no object can have it");
                let warning = Diagnostic::warning(path.field("required").index(i), message);
                reader.found.push(Diagnostic { help, ..warning });
            }
        }
    }
}

/// `apiVersion`, `kind` and `metadata` are implied; little may be said of them.
fn head(reader: &mut Reader, schema: &Structural, path: &FieldPath, level: Level) {
    for name in ["apiVersion", "kind"] {
        if schema.properties.get(name).is_some_and(|p| p.ty != Some(SchemaType::String)) {
            reader.error(&path.field("properties").key(name), "must be `type: string`");
        }
    }
    if let Some(meta) = schema.properties.get("metadata") {
        let here = path.field("properties").key("metadata");
        if meta.ty != Some(SchemaType::Object) {
            reader.error(&here, "must be `type: object`");
        }
        let others = meta.properties.iter().any(|(name, _)| !matches!(&**name, "name" | "generateName"));
        if level == Level::Root && (others || meta.additional.is_some() || meta.preserve_unknown_fields) {
            reader.error(&here, "must not specify anything other than name and generateName, as metadata is implied");
        }
    }
}

fn ranges(reader: &mut Reader, schema: &Structural, path: &FieldPath) {
    let v = &schema.validation;
    let float = |n: Option<u64>| {
        #[expect(clippy::cast_precision_loss, reason = "only compared")]
        n.map(|n| n as f64)
    };
    for (least, most, least_name, most_name) in [
        (v.minimum, v.maximum, "minimum", "maximum"),
        (float(v.min_length), float(v.max_length), "minLength", "maxLength"),
        (float(v.min_items), float(v.max_items), "minItems", "maxItems"),
        (float(v.min_properties), float(v.max_properties), "minProperties", "maxProperties"),
    ] {
        if let (Some(least), Some(most)) = (least, most)
            && least > most
        {
            reader
                .error(&path.field(least_name), format!("`{least_name}` {least} is greater than `{most_name}` {most}"));
        }
    }
    for (i, value) in v.enumeration.iter().enumerate() {
        let bare =
            Structural { ty: schema.ty, int_or_string: schema.int_or_string, nullable: true, ..Structural::default() };
        if schema.ty.is_some_and(|ty| !matches!(ty, SchemaType::Object | SchemaType::Array))
            && !validate(&bare, value, &FieldPath::root()).is_empty()
        {
            let ty = schema.ty.map_or("", SchemaType::as_str);
            reader.error(&path.field("enum").index(i), format!("{} is not of type {ty}", super::describe(value)));
        }
    }
}

/// Nested validations with their paths.
fn nested(schema: &Structural) -> Vec<(&Structural, FieldPath)> {
    let v = &schema.validation;
    let mut out = Vec::new();
    for (name, schemas) in [("allOf", &v.all_of), ("anyOf", &v.any_of), ("oneOf", &v.one_of)] {
        let path = FieldPath::root().field(name);
        out.extend(schemas.iter().enumerate().map(|(i, schema)| (&**schema, path.index(i))));
    }
    out.extend(v.not.iter().map(|schema| (&**schema, FieldPath::root().field("not"))));
    out
}

/// Every field that a value validation speaks of is also specified outside of it.
fn complete(reader: &mut Reader, outer: &Structural, inner: &Structural, path: &FieldPath) {
    for (name, property) in inner.properties.iter() {
        let here = path.field("properties").key(name);
        match outer.properties.get(name) {
            Some(outer) => complete(reader, outer, property, &here),
            None => {
                let help = suggestion(name, outer.properties.iter().map(|(name, _)| &**name));
                let message = format!("`{name}` is not specified outside of allOf, anyOf, oneOf and not");
                reader.found.push(Diagnostic { help, ..Diagnostic::error(here, message) });
            }
        }
    }
    match (&outer.items, &inner.items) {
        (Some(outer), Some(inner)) => complete(reader, outer, inner, &path.field("items")),
        (None, Some(_)) => {
            reader.error(&path.field("items"), "`items` is not specified outside of allOf, anyOf, oneOf and not")
        }
        _ => {}
    }
    for (inner, rest) in nested(inner) {
        complete(reader, outer, inner, &path.join(&rest));
    }
}

/// A default holds nothing that would be pruned, and fits.
pub(super) fn check_default(reader: &mut Reader, schema: &Structural, path: &FieldPath) {
    let Some(default) = &schema.default else { return };
    let path = path.field("default");
    if matches!(default, Value::Null) && !schema.nullable {
        return reader.error(&path, "must not be null, as the schema is not nullable");
    }
    let whole;
    let schema = if schema.embedded_resource {
        whole = metadata::whole(schema);
        &whole
    } else {
        schema
    };
    for wrong in super::default_value(schema, default).err().unwrap_or_default() {
        reader.error(&path, wrong);
    }
}
