//! Addresses and prefixes as text, read as Go's `netip` does, with its words for what is wrong.
//!
//! Absent: what Kubernetes forbids beyond (network).
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// An address and its zone (`fe80::1%eth0`).
pub(super) fn address(text: &str) -> Result<(IpAddr, Option<&str>), String> {
    let parsed = match text.find(['.', ':', '%']).and_then(|at| text.get(at..)).and_then(|rest| rest.chars().next()) {
        Some('.') => v4(text).map(|ip| (IpAddr::V4(ip), None)),
        Some(':') => v6(text).map(|(ip, zone)| (IpAddr::V6(ip), zone)),
        Some(_) => Err(("missing IPv6 address", "")),
        None => Err(("unable to parse IP", "")),
    };
    parsed.map_err(|(message, at)| {
        let at = if at.is_empty() { String::new() } else { format!(" (at {at:?})") };
        format!("ParseAddr({text:?}): {message}{at}")
    })
}

/// An address and the number of bits.
pub(super) fn prefix(text: &str) -> Result<(IpAddr, u8), String> {
    let parse = || -> Result<(IpAddr, u8), String> {
        let Some((head, bits)) = text.rsplit_once('/') else { return Err("no '/'".to_string()) };
        let (ip, zone) = address(head)?;
        if zone.is_some() {
            return Err("IPv6 zones cannot be present in a prefix".to_string());
        }
        let bad = || format!("bad bits after slash: {bits:?}");
        let plain = bits.bytes().all(|b| b.is_ascii_digit()) && (bits.len() <= 1 || !bits.starts_with('0'));
        if bits.is_empty() || !plain {
            return Err(bad());
        }
        let most = if ip.is_ipv4() { 32 } else { 128 };
        let bits: u64 = bits.parse().map_err(|_| bad())?;
        u8::try_from(bits)
            .ok()
            .filter(|bits| *bits <= most)
            .map(|bits| (ip, bits))
            .ok_or_else(|| "prefix length out of range".to_string())
    };
    parse().map_err(|message| format!("netip.ParsePrefix({text:?}): {message}"))
}

type Wrong<'a> = (&'static str, &'a str);

fn v4(text: &str) -> Result<Ipv4Addr, Wrong<'_>> {
    let mut fields = [0u8; 4];
    let (mut position, mut value, mut digits) = (0usize, 0u16, 0);
    for (i, c) in text.char_indices() {
        let here = text.get(i..).unwrap_or("");
        if let Some(digit) = c.to_digit(10).and_then(|d| u16::try_from(d).ok()) {
            if digits == 1 && value == 0 {
                return Err(("IPv4 field has octet with leading zero", ""));
            }
            value = value * 10 + digit;
            digits += 1;
            if value > 255 {
                return Err(("IPv4 field has value >255", ""));
            }
        } else if c == '.' {
            if digits == 0 || i + 1 == text.len() {
                return Err(("IPv4 field must have at least one digit", here));
            }
            if position == 3 {
                return Err(("IPv4 address too long", ""));
            }
            set(&mut fields, position, value);
            (position, value, digits) = (position + 1, 0, 0);
        } else {
            return Err(("unexpected character", here));
        }
    }
    if position < 3 {
        return Err(("IPv4 address too short", ""));
    }
    set(&mut fields, 3, value);
    Ok(Ipv4Addr::from(fields))
}

fn set(fields: &mut [u8; 4], position: usize, value: u16) {
    if let (Some(field), Ok(value)) = (fields.get_mut(position), u8::try_from(value)) {
        *field = value;
    }
}

fn v6(text: &str) -> Result<(Ipv6Addr, Option<&str>), Wrong<'_>> {
    let (mut rest, zone) = match text.split_once('%') {
        Some((_, "")) => return Err(("zone must be a non-empty string", "")),
        Some((head, zone)) => (head, Some(zone)),
        None => (text, None),
    };
    let mut groups: Vec<u16> = Vec::with_capacity(8);
    let mut ellipsis = None;
    if let Some(after) = rest.strip_prefix("::") {
        ellipsis = Some(0);
        rest = after;
        if rest.is_empty() {
            return Ok((Ipv6Addr::UNSPECIFIED, zone));
        }
    }
    while groups.len() < 8 {
        let digits = rest.bytes().take_while(u8::is_ascii_hexdigit).count();
        if digits > 4 {
            return Err(("each group must have 4 or less digits", rest));
        }
        let (group, after) = rest.split_at(digits);
        let Ok(value) = u16::from_str_radix(group, 16) else {
            return Err(("each colon-separated field must have at least one digit", rest));
        };
        if after.starts_with('.') {
            if ellipsis.is_none() && groups.len() != 6 {
                return Err(("embedded IPv4 address must replace the final 2 fields of the address", rest));
            }
            if groups.len() > 6 {
                return Err(("too many hex fields to fit an embedded IPv4 at the end of the address", rest));
            }
            let [a, b, c, d] = v4(rest)?.octets();
            groups.push(u16::from_be_bytes([a, b]));
            groups.push(u16::from_be_bytes([c, d]));
            rest = "";
            break;
        }
        groups.push(value);
        rest = after;
        if rest.is_empty() {
            break;
        }
        let Some(after) = rest.strip_prefix(':') else { return Err(("unexpected character, want colon", rest)) };
        if after.is_empty() {
            return Err(("colon must be followed by more characters", rest));
        }
        rest = after;
        if let Some(after) = rest.strip_prefix(':') {
            if ellipsis.is_some() {
                return Err(("multiple :: in address", rest));
            }
            ellipsis = Some(groups.len());
            rest = after;
            if rest.is_empty() {
                break;
            }
        }
    }
    if !rest.is_empty() {
        return Err(("trailing garbage after address", rest));
    }
    match ellipsis {
        Some(_) if groups.len() >= 8 => return Err(("the :: must expand to at least one field of zeros", "")),
        Some(at) => {
            while groups.len() < 8 {
                groups.insert(at.min(groups.len()), 0);
            }
        }
        None if groups.len() < 8 => return Err(("address string too short", "")),
        None => {}
    }
    let groups: [u16; 8] = groups.try_into().map_err(|_| ("address string too short", ""))?;
    Ok((Ipv6Addr::from(groups), zone))
}
