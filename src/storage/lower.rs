//! EphemeralSchema documents -> the engine's definitions and the catalog's names. All problems come at once, by field.
//!
//! | file | owns |
//! |---|---|
//! | `own` | a document against the schema of its own kind |
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

use std::{sync::Arc, time::Duration};

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

/// An EphemeralSchema whose form is right.
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

/// A version whose form is right.
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

/// Lowers an EphemeralSchema. There is a result unless one of the diagnostics is an error.
pub fn lower(document: &Value) -> (Option<Lowered>, Vec<Diagnostic>) {
    let (value, mut diagnostics) = own::check(document);
    // Wrong types would only be reported again as missing; a wrong name need not hide a wrong projection.
    let root = Field::root(&value);
    let lowered = root.get("spec").and_then(|spec| {
        let identity = identity::identity(&root, &spec, &mut diagnostics)?;
        let mut versions: Vec<LoweredVersion> = vec![];
        for field in spec.items("versions") {
            if let Some(version) = version::version(&field, &identity, &mut diagnostics) {
                if versions.iter().any(|other| other.name == version.name) {
                    let path = version.path.field("name");
                    diagnostics.push(Diagnostic::error(path, format!("two versions have the name `{}`", version.name)));
                }
                versions.push(version);
            }
        }
        let identity::Identity { name, group, namespaced, names } = identity;
        Some(Lowered { name, group, namespaced, names, versions })
    });
    let failed = diagnostics.iter().any(|d| d.severity == Severity::Error);
    (lowered.filter(|_| !failed), diagnostics)
}

#[cfg(test)]
mod tests;
