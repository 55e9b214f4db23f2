//! One object, its identity, and how it is stamped when it arrives.
//!
//! Absent: the store.
use std::{fmt, sync::Arc};

use cel::{
    Value,
    value::{Map, MapBuilder},
};
use sha2::{Digest, Sha256};

use crate::{
    engine::schema::{Structural, to_cel},
    storage::selector::{FieldSelector, LabelSelector},
};

/// The group, version and kind of objects.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupVersionKind {
    /// `apps`; empty for core.
    pub group: Arc<str>,
    /// `v1`
    pub version: Arc<str>,
    /// `Deployment`
    pub kind: Arc<str>,
}

impl GroupVersionKind {
    /// Of its parts.
    pub fn new(group: &str, version: &str, kind: &str) -> GroupVersionKind {
        GroupVersionKind { group: group.into(), version: version.into(), kind: kind.into() }
    }

    /// Of an `apiVersion` and a kind.
    pub fn of(api_version: &str, kind: &str) -> GroupVersionKind {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        GroupVersionKind::new(group, version, kind)
    }

    /// `apps/v1`, `v1`
    pub fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.to_string() } else { format!("{}/{}", self.group, self.version) }
    }
}

/// `apps/v1, Kind=Deployment`, as Kubernetes prints it.
impl fmt::Display for GroupVersionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, Kind={}", self.api_version(), self.kind)
    }
}

/// What identifies an object in a workspace.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectKey {
    /// Its kind.
    pub kind: GroupVersionKind,
    /// Its namespace; empty if cluster-scoped.
    pub namespace: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
}

/// An object on its way into the store.
#[derive(Clone, Debug)]
pub struct Incoming {
    /// Its kind.
    pub kind: GroupVersionKind,
    /// Its namespace; empty if cluster-scoped.
    pub namespace: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// The object as it came.
    pub value: Value,
    /// The schema of whole objects of its kind, where it is known.
    pub schema: Option<Arc<Structural>>,
    /// When it was created, if it does not say so itself: RFC 3339.
    pub arrived: Arc<str>,
}

impl Incoming {
    /// Its identity.
    pub fn key(&self) -> ObjectKey {
        ObjectKey { kind: self.kind.clone(), namespace: Arc::clone(&self.namespace), name: Arc::clone(&self.name) }
    }
}

/// An object in the store.
#[derive(Debug)]
pub struct Object {
    kind: GroupVersionKind,
    namespace: Arc<str>,
    name: Arc<str>,
    revision: u64,
    generation: i64,
    /// As it came, to see whether it changes.
    came: Value,
    schema: Option<Arc<Structural>>,
    labels: Option<Map>,
    value: Value,
    typed: Value,
}

impl Object {
    /// Its kind.
    pub fn kind(&self) -> &GroupVersionKind {
        &self.kind
    }

    /// Its namespace; empty if cluster-scoped.
    pub fn namespace(&self) -> &Arc<str> {
        &self.namespace
    }

    /// Its name.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// Its `resourceVersion`.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Its `metadata.generation`: how often something other than metadata and status changed.
    pub fn generation(&self) -> i64 {
        self.generation
    }

    /// What clients read.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// What expressions read: timestamps are timestamps.
    pub fn typed(&self) -> &Value {
        &self.typed
    }

    /// Its `metadata.labels`.
    pub fn labels(&self) -> Option<&Map> {
        self.labels.as_ref()
    }

    /// Its identity.
    pub fn key(&self) -> ObjectKey {
        ObjectKey { kind: self.kind.clone(), namespace: Arc::clone(&self.namespace), name: Arc::clone(&self.name) }
    }

    pub(super) fn is_selected(&self, labels: &LabelSelector, fields: &FieldSelector) -> bool {
        (labels.is_everything() || labels.matches(self.labels())) && fields.matches(&self.value)
    }

    /// Whether it is what another arrival would make of it.
    pub(super) fn came_as(&self, incoming: &Incoming) -> bool {
        let same_schema = match (&self.schema, &incoming.schema) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (None, None) => true,
            _ => false,
        };
        same_schema && self.came == incoming.value
    }
}

fn field<'a>(value: Option<&'a Value>, name: &str) -> Option<&'a Value> {
    match value {
        Some(Value::Map(map)) => map.get(name),
        _ => None,
    }
}

/// The object with the metadata that an API server gives it, in both forms.
pub(super) fn stamped(incoming: Incoming, before: Option<&Object>, revision: u64) -> Object {
    let Incoming { kind, namespace, name, value: came, schema, arrived } = incoming;
    let generation = generation(before, &came);
    let metadata = match field(Some(&came), "metadata") {
        Some(Value::Map(metadata)) => metadata.clone(),
        _ => Map::default(),
    };
    let created = field(field(before.map(|b| &b.value), "metadata"), "creationTimestamp").cloned();
    let mut stamps = MapBuilder::with_capacity(metadata.len() + 6);
    for (key, value) in metadata.iter() {
        if !matches!(value, Value::Null) {
            stamps.insert(key.clone(), value.clone());
        }
    }
    let or = |stamps: &mut MapBuilder, name: &str, value: Value| {
        if !metadata.get(name).is_some_and(|present| !matches!(present, Value::Null)) {
            stamps.insert(name, value);
        }
    };
    stamps.insert("name", Value::String(Arc::clone(&name)));
    if !namespace.is_empty() {
        stamps.insert("namespace", Value::String(Arc::clone(&namespace)));
    }
    or(&mut stamps, "uid", Value::from(uid(&kind, &namespace, &name)));
    or(&mut stamps, "creationTimestamp", created.unwrap_or(Value::String(arrived)));
    or(&mut stamps, "generation", Value::Int(generation));
    stamps.insert("resourceVersion", Value::from(revision.to_string()));
    let value = match &came {
        Value::Map(map) => {
            let mut map = map.clone();
            map.insert("metadata", Value::Map(stamps.build()));
            Value::Map(map)
        }
        other => other.clone(),
    };
    let typed = schema.as_ref().map_or_else(|| value.clone(), |schema| to_cel(schema, &value));
    let labels = match metadata.get("labels") {
        Some(Value::Map(labels)) => Some(labels.clone()),
        _ => None,
    };
    Object { kind, namespace, name, revision, generation, came, schema, labels, value, typed }
}

/// The generation of an object that comes after `before`.
pub(super) fn generation(before: Option<&Object>, came: &Value) -> i64 {
    match before {
        None => 1,
        Some(before) if same_spec(&before.came, came) => before.generation,
        Some(before) => before.generation + 1,
    }
}

fn same_spec(a: &Value, b: &Value) -> bool {
    let rest = |value: &Value| -> Vec<(cel::value::Key, Value)> {
        match value {
            Value::Map(map) => map
                .iter()
                .filter(|(key, _)| !matches!(key, cel::value::Key::String(k) if matches!(&**k, "metadata" | "status")))
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect(),
            _ => vec![],
        }
    };
    rest(a) == rest(b)
}

/// A uid that is the same whenever the same object is read again; in the form of a version 8 UUID (RFC 9562: custom).
fn uid(kind: &GroupVersionKind, namespace: &str, name: &str) -> String {
    let digest =
        Sha256::new().chain_update([&*kind.group, "\0", &*kind.kind, "\0", namespace, "\0", name].concat()).finalize();
    let mut bytes: [u8; 16] = digest.first_chunk().copied().unwrap_or_default();
    bytes[6] = (bytes[6] & 0x0f) | 0x80;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    let hex: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
    let part = |range: std::ops::Range<usize>| hex.get(range).unwrap_or_default();
    [part(0..8), part(8..12), part(12..16), part(16..20), part(20..32)].join("-")
}
