//! Whether a value fits a schema, in kube-apiserver's words.
use cel::Value;

use crate::engine::{
    diagnostic::FieldPath,
    schema::{FieldError, Structural},
};

/// All that does not fit, in the order of the schema. The value is pruned and defaulted.
pub fn validate(_schema: &Structural, _value: &Value, _path: &FieldPath) -> Vec<FieldError> {
    vec![]
}

/// Whether an error keeps rules from being evaluated, as it makes them meaningless.
pub fn blocks_rules(_error: &FieldError) -> bool {
    false
}
