//! What the validation of a document against its kind's schema says, in words for the author: the caret tells the place, so they
//! do not repeat it; what is a word of JSON or of kube-apiserver is put as YAML's reader knows it.
//!
//! Absent: the validation (engine).
use cel::Value;

use super::own::{nearest, path};
use crate::engine::{
    diagnostic::{Diagnostic, FieldPath, Step},
    schema::{FieldError, Structural, field_error::Reason, structural::SchemaType},
};

/// One error as a diagnostic.
pub(super) fn diagnostic(schema: &Structural, document: &Value, error: &FieldError) -> Diagnostic {
    let path = path(&error.field);
    let name = match path.steps().iter().rev().find(|step| !matches!(step, Step::Index(_))) {
        Some(Step::Field(name) | Step::Key(name)) => name.to_string(),
        _ => String::new(),
    };
    let schema = schema_at(schema, path.steps());
    let value = value_at(document, path.steps());
    match (error.reason, schema, value) {
        (Reason::Required, ..) => Diagnostic::error(path, format!("missing field `{name}`")),
        (Reason::TypeInvalid, Some(Structural { ty: Some(wanted), .. }), Some(value)) => {
            let is_element = matches!(path.steps().last(), Some(Step::Index(_)));
            let subject = if is_element { format!("an element of `{name}`") } else { format!("`{name}`") };
            let diagnostic =
                Diagnostic::error(path, format!("{subject} must be {}, and this is {}", article(*wanted), kind(value)));
            match (wanted, value) {
                (SchemaType::String, Value::Bool(_) | Value::Int(_) | Value::Double(_) | Value::Null) => {
                    diagnostic.help("put it in quotes")
                }
                (SchemaType::Array, _) => diagnostic.help("put it into a list: `[...]`"),
                _ => diagnostic,
            }
        }
        (Reason::Duplicate, _, Some(Value::Map(item))) => duplicate(path, &name, item),
        (Reason::NotSupported, Some(schema), Some(value)) if !schema.validation.enumeration.is_empty() => {
            let known: Vec<&str> = schema.validation.enumeration.iter().filter_map(text).collect();
            let shown = text(value).unwrap_or_default();
            let help = match nearest(shown, known.iter().copied()) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("one of `{}`", known.join("`, `")),
            };
            Diagnostic::error(path, format!("unknown {name} `{shown}`")).help(help)
        }
        (_, _, Some(Value::String(text))) if text.is_empty() => Diagnostic::error(path, "must not be empty"),
        _ => {
            let detail = error.message.replace(&format!("{} in body ", error.field), "");
            let mut chars = detail.chars();
            let message = chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect());
            Diagnostic::error(path, message)
        }
    }
}

/// An element of a list that has the key of one before it. Own lists have one key, `id` or `name`.
fn duplicate(path: FieldPath, list: &str, item: &cel::value::Map) -> Diagnostic {
    let key = ["id", "name", "type"].into_iter().find_map(|key| Some((key, text(item.get(key)?)?)));
    match key {
        Some((key, value)) => Diagnostic::error(path.field(key), format!("two {list} have the {key} `{value}`")),
        None => Diagnostic::error(path, format!("this is in `{list}` already")),
    }
}

fn text(value: &Value) -> Option<&str> {
    match value {
        Value::String(text) => Some(text),
        _ => None,
    }
}

fn article(ty: SchemaType) -> &'static str {
    match ty {
        SchemaType::Object => "a map",
        SchemaType::Array => "a list",
        SchemaType::String => "a string",
        SchemaType::Integer => "an integer",
        SchemaType::Number => "a number",
        SchemaType::Boolean => "`true` or `false`",
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Map(_) => "a map",
        Value::List(_) => "a list",
        Value::String(_) => "a string",
        Value::Int(_) | Value::Uint(_) | Value::Double(_) => "a number",
        Value::Bool(_) => "a boolean in YAML",
        Value::Null => "null",
        _ => "something else",
    }
}

fn schema_at<'a>(schema: &'a Structural, steps: &[Step]) -> Option<&'a Structural> {
    steps.iter().try_fold(schema, |schema, step| match step {
        Step::Field(name) | Step::Key(name) => schema.field(name).map(|field| &**field),
        Step::Index(_) => schema.items.as_deref(),
    })
}

fn value_at<'a>(value: &'a Value, steps: &[Step]) -> Option<&'a Value> {
    steps.iter().try_fold(value, |value, step| match (step, value) {
        (Step::Field(name) | Step::Key(name), Value::Map(map)) => map.get(name),
        (Step::Index(index), Value::List(list)) => list.as_slice().get(*index),
        _ => None,
    })
}
