//! Order: `<`, `<=`, `>`, `>=` on what has an order, numbers across types.
//!
//! Absent: how values compare (value), equality (operators).
use std::cmp::Ordering;

use crate::{
    eval::Halt,
    library::{
        Function, Implementation, Overload,
        build::{at, function, global, no_overload},
        cost,
    },
    types::Type,
    value::Value,
};

/// The four operators.
pub(crate) fn functions() -> Vec<Function> {
    vec![
        order("_<_", &LESS, |_, args| ordered(args, Ordering::is_lt)),
        order("_<=_", &LESS_EQUALS, |_, args| ordered(args, Ordering::is_le)),
        order("_>_", &GREATER, |_, args| ordered(args, Ordering::is_gt)),
        order("_>=_", &GREATER_EQUALS, |_, args| ordered(args, Ordering::is_ge)),
    ]
}

/// Overload ids and examples of one comparison, in the order of [`order`]'s types.
type Comparison = [(&'static str, &'static str); 14];

const LESS: Comparison = [
    ("less_bool", "false < true"),
    ("less_int64", "1 < 2"),
    ("less_int64_double", "1 < 1.5"),
    ("less_int64_uint64", "-1 < 0u"),
    ("less_uint64", "1u < 2u"),
    ("less_uint64_double", "1u < 1.5"),
    ("less_uint64_int64", "1u < 2"),
    ("less_double", "1.0 < 1.5"),
    ("less_double_int64", "0.5 < 1"),
    ("less_double_uint64", "0.5 < 1u"),
    ("less_string", "'a' < 'b'"),
    ("less_bytes", "b'a' < b'b'"),
    ("less_timestamp", "timestamp('2024-01-01T00:00:00Z') < timestamp('2024-01-01T00:00:01Z')"),
    ("less_duration", "duration('1s') < duration('1m')"),
];
const LESS_EQUALS: Comparison = [
    ("less_equals_bool", "false <= false"),
    ("less_equals_int64", "1 <= 1"),
    ("less_equals_int64_double", "1 <= 1.0"),
    ("less_equals_int64_uint64", "1 <= 1u"),
    ("less_equals_uint64", "1u <= 1u"),
    ("less_equals_uint64_double", "1u <= 1.0"),
    ("less_equals_uint64_int64", "1u <= 1"),
    ("less_equals_double", "1.0 <= 1.0"),
    ("less_equals_double_int64", "1.0 <= 1"),
    ("less_equals_double_uint64", "1.0 <= 1u"),
    ("less_equals_string", "'a' <= 'a'"),
    ("less_equals_bytes", "b'a' <= b'a'"),
    ("less_equals_timestamp", "timestamp('2024-01-01T00:00:00Z') <= timestamp('2024-01-01T00:00:00Z')"),
    ("less_equals_duration", "duration('60s') <= duration('1m')"),
];
const GREATER: Comparison = [
    ("greater_bool", "true > false"),
    ("greater_int64", "2 > 1"),
    ("greater_int64_double", "2 > 1.5"),
    ("greater_int64_uint64", "2 > 1u"),
    ("greater_uint64", "2u > 1u"),
    ("greater_uint64_double", "2u > 1.5"),
    ("greater_uint64_int64", "2u > dyn(-1)"),
    ("greater_double", "1.5 > 1.0"),
    ("greater_double_int64", "1.5 > 1"),
    ("greater_double_uint64", "1.5 > 1u"),
    ("greater_string", "'b' > 'a'"),
    ("greater_bytes", "b'b' > b'a'"),
    ("greater_timestamp", "timestamp('2024-01-01T00:00:01Z') > timestamp('2024-01-01T00:00:00Z')"),
    ("greater_duration", "duration('1m') > duration('1s')"),
];
const GREATER_EQUALS: Comparison = [
    ("greater_equals_bool", "true >= true"),
    ("greater_equals_int64", "1 >= 1"),
    ("greater_equals_int64_double", "1 >= 1.0"),
    ("greater_equals_int64_uint64", "1 >= 1u"),
    ("greater_equals_uint64", "1u >= 1u"),
    ("greater_equals_uint64_double", "1u >= 1.0"),
    ("greater_equals_uint64_int64", "1u >= 1"),
    ("greater_equals_double", "1.0 >= 1.0"),
    ("greater_equals_double_int64", "1.0 >= 1"),
    ("greater_equals_double_uint64", "1.0 >= 1u"),
    ("greater_equals_string", "'a' >= 'a'"),
    ("greater_equals_bytes", "b'a' >= b'a'"),
    ("greater_equals_timestamp", "timestamp('2024-01-01T00:00:00Z') >= timestamp('2024-01-01T00:00:00Z')"),
    ("greater_equals_duration", "duration('1m') >= duration('60s')"),
];

fn order(name: &str, rows: &Comparison, code: Implementation) -> Function {
    use Type::{Bool, Bytes, Double, Duration, Int, String, Timestamp, Uint};
    let types = [
        (Bool, Bool),
        (Int, Int),
        (Int, Double),
        (Int, Uint),
        (Uint, Uint),
        (Uint, Double),
        (Uint, Int),
        (Double, Double),
        (Double, Int),
        (Double, Uint),
        (String, String),
        (Bytes, Bytes),
        (Timestamp, Timestamp),
        (Duration, Duration),
    ];
    let overload = |((a, b), (id, example)): ((Type, Type), &(&'static str, &'static str))| -> Overload {
        let sized = matches!(a, String | Bytes);
        let overload =
            global(id, vec![a, b], Bool, code, "Order; numbers by their number whatever their type.", example);
        if sized { at(cost::SHORTER, overload) } else { overload }
    };
    function(name, types.into_iter().zip(rows).map(overload).collect())
}

fn ordered(args: &[Value], accepts: fn(Ordering) -> bool) -> Result<Value, Halt> {
    match args {
        [a, b] => Ok(Value::Bool(accepts(a.compare(b)?))),
        _ => Err(no_overload()),
    }
}
