//! The standard library: what every CEL environment has.
//!
//! Absent: optionals (optional), extensions (a file each).
mod validate;

use std::sync::Arc;

use crate::{
    estimate::{Guess, rule},
    eval::{Context, Halt},
    library::{
        Cost, Function, Library, Overload, Specialize,
        build::{any, any_list, at, function, global, method, no_overload_of},
        conversions,
        cost::{self, Price},
        operators, regex, time,
    },
    types::Type,
    value::Value,
};

/// The library as the specification has it.
pub(crate) fn library() -> Library {
    with(time::functions(time::MILLISECONDS))
}

/// The library as Kubernetes has it: literals are checked before anything runs, and a duration's milliseconds are all of it.
pub(crate) fn kubernetes() -> Library {
    Library { validators: validate::validators(), ..with(time::functions(time::ALL_MILLISECONDS)) }
}

fn with(time: Vec<Function>) -> Library {
    let mut functions = operators::functions();
    functions.extend(conversions::functions());
    functions.extend(strings());
    functions.extend(time);
    functions.push(size());
    Library {
        name: "standard",
        functions,
        constants: type_names(),
        macros: crate::macros::standard(),
        ..Library::default()
    }
}

/// Types as values: `type(1) == int`.
fn type_names() -> Vec<(Arc<str>, Type, Value)> {
    let types = [
        ("bool", Type::Bool),
        ("bytes", Type::Bytes),
        ("double", Type::Double),
        ("google.protobuf.Duration", Type::Duration),
        ("google.protobuf.Timestamp", Type::Timestamp),
        ("int", Type::Int),
        ("list", Type::list(Type::Dyn)),
        ("map", Type::map(Type::Dyn, Type::Dyn)),
        ("null_type", Type::Null),
        ("string", Type::String),
        ("type", Type::type_of(Type::Dyn)),
        ("uint", Type::Uint),
    ];
    types.into_iter().map(|(name, ty)| (name.into(), Type::type_of(ty.clone()), Value::Type(ty.into()))).collect()
}

fn size() -> Function {
    use Type::{Bytes, Int, String};
    let map = Type::map(any(), Type::param("V"));
    function(
        "size",
        vec![
            global("size_bytes", vec![Bytes], Int, size_of, "Bytes.", "size(b'abc') == 3"),
            method("bytes_size", vec![Bytes], Int, size_of, "Bytes.", "b'abc'.size() == 3"),
            global("size_list", vec![any_list()], Int, size_of, "Elements.", "size([1, 2]) == 2"),
            method("list_size", vec![any_list()], Int, size_of, "Elements.", "[1, 2].size() == 2"),
            global("size_map", vec![map.clone()], Int, size_of, "Entries.", "size({'a': 1}) == 1"),
            method("map_size", vec![map], Int, size_of, "Entries.", "{'a': 1}.size() == 1"),
            global("size_string", vec![String], Int, size_of, "Code points.", "size('é') == 1"),
            method("string_size", vec![String], Int, size_of, "Code points.", "'é'.size() == 1"),
        ],
    )
}

fn size_of(context: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    if let [Value::String(text)] = args {
        context.spend(work(text))?;
    }
    match args {
        [value @ (Value::Bytes(_) | Value::List(_) | Value::Map(_) | Value::String(_))] => {
            Ok(Value::Int(i64::try_from(cost::size(Some(value))).unwrap_or(i64::MAX)))
        }
        _ => Err(Halt::error(crate::eval::ErrorKind::NoSuchOverload, "no such overload: size")),
    }
}

/// Work of walking over a text once, where the price does not say it.
pub(crate) fn work(text: &str) -> u64 {
    text.len() as u64 / 8
}

fn strings() -> Vec<Function> {
    use Type::{Bool, String};
    let contained = Price::new(
        Cost::Args(|args| {
            cost::tenth(cost::inner_size(args.first())).saturating_mul(cost::tenth(cost::inner_size(args.get(1))))
        }),
        |args| Guess::cost(rule::size(args, 0).scaled(0.1) * rule::size(args, 1).scaled(0.1)),
        "a tenth of the text's size times a tenth of the part's",
    );
    let two = || vec![String, String];
    vec![
        function(
            "contains",
            vec![at(
                contained,
                method(
                    "contains_string",
                    two(),
                    Bool,
                    contains,
                    "Whether the text has the part.",
                    "'abc'.contains('bc')",
                ),
            )],
        ),
        function(
            "endsWith",
            vec![at(
                cost::RECEIVER_END,
                method("ends_with_string", two(), Bool, ends_with, "Whether the text ends so.", "'abc'.endsWith('bc')"),
            )],
        ),
        function(
            "matches",
            vec![
                matcher(global(
                    "matches",
                    two(),
                    Bool,
                    matches,
                    "Whether an RE2 pattern is found in the text.",
                    "matches('abc', '^a.c$')",
                )),
                at(
                    cost::MATCHING,
                    matcher(method(
                        "matches_string",
                        two(),
                        Bool,
                        matches,
                        "Whether an RE2 pattern is found in the text.",
                        "'abc'.matches('^a.c$')",
                    )),
                ),
            ],
        ),
        function(
            "startsWith",
            vec![at(
                cost::RECEIVER_END,
                method(
                    "starts_with_string",
                    two(),
                    Bool,
                    starts_with,
                    "Whether the text begins so.",
                    "'abc'.startsWith('ab')",
                ),
            )],
        ),
    ]
}

fn contains(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    match args {
        [Value::String(text), Value::String(part)] => Ok(Value::Bool(text.contains(&**part))),
        _ => Err(no_overload_of("contains", args)),
    }
}

fn ends_with(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    match args {
        [Value::String(text), Value::String(part)] => Ok(Value::Bool(text.ends_with(&**part))),
        _ => Err(no_overload_of("endsWith", args)),
    }
}

fn starts_with(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    match args {
        [Value::String(text), Value::String(part)] => Ok(Value::Bool(text.starts_with(&**part))),
        _ => Err(no_overload_of("startsWith", args)),
    }
}

fn matches(context: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    match args {
        [Value::String(text), Value::String(pattern)] => {
            context.spend(text.len() as u64)?;
            Ok(Value::Bool(regex::compile(context, pattern)?.is_match(text)))
        }
        _ => Err(no_overload_of("matches", args)),
    }
}

/// A constant pattern is compiled once, with the program.
fn matcher(overload: Overload) -> Overload {
    let specialize: Specialize = |constants, effort| {
        let [_, Some(Value::String(pattern))] = constants else { return Ok(None) };
        let regex = regex::compile_constant(pattern, effort)?;
        Ok(Some(Arc::new(move |context, args| match args {
            [Value::String(text), _] => {
                context.spend(text.len() as u64)?;
                Ok(Value::Bool(regex.is_match(text)))
            }
            _ => Err(no_overload_of("matches", args)),
        })))
    };
    Overload { specialize: Some(specialize), ..overload }
}
