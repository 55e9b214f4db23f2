//! The schema of what expressions give: types -> [`Structural`].
//!
//! Absent: the expressions (the plan).
use std::sync::Arc;

use cel::Type;

use crate::engine::schema::{
    MAX_DEPTH, Structural,
    structural::{Additional, SchemaType},
    types::Registry,
};

/// The schema of a type; objects by name are the registry's. What cannot be known is anything.
pub fn from_type(ty: &Type, registry: &Registry) -> Structural {
    at(ty, registry, 0)
}

fn at(ty: &Type, registry: &Registry, depth: usize) -> Structural {
    if depth > MAX_DEPTH {
        return Structural::anything();
    }
    match ty {
        Type::Bool => Structural::of(SchemaType::Boolean),
        Type::Int => integer("int64"),
        Type::Uint => {
            let mut schema = integer("uint64");
            schema.validation.minimum = Some(0.0);
            schema
        }
        Type::Double => {
            let mut schema = Structural::of(SchemaType::Number);
            schema.validation.format = Some("double".into());
            schema
        }
        Type::String | Type::Type(_) => Structural::of(SchemaType::String),
        Type::Bytes => Structural::formatted("byte"),
        Type::Timestamp => Structural::formatted("date-time"),
        Type::Duration => Structural::formatted("duration"),
        Type::Wrapper(inner) => Structural { nullable: true, ..at(inner, registry, depth + 1) },
        // None leaves the field out.
        Type::Optional(inner) => at(inner, registry, depth + 1),
        Type::List(element) => Structural::array(at(element, registry, depth + 1)),
        Type::Map(entry) => {
            let values = at(&entry.1, registry, depth + 1);
            Structural { additional: Some(Additional::Schema(Arc::new(values))), ..Structural::of(SchemaType::Object) }
        }
        Type::Object(name) => registry.schema(name).map_or_else(Structural::anything, |schema| plain(schema)),
        // Quantities, addresses, versions, ... are written as strings.
        Type::Opaque(..) => Structural::of(SchemaType::String),
        Type::Dyn | Type::Error | Type::Null | Type::Param(_) => Structural::anything(),
    }
}

fn integer(format: &str) -> Structural {
    let mut schema = Structural::of(SchemaType::Integer);
    schema.validation.format = Some(format.into());
    schema
}

/// What is answered is of this shape; what was asked of the input (required fields, rules, defaults) is not promised.
fn plain(schema: &Structural) -> Structural {
    Structural { default: None, rules: Vec::new(), ..schema.clone() }
}
