//! Timestamps and durations as text, read as strictly as Go's `time.Parse(RFC3339)` and `time.ParseDuration`.
//!
//! Absent: printing of timestamps (value), time zones (library::time).
use std::ops::RangeInclusive;

use crate::value::Timestamp;

/// The seconds of years 1 to 9999, which a timestamp must lie in.
pub(crate) const IN_RANGE: RangeInclusive<i64> = -62_135_596_800..=253_402_300_799;

/// Why a timestamp could not be read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TimestampError {
    /// Not RFC 3339.
    Syntax,
    /// Before year 1 or after 9999, in UTC.
    Range,
}

/// `2024-01-31T10:20:30.5+01:00`. As in Go, the hour may have one digit, and the fraction any number of digits, after `.` or `,`.
pub(crate) fn parse_timestamp(text: &str) -> Result<Timestamp, TimestampError> {
    let read = || -> Option<Timestamp> {
        let mut p = Reader { rest: text.as_bytes() };
        let year = p.number(4)?;
        p.expect(b'-')?;
        let month = p.number(2)?;
        p.expect(b'-')?;
        let day = p.number(2)?;
        p.expect(b'T')?;
        let hour = if p.rest.get(1).is_some_and(u8::is_ascii_digit) { p.number(2)? } else { p.number(1)? };
        p.expect(b':')?;
        let minute = p.number(2)?;
        p.expect(b':')?;
        let second = p.number(2)?;
        let nanos = p.fraction();
        let offset = p.offset()?;
        let valid = (1..=12).contains(&month) && (1..=days_in(year, month)).contains(&day);
        if !valid || hour > 23 || minute > 59 || second > 59 || !p.rest.is_empty() {
            return None;
        }
        let seconds = days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset * 60;
        Some(Timestamp { seconds, nanos, offset_minutes: i16::try_from(offset).ok()? })
    };
    let timestamp = read().ok_or(TimestampError::Syntax)?;
    if IN_RANGE.contains(&timestamp.seconds) { Ok(timestamp) } else { Err(TimestampError::Range) }
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl Reader<'_> {
    fn expect(&mut self, byte: u8) -> Option<()> {
        self.rest = self.rest.strip_prefix(&[byte])?;
        Some(())
    }

    fn number(&mut self, digits: usize) -> Option<i64> {
        let (head, rest) = self.rest.split_at_checked(digits)?;
        self.rest = rest;
        head.iter().try_fold(0, |n, b| b.is_ascii_digit().then(|| n * 10 + i64::from(b - b'0')))
    }

    /// Nanoseconds of `.123`; digits past the ninth are dropped.
    fn fraction(&mut self) -> u32 {
        let [b'.' | b',', digits @ ..] = self.rest else { return 0 };
        let count = digits.iter().take_while(|b| b.is_ascii_digit()).count();
        if count == 0 {
            return 0;
        }
        let (head, rest) = digits.split_at(count);
        self.rest = rest;
        (0..9).fold(0, |n, i| n * 10 + head.get(i).map_or(0, |b| u32::from(b - b'0')))
    }

    /// Minutes east of `Z` or `+01:00`.
    fn offset(&mut self) -> Option<i64> {
        let (sign, rest) = match self.rest {
            [b'Z', rest @ ..] => {
                self.rest = rest;
                return Some(0);
            }
            [b'+', rest @ ..] => (1, rest),
            [b'-', rest @ ..] => (-1, rest),
            _ => return None,
        };
        self.rest = rest;
        let hours = self.number(2)?;
        self.expect(b':')?;
        let minutes = self.number(2)?;
        // Go's own bounds of the two.
        (hours <= 24 && minutes <= 60).then_some(sign * (hours * 60 + minutes))
    }
}

/// Days in a month of the proleptic Gregorian calendar.
pub(crate) fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 1970-01-01 of a date: years counted from March, so that the leap day is a year's last.
pub(crate) fn days(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// Year, month (1..), day (1..) and day of the year (0..) of a count of days since 1970-01-01.
pub(crate) fn civil(count: i64) -> (i64, i64, i64, i64) {
    let shifted = count + 719_468;
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let from_march = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * from_march + 2) / 153;
    let day = from_march - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day, count - days(year, 1, 1))
}

/// Seconds as `string(duration)` shows them: `61.5s`; through a double, as Go does.
#[expect(clippy::cast_precision_loss, reason = "as Go computes it")]
pub(crate) fn print_duration(nanos: i64) -> String {
    let (seconds, rest) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
    format!("{}s", seconds as f64 + rest as f64 / 1e9)
}

/// Nanoseconds of `1h2m3.5s`, `-0.5ms`, `0`: Go's `time.ParseDuration`.
pub(crate) fn parse_duration(text: &str) -> Option<i64> {
    let (negative, mut rest) = match text.as_bytes() {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    if rest == b"0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    // Go sums magnitudes up to 2^63, so that the least duration can be written.
    let mut total = 0u64;
    while !rest.is_empty() {
        let (part, after) = part(rest)?;
        total = total.checked_add(part).filter(|t| *t <= 1 << 63)?;
        rest = after;
    }
    if negative { 0i64.checked_sub_unsigned(total) } else { i64::try_from(total).ok() }
}

fn part(text: &[u8]) -> Option<(u64, &[u8])> {
    let count = |text: &[u8]| text.iter().take_while(|b| b.is_ascii_digit()).count();
    let (whole, mut rest) = text.split_at(count(text));
    let mut fraction: &[u8] = &[];
    let mut point = false;
    if let [b'.', after @ ..] = rest {
        point = true;
        (fraction, rest) = after.split_at(count(after));
    }
    if whole.is_empty() && (fraction.is_empty() || !point) {
        return None;
    }
    let unit_length = rest.iter().take_while(|b| **b != b'.' && !b.is_ascii_digit()).count();
    let (unit, rest) = rest.split_at(unit_length);
    let unit: u64 = match std::str::from_utf8(unit).ok()? {
        "ns" => 1,
        // Micro sign and Greek mu.
        "us" | "\u{b5}s" | "\u{3bc}s" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    };
    let mut nanos = whole
        .iter()
        .try_fold(0u64, |n, b| n.checked_mul(10)?.checked_add(u64::from(b - b'0')).filter(|n| *n <= 1 << 63))?;
    nanos = nanos.checked_mul(unit).filter(|n| *n <= 1 << 63)?;
    nanos = nanos.checked_add(fraction_of(fraction, unit)).filter(|n| *n <= 1 << 63)?;
    Some((nanos, rest))
}

/// `0.fraction` of a unit, truncated; computed in f64 as Go does.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "as Go computes it"
)]
fn fraction_of(digits: &[u8], unit: u64) -> u64 {
    let (mut value, mut scale) = (0u64, 1f64);
    for b in digits {
        let next =
            value.checked_mul(10).and_then(|v| v.checked_add(u64::from(b - b'0'))).filter(|v| *v <= i64::MAX as u64);
        let Some(next) = next else { break };
        value = next;
        scale *= 10.0;
    }
    (value as f64 * (unit as f64 / scale)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_gos() {
        let check = |text: &str, want: Option<i64>| assert_eq!(parse_duration(text), want, "{text}");
        check("1h2m3.5s", Some(3_723_500_000_000));
        check("-0.5ms", Some(-500_000));
        check("0", Some(0));
        check("+5us", Some(5000));
        check("1.", None);
        check(".s", None);
        check("1.s", Some(1_000_000_000));
        check("", None);
        check("-", None);
        check("1", None);
        check("9223372036854775807ns", Some(i64::MAX));
        check("-9223372036854775808ns", Some(i64::MIN));
        check("9223372036854775808ns", None);
        check("2562048h", None);
        check("1d", None);
    }

    #[test]
    fn timestamps_are_gos() {
        let check = |text: &str, want: Result<(i64, u32, i16), TimestampError>| {
            assert_eq!(parse_timestamp(text).map(|t| (t.seconds, t.nanos, t.offset_minutes)), want, "{text}");
        };
        check("1970-01-01T00:00:00Z", Ok((0, 0, 0)));
        check("1970-01-01T01:00:00.1234567891+01:00", Ok((0, 123_456_789, 60)));
        check("1970-01-01T1:00:00Z", Ok((3600, 0, 0)));
        check("0001-01-01T00:00:00+00:01", Err(TimestampError::Range));
        check("2023-02-29T00:00:00Z", Err(TimestampError::Syntax));
        check("2024-02-29T00:00:00Z", Ok((1_709_164_800, 0, 0)));
        check("2024-02-29 00:00:00Z", Err(TimestampError::Syntax));
        check("2024-02-29T00:00:00", Err(TimestampError::Syntax));
        check("2024-02-29T00:00:60Z", Err(TimestampError::Syntax));
    }

    #[test]
    fn dates_go_both_ways() {
        for count in (-719_162..2_932_897).step_by(97) {
            let (year, month, day, _) = civil(count);
            assert_eq!(days(year, month, day), count);
        }
        assert_eq!(civil(0), (1970, 1, 1, 0));
        assert_eq!(civil(59), (1970, 3, 1, 59));
    }
}
