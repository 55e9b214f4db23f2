//! Instants, days and durations as Kubernetes reads them.
use cel::value::Timestamp;

/// `2024-05-06T07:08:09.5Z`; the zone may be left out and is UTC then. What is read is a little more than what validates.
pub fn date_time(text: &str) -> Option<Timestamp> {
    let (day, time) = text.split_once(['T', 't'])?;
    let days = days(day)?;
    let (clock, zone) = time.split_at_checked(8)?;
    let of_day = clock_seconds(clock)?;
    let end_of_fraction = zone.strip_prefix('.').map_or(0, |f| 1 + f.bytes().take_while(u8::is_ascii_digit).count());
    let (fraction, zone) = zone.split_at_checked(end_of_fraction)?;
    let nanos = nanos(fraction)?;
    let offset_minutes = offset(zone)?;
    let seconds = days * 86_400 + of_day - i64::from(offset_minutes) * 60;
    Some(Timestamp { seconds, nanos, offset_minutes })
}

/// `2024-05-06`: the midnight that it begins with, UTC.
pub fn date(text: &str) -> Option<Timestamp> {
    Some(Timestamp { seconds: days(text)? * 86_400, nanos: 0, offset_minutes: 0 })
}

/// What validates as date-time: as [`date_time`], with a zone.
pub(super) fn is_date_time(text: &str) -> bool {
    let zoned = text.ends_with(['Z', 'z'])
        || text.len().checked_sub(6).and_then(|i| text.get(i..=i)).is_some_and(|c| c == "+" || c == "-");
    zoned && date_time(text).is_some()
}

fn digits(text: &str) -> Option<i64> {
    (!text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().ok()).flatten()
}

/// Days since 1970-01-01 of a day of the (proleptic) Gregorian calendar.
fn days(text: &str) -> Option<i64> {
    let mut parts = text.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() || (year.len(), month.len(), day.len()) != (4, 2, 2) {
        return None;
    }
    let (year, month, day) = (digits(year)?, digits(month)?, digits(day)?);
    let leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    let length = match month {
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=length).contains(&day) || year == 0 {
        return None;
    }
    // Years begin in March, so that the leap day is a year's last; 400 years have 146,097 days, 719,468 lie before 1970.
    let shifted = if month <= 2 { year - 1 } else { year };
    let of_era = shifted.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    Some(shifted.div_euclid(400) * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

fn clock_seconds(text: &str) -> Option<i64> {
    let mut parts = text.split(':');
    let (hour, minute, second) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() || [hour, minute, second].iter().any(|p| p.len() != 2) {
        return None;
    }
    let (hour, minute, second) = (digits(hour)?, digits(minute)?, digits(second)?);
    (hour < 24 && minute < 60 && second < 60).then_some(hour * 3600 + minute * 60 + second)
}

/// Of `.5`: digits beyond the ninth are dropped.
fn nanos(fraction: &str) -> Option<u32> {
    let Some(digits) = fraction.strip_prefix('.') else { return Some(0) };
    if digits.is_empty() {
        return None;
    }
    let nine: String = digits.chars().chain(std::iter::repeat('0')).take(9).collect();
    nine.parse().ok()
}

fn offset(zone: &str) -> Option<i16> {
    if matches!(zone, "" | "Z" | "z") {
        return Some(0);
    }
    let sign = match zone.get(..1)? {
        "+" => 1,
        "-" => -1,
        _ => return None,
    };
    let (hours, minutes) = zone.get(1..)?.split_once(':')?;
    if (hours.len(), minutes.len()) != (2, 2) {
        return None;
    }
    let (hours, minutes) = (i16::try_from(digits(hours)?).ok()?, i16::try_from(digits(minutes)?).ok()?);
    (hours < 24 && minutes < 60).then_some(sign * (hours * 60 + minutes))
}

/// Nanoseconds of Go's `1m30s`, or of words: `3 days`, `1w2d3h`.
pub fn duration(text: &str) -> Option<i64> {
    go_duration(text).or_else(|| wordy_duration(text))
}

fn go_duration(text: &str) -> Option<i64> {
    let (negative, mut rest) = match text.strip_prefix(['-', '+']) {
        Some(rest) => (text.starts_with('-'), rest),
        None => (false, text),
    };
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total: i128 = 0;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, tail) = rest.split_at_checked(end)?;
        let end = tail.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(tail.len());
        let (unit, tail) = tail.split_at_checked(end)?;
        total = total.checked_add(scaled(number, go_unit(unit)?)?)?;
        rest = tail;
    }
    i64::try_from(if negative { -total } else { total }).ok()
}

/// `number * unit`, a decimal fraction allowed.
fn scaled(number: &str, unit: i64) -> Option<i128> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let whole: i128 = if whole.is_empty() { 0 } else { digits(whole)?.into() };
    let mut nanos = whole.checked_mul(unit.into())?;
    // Eighteen digits are finer than a nanosecond of an hour.
    let fraction = fraction.get(..fraction.len().min(18))?;
    if !fraction.is_empty() {
        let scale = 10i128.pow(u32::try_from(fraction.len()).ok()?);
        nanos += i128::from(digits(fraction)?) * i128::from(unit) / scale;
    }
    Some(nanos)
}

const SECOND: i64 = 1_000_000_000;

fn go_unit(unit: &str) -> Option<i64> {
    Some(match unit {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => SECOND,
        "m" => 60 * SECOND,
        "h" => 3600 * SECOND,
        _ => return None,
    })
}

fn wordy_duration(text: &str) -> Option<i64> {
    let mut rest = text.trim_start();
    if rest.is_empty() {
        return None;
    }
    let mut total: i64 = 0;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (number, tail) = rest.split_at_checked(end)?;
        let tail = tail.trim_start();
        let end = tail.find(|c: char| !c.is_ascii_alphabetic() && c != 'µ').unwrap_or(tail.len());
        let (unit, tail) = tail.split_at_checked(end)?;
        total = total.checked_add(digits(number)?.checked_mul(word(unit)?)?)?;
        rest = tail.trim_start();
    }
    Some(total)
}

/// The last word of each unit may go on: `days`, `minutes`.
fn word(unit: &str) -> Option<i64> {
    const DAY: i64 = 24 * 3600 * SECOND;
    let units: [(&[&str], i64); 8] = [
        (&["ns", "nano"], 1),
        (&["us", "µs", "micro"], 1_000),
        (&["ms", "milli"], 1_000_000),
        (&["s", "sec"], SECOND),
        (&["m", "min"], 60 * SECOND),
        (&["h", "hr", "hour"], 3600 * SECOND),
        (&["d", "day"], DAY),
        (&["w", "wk", "week"], 7 * DAY),
    ];
    let unit = unit.to_lowercase();
    let fits =
        |names: &[&str]| names.contains(&unit.as_str()) || names.last().is_some_and(|long| unit.starts_with(long));
    units.iter().find(|(names, _)| fits(names)).map(|(_, nanos)| *nanos)
}
