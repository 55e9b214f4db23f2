//! What a workspace serves at one moment: ephemeral kinds with their plans, and kinds of stored objects. Immutable.
//!
//! Absent: how it is made (directory), the objects themselves (objects).
mod kinds;
mod stored;
mod version;

use std::{
    collections::{BTreeMap, btree_map::Entry},
    sync::Arc,
    time::Duration,
};

pub use self::{
    stored::{StoredVersion, custom},
    version::version_order,
};
pub use crate::engine::Plan;
use crate::storage::{computing::Pace, egress::Egress};

/// What a workspace serves.
#[derive(Debug, Default)]
pub struct Catalog {
    pub(crate) revision: u64,
    /// By group and plural.
    pub(crate) ephemeral: ByGroup<Arc<EphemeralKind>>,
    /// By group and plural.
    pub(crate) resources: ByGroup<Arc<StoredKind>>,
    /// Plurals by group and kind.
    pub(crate) plurals: ByGroup<Arc<str>>,
    /// The policies of calls; none where nothing may leave.
    pub(crate) egress: Egress,
}

/// By group and name: two levels, so that a look needs no key of its own.
type ByGroup<T> = BTreeMap<Arc<str>, BTreeMap<Arc<str>, T>>;

/// The names of a kind. All are there; defaults are filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// `BucketInfo`
    pub kind: Arc<str>,
    /// `BucketInfoList`
    pub list_kind: Arc<str>,
    /// `bucketinfos`
    pub plural: Arc<str>,
    /// `bucketinfo`
    pub singular: Arc<str>,
    /// `bi`
    pub short_names: Vec<Arc<str>>,
    /// `info`
    pub categories: Vec<Arc<str>>,
}

/// An ephemeral kind: its only verb is `create`.
#[derive(Debug)]
pub struct EphemeralKind {
    /// `storage.acme.example`
    pub group: Arc<str>,
    /// Its names.
    pub names: Names,
    /// Whether objects are created in a namespace.
    pub namespaced: bool,
    /// The versions that are served, the preferred one first. Never empty.
    pub versions: Vec<Arc<EphemeralVersion>>,
    /// Which schema it is of: equal where several workspaces serve the same one, and for no others.
    pub schema: SchemaId,
}

/// Tells schemas apart, over all workspaces: a digest of who published it, or of all that it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SchemaId(pub [u8; 32]);

/// A served version of an ephemeral kind.
#[derive(Debug)]
pub struct EphemeralVersion {
    /// `v1`
    pub name: Arc<str>,
    /// What a create is warned of, if the version is deprecated.
    pub deprecation: Option<Arc<str>>,
    /// How it answers. It may be older than the schema's newest text, if that is not right.
    pub plan: Arc<Plan>,
    /// Columns of tables.
    pub columns: Arc<[Column]>,
    /// For how long an answer may be reused at most; zero: it may not.
    pub cache: Duration,
    /// Bounds on time and rate.
    pub limits: Limits,
    /// How long admitting objects took lately.
    pub admission: Pace,
    /// How long evaluating its plan took lately.
    pub evaluation: Pace,
}

/// Bounds of an ephemeral version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The deadline of one create.
    pub timeout: Duration,
    /// How many creates are answered; `None`: all.
    pub rate: Option<Rate>,
}

/// How many creates are answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// How many in the period.
    pub requests: u32,
    /// The period.
    pub per: Duration,
    /// How many at once.
    pub burst: u32,
    /// Who shares one allowance.
    pub shared: crate::api::ephemeral_schema::RatePer,
}

impl Default for Limits {
    /// 10 s, as for admission webhooks; no bound on the rate.
    fn default() -> Limits {
        Limits { timeout: Duration::from_secs(10), rate: None }
    }
}

/// A column of tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The header.
    pub name: Arc<str>,
    /// `string`, `integer`, `number`, `boolean`, `date`
    pub kind: crate::api::ephemeral_schema::ColumnType,
    /// `int64`; may be empty.
    pub format: Arc<str>,
    /// May be empty.
    pub description: Arc<str>,
    /// A simple JSONPath: `.status.phase`.
    pub json_path: Arc<str>,
    /// Above 0: only in wide output.
    pub priority: i32,
}

/// A kind of stored objects: its verbs are `get`, `list` and `watch`.
#[derive(Debug)]
pub struct StoredKind {
    /// `apps`; empty for core.
    pub group: Arc<str>,
    /// Its names.
    pub names: Names,
    /// Whether objects live in namespaces.
    pub namespaced: bool,
    /// The versions that are served, the preferred one first. Never empty.
    pub versions: Vec<Arc<StoredVersion>>,
}

/// The verbs of stored kinds.
pub const STORED_VERBS: [&str; 3] = ["get", "list", "watch"];
/// The verbs of ephemeral kinds.
pub const EPHEMERAL_VERBS: [&str; 1] = ["create"];

impl Catalog {
    /// Adds a kind of stored objects, unless its names are taken.
    pub(crate) fn add_stored(&mut self, kind: Arc<StoredKind>) {
        let group = self.resources.entry(Arc::clone(&kind.group)).or_default();
        if let Entry::Vacant(entry) = group.entry(Arc::clone(&kind.names.plural)) {
            let kinds = self.plurals.entry(Arc::clone(&kind.group)).or_default();
            kinds.insert(Arc::clone(&kind.names.kind), Arc::clone(&kind.names.plural));
            entry.insert(kind);
        }
    }

    /// Adds an ephemeral kind, whose names must be free.
    pub(crate) fn add_ephemeral(&mut self, kind: Arc<EphemeralKind>) {
        let plural = Arc::clone(&kind.names.plural);
        let kinds = self.plurals.entry(Arc::clone(&kind.group)).or_default();
        kinds.insert(Arc::clone(&kind.names.kind), Arc::clone(&plural));
        self.ephemeral.entry(Arc::clone(&kind.group)).or_default().insert(plural, kind);
    }

    /// What may be called.
    pub fn egress(&self) -> &Egress {
        &self.egress
    }

    /// Grows with every change.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The ephemeral kinds by group and plural.
    pub fn ephemeral(&self) -> impl Iterator<Item = &Arc<EphemeralKind>> {
        self.ephemeral.values().flat_map(BTreeMap::values)
    }

    /// The stored kinds by group and plural.
    pub fn resources(&self) -> impl Iterator<Item = &Arc<StoredKind>> {
        self.resources.values().flat_map(BTreeMap::values)
    }

    /// An ephemeral kind.
    pub fn ephemeral_kind(&self, group: &str, plural: &str) -> Option<&Arc<EphemeralKind>> {
        self.ephemeral.get(group)?.get(plural)
    }

    /// A served version of an ephemeral kind.
    pub fn ephemeral_version(
        &self,
        group: &str,
        version: &str,
        plural: &str,
    ) -> Option<(&Arc<EphemeralKind>, &Arc<EphemeralVersion>)> {
        let kind = self.ephemeral_kind(group, plural)?;
        Some((kind, kind.versions.iter().find(|v| &*v.name == version)?))
    }

    /// A stored kind.
    pub fn resource(&self, group: &str, plural: &str) -> Option<&Arc<StoredKind>> {
        self.resources.get(group)?.get(plural)
    }

    /// The stored kind of an `apiVersion` and a kind, in the version that is named if it is served.
    pub fn stored(&self, api_version: &str, kind: &str) -> Option<(&Arc<StoredKind>, Option<&Arc<StoredVersion>>)> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let stored = self.resource(group, self.plural(group, kind)?)?;
        Some((stored, stored.versions.iter().find(|v| &*v.name == version)))
    }

    /// A served version of a stored kind.
    pub fn resource_version(
        &self,
        group: &str,
        version: &str,
        plural: &str,
    ) -> Option<(&Arc<StoredKind>, &Arc<StoredVersion>)> {
        let kind = self.resource(group, plural)?;
        Some((kind, kind.versions.iter().find(|v| &*v.name == version)?))
    }

    /// The plural of a kind of either sort.
    pub fn plural(&self, group: &str, kind: &str) -> Option<&Arc<str>> {
        self.plurals.get(group)?.get(kind)
    }
}
