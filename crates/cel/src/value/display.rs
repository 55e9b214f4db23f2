//! How values are printed to people: as CEL literals where there are such, cut off where they nest too deep.
//!
//! Absent: `string()` and `format()` (library), JSON (json).
use std::fmt::{self, Write};

use super::{Key, List, Map, MapBuilder, Timestamp, Value};

/// Levels that are printed; what is below is `...`.
const LEVELS: usize = 32;

/// Values that are printed, those within others included; the rest of each container is `...`. A value whose parts are shared can
/// be written out to no end: `cel.bind(a, [x, x], cel.bind(b, [a, a], ...))` doubles at each link.
const VALUES: usize = 100_000;

/// What may still be printed.
struct Left {
    levels: usize,
    values: usize,
}

fn all() -> Left {
    Left { levels: LEVELS, values: VALUES }
}

/// Like a CEL literal: `{"a": [1, 2u, 1.5]}`.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print(f, self, &mut all())
    }
}

/// As [`fmt::Display`].
impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print(f, self, &mut all())
    }
}

impl fmt::Debug for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print_list(f, self, &mut all())
    }
}

impl fmt::Debug for Map {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print_map(f, self, &mut all())
    }
}

impl fmt::Debug for MapBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MapBuilder")
    }
}

fn print(f: &mut fmt::Formatter<'_>, value: &Value, left: &mut Left) -> fmt::Result {
    match value {
        Value::Null => f.write_str("null"),
        Value::Bool(b) => write!(f, "{b}"),
        Value::Int(i) => write!(f, "{i}"),
        Value::Uint(u) => write!(f, "{u}u"),
        Value::Double(d) => write!(f, "{d:?}"),
        Value::String(s) => write!(f, "{:?}", &**s),
        Value::Bytes(b) => write!(f, "b\"{}\"", b.escape_ascii()),
        Value::Timestamp(t) => write!(f, "timestamp(\"{t}\")"),
        Value::Duration(nanos) => {
            f.write_str("duration(\"")?;
            print_duration(f, *nanos)?;
            f.write_str("\")")
        }
        Value::Type(t) => write!(f, "{t}"),
        Value::Opaque(o) => write!(f, "{o:?}"),
        Value::Optional(None) => f.write_str("optional.none()"),
        _ if left.levels == 0 => f.write_str("..."),
        Value::Optional(Some(value)) => {
            f.write_str("optional.of(")?;
            print_within(f, value, left)?;
            f.write_str(")")
        }
        Value::List(list) => print_list(f, list, left),
        Value::Map(map) => print_map(f, map, left),
    }
}

/// A part of a value.
fn print_within(f: &mut fmt::Formatter<'_>, value: &Value, left: &mut Left) -> fmt::Result {
    left.values = left.values.saturating_sub(1);
    left.levels = left.levels.saturating_sub(1);
    let printed = print(f, value, left);
    left.levels += 1;
    printed
}

fn print_list(f: &mut fmt::Formatter<'_>, list: &List, left: &mut Left) -> fmt::Result {
    f.write_char('[')?;
    for (i, value) in list.iter().enumerate() {
        if i > 0 {
            f.write_str(", ")?;
        }
        if left.values == 0 {
            f.write_str("...")?;
            break;
        }
        print_within(f, value, left)?;
    }
    f.write_char(']')
}

fn print_map(f: &mut fmt::Formatter<'_>, map: &Map, left: &mut Left) -> fmt::Result {
    f.write_char('{')?;
    for (i, (key, value)) in map.iter().enumerate() {
        if i > 0 {
            f.write_str(", ")?;
        }
        if left.values == 0 {
            f.write_str("...")?;
            break;
        }
        match key {
            Key::String(s) => write!(f, "{:?}: ", &**s)?,
            Key::Uint(u) => write!(f, "{u}u: ")?,
            key => write!(f, "{key}: ")?,
        }
        print_within(f, value, left)?;
    }
    f.write_char('}')
}

/// Seconds with as many digits as needed: `1.5s`, `-0.000000001s`.
pub(crate) fn print_duration(out: &mut impl Write, nanos: i64) -> fmt::Result {
    if nanos < 0 {
        out.write_char('-')?;
    }
    let nanos = nanos.unsigned_abs();
    write!(out, "{}", nanos / 1_000_000_000)?;
    print_fraction(out, (nanos % 1_000_000_000) as u32)?;
    out.write_char('s')
}

fn print_fraction(out: &mut impl Write, nanos: u32) -> fmt::Result {
    if nanos == 0 {
        return Ok(());
    }
    let (mut nanos, mut digits) = (nanos, 9);
    while nanos % 10 == 0 {
        nanos /= 10;
        digits -= 1;
    }
    write!(out, ".{nanos:0digits$}")
}

/// RFC 3339 with the offset that it was written with, `Z` for UTC, and as many digits of the second as needed.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let local = self.seconds.saturating_add(i64::from(self.offset_minutes) * 60);
        let (days, second) = (local.div_euclid(86_400), local.rem_euclid(86_400));
        let (year, month, day) = civil(days);
        write!(f, "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60)?;
        print_fraction(f, self.nanos)?;
        if self.offset_minutes == 0 {
            return f.write_char('Z');
        }
        let sign = if self.offset_minutes < 0 { '-' } else { '+' };
        let minutes = self.offset_minutes.unsigned_abs();
        write!(f, "{sign}{:02}:{:02}", minutes / 60, minutes % 60)
    }
}

/// Year, month and day of a count of days since 1970-01-01, in the proleptic Gregorian calendar: years begin in March, so that
/// the leap day is the last one, and 400 years have 146,097 days.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(value: impl Into<Value>, want: &str) {
        assert_eq!(value.into().to_string(), want);
    }

    #[test]
    fn values_print_as_literals() {
        check(vec![1i64.into(), 2u64.into(), 1.5.into(), 2.0.into(), Value::Null], "[1, 2u, 1.5, 2.0, null]");
        check(
            [("a", true.into()), ("b\"", Value::from("x\n"))].into_iter().collect::<Map>(),
            r#"{"a": true, "b\"": "x\n"}"#,
        );
        check(Value::Duration(-1_500_000_000), r#"duration("-1.5s")"#);
        check(Value::Duration(i64::MIN), r#"duration("-9223372036.854775808s")"#);
        check(Timestamp { seconds: 951_782_399, nanos: 0, offset_minutes: 0 }, r#"timestamp("2000-02-28T23:59:59Z")"#);
        check(
            Timestamp { seconds: 951_782_400, nanos: 10, offset_minutes: -90 },
            r#"timestamp("2000-02-28T22:30:00.00000001-01:30")"#,
        );
        check(
            Timestamp { seconds: -62_135_596_800, nanos: 0, offset_minutes: 0 },
            r#"timestamp("0001-01-01T00:00:00Z")"#,
        );
        check(
            Timestamp { seconds: 253_402_300_799, nanos: 0, offset_minutes: 0 },
            r#"timestamp("9999-12-31T23:59:59Z")"#,
        );
    }

    #[test]
    fn deep_values_are_cut_off() {
        let deep = (0..100_000).fold(Value::Null, |v, _| Value::from(vec![v]));
        check(deep, &format!("{}...{}", "[".repeat(LEVELS), "]".repeat(LEVELS)));
    }

    #[test]
    fn values_that_are_huge_when_written_out_are_cut_off() {
        let huge = (0..31).fold(Value::Null, |v, _| Value::from(vec![v.clone(), v]));
        let text = huge.to_string();
        assert_eq!(text.matches("null").count() + text.matches('[').count(), VALUES + 1);
        assert!(text.ends_with(", ...], ...], ...]"), "{}", &text[text.len() - 80..]);
    }
}
