//! Conversions between types, each checked for its range: `int('1')`, `string(1.5)`, `timestamp('...')`.
//!
//! Absent: the text forms themselves (format).
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "ranges are checked before each cast; int to double rounds, as the specification says"
)]
use crate::{
    estimate::{Bounds, Guess, rule::size},
    eval::{Context, Halt},
    format::{number, time},
    library::{
        Function, Overload,
        build::{any, at, function, global, invalid, no_overload_of, overflow, type_name},
        cost,
    },
    types::Type,
    value::{Timestamp, Value},
};

/// `bool bytes double duration dyn int string timestamp type uint`.
pub(crate) fn functions() -> Vec<Function> {
    use Type::{Bool, Bytes, Double, Duration, Int, String, Timestamp, Uint};
    vec![
        function(
            "bool",
            vec![
                global("bool_to_bool", vec![Bool], Bool, to_bool, "Itself.", "bool(true)"),
                global(
                    "string_to_bool",
                    vec![String],
                    Bool,
                    to_bool,
                    "`1 t true TRUE True` and their opposites.",
                    "bool('true')",
                ),
            ],
        ),
        function(
            "bytes",
            vec![
                global("bytes_to_bytes", vec![Bytes], Bytes, to_bytes, "Itself.", "bytes(b'a') == b'a'"),
                at(
                    cost::RECEIVER_INNER.estimated(|args| {
                        let text = size(args, 0);
                        // A character has at most 4 bytes.
                        let bytes = Bounds::new(text.min, text.max.wrapping_mul(4));
                        Guess::cost(text.scaled(0.1)).sized(bytes)
                    }),
                    global(
                        "string_to_bytes",
                        vec![String],
                        Bytes,
                        to_bytes,
                        "The string's UTF-8.",
                        "bytes('é') == b'\\xc3\\xa9'",
                    ),
                ),
            ],
        ),
        function(
            "double",
            vec![
                global("double_to_double", vec![Double], Double, to_double, "Itself.", "double(1.5) == 1.5"),
                global("int64_to_double", vec![Int], Double, to_double, "The nearest double.", "double(1) == 1.0"),
                global(
                    "string_to_double",
                    vec![String],
                    Double,
                    to_double,
                    "A number in decimal or hexadecimal.",
                    "double('1.5e3') == 1500.0",
                ),
                global("uint64_to_double", vec![Uint], Double, to_double, "The nearest double.", "double(1u) == 1.0"),
            ],
        ),
        function(
            "duration",
            vec![
                global(
                    "duration_to_duration",
                    vec![Duration],
                    Duration,
                    to_duration,
                    "Itself.",
                    "duration(duration('1s')) == duration('1s')",
                ),
                global(
                    "int64_to_duration",
                    vec![Int],
                    Duration,
                    to_duration,
                    "Always an error: write `duration(string(n) + 's')`.",
                    "",
                ),
                global(
                    "string_to_duration",
                    vec![String],
                    Duration,
                    to_duration,
                    "Hours to nanoseconds: `1h2m3.5s`.",
                    "duration('1.5h') == duration('90m')",
                ),
            ],
        ),
        function(
            "dyn",
            vec![global("to_dyn", vec![any()], Type::Dyn, to_dyn, "Itself, unchecked until run time.", "dyn(1) == 1u")],
        ),
        function(
            "int",
            vec![
                global("int64_to_int64", vec![Int], Int, to_int, "Itself.", "int(1) == 1"),
                global(
                    "double_to_int64",
                    vec![Double],
                    Int,
                    to_int,
                    "Towards 0; an error where it does not fit.",
                    "int(-1.9) == -1",
                ),
                global(
                    "duration_to_int64",
                    vec![Duration],
                    Int,
                    to_int,
                    "Nanoseconds.",
                    "int(duration('1us')) == 1000",
                ),
                global("string_to_int64", vec![String], Int, to_int, "A decimal number.", "int('-7') == -7"),
                global(
                    "timestamp_to_int64",
                    vec![Timestamp],
                    Int,
                    to_int,
                    "Seconds since 1970.",
                    "int(timestamp('1970-01-01T00:01:00Z')) == 60",
                ),
                global(
                    "uint64_to_int64",
                    vec![Uint],
                    Int,
                    to_int,
                    "The number; an error where it does not fit.",
                    "int(7u) == 7",
                ),
            ],
        ),
        function(
            "string",
            vec![
                global("string_to_string", vec![String], String, to_string, "Itself.", "string('a') == 'a'"),
                global("bool_to_string", vec![Bool], String, to_string, "`true` or `false`.", "string(true) == 'true'"),
                at(
                    cost::RECEIVER_INNER.estimated(|args| {
                        let bytes = size(args, 0);
                        Guess::cost(bytes.scaled(0.1)).sized(Bounds::new(bytes.min / 4, bytes.max))
                    }),
                    global(
                        "bytes_to_string",
                        vec![Bytes],
                        String,
                        to_string,
                        "From UTF-8; an error for anything else.",
                        "string(b'a') == 'a'",
                    ),
                ),
                global(
                    "double_to_string",
                    vec![Double],
                    String,
                    to_string,
                    "The shortest form that reads back.",
                    "string(1.5) == '1.5'",
                ),
                global(
                    "duration_to_string",
                    vec![Duration],
                    String,
                    to_string,
                    "Seconds.",
                    "string(duration('1m1.5s')) == '61.5s'",
                ),
                global("int64_to_string", vec![Int], String, to_string, "Decimal.", "string(-7) == '-7'"),
                global(
                    "timestamp_to_string",
                    vec![Timestamp],
                    String,
                    to_string,
                    "RFC 3339, with the offset that it was read with.",
                    "string(timestamp('2024-01-01T00:00:00.50Z')) == '2024-01-01T00:00:00.5Z'",
                ),
                global("uint64_to_string", vec![Uint], String, to_string, "Decimal.", "string(7u) == '7'"),
            ],
        ),
        function(
            "timestamp",
            vec![
                global(
                    "timestamp_to_timestamp",
                    vec![Timestamp],
                    Timestamp,
                    to_timestamp,
                    "Itself.",
                    "timestamp(timestamp(0)) == timestamp(0)",
                ),
                global(
                    "int64_to_timestamp",
                    vec![Int],
                    Timestamp,
                    to_timestamp,
                    "Seconds since 1970.",
                    "timestamp(60) == timestamp('1970-01-01T00:01:00Z')",
                ),
                global(
                    "string_to_timestamp",
                    vec![String],
                    Timestamp,
                    to_timestamp,
                    "RFC 3339.",
                    "timestamp('2024-01-01T01:00:00+01:00') == timestamp('2024-01-01T00:00:00Z')",
                ),
            ],
        ),
        function(
            "type",
            vec![global("type", vec![any()], Type::type_of(any()), to_type, "The type at run time.", "type(1) == int")],
        ),
        function("uint", uints()),
    ]
}

fn uints() -> Vec<Overload> {
    use Type::{Double, Int, String, Uint};
    vec![
        global("uint64_to_uint64", vec![Uint], Uint, to_uint, "Itself.", "uint(7u) == 7u"),
        global(
            "double_to_uint64",
            vec![Double],
            Uint,
            to_uint,
            "Towards 0; an error where it does not fit.",
            "uint(1.9) == 1u",
        ),
        global("int64_to_uint64", vec![Int], Uint, to_uint, "The number; an error below 0.", "uint(7) == 7u"),
        global("string_to_uint64", vec![String], Uint, to_uint, "A decimal number.", "uint('7') == 7u"),
    ]
}

fn unconvertible(value: &Value, to: &str) -> Halt {
    invalid(format!("type conversion error from '{}' to '{to}'", type_name(value)))
}

fn to_dyn(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    args.first().cloned().ok_or_else(|| no_overload_of("dyn", args))
}

fn to_type(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    match args {
        [value] => Ok(Value::Type(value.type_of().into())),
        _ => Err(no_overload_of("type", args)),
    }
}

fn to_bool(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    match args {
        [Value::Bool(b)] => Ok(Value::Bool(*b)),
        [value @ Value::String(s)] => match &**s {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(Value::Bool(true)),
            "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(Value::Bool(false)),
            _ => Err(unconvertible(value, "bool")),
        },
        _ => Err(no_overload_of("bool", args)),
    }
}

fn to_bytes(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    match args {
        [Value::Bytes(b)] => Ok(Value::Bytes(b.clone())),
        [Value::String(s)] => Ok(Value::Bytes(s.as_bytes().into())),
        _ => Err(no_overload_of("bytes", args)),
    }
}

fn to_double(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    match args {
        [Value::Double(d)] => Ok(Value::Double(*d)),
        [Value::Int(i)] => Ok(Value::Double(*i as f64)),
        [Value::Uint(u)] => Ok(Value::Double(*u as f64)),
        [value @ Value::String(s)] => {
            number::parse_double(s).map(Value::Double).ok_or_else(|| unconvertible(value, "double"))
        }
        _ => Err(no_overload_of("double", args)),
    }
}

fn to_duration(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    const NAME: &str = "google.protobuf.Duration";
    match args {
        [Value::Duration(d)] => Ok(Value::Duration(*d)),
        [value @ Value::String(s)] => {
            time::parse_duration(s).map(Value::Duration).ok_or_else(|| unconvertible(value, NAME))
        }
        [value @ Value::Int(_)] => Err(unconvertible(value, NAME)),
        _ => Err(no_overload_of("duration", args)),
    }
}

fn to_int(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    whole(args).map(Value::Int)
}

fn whole(args: &[Value]) -> Result<i64, Halt> {
    let overflow = || overflow("integer overflow");
    Ok(match args {
        [Value::Int(i)] => *i,
        [Value::Uint(u)] => i64::try_from(*u).map_err(|_| overflow())?,
        // Upstream excludes the bounds themselves, though -2^63 would fit.
        [Value::Double(d)] if *d > i64::MIN as f64 && *d < i64::MAX as f64 => *d as i64,
        [Value::Double(_)] => return Err(overflow()),
        [Value::Duration(nanos)] => *nanos,
        [Value::Timestamp(t)] => t.seconds,
        [value @ Value::String(s)] => s.parse().map_err(|_| unconvertible(value, "int"))?,
        _ => return Err(no_overload_of("int", args)),
    })
}

fn to_uint(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    let overflow = || overflow("unsigned integer overflow");
    Ok(Value::Uint(match args {
        [Value::Uint(u)] => *u,
        [Value::Int(i)] => u64::try_from(*i).map_err(|_| overflow())?,
        [Value::Double(d)] if *d >= 0.0 && *d < 18_446_744_073_709_551_616.0 => *d as u64,
        [Value::Double(_)] => return Err(overflow()),
        [value @ Value::String(s)] => {
            // Rust takes a `+` here, Go does not.
            let digits = s.bytes().all(|b| b.is_ascii_digit());
            s.parse().ok().filter(|_| digits).ok_or_else(|| unconvertible(value, "uint"))?
        }
        _ => return Err(no_overload_of("uint", args)),
    }))
}

fn to_timestamp(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    let overflow = || overflow("timestamp overflow");
    match args {
        [Value::Timestamp(t)] => Ok(Value::Timestamp(*t)),
        [Value::Int(seconds)] if time::IN_RANGE.contains(seconds) => {
            Ok(Value::Timestamp(Timestamp { seconds: *seconds, nanos: 0, offset_minutes: 0 }))
        }
        [Value::Int(_)] => Err(overflow()),
        [value @ Value::String(s)] => time::parse_timestamp(s).map(Value::Timestamp).map_err(|error| match error {
            time::TimestampError::Syntax => unconvertible(value, "google.protobuf.Timestamp"),
            time::TimestampError::Range => overflow(),
        }),
        _ => Err(no_overload_of("timestamp", args)),
    }
}

fn to_string(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    match args {
        [Value::String(s)] => Ok(Value::String(s.clone())),
        [Value::Bytes(b)] => match std::str::from_utf8(b) {
            Ok(text) => Ok(text.into()),
            Err(_) => Err(invalid("invalid UTF-8 in bytes, cannot convert to string")),
        },
        [value] => text_of(value).map(Value::from).ok_or_else(|| no_overload_of("string", args)),
        _ => Err(no_overload_of("string", args)),
    }
}

/// The text of a scalar as `string()` gives it; `None` for types that have none.
pub(crate) fn text_of(value: &Value) -> Option<String> {
    Some(match value {
        Value::Bool(b) => b.to_string(),
        Value::Int(i) => i.to_string(),
        Value::Uint(u) => u.to_string(),
        Value::Double(d) => number::general(*d),
        Value::String(s) => s.to_string(),
        Value::Duration(nanos) => time::print_duration(*nanos),
        Value::Timestamp(t) => t.to_string(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::ErrorKind;

    #[test]
    fn bounds_of_int_are_excluded() {
        let convert = |d: f64| whole(&[Value::Double(d)]);
        assert!(convert(9_223_372_036_854_775_807.0).is_err());
        assert!(convert(-9_223_372_036_854_775_808.0).is_err());
        assert_eq!(convert(-9_223_372_036_854_774_784.0), Ok(-9_223_372_036_854_774_784));
        assert!(matches!(convert(f64::NAN), Err(Halt::Error(e)) if e.kind == ErrorKind::Overflow));
    }
}
