//! Markers: what they mean for a field's schema.
//!
//! Absent: how they are written (text).
use std::sync::Arc;

use cel::Value;

use super::{
    suggestion,
    text::{Marker, TextError, error},
};
use crate::engine::{
    diagnostic::FieldPath,
    schema::{
        Structural, format,
        json::from_json,
        parse::default_value,
        pattern::Pattern,
        structural::{ListType, Origin, Rule, SchemaType},
    },
};

const MARKERS: [&str; 15] = [
    "required",
    "default",
    "description",
    "enum",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "pattern",
    "minItems",
    "maxItems",
    "uniqueItems",
    "immutable",
    "validation",
    "format",
];

/// Whether there is such a marker.
pub(super) fn is_known(name: &str) -> bool {
    MARKERS.contains(&name)
}

/// The schema with its markers, and whether the field is required. The default is judged last, when all else is known.
pub(super) fn apply(mut schema: Structural, markers: &[Marker<'_>], errors: &mut Vec<TextError>) -> (Structural, bool) {
    let mut required = false;
    let before = errors.len();
    for (i, marker) in markers.iter().enumerate() {
        let name = marker.name.is;
        if markers.iter().take(i).any(|m| m.name.is == name) && name != "validation" {
            errors.push(error(format!("marker `{name}` stands twice"), marker.name.at.clone(), None));
        } else if let Err(e) = one(&mut schema, marker, &mut required) {
            errors.push(*e);
        }
    }
    limits(&schema, markers, errors);
    if errors.len() == before
        && let Some(marker) = markers.iter().find(|m| m.name.is == "default")
    {
        match default(&schema, marker) {
            Ok(value) => schema.default = Some(value),
            Err(e) => errors.push(*e),
        }
    }
    (schema, required)
}

type Applied = Result<(), Box<TextError>>;

fn one(schema: &mut Structural, marker: &Marker<'_>, required: &mut bool) -> Applied {
    let text = marker.value.is.as_str();
    match marker.name.is {
        "required" => *required = flag(marker)?,
        "default" => {}
        "description" => schema.description = Some(text.into()),
        "enum" => schema.validation.enumeration = enumeration(schema, marker)?,
        "minimum" => {
            only(schema, marker, &[SchemaType::Integer, SchemaType::Number])?;
            schema.validation.minimum = Some(number(marker)?);
        }
        "maximum" => {
            only(schema, marker, &[SchemaType::Integer, SchemaType::Number])?;
            schema.validation.maximum = Some(number(marker)?);
        }
        "minLength" => schema.validation.min_length = Some(count(schema, marker, SchemaType::String)?),
        "maxLength" => schema.validation.max_length = Some(count(schema, marker, SchemaType::String)?),
        "minItems" => schema.validation.min_items = Some(count(schema, marker, SchemaType::Array)?),
        "maxItems" => schema.validation.max_items = Some(count(schema, marker, SchemaType::Array)?),
        "pattern" => {
            only(schema, marker, &[SchemaType::String])?;
            let compiled = Pattern::new(text)
                .map_err(|why| wrong(marker, format!("must be a regular expression of RE2: {why}")))?;
            schema.validation.pattern = Some(compiled);
        }
        "format" => schema.validation.format = Some(formatted(schema, marker)?),
        "uniqueItems" => {
            only(schema, marker, &[SchemaType::Array])?;
            if flag(marker)? {
                let items = schema.items.as_deref().and_then(|items| items.ty);
                if matches!(items, Some(SchemaType::Object | SchemaType::Array)) {
                    return Err(wrong(marker, "is for lists of scalars".to_owned()));
                }
                schema.list_type = Some(ListType::Set);
            }
        }
        "immutable" => {
            if flag(marker)? {
                schema.rules.push(rule("self == oldSelf", "field is immutable", marker));
            }
        }
        "validation" => {
            if text.trim().is_empty() {
                return Err(wrong(marker, "must be an expression giving a bool".to_owned()));
            }
            schema.rules.push(rule(text, "validation failed", marker));
        }
        other => {
            let help = suggestion(other, MARKERS);
            return Err(Box::new(error(format!("unknown marker `{other}`"), marker.name.at.clone(), help)));
        }
    }
    Ok(())
}

/// The path of its origin is the field's, which the caller knows.
fn rule(text: &str, message: &str, marker: &Marker<'_>) -> Rule {
    let at = marker.value.at.clone();
    let quotes = usize::from(at.len() == text.len() + 2);
    let exact = at.len() == text.len() + 2 * quotes && text == marker.value.is;
    let origin = Origin { path: FieldPath::root(), bytes: at.start + quotes..at.end - quotes, exact };
    Rule { rule: text.into(), message: Some(message.into()), origin: Some(origin), ..Rule::default() }
}

fn wrong(marker: &Marker<'_>, message: String) -> Box<TextError> {
    Box::new(error(format!("marker `{}` {message}", marker.name.is), marker.value.at.clone(), None))
}

fn only(schema: &Structural, marker: &Marker<'_>, types: &[SchemaType]) -> Applied {
    if schema.ty.is_some_and(|ty| types.contains(&ty)) {
        return Ok(());
    }
    let names: Vec<&str> = types.iter().map(|ty| ty.as_str()).collect();
    let ty = schema.ty.map_or("object", SchemaType::as_str);
    let message = format!("marker `{}` is for {}, and this is {ty}", marker.name.is, names.join(" and "));
    Err(Box::new(error(message, marker.name.at.clone(), None)))
}

fn flag(marker: &Marker<'_>) -> Result<bool, Box<TextError>> {
    match marker.value.is.as_str() {
        "true" | "True" | "TRUE" | "t" | "T" | "1" => Ok(true),
        "false" | "False" | "FALSE" | "f" | "F" | "0" => Ok(false),
        other => Err(wrong(marker, format!("must be true or false, not `{other}`"))),
    }
}

fn number(marker: &Marker<'_>) -> Result<f64, Box<TextError>> {
    let number: Option<f64> = marker.value.is.parse().ok().filter(|n: &f64| n.is_finite());
    number.ok_or_else(|| wrong(marker, format!("must be a number, not `{}`", marker.value.is)))
}

fn count(schema: &Structural, marker: &Marker<'_>, ty: SchemaType) -> Result<u64, Box<TextError>> {
    only(schema, marker, &[ty])?;
    let text = &marker.value.is;
    text.parse().map_err(|_| wrong(marker, format!("must be an integer of at least 0, not `{text}`")))
}

fn formatted(schema: &Structural, marker: &Marker<'_>) -> Result<Arc<str>, Box<TextError>> {
    only(schema, marker, &[SchemaType::String, SchemaType::Integer, SchemaType::Number])?;
    let text = marker.value.is.as_str();
    if !format::KNOWN.contains(&text) {
        let found = wrong(marker, format!("names no format that is known: `{text}`"));
        return Err(Box::new(TextError { help: suggestion(text, format::KNOWN), ..*found }));
    }
    Ok(text.into())
}

fn enumeration(schema: &Structural, marker: &Marker<'_>) -> Result<Vec<Value>, Box<TextError>> {
    only(schema, marker, &[SchemaType::String, SchemaType::Integer])?;
    marker
        .value
        .is
        .split(',')
        .map(|part| {
            let part = part.trim();
            if part.is_empty() {
                return Err(wrong(marker, "has an empty value".to_owned()));
            }
            match schema.ty {
                Some(SchemaType::Integer) => {
                    let int = part.parse().map_err(|_| wrong(marker, format!("must hold integers, not `{part}`")));
                    int.map(Value::Int)
                }
                _ => Ok(Value::from(part)),
            }
        })
        .collect()
}

/// A default of the field's type: strings as they are, the rest as JSON.
fn default(schema: &Structural, marker: &Marker<'_>) -> Result<Value, Box<TextError>> {
    let text = marker.value.is.as_str();
    let value = if schema.ty == Some(SchemaType::String) {
        Value::from(text)
    } else {
        let json = serde_json::from_str(text).map_err(|_| {
            let ty = schema.ty.map_or("object", SchemaType::as_str);
            wrong(marker, format!("does not fit: `{text}` is not of type {ty}"))
        })?;
        from_json(&json)
    };
    default_value(schema, &value).map_err(|wrongs| wrong(marker, wrongs.join("; ")))
}

fn limits(schema: &Structural, markers: &[Marker<'_>], errors: &mut Vec<TextError>) {
    let v = &schema.validation;
    let at = |name: &str| markers.iter().find(|m| m.name.is == name).map(|m| m.value.at.clone());
    #[expect(clippy::cast_precision_loss, reason = "only compared and shown")]
    let float = |n: Option<u64>| n.map(|n| n as f64);
    for (least, most, name, other) in [
        (v.minimum, v.maximum, "minimum", "maximum"),
        (float(v.min_length), float(v.max_length), "minLength", "maxLength"),
        (float(v.min_items), float(v.max_items), "minItems", "maxItems"),
    ] {
        if let (Some(least), Some(most)) = (least, most)
            && let Some(at) = at(name).filter(|_| least > most)
        {
            errors.push(error(format!("`{name}` {least} is greater than `{other}` {most}"), at, None));
        }
    }
}
