//! OpenAPI v3 as authors and CRDs write it.
use cel::Value;

use crate::engine::{
    diagnostic::{Diagnostic, FieldPath},
    schema::Structural,
};

pub(super) fn root(_schema: &Value, _path: &FieldPath) -> (Option<Structural>, Vec<Diagnostic>) {
    (Some(Structural::anything()), vec![])
}

pub(super) fn part(_schema: &Value, _path: &FieldPath) -> (Option<Structural>, Vec<Diagnostic>) {
    (Some(Structural::anything()), vec![])
}
