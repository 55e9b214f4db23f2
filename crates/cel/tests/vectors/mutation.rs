//! The types with which Kubernetes' mutating policies make objects: `Object`, its fields' `Object.spec...`, `JSONPatch`.
//!
//! Absent: what becomes of what they make.
use std::sync::Arc;

use cel::{
    Type,
    types::{Field, TypeProvider},
};

/// Also what `others` declare.
pub(crate) struct Mutation<P>(pub(crate) P);

const PATCH: [(&str, Type); 4] =
    [("op", Type::String), ("path", Type::String), ("from", Type::String), ("value", Type::Dyn)];

impl<P: TypeProvider> TypeProvider for Mutation<P> {
    fn field(&self, object: &str, name: &str) -> Option<Field> {
        if object == "JSONPatch" {
            let (name, ty) = PATCH.into_iter().find(|(known, _)| *known == name)?;
            return Some(Field { ty, key: name.into() });
        }
        if is_object(object) {
            return Some(Field { ty: Type::Dyn, key: name.into() });
        }
        self.0.field(object, name)
    }

    fn field_names(&self, object: &str) -> Vec<Arc<str>> {
        if object == "JSONPatch" {
            PATCH.iter().map(|(name, _)| (*name).into()).collect()
        } else {
            self.0.field_names(object)
        }
    }

    fn named_type(&self, name: &str) -> Option<Type> {
        if name == "JSONPatch" || is_object(name) { Some(Type::Object(name.into())) } else { self.0.named_type(name) }
    }
}

/// A type per path; what its fields hold is not known.
fn is_object(name: &str) -> bool {
    name == "Object" || name.starts_with("Object.")
}
