//! The objects of one workspace: read by clients and by expressions, watched, fed from outside.
//!
//! Each object holds what clients read and the final form that expressions read, both made once when it arrives and shared
//! from then on. Absent: where objects come from (directory, a cluster), who may read them (authorizer).
mod collection;
mod history;
mod object;
mod watch;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{Arc, RwLock},
};

use self::{
    collection::Collection,
    history::{Change, History},
    object::stamped,
};
pub use self::{
    collection::Selection,
    object::{GroupVersionKind, Incoming, Object, ObjectKey},
    watch::{Event, Expired, Watch},
};
use crate::storage::selector::{FieldSelector, LabelSelector};

/// A store of objects. All methods are atomic.
#[derive(Debug)]
pub struct Objects {
    state: RwLock<State>,
    /// The revision of the newest change, to wake watches.
    newest: tokio::sync::watch::Sender<u64>,
}

#[derive(Debug)]
struct State {
    revision: u64,
    kinds: HashMap<GroupVersionKind, Table>,
    history: History,
}

#[derive(Debug, Default)]
struct Table {
    /// When an object of the kind last changed.
    revision: u64,
    /// By namespace (empty: cluster-scoped). None is empty.
    namespaces: BTreeMap<Arc<str>, Collection>,
}

/// What a [`Objects::list`] found, at one revision.
#[derive(Clone, Debug)]
pub struct Listing {
    /// Sorted by namespace and name.
    pub items: Vec<Arc<Object>>,
    /// The `resourceVersion` of the list, from which a watch goes on.
    pub revision: u64,
    /// What [`Objects::collection_revision`] was.
    pub collection_revision: u64,
}

impl Objects {
    /// An empty store whose revisions begin after `revision`. A time is a good choice: then a `resourceVersion` from before a
    /// restart is too old instead of wrong.
    pub fn new(revision: u64) -> Objects {
        Objects {
            state: RwLock::new(State { revision, kinds: HashMap::new(), history: History::new(revision) }),
            newest: tokio::sync::watch::Sender::new(revision),
        }
    }

    /// The revision of the newest change to anything.
    pub fn revision(&self) -> u64 {
        self.read(|state| state.revision)
    }

    /// The revision of the newest change to objects of a kind; 0 where there never was one.
    pub fn revision_of(&self, kind: &GroupVersionKind) -> u64 {
        self.read(|state| state.kinds.get(kind).map_or(0, |table| table.revision))
    }

    /// The kinds of which there are or were objects.
    pub fn kinds(&self) -> Vec<GroupVersionKind> {
        let mut kinds: Vec<_> = self.read(|state| state.kinds.keys().cloned().collect());
        kinds.sort();
        kinds
    }

    /// An object. The namespace of cluster-scoped objects is empty.
    pub fn get(&self, kind: &GroupVersionKind, namespace: &str, name: &str) -> Option<Arc<Object>> {
        self.read(|state| state.kinds.get(kind)?.namespaces.get(namespace)?.get(name).cloned())
    }

    /// The objects that are selected, in one namespace or in all.
    pub fn list(
        &self,
        kind: &GroupVersionKind,
        namespace: Option<&str>,
        labels: &LabelSelector,
        fields: &FieldSelector,
    ) -> Listing {
        self.read(|state| {
            let collections = collections(state, kind, namespace);
            let items = collections.flat_map(|collection| collection.selected(labels));
            let items = items.filter(|object| fields.matches(object.value())).cloned().collect();
            let collection_revision = collection_revision(state, kind, namespace);
            Listing { items, revision: state.revision, collection_revision }
        })
    }

    /// What expressions get of the objects that are selected, with what [`Objects::collection_revision`] is.
    pub fn select(&self, kind: &GroupVersionKind, namespace: Option<&str>, labels: &LabelSelector) -> (Selection, u64) {
        self.read(|state| {
            let mut collections = collections(state, kind, namespace);
            let selection = match (collections.next(), collections.next()) {
                (None, _) => Selection::default(),
                (Some(only), None) => only.selection(labels),
                (Some(first), Some(second)) => {
                    let all = [first, second].into_iter().chain(collections);
                    all.flat_map(|collection| collection.selected(labels)).collect()
                }
            };
            (selection, collection_revision(state, kind, namespace))
        })
    }

    /// A number that stays the same as long as the objects of a kind in one namespace, or in all, do. 0 where there are none.
    pub fn collection_revision(&self, kind: &GroupVersionKind, namespace: Option<&str>) -> u64 {
        self.read(|state| collection_revision(state, kind, namespace))
    }

    /// The changes after a revision to the objects that are selected. `None`: from now on.
    pub fn watch(
        self: &Arc<Objects>,
        kind: &GroupVersionKind,
        namespace: Option<&str>,
        labels: LabelSelector,
        fields: FieldSelector,
        after: Option<u64>,
    ) -> Result<Watch, Expired> {
        let after = self.read(|state| match after {
            None => Ok(state.revision),
            Some(after) => state.history.check(after, state.revision).map(|()| after),
        })?;
        Ok(Watch::new(Arc::clone(self), self.newest.subscribe(), kind.clone(), namespace, labels, fields, after))
    }

    /// The `metadata.generation` that an object would get.
    pub fn generation_of(&self, incoming: &Incoming) -> i64 {
        let present = self.get(&incoming.kind, &incoming.namespace, &incoming.name);
        object::generation(present.as_deref(), &incoming.value)
    }

    /// Adds or changes an object. Nothing happens if it is equal to what is there.
    pub fn apply(&self, incoming: Incoming) -> Arc<Object> {
        self.write(|state| put(state, incoming))
    }

    /// Removes an object.
    pub fn delete(&self, key: &ObjectKey) -> Option<Arc<Object>> {
        self.write(|state| remove(state, key))
    }

    /// Makes the store hold exactly these objects; watches see the difference. The last of several with one key stays.
    pub fn replace_all(&self, incoming: Vec<Incoming>) {
        self.write(|state| {
            let kept: BTreeSet<ObjectKey> = incoming.iter().map(Incoming::key).collect();
            let gone: Vec<ObjectKey> = state
                .kinds
                .values()
                .flat_map(|table| table.namespaces.values().flat_map(Collection::objects))
                .map(|object| object.key())
                .filter(|key| !kept.contains(key))
                .collect();
            for key in &gone {
                remove(state, key);
            }
            // Of several with one key only the last is put, so that no watch sees the others.
            let mut last: BTreeMap<ObjectKey, Incoming> = BTreeMap::new();
            for object in incoming {
                last.insert(object.key(), object);
            }
            for object in last.into_values() {
                put(state, object);
            }
        });
    }

    fn read<T>(&self, read: impl FnOnce(&State) -> T) -> T {
        // A poisoned lock means that a writer panicked between two changes, each of which is whole.
        read(&self.state.read().unwrap_or_else(std::sync::PoisonError::into_inner))
    }

    fn write<T>(&self, write: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.state.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        let before = state.revision;
        let result = write(&mut state);
        if state.revision != before {
            self.newest.send_replace(state.revision);
        }
        result
    }
}

/// The collections of a kind in one namespace, or in all.
fn collections<'a>(
    state: &'a State,
    kind: &GroupVersionKind,
    namespace: Option<&str>,
) -> impl Iterator<Item = &'a Collection> {
    let table = state.kinds.get(kind);
    let one = namespace.and_then(|namespace| table?.namespaces.get(namespace));
    let all = table.filter(|_| namespace.is_none()).map(|table| table.namespaces.values());
    one.into_iter().chain(all.into_iter().flatten())
}

/// Of a namespace without objects it is 0, whatever was there before: nothing is nothing.
fn collection_revision(state: &State, kind: &GroupVersionKind, namespace: Option<&str>) -> u64 {
    let table = state.kinds.get(kind);
    match namespace {
        None => table.map_or(0, |table| table.revision),
        Some(namespace) => table.and_then(|table| table.namespaces.get(namespace)).map_or(0, |c| c.revision),
    }
}

fn put(state: &mut State, incoming: Incoming) -> Arc<Object> {
    let key = incoming.key();
    let table = state.kinds.get(&key.kind);
    let present = table.and_then(|table| table.namespaces.get(&key.namespace)?.get(&key.name)).map(Arc::clone);
    if let Some(present) = &present
        && present.came_as(&incoming)
    {
        return Arc::clone(present);
    }
    state.revision += 1;
    let object = Arc::new(stamped(incoming, present.as_deref(), state.revision));
    let table = state.kinds.entry(key.kind).or_default();
    table.revision = state.revision;
    let collection = table.namespaces.entry(key.namespace).or_default();
    collection.revision = state.revision;
    collection.put(Arc::clone(&object));
    state.history.push(Change { revision: state.revision, before: present, after: Some(Arc::clone(&object)) });
    object
}

fn remove(state: &mut State, key: &ObjectKey) -> Option<Arc<Object>> {
    let table = state.kinds.get_mut(&key.kind)?;
    let collection = table.namespaces.get_mut(&key.namespace)?;
    let object = collection.remove(&key.name)?;
    state.revision += 1;
    collection.revision = state.revision;
    if collection.is_empty() {
        table.namespaces.remove(&key.namespace);
    }
    table.revision = state.revision;
    state.history.push(Change { revision: state.revision, before: Some(Arc::clone(&object)), after: None });
    Some(object)
}

#[cfg(test)]
mod tests;
