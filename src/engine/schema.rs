//! Structural schemas: what objects may hold, defaults, pruning, validation, their CEL types.
//!
//! Absent: projections.

/// A Kubernetes structural schema.
#[derive(Clone, Debug, Default)]
pub struct Structural;
