//! The map of what kro adds to CEL and projections have too. Names, types and words of errors are kro's; prices are ours.
//!
//! Absent: what is kro's alone (`omit`, for which optionals stand here; `runtime`; `random`).
mod hash;
mod json;
mod lists;
mod maps;

use super::Library;

/// The libraries of kro that are useful in projections.
pub(crate) fn libraries() -> Vec<Library> {
    vec![json::library(), hash::library(), maps::library(), lists::library()]
}
