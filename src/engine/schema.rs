//! Structural schemas: what objects may hold, defaults, pruning, validation, their CEL types.
//!
//! | file | owns |
//! |---|---|
//! | `structural` | [`Structural`], the schema itself |
//! | `parse` | OpenAPI v3 as authors and CRDs write it -> [`Structural`], Kubernetes' structural rules |
//! | `simple` | kro's SimpleSchema -> [`Structural`] |
//! | `json_schema` | JSON Schema as schemars writes it -> [`Structural`] |
//! | `infer` | types of expressions -> [`Structural`] |
//! | `publish` | [`Structural`] -> OpenAPI |
//! | `metadata` | the schema of `metadata`, whole objects |
//! | `admit` | defaults, pruning, numbers |
//! | `validate`, `lists`, `format`, `pattern` | kube-apiserver's answers to values that do not fit |
//! | `field_error` | one such answer |
//! | `json` | JSON of defaults and messages |
//! | `rules` | `x-kubernetes-validations` |
//! | `types`, `escape` | the CEL types of schemas |
//! | `sizes` | how large values can get, for estimates of cost |
//! | `to_cel` | objects as expressions see them |
//! | `trail` | where a walk stands |
//!
//! Absent: projections.
pub mod admit;
pub mod escape;
pub mod field_error;
pub mod format;
pub mod infer;
mod json;
pub mod json_schema;
mod lists;
pub mod metadata;
mod parse;
pub mod pattern;
pub mod publish;
pub mod rules;
pub mod simple;
pub mod sizes;
pub mod structural;
pub mod to_cel;
mod trail;
pub mod types;
pub mod validate;

pub use admit::{DefaultsError, admit, admit_bounded, default, prune};
pub use field_error::FieldError;
pub use infer::from_type;
pub use json_schema::from_json_schema;
pub use publish::openapi;
pub use structural::Structural;
pub use to_cel::to_cel;
pub use validate::validate;

/// Levels of nesting of a schema and of a value that is walked by it. Kubernetes bounds neither by itself; this keeps every
/// walk within a 2 MiB stack in debug builds, and is twice what the deepest of Kubernetes' own kinds needs.
pub const MAX_DEPTH: usize = 64;
