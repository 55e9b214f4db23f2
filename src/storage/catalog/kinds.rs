//! What expressions may know: the stored kinds of a catalog.
//!
//! Absent: ephemeral kinds, which nobody can read.
use std::sync::Arc;

use super::{Catalog, StoredVersion};
use crate::engine::kinds::{Kind, Kinds};

impl Kinds for Catalog {
    fn kind(&self, api_version: &str, kind: &str) -> Option<Arc<Kind>> {
        let (_, version) = self.stored(api_version, kind)?;
        Some(Arc::clone(version?.kind()))
    }

    fn names(&self) -> Vec<(String, Arc<str>)> {
        let name = |group: &str, version: &StoredVersion| {
            if group.is_empty() { version.name.to_string() } else { format!("{group}/{}", version.name) }
        };
        self.resources()
            .flat_map(|kind| kind.versions.iter().map(|v| (name(&kind.group, v), Arc::clone(&kind.names.kind))))
            .collect()
    }
}
