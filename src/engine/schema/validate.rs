//! Whether a value fits a schema, in kube-apiserver's words (kube-openapi's validator as the API server uses it).
//!
//! Its order is the schema's where upstream's is that of a Go map. Absent: rules in CEL (rules), defaults and pruning (admit).
use cel::{
    Value,
    value::{Key, Map},
};

use crate::engine::{
    diagnostic::FieldPath,
    schema::{
        FieldError, MAX_DEPTH, Structural,
        field_error::{self, Reason, go_float},
        format, lists,
        structural::{SchemaType, Validation},
        trail::Trail,
    },
};

mod numbers;

/// Errors listed for one object; who sends a million wrong items wants no million answers.
pub(super) const MAX_ERRORS: usize = 256;

/// All that does not fit, in the order of the schema. The value is pruned and defaulted.
pub fn validate(schema: &Structural, value: &Value, path: &FieldPath) -> Vec<FieldError> {
    let mut errors = Errors::default();
    let at = Trail::Root(path);
    node(schema, value, &at, &mut errors, 0);
    lists::check(schema, value, &at, &mut errors, 0);
    errors.0
}

/// Whether an error keeps rules from being evaluated, as it makes them meaningless.
pub fn blocks_rules(error: &FieldError) -> bool {
    use Reason::{Duplicate, NotSupported, Required, TooLong, TooMany, TypeInvalid};
    matches!(error.reason, NotSupported | Required | TooLong | Duplicate | TooMany | TypeInvalid)
}

/// What was found, bounded.
#[derive(Default)]
pub(super) struct Errors(Vec<FieldError>);

impl Errors {
    pub(super) fn push(&mut self, error: FieldError) {
        if !self.is_full() {
            self.0.push(error);
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.0.len() >= MAX_ERRORS
    }
}

fn node(schema: &Structural, value: &Value, at: &Trail<'_>, errors: &mut Errors, depth: usize) {
    if errors.is_full() {
        return;
    }
    if depth > MAX_DEPTH {
        errors.push(field_error::invalid_omitted(&at.path(), &format!("nests deeper than {MAX_DEPTH} levels")));
        return;
    }
    if matches!(value, Value::Null) {
        if !schema.nullable && (schema.ty.is_some() || schema.int_or_string) {
            errors.push(wrong_type(at, &type_names(schema), "null"));
        }
        if !schema.nullable {
            enumeration(&schema.validation, value, at, errors);
        }
        return;
    }
    check_type(schema, value, at, errors);
    junctors(&schema.validation, value, at, errors, depth);
    match value {
        Value::String(text) => string(schema, text, value, at, errors),
        Value::Int(_) | Value::Uint(_) | Value::Double(_) => numbers::check(schema, value, at, errors),
        Value::List(list) if fits(schema, SchemaType::Array) => {
            if let Some(items) = &schema.items {
                for (i, item) in list.as_slice().iter().enumerate() {
                    node(items, item, &Trail::Index(at, i), errors, depth + 1);
                }
            }
            items_count(&schema.validation, list.len() as u64, at, errors);
        }
        _ => {}
    }
    enumeration(&schema.validation, value, at, errors);
    if let Value::Map(map) = value
        && fits(schema, SchemaType::Object)
    {
        object(schema, map, at, errors, depth);
    }
}

/// Whether a schema says something of values of this type; nested validations, which have no type, always may.
fn fits(schema: &Structural, ty: SchemaType) -> bool {
    schema.ty.is_none_or(|t| t == ty)
}

/// `spec.depth in body`
fn within(at: &Trail<'_>) -> String {
    format!("{} in body", at.dotted())
}

fn wrong_type(at: &Trail<'_>, expected: &str, got: &str) -> FieldError {
    let detail = format!("{} must be of type {expected}: {}", within(at), field_error::quote(got));
    field_error::type_invalid(&at.path(), &Value::from(got), &detail)
}

fn invalid(at: &Trail<'_>, value: &Value, what: std::fmt::Arguments<'_>) -> FieldError {
    field_error::invalid(&at.path(), value, &format!("{} {what}", within(at)))
}

/// An error that upstream gives no field.
fn fieldless(detail: &str) -> FieldError {
    field_error::invalid(&FieldPath::root(), &Value::from(""), detail)
}

fn type_names(schema: &Structural) -> String {
    match schema.ty {
        Some(ty) => ty.as_str().to_owned(),
        None => "integer,string".to_owned(),
    }
}

/// What Go's reflection calls a value, and its format.
fn go_type(value: &Value) -> (&'static str, &'static str) {
    match value {
        Value::Null => ("null", ""),
        Value::Bool(_) => ("boolean", ""),
        Value::Int(_) | Value::Uint(_) => ("integer", "int64"),
        Value::Double(number) if number.fract() == 0.0 && number.abs() < 9_223_372_036_854_775_808.0 => {
            ("integer", "int64")
        }
        Value::Double(_) => ("number", "float64"),
        Value::List(_) => ("array", ""),
        Value::Map(_) => ("object", ""),
        _ => ("string", ""),
    }
}

fn check_type(schema: &Structural, value: &Value, at: &Trail<'_>, errors: &mut Errors) {
    let (got, got_format) = go_type(value);
    let right = match schema.ty {
        None if schema.int_or_string => matches!(got, "integer" | "string"),
        None => return,
        Some(SchemaType::Number) => matches!(got, "integer" | "number"),
        Some(ty) => ty.as_str() == got,
    };
    if right {
        return;
    }
    // A scalar that is no string is compared with the format where there is one.
    let by_format = schema.validation.format.as_deref().filter(|_| !matches!(value, Value::String(_) | Value::List(_)));
    errors.push(match by_format {
        Some(format) => wrong_type(at, format, got_format),
        None => wrong_type(at, &type_names(schema), got),
    });
}

fn string(schema: &Structural, text: &str, value: &Value, at: &Trail<'_>, errors: &mut Errors) {
    let validation = &schema.validation;
    // Bytes bound code points from both sides, so that most strings need no counting.
    let longer = |most: u64| text.len() as u64 > most && text.chars().count() as u64 > most;
    let shorter = |least: u64| (text.len() as u64) < least || (text.chars().count() as u64) < least;
    if let Some(most) = validation.max_length.filter(|most| longer(*most)) {
        errors.push(field_error::too_long(&at.path(), most));
    } else if let Some(least) = validation.min_length.filter(|least| shorter(*least)) {
        errors.push(invalid(at, value, format_args!("should be at least {least} chars long")));
    } else if let Some(pattern) = validation.pattern.as_ref().filter(|pattern| !pattern.is_match(text)) {
        errors.push(invalid(at, value, format_args!("should match '{}'", pattern.as_str())));
    }
    if let Some(format) = validation.format.as_deref().filter(|_| fits(schema, SchemaType::String))
        && !format::is_valid(format, text)
    {
        errors.push(wrong_type(at, format, text));
    }
}

fn items_count(validation: &Validation, count: u64, at: &Trail<'_>, errors: &mut Errors) {
    if let Some(least) = validation.min_items.filter(|least| count < *least) {
        let count = Value::Int(i64::try_from(count).unwrap_or(i64::MAX));
        errors.push(invalid(at, &count, format_args!("should have at least {least} items")));
    }
    if let Some(most) = validation.max_items.filter(|most| count > *most) {
        errors.push(field_error::too_many(&at.path(), count, most));
    }
}

fn enumeration(validation: &Validation, value: &Value, at: &Trail<'_>, errors: &mut Errors) {
    if validation.enumeration.is_empty() || validation.enumeration.iter().any(|allowed| allowed == value) {
        return;
    }
    let supported: Vec<String> = validation.enumeration.iter().map(plain).collect();
    errors.push(field_error::not_supported(&at.path(), value, &supported));
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.to_string(),
        Value::Double(number) => go_float(*number),
        other => super::json::to_json(other).to_string(),
    }
}

fn object(schema: &Structural, map: &Map, at: &Trail<'_>, errors: &mut Errors, depth: usize) {
    let validation = &schema.validation;
    let count = map.len() as u64;
    if let Some(least) = validation.min_properties.filter(|least| count < *least) {
        let count = Value::Int(i64::try_from(count).unwrap_or(i64::MAX));
        errors.push(invalid(at, &count, format_args!("should have at least {least} properties")));
    }
    if let Some(most) = validation.max_properties.filter(|most| count > *most) {
        errors.push(field_error::too_many(&at.path(), count, most));
    }
    let missing = |name: &str| validation.required.iter().any(|r| &**r == name);
    for (name, property) in schema.properties.iter() {
        match map.get(name) {
            Some(value) => node(property, value, &Trail::Field(at, name), errors, depth + 1),
            None if missing(name) => errors.push(field_error::required(&Trail::Field(at, name).path(), "")),
            None => {}
        }
    }
    for name in validation.required.iter().filter(|name| schema.properties.get(name).is_none()) {
        if map.get(name).is_none() {
            errors.push(field_error::required(&Trail::Field(at, name).path(), ""));
        }
    }
    if let Some(super::structural::Additional::Schema(values)) = &schema.additional {
        for (key, value) in map.iter() {
            if let Key::String(name) = key
                && schema.properties.get(name).is_none()
            {
                node(values, value, &Trail::Field(at, name), errors, depth + 1);
            }
        }
    }
}

/// `allOf`, `anyOf`, `oneOf`, `not`.
fn junctors(validation: &Validation, value: &Value, at: &Trail<'_>, errors: &mut Errors, depth: usize) {
    let try_one = |schema: &Structural| {
        let mut found = Errors::default();
        node(schema, value, at, &mut found, depth + 1);
        found.0
    };
    let name = || field_error::quote(&at.dotted());
    if !validation.any_of.is_empty() {
        let failures: Vec<Vec<FieldError>> = validation.any_of.iter().map(|s| try_one(s)).collect();
        if failures.iter().all(|f| !f.is_empty()) {
            errors.push(fieldless(&format!("{} must validate at least one schema (anyOf)", name())));
            closest(failures, errors);
        }
    }
    if !validation.one_of.is_empty() {
        let failures: Vec<Vec<FieldError>> = validation.one_of.iter().map(|s| try_one(s)).collect();
        let valid = failures.iter().filter(|f| f.is_empty()).count();
        if valid != 1 {
            let found =
                if valid == 0 { "Found none valid".to_owned() } else { format!("Found {valid} valid alternatives") };
            errors.push(fieldless(&format!("{} must validate one and only one schema (oneOf). {found}", name())));
            if valid == 0 {
                closest(failures, errors);
            }
        }
    }
    if !validation.all_of.is_empty() {
        let failures: Vec<Vec<FieldError>> = validation.all_of.iter().map(|s| try_one(s)).collect();
        let failed = failures.iter().filter(|f| !f.is_empty()).count();
        if failed > 0 {
            let none = if failed == failures.len() { ". None validated" } else { "" };
            errors.push(fieldless(&format!("{} must validate all the schemas (allOf){none}", name())));
            failures.into_iter().flatten().for_each(|error| errors.push(error));
        }
    }
    if let Some(not) = &validation.not
        && try_one(not).is_empty()
    {
        errors.push(fieldless(&format!("{} must not validate the schema (not)", name())));
    }
}

/// The failures of the alternative that came closest.
fn closest(failures: Vec<Vec<FieldError>>, errors: &mut Errors) {
    for error in failures.into_iter().min_by_key(Vec::len).into_iter().flatten() {
        errors.push(error);
    }
}
