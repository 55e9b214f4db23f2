//! Values to and from any serde format, by the JSON mapping of the CEL specification. JSON integers are `int`.
//!
//! Absent: JSON itself (any serde format will do), object schemas.
pub(crate) mod decode;
mod encode;

pub use decode::{Decoder, Keys};
