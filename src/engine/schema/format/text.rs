//! Formats that say how a string is written.
use core::net::IpAddr;

/// Base64 of the standard alphabet, padded. The empty string is no bytes.
pub fn bytes(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(4) {
        return None;
    }
    let padding = text.bytes().rev().take_while(|b| *b == b'=').count();
    let body = text.get(..text.len() - padding)?;
    if padding > 2 {
        return None;
    }
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut held) = (0u32, 0u32);
    for byte in body.bytes() {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(six);
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push(u8::try_from(bits >> held & 0xff).ok()?);
        }
    }
    Some(out)
}

pub(super) fn hex(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_hexdigit())
}

/// With or without dashes; `version` is the digit that begins the third group.
pub(super) fn uuid(text: &str, version: Option<u8>) -> bool {
    let mut plain = String::with_capacity(32);
    for (i, c) in text.char_indices() {
        // A dash may stand at the end of a group only.
        if c == '-' {
            if !matches!(plain.len(), 8 | 12 | 16 | 20) || text.as_bytes().get(i.wrapping_sub(1)) == Some(&b'-') {
                return false;
            }
        } else {
            plain.push(c);
        }
    }
    let at = |i: usize| plain.as_bytes().get(i).copied();
    let variant = |b: u8| matches!(b, b'8' | b'9' | b'a' | b'b' | b'A' | b'B');
    plain.len() == 32
        && hex(&plain)
        && version.is_none_or(|v| at(12) == Some(v))
        && (!matches!(version, Some(b'4' | b'5')) || at(16).is_some_and(variant))
}

/// An absolute URI or an absolute path, as a request line has it.
pub(super) fn uri(text: &str) -> bool {
    if text.is_empty() || text.contains(|c: char| c.is_control() || c == ' ') {
        return false;
    }
    if text.starts_with('/') {
        return true;
    }
    let Some((scheme, _)) = text.split_once(':') else { return false };
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'))
}

/// An address of RFC 5322, a display name allowed.
pub(super) fn email(text: &str) -> bool {
    let address = match text.strip_suffix('>').and_then(|rest| rest.rsplit_once('<')) {
        Some((_, address)) => address,
        None => text.trim(),
    };
    let Some((local, domain)) = address.rsplit_once('@') else { return false };
    let atom = |s: &str| {
        let special = |c: char| c.is_whitespace() || c.is_control() || "()<>[]:;@\\,\"".contains(c);
        !s.is_empty() && !s.contains(special)
    };
    let dotted = |s: &str| s.split('.').all(atom);
    let quoted = local.len() > 2 && local.starts_with('"') && local.ends_with('"');
    (quoted || dotted(local)) && (dotted(domain) || (domain.starts_with('[') && domain.ends_with(']')))
}

pub(super) fn hostname(text: &str) -> bool {
    let inner = |c: char| c.is_ascii_alphanumeric() || (!c.is_ascii() && c.is_alphabetic());
    let label = |l: &str| {
        !l.is_empty()
            && l.len() <= 63
            && l.starts_with(inner)
            && l.ends_with(inner)
            && l.chars().all(|c| inner(c) || c == '-')
    };
    let last = text.rsplit('.').next().unwrap_or("");
    let dotted = text.contains('.');
    !text.is_empty() && text.len() <= 255 && text.split('.').all(label) && (!dotted || last.chars().count() > 1)
}

pub(super) fn cidr(text: &str) -> bool {
    let Some((address, length)) = text.split_once('/') else { return false };
    let plain = length == "0"
        || (length.starts_with(|c: char| ('1'..='9').contains(&c)) && length.bytes().all(|b| b.is_ascii_digit()));
    match (address.parse::<IpAddr>(), length.parse::<u8>()) {
        (Ok(IpAddr::V4(_)), Ok(length)) => plain && length <= 32,
        (Ok(IpAddr::V6(_)), Ok(length)) => plain && length <= 128,
        _ => false,
    }
}

/// 48, 64 or 160 bits in groups of two (`:` or `-`) or four (`.`) digits.
pub(super) fn mac(text: &str) -> bool {
    let groups = |separator: char, width: usize| {
        let parts: Vec<&str> = text.split(separator).collect();
        matches!(parts.len() * width / 2, 6 | 8 | 20) && parts.iter().all(|p| p.len() == width && hex(p))
    };
    groups(':', 2) || groups('-', 2) || groups('.', 4)
}

fn without_separators(text: &str) -> Vec<u8> {
    text.bytes().filter(|b| !matches!(b, b' ' | b'-')).collect()
}

pub(super) fn isbn10(text: &str) -> bool {
    let digits = without_separators(text);
    let value = |(i, b): (usize, &u8)| match b {
        b'0'..=b'9' => Some(usize::from(b - b'0')),
        b'X' if i == 9 => Some(10),
        _ => None,
    };
    let sum: Option<usize> = digits.iter().enumerate().map(|(i, b)| value((i, b)).map(|v| v * (10 - i.min(9)))).sum();
    digits.len() == 10 && sum.is_some_and(|s| s.is_multiple_of(11))
}

pub(super) fn isbn13(text: &str) -> bool {
    let digits = without_separators(text);
    let weighted =
        |(i, b): (usize, &u8)| b.is_ascii_digit().then(|| usize::from(b - b'0') * if i % 2 == 0 { 1 } else { 3 });
    let sum: Option<usize> = digits.iter().enumerate().map(weighted).sum();
    digits.len() == 13 && sum.is_some_and(|s| s.is_multiple_of(10))
}

/// Luhn's check.
pub(super) fn credit_card(text: &str) -> bool {
    let digits = without_separators(text);
    let doubled = |(i, b): (usize, &u8)| {
        let d = b.is_ascii_digit().then(|| usize::from(b - b'0'))?;
        Some(if i % 2 == 1 { if d > 4 { d * 2 - 9 } else { d * 2 } } else { d })
    };
    let sum: Option<usize> = digits.iter().rev().enumerate().map(doubled).sum();
    (12..=19).contains(&digits.len()) && sum.is_some_and(|s| s.is_multiple_of(10))
}

pub(super) fn ssn(text: &str) -> bool {
    let groups: Vec<&str> = text.split(['-', ' ']).collect();
    let digits = |s: &&str| s.bytes().all(|b| b.is_ascii_digit());
    groups.iter().map(|g| g.len()).eq([3, 2, 4]) && groups.iter().all(digits)
}

pub(super) fn hex_color(text: &str) -> bool {
    let digits = text.strip_prefix('#').unwrap_or(text);
    matches!(digits.len(), 3 | 6) && hex(digits)
}

pub(super) fn rgb_color(text: &str) -> bool {
    let Some(inner) = text.strip_prefix("rgb(").and_then(|t| t.strip_suffix(')')) else { return false };
    let parts: Vec<&str> = inner.split(',').map(str::trim).collect();
    parts.len() == 3 && parts.iter().all(|p| p.bytes().all(|b| b.is_ascii_digit()) && p.parse::<u8>().is_ok())
}

/// A DNS label of RFC 1123.
pub(super) fn label(text: &str) -> bool {
    text.len() <= 63 && label_part(text)
}

pub(super) fn label_part(text: &str) -> bool {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    text.starts_with(inner) && text.ends_with(inner) && text.chars().all(|c| inner(c) || c == '-')
}
