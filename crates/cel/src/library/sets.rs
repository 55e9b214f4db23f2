//! Lists taken as sets: `sets.contains`, `sets.equivalent`, `sets.intersects`.
//!
//! Absent: list functions (lists).
use crate::{
    estimate::{Bounds, Guess, rule::size},
    eval::{Context, Halt},
    library::{
        Cost, Function, Implementation, Library,
        build::{any_list, at, function, global, no_overload_of},
        cost::{self, Price},
    },
    types::Type,
    value::Value,
};

/// The library.
pub(crate) fn library() -> Library {
    let once = Price::new(
        Cost::ResolvedArgs(|args| pairs(args).saturating_add(1)),
        |args| Guess::cost(size(args, 0) * size(args, 1) + Bounds::exactly(1)),
        "1 and the product of the numbers of elements",
    );
    let twice = Price::new(
        Cost::ResolvedArgs(|args| pairs(args).saturating_mul(2).saturating_add(1)),
        |args| Guess::cost((size(args, 0) * size(args, 1)).scaled(2.0) + Bounds::exactly(1)),
        "1 and twice the product of the numbers of elements",
    );
    let of = |name: &str, id, price, code: Implementation, doc, example| -> Function {
        function(name, vec![at(price, global(id, vec![any_list(), any_list()], Type::Bool, code, doc, example))])
    };
    let functions = vec![
        of(
            "sets.contains",
            "list_sets_contains_list",
            once,
            contains,
            "Whether the first has all of the second.",
            "sets.contains([1, 2, 3], [3, 1])",
        ),
        of(
            "sets.equivalent",
            "list_sets_equivalent_list",
            twice,
            equivalent,
            "Whether each has all of the other.",
            "sets.equivalent([1, 2], [2, 1, 1])",
        ),
        of(
            "sets.intersects",
            "list_sets_intersects_list",
            once,
            intersects,
            "Whether they have one in common.",
            "sets.intersects([1, 2], [2, 3])",
        ),
    ];
    Library { name: "sets", functions, ..Library::default() }
}

fn pairs(args: &[Value]) -> u64 {
    cost::size(args.first()).saturating_mul(cost::size(args.get(1)))
}

fn lists<'a>(name: &str, args: &'a [Value]) -> Result<(&'a [Value], &'a [Value]), Halt> {
    match args {
        [Value::List(a), Value::List(b)] => Ok((a.as_slice(), b.as_slice())),
        _ => Err(no_overload_of(name, args)),
    }
}

fn has(context: &mut Context<'_>, list: &[Value], wanted: &Value) -> Result<bool, Halt> {
    for value in list {
        if context.equals(value, wanted)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn has_all(context: &mut Context<'_>, list: &[Value], wanted: &[Value]) -> Result<bool, Halt> {
    for value in wanted {
        if !has(context, list, value)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn contains(context: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    let (a, b) = lists("sets.contains", args)?;
    has_all(context, a, b).map(Value::Bool)
}

fn equivalent(context: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    let (a, b) = lists("sets.equivalent", args)?;
    Ok(Value::Bool(has_all(context, a, b)? && has_all(context, b, a)?))
}

fn intersects(context: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    let (a, b) = lists("sets.intersects", args)?;
    for value in b {
        if has(context, a, value)? {
            return Ok(Value::Bool(true));
        }
    }
    Ok(Value::Bool(false))
}
