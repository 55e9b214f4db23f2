//! Maps: entries in the order of insertion, found linearly while few and by hash when many.
//!
//! Few entries lie beside their reference count, so that a field is one step in memory from its object: over a long list most
//! of the time goes into such steps.
//!
//! The hash is keyed per process (a tenant chooses keys), and the same for the whole process, so that a program hashes the
//! names of fields once, when it is planned ([`FieldKey`]).
//!
//! Absent: whether a repeated key is an error (callers decide), functions on maps (library).
use std::{
    fmt,
    hash::{BuildHasher, Hash, Hasher, RandomState},
    sync::{
        Arc, LazyLock,
        atomic::{AtomicU8, Ordering::Relaxed},
    },
};

use hashbrown::HashTable;

use super::{
    Value,
    teardown::{Items, drop_items, drop_values},
};

/// Up to so many entries a scan that compares lengths, then text, beats hashing.
const LINEAR: usize = 8;

static HASHER: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// A map's key. Equal if the bool, number or text is; `Int` and `Uint` of one number are equal.
#[derive(Clone, Debug)]
#[repr(u64)]
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

pub(super) type Entry = (Key, Value);

/// A field's name with its hash: what a program looks up again and again.
#[derive(Debug)]
pub struct FieldKey {
    name: Arc<str>,
    hash: u64,
    /// Where it was when it was last sought: a guess, of whichever object and thread. It is written only when it was wrong.
    last: AtomicU8,
}

/// An immutable shared map in the order of insertion. Cloning is one reference count.
#[derive(Clone)]
pub struct Map(Shared);

#[derive(Clone)]
enum Shared {
    /// Up to [`LINEAR`] entries.
    Few(Arc<[Entry]>),
    Many(Arc<Inner>),
}

/// Entries, and where they are.
#[derive(Clone, Default)]
struct Inner {
    entries: Vec<Entry>,
    /// Positions in `entries` by key; there only while they are more than [`LINEAR`].
    index: Option<Box<HashTable<u32>>>,
}

impl Drop for Shared {
    fn drop(&mut self) {
        if let Shared::Few(entries) = self
            && Arc::strong_count(entries) == 1
            && let Some(entries) = Arc::get_mut(entries)
        {
            drop_values(entries.iter_mut().map(|(_, value)| value));
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if !self.entries.is_empty() {
            drop_items(Items::Entries(std::mem::take(&mut self.entries)));
        }
    }
}

impl Default for Map {
    fn default() -> Map {
        Map(Shared::Few(Arc::default()))
    }
}

impl Map {
    #[inline]
    fn entries(&self) -> &[Entry] {
        match &self.0 {
            Shared::Few(entries) => entries,
            Shared::Many(inner) => &inner.entries,
        }
    }

    /// How many entries.
    #[inline]
    pub fn len(&self) -> usize {
        self.entries().len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries().is_empty()
    }

    /// The entries in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Key, &Value)> {
        self.entries().iter().map(|(k, v)| (k, v))
    }

    /// The entry at a position of the order.
    pub fn entry_at(&self, position: usize) -> Option<(&Key, &Value)> {
        self.entries().get(position).map(|(k, v)| (k, v))
    }

    /// The value of a string key: a field of an object.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.value_at(match &self.0 {
            Shared::Few(entries) => scan(entries, key),
            Shared::Many(inner) => inner.probe(hash_str(key), key),
        })
    }

    /// The value of a field, by its hash made before, and first where it was last time: objects of one kind mostly have their
    /// fields in one order.
    #[inline]
    pub fn get_field(&self, key: &FieldKey) -> Option<&Value> {
        match self.entries().get(usize::from(key.last.load(Relaxed))) {
            Some((Key::String(s), value)) if is_same_text(s, &key.name) => Some(value),
            _ => self.seek_field(key),
        }
    }

    #[inline(never)]
    fn seek_field(&self, key: &FieldKey) -> Option<&Value> {
        let at = match &self.0 {
            Shared::Few(entries) => scan(entries, &key.name),
            Shared::Many(inner) => inner.probe(key.hash, &key.name),
        };
        if let Some(at) = at.and_then(|at| u8::try_from(at).ok()) {
            key.last.store(at, Relaxed);
        }
        self.value_at(at)
    }

    fn value_at(&self, position: Option<usize>) -> Option<&Value> {
        self.entries().get(position?).map(|(_, value)| value)
    }

    /// The value of any key; numbers are looked up by their number, whatever their type.
    pub fn get_key(&self, key: &Key) -> Option<&Value> {
        self.value_at(match &self.0 {
            Shared::Few(entries) => position(entries, key),
            Shared::Many(inner) => inner.position(key),
        })
    }

    /// The value of a key given as a value: a double finds the integer that it equals, and what cannot be a key nothing.
    pub fn get_value(&self, key: &Value) -> Option<&Value> {
        match key {
            Value::String(s) => self.get(s),
            key => self.get_key(&Key::lookup(key)?),
        }
    }

    /// Adds or replaces; many entries in place if this is the only reference, else in a copy (one level). Returns what was
    /// there.
    pub fn insert(&mut self, key: impl Into<Key>, value: Value) -> Option<Value> {
        match &mut self.0 {
            Shared::Few(entries) => {
                let mut few = MapBuilder(Inner { entries: entries.to_vec(), index: None });
                let old = few.insert(key, value);
                *self = few.build();
                old
            }
            Shared::Many(inner) => Arc::make_mut(inner).insert(key.into(), value),
        }
    }

    /// Whether two are the same allocation.
    pub fn same(&self, other: &Map) -> bool {
        match (&self.0, &other.0) {
            (Shared::Few(one), Shared::Few(two)) => Arc::ptr_eq(one, two),
            (Shared::Many(one), Shared::Many(two)) => Arc::ptr_eq(one, two),
            _ => false,
        }
    }
}

/// Where a text is among few keys. Lengths are beside the pointers and differ mostly.
#[inline]
fn scan(entries: &[Entry], key: &str) -> Option<usize> {
    entries.iter().position(|(k, _)| matches!(k, Key::String(s) if is_same_text(s, key)))
}

fn position(entries: &[Entry], key: &Key) -> Option<usize> {
    entries.iter().position(|(k, _)| k == key)
}

impl Inner {
    /// Where a text is, by its hash.
    fn probe(&self, hash: u64, key: &str) -> Option<usize> {
        let same = |at: &u32| match self.entries.get(*at as usize) {
            Some((Key::String(s), _)) => is_same_text(s, key),
            _ => false,
        };
        self.index.as_ref()?.find(hash, same).map(|at| *at as usize)
    }

    fn position(&self, key: &Key) -> Option<usize> {
        match &self.index {
            None => position(&self.entries, key),
            Some(index) => {
                let same = |at: &u32| self.entries.get(*at as usize).is_some_and(|(k, _)| k == key);
                index.find(key.hash(), same).map(|at| *at as usize)
            }
        }
    }

    fn insert(&mut self, key: Key, value: Value) -> Option<Value> {
        if let Some((_, old)) = self.position(&key).and_then(|at| self.entries.get_mut(at)) {
            return Some(std::mem::replace(old, value));
        }
        self.push(key, value);
        None
    }

    fn push(&mut self, key: Key, value: Value) {
        self.entries.push((key, value));
        if self.index.is_some() || self.entries.len() > LINEAR {
            self.index_last();
        }
    }

    /// Enters the last entry into the index, or makes the index.
    fn index_last(&mut self) {
        let Inner { entries, index } = self;
        let hash_at = |at: &u32| entries.get(*at as usize).map_or(0, |(k, _)| k.hash());
        let first = if index.is_some() { entries.len() - 1 } else { 0 };
        let index = index.get_or_insert_default();
        for at in first..entries.len() {
            // A map of more than 2^32 entries does not fit into memory limits of any caller.
            let at = u32::try_from(at).unwrap_or(u32::MAX);
            index.insert_unique(hash_at(&at), at, hash_at);
        }
    }

    fn remove(&mut self, key: &Key) {
        if let Some(at) = self.position(key) {
            self.entries.remove(at);
            if self.index.take().is_some() && self.entries.len() > LINEAR {
                self.index_last();
            }
        }
    }
}

/// Builds a [`Map`]. A key that is there already is replaced in place by `insert`.
#[derive(Default)]
pub struct MapBuilder(Inner);

impl MapBuilder {
    /// Room for `n` entries.
    pub fn with_capacity(n: usize) -> MapBuilder {
        MapBuilder(Inner { entries: Vec::with_capacity(n), index: None })
    }

    /// Adds or replaces; returns what was there.
    pub fn insert(&mut self, key: impl Into<Key>, value: Value) -> Option<Value> {
        self.0.insert(key.into(), value)
    }

    /// Adds an entry whose key is known not to be there, as those of another map are not, or those that the caller writes: nobody
    /// looks. Of two entries of one key the map would have both.
    pub fn push(&mut self, key: impl Into<Key>, value: Value) {
        let key = key.into();
        debug_assert!(!self.contains(&key), "`{key}` is there already");
        self.0.push(key, value);
    }

    /// The value of a key.
    pub fn get(&self, key: &Key) -> Option<&Value> {
        self.0.entries.get(self.0.position(key)?).map(|(_, v)| v)
    }

    /// Whether a key is there.
    pub fn contains(&self, key: &Key) -> bool {
        self.0.position(key).is_some()
    }

    /// Takes a key away; linear.
    pub fn remove(&mut self, key: &Key) {
        self.0.remove(key);
    }

    /// The map.
    pub fn build(mut self) -> Map {
        Map(match self.0.index {
            None => Shared::Few(std::mem::take(&mut self.0.entries).into()),
            Some(_) => Shared::Many(Arc::new(self.0)),
        })
    }
}

impl From<MapBuilder> for Map {
    fn from(builder: MapBuilder) -> Map {
        builder.build()
    }
}

impl<K: Into<Key>> FromIterator<(K, Value)> for Map {
    /// Of two equal keys the last counts.
    fn from_iter<I: IntoIterator<Item = (K, Value)>>(entries: I) -> Map {
        let entries = entries.into_iter();
        let mut builder = MapBuilder::with_capacity(entries.size_hint().0);
        for (key, value) in entries {
            builder.insert(key, value);
        }
        builder.build()
    }
}

impl FieldKey {
    /// Hashes a name.
    pub fn new(name: Arc<str>) -> FieldKey {
        FieldKey { hash: hash_str(&name), name, last: AtomicU8::new(0) }
    }

    /// The name.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }
}

impl Clone for FieldKey {
    fn clone(&self) -> FieldKey {
        FieldKey { name: self.name.clone(), hash: self.hash, last: AtomicU8::new(self.last.load(Relaxed)) }
    }
}

/// Equality of names, most of which have 4 to 16 bytes: two overlapping words decide without a call.
#[inline]
fn is_same_text(one: &str, two: &str) -> bool {
    let (one, two) = (one.as_bytes(), two.as_bytes());
    if one.len() != two.len() {
        return false;
    }
    if one.len() <= 16 {
        if let (Some(a), Some(b)) = (one.first_chunk::<8>(), two.first_chunk::<8>()) {
            return a == b && one.last_chunk::<8>() == two.last_chunk::<8>();
        }
        if let (Some(a), Some(b)) = (one.first_chunk::<4>(), two.first_chunk::<4>()) {
            return a == b && one.last_chunk::<4>() == two.last_chunk::<4>();
        }
        return one.iter().eq(two);
    }
    std::ptr::eq(one.as_ptr(), two.as_ptr()) || one == two
}

fn hash_str(s: &str) -> u64 {
    HASHER.hash_one(s)
}

impl Key {
    /// The key that a value is in a map literal; `None` for what cannot be one (doubles, bytes, null, containers, ...).
    pub fn from_value(value: &Value) -> Option<Key> {
        match value {
            Value::Bool(b) => Some(Key::Bool(*b)),
            Value::Int(i) => Some(Key::Int(*i)),
            Value::Uint(u) => Some(Key::Uint(*u)),
            Value::String(s) => Some(Key::String(s.clone())),
            _ => None,
        }
    }

    /// The key that a value finds: as [`Key::from_value`], and a double the integer that it equals.
    pub fn lookup(value: &Value) -> Option<Key> {
        match value {
            Value::Double(d) => double_as_int(*d).map(Key::Int).or_else(|| double_as_uint(*d).map(Key::Uint)),
            value => Key::from_value(value),
        }
    }

    fn hash(&self) -> u64 {
        let mut hasher = HASHER.build_hasher();
        match self {
            Key::String(s) => return hash_str(s),
            Key::Bool(b) => b.hash(&mut hasher),
            Key::Int(i) => i.hash(&mut hasher),
            Key::Uint(u) => u.cast_signed().hash(&mut hasher),
        }
        hasher.finish()
    }
}

/// The int that a double equals exactly.
pub(crate) fn double_as_int(d: f64) -> Option<i64> {
    // -2^63 is a double, 2^63 the first that is no int.
    ((-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&d) && d.fract() == 0.0).then_some(d as i64)
}

fn double_as_uint(d: f64) -> Option<u64> {
    ((0.0..18_446_744_073_709_551_616.0).contains(&d) && d.fract() == 0.0).then_some(d as u64)
}

impl PartialEq for Key {
    fn eq(&self, other: &Key) -> bool {
        match (self, other) {
            (Key::String(a), Key::String(b)) => a == b,
            (Key::Int(a), Key::Int(b)) => a == b,
            (Key::Uint(a), Key::Uint(b)) => a == b,
            (Key::Bool(a), Key::Bool(b)) => a == b,
            (Key::Int(i), Key::Uint(u)) | (Key::Uint(u), Key::Int(i)) => u64::try_from(*i) == Ok(*u),
            _ => false,
        }
    }
}
impl Eq for Key {}

/// As in cel-go's errors: the text, the number.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Key::Bool(b) => write!(f, "{b}"),
            Key::Int(i) => write!(f, "{i}"),
            Key::Uint(u) => write!(f, "{u}"),
            Key::String(s) => f.write_str(s),
        }
    }
}

impl From<&str> for Key {
    fn from(s: &str) -> Key {
        Key::String(s.into())
    }
}
impl From<String> for Key {
    fn from(s: String) -> Key {
        Key::String(s.into())
    }
}
impl From<Arc<str>> for Key {
    fn from(s: Arc<str>) -> Key {
        Key::String(s)
    }
}
impl From<i64> for Key {
    fn from(i: i64) -> Key {
        Key::Int(i)
    }
}
impl From<u64> for Key {
    fn from(u: u64) -> Key {
        Key::Uint(u)
    }
}
impl From<bool> for Key {
    fn from(b: bool) -> Key {
        Key::Bool(b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(n: i64) -> Map {
        (0..n).map(|i| (format!("k{i}"), Value::Int(i))).collect()
    }

    #[track_caller]
    fn finds(map: &Map, key: &str, want: Option<i64>) {
        let want = want.map(Value::Int);
        assert_eq!(map.get(key), want.as_ref());
        assert_eq!(map.get_field(&FieldKey::new(key.into())), want.as_ref());
        assert_eq!(map.get_key(&key.into()), want.as_ref());
    }

    #[test]
    fn small_and_large_maps_find_the_same() {
        for n in [0, 1, 8, 9, 1000] {
            let map = numbers(n);
            for i in 0..n {
                finds(&map, &format!("k{i}"), Some(i));
            }
            finds(&map, "none", None);
            assert_eq!(
                map.iter().map(|(_, v)| v.clone()).collect::<Vec<_>>(),
                (0..n).map(Value::Int).collect::<Vec<_>>()
            );
        }
    }

    #[test]
    fn a_field_is_found_wherever_it_was_before() {
        let key = FieldKey::new("k7".into());
        let turned: Map = (0..8).rev().map(|i| (format!("k{i}"), Value::Int(i))).collect();
        for map in [numbers(8), turned, numbers(300), numbers(7), Map::default(), numbers(9)] {
            assert_eq!(map.get_field(&key), (map.len() > 7).then_some(&Value::Int(7)));
        }
    }

    #[test]
    fn numbers_find_each_other_across_types() {
        for extra in [0, 20] {
            let mut map: Map = numbers(extra);
            map.insert(1i64, Value::from("one"));
            map.insert(u64::MAX, Value::from("max"));
            assert_eq!(map.get_value(&Value::Uint(1)), Some(&"one".into()));
            assert_eq!(map.get_value(&Value::Double(1.0)), Some(&"one".into()));
            assert_eq!(map.get_value(&Value::Double(1.5)), None);
            assert_eq!(map.get_value(&Value::Double(f64::NAN)), None);
            assert_eq!(map.get_value(&Value::Int(-1)), None);
            assert_eq!(map.get_value(&Value::Bool(true)), None);
            assert_eq!(map.get_value(&Value::Uint(u64::MAX)), Some(&"max".into()));
        }
    }

    #[test]
    fn insert_replaces_in_place_and_leaves_copies_alone() {
        let one = numbers(20);
        let mut two = one.clone();
        assert_eq!(two.insert("k3", Value::Null), Some(Value::Int(3)));
        finds(&one, "k3", Some(3));
        assert_eq!(two.entry_at(3), Some((&"k3".into(), &Value::Null)));
        assert_eq!(two.len(), 20);
    }

    #[test]
    fn what_is_pushed_is_found_as_what_is_inserted() {
        for n in [2, 8, 9, 1000] {
            let mut builder = MapBuilder::default();
            for (key, value) in numbers(n).iter() {
                builder.push(key.clone(), value.clone());
            }
            assert_eq!(builder.insert("k0", Value::Int(-1)), Some(Value::Int(0)));
            let map = builder.build();
            finds(&map, "k0", Some(-1));
            finds(&map, &format!("k{}", n - 1), Some(n - 1));
            finds(&map, "none", None);
            assert_eq!(map.iter().count() as i64, n);
        }
    }

    #[test]
    fn removal_keeps_the_index() {
        let mut builder = MapBuilder::default();
        for i in 0..20 {
            builder.insert(format!("k{i}"), Value::Int(i));
        }
        builder.remove(&"k0".into());
        let map = builder.build();
        finds(&map, "k0", None);
        finds(&map, "k19", Some(19));
    }
}
