//! JSON bodies: values, with every duplicate field by its path.
//!
//! Absent: how JSON becomes values (the cel crate), what is an unknown field (strategy), YAML.
use cel::json::Decoder;
use serde::de::DeserializeSeed as _;

use super::{Decoded, MAX_REPEATED, words};
use crate::api::shown;

/// Repeated fields that are looked at to list them once each.
const MAX_LOOKS: usize = 100 * MAX_REPEATED;

/// One JSON document; nesting is bounded by `serde_json` (128 levels).
///
/// # Errors
/// What is wrong with it, in the words of Go's `encoding/json`.
pub(super) fn parse(body: &[u8]) -> Result<Decoded, String> {
    let mut strict: Vec<String> = Vec::new();
    // Looked at and not only listed: a path is as long as the body if its sender likes, and repeats as often.
    let mut looks = 0;
    let mut note = |path: &str| {
        looks += 1;
        if strict.len() < MAX_REPEATED && looks <= MAX_LOOKS {
            let problem = format!("duplicate field {:?}", shown(path));
            if !strict.contains(&problem) {
                strict.push(problem);
            }
        }
    };
    let mut deserializer = serde_json::Deserializer::from_slice(body);
    let decoder = Decoder { keys: None, repeated: Some(&mut note) };
    let value = decoder
        .deserialize(&mut deserializer)
        .and_then(|value| deserializer.end().map(|()| value))
        .map_err(|error| words::syntax(body).unwrap_or_else(|| fallback(&error)))?;
    Ok(Decoded { value, strict })
}

/// What Go accepts or words otherwise (nesting, numbers out of range).
fn fallback(error: &serde_json::Error) -> String {
    let text = error.to_string();
    if text.starts_with("recursion limit exceeded") { "exceeded max depth".into() } else { text }
}
