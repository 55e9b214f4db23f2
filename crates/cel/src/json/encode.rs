//! Values to a serde format.
//!
//! | value | JSON |
//! |---|---|
//! | int, uint, double | number; `"NaN"`, `"Infinity"`, `"-Infinity"` |
//! | bytes | base64 |
//! | timestamp, duration | `"2024-01-01T00:00:00Z"`, `"1.5s"` |
//! | optional | what it holds; a map leaves absent ones out, elsewhere they are an error |
//! | type | its name |
//! | a library's own | what [`crate::value::Opaque::to_json`] gives, else an error |
//!
//! A value whose parts are shared can be written out to no end: `cel.bind(a, [x, x], cel.bind(b, [a, a], ...))` doubles at each
//! link. What is written is counted.
use std::cell::Cell;

use base64::{Engine, engine::general_purpose::STANDARD};
use serde::ser::{Error, Serialize, SerializeMap, SerializeSeq, Serializer};

use crate::{
    limits::{MAX_VALUE_DEPTH, WRITTEN_VALUES},
    value::{Key, Map, Value, print_duration},
};

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        encode(self, MAX_VALUE_DEPTH, &all(), serializer)
    }
}

impl Serialize for Map {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        encode_map(self, MAX_VALUE_DEPTH, &all(), serializer)
    }
}

/// What may still be written.
type Left = Cell<usize>;

fn all() -> Left {
    Cell::new(WRITTEN_VALUES)
}

/// Bytes of a text that count as much as a value.
const TEXT: usize = 64;

fn count<E: Error>(left: &Left, bytes: usize) -> Result<(), E> {
    let rest = left.get().checked_sub(1 + bytes / TEXT);
    left.set(rest.ok_or_else(|| E::custom("value is too large to be written"))?);
    Ok(())
}

/// A value at a depth.
struct At<'a>(&'a Value, usize, &'a Left);

impl Serialize for At<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        encode(self.0, self.1, self.2, serializer)
    }
}

fn encode<S: Serializer>(value: &Value, levels: usize, left: &Left, serializer: S) -> Result<S::Ok, S::Error> {
    let Some(below) = levels.checked_sub(1) else {
        return Err(S::Error::custom("value nests too deeply"));
    };
    count(
        left,
        match value {
            Value::String(s) => s.len(),
            Value::Bytes(b) => b.len(),
            _ => 0,
        },
    )?;
    match value {
        Value::Null => serializer.serialize_unit(),
        Value::Bool(b) => serializer.serialize_bool(*b),
        Value::Int(i) => serializer.serialize_i64(*i),
        Value::Uint(u) => serializer.serialize_u64(*u),
        Value::Double(d) if d.is_finite() => serializer.serialize_f64(*d),
        Value::Double(d) if d.is_nan() => serializer.serialize_str("NaN"),
        Value::Double(d) => serializer.serialize_str(if *d > 0.0 { "Infinity" } else { "-Infinity" }),
        Value::String(s) => serializer.serialize_str(s),
        Value::Bytes(b) => serializer.serialize_str(&STANDARD.encode(b)),
        Value::Timestamp(t) => serializer.collect_str(t),
        Value::Duration(nanos) => {
            let mut text = String::new();
            print_duration(&mut text, *nanos).map_err(S::Error::custom)?;
            serializer.serialize_str(&text)
        }
        Value::List(list) => {
            let mut seq = serializer.serialize_seq(Some(list.len()))?;
            for value in list {
                seq.serialize_element(&At(value, below, left))?;
            }
            seq.end()
        }
        Value::Map(map) => encode_map(map, below, left, serializer),
        Value::Optional(Some(value)) => encode(value, below, left, serializer),
        Value::Optional(None) => Err(S::Error::custom("an absent optional has no value")),
        Value::Type(ty) => serializer.collect_str(ty),
        Value::Opaque(opaque) => match opaque.to_json() {
            Some(value) => encode(&value, below, left, serializer),
            None => Err(S::Error::custom(format_args!("a value of type {} cannot be written", opaque.type_of()))),
        },
    }
}

fn encode_map<S: Serializer>(map: &Map, levels: usize, left: &Left, serializer: S) -> Result<S::Ok, S::Error> {
    let present = || map.iter().filter(|(_, value)| !matches!(value, Value::Optional(None)));
    let mut out = serializer.serialize_map(Some(present().count()))?;
    for (key, value) in present() {
        match key {
            Key::String(s) => {
                count(left, s.len())?;
                out.serialize_entry(&**s, &At(value, levels, left))?;
            }
            other => out.serialize_entry(&other.to_string(), &At(value, levels, left))?,
        }
    }
    out.end()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Timestamp;

    #[track_caller]
    fn check(value: impl Into<Value>, want: &str) {
        assert_eq!(serde_json::to_string(&value.into()).map_err(|e| e.to_string()), Ok(want.into()));
    }

    #[track_caller]
    fn refused(value: Value, want: &str) {
        assert_eq!(serde_json::to_string(&value).map_err(|e| e.to_string()), Err(want.into()));
    }

    #[test]
    fn values_become_json() {
        check(
            vec![1i64.into(), u64::MAX.into(), 1.5.into(), f64::NAN.into(), Value::Null],
            r#"[1,18446744073709551615,1.5,"NaN",null]"#,
        );
        check(Value::Bytes(b"\xff\x00"[..].into()), r#""/wA=""#);
        check(Timestamp { seconds: 0, nanos: 500_000_000, offset_minutes: 0 }, r#""1970-01-01T00:00:00.5Z""#);
        check(Value::Duration(1_500_000_000), r#""1.5s""#);
        check(
            [(Key::from(1i64), true.into()), (true.into(), "x".into())].into_iter().collect::<Map>(),
            r#"{"1":true,"true":"x"}"#,
        );
        check([("a", Value::NONE), ("b", Value::some(Value::Int(1)))].into_iter().collect::<Map>(), r#"{"b":1}"#);
        check(Value::Type(crate::Type::Int.into()), r#""int""#);
    }

    #[test]
    fn values_of_shared_parts_are_not_written_out_to_no_end() {
        let doubled = |value: Value, times| (0..times).fold(value, |value: Value, _| vec![value.clone(), value].into());
        let written = |value: &Value, parts| {
            encode(value, MAX_VALUE_DEPTH, &Cell::new(parts), &mut serde_json::Serializer::new(std::io::sink()))
        };
        let large = "value is too large to be written";
        let text = "x".repeat(64_000);
        for (value, parts) in [
            (doubled(Value::Null, 9), 1_023),
            (text.as_str().into(), 1_001),
            (Value::Bytes(text.as_bytes().into()), 1_001),
            (Value::Map([(&*text, Value::Null)].into_iter().collect::<Map>()), 1_003),
        ] {
            assert!(written(&value, parts).is_ok());
            assert_eq!(written(&value, parts - 1).unwrap_err().to_string(), large);
        }
        refused(doubled(Value::Null, 60), large);
    }

    #[test]
    fn what_has_no_json_is_refused() {
        refused(vec![Value::NONE].into(), "an absent optional has no value");
        refused((0..100_000).fold(Value::Null, |v, _| vec![v].into()), "value nests too deeply");
    }
}
