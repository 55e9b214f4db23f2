//! Lists with one element changed: `lists.setAtIndex`, `lists.insertAtIndex`, `lists.removeAtIndex`.
//!
//! Absent: all other work with lists (`library::lists`, `library::kubernetes::lists`).
use crate::{
    estimate::{Bounds, Guess, rule::size},
    eval::{Context, ErrorKind, Halt},
    library::{
        Library,
        build::{any, any_list, at, function, global, no_overload_of},
        cost,
    },
    types::Type,
    value::{List, Value},
};

/// The library.
pub(crate) fn library() -> Library {
    let functions = vec![
        function(
            "lists.setAtIndex",
            vec![at(
                cost::NEW_LIST,
                global(
                    "lists.setAtIndex_list_int_T",
                    vec![any_list(), Type::Int, any()],
                    any_list(),
                    set,
                    "The list with another element at the index.",
                    "lists.setAtIndex([1, 2, 3], 1, 9) == [1, 9, 3]",
                ),
            )],
        ),
        function(
            "lists.insertAtIndex",
            vec![at(
                cost::NEW_LIST.estimated(|args| Guess::list(size(args, 0) + Bounds::exactly(1), 1.0)),
                global(
                    "lists.insertAtIndex_list_int_T",
                    vec![any_list(), Type::Int, any()],
                    any_list(),
                    insert,
                    "The list with one element more, before the index; the list's size appends.",
                    "lists.insertAtIndex([1, 2], 2, 9) == [1, 2, 9]",
                ),
            )],
        ),
        function(
            "lists.removeAtIndex",
            vec![at(
                cost::NEW_LIST.estimated(|args| Guess::list(size(args, 0).less(1), 1.0)),
                global(
                    "lists.removeAtIndex_list_int",
                    vec![any_list(), Type::Int],
                    any_list(),
                    remove,
                    "The list without the element at the index.",
                    "lists.removeAtIndex([1, 2, 3], 1) == [1, 3]",
                ),
            )],
        ),
    ];
    Library { name: "kro.lists", functions, ..Library::default() }
}

fn set(context: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    const NAME: &str = "lists.setAtIndex";
    let [Value::List(list), Value::Int(index), value] = args else { return Err(no_overload_of(NAME, args)) };
    let mut values = copy(context, list)?;
    let place = usize::try_from(*index).ok().and_then(|at| values.get_mut(at));
    *place.ok_or_else(|| out_of_bounds(NAME, *index, list, ')'))? = value.clone();
    Ok(values.into())
}

fn insert(context: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    const NAME: &str = "lists.insertAtIndex";
    let [Value::List(list), Value::Int(index), value] = args else { return Err(no_overload_of(NAME, args)) };
    let at = usize::try_from(*index).ok().filter(|at| *at <= list.len());
    let at = at.ok_or_else(|| out_of_bounds(NAME, *index, list, ']'))?;
    let mut values = copy(context, list)?;
    values.insert(at, value.clone());
    Ok(values.into())
}

fn remove(context: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    const NAME: &str = "lists.removeAtIndex";
    let [Value::List(list), Value::Int(index)] = args else { return Err(no_overload_of(NAME, args)) };
    let at = usize::try_from(*index).ok().filter(|at| *at < list.len());
    let at = at.ok_or_else(|| out_of_bounds(NAME, *index, list, ')'))?;
    let mut values = copy(context, list)?;
    values.remove(at);
    Ok(values.into())
}

/// The elements, with room for one more.
fn copy(context: &mut Context<'_>, list: &List) -> Result<Vec<Value>, Halt> {
    // The price is charged by the result, so that it must be affordable before there is one.
    context.afford(11 + list.len() as u64)?;
    context.spend((list.len() * size_of::<Value>()) as u64)?;
    let mut values = Vec::with_capacity(list.len() + 1);
    values.extend_from_slice(list.as_slice());
    Ok(values)
}

fn out_of_bounds(function: &str, index: i64, list: &List, end: char) -> Halt {
    let size = list.len();
    Halt::error(ErrorKind::IndexOutOfBounds, format!("{function}: index {index} out of bounds [0, {size}{end}"))
}
