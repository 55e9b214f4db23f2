//! Operators: arithmetic, equality, logic, membership, indexing.
//!
//! Absent: order (comparison).
//!
//! Absent: short-circuiting and optional chains: the evaluator runs `&&`, `||`, `?:`, indexing and the optional forms
//! itself; they are here to be declared and documented.
use std::sync::Arc;

use crate::{
    estimate::{Bounds, Guess, Operand, rule::size},
    eval::{Context, ErrorKind, Halt},
    library::{
        Cost, Function,
        build::{any, any_list, at, function, global, no_overload, overflow},
        comparison,
        cost::{self, Price},
        kubernetes::authorizer::has_no_equality,
    },
    types::Type,
    value::{Key, Timestamp, Value},
};

/// All operators.
pub(crate) fn functions() -> Vec<Function> {
    let mut all = logic();
    all.extend(arithmetic());
    all.extend(equality());
    all.extend(comparison::functions());
    all
}

fn logic() -> Vec<Function> {
    use Type::Bool;
    let choice = vec![Bool, any(), any()];
    vec![
        function(
            "_&&_",
            vec![at(
                cost::FREE,
                global(
                    "logical_and",
                    vec![Bool, Bool],
                    Bool,
                    and,
                    "Both; what decides wins over an error on the other side.",
                    "!(false && 1 / 0 == 1)",
                ),
            )],
        ),
        function(
            "_||_",
            vec![at(
                cost::FREE,
                global(
                    "logical_or",
                    vec![Bool, Bool],
                    Bool,
                    or,
                    "Either; what decides wins over an error on the other side.",
                    "true || 1 / 0 == 1",
                ),
            )],
        ),
        function(
            "_?_:_",
            vec![at(
                cost::FREE,
                global(
                    "conditional",
                    choice,
                    any(),
                    conditional,
                    "One of two; the other is not evaluated.",
                    "(1 < 2 ? 'a' : 'b') == 'a'",
                ),
            )],
        ),
        function("!_", vec![global("logical_not", vec![Bool], Bool, not, "Not.", "!false")]),
        function(
            "@not_strictly_false",
            vec![global(
                "not_strictly_false",
                vec![Bool],
                Bool,
                not_strictly_false,
                "Whether a fold goes on (made by macros).",
                "[1, 2].all(i, i > 0)",
            )],
        ),
        function(
            "@in",
            vec![
                at(
                    Price::new(
                        Cost::ResolvedArgs(|args| cost::inner_size(args.get(1))),
                        |args| Guess::cost(size(args, 1).scaled(1.0)),
                        "the number of elements",
                    ),
                    global(
                        "in_list",
                        vec![any(), any_list()],
                        Bool,
                        contains,
                        "Whether a list has an equal element.",
                        "2 in [1, 2, 3]",
                    ),
                ),
                global(
                    "in_map",
                    vec![any(), Type::map(any(), Type::param("V"))],
                    Bool,
                    contains,
                    "Whether a map has the key.",
                    "'a' in {'a': 1}",
                ),
            ],
        ),
        function(
            "_[_]",
            vec![
                global(
                    "index_list",
                    vec![any_list(), Type::Int],
                    any(),
                    index,
                    "The element of a list, from 0.",
                    "['a', 'b'][1] == 'b'",
                ),
                global(
                    "index_map",
                    vec![Type::map(any(), Type::param("V")), any()],
                    Type::param("V"),
                    index,
                    "The value of a key.",
                    "{'a': 1}['a'] == 1",
                ),
            ],
        ),
    ]
}

fn arithmetic() -> Vec<Function> {
    use Type::{Bytes, Double, Duration, Int, String, Timestamp, Uint};
    let two = |id, a: Type, b: Type, result, f, doc, example| global(id, vec![a, b], result, f, doc, example);
    vec![
        function(
            "_+_",
            vec![
                at(cost::BOTH, two("add_bytes", Bytes, Bytes, Bytes, add, "Concatenation.", "b'a' + b'b' == b'ab'")),
                two("add_double", Double, Double, Double, add, "Sum.", "1.5 + 2.0 == 3.5"),
                two(
                    "add_duration_duration",
                    Duration,
                    Duration,
                    Duration,
                    add,
                    "Sum.",
                    "duration('1m') + duration('1s') == duration('61s')",
                ),
                two(
                    "add_duration_timestamp",
                    Duration,
                    Timestamp,
                    Timestamp,
                    add,
                    "A later time.",
                    "duration('1s') + timestamp('2024-01-01T00:00:00Z') == timestamp('2024-01-01T00:00:01Z')",
                ),
                two(
                    "add_timestamp_duration",
                    Timestamp,
                    Duration,
                    Timestamp,
                    add,
                    "A later time.",
                    "timestamp('2024-01-01T00:00:00Z') + duration('1s') == timestamp('2024-01-01T00:00:01Z')",
                ),
                two("add_int64", Int, Int, Int, add, "Sum; an error where it does not fit.", "1 + 2 == 3"),
                at(
                    cost::ONE.estimated(|args| Guess::exactly(1).sized(size(args, 0) + size(args, 1))),
                    two("add_list", any_list(), any_list(), any_list(), add, "Concatenation.", "[1] + [2] == [1, 2]"),
                ),
                at(cost::BOTH, two("add_string", String, String, String, add, "Concatenation.", "'a' + 'b' == 'ab'")),
                two("add_uint64", Uint, Uint, Uint, add, "Sum; an error where it does not fit.", "1u + 2u == 3u"),
            ],
        ),
        function(
            "_-_",
            vec![
                two("subtract_double", Double, Double, Double, subtract, "Difference.", "3.5 - 2.0 == 1.5"),
                two(
                    "subtract_duration_duration",
                    Duration,
                    Duration,
                    Duration,
                    subtract,
                    "Difference.",
                    "duration('1m') - duration('1s') == duration('59s')",
                ),
                two(
                    "subtract_int64",
                    Int,
                    Int,
                    Int,
                    subtract,
                    "Difference; an error where it does not fit.",
                    "1 - 2 == -1",
                ),
                two(
                    "subtract_timestamp_duration",
                    Timestamp,
                    Duration,
                    Timestamp,
                    subtract,
                    "An earlier time.",
                    "timestamp('2024-01-01T00:00:01Z') - duration('1s') == timestamp('2024-01-01T00:00:00Z')",
                ),
                two(
                    "subtract_timestamp_timestamp",
                    Timestamp,
                    Timestamp,
                    Duration,
                    subtract,
                    "The time between.",
                    "timestamp('2024-01-01T00:00:01Z') - timestamp('2024-01-01T00:00:00Z') == duration('1s')",
                ),
                two("subtract_uint64", Uint, Uint, Uint, subtract, "Difference; an error below 0.", "3u - 2u == 1u"),
            ],
        ),
        function(
            "_*_",
            vec![
                two("multiply_double", Double, Double, Double, multiply, "Product.", "1.5 * 2.0 == 3.0"),
                two(
                    "multiply_int64",
                    Int,
                    Int,
                    Int,
                    multiply,
                    "Product; an error where it does not fit.",
                    "2 * 3 == 6",
                ),
                two(
                    "multiply_uint64",
                    Uint,
                    Uint,
                    Uint,
                    multiply,
                    "Product; an error where it does not fit.",
                    "2u * 3u == 6u",
                ),
            ],
        ),
        function(
            "_/_",
            vec![
                two(
                    "divide_double",
                    Double,
                    Double,
                    Double,
                    divide,
                    "Quotient; infinite or NaN by 0.",
                    "3.0 / 2.0 == 1.5",
                ),
                two("divide_int64", Int, Int, Int, divide, "Quotient, towards 0; an error by 0.", "-7 / 2 == -3"),
                two("divide_uint64", Uint, Uint, Uint, divide, "Quotient; an error by 0.", "7u / 2u == 3u"),
            ],
        ),
        function(
            "_%_",
            vec![
                two(
                    "modulo_int64",
                    Int,
                    Int,
                    Int,
                    modulo,
                    "Remainder, with the dividend's sign; an error by 0.",
                    "-7 % 2 == -1",
                ),
                two("modulo_uint64", Uint, Uint, Uint, modulo, "Remainder; an error by 0.", "7u % 2u == 1u"),
            ],
        ),
        function(
            "-_",
            vec![
                global("negate_double", vec![Double], Double, negate, "The opposite.", "-(1.5) == 0.0 - 1.5"),
                global(
                    "negate_int64",
                    vec![Int],
                    Int,
                    negate,
                    "The opposite; an error where it does not fit.",
                    "-(1) == 0 - 1",
                ),
            ],
        ),
    ]
}

fn equality() -> Vec<Function> {
    let equals_cost = Price::new(
        Cost::Args(|args| match args {
            // Upstream's rule for its own types, by the left operand.
            [Value::Opaque(_), _] => 1,
            _ => cost::tenth(cost::smaller_size(args.first(), args.get(1))),
        }),
        equality_of,
        "a tenth of the smaller operand's size; 1 for values of libraries",
    );
    let same = vec![any(), any()];
    vec![
        function(
            "_==_",
            vec![at(
                equals_cost,
                global(
                    "equals",
                    same.clone(),
                    Type::Bool,
                    equals,
                    "Equality, deep, of numbers across types.",
                    "[1, 2u] == dyn([1.0, 2])",
                ),
            )],
        ),
        function(
            "_!=_",
            vec![at(
                cost::SHORTER,
                global("not_equals", same, Type::Bool, not_equals, "Inequality.", "{'a': 1} != {'a': 2}"),
            )],
        ),
    ]
}

/// Kubernetes' rules for its own types; for everything else the smaller operand counts.
fn equality_of(args: &[Operand<'_>]) -> Guess {
    let [left, right] = args else { return cost::shorter(args) };
    match (left.ty, right.ty) {
        (Type::Opaque(name, _), ty) if ty == left.ty => match &**name {
            "kubernetes.NamedFormat" => Guess::cost(Bounds::new(1, 64).scaled(0.1)),
            "kubernetes.URL" => Guess::cost(Bounds::new(1, right.size.map_or(1, |size| size.max)).scaled(0.1)),
            _ => Guess::exactly(1),
        },
        _ => cost::shorter(args),
    }
}

fn and(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    match args {
        [Value::Bool(a), Value::Bool(b)] => Ok(Value::Bool(*a && *b)),
        _ => Err(no_overload()),
    }
}

fn or(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    match args {
        [Value::Bool(a), Value::Bool(b)] => Ok(Value::Bool(*a || *b)),
        _ => Err(no_overload()),
    }
}

fn conditional(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    match args {
        [Value::Bool(c), a, b] => Ok(if *c { a.clone() } else { b.clone() }),
        _ => Err(no_overload()),
    }
}

fn not(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    match args {
        [Value::Bool(a)] => Ok(Value::Bool(!a)),
        _ => Err(no_overload()),
    }
}

fn not_strictly_false(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    Ok(Value::Bool(!matches!(args, [Value::Bool(false)])))
}

fn contains(context: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    match args {
        [x, Value::List(list)] => {
            context.spend(8 * cost::size(args.get(1)))?;
            for element in list.as_slice() {
                if context.equals(x, element)? {
                    return Ok(Value::Bool(true));
                }
            }
            Ok(Value::Bool(false))
        }
        [x, Value::Map(map)] => Ok(Value::Bool(key_of(x).is_some_and(|k| map.get_key(&k).is_some()))),
        _ => Err(no_overload()),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the fraction is known to be 0")]
fn index(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    match args {
        [Value::List(list), at] => {
            let position = match at {
                Value::Int(i) => *i,
                Value::Uint(u) => i64::try_from(*u).unwrap_or(i64::MAX),
                Value::Double(d) if d.fract() == 0.0 => *d as i64,
                Value::Double(d) => {
                    let text = crate::format::number::general(*d);
                    return Err(Halt::error(
                        ErrorKind::InvalidArgument,
                        format!("unsupported index value {text} in list"),
                    ));
                }
                other => {
                    let name = crate::library::build::type_name(other);
                    return Err(Halt::error(
                        ErrorKind::InvalidArgument,
                        format!("unsupported index type '{name}' in list"),
                    ));
                }
            };
            let element = usize::try_from(position).ok().and_then(|i| list.as_slice().get(i));
            element
                .cloned()
                .ok_or_else(|| Halt::error(ErrorKind::IndexOutOfBounds, format!("index out of bounds: {position}")))
        }
        [Value::Map(map), key] => {
            let found = key_of(key).and_then(|k| map.get_key(&k).cloned());
            found.ok_or_else(|| {
                let text = crate::library::conversions::text_of(key).unwrap_or_default();
                Halt::error(ErrorKind::NoSuchKey, format!("no such key: {text}"))
            })
        }
        _ => Err(no_overload()),
    }
}

/// The key that a value looks up; a double with a fraction looks up none.
#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "checked to be whole and in range")]
fn key_of(value: &Value) -> Option<Key> {
    match value {
        Value::Bool(b) => Some(Key::Bool(*b)),
        Value::Int(i) => Some(Key::Int(*i)),
        Value::Uint(u) => Some(Key::Uint(*u)),
        Value::String(s) => Some(Key::String(s.clone())),
        Value::Double(d) if d.fract() == 0.0 && *d >= i64::MIN as f64 && *d < i64::MAX as f64 => {
            Some(Key::Int(*d as i64))
        }
        _ => None,
    }
}

/// A library's type has no equality with other types, and some have none at all.
fn equals(context: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    match args {
        [Value::Opaque(a), b] if has_no_equality(&**a) || b.type_of() != a.type_of() => Err(no_overload()),
        [a, b] => Ok(Value::Bool(context.equals(a, b)?)),
        _ => Err(no_overload()),
    }
}

fn not_equals(context: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    match args {
        [a, b] => Ok(Value::Bool(!context.equals(a, b)?)),
        _ => Err(no_overload()),
    }
}

pub(crate) fn whole<T>(result: Option<T>) -> Result<T, Halt> {
    result.ok_or_else(|| overflow("integer overflow"))
}

fn natural<T>(result: Option<T>) -> Result<T, Halt> {
    result.ok_or_else(|| overflow("unsigned integer overflow"))
}

fn span(result: Option<i64>) -> Result<Value, Halt> {
    result.map(Value::Duration).ok_or_else(|| overflow("integer overflow"))
}

fn add(context: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    let [a, b] = args else { return Err(no_overload()) };
    add_two(context, a, b)
}

/// `a + b`, with the work counted.
pub(crate) fn add_two(context: &mut Context<'_>, a: &Value, b: &Value) -> Result<Value, Halt> {
    // What is copied; `dyn` operands and lists cost only 1.
    let bytes = |value: &Value| match value {
        Value::String(s) => s.len(),
        Value::Bytes(b) => b.len(),
        Value::List(l) => l.len().saturating_mul(size_of::<Value>()),
        _ => 0,
    };
    context.spend(bytes(a).saturating_add(bytes(b)) as u64)?;
    sum(a, b)
}

/// `a + b`
pub(crate) fn sum(a: &Value, b: &Value) -> Result<Value, Halt> {
    Ok(match (a, b) {
        (Value::Int(a), Value::Int(b)) => Value::Int(whole(a.checked_add(*b))?),
        (Value::Uint(a), Value::Uint(b)) => Value::Uint(natural(a.checked_add(*b))?),
        (Value::Double(a), Value::Double(b)) => Value::Double(a + b),
        (Value::String(a), Value::String(b)) => Value::String(joined([&**a, &**b].into_iter())),
        (Value::Bytes(a), Value::Bytes(b)) => Value::Bytes([&**a, &**b].concat().into()),
        (Value::List(a), Value::List(b)) if b.is_empty() => Value::List(a.clone()),
        (Value::List(a), Value::List(b)) if a.is_empty() => Value::List(b.clone()),
        (Value::List(a), Value::List(b)) => Value::List([a.as_slice(), b.as_slice()].concat().into()),
        (Value::Duration(a), Value::Duration(b)) => span(a.checked_add(*b))?,
        (Value::Duration(d), Value::Timestamp(t)) | (Value::Timestamp(t), Value::Duration(d)) => {
            later(t, i128::from(*d))?
        }
        // Upstream says it so where a type has no `+` at all.
        (Value::Bool(_) | Value::Null | Value::Map(_) | Value::Type(_), _) => {
            return Err(Halt::error(ErrorKind::NoSuchOverload, "no such overload: _+_"));
        }
        _ => return Err(no_overload()),
    })
}

/// Texts up to this are joined on the stack.
const SHORT: usize = 64;

/// Texts in one.
pub(crate) fn joined<'a>(texts: impl Iterator<Item = &'a str> + Clone) -> Arc<str> {
    let mut buffer = [0; SHORT];
    let mut used = 0;
    for text in texts.clone() {
        match buffer.get_mut(used..used + text.len()) {
            Some(place) => place.copy_from_slice(text.as_bytes()),
            None => return texts.collect::<String>().into(),
        }
        used += text.len();
    }
    match buffer.get(..used).map(str::from_utf8) {
        Some(Ok(text)) => text.into(),
        // Not reached: texts are UTF-8, and so are they together.
        _ => texts.collect::<String>().into(),
    }
}

fn later(t: &Timestamp, nanos: i128) -> Result<Value, Halt> {
    let total = i128::from(t.seconds) * 1_000_000_000 + i128::from(t.nanos) + nanos;
    let seconds = i64::try_from(total.div_euclid(1_000_000_000)).ok();
    let nanos = u32::try_from(total.rem_euclid(1_000_000_000)).unwrap_or(0);
    match seconds {
        Some(seconds) if crate::format::time::IN_RANGE.contains(&seconds) => {
            Ok(Value::Timestamp(Timestamp { seconds, nanos, offset_minutes: t.offset_minutes }))
        }
        _ => Err(overflow("timestamp overflow")),
    }
}

fn subtract(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    Ok(match args {
        [Value::Int(a), Value::Int(b)] => Value::Int(whole(a.checked_sub(*b))?),
        [Value::Uint(a), Value::Uint(b)] => Value::Uint(natural(a.checked_sub(*b))?),
        [Value::Double(a), Value::Double(b)] => Value::Double(a - b),
        [Value::Duration(a), Value::Duration(b)] => span(a.checked_sub(*b))?,
        [Value::Timestamp(t), Value::Duration(d)] => later(t, -i128::from(*d))?,
        [Value::Timestamp(a), Value::Timestamp(b)] => {
            let seconds = i128::from(a.seconds) - i128::from(b.seconds);
            let nanos = seconds * 1_000_000_000 + i128::from(a.nanos) - i128::from(b.nanos);
            span(i64::try_from(nanos).ok())?
        }
        _ => return Err(no_overload()),
    })
}

fn multiply(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    Ok(match args {
        [Value::Int(a), Value::Int(b)] => Value::Int(whole(a.checked_mul(*b))?),
        [Value::Uint(a), Value::Uint(b)] => Value::Uint(natural(a.checked_mul(*b))?),
        [Value::Double(a), Value::Double(b)] => Value::Double(a * b),
        _ => return Err(no_overload()),
    })
}

fn by_zero(message: &str) -> Halt {
    Halt::error(ErrorKind::DivideByZero, message)
}

fn divide(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    Ok(match args {
        [Value::Int(_), Value::Int(0)] | [Value::Uint(_), Value::Uint(0)] => return Err(by_zero("division by zero")),
        [Value::Int(a), Value::Int(b)] => Value::Int(whole(a.checked_div(*b))?),
        [Value::Uint(a), Value::Uint(b)] => Value::Uint(natural(a.checked_div(*b))?),
        [Value::Double(a), Value::Double(b)] => Value::Double(a / b),
        _ => return Err(no_overload()),
    })
}

fn modulo(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    Ok(match args {
        [Value::Int(_), Value::Int(0)] | [Value::Uint(_), Value::Uint(0)] => return Err(by_zero("modulus by zero")),
        [Value::Int(a), Value::Int(b)] => Value::Int(whole(a.checked_rem(*b))?),
        [Value::Uint(a), Value::Uint(b)] => Value::Uint(natural(a.checked_rem(*b))?),
        _ => return Err(no_overload()),
    })
}

fn negate(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    Ok(match args {
        [Value::Int(a)] => Value::Int(whole(a.checked_neg())?),
        [Value::Double(a)] => Value::Double(-a),
        [Value::Duration(a)] => span(a.checked_neg())?,
        _ => return Err(no_overload()),
    })
}
