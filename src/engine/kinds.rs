//! What is known of the kinds that expressions read.
//!
//! Absent: where it is known from (workspace CRDs, Kubernetes' own kinds: storage).
use std::sync::Arc;

use crate::engine::schema::Structural;

/// A kind of workspace objects.
#[derive(Clone, Debug)]
pub struct Kind {
    /// `apps`; empty for core.
    pub group: Arc<str>,
    /// `v1`
    pub version: Arc<str>,
    /// `Deployment`
    pub kind: Arc<str>,
    /// `deployments`
    pub plural: Arc<str>,
    /// Whether objects live in namespaces.
    pub namespaced: bool,
    /// Types of its objects, metadata included.
    pub schema: Arc<Structural>,
}

/// Looks kinds up.
pub trait Kinds {
    /// The kind of `apiVersion` and `kind`.
    fn kind(&self, api_version: &str, kind: &str) -> Option<Arc<Kind>>;

    /// All (apiVersion, kind) for suggestions.
    fn names(&self) -> Vec<(String, Arc<str>)>;
}
