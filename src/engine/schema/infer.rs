//! The schema of what expressions give: types -> [`Structural`].
use cel::Type;

use crate::engine::schema::{Structural, types::Registry};

/// The schema of a type; objects by name are the registry's. What cannot be known is anything.
pub fn from_type(_ty: &Type, _registry: &Registry) -> Structural {
    Structural::anything()
}
