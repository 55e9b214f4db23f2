//! Equality and order of values, as CEL defines them: numbers by their number across types, maps without regard to order.
//!
//! Absent: what comparing costs (library, program).
use std::cmp::Ordering;

use super::{
    Value,
    identity::{self, Spend},
};
use crate::{
    eval::{Context, ErrorKind, Halt},
    limits::MAX_VALUE_DEPTH,
    types::Type,
};

impl Value {
    /// CEL's `==`: values of different types differ, numbers compare by number, NaN equals nothing. Functions of expressions use
    /// [`Context::equals`], which counts the work.
    ///
    /// # Errors
    /// `TooDeep` for values that nest deeper than [`MAX_VALUE_DEPTH`]; `CostExceeded` where it would be more than the work of
    /// an evaluation: few values whose parts are shared can be 2^100 to compare.
    pub fn equals(&self, other: &Value) -> Result<bool, Halt> {
        Context::new(0, None).equals(self, other)
    }

    /// As [`Value::equals`], telling before the elements of each container how much work they are.
    pub(crate) fn equals_counted(&self, other: &Value, spend: Spend<'_>) -> Result<bool, Halt> {
        equals(self, other, MAX_VALUE_DEPTH, spend)
    }

    /// CEL's `<` and its kin.
    ///
    /// # Errors
    /// `no such overload` for values that have no common order, `NaN values cannot be ordered`.
    pub fn compare(&self, other: &Value) -> Result<Ordering, Halt> {
        use Value::{Bool, Bytes, Double, Duration, Int, String, Timestamp, Uint};
        let ordering = match (self, other) {
            (Int(a), Int(b)) => a.cmp(b),
            (String(a), String(b)) => a.as_bytes().cmp(b.as_bytes()),
            (Uint(a), Uint(b)) => a.cmp(b),
            (Double(a), Double(b)) => a.partial_cmp(b).ok_or_else(unordered)?,
            (Int(a), Uint(b)) => int_uint(*a, *b),
            (Uint(a), Int(b)) => int_uint(*b, *a).reverse(),
            (Int(a), Double(b)) => int_double(*a, *b).ok_or_else(unordered)?,
            (Double(a), Int(b)) => int_double(*b, *a).ok_or_else(unordered)?.reverse(),
            (Uint(a), Double(b)) => uint_double(*a, *b).ok_or_else(unordered)?,
            (Double(a), Uint(b)) => uint_double(*b, *a).ok_or_else(unordered)?.reverse(),
            (Bool(a), Bool(b)) => a.cmp(b),
            (Bytes(a), Bytes(b)) => a.cmp(b),
            (Timestamp(a), Timestamp(b)) => (a.seconds, a.nanos).cmp(&(b.seconds, b.nanos)),
            (Duration(a), Duration(b)) => a.cmp(b),
            _ => return Err(Halt::error(ErrorKind::NoSuchOverload, "no such overload")),
        };
        Ok(ordering)
    }
}

/// CEL equality; values too deep or too large to compare differ. For tests and keys of caches; expressions use [`Value::equals`].
impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        self.equals(other).unwrap_or(false)
    }
}

fn unordered() -> Halt {
    Halt::error(ErrorKind::InvalidArgument, "NaN values cannot be ordered")
}

/// Work of comparing one value, in the unit of [`crate::eval::Context::spend`].
const VALUE_WORK: u64 = 8;

/// Work of comparing one entry of a map, whose key is looked up.
const ENTRY_WORK: u64 = 32;

/// Bytes of texts that take longer to compare than a value does.
const LONG: usize = 64;

pub(super) fn equals(a: &Value, b: &Value, levels: usize, spend: Spend<'_>) -> Result<bool, Halt> {
    use Value::{Bool, Bytes, Double, Duration, Int, List, Map, Null, Opaque, Optional, String, Timestamp, Type, Uint};
    Ok(match (a, b) {
        (String(a), String(b)) => {
            if a.len() == b.len() && a.len() >= LONG {
                spend(a.len() as u64 / 8)?;
            }
            a == b
        }
        (Int(a), Int(b)) => a == b,
        (Bool(a), Bool(b)) => a == b,
        (Uint(a), Uint(b)) => a == b,
        (Double(a), Double(b)) => a == b,
        (Int(a), Uint(b)) | (Uint(b), Int(a)) => u64::try_from(*a) == Ok(*b),
        (Int(a), Double(b)) | (Double(b), Int(a)) => int_double(*a, *b) == Some(Ordering::Equal),
        (Uint(a), Double(b)) | (Double(b), Uint(a)) => uint_double(*a, *b) == Some(Ordering::Equal),
        (Null, Null) => true,
        (Bytes(a), Bytes(b)) => {
            if a.len() == b.len() && a.len() >= LONG {
                spend(a.len() as u64 / 8)?;
            }
            a == b
        }
        (Timestamp(a), Timestamp(b)) => (a.seconds, a.nanos) == (b.seconds, b.nanos),
        (Duration(a), Duration(b)) => a == b,
        (Type(a), Type(b)) => same_type(a, b),
        (Opaque(a), Opaque(b)) => a.equals(&**b),
        (List(a), List(b)) => return lists_equal(a, b, deeper(levels)?, spend),
        (Map(a), Map(b)) => return maps_equal(a, b, deeper(levels)?, spend),
        (Optional(a), Optional(b)) => match (a, b) {
            (Some(a), Some(b)) => return equals(a, b, deeper(levels)?, spend),
            (a, b) => a.is_none() && b.is_none(),
        },
        _ => false,
    })
}

fn lists_equal(a: &super::List, b: &super::List, levels: usize, spend: Spend<'_>) -> Result<bool, Halt> {
    if let Some(identity) = a.identity() {
        return identity::equal(identity, a, b, levels, spend);
    }
    if a.len() != b.len() {
        return Ok(false);
    }
    spend(VALUE_WORK * a.len() as u64)?;
    for (a, b) in a.iter().zip(b) {
        if !equals(a, b, levels, spend)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn maps_equal(a: &super::Map, b: &super::Map, levels: usize, spend: Spend<'_>) -> Result<bool, Halt> {
    if a.len() != b.len() {
        return Ok(false);
    }
    spend(ENTRY_WORK * a.len() as u64)?;
    for (key, a) in a.iter() {
        match b.get_key(key) {
            Some(b) if equals(a, b, levels, spend)? => {}
            _ => return Ok(false),
        }
    }
    Ok(true)
}

fn deeper(levels: usize) -> Result<usize, Halt> {
    levels.checked_sub(1).ok_or_else(Halt::too_deep)
}

/// Types are equal at run time by their outermost name: `type([1]) == list`.
fn same_type(a: &Type, b: &Type) -> bool {
    match (a, b) {
        (Type::Object(a), Type::Object(b)) => a == b,
        (Type::Opaque(a, _), Type::Opaque(b, _)) | (Type::Param(a), Type::Param(b)) => a == b,
        // An optional's and an opaque's discriminants differ; both are named types without a value of the other.
        (a, b) => std::mem::discriminant(a) == std::mem::discriminant(b),
    }
}

fn int_uint(a: i64, b: u64) -> Ordering {
    u64::try_from(a).map_or(Ordering::Less, |a| a.cmp(&b))
}

/// By the double nearest the int, as cel-go does: the largest int and 2^63 are equal.
fn int_double(a: i64, b: f64) -> Option<Ordering> {
    (a as f64).partial_cmp(&b)
}

fn uint_double(a: u64, b: f64) -> Option<Ordering> {
    (a as f64).partial_cmp(&b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Map;

    #[track_caller]
    fn check(a: impl Into<Value>, b: impl Into<Value>, want: Option<Ordering>) {
        let (a, b) = (a.into(), b.into());
        assert_eq!(a.compare(&b).ok(), want);
        assert_eq!(b.compare(&a).ok(), want.map(Ordering::reverse));
        assert_eq!(a.equals(&b), Ok(want == Some(Ordering::Equal)));
        assert_eq!(b.equals(&a), Ok(want == Some(Ordering::Equal)));
    }

    #[test]
    fn numbers_compare_across_types() {
        use Ordering::{Equal, Greater, Less};
        check(1i64, 1u64, Some(Equal));
        check(1i64, 1.0, Some(Equal));
        check(-1i64, u64::MAX, Some(Less));
        check(i64::MAX, 9_223_372_036_854_775_808.0, Some(Equal));
        check(u64::MAX, 18_446_744_073_709_551_616.0, Some(Equal));
        check(9_007_199_254_740_993i64, 9_007_199_254_740_992.0, Some(Equal));
        check(-1i64, -1.5, Some(Greater));
        check(1i64, 1.5, Some(Less));
        check(0u64, -0.5, Some(Greater));
        check(1i64, f64::NAN, None);
        check(f64::NAN, f64::NAN, None);
        check(i64::MIN, f64::NEG_INFINITY, Some(Greater));
        check("a", 1i64, None);
    }

    #[test]
    fn containers_compare_by_content() {
        let map = |keys: &[&str]| -> Value { Value::Map(keys.iter().map(|k| (*k, Value::from(*k))).collect::<Map>()) };
        assert_eq!(map(&["a", "b"]), map(&["b", "a"]));
        assert_ne!(map(&["a", "b"]), map(&["a", "c"]));
        assert_ne!(map(&["a"]), map(&["a", "b"]));
        assert_eq!(Value::from(vec![Value::Int(1)]), Value::from(vec![Value::Double(1.0)]));
        assert_ne!(Value::from(vec![Value::Double(f64::NAN)]), Value::from(vec![Value::Double(f64::NAN)]));
        assert_eq!(Value::NONE, Value::NONE);
        assert_ne!(Value::NONE, Value::some(Value::Null));
    }

    #[test]
    fn too_deep_is_an_error() {
        let nest = |n| (0..n).fold(Value::Null, |v, _| Value::from(vec![v]));
        assert_eq!(nest(MAX_VALUE_DEPTH).equals(&nest(MAX_VALUE_DEPTH)), Ok(true));
        let deep = nest(100_000);
        assert_eq!(deep.equals(&deep.clone()), Err(Halt::too_deep()));
    }
}
