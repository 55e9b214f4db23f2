//! How large the values of a schema can get, as Kubernetes counts it for estimates of cost.
//!
//! The rules are those of Kubernetes' `apiserver/pkg/cel` (`model.MaxLength` and `MinSerializedSize` of a declared type): where
//! a schema sets no limit, as many elements as the shortest of them fit into a request.
//!
//! Absent: which variable has which schema (compile), the estimate itself (cel).
use std::sync::LazyLock;

use cel::{
    Value,
    estimate::{Declared, Limits},
};

use crate::engine::schema::{
    MAX_DEPTH, Structural,
    escape::escape,
    metadata,
    structural::{Additional, SchemaType},
};

/// Bytes of a request's body. Kubernetes' `MaxRequestSizeBytes`: etcd's limit and what JSON may add to it.
pub const MAX_REQUEST_BYTES: u64 = 3 * 1024 * 1024;

/// Bytes of the longest string of a request: its quotes count too.
const MAX_TEXT: u64 = MAX_REQUEST_BYTES - 2;

/// Bytes of a text of a stored object, which nobody bounds: those of the longest name that Kubernetes allows.
const USUAL_TEXT: u64 = 253;

/// Elements of a list or entries of a map of a stored object, which nobody bounds: few pods have more containers, few objects
/// more labels.
const USUAL_ELEMENTS: u64 = 16;

impl Declared for Structural {
    fn max_elements(&self, unset: Limits) -> u64 {
        let bytes_of = |characters: u64| characters.saturating_mul(4);
        let limits = &self.validation;
        let unset = |possible: u64, usual: u64| if unset == Limits::Usual { usual.min(possible) } else { possible };
        let max_text = unset(MAX_TEXT, USUAL_TEXT);
        if self.int_or_string {
            return limits.max_length.map_or(max_text, bytes_of);
        }
        match self.ty {
            Some(SchemaType::String) => match limits.format.as_deref() {
                Some("byte") => limits.max_length.unwrap_or(max_text),
                Some("duration" | "date-time") => 32,
                Some("date") => 12,
                _ => limits.max_length.map(bytes_of).or_else(|| longest(&limits.enumeration)).unwrap_or(max_text),
            },
            Some(SchemaType::Array) => {
                let shortest = self.items.as_ref().map_or(1, |items| min_bytes(items, 0));
                // With its comma.
                limits.max_items.unwrap_or(unset(MAX_TEXT / (shortest + 1), USUAL_ELEMENTS))
            }
            Some(SchemaType::Object) if self.additional.is_some() && self.properties.is_empty() => {
                let shortest = match &self.additional {
                    Some(Additional::Schema(values)) => min_bytes(values, 0),
                    _ => 1,
                };
                // With its key, its colon and its comma.
                limits.max_properties.unwrap_or(unset(MAX_TEXT / (shortest + 6), USUAL_ELEMENTS))
            }
            _ => 0,
        }
    }

    fn elements(&self) -> Option<&dyn Declared> {
        let declared = match (&self.items, &self.additional) {
            (Some(items), _) => items,
            (None, Some(Additional::Schema(values))) => values,
            _ => return None,
        };
        known(declared)
    }

    fn keys(&self) -> Option<&dyn Declared> {
        // Kubernetes does not bound them.
        static KEY: LazyLock<Structural> = LazyLock::new(|| {
            let mut key = Structural::of(SchemaType::String);
            key.validation.max_length = Some(0);
            key
        });
        self.additional.is_some().then(|| &*KEY as &dyn Declared)
    }

    fn field(&self, name: &str) -> Option<&dyn Declared> {
        static HEAD: LazyLock<Structural> = LazyLock::new(|| metadata::restricted(&Structural::default()));
        let found = match name.contains("__") {
            false => self.properties.get(name),
            true => {
                self.properties.iter().find(|(key, _)| escape(key).as_deref() == Some(name)).map(|(_, field)| field)
            }
        };
        match found {
            Some(field) => known(field),
            None if self.embedded_resource => known(HEAD.properties.get(name)?),
            None => None,
        }
    }
}

/// Bytes of the shortest value, as JSON. Recursion is bounded by the depth.
pub fn min_bytes(schema: &Structural, depth: usize) -> u64 {
    if schema.int_or_string || depth > MAX_DEPTH {
        return 1;
    }
    match schema.ty {
        Some(SchemaType::String) => match schema.validation.format.as_deref() {
            Some("duration") => 3,
            Some("date") => 12,
            Some("date-time") => 21,
            _ => 2,
        },
        Some(SchemaType::Boolean) => 4,
        Some(SchemaType::Integer | SchemaType::Number) | None => 1,
        Some(SchemaType::Array) => 2,
        Some(SchemaType::Object) => {
            let required = schema.validation.required.iter().filter_map(|name| {
                let field = schema.properties.get(name)?;
                // Quotes, colon and comma. What has a default need not be sent.
                field.default.is_none().then(|| name.len() as u64 + min_bytes(field, depth + 1) + 4)
            });
            2 + required.sum::<u64>()
        }
    }
}

/// Whether anything is declared: otherwise a value is `dyn`, and can be of any size.
pub fn is_declared(schema: &Structural) -> bool {
    let anything = schema.ty == Some(SchemaType::Object)
        && schema.preserve_unknown_fields
        && schema.properties.is_empty()
        && schema.additional.is_none();
    schema.int_or_string || schema.ty.is_some() && !anything
}

fn known(schema: &Structural) -> Option<&dyn Declared> {
    is_declared(schema).then_some(schema as &dyn Declared)
}

/// Bytes of the longest of the texts that a value may be.
fn longest(enumeration: &[Value]) -> Option<u64> {
    let length = |value: &Value| if let Value::String(text) = value { text.len() as u64 } else { 0 };
    enumeration.iter().map(length).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(max_length: Option<u64>, format: Option<&str>) -> Structural {
        let mut schema = Structural::of(SchemaType::String);
        schema.validation.max_length = max_length;
        schema.validation.format = format.map(Into::into);
        schema
    }

    #[test]
    fn values_are_as_large_as_kubernetes_says() {
        assert_eq!(text(Some(10), None).max_elements(Limits::Possible), 40);
        assert_eq!(text(Some(10), Some("byte")).max_elements(Limits::Possible), 10);
        assert_eq!(text(None, None).max_elements(Limits::Possible), 3_145_726);
        assert_eq!(text(None, Some("date-time")).max_elements(Limits::Possible), 32);
        let mut one_of = text(None, None);
        one_of.validation.enumeration = vec!["a".into(), "bcd".into()];
        assert_eq!(one_of.max_elements(Limits::Possible), 3);
        assert_eq!(Structural::of(SchemaType::Integer).max_elements(Limits::Possible), 0);
        assert_eq!(Structural::array(text(None, None)).max_elements(Limits::Possible), 3_145_726 / 3);
        assert_eq!(Structural::map(text(None, None)).max_elements(Limits::Possible), 3_145_726 / 8);
        assert_eq!(text(None, None).max_elements(Limits::Usual), USUAL_TEXT);
        assert_eq!(text(Some(1_000), None).max_elements(Limits::Usual), 4_000);
    }

    #[test]
    fn the_shortest_object_has_what_is_required() {
        let number = Structural::of(SchemaType::Integer).into();
        let mut object = Structural::object([("name".into(), text(None, None).into()), ("n".into(), number)]);
        assert_eq!(min_bytes(&object, 0), 2);
        object.validation.required = vec!["name".into()];
        assert_eq!(min_bytes(&object, 0), 2 + 4 + 2 + 4);
    }

    #[test]
    fn fields_are_found_by_their_names_in_expressions() {
        let schema = Structural::object([
            ("a-b".into(), text(Some(1), None).into()),
            ("namespace".into(), text(Some(2), None).into()),
        ]);
        for (name, size) in [("a__dash__b", 4), ("__namespace__", 8), ("namespace", 8)] {
            assert_eq!(
                Declared::field(&schema, name).map(|field| field.max_elements(Limits::Possible)),
                Some(size),
                "{name}"
            );
        }
        assert!(Declared::field(&schema, "a-b__").is_none());
    }
}
