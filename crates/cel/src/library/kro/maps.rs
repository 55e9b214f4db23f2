//! Maps of two: `merge`, and `deepMerge`, which merges the maps in them too.
//!
//! Absent: objects of declared types as maps (`merge` takes maps alone; `deepMerge` takes `dyn`, so objects too).
use crate::{
    estimate::{Bounds, Guess, Operand, rule::size},
    eval::{Context, Halt},
    library::{
        Cost, Library,
        build::{any, at, function, method, no_overload_of},
        cost::{self, Price},
    },
    limits::MAX_VALUE_DEPTH,
    types::Type,
    value::{Map, MapBuilder, Value},
};

/// What the cost model takes for a map, and the call.
const NEW_MAP: u64 = 31;

/// The library.
pub(crate) fn library() -> Library {
    let map = || Type::map(Type::param("K"), any());
    let flat = Price::new(
        Cost::Args(|args| NEW_MAP.saturating_add(cost::size(args.first())).saturating_add(cost::size(args.get(1)))),
        merged,
        "31 and the entries of both maps",
    );
    let deep = Price::new(
        Cost::Args(|args| match args {
            [a, b] => entries(a, b, MAX_VALUE_DEPTH, &mut { cost::MOST_VISITS }),
            _ => NEW_MAP,
        }),
        merged,
        "31 and the entries of both maps, and the same of maps that are merged in them",
    );
    let functions = vec![
        function(
            "merge",
            vec![at(
                flat,
                method(
                    "map_merge",
                    vec![map(), map()],
                    map(),
                    merge,
                    "The entries of both; where both have a key, the argument's value.",
                    "{'a': 1, 'b': 1}.merge({'b': 2}) == {'a': 1, 'b': 2}",
                ),
            )],
        ),
        function(
            "deepMerge",
            vec![at(
                deep,
                method(
                    "dyn_deepmerge_dyn",
                    vec![Type::Dyn, Type::Dyn],
                    Type::Dyn,
                    deep_merge,
                    "As `merge`, where maps in both are merged in turn. Takes objects too.",
                    "{'a': {'x': 1}}.deepMerge({'a': {'y': 2}}) == {'a': {'x': 1, 'y': 2}}",
                ),
            )],
        ),
    ];
    Library { name: "kro.maps", functions, ..Library::default() }
}

fn merged(args: &[Operand<'_>]) -> Guess {
    let (a, b) = (size(args, 0), size(args, 1));
    let size = Bounds::new(a.min.max(b.min), (a + b).max);
    Guess::cost(a + b + Bounds::exactly(NEW_MAP)).sized(size)
}

/// The entries that merging two values goes through.
fn entries(a: &Value, b: &Value, levels: usize, visits: &mut u64) -> u64 {
    let (Value::Map(a), Value::Map(b)) = (a, b) else { return 1 };
    let Some(left) = visits.checked_sub(1 + b.len() as u64) else { return u64::MAX };
    *visits = left;
    let own = NEW_MAP.saturating_add((a.len() + b.len()) as u64);
    let Some(below) = levels.checked_sub(1) else { return own };
    let common = b.iter().filter_map(|(key, value)| a.get_key(key).map(|old| (old, value)));
    common
        .filter(|pair| matches!(pair, (Value::Map(_), Value::Map(_))))
        .fold(own, |sum, (old, value)| sum.saturating_add(entries(old, value, below, visits)))
}

fn merge(context: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    let [Value::Map(a), Value::Map(b)] = args else { return Err(no_overload_of("merge", args)) };
    let mut map = copy(context, a, b)?;
    for (key, value) in b.iter() {
        map.insert(key.clone(), value.clone());
    }
    Ok(Value::Map(map.build()))
}

fn deep_merge(context: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    let [Value::Map(a), Value::Map(b)] = args else { return Err(no_overload_of("deepMerge", args)) };
    deeply(context, a, b, MAX_VALUE_DEPTH).map(Value::Map)
}

fn deeply(context: &mut Context<'_>, a: &Map, b: &Map, levels: usize) -> Result<Map, Halt> {
    let below = levels.checked_sub(1).ok_or_else(Halt::too_deep)?;
    let mut map = copy(context, a, b)?;
    for (key, value) in b.iter() {
        let value = match (a.get_key(key), value) {
            (Some(Value::Map(old)), Value::Map(new)) => Value::Map(deeply(context, old, new, below)?),
            (_, value) => value.clone(),
        };
        map.insert(key.clone(), value);
    }
    Ok(map.build())
}

/// The entries of the first, with room for the second's.
fn copy(context: &mut Context<'_>, a: &Map, b: &Map) -> Result<MapBuilder, Halt> {
    let room = a.len() + b.len();
    context.spend((room * 2 * size_of::<Value>()) as u64)?;
    let mut map = MapBuilder::with_capacity(room);
    for (key, value) in a.iter() {
        map.insert(key.clone(), value.clone());
    }
    Ok(map)
}
