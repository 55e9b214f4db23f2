//! Optional values: `optional.of(x)`, `.orValue(y)`, `a.?b`, `a[?k]`, as version 2 of cel-go's library.
//!
//! Absent: `optMap` and `optFlatMap` (macros), evaluation of chains and of `or`/`orValue`, whose right side is only
//! evaluated when needed (program).
use crate::{
    eval::{Context, ErrorKind, Halt},
    library::{
        Function, Library, Overload,
        build::{at, function, global, method, no_overload_of},
        cost,
    },
    types::Type,
    value::{Key, Value},
};

/// The library.
pub(crate) fn library() -> Library {
    let constants = vec![(
        "optional_type".into(),
        Type::type_of(Type::optional(Type::Dyn)),
        Value::Type(Type::optional(Type::Dyn).into()),
    )];
    let functions = construction().into_iter().chain(use_of()).chain(chains()).chain(lists()).collect();
    Library { name: "optional", functions, constants, macros: crate::macros::optional(), ..Library::default() }
}

fn v() -> Type {
    Type::param("V")
}

fn opt() -> Type {
    Type::optional(v())
}

fn construction() -> Vec<Function> {
    vec![
        function(
            "optional.of",
            vec![global("optional_of", vec![v()], opt(), of, "A present value.", "optional.of(1).value() == 1")],
        ),
        function(
            "optional.ofNonZeroValue",
            vec![global(
                "optional_ofNonZeroValue",
                vec![v()],
                opt(),
                of_non_zero,
                "Present unless null, empty, 0 or false.",
                "!optional.ofNonZeroValue('').hasValue()",
            )],
        ),
        function(
            "optional.none",
            vec![global("optional_none", vec![], opt(), none, "An absent value.", "!optional.none().hasValue()")],
        ),
    ]
}

fn use_of() -> Vec<Function> {
    let free = |overload: Overload| at(cost::FREE, overload);
    vec![
        function(
            "value",
            vec![method(
                "optional_value",
                vec![opt()],
                v(),
                value,
                "What is present; an error if nothing is.",
                "optional.of(1).value() == 1",
            )],
        ),
        function(
            "hasValue",
            vec![method(
                "optional_hasValue",
                vec![opt()],
                Type::Bool,
                has_value,
                "Whether something is present.",
                "optional.of(1).hasValue()",
            )],
        ),
        function(
            "or",
            vec![free(method(
                "optional_or_optional",
                vec![opt(), opt()],
                opt(),
                or,
                "This if present, else the other.",
                "optional.none().or(optional.of(1)) == optional.of(1)",
            ))],
        ),
        function(
            "orValue",
            vec![free(method(
                "optional_orValue_value",
                vec![opt(), v()],
                v(),
                or_value,
                "What is present, else the default.",
                "optional.none().orValue(1) == 1",
            ))],
        ),
    ]
}

fn chains() -> Vec<Function> {
    let k = || Type::param("K");
    let list = || Type::list(v());
    let map = || Type::map(k(), v());
    vec![
        function(
            "_?._",
            vec![global(
                "select_optional_field",
                vec![Type::Dyn, Type::String],
                opt(),
                index,
                "The field, if there.",
                "{'a': 1}.?b.orValue(0) == 0",
            )],
        ),
        function(
            "_[?_]",
            vec![
                global(
                    "list_optindex_optional_int",
                    vec![list(), Type::Int],
                    opt(),
                    index,
                    "The element, if there.",
                    "[1][?3].orValue(0) == 0",
                ),
                global(
                    "optional_list_optindex_optional_int",
                    vec![Type::optional(list()), Type::Int],
                    opt(),
                    index,
                    "The element, if there.",
                    "optional.of([1])[?0].value() == 1",
                ),
                global(
                    "map_optindex_optional_value",
                    vec![map(), k()],
                    opt(),
                    index,
                    "The value of a key, if there.",
                    "{'a': 1}[?'b'].orValue(0) == 0",
                ),
                global(
                    "optional_map_optindex_optional_value",
                    vec![Type::optional(map()), k()],
                    opt(),
                    index,
                    "The value of a key, if there.",
                    "optional.of({'a': 1})[?'a'].value() == 1",
                ),
            ],
        ),
        function(
            "_[_]",
            vec![
                global(
                    "optional_list_index_int",
                    vec![Type::optional(list()), Type::Int],
                    opt(),
                    index,
                    "The element of an optional list, if there.",
                    "optional.of([1])[0].value() == 1",
                ),
                global(
                    "optional_map_index_value",
                    vec![Type::optional(map()), k()],
                    opt(),
                    index,
                    "The value of a key of an optional map, if there.",
                    "optional.of({'a': 1})['a'].value() == 1",
                ),
            ],
        ),
    ]
}

fn lists() -> Vec<Function> {
    let list = || Type::list(v());
    let optionals = || Type::list(opt());
    vec![
        function(
            "first",
            vec![method(
                "list_first",
                vec![list()],
                opt(),
                first,
                "The first element, if there is one.",
                "[1, 2].first().value() == 1",
            )],
        ),
        function(
            "last",
            vec![method(
                "list_last",
                vec![list()],
                opt(),
                last,
                "The last element, if there is one.",
                "[1, 2].last().value() == 2",
            )],
        ),
        function(
            "optional.unwrap",
            vec![global(
                "optional_unwrap",
                vec![optionals()],
                list(),
                unwrap,
                "What is present, in order.",
                "optional.unwrap([optional.of(1), optional.none()]) == [1]",
            )],
        ),
        function(
            "unwrapOpt",
            vec![method(
                "optional_unwrapOpt",
                vec![optionals()],
                list(),
                unwrap_opt,
                "What is present, in order.",
                "[optional.of(1), optional.none()].unwrapOpt() == [1]",
            )],
        ),
    ]
}

fn of(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    match args {
        [value] => Ok(Value::some(value.clone())),
        _ => Err(no_overload_of("optional.of", args)),
    }
}

fn none(_: &mut Context<'_>, _: &[Value]) -> Result<Value, Halt> {
    Ok(Value::NONE)
}

fn of_non_zero(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    match args {
        [value] if is_zero(value) => Ok(Value::NONE),
        [value] => Ok(Value::some(value.clone())),
        _ => Err(no_overload_of("optional.ofNonZeroValue", args)),
    }
}

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(b) => !b,
        Value::Int(i) => *i == 0,
        Value::Uint(u) => *u == 0,
        Value::Double(d) => *d == 0.0,
        Value::String(s) => s.is_empty(),
        Value::Bytes(b) => b.is_empty(),
        Value::Duration(d) => *d == 0,
        Value::List(l) => l.is_empty(),
        Value::Map(m) => m.is_empty(),
        // Go's zero time is the first instant of year 1.
        Value::Timestamp(t) => t.seconds == *crate::format::time::IN_RANGE.start() && t.nanos == 0,
        Value::Optional(_) | Value::Type(_) | Value::Opaque(_) => false,
    }
}

fn value(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    match args {
        [Value::Optional(Some(value))] => Ok((**value).clone()),
        [Value::Optional(None)] => Err(Halt::error(ErrorKind::InvalidArgument, "optional.none() dereference")),
        _ => Err(no_overload_of("value", args)),
    }
}

fn has_value(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    match args {
        [Value::Optional(value)] => Ok(Value::Bool(value.is_some())),
        _ => Err(no_overload_of("hasValue", args)),
    }
}

fn or(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    match args {
        [Value::Optional(None), other] => Ok(other.clone()),
        [value @ Value::Optional(_), _] => Ok(value.clone()),
        _ => Err(no_overload_of("or", args)),
    }
}

fn or_value(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    match args {
        [Value::Optional(None), other] => Ok(other.clone()),
        [Value::Optional(Some(value)), _] => Ok((**value).clone()),
        _ => Err(no_overload_of("orValue", args)),
    }
}

fn index(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    let [operand, key] = args else { return Err(no_overload_of("_[?_]", args)) };
    let operand = match operand {
        Value::Optional(None) => return Ok(Value::NONE),
        Value::Optional(Some(inner)) => inner,
        other => other,
    };
    let found = match (operand, key) {
        (Value::List(list), Value::Int(i)) => usize::try_from(*i).ok().and_then(|i| list.as_slice().get(i)),
        (Value::Map(map), Value::String(s)) => map.get(s),
        (Value::Map(map), Value::Int(i)) => map.get_key(&Key::Int(*i)),
        (Value::Map(map), Value::Uint(u)) => map.get_key(&Key::Uint(*u)),
        (Value::Map(map), Value::Bool(b)) => map.get_key(&Key::Bool(*b)),
        _ => return Err(Halt::no_such_overload()),
    };
    Ok(Value::Optional(found.map(|v| v.clone().into())))
}

fn first(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    match args {
        [Value::List(list)] => Ok(Value::Optional(list.as_slice().first().map(|v| v.clone().into()))),
        _ => Err(no_overload_of("first", args)),
    }
}

fn last(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    match args {
        [Value::List(list)] => Ok(Value::Optional(list.as_slice().last().map(|v| v.clone().into()))),
        _ => Err(no_overload_of("last", args)),
    }
}

fn unwrap(context: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    present(context, "optional.unwrap", args)
}

fn unwrap_opt(context: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    present(context, "unwrapOpt", args)
}

fn present(context: &mut Context<'_>, function: &str, args: &[Value]) -> Result<Value, Halt> {
    let [Value::List(list)] = args else { return Err(no_overload_of(function, args)) };
    // The price is fixed, and does not count how many are looked at.
    context.spend(list.len() as u64 * 8)?;
    let mut found = Vec::new();
    for element in list.as_slice() {
        match element {
            Value::Optional(None) => {}
            Value::Optional(Some(value)) => found.push((**value).clone()),
            _ => return Err(no_overload_of(function, args)),
        }
    }
    Ok(Value::List(found.into()))
}
