//! The objects of a file: one for each document, or for each item of a `List`.
//!
//! Absent: what they mean.
use std::sync::Arc;

use cel::Value;

use super::report::Finding;
use crate::{
    engine::diagnostic::{Diagnostic, FieldPath, Place},
    storage::{
        manifest::{Document, position},
        objects::GroupVersionKind,
    },
};

/// An object as it is written.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) document: Arc<Document>,
    /// Where in the document the object is.
    pub(super) prefix: FieldPath,
    pub(super) kind: GroupVersionKind,
    pub(super) namespace: Option<Arc<str>>,
    pub(super) name: Arc<str>,
    pub(super) value: Value,
}

impl Item {
    /// A finding about it.
    pub(super) fn finding(&self, diagnostic: Diagnostic) -> Finding {
        let path = self.prefix.join(&diagnostic.path);
        Finding::document(&self.document, Diagnostic { path, ..diagnostic })
    }

    /// `file:line:column`
    pub(super) fn place(&self, path: &FieldPath, place: &Place) -> String {
        let range = self.document.nearest(&self.prefix.join(path), place);
        format!("{}:{}", self.document.file, position(&self.document.text, range.start))
    }
}

/// The objects of documents.
pub(super) fn items(documents: Vec<Document>, findings: &mut Vec<Finding>) -> Vec<Item> {
    let mut items = vec![];
    for document in documents {
        let document = Arc::new(document);
        let value = document.value.clone();
        let listed = match (field(&value, "kind"), field(&value, "items")) {
            (Some(Value::String(kind)), Some(Value::List(list))) if kind.ends_with("List") => Some(list.clone()),
            _ => None,
        };
        match listed {
            Some(list) => {
                let path = FieldPath::root().field("items");
                for (i, value) in list.as_slice().iter().enumerate() {
                    items.extend(item(&document, path.index(i), value, findings));
                }
            }
            None => items.extend(item(&document, FieldPath::root(), &value, findings)),
        }
    }
    items
}

fn item(document: &Arc<Document>, prefix: FieldPath, value: &Value, findings: &mut Vec<Finding>) -> Option<Item> {
    if !matches!(value, Value::Map(_)) {
        let diagnostic = Diagnostic::error(prefix, "an object of Kubernetes is a map");
        findings.push(Finding::document(document, diagnostic));
        return None;
    }
    let mut text = |parent: Option<&Value>, path: FieldPath, name: &str| {
        let path = path.field(name);
        let diagnostic = match parent.and_then(|parent| field(parent, name)) {
            Some(Value::String(text)) if !text.is_empty() => return Some(Arc::clone(text)),
            None | Some(Value::Null | Value::String(_)) => Diagnostic::error(path, format!("missing field `{name}`")),
            Some(other) => {
                let diagnostic = Diagnostic::error(path.clone(), format!("`{name}` must be a string"));
                let spelt = document.locate(&path, &Place::Value).and_then(|range| document.text.get(range));
                match (other, spelt) {
                    (Value::Bool(_), Some(spelt)) => {
                        diagnostic.help(format!("quote it: `{spelt}` is a boolean in YAML"))
                    }
                    (Value::Int(_) | Value::Double(_), _) => diagnostic.help("quote it"),
                    _ => diagnostic,
                }
            }
        };
        findings.push(Finding::document(document, diagnostic));
        None
    };
    let metadata = field(value, "metadata");
    let api_version = text(Some(value), prefix.clone(), "apiVersion");
    let kind = text(Some(value), prefix.clone(), "kind");
    let name = text(metadata, prefix.field("metadata"), "name");
    let namespace = match metadata.and_then(|metadata| field(metadata, "namespace")) {
        Some(Value::String(text)) if !text.is_empty() => Some(Arc::clone(text)),
        _ => None,
    };
    Some(Item {
        document: Arc::clone(document),
        prefix,
        kind: GroupVersionKind::of(&api_version?, &kind?),
        namespace,
        name: name?,
        value: value.clone(),
    })
}

pub(super) fn field<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    match value {
        Value::Map(map) => map.get(name),
        _ => None,
    }
}
