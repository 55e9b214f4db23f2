//! JSON bodies: values, with every duplicate field by its path.
//!
//! Absent: what is an unknown field (strategy), YAML.
use std::{cell::RefCell, fmt, fmt::Write as _};

use cel::{
    Value,
    value::{Key, List, MapBuilder},
};
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::{Decoded, words};

/// Strict errors listed for one body, as Kubernetes' decoder lists at most.
const MAX_DUPLICATES: usize = 100;

/// One JSON document; nesting is bounded by `serde_json` (128 levels).
///
/// # Errors
/// What is wrong with it, in the words of Go's `encoding/json`.
pub(super) fn parse(body: &[u8]) -> Result<Decoded, String> {
    let notes = Notes::default();
    let mut deserializer = serde_json::Deserializer::from_slice(body);
    let value = Seed(&notes)
        .deserialize(&mut deserializer)
        .and_then(|value| deserializer.end().map(|()| value))
        .map_err(|error| words::syntax(body).unwrap_or_else(|| fallback(&error)))?;
    let duplicates = notes.0.into_inner().duplicates.into_iter().map(|path| format!("duplicate field {path:?}"));
    Ok(Decoded { value, strict: duplicates.collect() })
}

/// What Go accepts or words otherwise (nesting, numbers out of range).
fn fallback(error: &serde_json::Error) -> String {
    let text = error.to_string();
    if text.starts_with("recursion limit exceeded") { "exceeded max depth".into() } else { text }
}

/// Where the visitor is, and what it met.
#[derive(Default)]
struct Notes(RefCell<State>);

#[derive(Default)]
struct State {
    path: Vec<Step>,
    duplicates: Vec<String>,
}

enum Step {
    Field(std::sync::Arc<str>),
    Index(usize),
}

impl Notes {
    fn enter(&self, step: Step) {
        self.0.borrow_mut().path.push(step);
    }

    fn leave(&self) {
        self.0.borrow_mut().path.pop();
    }

    /// The current path is a duplicate; said once, however often it is there.
    fn duplicate(&self) {
        let mut state = self.0.borrow_mut();
        let mut path = String::new();
        for step in &state.path {
            let _ = match step {
                Step::Field(name) if path.is_empty() => write!(path, "{name}"),
                Step::Field(name) => write!(path, ".{name}"),
                Step::Index(index) => write!(path, "[{index}]"),
            };
        }
        if state.duplicates.len() < MAX_DUPLICATES && !state.duplicates.contains(&path) {
            state.duplicates.push(path);
        }
    }
}

struct Seed<'a>(&'a Notes);

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Int(value))
    }

    /// Beyond 63 bits Kubernetes' decoder makes a float64.
    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(i64::try_from(value).map_or(Value::Double(value as f64), Value::Int))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        if value.is_finite() { Ok(Value::Double(value)) } else { Err(E::custom("number out of range")) }
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        loop {
            self.0.enter(Step::Index(items.len()));
            let item = seq.next_element_seed(Seed(self.0))?;
            self.0.leave();
            match item {
                Some(item) => items.push(item),
                None => return Ok(Value::List(List::from(items))),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut fields = MapBuilder::default();
        while let Some(key) = map.next_key::<String>()? {
            let key: std::sync::Arc<str> = key.into();
            self.0.enter(Step::Field(key.clone()));
            let value = map.next_value_seed(Seed(self.0))?;
            if fields.insert(Key::String(key), value).is_some() {
                self.0.duplicate();
            }
            self.0.leave();
        }
        Ok(Value::Map(fields.build()))
    }
}
