//! Lists whose elements have an identity, as `x-kubernetes-list-type: set` and `map` declare: they are equal in any order, and `+`
//! merges instead of appending.
//!
//! As in Kubernetes the left operand decides: `self.set == ['b', 'a']` compares as sets, `['b', 'a'] == self.set` as lists.
//!
//! Absent: schemas; whether a list keeps the promise that no two elements are the same.
use std::fmt::{self, Write};

use super::{FieldKey, Key, List, MapBuilder, Value, compare::equals};
use crate::{eval::Halt, limits::MAX_VALUE_DEPTH};

/// What makes two elements of a list the same.
#[derive(Clone, Debug)]
pub enum Identity {
    /// They are equal.
    Set,
    /// These of their fields are equal.
    Map(Box<[FieldKey]>),
}

/// Counts work, or says that it is enough.
pub(super) type Spend<'a> = &'a mut dyn FnMut(u64) -> Result<(), Halt>;

/// Finds elements of a list by their identity.
struct Index<'a> {
    identity: &'a Identity,
    elements: &'a [Value],
    /// Position by key, of elements that have one.
    keyed: MapBuilder,
    /// Positions of the rest: sets of lists and objects.
    rest: Vec<usize>,
}

impl<'a> Index<'a> {
    fn new(identity: &'a Identity, elements: &'a [Value], spend: Spend<'_>) -> Result<Index<'a>, Halt> {
        let mut index = Index { identity, elements, keyed: MapBuilder::with_capacity(elements.len()), rest: vec![] };
        for (at, element) in elements.iter().enumerate() {
            match key(identity, element, spend)? {
                Some(key) => drop(index.keyed.insert(key, position(at))),
                None => index.rest.push(at),
            }
        }
        Ok(index)
    }

    fn find(&self, wanted: &Value, levels: usize, spend: Spend<'_>) -> Result<Option<usize>, Halt> {
        if let Some(key) = key(self.identity, wanted, spend)? {
            return Ok(match self.keyed.get(&key) {
                Some(Value::Int(at)) => usize::try_from(*at).ok(),
                _ => None,
            });
        }
        for at in &self.rest {
            let Some(element) = self.elements.get(*at) else { continue };
            spend(8)?;
            if equals(element, wanted, levels, spend)? {
                return Ok(Some(*at));
            }
        }
        Ok(None)
    }
}

fn position(at: usize) -> Value {
    Value::Int(i64::try_from(at).unwrap_or(i64::MAX))
}

/// Work of printing a byte: it takes some times as long as copying one.
const PRINTING: u64 = 4;

/// Prints, counting.
struct Printed<'a> {
    text: String,
    spend: Spend<'a>,
    halt: Option<Halt>,
}

impl Write for Printed<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if let Err(halt) = (self.spend)(PRINTING.saturating_mul(text.len() as u64)) {
            self.halt = Some(halt);
            return Err(fmt::Error);
        }
        self.text.push_str(text);
        Ok(())
    }
}

fn printed(value: &Value, spend: Spend<'_>) -> Result<String, Halt> {
    let mut printed = Printed { text: String::new(), spend, halt: None };
    // Writing fails where counting does, and only there.
    let _ = write!(printed, "{value}");
    printed.halt.map_or(Ok(printed.text), Err)
}

/// A key that equal elements share; none for those that only comparing tells apart.
fn key(identity: &Identity, element: &Value, spend: Spend<'_>) -> Result<Option<Key>, Halt> {
    match (identity, element) {
        (Identity::Set, value) => {
            if let Value::String(text) = value {
                // It is hashed.
                spend(text.len() as u64 / 8)?;
            }
            Ok(Key::lookup(value))
        }
        (Identity::Map(fields), Value::Map(map)) => {
            let mut text = String::new();
            for field in fields {
                // Lengths keep `a`, `bc` and `ab`, `c` apart; printing tells strings from numbers.
                let value = map.get_field(field).map_or(Ok(String::new()), |value| printed(value, spend))?;
                text.push_str(&value.len().to_string());
                text.push(':');
                text.push_str(&value);
            }
            Ok(Some(text.into()))
        }
        (Identity::Map(_), _) => Ok(None),
    }
}

/// `==`, the left list having an identity.
pub(super) fn equal(identity: &Identity, a: &List, b: &List, levels: usize, spend: Spend<'_>) -> Result<bool, Halt> {
    if a.len() != b.len() {
        return Ok(false);
    }
    spend(16 * a.len() as u64)?;
    let index = Index::new(identity, a.as_slice(), spend)?;
    let mut met = vec![false; a.len()];
    for wanted in b {
        let Some(at) = index.find(wanted, levels, spend)? else { return Ok(false) };
        match (met.get_mut(at), a.as_slice().get(at)) {
            (Some(met @ false), Some(found)) if equals(found, wanted, levels, spend)? => *met = true,
            _ => return Ok(false),
        }
    }
    Ok(true)
}

/// `+`, the left list having an identity: elements of a set that are there already are left out, those of a map replace theirs.
pub(super) fn merge(identity: &Identity, a: &List, b: &List, spend: Spend<'_>) -> Result<Vec<Value>, Halt> {
    spend(48 * (a.len() + b.len()) as u64)?;
    let mut merged = a.as_slice().to_vec();
    // Of `b`'s own elements the first of a set counts, the last of a map.
    let mut added: Vec<Value> = vec![];
    let index = Index::new(identity, a.as_slice(), spend)?;
    let mut new = MapBuilder::default();
    for element in b {
        let known = index.find(element, MAX_VALUE_DEPTH, spend)?;
        match (identity, known.and_then(|at| merged.get_mut(at))) {
            (Identity::Set, Some(_)) => {}
            (Identity::Map(_), Some(old)) => *old = element.clone(),
            (_, None) => match key(identity, element, spend)? {
                Some(key) => match new.get(&key) {
                    Some(Value::Int(at)) => {
                        let at = usize::try_from(*at).unwrap_or(usize::MAX);
                        if let (Identity::Map(_), Some(old)) = (identity, added.get_mut(at)) {
                            *old = element.clone();
                        }
                    }
                    _ => {
                        new.insert(key, position(added.len()));
                        added.push(element.clone());
                    }
                },
                None => added.push(element.clone()),
            },
        }
    }
    merged.append(&mut added);
    Ok(merged)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::value::Map;

    fn strings(texts: &[&str]) -> Vec<Value> {
        texts.iter().map(|t| Value::from(*t)).collect()
    }

    #[track_caller]
    fn joined(a: &Value, b: &Value) -> Value {
        let (Value::List(a), Value::List(b)) = (a, b) else { panic!() };
        Value::List(a.clone().joined(b, &mut |_| Ok(())).unwrap())
    }

    #[test]
    fn sets_compare_and_merge_without_order() {
        let set = Value::List(List::with_identity(strings(&["x", "y"]), Arc::new(Identity::Set)));
        let list = Value::from(strings(&["y", "x"]));
        assert_eq!(set, list);
        assert_ne!(list, set);
        assert_ne!(set, Value::from(strings(&["x", "x"])));
        assert_eq!(joined(&set, &Value::from(strings(&["x", "z", "z"]))).to_string(), r#"["x", "y", "z"]"#);
        assert_eq!(joined(&joined(&set, &set), &list), list);
        assert_eq!(joined(&list, &set).to_string(), r#"["y", "x", "x", "y"]"#);
        let nested: Value = vec![Value::from(strings(&["a"]))].into();
        let Value::List(inner) = &nested else { panic!() };
        let set = Value::List(List::with_identity(inner.as_slice().to_vec(), Arc::new(Identity::Set)));
        assert_eq!(joined(&set, &nested), nested);
    }

    #[test]
    fn keys_count_as_work() {
        let wide = |key: Value| -> Value { vec![Value::Map([("name", key)].into_iter().collect::<Map>())].into() };
        let work = |identity: Identity, key: Value| {
            let (Value::List(a), Value::List(b)) = (wide(key.clone()), Value::from(vec![key])) else { panic!() };
            let (elements, other) = match identity {
                Identity::Set => (b.as_slice().to_vec(), b.clone()),
                Identity::Map(_) => (a.as_slice().to_vec(), a.clone()),
            };
            let mut work = 0;
            let list = List::with_identity(elements, Arc::new(identity));
            list.joined(&other, &mut |some| {
                work += some;
                Ok(())
            })
            .unwrap();
            work
        };
        let named = || Identity::Map([FieldKey::new("name".into())].into());
        assert!(work(named(), vec![Value::Null; 10_000].into()) > 100_000);
        assert!(work(named(), "a".into()) < 200);
        assert!(work(Identity::Set, "a".repeat(80_000).into()) > 10_000);
        let list = List::with_identity(vec![], Arc::new(named()));
        let Value::List(other) = wide(vec![Value::Null; 10_000].into()) else { panic!() };
        let mut left = 50_000_u64;
        let halt = list.joined(&other, &mut |some| {
            left = left.checked_sub(some).ok_or_else(|| Halt::error(crate::eval::ErrorKind::CostExceeded, "enough"))?;
            Ok(())
        });
        assert!(halt.is_err_and(|halt| matches!(halt, Halt::Error(e) if e.message == "enough")));
    }

    #[test]
    fn maps_merge_by_their_keys() {
        let port = |name: &str, port: i64| -> Value {
            Value::Map([("name", Value::from(name)), ("port", Value::Int(port))].into_iter().collect::<Map>())
        };
        let keys = Identity::Map([FieldKey::new("name".into())].into());
        let a = Value::List(List::with_identity(vec![port("a", 1), port("b", 2)], Arc::new(keys)));
        assert_eq!(a, Value::from(vec![port("b", 2), port("a", 1)]));
        assert_ne!(a, Value::from(vec![port("b", 2), port("a", 3)]));
        let merged = joined(&a, &vec![port("c", 5), port("a", 9), port("c", 6)].into());
        assert_eq!(merged, Value::from(vec![port("a", 9), port("b", 2), port("c", 6)]));
    }
}
