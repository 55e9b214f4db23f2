//! YAML bodies: values as Kubernetes' YAML-to-JSON conversion gives them, with repeated keys by their lines.
//!
//! Absent: JSON, the author's manifests (they keep places for diagnostics).
use std::{cell::RefCell, fmt};

use cel::{
    Value,
    value::{Key, List, MapBuilder},
};
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{Spanned, options::DuplicateKeyPolicy};

use super::{Decoded, MAX_DEPTH, MAX_REPEATED};

/// Nodes that one document may expand to: an alias bomb is an error, not a load.
const MAX_NODES: usize = 10_000;

/// One YAML document.
///
/// # Errors
/// What is wrong with it, as `yaml: line N: ...`.
pub(super) fn parse(text: &str) -> Result<Decoded, String> {
    let duplicates = RefCell::new(Vec::new());
    let value = serde_saphyr::with_deserializer_from_str_with_options(text, options(), |deserializer| {
        Seed(&duplicates).deserialize(deserializer)
    })
    .map_err(|error| describe(&error))?;
    let duplicates = duplicates.into_inner();
    let strict = match duplicates.is_empty() {
        true => Vec::new(),
        false => vec![format!("yaml: unmarshal errors:\n{}", duplicates.join("\n"))],
    };
    Ok(Decoded { value, strict })
}

/// YAML 1.1's booleans and octals, as Kubernetes' parser has them.
fn options() -> serde_saphyr::Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_nodes: MAX_NODES,
            max_depth: MAX_DEPTH,
            max_documents: 1,
        },
        emit_comments: false,
        duplicate_keys: DuplicateKeyPolicy::PassThrough,
        legacy_octal_numbers: true,
        null_as_string: true,
    }
}

/// One line, without the picture of the text.
fn describe(error: &serde_saphyr::Error) -> String {
    let text = error.without_snippet().to_string();
    let text = text.lines().next().unwrap_or_default();
    match error.location() {
        Some(location) if location.line() > 0 => format!("yaml: line {}: {text}", location.line()),
        _ => format!("yaml: {text}"),
    }
}

struct Seed<'a>(&'a RefCell<Vec<String>>);

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML value that JSON can hold")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Int(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(i64::try_from(value).map_or(Value::Double(value as f64), Value::Int))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Double(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(Seed(self.0))? {
            items.push(item);
        }
        Ok(Value::List(List::from(items)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut fields = MapBuilder::default();
        while let Some(key) = map.next_key::<Spanned<String>>()? {
            let line = key.referenced.line();
            let name = key.value;
            let value = map.next_value_seed(Seed(self.0))?;
            let repeated = fields.insert(Key::from(name.as_str()), value).is_some();
            let mut duplicates = self.0.borrow_mut();
            if repeated && duplicates.len() < MAX_REPEATED {
                duplicates.push(format!("  line {line}: key {name:?} already set in map"));
            }
        }
        Ok(Value::Map(fields.build()))
    }
}
