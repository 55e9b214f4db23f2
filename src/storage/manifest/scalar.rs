//! Plain scalars as Kubernetes' YAML library resolves them: YAML 1.1's booleans and octals, timestamps as strings, numbers as
//! JSON would hold them.
//!
//! Absent: quoted and block scalars, which are strings.
use cel::Value;

/// The value of a plain scalar. An error says what JSON cannot hold.
pub(super) fn resolve(text: &str) -> Result<Value, String> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Ok(Value::Null),
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            return Ok(Value::Bool(true));
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            return Ok(Value::Bool(false));
        }
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" | "-.inf" | "-.Inf" | "-.INF" | ".nan" | ".NaN"
        | ".NAN" => {
            return Err(format!("`{text}` is no JSON number; quote it if a string is meant"));
        }
        _ => {}
    }
    if !text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.')) {
        return Ok(Value::from(text));
    }
    let plain = text.replace('_', "");
    if let Some(integer) = integer(&plain) {
        return Ok(integer);
    }
    if is_float(&plain)
        && let Ok(float) = plain.parse::<f64>()
        && float.is_finite()
    {
        return Ok(number(float));
    }
    Ok(Value::from(text))
}

/// Go's JSON writes whole floats without a fraction, so that they are read as integers.
fn number(float: f64) -> Value {
    /// Whole floats below are exact integers of 64 bits.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if float.fract() == 0.0 && float.abs() <= EXACT { Value::Int(float as i64) } else { Value::Double(float) }
}

/// Go's `strconv.ParseInt(text, 0, 64)`, and unsigned ones that do not fit as floats.
fn integer(text: &str) -> Option<Value> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, text.get(1..)?),
        b'+' => (false, text.get(1..)?),
        _ => (false, text),
    };
    let lower = digits.to_ascii_lowercase();
    let (radix, digits) = match lower.get(..2) {
        Some("0x") => (16, lower.get(2..)?),
        Some("0b") => (2, lower.get(2..)?),
        Some("0o") => (8, lower.get(2..)?),
        Some(two) if two.starts_with('0') => (8, lower.get(1..)?),
        _ => (10, lower.as_str()),
    };
    if digits.starts_with(['+', '-']) {
        return None;
    }
    let magnitude = u64::from_str_radix(digits, radix).ok()?;
    let signed = i128::from(magnitude) * if negative { -1 } else { 1 };
    Some(i64::try_from(signed).map_or(Value::Double(signed as f64), Value::Int))
}

/// `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`
fn is_float(text: &str) -> bool {
    let text = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let some = |text: &str| !text.is_empty() && digits(text);
    let mantissa_fits = match mantissa.split_once('.') {
        Some(("", fraction)) => some(fraction),
        Some((whole, fraction)) => some(whole) && digits(fraction),
        None => some(mantissa),
    };
    mantissa_fits && exponent.is_none_or(|e| some(e.strip_prefix(['+', '-']).unwrap_or(e)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_are_those_of_kubernetes() {
        let text = |s: &str| Value::from(s);
        for (plain, expected) in [
            ("~", Value::Null),
            ("null", Value::Null),
            ("yes", Value::Bool(true)),
            ("off", Value::Bool(false)),
            ("12", Value::Int(12)),
            ("-0x1F", Value::Int(-31)),
            ("010", Value::Int(8)),
            ("0o10", Value::Int(8)),
            ("0b11", Value::Int(3)),
            ("1_000", Value::Int(1000)),
            ("09", Value::Int(9)),
            ("1.5", Value::Double(1.5)),
            ("1.0", Value::Int(1)),
            ("1e3", Value::Int(1000)),
            (".5", Value::Double(0.5)),
            ("9223372036854775807", Value::Int(i64::MAX)),
            ("9223372036854775808", Value::Double(9_223_372_036_854_775_808.0)),
            ("2026-01-01", text("2026-01-01")),
            ("1.2.3", text("1.2.3")),
            ("1e", text("1e")),
            ("-", text("-")),
            ("0x", text("0x")),
            ("10Gi", text("10Gi")),
            ("nullable", text("nullable")),
            ("+-1", text("+-1")),
        ] {
            let found = resolve(plain).unwrap();
            assert!(
                std::mem::discriminant(&found) == std::mem::discriminant(&expected) && found == expected,
                "{plain}: {found:?}"
            );
        }
        assert!(resolve(".inf").is_err());
    }
}
