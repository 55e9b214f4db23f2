//! Kubernetes' list functions: `isSorted`, `sum`, `min`, `max`, `indexOf`, `lastIndexOf`.
//!
//! Absent: cel-go's list functions (lists), `indexOf` of strings (strings, which shares the price).
use std::cmp::Ordering;

use crate::{
    estimate::{Bounds, Guess, rule::size},
    eval::{Context, Halt},
    library::{
        Cost, Function, Library, Overload,
        build::{at, function, invalid, method, no_overload, no_overload_of, priced},
        cost::{self, Price},
        lists::has_order,
        operators::{sum as plus, whole},
    },
    types::Type,
    value::Value,
};

/// What walking through a value costs: a tenth of texts, 1 for the rest, summed over what containers hold.
pub(crate) const TRAVERSAL: Price = Price::new(
    Cost::Args(|args| args.first().map_or(1, |value| traversal(value, DEEPEST, &mut { cost::MOST_VISITS }))),
    |args| {
        let size = size(args, 0);
        Guess::cost(match args.first().and_then(|list| list.element) {
            Some((Type::String | Type::Bytes, text)) => size * (Bounds::exactly(1) + text.scaled(0.1)),
            Some(_) => size * Bounds::exactly(1),
            None => size.scaled(0.1),
        })
    },
    "a tenth of the bytes of texts and 1 for each other value in the list",
);

/// Levels that the price looks into; what is below counts 1 (no value of an expression nests so deep).
const DEEPEST: usize = crate::limits::MAX_VALUE_DEPTH;

#[inline]
fn traversal(value: &Value, levels: usize, visits: &mut u64) -> u64 {
    let Some(left) = visits.checked_sub(1) else { return u64::MAX };
    *visits = left;
    // Upstream's floor(bytes * 0.1).
    let bytes = |length: usize| length as u64 / 10;
    match value {
        Value::String(s) => bytes(s.len()),
        Value::Bytes(b) => bytes(b.len()),
        Value::List(_) | Value::Map(_) if levels > 0 => traversal_of_parts(value, levels, visits),
        _ => 1,
    }
}

fn traversal_of_parts(value: &Value, levels: usize, visits: &mut u64) -> u64 {
    match value {
        Value::List(list) => {
            list.as_slice().iter().fold(0, |n: u64, v| n.saturating_add(traversal(v, levels - 1, visits)))
        }
        Value::Map(map) => map.iter().fold(0, |n: u64, (key, v)| {
            let key = if let crate::value::Key::String(s) = key { s.len() as u64 / 10 } else { 1 };
            n.saturating_add(key).saturating_add(traversal(v, levels - 1, visits))
        }),
        _ => 1,
    }
}

/// The library.
pub(crate) fn library() -> Library {
    let list = || Type::list(Type::param("T"));
    let element = || Type::param("T");
    let functions = vec![
        sorted(),
        sums(),
        extremes("min", &MIN, min),
        extremes("max", &MAX, max),
        priced(
            "indexOf",
            TRAVERSAL,
            vec![method(
                "list_a_index_of_int",
                vec![list(), element()],
                Type::Int,
                index_of,
                "Where the first equal element is, or -1.",
                "[1, 2, 1].indexOf(1) == 0",
            )],
        ),
        priced(
            "lastIndexOf",
            TRAVERSAL,
            vec![method(
                "list_a_last_index_of_int",
                vec![list(), element()],
                Type::Int,
                last_index_of,
                "Where the last equal element is, or -1.",
                "[1, 2, 1].lastIndexOf(1) == 2",
            )],
        ),
    ];
    Library { name: "kubernetes.lists", functions, ..Library::default() }
}

/// Ids and examples for the eight types with an order: int, uint, double, bool, duration, timestamp, string, bytes.
type Rows = [(&'static str, &'static str); 8];

const SORTED: Rows = [
    ("list_int_is_sorted_bool", "[1, 2].isSorted()"),
    ("list_uint_is_sorted_bool", "[1u, 2u].isSorted()"),
    ("list_double_is_sorted_bool", "[1.0, 2.0].isSorted()"),
    ("list_bool_is_sorted_bool", "[false, true].isSorted()"),
    ("list_duration_is_sorted_bool", "[duration('1s'), duration('1m')].isSorted()"),
    ("list_timestamp_is_sorted_bool", "[timestamp(0), timestamp(1)].isSorted()"),
    ("list_string_is_sorted_bool", "['a', 'b'].isSorted()"),
    ("list_bytes_is_sorted_bool", "[b'a', b'b'].isSorted()"),
];
const MIN: Rows = [
    ("list_int_min_int", "[2, 1].min() == 1"),
    ("list_uint_min_uint", "[2u, 1u].min() == 1u"),
    ("list_double_min_double", "[2.0, 1.0].min() == 1.0"),
    ("list_bool_min_bool", "![true, false].min()"),
    ("list_duration_min_duration", "[duration('1m'), duration('1s')].min() == duration('1s')"),
    ("list_timestamp_min_timestamp", "[timestamp(1), timestamp(0)].min() == timestamp(0)"),
    ("list_string_min_string", "['b', 'a'].min() == 'a'"),
    ("list_bytes_min_bytes", "[b'b', b'a'].min() == b'a'"),
];
const MAX: Rows = [
    ("list_int_max_int", "[1, 2].max() == 2"),
    ("list_uint_max_uint", "[1u, 2u].max() == 2u"),
    ("list_double_max_double", "[1.0, 2.0].max() == 2.0"),
    ("list_bool_max_bool", "[true, false].max()"),
    ("list_duration_max_duration", "[duration('1m'), duration('1s')].max() == duration('1m')"),
    ("list_timestamp_max_timestamp", "[timestamp(1), timestamp(0)].max() == timestamp(1)"),
    ("list_string_max_string", "['a', 'b'].max() == 'b'"),
    ("list_bytes_max_bytes", "[b'a', b'b'].max() == b'b'"),
];

fn types() -> [Type; 8] {
    use Type::{Bool, Bytes, Double, Duration, Int, String, Timestamp, Uint};
    [Int, Uint, Double, Bool, Duration, Timestamp, String, Bytes]
}

fn sorted() -> Function {
    let of = |(element, (id, example)): (Type, (&'static str, &'static str))| {
        method(
            id,
            vec![Type::list(element)],
            Type::Bool,
            is_sorted,
            "Whether no element is less than the one before.",
            example,
        )
    };
    priced("isSorted", TRAVERSAL, types().into_iter().zip(SORTED).map(of).collect())
}

fn extremes(name: &str, rows: &Rows, code: crate::library::Implementation) -> Function {
    let of = |(element, (id, example)): (Type, (&'static str, &'static str))| {
        method(
            id,
            vec![Type::list(element.clone())],
            element,
            code,
            "The least or greatest element; an error on an empty list.",
            example,
        )
    };
    priced(name, TRAVERSAL, types().into_iter().zip(*rows).map(of).collect())
}

fn sums() -> Function {
    let of = |id, element: Type, code, example| -> Overload {
        method(id, vec![Type::list(element.clone())], element, code, "All elements added, 0 of none.", example)
    };
    let overloads = vec![
        of("list_int_sum_int", Type::Int, |_, args| sum(args, Value::Int(0)), "[1, 2].sum() == 3"),
        of("list_uint_sum_uint", Type::Uint, |_, args| sum(args, Value::Uint(0)), "[1u, 2u].sum() == 3u"),
        of("list_double_sum_double", Type::Double, |_, args| sum(args, Value::Double(0.0)), "[1.5, 2.0].sum() == 3.5"),
        of(
            "list_duration_sum_duration",
            Type::Duration,
            |_, args| sum(args, Value::Duration(0)),
            "[duration('1s'), duration('1m')].sum() == duration('61s')",
        ),
    ];
    function("sum", overloads.into_iter().map(|o| at(TRAVERSAL, o)).collect())
}

fn is_sorted(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    let [Value::List(list)] = args else { return Err(no_overload_of("isSorted", args)) };
    let list = list.as_slice();
    if list.first().is_some_and(|first| !has_order(first)) {
        return Err(no_overload_of("isSorted", args));
    }
    for pair in list.windows(2) {
        if let [a, b] = pair
            && a.compare(b)? == Ordering::Greater
        {
            return Ok(Value::Bool(false));
        }
    }
    Ok(Value::Bool(true))
}

fn sum(args: &[Value], zero: Value) -> Result<Value, Halt> {
    let [Value::List(list)] = args else { return Err(no_overload_of("sum", args)) };
    let mut elements = list.as_slice().iter();
    let mut total = match elements.next() {
        None => return Ok(zero),
        // Upstream adds it to 0, which makes 0 of -0.
        Some(Value::Double(first)) => Value::Double(0.0 + first),
        Some(first @ (Value::Int(_) | Value::Uint(_) | Value::Duration(_))) => first.clone(),
        Some(_) => return Err(no_overload_of("sum", args)),
    };
    for value in elements {
        total = match (&total, value) {
            (Value::Int(a), Value::Int(b)) => Value::Int(whole(a.checked_add(*b))?),
            (Value::Double(a), Value::Double(b)) => Value::Double(a + b),
            (Value::Duration(_), Value::Timestamp(_)) => return Err(no_overload()),
            (a, b) => plus(a, b)?,
        };
    }
    Ok(total)
}

fn min(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    extreme("min", args, Ordering::Greater)
}

fn max(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    extreme("max", args, Ordering::Less)
}

/// The element that no other replaces; one replaces it when it stands to it as `replaced`. Elements without a common order
/// are passed over, as upstream does.
fn extreme(function: &str, args: &[Value], replaced: Ordering) -> Result<Value, Halt> {
    let [Value::List(list)] = args else { return Err(no_overload_of(function, args)) };
    let mut elements = list.as_slice().iter();
    let Some(mut best) = elements.next() else {
        return Err(invalid(format!("{function} called on empty list")));
    };
    if !has_order(best) {
        return Err(no_overload_of(function, args));
    }
    for value in elements {
        if !has_order(value) {
            return Err(no_overload());
        }
        if best.compare(value).is_ok_and(|order| order == replaced) {
            best = value;
        }
    }
    Ok(best.clone())
}

fn index_of(context: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    let [Value::List(list), wanted] = args else { return Err(no_overload_of("indexOf", args)) };
    context.spend(8 * list.len() as u64)?;
    for (i, value) in list.as_slice().iter().enumerate() {
        if context.equals(value, wanted)? {
            return Ok(position(i));
        }
    }
    Ok(Value::Int(-1))
}

fn last_index_of(context: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    let [Value::List(list), wanted] = args else { return Err(no_overload_of("lastIndexOf", args)) };
    context.spend(8 * list.len() as u64)?;
    for (i, value) in list.as_slice().iter().enumerate().rev() {
        if context.equals(value, wanted)? {
            return Ok(position(i));
        }
    }
    Ok(Value::Int(-1))
}

fn position(index: usize) -> Value {
    Value::Int(i64::try_from(index).unwrap_or(i64::MAX))
}
