//! The schema that is published: what a consumer may send, and the `status` that the expressions give.
//!
//! Absent: the OpenAPI document (server).
use std::sync::Arc;

use cel::{Type, Value, value::Key};

use crate::engine::{
    plan::Template,
    schema::{Structural, from_type, structural::SchemaType, types::Registry},
};

/// The whole object with `status`.
pub(crate) fn with_status(schema: &Structural, status: Option<&Template>, registry: &Registry) -> Structural {
    let Some(status) = status else { return schema.clone() };
    let mut status = of_template(status, registry);
    status.description = Some("The answer; computed on create, never stored.".into());
    Structural { properties: schema.properties.with("status", Arc::new(status)), ..schema.clone() }
}

/// Recursion is bounded by the template's depth.
fn of_template(template: &Template, registry: &Registry) -> Structural {
    match template {
        Template::Constant(value) => of_constant(value),
        Template::Text(_) => Structural::of(SchemaType::String),
        Template::Expression(expression) => match &expression.ty {
            Type::Optional(inner) => from_type(inner, registry),
            ty => from_type(ty, registry),
        },
        Template::Map(fields) => Structural::object(
            fields.iter().map(|(name, template)| (name.clone(), Arc::new(of_template(template, registry)))),
        ),
        Template::List(elements) => of_elements(elements.iter().map(|element| of_template(element, registry))),
    }
}

fn of_constant(value: &Value) -> Structural {
    match value {
        Value::Bool(_) => Structural::of(SchemaType::Boolean),
        Value::Int(_) | Value::Uint(_) => Structural::of(SchemaType::Integer),
        Value::Double(_) => Structural::of(SchemaType::Number),
        Value::String(_) => Structural::of(SchemaType::String),
        Value::List(list) => of_elements(list.as_slice().iter().map(of_constant)),
        Value::Map(map) => Structural::object(map.iter().filter_map(|(key, value)| match key {
            Key::String(key) => Some((key.clone(), Arc::new(of_constant(value)))),
            _ => None,
        })),
        _ => Structural::anything(),
    }
}

/// The schema of elements that all have one type, or of anything.
fn of_elements(mut elements: impl Iterator<Item = Structural>) -> Structural {
    let Some(first) = elements.next() else { return Structural::array(Structural::anything()) };
    let simple = first.ty.is_some() && first.ty != Some(SchemaType::Object) && first.ty != Some(SchemaType::Array);
    let same = simple && elements.all(|element| element.ty == first.ty);
    Structural::array(if same { first } else { Structural::anything() })
}
