//! Kubernetes quantities: `quantity('1.5Gi')`, exact, bounded in time whatever the exponent.
//!
//! Absent: the arithmetic (decimal).
use std::{any::Any, sync::Arc};

use super::decimal::Decimal;
use crate::{
    eval::{Context, Halt},
    library::{
        Function, Library,
        build::{function, global, invalid, method, no_overload_of, priced},
        cost,
    },
    types::Type,
    value::{Opaque, Value},
};

const NAME: &str = "kubernetes.Quantity";
const NANO: i64 = -9;

/// The library.
pub(crate) fn library() -> Library {
    let functions = construction().into_iter().chain(conversion()).chain(comparison()).chain(arithmetic()).collect();
    Library { name: "kubernetes.quantity", functions, ..Library::default() }
}

/// A number with the way that upstream holds it, which decides what `isInteger` says: an `i64` with a power of ten, or (many
/// digits, binary fractions, what was rounded) a big decimal.
#[derive(Clone)]
struct Quantity {
    exact: Decimal,
    held: Held,
    text: Option<Arc<str>>,
}

#[derive(Clone, Copy)]
enum Held {
    Small { value: i64, scale: i32 },
    Big { decimals: i64 },
}

impl std::fmt::Debug for Quantity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.exact)
    }
}

impl Opaque for Quantity {
    fn type_of(&self) -> Type {
        Type::opaque(NAME)
    }
    fn equals(&self, other: &dyn Opaque) -> bool {
        other.as_any().downcast_ref::<Quantity>().is_some_and(|other| self.exact == other.exact)
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn to_json(&self) -> Option<Value> {
        Some(match &self.text {
            Some(text) => Value::String(text.clone()),
            None => format!("{:?}", self.exact).into(),
        })
    }
}

impl Quantity {
    fn small(value: i64, scale: i32) -> Quantity {
        Quantity { exact: Decimal::from_int(value, scale.into()), held: Held::Small { value, scale }, text: None }
    }

    fn to_int(&self) -> Option<i64> {
        let Held::Small { value, scale } = self.held else { return None };
        let factor = 10i64.checked_pow(u32::try_from(scale).ok()?);
        if value == 0 { Some(0) } else { value.checked_mul(factor?) }
    }

    /// As upstream computes it: digits, then the power of ten, each rounded.
    fn to_double(&self) -> f64 {
        match self.held {
            Held::Small { scale: 0, .. } => self.exact.to_double(0),
            Held::Small { scale, .. } => self.exact.to_double(-i64::from(scale)) * power(scale.into()),
            Held::Big { decimals } => self.exact.to_double(decimals) * power(-decimals),
        }
    }

    fn decimals(&self) -> i64 {
        match self.held {
            Held::Small { scale, .. } => -i64::from(scale),
            Held::Big { decimals } => decimals,
        }
    }

    fn plus(&self, other: &Quantity) -> Result<Quantity, Halt> {
        if let (Held::Small { value: a, scale: i }, Held::Small { value: b, scale: j }) = (self.held, other.held)
            && let Some((value, scale)) = small_sum((a, i), (b, j))
        {
            return Ok(Quantity::small(value, scale));
        }
        let exact = self.exact.plus(&other.exact).ok_or_else(|| invalid("quantity has too many digits"))?;
        Ok(Quantity { exact, held: Held::Big { decimals: self.decimals().max(other.decimals()) }, text: None })
    }

    fn negated(&self) -> Quantity {
        let held = match self.held {
            Held::Small { value, scale } => match value.checked_neg() {
                Some(value) => Held::Small { value, scale },
                None => Held::Big { decimals: -i64::from(scale) },
            },
            big @ Held::Big { .. } => big,
        };
        Quantity { exact: self.exact.clone().negated(), held, text: None }
    }
}

fn power(of_ten: i64) -> f64 {
    format!("1e{of_ten}").parse().unwrap_or(f64::NAN)
}

/// At the finer of the two scales; `None` where it does not fit.
fn small_sum((a, i): (i64, i32), (b, j): (i64, i32)) -> Option<(i64, i32)> {
    let up = |value: i64, by: i32| value.checked_mul(10i64.checked_pow(u32::try_from(by).ok()?)?);
    match () {
        () if b == 0 => Some((a, i)),
        () if a == 0 => Some((b, j)),
        () if i >= j => Some((up(a, i.checked_sub(j)?)?.checked_add(b)?, j)),
        () => Some((a.checked_add(up(b, j.checked_sub(i)?)?)?, i)),
    }
}

/// Reads a quantity as apimachinery does, but for text without a digit, which it takes for 0.
fn parse(text: &str) -> Result<Quantity, Halt> {
    let wrong =
        || invalid("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
    let (negative, rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let (whole, rest) = rest.split_at(digits(rest));
    let (fraction, suffix) = rest.strip_prefix('.').map_or(("", rest), |rest| rest.split_at(digits(rest)));
    let letters = suffix.bytes().take_while(|b| b"eEinumkKMGTP".contains(b)).count();
    let number = suffix.get(letters..).unwrap_or("");
    let number = number.strip_prefix(['-', '+']).unwrap_or(number);
    if whole.is_empty() && fraction.is_empty() || !number.bytes().all(|b| b.is_ascii_digit()) {
        return Err(wrong());
    }
    let (base, exponent) = interpret(suffix).ok_or_else(|| invalid("unable to parse quantity's suffix"))?;
    let whole = whole.trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    let held = small(negative, whole, fraction, base, exponent);
    let text = Some(text.into());
    if let Some((value, scale)) = held {
        return Ok(Quantity { text, ..Quantity::small(value, scale) });
    }
    let places = i64::try_from(fraction.len()).unwrap_or(i64::MAX);
    let shifted = format!("{whole}{fraction}");
    let mut exact = match base {
        Base::Ten => Decimal::new(false, &shifted, i64::from(exponent) - places),
        Base::Two => {
            Decimal::new(false, &shifted, -places).times(1u64.checked_shl(exponent.unsigned_abs()).unwrap_or(u64::MAX))
        }
    };
    exact = exact.rounded_up(NANO);
    let most = Decimal::from_int(i64::MAX, 0);
    if matches!(base, Base::Two) && exact > most {
        exact = most;
    }
    let exact = if negative { exact.negated() } else { exact };
    Ok(Quantity { exact, held: Held::Big { decimals: -NANO }, text })
}

#[derive(Clone, Copy)]
enum Base {
    Two,
    Ten,
}

/// The power that a suffix stands for.
fn interpret(suffix: &str) -> Option<(Base, i32)> {
    Some(match suffix {
        "n" => (Base::Ten, -9),
        "u" => (Base::Ten, -6),
        "m" => (Base::Ten, -3),
        "" => (Base::Ten, 0),
        "k" => (Base::Ten, 3),
        "M" => (Base::Ten, 6),
        "G" => (Base::Ten, 9),
        "T" => (Base::Ten, 12),
        "P" => (Base::Ten, 15),
        "E" => (Base::Ten, 18),
        "Ki" => (Base::Two, 10),
        "Mi" => (Base::Two, 20),
        "Gi" => (Base::Two, 30),
        "Ti" => (Base::Two, 40),
        "Pi" => (Base::Two, 50),
        "Ei" => (Base::Two, 60),
        other => (Base::Ten, exponent(other.strip_prefix(['e', 'E'])?)?),
    })
}

/// The lower 32 bits count, as upstream.
#[expect(clippy::cast_possible_truncation, reason = "upstream truncates exponents so")]
fn exponent(text: &str) -> Option<i32> {
    text.parse::<i64>().ok().map(|parsed| parsed as i32)
}

/// The form with an `i64`, where upstream takes it.
fn small(negative: bool, whole: &str, fraction: &str, base: Base, exponent: i32) -> Option<(i64, i32)> {
    let length = |text: &str| i32::try_from(text.len()).ok();
    let (precision, scale, factor) = match base {
        Base::Ten => (18 - length(whole)? - length(fraction)?, exponent, 1),
        // 1Mi has some 6 decimal digits.
        Base::Two if fraction.is_empty() => {
            (15 - length(whole)? - exponent * 3 / 10 - 1, 0, 1i64.checked_shl(exponent.unsigned_abs())?)
        }
        Base::Two => return None,
    };
    let scale = scale.checked_sub(length(fraction)?)?;
    if precision < 0 || i64::from(scale) < NANO {
        return None;
    }
    let value = format!("{whole}{fraction}").parse::<i64>().ok()?.checked_mul(factor)?;
    Some((if negative { value.checked_neg()? } else { value }, scale))
}

fn quantity() -> Type {
    Type::opaque(NAME)
}

fn construction() -> Vec<Function> {
    vec![
        priced(
            "quantity",
            cost::RECEIVER,
            vec![global(
                "string_to_quantity",
                vec![Type::String],
                quantity(),
                to_quantity,
                "The quantity; an error for anything else.",
                "quantity('1.5Gi') == quantity('1536Mi')",
            )],
        ),
        priced(
            "isQuantity",
            cost::RECEIVER,
            vec![global(
                "is_quantity_string",
                vec![Type::String],
                Type::Bool,
                is_quantity,
                "Whether the text is a quantity.",
                "isQuantity('100m') && !isQuantity('1 Gi')",
            )],
        ),
    ]
}

fn conversion() -> Vec<Function> {
    vec![
        function(
            "sign",
            vec![global(
                "quantity_sign",
                vec![quantity()],
                Type::Int,
                sign,
                "-1, 0 or 1.",
                "sign(quantity('-1')) == -1",
            )],
        ),
        function(
            "isInteger",
            vec![method(
                "quantity_is_integer",
                vec![quantity()],
                Type::Bool,
                is_integer,
                "Whether `asInteger` gives a number.",
                "quantity('1k').isInteger()",
            )],
        ),
        function(
            "asInteger",
            vec![method(
                "quantity_get_int",
                vec![quantity()],
                Type::Int,
                as_integer,
                "As an integer; an error where it is none.",
                "quantity('1k').asInteger() == 1000",
            )],
        ),
        function(
            "asApproximateFloat",
            vec![method(
                "quantity_get_float",
                vec![quantity()],
                Type::Double,
                as_float,
                "The nearest double.",
                "quantity('1500m').asApproximateFloat() == 1.5",
            )],
        ),
    ]
}

fn comparison() -> Vec<Function> {
    let two = || vec![quantity(), quantity()];
    vec![
        function(
            "isGreaterThan",
            vec![method(
                "quantity_is_greater_than",
                two(),
                Type::Bool,
                is_greater,
                "Whether it is more than the other.",
                "quantity('1Gi').isGreaterThan(quantity('1G'))",
            )],
        ),
        function(
            "isLessThan",
            vec![method(
                "quantity_is_less_than",
                two(),
                Type::Bool,
                is_less,
                "Whether it is less than the other.",
                "quantity('1G').isLessThan(quantity('1Gi'))",
            )],
        ),
        function(
            "compareTo",
            vec![method(
                "quantity_compare_to",
                two(),
                Type::Int,
                compare_to,
                "-1, 0 or 1 as it is less, equal or more.",
                "quantity('1k').compareTo(quantity('1000')) == 0",
            )],
        ),
    ]
}

fn arithmetic() -> Vec<Function> {
    let (two, with_int) = (|| vec![quantity(), quantity()], || vec![quantity(), Type::Int]);
    vec![
        function(
            "add",
            vec![
                method(
                    "quantity_add",
                    two(),
                    quantity(),
                    add,
                    "Sum.",
                    "quantity('1k').add(quantity('1')) == quantity('1001')",
                ),
                method(
                    "quantity_add_int",
                    with_int(),
                    quantity(),
                    add,
                    "Sum.",
                    "quantity('1k').add(1) == quantity('1001')",
                ),
            ],
        ),
        function(
            "sub",
            vec![
                method(
                    "quantity_sub",
                    two(),
                    quantity(),
                    sub,
                    "Difference.",
                    "quantity('1k').sub(quantity('1')) == quantity('999')",
                ),
                method(
                    "quantity_sub_int",
                    with_int(),
                    quantity(),
                    sub,
                    "Difference.",
                    "quantity('1k').sub(1) == quantity('999')",
                ),
            ],
        ),
    ]
}

fn of(value: &Value) -> Option<&Quantity> {
    if let Value::Opaque(opaque) = value { opaque.as_any().downcast_ref() } else { None }
}

fn one<'a>(name: &str, args: &'a [Value]) -> Result<&'a Quantity, Halt> {
    args.first().and_then(of).ok_or_else(|| no_overload_of(name, args))
}

fn pair<'a>(name: &str, args: &'a [Value]) -> Result<(&'a Quantity, &'a Quantity), Halt> {
    args.first().and_then(of).zip(args.get(1).and_then(of)).ok_or_else(|| no_overload_of(name, args))
}

fn to_quantity(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    match args {
        [Value::String(text)] => Ok(Value::Opaque(Arc::new(parse(text)?))),
        _ => Err(no_overload_of("quantity", args)),
    }
}

fn is_quantity(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    match args {
        [Value::String(text)] => Ok(Value::Bool(parse(text).is_ok())),
        _ => Err(no_overload_of("isQuantity", args)),
    }
}

fn sign(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    Ok(Value::Int(one("sign", args)?.exact.sign()))
}

fn is_integer(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    Ok(Value::Bool(one("isInteger", args)?.to_int().is_some()))
}

fn as_integer(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    one("asInteger", args)?.to_int().map(Value::Int).ok_or_else(|| invalid("cannot convert value to integer"))
}

fn as_float(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    Ok(Value::Double(one("asApproximateFloat", args)?.to_double()))
}

fn is_greater(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    let (a, b) = pair("isGreaterThan", args)?;
    Ok(Value::Bool(a.exact > b.exact))
}

fn is_less(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    let (a, b) = pair("isLessThan", args)?;
    Ok(Value::Bool(a.exact < b.exact))
}

fn compare_to(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    let (a, b) = pair("compareTo", args)?;
    Ok(Value::Int(a.exact.cmp(&b.exact) as i64))
}

/// The second operand, which may be an `int`.
fn operand(name: &str, args: &[Value]) -> Result<Quantity, Halt> {
    match args.get(1) {
        Some(Value::Int(i)) => Ok(Quantity::small(*i, 0)),
        Some(value) => of(value).cloned().ok_or_else(|| no_overload_of(name, args)),
        None => Err(no_overload_of(name, args)),
    }
}

fn add(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    let sum = one("add", args)?.plus(&operand("add", args)?)?;
    Ok(Value::Opaque(Arc::new(sum)))
}

fn sub(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    let difference = one("sub", args)?.plus(&operand("sub", args)?.negated())?;
    Ok(Value::Opaque(Arc::new(difference)))
}
