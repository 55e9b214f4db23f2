//! Lists: a shared vector.
//!
//! Absent: functions on lists (library).
use std::sync::Arc;

use super::{
    Value,
    teardown::{Items, drop_items},
};

/// An immutable shared list. Cloning is one reference count.
#[derive(Clone, Default)]
pub struct List(Arc<Elements>);

#[derive(Clone, Default)]
struct Elements(Vec<Value>);

impl Drop for Elements {
    fn drop(&mut self) {
        if !self.0.is_empty() {
            drop_items(Items::Values(std::mem::take(&mut self.0)));
        }
    }
}

impl List {
    /// Its elements.
    #[inline]
    pub fn as_slice(&self) -> &[Value] {
        &self.0.0
    }

    /// How many.
    #[inline]
    pub fn len(&self) -> usize {
        self.0.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.0.is_empty()
    }

    /// The elements in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Value> {
        self.0.0.iter()
    }

    /// The elements to change: in place if this is the only reference, else of a copy (one level, elements stay shared).
    pub fn make_mut(&mut self) -> &mut Vec<Value> {
        &mut Arc::make_mut(&mut self.0).0
    }

    /// Whether two are the same allocation.
    pub fn same(&self, other: &List) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl From<Vec<Value>> for List {
    fn from(values: Vec<Value>) -> List {
        List(Arc::new(Elements(values)))
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
