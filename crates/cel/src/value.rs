//! Values: an enum behind `Arc`, cheap to clone, never deep-copied; maps keep the order in which they were made.
//!
//! Absent: functions on values (library), how JSON becomes values (json).
mod compare;
mod display;
mod identity;
mod list;
mod map;
mod teardown;

use std::{any::Any, fmt, sync::Arc};

pub(crate) use display::print_duration;
pub use identity::Identity;
pub use list::List;
pub(crate) use list::push_clone;
pub(crate) use map::double_as_int;
pub use map::{FieldKey, Key, Map, MapBuilder};

use crate::types::Type;

/// What an expression evaluates to.
///
/// The tag is a word, so that a value is moved as three words: of a byte and its padding compilers make moves that stall.
#[derive(Clone)]
#[repr(u64)]
pub enum Value {
    /// `null`
    Null,
    /// `bool`
    Bool(bool),
    /// `int`
    Int(i64),
    /// `uint`
    Uint(u64),
    /// `double`
    Double(f64),
    /// `string`
    String(Arc<str>),
    /// `bytes`
    Bytes(Arc<[u8]>),
    /// `google.protobuf.Timestamp`
    Timestamp(Timestamp),
    /// `google.protobuf.Duration`, nanoseconds
    Duration(i64),
    /// `list(T)`
    List(List),
    /// `map(K, V)` and objects
    Map(Map),
    /// `optional_type(T)`
    Optional(Option<Arc<Value>>),
    /// A type as a value.
    Type(Arc<Type>),
    /// A library's own type (quantity, IP, authorizer, ...).
    Opaque(Arc<dyn Opaque>),
}

/// An instant from year 1 to 9999 with the UTC offset it was written with (cel-go keeps it for `string()` and getters).
#[derive(Clone, Copy, Debug)]
pub struct Timestamp {
    /// Seconds since 1970-01-01T00:00:00Z.
    pub seconds: i64,
    /// 0 to 999,999,999.
    pub nanos: u32,
    /// Minutes east of UTC.
    pub offset_minutes: i16,
}

/// A library's type. Equality of two values of different opaque types is false.
pub trait Opaque: Any + Send + Sync + fmt::Debug {
    /// Its type.
    fn type_of(&self) -> Type;
    /// Equality with another opaque value.
    fn equals(&self, other: &dyn Opaque) -> bool;
    /// For downcasts by the library that made it.
    fn as_any(&self) -> &dyn Any;
    /// The size that the cost model gives it where a value's size counts (`string(x)`, comparison); 1 unless it says so.
    fn cost_size(&self) -> u64 {
        1
    }
    /// The JSON-mapped value (a quantity's string); `None` where there is none, which is an error to whoever writes it.
    fn to_json(&self) -> Option<Value> {
        None
    }
}

impl From<&str> for Value {
    fn from(s: &str) -> Value {
        Value::String(s.into())
    }
}
impl From<String> for Value {
    fn from(s: String) -> Value {
        Value::String(s.into())
    }
}
impl From<i64> for Value {
    fn from(i: i64) -> Value {
        Value::Int(i)
    }
}
impl From<bool> for Value {
    fn from(b: bool) -> Value {
        Value::Bool(b)
    }
}
impl From<List> for Value {
    fn from(l: List) -> Value {
        Value::List(l)
    }
}
impl From<Map> for Value {
    fn from(m: Map) -> Value {
        Value::Map(m)
    }
}
impl From<u64> for Value {
    fn from(u: u64) -> Value {
        Value::Uint(u)
    }
}
impl From<f64> for Value {
    fn from(d: f64) -> Value {
        Value::Double(d)
    }
}
impl From<Arc<str>> for Value {
    fn from(s: Arc<str>) -> Value {
        Value::String(s)
    }
}
impl From<Timestamp> for Value {
    fn from(t: Timestamp) -> Value {
        Value::Timestamp(t)
    }
}
impl From<Vec<Value>> for Value {
    fn from(values: Vec<Value>) -> Value {
        Value::List(values.into())
    }
}
impl From<Key> for Value {
    fn from(key: Key) -> Value {
        match key {
            Key::Bool(b) => Value::Bool(b),
            Key::Int(i) => Value::Int(i),
            Key::Uint(u) => Value::Uint(u),
            Key::String(s) => Value::String(s),
        }
    }
}
impl From<&Key> for Value {
    fn from(key: &Key) -> Value {
        key.clone().into()
    }
}

impl Value {
    /// Its type at run time, what `type(x)` gives: containers of `dyn`, objects as maps.
    pub fn type_of(&self) -> Type {
        match self {
            Value::Null => Type::Null,
            Value::Bool(_) => Type::Bool,
            Value::Int(_) => Type::Int,
            Value::Uint(_) => Type::Uint,
            Value::Double(_) => Type::Double,
            Value::String(_) => Type::String,
            Value::Bytes(_) => Type::Bytes,
            Value::Timestamp(_) => Type::Timestamp,
            Value::Duration(_) => Type::Duration,
            Value::List(_) => Type::list(Type::Dyn),
            Value::Map(_) => Type::map(Type::Dyn, Type::Dyn),
            Value::Optional(_) => Type::optional(Type::Dyn),
            Value::Type(_) => Type::type_of(Type::Dyn),
            Value::Opaque(o) => o.type_of(),
        }
    }

    /// A present optional.
    pub fn some(value: Value) -> Value {
        Value::Optional(Some(Arc::new(value)))
    }

    /// `optional.none()`
    pub const NONE: Value = Value::Optional(None);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_three_words() {
        assert!(size_of::<Value>() <= 24);
        assert!(size_of::<Option<Value>>() <= 24);
        assert!(size_of::<Key>() <= 24);
        assert!(size_of::<Map>() <= 16);
    }
}
