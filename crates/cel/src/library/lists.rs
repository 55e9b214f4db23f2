//! List functions of cel-go (version 3): `slice`, `flatten`, `sort`, `distinct`, `reverse`, `lists.range`.
//!
//! Absent: `sortBy` (a macro over `@sortByAssociatedKeys`), `first` and `last` (optional), Kubernetes' own
//! list functions (kubernetes::lists).
use std::cmp::Ordering;

use crate::{
    estimate::{
        Bounds, Guess, Operand,
        rule::{integer, size},
    },
    eval::{Context, Halt},
    library::{
        Cost, Function, Library, Overload,
        build::{at, function, global, invalid, method, no_overload_of, type_name},
        cost::{self, Price},
    },
    limits::MAX_VALUE_DEPTH,
    types::Type,
    value::{Value, push_clone},
};

/// The library.
pub(crate) fn library() -> Library {
    let t = || Type::param("T");
    let list = || Type::list(t());
    let nested = || Type::list(list());
    let dynamic = || Type::list(Type::Dyn);
    let flat = Price::new(
        Cost::ResolvedArgs(|args| 11 + cost::size(args.first())),
        |args| Guess::list(size(args, 0), 1.0),
        "11 and the elements of the list",
    );
    // As much as levels times elements, less than the base where the level is negative.
    let flat_to = Price::new(
        Cost::ResolvedArgs(|args| {
            let depth = if let Some(Value::Int(depth)) = args.get(1) { *depth } else { 1 };
            let size = i64::try_from(cost::size(args.first())).unwrap_or(i64::MAX);
            11u64.saturating_add_signed(size.saturating_mul(depth))
        }),
        |args| Guess::list(size(args, 0), float(literal(args, 1, u64::MAX))),
        "11 and the levels times the elements of the list",
    );
    let all_pairs = Price::new(
        Cost::ResolvedArgs(|args| cost::pairs(args.first())),
        |args| all_pairs_of(size(args, 0), 2.0),
        "11 and twice the square of the number of elements (2.1 times for texts)",
    );
    let functions = vec![
        function(
            "slice",
            vec![at(
                cost::NEW_LIST.estimated(|args| {
                    let end = literal(args, 2, size(args, 0).max);
                    // An end before the start is an error; upstream's arithmetic makes much of it.
                    Guess::list(Bounds::exactly(end.wrapping_sub(literal(args, 1, 0))), 1.0)
                }),
                method(
                    "list_slice",
                    vec![list(), Type::Int, Type::Int],
                    list(),
                    slice,
                    "The elements from the first index up to before the second.",
                    "[1, 2, 3].slice(1, 3) == [2, 3]",
                ),
            )],
        ),
        function(
            "flatten",
            vec![
                at(
                    flat,
                    method(
                        "list_flatten",
                        vec![nested()],
                        list(),
                        flatten,
                        "The elements of the lists in the list.",
                        "[[1], [2, 3]].flatten() == [1, 2, 3]",
                    ),
                ),
                at(
                    flat_to,
                    method(
                        "list_flatten_int",
                        vec![dynamic(), Type::Int],
                        dynamic(),
                        flatten,
                        "As many levels of lists in lists opened.",
                        "[[1, [2, [3]]]].flatten(2) == [1, 2, [3]]",
                    ),
                ),
            ],
        ),
        function(
            "distinct",
            vec![at(
                all_pairs,
                method(
                    "list_distinct",
                    vec![list()],
                    list(),
                    distinct,
                    "Each value once, where it is first.",
                    "[1, 2, 1].distinct() == [1, 2]",
                ),
            )],
        ),
        function(
            "reverse",
            vec![at(
                cost::NEW_LIST,
                method(
                    "list_reverse",
                    vec![list()],
                    list(),
                    reverse,
                    "The elements from the end.",
                    "[1, 2].reverse() == [2, 1]",
                ),
            )],
        ),
        function(
            "lists.range",
            vec![at(
                cost::NEW_LIST.estimated(|args| Guess::list(Bounds::exactly(literal(args, 0, u64::MAX)), 1.0)),
                global(
                    "lists_range",
                    vec![Type::Int],
                    Type::list(Type::Int),
                    range,
                    "The numbers from 0 up to before the argument.",
                    "lists.range(3) == [0, 1, 2]",
                ),
            )],
        ),
        sorts(all_pairs),
        sorts_by_keys(),
    ];
    Library { name: "lists", functions, macros: crate::macros::sort_by(), ..Library::default() }
}

fn sorts(all_pairs: Price) -> Function {
    let of = |id, element: Type, example| -> Overload {
        let all_pairs = match element {
            Type::String | Type::Bytes => all_pairs.estimated(|args| all_pairs_of(size(args, 0), 2.1)),
            _ => all_pairs,
        };
        let list = Type::list(element);
        at(
            all_pairs,
            method(id, vec![list.clone()], list, sort, "The elements in order; equal ones stay in theirs.", example),
        )
    };
    function(
        "sort",
        vec![
            of("list_int_sort", Type::Int, "[2, 1].sort() == [1, 2]"),
            of("list_uint_sort", Type::Uint, "[2u, 1u].sort() == [1u, 2u]"),
            of("list_double_sort", Type::Double, "[2.0, 1.0].sort() == [1.0, 2.0]"),
            of("list_bool_sort", Type::Bool, "[true, false].sort() == [false, true]"),
            of("list_duration_sort", Type::Duration, "[duration('1m'), duration('1s')].sort()[0] == duration('1s')"),
            of("list_timestamp_sort", Type::Timestamp, "[timestamp(1), timestamp(0)].sort()[0] == timestamp(0)"),
            of("list_string_sort", Type::String, "['b', 'a'].sort() == ['a', 'b']"),
            of("list_bytes_sort", Type::Bytes, "[b'b', b'a'].sort() == [b'a', b'b']"),
        ],
    )
}

fn sorts_by_keys() -> Function {
    let price = Price::new(
        Cost::ResolvedArgs(|args| cost::pairs(args.get(1))),
        |args| all_pairs_of(size(args, 1), 2.0),
        "11 and twice the square of the number of keys (2.1 times for texts)",
    );
    let list = Type::list(Type::param("T"));
    let of = |id, key: Type, example| -> Overload {
        let price = match key {
            Type::String | Type::Bytes => price.estimated(|args| all_pairs_of(size(args, 1), 2.1)),
            _ => price,
        };
        let params = vec![list.clone(), Type::list(key)];
        at(
            price,
            method(
                id,
                params,
                list.clone(),
                sort_by_keys,
                "The elements in the order of their keys (made by `sortBy`).",
                example,
            ),
        )
    };
    function(
        "@sortByAssociatedKeys",
        vec![
            of("list_int_sortByAssociatedKeys", Type::Int, "['bb', 'a'].sortBy(s, s.size()) == ['a', 'bb']"),
            of("list_uint_sortByAssociatedKeys", Type::Uint, "[2u, 1u].sortBy(u, u) == [1u, 2u]"),
            of("list_double_sortByAssociatedKeys", Type::Double, "[2.0, 1.0].sortBy(d, d) == [1.0, 2.0]"),
            of("list_bool_sortByAssociatedKeys", Type::Bool, "[1, 2].sortBy(i, i == 1) == [2, 1]"),
            of(
                "list_duration_sortByAssociatedKeys",
                Type::Duration,
                "['1m', '1s'].sortBy(s, duration(s)) == ['1s', '1m']",
            ),
            of("list_timestamp_sortByAssociatedKeys", Type::Timestamp, "[2, 1].sortBy(i, timestamp(i)) == [1, 2]"),
            of("list_string_sortByAssociatedKeys", Type::String, "[{'n': 'b'}, {'n': 'a'}].sortBy(m, m.n)[0].n == 'a'"),
            of("list_bytes_sortByAssociatedKeys", Type::Bytes, "['b', 'a'].sortBy(s, bytes(s)) == ['a', 'b']"),
        ],
    )
}

/// A number of elements that stands in the text; a negative one is an error.
fn literal(args: &[Operand<'_>], index: usize, unknown: u64) -> u64 {
    integer(args, index).map_or(unknown, |n| u64::try_from(n).unwrap_or(0))
}

#[expect(clippy::cast_precision_loss, reason = "upstream computes estimates in f64")]
fn float(n: u64) -> f64 {
    n as f64
}

/// Every element against every other. (Upstream takes the pairs for the result's size too.)
fn all_pairs_of(size: Bounds, walks: f64) -> Guess {
    Guess::list(size * size, walks).sized(size)
}

fn slice(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    let [Value::List(list), Value::Int(start), Value::Int(end)] = args else {
        return Err(no_overload_of("slice", args));
    };
    let refused = |why: &str| Err(invalid(format!("cannot slice({start}, {end}), {why}")));
    let (Ok(from), Ok(to)) = (usize::try_from(*start), usize::try_from(*end)) else {
        return refused("negative indexes not supported");
    };
    if from > to {
        return refused("start index must be less than or equal to end index");
    }
    match list.as_slice().get(from..to) {
        Some(part) => Ok(Value::List(part.to_vec().into())),
        None => refused(&format!("list is length {}", list.len())),
    }
}

fn flatten(context: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    let (list, depth) = match args {
        [Value::List(list)] => (list, 1),
        [Value::List(list), Value::Int(depth)] => (list, *depth),
        // Upstream's words for this one function.
        [value, ..] => {
            let rest = if args.len() > 1 { "int" } else { "" };
            return Err(Halt::error(
                crate::eval::ErrorKind::NoSuchOverload,
                format!("no such overload: {}.flatten({rest})", type_name(value)),
            ));
        }
        [] => return Err(no_overload_of("flatten", args)),
    };
    let depth = u64::try_from(depth).map_err(|_| invalid("level must be non-negative"))?;
    let mut flat = Vec::new();
    // An explicit stack, since lists may nest deeper than the thread's.
    let mut open = vec![list.as_slice().iter()];
    while let Some(level) = open.last_mut() {
        match level.next() {
            None => {
                open.pop();
            }
            Some(Value::List(inner)) if open.len() as u64 <= depth => {
                if open.len() > MAX_VALUE_DEPTH {
                    return Err(Halt::too_deep());
                }
                context.spend(8)?;
                open.push(inner.as_slice().iter());
            }
            Some(value) => {
                context.spend(size_of::<Value>() as u64)?;
                flat.push(value.clone());
            }
        }
    }
    Ok(Value::List(flat.into()))
}

fn distinct(context: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    let [Value::List(list)] = args else { return Err(no_overload_of("distinct", args)) };
    let mut found: Vec<Value> = Vec::new();
    for value in list.as_slice() {
        context.spend(8 * found.len() as u64)?;
        let mut known = false;
        for other in &found {
            if context.equals(value, other)? {
                known = true;
                break;
            }
        }
        if !known {
            found.push(value.clone());
        }
    }
    Ok(Value::List(found.into()))
}

fn reverse(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    let [Value::List(list)] = args else { return Err(no_overload_of("reverse", args)) };
    Ok(Value::List(list.as_slice().iter().rev().cloned().collect::<Vec<_>>().into()))
}

fn range(context: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    let [Value::Int(count)] = args else { return Err(no_overload_of("lists.range", args)) };
    context.afford(u64::try_from(*count).unwrap_or(0).saturating_add(11))?;
    Ok(Value::List((0..*count).map(Value::Int).collect::<Vec<_>>().into()))
}

fn sort(context: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    let [Value::List(list)] = args else { return Err(no_overload_of("sort", args)) };
    Ok(arranged(list.as_slice(), &order(context, list.as_slice())?))
}

fn sort_by_keys(context: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    let (list, positions) = order_by_keys(context, args)?;
    Ok(arranged(list, &positions))
}

/// The list among the arguments of `@sortByAssociatedKeys`, and where its elements are in the order of their keys.
pub(crate) fn order_by_keys<'a>(
    context: &mut Context<'_>,
    args: &'a [Value],
) -> Result<(&'a [Value], Vec<usize>), Halt> {
    match args {
        [Value::List(list), Value::List(keys)] if list.len() == keys.len() => {
            Ok((list.as_slice(), order(context, keys.as_slice())?))
        }
        _ => Err(no_overload_of("@sortByAssociatedKeys", args)),
    }
}

fn arranged(list: &[Value], positions: &[usize]) -> Value {
    let mut values = Vec::with_capacity(positions.len());
    for value in positions.iter().filter_map(|position| list.get(*position)) {
        push_clone(&mut values, value);
    }
    Value::List(values.into())
}

/// The positions of values in their order; of equal ones the first is first.
fn order(context: &mut Context<'_>, keys: &[Value]) -> Result<Vec<usize>, Halt> {
    if let Some(first) = keys.first() {
        if !has_order(first) {
            return Err(invalid("list elements must be comparable"));
        }
        if keys.iter().any(|key| std::mem::discriminant(key) != std::mem::discriminant(first)) {
            return Err(invalid("list elements must have the same type"));
        }
    }
    // Comparisons of a merge sort; on `dyn` lists the model charges only 1.
    let levels = u64::from(u64::BITS - (keys.len() as u64).leading_zeros());
    let read = keys.iter().fold(0, |sum: u64, key| match key {
        Value::String(text) => sum.saturating_add(text.len() as u64 / 8),
        Value::Bytes(bytes) => sum.saturating_add(bytes.len() as u64 / 8),
        _ => sum,
    });
    context.spend((keys.len() as u64 * 8).saturating_add(read).saturating_mul(levels))?;
    let mut failure = None;
    let positions = match keys.first() {
        Some(Value::Int(_) | Value::Duration(_)) => positions(keys.iter().map(whole), Ord::cmp),
        Some(Value::String(_)) => positions(keys.iter().map(text), Ord::cmp),
        _ => positions(keys.iter(), |a, b| {
            a.compare(b).unwrap_or_else(|halt| {
                failure.get_or_insert(halt);
                Ordering::Equal
            })
        }),
    };
    match failure {
        Some(halt) => Err(halt),
        None => Ok(positions),
    }
}

fn positions<K>(keys: impl Iterator<Item = K>, mut compare: impl FnMut(&K, &K) -> Ordering) -> Vec<usize> {
    let mut places: Vec<(K, usize)> = keys.zip(0..).collect();
    places.sort_by(|(a, _), (b, _)| compare(a, b));
    places.into_iter().map(|(_, place)| place).collect()
}

/// What an int, or a duration, is compared by.
fn whole(value: &Value) -> i64 {
    match value {
        Value::Int(i) | Value::Duration(i) => *i,
        _ => 0,
    }
}

/// What a text is compared by.
fn text(value: &Value) -> &[u8] {
    match value {
        Value::String(text) => text.as_bytes(),
        _ => &[],
    }
}

/// Whether values of this type have an order among themselves.
pub(crate) fn has_order(value: &Value) -> bool {
    matches!(
        value,
        Value::Bool(_)
            | Value::Int(_)
            | Value::Uint(_)
            | Value::Double(_)
            | Value::String(_)
            | Value::Bytes(_)
            | Value::Timestamp(_)
            | Value::Duration(_)
    )
}
