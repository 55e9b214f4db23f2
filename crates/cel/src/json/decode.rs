//! Values from a serde format: integers are int, integers beyond int and fractions double, as Kubernetes reads JSON.
//!
//! Objects of one kind have the same keys; [`Keys`] lets them share the keys' text. Where a key is repeated the last value
//! counts, and an observer is told, because Kubernetes' strict field validation reports it.
use std::{collections::hash_map::RandomState, fmt, hash::BuildHasher, sync::Arc};

use hashbrown::HashTable;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::{
    limits::MAX_VALUE_DEPTH,
    value::{Key, MapBuilder, Value},
};

/// Longer keys are rarely repeated.
const LONGEST_KEY: usize = 128;

/// Texts that a table holds at most, so that hostile objects cannot fill the memory for good.
const MOST_KEYS: usize = 16_384;

/// Keys that objects share.
#[derive(Default)]
pub struct Keys {
    table: HashTable<Arc<str>>,
    hasher: RandomState,
}

impl Keys {
    /// The shared text of a key.
    pub fn intern(&mut self, key: &str) -> Arc<str> {
        if key.len() > LONGEST_KEY {
            return key.into();
        }
        let hash = self.hasher.hash_one(key);
        if let Some(known) = self.table.find(hash, |k| **k == *key) {
            return known.clone();
        }
        let new: Arc<str> = key.into();
        if self.table.len() < MOST_KEYS {
            let Keys { table, hasher } = self;
            table.insert_unique(hash, new.clone(), |k| hasher.hash_one(&**k));
        }
        new
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Keys({})", self.table.len())
    }
}

/// Reads a [`Value`]; a [`DeserializeSeed`].
///
/// ```
/// # use serde::de::DeserializeSeed;
/// let mut keys = cel::json::Keys::default();
/// let mut repeated = vec![];
/// let mut observer = |path: &str| repeated.push(path.to_string());
/// let decoder = cel::json::Decoder { keys: Some(&mut keys), repeated: Some(&mut observer) };
/// let text = r#"{"spec": {"bucket": "a", "bucket": "b"}}"#;
/// let value = decoder.deserialize(&mut serde_json::Deserializer::from_str(text)).unwrap();
/// assert_eq!(value.to_string(), r#"{"spec": {"bucket": "b"}}"#);
/// assert_eq!(repeated, ["spec.bucket"]);
/// ```
#[derive(Default)]
pub struct Decoder<'a> {
    /// Where keys are shared; without it every object has its own.
    pub keys: Option<&'a mut Keys>,
    /// Is told the path of each repeated key: `spec.ports[0].name`.
    pub repeated: Option<&'a mut dyn FnMut(&str)>,
}

impl<'de> DeserializeSeed<'de> for Decoder<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        let mut state = State { keys: self.keys, repeated: self.repeated, spend: None, path: String::new() };
        At { state: &mut state, levels: MAX_VALUE_DEPTH }.deserialize(deserializer)
    }
}

/// Reads a value, asking `spend` for the bytes of what holds its parts before they are made; ends where it says no.
pub(crate) fn counted<'de, D: Deserializer<'de>>(
    deserializer: D,
    repeated: &mut dyn FnMut(&str),
    spend: &mut dyn FnMut(u64) -> bool,
) -> Result<Value, D::Error> {
    let mut state = State { keys: None, repeated: Some(repeated), spend: Some(spend), path: String::new() };
    At { state: &mut state, levels: MAX_VALUE_DEPTH }.deserialize(deserializer)
}

impl<'de> serde::Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
        Decoder::default().deserialize(deserializer)
    }
}

struct State<'a> {
    keys: Option<&'a mut Keys>,
    repeated: Option<&'a mut dyn FnMut(&str)>,
    spend: Option<&'a mut dyn FnMut(u64) -> bool>,
    /// Kept only for an observer.
    path: String,
}

/// A value at a depth.
struct At<'s, 'a> {
    state: &'s mut State<'a>,
    levels: usize,
}

impl<'a> At<'_, 'a> {
    fn below<E: Error>(&mut self) -> Result<At<'_, 'a>, E> {
        match self.levels.checked_sub(1) {
            Some(levels) => {
                self.state.spend(size_of::<Value>())?;
                Ok(At { state: &mut *self.state, levels })
            }
            None => Err(E::custom("value nests too deeply")),
        }
    }
}

impl<'de> DeserializeSeed<'de> for At<'_, '_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for At<'_, '_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
    fn visit_some<D: Deserializer<'de>>(mut self, deserializer: D) -> Result<Value, D::Error> {
        self.below()?.deserialize(deserializer)
    }
    fn visit_newtype_struct<D: Deserializer<'de>>(mut self, deserializer: D) -> Result<Value, D::Error> {
        self.below()?.deserialize(deserializer)
    }
    fn visit_bool<E>(self, b: bool) -> Result<Value, E> {
        Ok(Value::Bool(b))
    }
    fn visit_i64<E>(self, i: i64) -> Result<Value, E> {
        Ok(Value::Int(i))
    }
    fn visit_u64<E>(self, u: u64) -> Result<Value, E> {
        Ok(i64::try_from(u).map_or(Value::Double(u as f64), Value::Int))
    }
    fn visit_f64<E>(self, d: f64) -> Result<Value, E> {
        Ok(Value::Double(d))
    }
    fn visit_str<E>(self, s: &str) -> Result<Value, E> {
        Ok(Value::String(s.into()))
    }
    fn visit_string<E>(self, s: String) -> Result<Value, E> {
        Ok(Value::String(s.into()))
    }
    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Value, E> {
        Ok(Value::Bytes(bytes.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<Value, A::Error> {
        let mut values = vec![];
        let path = self.state.path.len();
        loop {
            self.state.enter_index(values.len());
            let value = seq.next_element_seed(self.below()?)?;
            self.state.path.truncate(path);
            match value {
                Some(value) => values.push(value),
                None => break,
            }
        }
        values.shrink_to_fit();
        Ok(values.into())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = MapBuilder::default();
        let path = self.state.path.len();
        while let Some(key) = entries.next_key_seed(KeySeed(&mut *self.state))? {
            self.state.spend(size_of::<Key>())?;
            self.state.enter_key(&key);
            let value = entries.next_value_seed(self.below()?)?;
            if map.insert(Key::String(key), value).is_some()
                && let Some(repeated) = &mut self.state.repeated
            {
                repeated(&self.state.path);
            }
            self.state.path.truncate(path);
        }
        Ok(Value::Map(map.build()))
    }
}

impl State<'_> {
    fn spend<E: Error>(&mut self, bytes: usize) -> Result<(), E> {
        let affordable = self.spend.as_mut().is_none_or(|spend| spend(bytes as u64));
        if affordable { Ok(()) } else { Err(E::custom("too much work")) }
    }

    fn enter_key(&mut self, key: &str) {
        if self.repeated.is_some() {
            if !self.path.is_empty() {
                self.path.push('.');
            }
            self.path.push_str(key);
        }
    }

    fn enter_index(&mut self, index: usize) {
        if self.repeated.is_some() {
            self.path.push_str(&format!("[{index}]"));
        }
    }
}

struct KeySeed<'s, 'a>(&'s mut State<'a>);

impl<'de> DeserializeSeed<'de> for KeySeed<'_, '_> {
    type Value = Arc<str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Arc<str>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for KeySeed<'_, '_> {
    type Value = Arc<str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string key")
    }

    fn visit_str<E>(self, s: &str) -> Result<Arc<str>, E> {
        Ok(match &mut self.0.keys {
            Some(keys) => keys.intern(s),
            None => s.into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, want: &str) {
        let got: Result<Value, _> = serde_json::from_str(json);
        assert_eq!(got.map(|v| v.to_string()).map_err(|e| e.to_string()), Ok(want.into()));
    }

    #[test]
    fn numbers_are_int_or_double() {
        check("[1, -9223372036854775808, 9223372036854775807]", "[1, -9223372036854775808, 9223372036854775807]");
        check("[9223372036854775808, 1.0, 1e3, -0.0]", "[9.223372036854776e18, 1.0, 1000.0, -0.0]");
        check(r#"{"a": null, "b": {"c": [true]}}"#, r#"{"a": null, "b": {"c": [true]}}"#);
    }

    #[test]
    fn repeated_keys_are_told_with_their_paths() {
        let mut paths = vec![];
        let mut observer = |path: &str| paths.push(path.to_string());
        let decoder = Decoder { keys: None, repeated: Some(&mut observer) };
        let text = r#"{"a": 1, "l": [{"x": 1}, {"x": 1, "y": {}, "x": 2}], "a": 2}"#;
        let value = decoder.deserialize(&mut serde_json::Deserializer::from_str(text)).unwrap();
        assert_eq!(value.to_string(), r#"{"a": 2, "l": [{"x": 1}, {"x": 2, "y": {}}]}"#);
        assert_eq!(paths, ["l[1].x", "a"]);
    }

    #[test]
    fn objects_share_their_keys() {
        let mut keys = Keys::default();
        let mut read = || {
            let decoder = Decoder { keys: Some(&mut keys), repeated: None };
            decoder.deserialize(&mut serde_json::Deserializer::from_str(r#"{"name": 1}"#)).unwrap()
        };
        let (Value::Map(a), Value::Map(b)) = (read(), read()) else { panic!() };
        let (Some((Key::String(a), _)), Some((Key::String(b), _))) = (a.entry_at(0), b.entry_at(0)) else { panic!() };
        assert!(Arc::ptr_eq(a, b));
    }

    #[test]
    fn deep_input_is_an_error() {
        struct Endless;
        impl<'de> Deserializer<'de> for Endless {
            type Error = serde::de::value::Error;
            fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
                visitor.visit_some(Endless)
            }
            serde::forward_to_deserialize_any! {
                bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit unit_struct newtype_struct
                seq tuple tuple_struct map struct enum identifier ignored_any
            }
        }
        let error = Decoder::default().deserialize(Endless).unwrap_err();
        assert_eq!(error.to_string(), "value nests too deeply");
    }
}
