//! What the two-variable macros `transformMap` and `transformMapEntry` call.
//!
//! Absent: the macros themselves.
use crate::{
    eval::{Context, Halt},
    library::{
        Library,
        build::{function, global, invalid, no_overload_of},
        conversions::text_of,
    },
    types::Type,
    value::{Key, Map, MapBuilder, Value},
};

/// The library.
pub(crate) fn library() -> Library {
    let (k, v) = (|| Type::param("K"), || Type::param("V"));
    let map = || Type::map(k(), v());
    let overloads = vec![
        global(
            "@mapInsert_map_map",
            vec![map(), map()],
            map(),
            insert,
            "The entries of both (made by `transformMapEntry`).",
            "['a'].transformMapEntry(i, v, {v: i}) == {'a': 0}",
        ),
        global(
            "@mapInsert_map_key_value",
            vec![map(), k(), v()],
            map(),
            insert,
            "The map with one entry more (made by `transformMap`).",
            "{'a': 1}.transformMap(k, v, v + 1) == {'a': 2}",
        ),
    ];
    let functions = vec![function("cel.@mapInsert", overloads)];
    Library { name: "comprehensions", functions, macros: crate::macros::two_variable(), ..Library::default() }
}

fn insert(context: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    let (map, added): (&Map, Vec<(Key, &Value)>) = match args {
        [Value::Map(map), Value::Map(more)] => (map, more.iter().map(|(k, v)| (k.clone(), v)).collect()),
        [Value::Map(map), key, value] => match key_of(key) {
            Some(key) => (map, vec![(key, value)]),
            None => return Err(invalid(format!("unsupported key type: {}", crate::library::build::type_name(key)))),
        },
        _ => return Err(no_overload_of("cel.@mapInsert", args)),
    };
    context.spend((map.len() + added.len()) as u64 * size_of::<(Key, Value)>() as u64)?;
    let mut result = MapBuilder::with_capacity(map.len() + added.len());
    for (key, value) in map.iter() {
        result.insert(key.clone(), value.clone());
    }
    for (key, value) in added {
        let text = text_of(&Value::from(&key)).unwrap_or_default();
        if result.insert(key, value.clone()).is_some() {
            return Err(invalid(format!("insert failed: key {text} already exists")));
        }
    }
    Ok(Value::Map(result.build()))
}

fn key_of(value: &Value) -> Option<Key> {
    match value {
        Value::Bool(b) => Some(Key::Bool(*b)),
        Value::Int(i) => Some(Key::Int(*i)),
        Value::Uint(u) => Some(Key::Uint(*u)),
        Value::String(s) => Some(Key::String(s.clone())),
        _ => None,
    }
}
