//! Values to and from any serde format, by the JSON mapping of the CEL specification. JSON integers are `int`.
