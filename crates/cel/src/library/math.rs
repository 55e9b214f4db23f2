//! `math.*`: greatest and least, rounding, signs, bits.
//!
//! Absent: the macros `math.greatest` and `math.least`, which call `math.@max` and `math.@min`.
use std::cmp::Ordering;

use crate::{
    eval::{Context, Halt},
    library::{
        Function, Implementation, Library, Overload,
        build::{function, global, invalid, no_overload_of, overflow},
    },
    types::Type,
    value::Value,
};

/// The library.
pub(crate) fn library() -> Library {
    let mut functions = vec![greatest(), least()];
    functions.extend(rounding());
    functions.extend(tests());
    functions.extend(signs());
    functions.extend(bits());
    Library { name: "math", functions, macros: crate::macros::math(), ..Library::default() }
}

fn greatest() -> Function {
    use Type::{Double, Dyn, Int, Uint};
    let code: Implementation = |context, args| extreme(context, "math.@max", args, Ordering::Less);
    let of = |id, params, result, example| {
        global(id, params, result, code, "The greatest number (made by `math.greatest`).", example)
    };
    function(
        "math.@max",
        vec![
            of("math_@max_double", vec![Double], Double, "math.greatest(1.5) == 1.5"),
            of("math_@max_int", vec![Int], Int, "math.greatest(1) == 1"),
            of("math_@max_uint", vec![Uint], Uint, "math.greatest(1u) == 1u"),
            of("math_@max_double_double", vec![Double, Double], Double, "math.greatest(1.5, 2.5) == 2.5"),
            of("math_@max_int_int", vec![Int, Int], Int, "math.greatest(1, 2) == 2"),
            of("math_@max_uint_uint", vec![Uint, Uint], Uint, "math.greatest(1u, 2u) == 2u"),
            of("math_@max_int_uint", vec![Int, Uint], Dyn, "math.greatest(1, 2u) == 2u"),
            of("math_@max_int_double", vec![Int, Double], Dyn, "math.greatest(1, 2.5) == 2.5"),
            of("math_@max_double_int", vec![Double, Int], Dyn, "math.greatest(1.5, 2) == 2"),
            of("math_@max_double_uint", vec![Double, Uint], Dyn, "math.greatest(1.5, 2u) == 2u"),
            of("math_@max_uint_int", vec![Uint, Int], Dyn, "math.greatest(1u, 2) == 2"),
            of("math_@max_uint_double", vec![Uint, Double], Dyn, "math.greatest(1u, 2.5) == 2.5"),
            of("math_@max_list_double", vec![Type::list(Double)], Double, "math.greatest([1.5, 2.5]) == 2.5"),
            of("math_@max_list_int", vec![Type::list(Int)], Int, "math.greatest([1, 2]) == 2"),
            of("math_@max_list_uint", vec![Type::list(Uint)], Uint, "math.greatest([1u, 2u]) == 2u"),
        ],
    )
}

fn least() -> Function {
    use Type::{Double, Dyn, Int, Uint};
    let code: Implementation = |context, args| extreme(context, "math.@min", args, Ordering::Greater);
    let of = |id, params, result, example| {
        global(id, params, result, code, "The least number (made by `math.least`).", example)
    };
    function(
        "math.@min",
        vec![
            of("math_@min_double", vec![Double], Double, "math.least(1.5) == 1.5"),
            of("math_@min_int", vec![Int], Int, "math.least(1) == 1"),
            of("math_@min_uint", vec![Uint], Uint, "math.least(1u) == 1u"),
            of("math_@min_double_double", vec![Double, Double], Double, "math.least(1.5, 2.5) == 1.5"),
            of("math_@min_int_int", vec![Int, Int], Int, "math.least(1, 2) == 1"),
            of("math_@min_uint_uint", vec![Uint, Uint], Uint, "math.least(1u, 2u) == 1u"),
            of("math_@min_int_uint", vec![Int, Uint], Dyn, "math.least(1, 2u) == 1"),
            of("math_@min_int_double", vec![Int, Double], Dyn, "math.least(1, 2.5) == 1"),
            of("math_@min_double_int", vec![Double, Int], Dyn, "math.least(1.5, 2) == 1.5"),
            of("math_@min_double_uint", vec![Double, Uint], Dyn, "math.least(1.5, 2u) == 1.5"),
            of("math_@min_uint_int", vec![Uint, Int], Dyn, "math.least(1u, 2) == 1u"),
            of("math_@min_uint_double", vec![Uint, Double], Dyn, "math.least(1u, 2.5) == 1u"),
            of("math_@min_list_double", vec![Type::list(Double)], Double, "math.least([1.5, 2.5]) == 1.5"),
            of("math_@min_list_int", vec![Type::list(Int)], Int, "math.least([1, 2]) == 1"),
            of("math_@min_list_uint", vec![Type::list(Uint)], Uint, "math.least([1u, 2u]) == 1u"),
        ],
    )
}

fn rounding() -> Vec<Function> {
    let of = |name: &str, id, code: Implementation, doc, example| {
        function(name, vec![global(id, vec![Type::Double], Type::Double, code, doc, example)])
    };
    vec![
        of(
            "math.ceil",
            "math_ceil_double",
            |_, args| round("math.ceil", args, f64::ceil),
            "The next whole number up.",
            "math.ceil(1.2) == 2.0",
        ),
        of(
            "math.floor",
            "math_floor_double",
            |_, args| round("math.floor", args, f64::floor),
            "The next whole number down.",
            "math.floor(1.8) == 1.0",
        ),
        of(
            "math.round",
            "math_round_double",
            |_, args| round("math.round", args, f64::round),
            "The nearest whole number, halves away from 0.",
            "math.round(-1.5) == -2.0",
        ),
        of(
            "math.trunc",
            "math_trunc_double",
            |_, args| round("math.trunc", args, f64::trunc),
            "Without the fraction.",
            "math.trunc(-1.8) == -1.0",
        ),
    ]
}

fn tests() -> Vec<Function> {
    let of = |name: &str, id, code: Implementation, doc, example| {
        function(name, vec![global(id, vec![Type::Double], Type::Bool, code, doc, example)])
    };
    vec![
        of(
            "math.isFinite",
            "math_isFinite_double",
            |_, args| test("math.isFinite", args, f64::is_finite),
            "Neither infinite nor NaN.",
            "math.isFinite(1.0)",
        ),
        of(
            "math.isInf",
            "math_isInf_double",
            |_, args| test("math.isInf", args, f64::is_infinite),
            "Infinite.",
            "math.isInf(1.0 / 0.0)",
        ),
        of(
            "math.isNaN",
            "math_isNaN_double",
            |_, args| test("math.isNaN", args, f64::is_nan),
            "No number.",
            "math.isNaN(0.0 / 0.0)",
        ),
    ]
}

fn signs() -> Vec<Function> {
    use Type::{Double, Int, Uint};
    let of = |id, ty: Type, result, code: Implementation, doc, example| -> Overload {
        global(id, vec![ty], result, code, doc, example)
    };
    vec![
        function(
            "math.abs",
            vec![
                of("math_abs_double", Double, Double, abs, "Without the sign.", "math.abs(-1.5) == 1.5"),
                of(
                    "math_abs_int",
                    Int,
                    Int,
                    abs,
                    "Without the sign; an error where it does not fit.",
                    "math.abs(-1) == 1",
                ),
                of("math_abs_uint", Uint, Uint, abs, "Itself.", "math.abs(1u) == 1u"),
            ],
        ),
        function(
            "math.sign",
            vec![
                of("math_sign_double", Double, Double, sign, "-1, 0 or 1.", "math.sign(-1.5) == -1.0"),
                of("math_sign_int", Int, Int, sign, "-1, 0 or 1.", "math.sign(-5) == -1"),
                of("math_sign_uint", Uint, Uint, sign, "0 or 1.", "math.sign(5u) == 1u"),
            ],
        ),
        function(
            "math.sqrt",
            vec![
                of("math_sqrt_double", Double, Double, sqrt, "The square root.", "math.sqrt(2.25) == 1.5"),
                of("math_sqrt_int", Int, Double, sqrt, "The square root.", "math.sqrt(4) == 2.0"),
                of("math_sqrt_uint", Uint, Double, sqrt, "The square root.", "math.sqrt(4u) == 2.0"),
            ],
        ),
    ]
}

fn bits() -> Vec<Function> {
    use Type::{Int, Uint};
    let of = |id, a: Type, b: Type, code: Implementation, doc, example| {
        global(id, vec![a.clone(), b], a, code, doc, example)
    };
    vec![
        function(
            "math.bitAnd",
            vec![
                of("math_bitAnd_int_int", Int, Int, bit_and, "Bits that both have.", "math.bitAnd(6, 3) == 2"),
                of("math_bitAnd_uint_uint", Uint, Uint, bit_and, "Bits that both have.", "math.bitAnd(6u, 3u) == 2u"),
            ],
        ),
        function(
            "math.bitOr",
            vec![
                of("math_bitOr_int_int", Int, Int, bit_or, "Bits that one has.", "math.bitOr(6, 3) == 7"),
                of("math_bitOr_uint_uint", Uint, Uint, bit_or, "Bits that one has.", "math.bitOr(6u, 3u) == 7u"),
            ],
        ),
        function(
            "math.bitXor",
            vec![
                of("math_bitXor_int_int", Int, Int, bit_xor, "Bits that exactly one has.", "math.bitXor(6, 3) == 5"),
                of(
                    "math_bitXor_uint_uint",
                    Uint,
                    Uint,
                    bit_xor,
                    "Bits that exactly one has.",
                    "math.bitXor(6u, 3u) == 5u",
                ),
            ],
        ),
        function(
            "math.bitNot",
            vec![
                global(
                    "math_bitNot_int_int",
                    vec![Int],
                    Int,
                    bit_not,
                    "All bits the other way.",
                    "math.bitNot(1) == -2",
                ),
                global(
                    "math_bitNot_uint_uint",
                    vec![Uint],
                    Uint,
                    bit_not,
                    "All bits the other way.",
                    "math.bitNot(1u) == 18446744073709551614u",
                ),
            ],
        ),
        function(
            "math.bitShiftLeft",
            vec![
                of(
                    "math_bitShiftLeft_int_int",
                    Int,
                    Int,
                    shift_left,
                    "Bits moved up, 0 from 64 on.",
                    "math.bitShiftLeft(1, 3) == 8",
                ),
                of(
                    "math_bitShiftLeft_uint_int",
                    Uint,
                    Int,
                    shift_left,
                    "Bits moved up, 0 from 64 on.",
                    "math.bitShiftLeft(1u, 3) == 8u",
                ),
            ],
        ),
        function(
            "math.bitShiftRight",
            vec![
                of(
                    "math_bitShiftRight_int_int",
                    Int,
                    Int,
                    shift_right,
                    "Bits moved down, the sign too.",
                    "math.bitShiftRight(8, 3) == 1",
                ),
                of(
                    "math_bitShiftRight_uint_int",
                    Uint,
                    Int,
                    shift_right,
                    "Bits moved down, 0 from 64 on.",
                    "math.bitShiftRight(8u, 3) == 1u",
                ),
            ],
        ),
    ]
}

fn extreme(context: &mut Context<'_>, name: &str, args: &[Value], replaced: Ordering) -> Result<Value, Halt> {
    let numbers = match args {
        [Value::List(list)] => list.as_slice(),
        args => args,
    };
    context.spend(8 * numbers.len() as u64)?;
    let Some((mut best, rest)) = numbers.split_first() else {
        return Err(invalid(format!("{name}(list) argument must not be empty")));
    };
    if numbers.iter().any(|n| !matches!(n, Value::Int(_) | Value::Uint(_) | Value::Double(_))) {
        return Err(no_overload_of(name, args));
    }
    for value in rest {
        if best.compare(value)? == replaced {
            best = value;
        }
    }
    Ok(best.clone())
}

fn round(name: &str, args: &[Value], f: fn(f64) -> f64) -> Result<Value, Halt> {
    match args {
        [Value::Double(d)] => Ok(Value::Double(f(*d))),
        _ => Err(no_overload_of(name, args)),
    }
}

fn test(name: &str, args: &[Value], f: fn(f64) -> bool) -> Result<Value, Halt> {
    match args {
        [Value::Double(d)] => Ok(Value::Bool(f(*d))),
        _ => Err(no_overload_of(name, args)),
    }
}

fn abs(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    match args {
        [Value::Double(d)] => Ok(Value::Double(d.abs())),
        [Value::Int(i)] => i.checked_abs().map(Value::Int).ok_or_else(|| overflow("integer overflow")),
        [Value::Uint(u)] => Ok(Value::Uint(*u)),
        _ => Err(no_overload_of("math.abs", args)),
    }
}

fn sign(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    match args {
        [Value::Double(d)] if *d == 0.0 || d.is_nan() => Ok(Value::Double(if d.is_nan() { f64::NAN } else { 0.0 })),
        [Value::Double(d)] => Ok(Value::Double(d.signum())),
        [Value::Int(i)] => Ok(Value::Int(i.signum())),
        [Value::Uint(u)] => Ok(Value::Uint((*u).min(1))),
        _ => Err(no_overload_of("math.sign", args)),
    }
}

#[expect(clippy::cast_precision_loss, reason = "roots of integers are roots of the nearest double")]
fn sqrt(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    match args {
        [Value::Double(d)] => Ok(Value::Double(d.sqrt())),
        [Value::Int(i)] => Ok(Value::Double((*i as f64).sqrt())),
        [Value::Uint(u)] => Ok(Value::Double((*u as f64).sqrt())),
        _ => Err(no_overload_of("math.sqrt", args)),
    }
}

fn bit_and(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    match args {
        [Value::Int(a), Value::Int(b)] => Ok(Value::Int(a & b)),
        [Value::Uint(a), Value::Uint(b)] => Ok(Value::Uint(a & b)),
        _ => Err(no_overload_of("math.bitAnd", args)),
    }
}

fn bit_or(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    match args {
        [Value::Int(a), Value::Int(b)] => Ok(Value::Int(a | b)),
        [Value::Uint(a), Value::Uint(b)] => Ok(Value::Uint(a | b)),
        _ => Err(no_overload_of("math.bitOr", args)),
    }
}

fn bit_xor(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    match args {
        [Value::Int(a), Value::Int(b)] => Ok(Value::Int(a ^ b)),
        [Value::Uint(a), Value::Uint(b)] => Ok(Value::Uint(a ^ b)),
        _ => Err(no_overload_of("math.bitXor", args)),
    }
}

fn bit_not(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    match args {
        [Value::Int(a)] => Ok(Value::Int(!a)),
        [Value::Uint(a)] => Ok(Value::Uint(!a)),
        _ => Err(no_overload_of("math.bitNot", args)),
    }
}

/// How far to shift; 64 and more is all the way.
fn distance(name: &str, by: i64) -> Result<u32, Halt> {
    let by = u64::try_from(by).map_err(|_| invalid(format!("{name}() negative offset: {by}")))?;
    Ok(u32::try_from(by).unwrap_or(u32::MAX))
}

fn shift_left(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    const NAME: &str = "math.bitShiftLeft";
    match args {
        [Value::Int(a), Value::Int(by)] => Ok(Value::Int(a.checked_shl(distance(NAME, *by)?).unwrap_or(0))),
        [Value::Uint(a), Value::Int(by)] => Ok(Value::Uint(a.checked_shl(distance(NAME, *by)?).unwrap_or(0))),
        _ => Err(no_overload_of(NAME, args)),
    }
}

fn shift_right(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    const NAME: &str = "math.bitShiftRight";
    match args {
        // The sign is moved like any other bit.
        [Value::Int(a), Value::Int(by)] => {
            let moved = a.cast_unsigned().checked_shr(distance(NAME, *by)?).unwrap_or(0);
            Ok(Value::Int(moved.cast_signed()))
        }
        [Value::Uint(a), Value::Int(by)] => Ok(Value::Uint(a.checked_shr(distance(NAME, *by)?).unwrap_or(0))),
        _ => Err(no_overload_of(NAME, args)),
    }
}
