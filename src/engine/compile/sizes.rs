//! How large the variables of a plan can get, for the estimate of its expressions.
//!
//! Kubernetes estimates rules over one object. Here a variable may be a list of objects, or what another expression gives:
//! its size is what was estimated of that one.
//!
//! Absent: schemas' own sizes (schema::sizes).
use std::{collections::HashMap, sync::Arc};

use cel::{
    Type,
    estimate::{Declaration, Declared, Estimate, Limits, Sizes},
};

use crate::engine::schema::{Structural, types::Registry};

/// What is known of a plan's variables.
#[derive(Clone, Default)]
pub(super) struct Known {
    variables: HashMap<Arc<str>, (Size, Limits)>,
    /// The names of the types of stored objects, whose limits the author does not set.
    stored: Vec<Arc<str>>,
}

/// What is known of a value.
#[derive(Clone)]
pub(super) enum Size {
    /// Of what fits a schema.
    Schema(Arc<Structural>),
    /// Of the object that is created: the author's schema, but for metadata.
    Object(Arc<Structural>),
    /// A text, list or map of at most so many elements, of which something may be known too.
    Most(u64, Option<Box<Size>>),
}

/// [`Known`] variables, and the object types of the plan.
pub(super) struct Lookup<'a> {
    pub(super) known: &'a Known,
    pub(super) registry: &'a Registry,
}

impl Known {
    /// Whoever is estimated from now on knows it.
    pub(super) fn learn(&mut self, variable: &str, size: Option<Size>, limits: Limits) {
        if let Some(size) = size {
            self.variables.insert(variable.into(), (size, limits));
        }
    }

    /// Objects of this type are stored ones.
    pub(super) fn learn_stored(&mut self, ty: &str) {
        self.stored.push(ty.into());
    }
}

impl Size {
    /// A list of these.
    pub(super) fn list(max: u64, of: Option<Size>) -> Size {
        Size::Most(max, of.map(Box::new))
    }

    /// Of what an expression gives. Objects are known by their types.
    pub(super) fn of_result(ty: &Type, estimate: &Estimate) -> Option<Size> {
        let elements = || Size::of_element(estimate).map(Box::new);
        match (ty, estimate.size) {
            (Type::List(_) | Type::Map(_) | Type::Dyn | Type::String | Type::Bytes, Some(size)) => {
                Some(Size::Most(size.max, elements()))
            }
            _ => None,
        }
    }

    /// Of an element of what an expression gives.
    pub(super) fn of_element(estimate: &Estimate) -> Option<Size> {
        estimate.elements.map(|size| Size::Most(size.max, None))
    }
}

impl Sizes for Lookup<'_> {
    fn variable(&self, name: &str) -> Option<Declaration<'_>> {
        self.known.variables.get(name).map(|(schema, limits)| Declaration { schema, limits: *limits })
    }

    fn is_precise(&self) -> bool {
        true
    }

    fn object(&self, name: &str) -> Option<Declaration<'_>> {
        let within = |root: &Arc<str>| {
            name.strip_prefix(&**root).is_some_and(|rest| matches!(rest.bytes().next(), None | Some(b'.')))
        };
        let usual =
            self.known.stored.iter().any(within) || name.starts_with("request") || name.starts_with("object.metadata");
        let limits = if usual { Limits::Usual } else { Limits::Possible };
        self.registry.schema(name).map(|schema| Declaration { schema: &**schema, limits })
    }
}

impl Declared for Size {
    fn max_elements(&self, limits: Limits) -> u64 {
        match self {
            Size::Schema(schema) | Size::Object(schema) => schema.max_elements(limits),
            Size::Most(max, _) => *max,
        }
    }

    fn elements(&self) -> Option<&dyn Declared> {
        match self {
            Size::Schema(schema) | Size::Object(schema) => schema.elements(),
            Size::Most(_, elements) => elements.as_deref().map(|size| size as &dyn Declared),
        }
    }

    fn keys(&self) -> Option<&dyn Declared> {
        match self {
            Size::Schema(schema) | Size::Object(schema) => schema.keys(),
            Size::Most(..) => None,
        }
    }

    fn field(&self, name: &str) -> Option<&dyn Declared> {
        match self {
            Size::Schema(schema) | Size::Object(schema) => Declared::field(&**schema, name),
            Size::Most(..) => None,
        }
    }

    fn field_limits(&self, name: &str) -> Option<Limits> {
        (name == "metadata" && matches!(self, Size::Object(_))).then_some(Limits::Usual)
    }
}
