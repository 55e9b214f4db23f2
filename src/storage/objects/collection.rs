//! The objects of one kind in one namespace, indexed by their labels.
//!
//! What expressions get of a list is made once and shared until an object of it changes: it is handed out by reference, so
//! that a list of a thousand objects costs a request what a list of one does. INVARIANTS: each object is in `all` and in one
//! shelf of `labelled` for each of its labels; no shelf but `all` is empty.
//! Absent: revisions of stores and kinds (objects), what selectors mean (selector).
use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, OnceLock},
};

use cel::{
    Value,
    value::{Key, List},
};

use super::Object;
use crate::storage::selector::LabelSelector;

/// Objects by name.
#[derive(Debug, Default)]
pub(super) struct Collection {
    /// When one of them last changed, or went.
    pub(super) revision: u64,
    all: Shelf,
    /// By a label's key, then by its value.
    labelled: HashMap<Arc<str>, HashMap<Arc<str>, Shelf>>,
}

/// What a list gives expressions.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// The final forms.
    pub typed: List,
    /// The revisions of the objects in the same order. A revision is given once, so that these tell which and how they were.
    pub revisions: Arc<[u64]>,
}

#[derive(Debug, Default)]
struct Shelf {
    objects: BTreeMap<Arc<str>, Arc<Object>>,
    /// All of it, from when it is first asked for to the next change.
    selection: OnceLock<Selection>,
}

impl Collection {
    pub(super) fn is_empty(&self) -> bool {
        self.all.objects.is_empty()
    }

    pub(super) fn get(&self, name: &str) -> Option<&Arc<Object>> {
        self.all.objects.get(name)
    }

    /// The objects in the order of their names.
    pub(super) fn objects(&self) -> impl Iterator<Item = &Arc<Object>> {
        self.all.objects.values()
    }

    /// Adds an object, in the place of one of the same name.
    pub(super) fn put(&mut self, object: Arc<Object>) {
        self.remove(object.name());
        for (key, value) in labels(&object) {
            self.labelled.entry(key.clone()).or_default().entry(value.clone()).or_default().put(Arc::clone(&object));
        }
        self.all.put(object);
    }

    /// Takes an object out.
    pub(super) fn remove(&mut self, name: &str) -> Option<Arc<Object>> {
        let object = self.all.remove(name)?;
        for (key, value) in labels(&object) {
            let Some(values) = self.labelled.get_mut(key) else { continue };
            if let Some(shelf) = values.get_mut(value) {
                shelf.remove(name);
                if shelf.objects.is_empty() {
                    values.remove(value);
                }
            }
            if values.is_empty() {
                self.labelled.remove(key);
            }
        }
        Some(object)
    }

    /// The objects that are selected, in the order of their names.
    pub(super) fn selected<'a>(&'a self, selector: &'a LabelSelector) -> impl Iterator<Item = &'a Arc<Object>> {
        let shelf = self.shelf(selector);
        shelf.into_iter().flat_map(|shelf| shelf.objects.values()).filter(|object| selector.matches(object.labels()))
    }

    /// The same for expressions.
    pub(super) fn selection(&self, selector: &LabelSelector) -> Selection {
        match self.shelf(selector) {
            Some(shelf) if selector.is_everything() || selector.is_one_label() => {
                shelf.selection.get_or_init(|| shelf.objects.values().collect()).clone()
            }
            _ => self.selected(selector).collect(),
        }
    }

    /// The fewest objects among which all that are selected are.
    fn shelf(&self, selector: &LabelSelector) -> Option<&Shelf> {
        let mut fewest = &self.all;
        for (key, value) in selector.exact() {
            let shelf = self.labelled.get(key)?.get(value)?;
            if shelf.objects.len() <= fewest.objects.len() {
                fewest = shelf;
            }
        }
        Some(fewest)
    }
}

impl Shelf {
    fn put(&mut self, object: Arc<Object>) {
        self.selection.take();
        self.objects.insert(Arc::clone(object.name()), object);
    }

    fn remove(&mut self, name: &str) -> Option<Arc<Object>> {
        self.selection.take();
        self.objects.remove(name)
    }
}

impl<'a> FromIterator<&'a Arc<Object>> for Selection {
    fn from_iter<I: IntoIterator<Item = &'a Arc<Object>>>(objects: I) -> Selection {
        let (typed, revisions): (Vec<Value>, Vec<u64>) =
            objects.into_iter().map(|object| (object.typed().clone(), object.revision())).unzip();
        Selection { typed: List::from(typed), revisions: revisions.into() }
    }
}

/// Those labels that a selector can be about.
fn labels(object: &Object) -> impl Iterator<Item = (&Arc<str>, &Arc<str>)> {
    object.labels().into_iter().flat_map(|labels| labels.iter()).filter_map(|label| match label {
        (Key::String(key), Value::String(value)) => Some((key, value)),
        _ => None,
    })
}
