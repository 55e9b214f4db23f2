//! Numbers as text: Go's `strconv` forms, which `string(1.5)`, `%e` and `double('1e3')` show.
//!
//! Absent: integer parsing beyond what Rust and Go share.

/// The exponent of the first decimal digit: `12.5` has 1.
fn exponent(x: f64) -> i32 {
    format!("{x:e}").split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0)
}

fn special(x: f64) -> Option<&'static str> {
    if x.is_nan() {
        Some("NaN")
    } else if x == f64::INFINITY {
        Some("+Inf")
    } else if x == f64::NEG_INFINITY {
        Some("-Inf")
    } else {
        None
    }
}

/// Go's `FormatFloat(x, 'g', -1, 64)`: what `string(x)` gives. Below 1e-4 and from 1e6 on with an
/// exponent of at least two digits: `1e+06`.
pub(crate) fn general(x: f64) -> String {
    if let Some(text) = special(x) {
        return text.to_string();
    }
    if !(-4..6).contains(&exponent(x)) { scientific(x, None) } else { format!("{x}") }
}

/// Go's `%e` with `precision` digits after the point, or as many as needed: `1.5e+06`.
pub(crate) fn scientific(x: f64, precision: Option<usize>) -> String {
    if let Some(text) = special(x) {
        return text.to_string();
    }
    let text = match precision {
        Some(precision) => format!("{x:.precision$e}"),
        None => format!("{x:e}"),
    };
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.unsigned_abs())
}

/// Go's `ParseFloat(s, 64)`: decimal and hexadecimal, `inf`, `nan`; an overflow is no number.
pub(crate) fn parse_double(text: &str) -> Option<f64> {
    let (negative, unsigned) = match text.as_bytes().first() {
        Some(b'-') => (true, text.get(1..)?),
        Some(b'+') => (false, text.get(1..)?),
        _ => (false, text),
    };
    let sign = if negative { -1.0 } else { 1.0 };
    let lower = unsigned.to_ascii_lowercase();
    match lower.as_str() {
        "inf" | "infinity" => return Some(sign * f64::INFINITY),
        // Go takes no sign before it.
        "nan" => return (unsigned.len() == text.len()).then_some(f64::NAN),
        _ => {}
    }
    let clean = without_underscores(&lower)?;
    if let Some(hex) = clean.strip_prefix("0x") {
        return hexadecimal(hex).map(|x| sign * x);
    }
    let starts_well = clean.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'+' | b'-'));
    let x: f64 = if starts_well { clean.parse().ok()? } else { return None };
    x.is_finite().then_some(sign * x)
}

/// Underscores only between digits (or after the base prefix), else `None`.
fn without_underscores(text: &str) -> Option<String> {
    if !text.contains('_') {
        return Some(text.to_string());
    }
    let hex = text.starts_with("0x");
    let is_digit = |b: u8| if hex { b.is_ascii_hexdigit() } else { b.is_ascii_digit() };
    let bytes = text.as_bytes();
    for (i, b) in bytes.iter().enumerate() {
        if *b == b'_' {
            let before = i.checked_sub(1).and_then(|p| bytes.get(p)).copied();
            let after = bytes.get(i + 1).copied();
            let prefix = hex && i == 2;
            if !(prefix || before.is_some_and(is_digit)) || !after.is_some_and(is_digit) {
                return None;
            }
        }
    }
    Some(text.replace('_', ""))
}

/// `1.8p3`: the exponent is required. Digits past what a double holds only count as "not zero" (sticky).
fn hexadecimal(text: &str) -> Option<f64> {
    let (mantissa, exponent) = text.split_once('p')?;
    let exponent_digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    if exponent_digits.is_empty() || !exponent_digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let exponent: i64 = exponent.parse().unwrap_or(if exponent.starts_with('-') { -100_000 } else { 100_000 });
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let (mut bits, mut scale) = (0u64, exponent.clamp(-100_000, 100_000));
    for (i, c) in whole.chars().chain(fraction.chars()).enumerate() {
        let digit = u64::from(c.to_digit(16)?);
        if bits >> 59 == 0 {
            bits = bits << 4 | digit;
            scale -= if i >= whole.len() { 4 } else { 0 };
        } else {
            bits |= u64::from(digit != 0);
            scale += if i >= whole.len() { 0 } else { 4 };
        }
    }
    round_to_double(bits, scale)
}

/// `bits * 2^scale`, correctly rounded; `None` where it is too large.
#[expect(clippy::cast_precision_loss, reason = "at most 53 significant bits are converted")]
fn round_to_double(bits: u64, scale: i64) -> Option<f64> {
    if bits == 0 {
        return Some(0.0);
    }
    let width = i64::from(64 - bits.leading_zeros());
    // The last bit that a double of this magnitude keeps has the weight 2^lowest.
    let lowest = (width + scale - 53).max(-1074);
    let drop = lowest - scale;
    let kept = if drop <= 0 {
        bits
    } else if drop >= 64 {
        u64::from(drop == 64 && bits > 1 << 63)
    } else {
        let (kept, rest, half) = (bits >> drop, bits & ((1 << drop) - 1), 1u64 << (drop - 1));
        kept + u64::from(rest > half || (rest == half && kept & 1 == 1))
    };
    let scale = if drop <= 0 { scale } else { lowest };
    let mut x = kept as f64;
    let mut left = scale;
    while left != 0 {
        let step = left.clamp(-1000, 1000);
        x *= 2f64.powi(i32::try_from(step).ok()?);
        left -= step;
        if x == 0.0 || x.is_infinite() {
            break;
        }
    }
    x.is_finite().then_some(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_print_as_in_go() {
        let check = |x: f64, want: &str| assert_eq!(general(x), want);
        check(1.0, "1");
        check(-0.0, "-0");
        check(123.456, "123.456");
        check(1e20, "1e+20");
        check(1e21, "1e+21");
        check(1e6, "1e+06");
        check(123_456_789.0, "1.23456789e+08");
        check(0.0001, "0.0001");
        check(0.00001, "1e-05");
        check(f64::NAN, "NaN");
        check(f64::INFINITY, "+Inf");
    }

    #[test]
    fn doubles_parse_as_in_go() {
        let check = |text: &str, want: Option<f64>| {
            assert_eq!(parse_double(text).map(f64::to_bits), want.map(f64::to_bits), "{text}")
        };
        check("1.5", Some(1.5));
        check("+.5", Some(0.5));
        check("1_000", Some(1000.0));
        check("_1", None);
        check("1e400", None);
        check("0x1.8p1", Some(3.0));
        check("0x1p-1074", Some(f64::from_bits(1)));
        check("0x1p-1075", Some(0.0));
        check("0x1.8p-1075", Some(f64::from_bits(1)));
        check("0x1p1024", None);
        check("0x1", None);
        check("-inf", Some(f64::NEG_INFINITY));
        check("+nan", None);
        check("", None);
        check(" 1", None);
        check("1e", None);
    }
}
