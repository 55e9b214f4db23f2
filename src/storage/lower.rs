//! EphemeralSchema documents -> the engine's definitions and the catalog's names. All problems come at once, by field.
//!
//! | file | owns |
//! |---|---|
//! | `own` | a document against the schema of its own kind |
//! | `words` | what that says, for authors |
//! | `field` | reading fields with their paths |
//! | `identity` | names, group, scope |
//! | `version` | one version |
//!
//! Absent: expressions (engine), lines and columns (manifest), names taken by others (catalog).
mod field;
mod http;
mod identity;
mod own;
mod version;
mod words;

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use cel::Value;

pub(super) use self::own::path as printed_path;
pub use self::own::{check, own_kinds};
pub(super) use self::{field::Field, version::columns};
use crate::{
    engine::{
        definition::Definition,
        diagnostic::{Diagnostic, FieldPath, Severity},
    },
    storage::catalog::{Column, Limits, Names},
};

/// What lowering an EphemeralSchema gives.
#[derive(Clone, Debug)]
pub struct Lowering {
    /// What could be read of it. It may be served only if no diagnostic is an error; what it says is compiled anyway, so that
    /// all mistakes are told at once.
    pub lowered: Option<Lowered>,
    /// What is wrong with its form.
    pub diagnostics: Vec<Diagnostic>,
    /// Fields of which something is said already, or would have been under their right names: what follows from that need not
    /// be said as well.
    pub told: BTreeSet<FieldPath>,
}

impl Lowering {
    /// Whether its form is right.
    pub fn is_right(&self) -> bool {
        self.lowered.is_some() && !self.diagnostics.iter().any(|d| d.severity == Severity::Error)
    }
}

/// An EphemeralSchema. What is missing or wrong, which is reported, is empty.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// `bucketinfos.storage.acme.example`
    pub name: Arc<str>,
    /// `storage.acme.example`
    pub group: Arc<str>,
    /// Whether objects are created in a namespace.
    pub namespaced: bool,
    /// The names, defaults filled in.
    pub names: Names,
    /// All versions, served or not, in the author's order.
    pub versions: Vec<LoweredVersion>,
}

/// One version.
#[derive(Clone, Debug)]
pub struct LoweredVersion {
    /// `spec.versions[0]`: the engine's paths are below.
    pub path: FieldPath,
    /// `v1`
    pub name: Arc<str>,
    /// Whether it can be created.
    pub served: bool,
    /// What a create is warned of.
    pub deprecation: Option<Arc<str>>,
    /// Columns of tables.
    pub columns: Arc<[Column]>,
    /// For how long an answer may be reused; zero: it may not.
    pub cache: Duration,
    /// Bounds on time and rate.
    pub limits: Limits,
    /// What the engine compiles.
    pub definition: Definition,
}

/// Lowers an EphemeralSchema.
pub fn lower(document: &Value) -> Lowering {
    let own::Looked { value, mut diagnostics, mut told } = own::look(document);
    let root = Field::root(&value);
    let lowered = root.get("spec").filter(|spec| matches!(spec.value, Value::Map(_))).map(|spec| {
        let identity = identity::identity(&root, &spec, &told, &mut diagnostics);
        let fields = spec.items("versions");
        let versions = fields.iter().map(|field| version::version(field, &identity, &told, &mut diagnostics)).collect();
        let identity::Identity { name, group, namespaced, names } = identity;
        Lowered { name, group, namespaced, names, versions }
    });
    told.extend(diagnostics.iter().filter(|d| d.severity == Severity::Error).map(|d| d.path.clone()));
    Lowering { lowered, diagnostics, told }
}

#[cfg(test)]
mod tests;
