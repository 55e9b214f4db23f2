//! `format()`: clauses, and the texts that they make in the two versions of it.
//!
//! The newer prints numbers plainly (`1000.5`, `1.5e+03`, lists as `[a, b]`), the older as English texts do (`1,000.500000`,
//! `1.500000×10⁰³`, lists as `["a", "b"]`).
//!
//! Absent: checks of literals (validate).
use crate::{
    eval::{Context, Halt},
    format::number,
    library::{
        build::{invalid, no_overload_of, runtime_name, type_name},
        conversions::text_of,
        cost,
    },
    limits::MAX_VALUE_DEPTH,
    types::Type,
    value::Value,
};

/// Digits after the point that one may ask for; a double has no more than 1,074 that are not 0.
const MAX_PRECISION: usize = 1100;

/// The two versions.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    Newer,
    Older,
}

/// A part of a format string.
pub(super) enum Piece<'a> {
    Text(&'a str),
    Clause(Clause),
}

/// `%.2f`
pub(super) struct Clause {
    pub(super) verb: Verb,
    precision: Option<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    String,
    Decimal,
    Fixed,
    Scientific,
    Binary,
    Octal,
    Hex,
    UpperHex,
}

/// Splits a format string. Errors are those of the first clause that is wrong; `has_argument` is asked before each clause.
pub(super) fn next_piece<'a>(
    rest: &mut &'a str,
    argument: usize,
    arguments: usize,
) -> Option<Result<Piece<'a>, String>> {
    if rest.is_empty() {
        return None;
    }
    let at = rest.find('%').unwrap_or(rest.len());
    if at > 0 {
        let (text, tail) = rest.split_at(at);
        *rest = tail;
        return Some(Ok(Piece::Text(text)));
    }
    if let Some(tail) = rest.strip_prefix("%%") {
        *rest = tail;
        return Some(Ok(Piece::Text("%")));
    }
    let clause = rest.get(1..).unwrap_or("");
    if clause.is_empty() {
        return Some(Err("unexpected end of string".to_string()));
    }
    if argument >= arguments {
        return Some(Err(format!("index {argument} out of range")));
    }
    Some(parse_clause(clause).map(|(clause, tail)| {
        *rest = tail;
        Piece::Clause(clause)
    }))
}

fn parse_clause(text: &str) -> Result<(Clause, &str), String> {
    let failed = |why: String| format!("could not parse formatting clause: {why}");
    let (precision, rest) = match text.strip_prefix('.') {
        None => (None, text),
        Some(after) => {
            let digits = after.bytes().take_while(u8::is_ascii_digit).count();
            let (number, rest) = after.split_at(digits);
            let precision = number.parse::<usize>().ok().filter(|p| *p <= MAX_PRECISION);
            let precision = precision.ok_or_else(|| failed(format!("error while parsing precision: {number:?}")))?;
            (Some(precision), rest)
        }
    };
    let Some(first) = rest.bytes().next() else { return Err(failed("unexpected end of string".to_string())) };
    let verb = match first {
        b's' => Verb::String,
        b'd' => Verb::Decimal,
        b'f' => Verb::Fixed,
        b'e' => Verb::Scientific,
        b'b' => Verb::Binary,
        b'o' => Verb::Octal,
        b'x' => Verb::Hex,
        b'X' => Verb::UpperHex,
        // Upstream reads bytes.
        other => return Err(failed(format!("unrecognized formatting clause \"{}\"", char::from(other)))),
    };
    Ok((Clause { verb, precision }, rest.get(1..).unwrap_or("")))
}

/// What a clause says to a value of a type that it does not print.
pub(super) fn refusal(verb: Verb, ty: &str) -> String {
    let what = match verb {
        Verb::String => {
            "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps"
        }
        Verb::Decimal => "decimal clause can only be used on integers",
        Verb::Fixed => "fixed-point clause can only be used on doubles",
        Verb::Scientific => "scientific clause can only be used on doubles",
        Verb::Binary => "only integers and bools can be formatted as binary",
        Verb::Octal => "octal clause can only be used on integers",
        Verb::Hex | Verb::UpperHex => "only integers, byte buffers, and strings can be formatted as hex",
    };
    format!("error during formatting: {what}, was given {ty}")
}

/// Whether a clause may print values of a static type.
pub(super) fn accepts(version: Version, verb: Verb, ty: &Type) -> bool {
    let number = matches!(ty, Type::Int | Type::Uint | Type::Double);
    match verb {
        _ if matches!(ty, Type::Dyn | Type::Error | Type::Param(_)) => true,
        Verb::String => !matches!(ty, Type::Opaque(..) | Type::Optional(_) | Type::Object(_)),
        Verb::Decimal if version == Version::Newer => number,
        Verb::Decimal | Verb::Octal => matches!(ty, Type::Int | Type::Uint),
        Verb::Fixed | Verb::Scientific if version == Version::Newer => number,
        // The older takes the names of what is no number: "NaN", "Infinity".
        Verb::Fixed | Verb::Scientific => matches!(ty, Type::Double | Type::String),
        Verb::Binary => matches!(ty, Type::Int | Type::Uint | Type::Bool),
        Verb::Hex | Verb::UpperHex => matches!(ty, Type::Int | Type::Uint | Type::String | Type::Bytes),
    }
}

pub(super) fn newer(context: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    run(Version::Newer, context, args)
}

pub(super) fn older(context: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    run(Version::Older, context, args)
}

fn run(version: Version, context: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    let [Value::String(format), Value::List(arguments)] = args else { return Err(no_overload_of("format", args)) };
    let mut rest: &str = format;
    let (mut used, mut text) = (0, String::with_capacity(format.len()));
    while let Some(piece) = next_piece(&mut rest, used, arguments.len()) {
        let before = text.len();
        match piece.map_err(invalid)? {
            Piece::Text(part) => text.push_str(part),
            Piece::Clause(clause) => {
                if let Some(value) = arguments.as_slice().get(used) {
                    let mut out = Printer { version, context, out: &mut text };
                    out.clause(&clause, value)?;
                }
                used += 1;
            }
        }
        context.spend((text.len() - before) as u64)?;
    }
    Ok(text.into())
}

/// Work of printing one double exactly.
const DIGITS_WORK: u64 = 8 * 1024;

struct Printer<'a, 'c> {
    version: Version,
    context: &'a mut Context<'c>,
    out: &'a mut String,
}

impl Printer<'_, '_> {
    fn clause(&mut self, clause: &Clause, value: &Value) -> Result<(), Halt> {
        let refused = || invalid(refusal(clause.verb, &type_name(value)));
        let text = match (clause.verb, value) {
            (Verb::String, value) => return self.value(value, 0),
            (Verb::Decimal, Value::Int(i)) => i.to_string(),
            (Verb::Decimal, Value::Uint(u)) => u.to_string(),
            (Verb::Decimal, Value::Double(d)) if self.version == Version::Newer => plain(*d),
            (Verb::Fixed | Verb::Scientific, value) => {
                // Hundreds of exact digits take some microseconds; no price counts them.
                self.context.spend(DIGITS_WORK)?;
                let text = match clause.verb {
                    Verb::Fixed => self.fixed(value, clause.precision),
                    _ => self.scientific(value, clause.precision),
                };
                text.ok_or_else(refused)?
            }
            (Verb::Binary, Value::Bool(b)) => u8::from(*b).to_string(),
            (Verb::Binary, value) => integer(value, |u| format!("{u:b}")).ok_or_else(refused)?,
            (Verb::Octal, value) => integer(value, |u| format!("{u:o}")).ok_or_else(refused)?,
            (Verb::Hex, value) => hex(value, false).ok_or_else(refused)?,
            (Verb::UpperHex, value) => hex(value, true).ok_or_else(refused)?,
            _ => return Err(refused()),
        };
        self.out.push_str(&text);
        Ok(())
    }

    fn fixed(&self, value: &Value, precision: Option<usize>) -> Option<String> {
        let x = self.double(value)?;
        let precision = precision.unwrap_or(6);
        match self.version {
            Version::Newer if !x.is_finite() => Some(plain(x)),
            Version::Newer => Some(format!("{x:.precision$}")),
            Version::Older => Some(english(x, precision)),
        }
    }

    fn scientific(&self, value: &Value, precision: Option<usize>) -> Option<String> {
        let x = self.double(value)?;
        match self.version {
            Version::Newer if !x.is_finite() => Some(plain(x)),
            Version::Newer => Some(number::scientific(x, Some(precision.unwrap_or(6)))),
            // Upstream does not look at the precision here.
            Version::Older => Some(english_scientific(x, 6)),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "as cel-go prints integers in these clauses")]
    fn double(&self, value: &Value) -> Option<f64> {
        match (value, self.version) {
            (Value::Double(d), _) => Some(*d),
            (Value::Int(i), Version::Newer) => Some(*i as f64),
            (Value::Uint(u), Version::Newer) => Some(*u as f64),
            (Value::String(s), Version::Older) => match &**s {
                "NaN" => Some(f64::NAN),
                "Infinity" => Some(f64::INFINITY),
                "-Infinity" => Some(f64::NEG_INFINITY),
                _ => None,
            },
            _ => None,
        }
    }

    /// `%s`: a value, or an element of one where `level` is not 0.
    fn value(&mut self, value: &Value, level: usize) -> Result<(), Halt> {
        if level > MAX_VALUE_DEPTH {
            return Err(Halt::too_deep());
        }
        self.context.spend(cost::WRITTEN)?;
        let quoted = level > 0 && self.version == Version::Older;
        match value {
            Value::List(list) => {
                self.out.push('[');
                for (i, element) in list.as_slice().iter().enumerate() {
                    self.out.push_str(if i > 0 { ", " } else { "" });
                    self.value(element, level + 1)?;
                }
                self.out.push(']');
            }
            Value::Map(map) => {
                let mut entries = Vec::with_capacity(map.len());
                for (key, value) in map.iter() {
                    let mut text = String::new();
                    Printer { version: self.version, context: &mut *self.context, out: &mut text }
                        .value(&Value::from(key), level + 1)?;
                    entries.push((text, value));
                }
                entries.sort_by(|(a, _), (b, _)| a.cmp(b));
                self.out.push('{');
                for (i, (key, value)) in entries.into_iter().enumerate() {
                    self.out.push_str(if i > 0 { ", " } else { "" });
                    self.out.push_str(&key);
                    self.out.push_str(if self.version == Version::Newer { ": " } else { ":" });
                    self.value(value, level + 1)?;
                }
                self.out.push('}');
            }
            value => {
                let text = self.scalar(value, quoted)?;
                self.context.spend(text.len() as u64)?;
                self.out.push_str(&text);
            }
        }
        Ok(())
    }

    fn scalar(&self, value: &Value, quoted: bool) -> Result<String, Halt> {
        let refused = || invalid(refusal(Verb::String, &type_name(value)));
        Ok(match value {
            Value::Null => "null".to_string(),
            Value::Type(ty) => runtime_name(ty),
            Value::Double(d) if self.version == Version::Newer => plain(*d),
            Value::Double(d) if quoted && d.is_finite() => format!("{d:.6}"),
            Value::Double(d) if quoted => format!("\"{}\"", plain(*d)),
            Value::Bytes(bytes) => {
                let text = std::str::from_utf8(bytes)
                    .map_err(|_| invalid("invalid UTF-8 in bytes, cannot convert to string"))?;
                if quoted { format!("b\"{text}\"") } else { text.to_string() }
            }
            Value::String(s) if quoted => format!("\"{s}\""),
            Value::Timestamp(_) if quoted => format!("timestamp(\"{}\")", text_of(value).ok_or_else(refused)?),
            Value::Duration(_) if quoted => format!("duration(\"{}\")", text_of(value).ok_or_else(refused)?),
            Value::Opaque(_) | Value::Optional(_) => return Err(refused()),
            value => text_of(value).ok_or_else(refused)?,
        })
    }
}

/// A double as the newer version prints it: never with an exponent.
fn plain(x: f64) -> String {
    if x.is_nan() {
        "NaN".to_string()
    } else if x.is_infinite() {
        if x > 0.0 { "Infinity".to_string() } else { "-Infinity".to_string() }
    } else {
        format!("{x}")
    }
}

fn integer(value: &Value, print: fn(u64) -> String) -> Option<String> {
    match value {
        Value::Int(i) if *i < 0 => Some(format!("-{}", print(i.unsigned_abs()))),
        Value::Int(i) => Some(print(i.unsigned_abs())),
        Value::Uint(u) => Some(print(*u)),
        _ => None,
    }
}

fn hex(value: &Value, upper: bool) -> Option<String> {
    let bytes = |bytes: &[u8]| {
        bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
            for digit in [byte >> 4, byte & 15] {
                text.extend(char::from_digit(digit.into(), 16));
            }
            text
        })
    };
    let text = match value {
        Value::String(s) => bytes(s.as_bytes()),
        Value::Bytes(b) => bytes(b),
        value => integer(value, |u| format!("{u:x}"))?,
    };
    Some(if upper { text.to_ascii_uppercase() } else { text })
}

/// `-1,234.50`
fn english(x: f64, precision: usize) -> String {
    if x.is_nan() {
        return "NaN".to_string();
    }
    if x.is_infinite() {
        return if x > 0.0 { "∞".to_string() } else { "-∞".to_string() };
    }
    let text = format!("{:.precision$}", x.abs());
    let (whole, fraction) = text.split_once('.').map_or((&*text, None), |(whole, fraction)| (whole, Some(fraction)));
    let mut grouped = if x < 0.0 { "-".to_string() } else { String::new() };
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    if let Some(fraction) = fraction {
        grouped.push('.');
        grouped.push_str(fraction);
    }
    grouped
}

/// `1.234500×10⁰³`
fn english_scientific(x: f64, precision: usize) -> String {
    if x.is_nan() {
        return "NaN".to_string();
    }
    if x.is_infinite() {
        // The width is upstream's.
        return if x > 0.0 { "     ∞".to_string() } else { "    -∞".to_string() };
    }
    let text = number::scientific(x, Some(precision));
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "+00"));
    let raised = |c: char| match c {
        '-' => "⁻",
        '0' => "⁰",
        '1' => "¹",
        '2' => "²",
        '3' => "³",
        '4' => "⁴",
        '5' => "⁵",
        '6' => "⁶",
        '7' => "⁷",
        '8' => "⁸",
        '9' => "⁹",
        _ => "",
    };
    format!("{mantissa}×10{}", exponent.chars().map(raised).collect::<String>())
}
