//! Reading the fields of a document with their paths.
//!
//! Absent: whether they are right (own).
use std::sync::Arc;

use cel::{Value, value::Key};

use crate::engine::diagnostic::FieldPath;

/// A field that is there.
#[derive(Clone, Debug)]
pub(crate) struct Field<'a> {
    pub(crate) value: &'a Value,
    pub(crate) path: FieldPath,
}

impl<'a> Field<'a> {
    pub(crate) fn root(value: &'a Value) -> Field<'a> {
        Field { value, path: FieldPath::root() }
    }

    /// A field of this one.
    pub(crate) fn get(&self, name: &str) -> Option<Field<'a>> {
        match self.value {
            Value::Map(map) => map.get(name).map(|value| Field { value, path: self.path.field(name) }),
            _ => None,
        }
    }

    /// The elements of a list that is a field of this one; none if there is no list.
    pub(crate) fn items(&self, name: &str) -> Vec<Field<'a>> {
        let Some(Field { value: Value::List(list), path }) = self.get(name) else { return vec![] };
        list.as_slice().iter().enumerate().map(|(i, value)| Field { value, path: path.index(i) }).collect()
    }

    /// The entries of this map.
    pub(crate) fn entries(&self) -> Vec<(Arc<str>, Field<'a>)> {
        let Value::Map(map) = self.value else { return vec![] };
        map.iter()
            .filter_map(|(key, value)| match key {
                Key::String(key) => Some((Arc::clone(key), Field { value, path: self.path.field(key) })),
                _ => None,
            })
            .collect()
    }

    /// The text of a field of this one.
    pub(crate) fn text(&self, name: &str) -> Option<Arc<str>> {
        self.get(name)?.own_text()
    }

    /// The texts of a list that is a field of this one.
    pub(crate) fn texts(&self, name: &str) -> Vec<Arc<str>> {
        self.items(name).iter().filter_map(Field::own_text).collect()
    }

    pub(crate) fn own_text(&self) -> Option<Arc<str>> {
        match self.value {
            Value::String(text) => Some(Arc::clone(text)),
            _ => None,
        }
    }

    /// The boolean of a field of this one.
    pub(crate) fn flag(&self, name: &str) -> Option<bool> {
        match self.get(name)?.value {
            Value::Bool(flag) => Some(*flag),
            _ => None,
        }
    }

    /// The number of a field of this one, if it is one of 32 bits without a sign.
    pub(crate) fn number(&self, name: &str) -> Option<u32> {
        match self.get(name)?.value {
            Value::Int(number) => u32::try_from(*number).ok(),
            _ => None,
        }
    }
}
