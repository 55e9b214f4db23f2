//! Fields and types.
//!
//! Absent: markers.
use std::{cell::RefCell, collections::BTreeMap, ops::Range, sync::Arc};

use cel::{
    Value,
    value::{Key, Map, MapBuilder},
};

use super::{
    Diagnostic, FieldPath, MAX_DEPTH, MAX_FIELDS, Place, describe, markers, suggestion,
    text::{self, BUILT_IN, Spanned},
};
use crate::engine::schema::{Structural, structural::SchemaType};

/// Reads fields with the custom types at hand.
pub(super) struct Reader<'a> {
    pub(super) types: &'a BTreeMap<&'a str, &'a Value>,
    /// Of `types`.
    pub(super) path: FieldPath,
    /// Fields read so far, those of types counted at each use.
    pub(super) fields: RefCell<usize>,
}

/// Where a type stands: its bytes in the text of the field at `path`.
struct Spot<'a> {
    path: &'a FieldPath,
    at: Range<usize>,
    /// Names of the custom types that are being expanded.
    within: &'a [&'a str],
    depth: usize,
}

impl Reader<'_> {
    /// Reports what is wrong within a custom type; its uses do not repeat it.
    pub(super) fn check_type(&self, name: &str, value: &Value, found: &mut Vec<Diagnostic>) {
        let path = self.path.field(name);
        self.field(value, &path, found, &[name], 0);
    }

    pub(super) fn object(
        &self,
        fields: &Map,
        path: &FieldPath,
        found: &mut Vec<Diagnostic>,
        depth: usize,
    ) -> Structural {
        self.nested(fields, path, found, &[], depth)
    }

    fn nested(
        &self,
        fields: &Map,
        path: &FieldPath,
        found: &mut Vec<Diagnostic>,
        within: &[&str],
        depth: usize,
    ) -> Structural {
        if depth > MAX_DEPTH {
            found.push(Diagnostic::error(path.clone(), format!("nests deeper than {MAX_DEPTH} levels")));
            return Structural::of(SchemaType::Object);
        }
        let mut properties = Vec::with_capacity(fields.len());
        let mut required = Vec::new();
        let mut has_default = false;
        for (key, value) in fields.iter() {
            let Key::String(name) = key else {
                found.push(Diagnostic::error(path.clone(), "names of fields must be strings"));
                continue;
            };
            *self.fields.borrow_mut() += 1;
            if *self.fields.borrow() > MAX_FIELDS {
                found.push(Diagnostic::error(path.clone(), format!("expands to more than {MAX_FIELDS} fields")));
                break;
            }
            // One that is wrong is reported; whoever names it is not told that it is not there.
            let field = self.field(value, &path.field(name), found, within, depth);
            let (schema, is_required) = field.unwrap_or_else(|| (Structural::anything(), false));
            has_default |= schema.default.is_some();
            if is_required {
                required.push(name.clone());
            }
            properties.push((name.clone(), Arc::new(schema)));
        }
        let mut object = Structural::object(properties);
        // So that the defaults of its fields come to bear when the object itself is left out.
        if has_default && required.is_empty() {
            object.default = Some(Value::Map(MapBuilder::default().build()));
        }
        object.validation.required = required;
        object
    }

    /// A field's schema, and whether it is required.
    fn field(
        &self,
        value: &Value,
        path: &FieldPath,
        found: &mut Vec<Diagnostic>,
        within: &[&str],
        depth: usize,
    ) -> Option<(Structural, bool)> {
        match value {
            Value::Map(fields) => Some((self.nested(fields, path, found, within, depth + 1), false)),
            Value::String(text) => self.text(text, path, found, within, depth),
            other => {
                let message = format!(
                    "must be a type, as in `string | required=true`, or an object of fields, not {}",
                    describe(other)
                );
                found.push(Diagnostic::error(path.clone(), message));
                None
            }
        }
    }

    fn text(
        &self,
        text: &str,
        path: &FieldPath,
        found: &mut Vec<Diagnostic>,
        within: &[&str],
        depth: usize,
    ) -> Option<(Structural, bool)> {
        let mut errors = Vec::new();
        let split = text::split(text, &mut errors);
        let spot = Spot { path, at: split.ty.at.clone(), within, depth };
        let ty = self.ty(split.ty.is, &spot, found);
        let mut applied = ty.map(|schema| markers::apply(schema, &split.markers, &mut errors));
        // Those of a custom type know where they stand.
        let origins =
            applied.iter_mut().flat_map(|(schema, _)| &mut schema.rules).filter_map(|rule| rule.origin.as_mut());
        for origin in origins.filter(|origin| origin.path.steps().is_empty()) {
            origin.path = path.clone();
        }
        found.extend(errors.into_iter().map(|e| {
            let error = Diagnostic::error(path.clone(), e.message).at(Place::Within(e.at));
            Diagnostic { help: e.help, ..error }
        }));
        applied
    }

    fn ty(&self, text: &str, spot: &Spot<'_>, found: &mut Vec<Diagnostic>) -> Option<Structural> {
        let fail = |found: &mut Vec<Diagnostic>, at: Range<usize>, message: String, help: Option<String>| {
            let error = Diagnostic::error(spot.path.clone(), message).at(Place::Within(at));
            found.push(Diagnostic { help, ..error });
            None
        };
        if spot.depth > MAX_DEPTH {
            return fail(found, spot.at.clone(), format!("nests deeper than {MAX_DEPTH} levels"), None);
        }
        if let Some(element) = text.strip_prefix("[]") {
            let inner = self.inner(element, text, spot, found)?;
            return Some(Structural::array(inner));
        }
        if let Some(rest) = text.strip_prefix("map[") {
            let Some((key, values)) = rest.split_once(']') else {
                return fail(
                    found,
                    spot.at.clone(),
                    format!("`]` is missing in `{text}`"),
                    Some("write `map[string]T`".to_owned()),
                );
            };
            if key.trim() != "string" {
                let at = spot.at.start + 4..spot.at.start + 4 + key.len();
                let help = Some("keys of maps are strings: write `map[string]...`".to_owned());
                return fail(found, at, format!("a map's key cannot be `{}`", key.trim()), help);
            }
            let inner = self.inner(values, text, spot, found)?;
            return Some(Structural::map(inner));
        }
        match text {
            "string" => Some(Structural::of(SchemaType::String)),
            "integer" => Some(Structural::of(SchemaType::Integer)),
            "boolean" => Some(Structural::of(SchemaType::Boolean)),
            "float" | "number" => Some(Structural::of(SchemaType::Number)),
            "object" => Some(Structural { preserve_unknown_fields: true, ..Structural::of(SchemaType::Object) }),
            "" => fail(
                found,
                spot.at.clone(),
                "the type is missing".to_owned(),
                Some("as in `string | required=true`".to_owned()),
            ),
            name => self.custom(&Spanned { is: name, at: spot.at.clone() }, spot, found),
        }
    }

    /// The element of a list or the value of a map: the end of the text.
    fn inner(&self, inner: &str, whole: &str, spot: &Spot<'_>, found: &mut Vec<Diagnostic>) -> Option<Structural> {
        let trimmed = inner.trim_start();
        let skipped = whole.len() - trimmed.len();
        let at = spot.at.start + skipped..spot.at.end;
        self.ty(trimmed, &Spot { at, depth: spot.depth + 1, ..*spot }, found)
    }

    fn custom(&self, name: &Spanned<&str>, spot: &Spot<'_>, found: &mut Vec<Diagnostic>) -> Option<Structural> {
        let fail = |found: &mut Vec<Diagnostic>, message: String, help: Option<String>| {
            let error = Diagnostic::error(spot.path.clone(), message).at(Place::Within(name.at.clone()));
            found.push(Diagnostic { help, ..error });
            None
        };
        let Some(value) = self.types.get(name.is) else {
            let known = BUILT_IN.into_iter().chain(self.types.keys().copied());
            return fail(
                found,
                format!("unknown type `{}`", name.is),
                alias(name.is).or_else(|| suggestion(name.is, known)).or_else(|| Some(TYPES.to_owned())),
            );
        };
        if spot.within.contains(&name.is) {
            let chain: Vec<&str> = spot.within.iter().copied().chain([name.is]).collect();
            return fail(
                found,
                format!("{HOLDS_ITSELF}: `{}`", chain.join("` -> `")),
                Some("use `object` to end it".to_owned()),
            );
        }
        let within: Vec<&str> = spot.within.iter().copied().chain([name.is]).collect();
        // The type's own mistakes are reported where it is declared.
        let mut own = Vec::new();
        let expanded = self.field(value, &self.path.field(name.is), &mut own, &within, spot.depth + 1);
        let too_large = own.iter().find(|d| d.message.starts_with("expands") || d.message.starts_with("nests"));
        // A circle through several types is a mistake of each of them: of the one that is declared here it is said here.
        let first = spot.within.first().map(|first| format!("`{first}`"));
        let circle = own.iter().find(|d| {
            d.message.starts_with(HOLDS_ITSELF) && Some(true) == first.as_ref().map(|f| d.message.ends_with(f))
        });
        if let Some(circle) = circle {
            return fail(found, circle.message.clone(), circle.help.clone());
        }
        if let Some(too_large) = too_large {
            return fail(found, format!("`{}` {}", name.is, too_large.message), None);
        }
        expanded.map(|(schema, _)| schema)
    }
}

const HOLDS_ITSELF: &str = "a type cannot hold itself";

/// What there is, for those who are nowhere near it.
const TYPES: &str =
    "there are `string`, `integer`, `number`, `boolean`, `object`, `[]T`, `map[string]T` and what `types` declares";

/// What other languages call the built-in types.
fn alias(name: &str) -> Option<String> {
    let ours = match name.to_lowercase().as_str() {
        "int" | "int32" | "int64" | "long" | "uint" => "integer",
        "bool" => "boolean",
        "str" | "text" => "string",
        "double" | "float64" | "float32" | "decimal" => "float",
        "any" | "dict" | "struct" | "map" | "json" => "object",
        "list" | "array" | "slice" => "[]string",
        "date-time" | "datetime" | "time" | "timestamp" => "string | format=date-time",
        "date" | "duration" | "email" | "uri" | "uuid" | "hostname" | "ipv4" | "ipv6" | "cidr" | "byte" => {
            return Some(format!("a format is a marker: `string | format={name}`"));
        }
        bracketed if bracketed.len() > 2 && bracketed.starts_with('[') && bracketed.ends_with(']') => {
            return Some(format!("a list is written `[]{}`", name.get(1..name.len() - 1).unwrap_or_default()));
        }
        _ => return None,
    };
    Some(format!("did you mean `{ours}`?"))
}
