//! The query of a request, as Go's `url.Values` and Kubernetes' option structs read it.
//!
//! Absent: what the options do.
use std::{borrow::Cow, time::Duration};

use percent_encoding::percent_decode_str;

/// Most parameters that are looked at; the rest is ignored, as unknown ones are.
const MAX_PARAMETERS: usize = 1_000;

/// Decoded parameters in order.
#[derive(Clone, Debug, Default)]
pub struct Query<'a>(Vec<(Cow<'a, str>, Cow<'a, str>)>);

impl<'a> Query<'a> {
    /// Splits and decodes; pairs that cannot be decoded are dropped, as Go's `Query()` drops them.
    pub fn parse(raw: &'a str) -> Query<'a> {
        let pairs = raw.split('&').filter(|p| !p.is_empty()).take(MAX_PARAMETERS);
        Query(pairs.filter_map(|p| p.split_once('=').or(Some((p, "")))).filter_map(decode_pair).collect())
    }

    /// The first value of a parameter.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(k, _)| k == name).map(|(_, v)| &**v)
    }

    /// The first value of a parameter unless it is empty.
    pub fn non_empty(&self, name: &str) -> Option<&str> {
        self.get(name).filter(|v| !v.is_empty())
    }

    /// All values of a parameter.
    pub fn all<'b>(&'b self, name: &'b str) -> impl Iterator<Item = &'b str> {
        self.0.iter().filter(move |(k, _)| k == name).map(|(_, v)| &**v)
    }

    /// Kubernetes' reading of booleans: present and neither `0` nor `false`.
    pub fn bool(&self, name: &str) -> bool {
        self.get(name).is_some_and(|v| v != "0" && !v.eq_ignore_ascii_case("false"))
    }
}

fn decode_pair<'a>((key, value): (&'a str, &'a str)) -> Option<(Cow<'a, str>, Cow<'a, str>)> {
    Some((decode(key)?, decode(value)?))
}

fn decode(raw: &str) -> Option<Cow<'_, str>> {
    let mut bytes = raw.bytes();
    while let Some(b) = bytes.next() {
        if b == b'%' && !(bytes.next().is_some_and(hex) && bytes.next().is_some_and(hex)) {
            return None;
        }
    }
    // What is no UTF-8 stays wrong: a selector that was dropped would select everything.
    Some(match raw.contains('+') {
        true => Cow::Owned(percent_decode_str(&raw.replace('+', " ")).decode_utf8_lossy().into_owned()),
        false => percent_decode_str(raw).decode_utf8_lossy(),
    })
}

fn hex(b: u8) -> bool {
    b.is_ascii_hexdigit()
}

/// A Go duration (`1m30s`, `500ms`), as `?timeout=` is written; `None` when it is none. Negative ones are 0.
pub fn go_duration(text: &str) -> Option<Duration> {
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Some(Duration::ZERO);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total = 0f64;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, tail) = rest.split_at(digits);
        let number: f64 = number.parse().ok()?;
        let letters = tail.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(letters);
        let seconds = match unit {
            "ns" => 1e-9,
            "us" | "µs" | "μs" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            _ => return None,
        };
        total += number * seconds;
        rest = tail;
    }
    // Go's durations end at 2^63 ns, 292 years.
    if total > 9_223_372_036.0 {
        return None;
    }
    Some(if negative { Duration::ZERO } else { Duration::try_from_secs_f64(total).ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_parameters() {
        let q = Query::parse("a=1&b=x%20y+z&a=2&c&&bad=%zz&e=&f=%ff");
        assert_eq!(q.get("a"), Some("1"));
        assert_eq!(q.all("a").collect::<Vec<_>>(), ["1", "2"]);
        assert_eq!(q.get("b"), Some("x y z"));
        assert_eq!(q.get("c"), Some(""));
        assert_eq!(q.get("bad"), None);
        assert_eq!(q.get("f"), Some("\u{fffd}"));
        assert_eq!(q.non_empty("e"), None);
        assert!(q.bool("c") && q.bool("a") && !q.bool("zz"));
        assert!(!Query::parse("w=false").bool("w") && !Query::parse("w=0").bool("w"));
    }

    #[test]
    fn reads_go_durations() {
        assert_eq!(go_duration("30s"), Some(Duration::from_secs(30)));
        assert_eq!(go_duration("1m30.5s"), Some(Duration::from_millis(90_500)));
        assert_eq!(go_duration("500ms"), Some(Duration::from_millis(500)));
        assert_eq!(go_duration("0"), Some(Duration::ZERO));
        assert_eq!(go_duration("-5s"), Some(Duration::ZERO));
        for bad in ["", "5", "s", "1x", "1..2s", "1e9h", "9999999999999h", "-"] {
            assert_eq!(go_duration(bad), None, "{bad}");
        }
    }
}
