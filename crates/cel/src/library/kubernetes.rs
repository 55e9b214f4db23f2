//! The map of Kubernetes' own libraries.
pub(crate) mod lists;
