//! The arithmetic of the cost model (COST.md, A): sizes, rounding, and the prices of operators that the evaluator runs itself.
//!
//! Absent: prices of functions (library).
use crate::{library::cost, value::Value};

/// A list literal, besides its elements.
pub(super) const LIST: u64 = 10;
/// A map literal, besides its entries.
pub(super) const MAP: u64 = 30;
/// An object literal, besides its fields.
pub(super) const OBJECT: u64 = 40;

/// Work that a round of a fold is, whatever it costs: some rounds cost 0.
pub(super) const ROUND_WORK: u64 = 8;

/// The size of a value, that of what a present optional holds.
pub(super) fn size(value: &Value) -> u64 {
    cost::inner_size(Some(value))
}

/// Walking over a value once.
pub(super) fn traversal(value: &Value) -> u64 {
    match value {
        Value::String(s) if !s.is_empty() && s.len() <= 10 => 1,
        value => cost::tenth(size(value)),
    }
}

/// Comparing two values for equality, or two texts for order.
pub(super) fn comparison(a: &Value, b: &Value) -> u64 {
    match (a, b) {
        // Up to 10 bytes are at most 10 code points, so there is nothing to count.
        (Value::String(a), Value::String(b)) if !a.is_empty() && !b.is_empty() && a.len().min(b.len()) <= 10 => 1,
        (Value::Int(_) | Value::Bool(_) | Value::Double(_), _)
        | (_, Value::Int(_) | Value::Bool(_) | Value::Double(_)) => {
            u64::from(size_is_not_zero(a) && size_is_not_zero(b))
        }
        (a, b) => cost::tenth(size(a).min(size(b))),
    }
}

/// Work of looking up a key, which the model prices at nothing: a text is read to its end.
#[inline]
pub(super) fn key_work(key: &Value) -> u64 {
    match key {
        Value::String(s) => s.len() as u64 / 8,
        _ => 0,
    }
}

/// Concatenating two texts.
pub(super) fn joined(a: &Value, b: &Value) -> u64 {
    cost::tenth(size(a).saturating_add(size(b)))
}

fn size_is_not_zero(value: &Value) -> bool {
    match value {
        Value::String(s) => !s.is_empty(),
        Value::Bytes(b) => !b.is_empty(),
        Value::List(l) => !l.is_empty(),
        Value::Map(m) => !m.is_empty(),
        Value::Optional(_) | Value::Opaque(_) => size(value) != 0,
        _ => true,
    }
}
