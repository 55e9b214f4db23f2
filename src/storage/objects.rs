//! The objects of one workspace: read by clients and by expressions, watched, fed from outside.
//!
//! Each object holds what clients read and the final form that expressions read, both made once when it arrives and shared
//! from then on. Absent: where objects come from (directory, a cluster), who may read them (authorizer).
mod history;
mod object;
mod watch;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{Arc, RwLock},
};

use cel::value::List;

use self::{
    history::{Change, History},
    object::stamped,
};
pub use self::{
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
    /// By namespace (empty: cluster-scoped), then name.
    objects: BTreeMap<Arc<str>, BTreeMap<Arc<str>, Arc<Object>>>,
}

/// What a [`Objects::list`] found, at one revision.
#[derive(Clone, Debug)]
pub struct Listing {
    /// Sorted by namespace and name.
    pub items: Vec<Arc<Object>>,
    /// The `resourceVersion` of the list, from which a watch goes on.
    pub revision: u64,
}

impl Listing {
    /// The final forms, for expressions.
    pub fn typed(&self) -> List {
        self.items.iter().map(|object| object.typed().clone()).collect()
    }
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
        self.read(|state| state.kinds.get(kind)?.objects.get(namespace)?.get(name).cloned())
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
            let mut items = vec![];
            if let Some(table) = state.kinds.get(kind) {
                let mut take = |objects: &BTreeMap<Arc<str>, Arc<Object>>| {
                    items.extend(objects.values().filter(|o| o.is_selected(labels, fields)).cloned());
                };
                match namespace {
                    Some(namespace) => table.objects.get(namespace).into_iter().for_each(&mut take),
                    None => table.objects.values().for_each(&mut take),
                }
            }
            Listing { items, revision: state.revision }
        })
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
                .flat_map(|table| table.objects.values().flat_map(BTreeMap::values))
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

fn put(state: &mut State, incoming: Incoming) -> Arc<Object> {
    let key = incoming.key();
    let present =
        state.kinds.get(&key.kind).and_then(|table| table.objects.get(&key.namespace)?.get(&key.name)).map(Arc::clone);
    if let Some(present) = &present
        && present.came_as(&incoming)
    {
        return Arc::clone(present);
    }
    state.revision += 1;
    let object = Arc::new(stamped(incoming, present.as_deref(), state.revision));
    let table = state.kinds.entry(key.kind).or_default();
    table.revision = state.revision;
    table.objects.entry(key.namespace).or_default().insert(key.name, Arc::clone(&object));
    state.history.push(Change { revision: state.revision, before: present, after: Some(Arc::clone(&object)) });
    object
}

fn remove(state: &mut State, key: &ObjectKey) -> Option<Arc<Object>> {
    let table = state.kinds.get_mut(&key.kind)?;
    let objects = table.objects.get_mut(&key.namespace)?;
    let object = objects.remove(&key.name)?;
    if objects.is_empty() {
        table.objects.remove(&key.namespace);
    }
    state.revision += 1;
    table.revision = state.revision;
    state.history.push(Change { revision: state.revision, before: Some(Arc::clone(&object)), after: None });
    Some(object)
}

#[cfg(test)]
mod tests;
