//! `fieldPath` of validations: `.spec.since`, `.spec.labels['app']`, checked against the schema; elements of lists have none, as
//! in Kubernetes.
//!
//! Absent: reporting it in the author's file.
use std::ops::Range;

use crate::engine::{
    diagnostic::{Diagnostic, FieldPath, Place},
    schema::{Structural, structural::SchemaType},
};

/// What is wrong with a field path, and where in its text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FieldPathError {
    message: String,
    help: String,
    place: Range<usize>,
}

impl FieldPathError {
    pub(crate) fn diagnostic(self, path: FieldPath) -> Diagnostic {
        Diagnostic::error(path, self.message).at(Place::Within(self.place)).help(self.help)
    }
}

/// Reads a path. Without a schema (it failed) every field is taken for granted.
///
/// # Errors
/// Bad syntax, or a field that the schema does not have.
pub(crate) fn parse(text: &str, schema: Option<&Structural>) -> Result<FieldPath, FieldPathError> {
    let mut path = FieldPath::root();
    let mut schema = schema;
    let mut rest = text;
    let at = |rest: &str| text.len() - rest.len();
    let syntax = |place: Range<usize>| FieldPathError {
        message: "this is no field path".to_owned(),
        help: "write it like `.spec.field`, `.spec.map['key']`".to_owned(),
        place,
    };
    if rest.is_empty() {
        return Err(syntax(0..0));
    }
    while !rest.is_empty() {
        let start = at(rest);
        let (name, after, is_key) = if let Some(field) = rest.strip_prefix('.') {
            let end = field.find(['.', '[']).unwrap_or(field.len());
            (field.get(..end).unwrap_or(""), field.get(end..).unwrap_or(""), false)
        } else if let Some((key, after)) = rest.strip_prefix("['").and_then(|key| key.split_once("']")) {
            (key, after, true)
        } else {
            return Err(syntax(start..text.len()));
        };
        if name.is_empty() {
            return Err(syntax(start..text.len()));
        }
        let from = if is_key { start + 2 } else { start + 1 };
        let next = match schema {
            None => None,
            Some(schema) => Some(step(schema, name).ok_or_else(|| unknown(schema, name, from..from + name.len()))?),
        };
        let map_entry = schema.is_some_and(|schema| schema.properties.get(name).is_none());
        path = if is_key && map_entry { path.key(name) } else { path.field(name) };
        schema = next.flatten();
        rest = after;
    }
    Ok(path)
}

/// The schema of a field: `None` if there is no such field, `Some(None)` if nothing is known of it.
fn step<'a>(schema: &'a Structural, name: &str) -> Option<Option<&'a Structural>> {
    match schema.field(name) {
        Some(field) => Some(Some(field)),
        None if schema.preserve_unknown_fields || schema.ty != Some(SchemaType::Object) => {
            schema.preserve_unknown_fields.then_some(None)
        }
        None => None,
    }
}

fn unknown(schema: &Structural, name: &str, place: Range<usize>) -> FieldPathError {
    let close = schema
        .properties
        .iter()
        .map(|(known, _)| (strsim::damerau_levenshtein(known, name), known))
        .filter(|(distance, _)| *distance <= 2)
        .min();
    FieldPathError {
        message: format!("undefined field `{name}`"),
        help: match close {
            Some((_, known)) => format!("did you mean `{known}`?"),
            None => "name a field of the schema".to_owned(),
        },
        place,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn schema() -> Structural {
        let string = || Structural::of(SchemaType::String);
        let spec = Structural::object([
            ("since".into(), Arc::new(string())),
            ("labels".into(), Arc::new(Structural::map(string()))),
        ]);
        Structural::object([("spec".into(), Arc::new(spec))])
    }

    #[track_caller]
    fn check(text: &str, expected: Result<&str, &str>) {
        let found = parse(text, Some(&schema()));
        let found = found.map(|path| path.to_string()).map_err(|e| format!("{} at {:?}", e.message, &text[e.place]));
        assert_eq!(found.as_deref().map_err(|e| &**e), expected, "{text}");
    }

    #[test]
    fn paths() {
        check(".spec.since", Ok("spec.since"));
        check(".spec.labels['a.b/c']", Ok("spec.labels[a.b/c]"));
        check("['spec']['since']", Ok("spec.since"));
    }

    #[test]
    fn errors_point_at_the_part() {
        check(".spec.sinec", Err("undefined field `sinec` at \"sinec\""));
        check(".spec.since.x", Err("undefined field `x` at \"x\""));
        check("spec.since", Err("this is no field path at \"spec.since\""));
        check(".spec..since", Err("this is no field path at \"..since\""));
        check("", Err("this is no field path at \"\""));
        check(".spec['since", Err("this is no field path at \"['since\""));
    }
}
