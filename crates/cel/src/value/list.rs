//! Lists: a shared vector.
//!
//! Absent: functions on lists (library).
use std::sync::Arc;

use super::{
    Identity, Value,
    identity::{self, Spend},
    teardown::{Items, drop_items},
};
use crate::eval::Halt;

/// An immutable shared list. Cloning is one reference count.
#[derive(Clone, Default)]
pub struct List(Arc<Elements>);

#[derive(Clone, Default)]
struct Elements {
    values: Vec<Value>,
    identity: Option<Arc<Identity>>,
}

impl Drop for Elements {
    fn drop(&mut self) {
        if !self.values.is_empty() {
            drop_items(Items::Values(std::mem::take(&mut self.values)));
        }
    }
}

impl List {
    /// Its elements.
    #[inline]
    pub fn as_slice(&self) -> &[Value] {
        &self.0.values
    }

    /// How many.
    #[inline]
    pub fn len(&self) -> usize {
        self.0.values.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.values.is_empty()
    }

    /// The elements in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Value> {
        self.0.values.iter()
    }

    /// The elements to change: in place if this is the only reference, else of a copy (one level, elements stay shared).
    pub fn make_mut(&mut self) -> &mut Vec<Value> {
        &mut Arc::make_mut(&mut self.0).values
    }

    /// A list whose elements have an identity: a Kubernetes set or map list. INVARIANT (the caller's): no two are the same.
    pub fn with_identity(values: Vec<Value>, identity: Arc<Identity>) -> List {
        List(Arc::new(Elements { values, identity: Some(identity) }))
    }

    /// What makes its elements the same, if it is more than their place.
    #[inline]
    pub fn identity(&self) -> Option<&Identity> {
        self.0.identity.as_deref()
    }

    /// `+`: appends in place if this is the only reference, else to a copy; with an identity merges, and keeps the identity.
    pub(crate) fn joined(mut self, other: &List, spend: Spend<'_>) -> Result<List, Halt> {
        if let Some(identity) = &self.0.identity {
            let merged = identity::merge(identity, &self, other, spend)?;
            return Ok(List::with_identity(merged, identity.clone()));
        }
        let copied = if Arc::strong_count(&self.0) == 1 { other.len() } else { self.len() + other.len() };
        spend((copied * size_of::<Value>()) as u64)?;
        self.make_mut().extend_from_slice(other.as_slice());
        Ok(self)
    }

    /// Whether two are the same allocation.
    pub fn same(&self, other: &List) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// Adds a clone. Written out for the frequent kinds, since a value that was just made word by word is not moved as quickly: a
/// compiler loads more than a word at once, which waits until the words are out.
#[inline]
pub(crate) fn push_clone(values: &mut Vec<Value>, value: &Value) {
    match value {
        Value::Int(i) => values.push(Value::Int(*i)),
        Value::Double(d) => values.push(Value::Double(*d)),
        Value::String(s) => values.push(Value::String(s.clone())),
        Value::Map(m) => values.push(Value::Map(m.clone())),
        other => values.push(other.clone()),
    }
}

impl From<Vec<Value>> for List {
    fn from(values: Vec<Value>) -> List {
        List(Arc::new(Elements { values, identity: None }))
    }
}

impl FromIterator<Value> for List {
    fn from_iter<I: IntoIterator<Item = Value>>(values: I) -> List {
        List::from(Vec::from_iter(values))
    }
}

impl<'a> IntoIterator for &'a List {
    type Item = &'a Value;
    type IntoIter = std::slice::Iter<'a, Value>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
