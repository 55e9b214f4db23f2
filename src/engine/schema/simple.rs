//! kro's SimpleSchema: `type | marker=value ...`.
use cel::Value;

use crate::engine::{
    diagnostic::{Diagnostic, FieldPath},
    schema::Structural,
};

/// Reads `{spec, types}`: an object with the property `spec`. All problems come at once.
pub fn parse(_schema: &Value, _path: &FieldPath) -> (Option<Structural>, Vec<Diagnostic>) {
    (Some(Structural::anything()), vec![])
}
