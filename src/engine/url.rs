//! URL templates: scheme, host and port are literals, path segments are templates whose values can never add a segment.
//!
//! RFC 3986 names the parts. Absent: whether a policy allows the URL (storage), evaluating expressions (run).
use std::{ops::Range, sync::Arc};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode, utf8_percent_encode};

use crate::engine::template::{Fragment, Part, Template};

/// RFC 3986's unreserved characters stay; everything else of a value is encoded, in every place.
const VALUE: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The literal part of a URL.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    /// `https` or `http`
    pub scheme: Arc<str>,
    /// In lower case; IPv6 in brackets.
    pub host: Arc<str>,
    /// The scheme's own where the author gives none.
    pub port: u16,
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (&*self.scheme, self.port) {
            ("https", 443) | ("http", 80) => write!(f, "{}://{}", self.scheme, self.host),
            (_, port) => write!(f, "{}://{}:{port}", self.scheme, self.host),
        }
    }
}

/// A URL before its expressions are evaluated: a list of segments, each a list of parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UrlTemplate {
    pub(crate) origin: Origin,
    pub(crate) segments: Vec<Vec<Part>>,
}

/// What is wrong with a URL template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UrlError {
    pub(crate) message: &'static str,
    pub(crate) help: &'static str,
    /// Bytes of the template's string, where they can be told.
    pub(crate) place: Option<Range<usize>>,
}

/// Splits a template into origin and segments.
pub(crate) fn parse(template: Template) -> Result<UrlTemplate, UrlError> {
    let parts = match template {
        Template::Text(text) => vec![Part::Text(text)],
        Template::Lone(fragment) => vec![Part::Expression(fragment)],
        Template::Mixed(parts) => parts,
    };
    let mut parts = parts.into_iter();
    let Some(Part::Text(first)) = parts.next() else { return Err(literal_origin(None)) };
    let rest: Vec<Part> = parts.collect();
    let authority_is_open = first.split_once("://").is_some_and(|(_, rest)| !rest.contains(['/', '?', '#']));
    if authority_is_open && !rest.is_empty() {
        let place = rest.iter().find_map(|part| match part {
            Part::Expression(Fragment { text, start }) => Some(start - 2..start + text.len() + 1),
            Part::Text(_) => None,
        });
        return Err(literal_origin(place));
    }
    let (origin, path) = origin(&first)?;
    let mut segments: Vec<Vec<Part>> = Vec::new();
    // The path begins with the slash that ends the authority.
    for part in std::iter::once(Part::Text(path.into())).chain(rest) {
        match part {
            Part::Text(text) => literal(&text, &mut segments)?,
            expression @ Part::Expression(_) => match segments.last_mut() {
                Some(segment) => segment.push(expression),
                None => segments.push(vec![expression]),
            },
        }
    }
    let dots = |segment: &Vec<Part>| matches!(segment.as_slice(), [Part::Text(text)] if holds_dots(text));
    if segments.iter().any(dots) {
        return Err(UrlError {
            message: "`.` and `..` are no path segments",
            help: "write the path without them",
            place: None,
        });
    }
    Ok(UrlTemplate { origin, segments })
}

/// Whether a segment, or a part of it in some server's reading, is `.` or `..`: `%2e%2e`, `..;x`, `..%2f`.
fn holds_dots(segment: &str) -> bool {
    let mut bytes = segment.as_bytes().to_vec();
    // Each decoding is shorter than the one before, up to the last.
    loop {
        let decoded: Vec<u8> = percent_decode(&bytes).collect();
        let parts = decoded.split(|byte| b"/\\".contains(byte));
        let mut names = parts.map(|part| part.split(|byte| *byte == b';').next().unwrap_or_default());
        // Some drop spaces and further dots.
        if names.any(|name| name.contains(&b'.') && name.iter().all(|byte| b". ".contains(byte))) {
            return true;
        }
        if decoded == bytes {
            return false;
        }
        bytes = decoded;
    }
}

/// Text of a path: every slash begins a segment.
fn literal(text: &str, segments: &mut Vec<Vec<Part>>) -> Result<(), UrlError> {
    if text.contains(['?', '#']) {
        return Err(UrlError {
            message: "a query does not belong into `url`",
            help: "give the parameters in `query`, where their values are encoded",
            place: None,
        });
    }
    let is_path = |c: char| c.is_ascii_alphanumeric() || "-._~!$&'()*+,;=:@%/".contains(c);
    if !text.chars().all(is_path) {
        return Err(UrlError {
            message: "a URL has only ASCII letters, digits and `-._~!$&'()*+,;=:@%/`",
            help: "encode other characters as `%XX`",
            place: None,
        });
    }
    for (i, piece) in text.split('/').enumerate() {
        if i > 0 {
            segments.push(Vec::new());
        }
        if !piece.is_empty() {
            match segments.last_mut() {
                Some(segment) => segment.push(Part::Text(piece.into())),
                None => segments.push(vec![Part::Text(piece.into())]),
            }
        }
    }
    Ok(())
}

fn literal_origin(place: Option<Range<usize>>) -> UrlError {
    UrlError {
        message: "scheme, host and port of a URL are literals",
        help: "write them out, up to a `/`: `https://host.example/...`; an EgressPolicy decides by them",
        place,
    }
}

/// The origin, and the path from its first slash on.
fn origin(text: &str) -> Result<(Origin, &str), UrlError> {
    let no_url = |help| UrlError { message: "this is no URL", help, place: None };
    let (scheme, rest) = text.split_once("://").ok_or(no_url("write `https://host/path`"))?;
    let scheme = scheme.to_ascii_lowercase();
    let default_port = match scheme.as_str() {
        "https" => 443,
        "http" => 80,
        _ => return Err(no_url("the scheme is `https` or `http`")),
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    if authority.contains('@') {
        return Err(no_url("credentials belong to the EgressPolicy, not into the URL"));
    }
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => {
            let port = port.parse().ok().filter(|p| *p != 0).ok_or(no_url("a port is a number from 1 to 65535"))?;
            (host, port)
        }
        _ => (authority, default_port),
    };
    let named = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
    let bracketed = host.starts_with('[') && host.ends_with(']');
    let inner = host.trim_start_matches('[').trim_end_matches(']');
    let fine = match bracketed {
        true => inner.parse::<std::net::Ipv6Addr>().is_ok(),
        false => !host.is_empty() && host.chars().all(named),
    };
    if !fine {
        return Err(no_url("the host is a DNS name or an address, international names in their `xn--` form"));
    }
    let host = host.to_ascii_lowercase();
    Ok((Origin { scheme: scheme.into(), host: host.into(), port }, path))
}

/// A value as a path segment, a query parameter or a part of one: nothing in it is syntax any more.
pub(crate) fn encode(value: &str) -> String {
    utf8_percent_encode(value, VALUE).to_string()
}

/// Whether an evaluated segment would change the path's shape: nothing, `.` and `..` do.
pub(crate) fn changes_shape(segment: &str) -> bool {
    matches!(segment, "" | "." | "..")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::template;

    #[track_caller]
    fn check(url: &str, expected: Result<&str, &str>) {
        let show = |part: &Part| match part {
            Part::Text(text) => text.to_string(),
            Part::Expression(fragment) => format!("<{}>", fragment.text),
        };
        let found = parse(template::parse(url).unwrap()).map(|url| {
            let segments = url.segments.iter().map(|s| s.iter().map(show).collect::<String>());
            format!("{} {}", url.origin, segments.collect::<Vec<_>>().join(" "))
        });
        assert_eq!(found.as_deref().map_err(|e| e.help), expected, "{url}");
    }

    #[test]
    fn parts() {
        check("https://M.acme.example/api/v1/q", Ok("https://m.acme.example api v1 q"));
        check("http://127.0.0.1:9090/a/${x}-b/${y}", Ok("http://127.0.0.1:9090 a <x>-b <y>"));
        check("https://[::1]:8443/", Ok("https://[::1]:8443 "));
        check("https://host.example", Ok("https://host.example "));
    }

    #[test]
    fn the_origin_is_literal() {
        let literal = "write them out, up to a `/`: `https://host.example/...`; an EgressPolicy decides by them";
        check("${url}", Err(literal));
        check("https://${host}/x", Err(literal));
        check("https://h.${domain}:80/x", Err(literal));
        check("https:///x", Err("the host is a DNS name or an address, international names in their `xn--` form"));
        check("https://host.example${path}", Err(literal));
        check("https://a@host.example/", Err("credentials belong to the EgressPolicy, not into the URL"));
        check("ftp://host.example/", Err("the scheme is `https` or `http`"));
        check("https://host.example:0/", Err("a port is a number from 1 to 65535"));
        check("https://host.example/x?y=${z}", Err("give the parameters in `query`, where their values are encoded"));
        for dots in [".", "..", "%2e%2E", ".%2e", "%252e.", "..;x", "..%2fx", "x%5c..", "..%3bx", "...", "..%20"] {
            check(&format!("https://host.example/${{a}}/{dots}/b"), Err("write the path without them"));
        }
        check("https://host.example/${a}/..a/%2ea/a;..", Ok("https://host.example <a> ..a %2ea a;.."));
    }

    #[test]
    fn values_add_no_syntax() {
        assert_eq!(encode("a/b?c=d&e#f%2f\\ é\r\n"), "a%2Fb%3Fc%3Dd%26e%23f%252f%5C%20%C3%A9%0D%0A");
    }
}
