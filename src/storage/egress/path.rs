//! The path of a URL in its one normal form, and prefixes of paths on the boundaries of segments.
//!
//! A server behind may decode a path more often than once, take `\` for `/`, or drop what follows `;`. So a path is refused
//! where any such reading would hold a dot segment: then no reading can leave the prefix in which the first one begins.
//! Absent: which prefixes are allowed (policy).
use std::fmt::Write;

use percent_encoding::percent_decode;

use crate::storage::egress::error::UrlFault;

/// `%252525...` is decoded at most so often; nobody encodes that often who means well.
const DECODINGS: usize = 8;

/// INVARIANT: begins with `/`; unreserved characters are not encoded, others are in upper case; no dot segments in any
/// reading, no empty ones but the last; upheld by [`Path::parse`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Path(String);

impl Path {
    /// Reads the path of a URL; empty is `/`.
    pub fn parse(text: &str) -> Result<Path, UrlFault> {
        let text = if text.is_empty() { "/" } else { text };
        let inner = text.strip_prefix('/').ok_or(UrlFault::Character)?;
        let last = inner.split('/').count().saturating_sub(1);
        for (position, segment) in inner.split('/').enumerate() {
            if segment.is_empty() && position < last {
                return Err(UrlFault::EmptySegment);
            }
            check_readings(segment)?;
        }
        Ok(Path(normal(text, is_path_byte)?))
    }

    /// `/api/v1/query`
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The segments; the empty one after a last `/` is not one.
    pub fn segments(&self) -> impl Iterator<Item = &str> {
        self.0.split('/').filter(|segment| !segment.is_empty())
    }

    /// Whether the path is `prefix` or below it, as an Ingress of path type Prefix has it: a last `/` makes no difference.
    pub fn is_below(&self, prefix: &Path) -> bool {
        let mut own = self.segments();
        prefix.segments().all(|segment| own.next() == Some(segment))
    }

    /// Whether a path that begins with the text of this one may turn out to be below `prefix`.
    pub fn may_lead_below(&self, prefix: &Path) -> bool {
        let open = !self.0.ends_with('/');
        let own: Vec<&str> = self.segments().collect();
        let mut wanted = prefix.segments();
        own.iter().enumerate().all(|(position, segment)| match wanted.next() {
            None => true,
            Some(want) => want == *segment || (open && position + 1 == own.len() && want.starts_with(segment)),
        })
    }
}

/// Refuses a segment that some server may read as a dot segment, or that holds what ends strings or lines.
fn check_readings(segment: &str) -> Result<(), UrlFault> {
    let mut bytes = segment.as_bytes().to_vec();
    let mut settled = false;
    for _ in 0..DECODINGS {
        let decoded: Vec<u8> = percent_decode(&bytes).collect();
        settled = decoded == bytes;
        bytes = decoded;
        let text = std::str::from_utf8(&bytes).map_err(|_| UrlFault::Encoded)?;
        if text.chars().any(char::is_control) {
            return Err(UrlFault::Encoded);
        }
        if text.split(is_slash).any(is_dots) {
            return Err(UrlFault::DotSegment);
        }
        if settled {
            break;
        }
    }
    if settled { Ok(()) } else { Err(UrlFault::Encoded) }
}

/// Slashes, and what Unicode normalisation or Windows takes for them.
fn is_slash(c: char) -> bool {
    matches!(c, '/' | '\\' | '\u{2044}' | '\u{2215}' | '\u{29f8}' | '\u{ff0f}' | '\u{ff3c}' | '\u{fe68}')
}

/// `.`, `..`, also before `;` (path parameters) and with the spaces and further dots that Windows drops.
fn is_dots(segment: &str) -> bool {
    let name = segment.split(';').next().unwrap_or(segment);
    let dot = |c: char| matches!(c, '.' | '\u{2024}' | '\u{2025}' | '\u{2026}' | '\u{3002}' | '\u{ff0e}' | '\u{ff61}');
    name.contains(dot) && name.chars().all(|c| dot(c) || c.is_whitespace())
}

/// What may stand in a path as it is (RFC 3986, section 3.3).
fn is_path_byte(byte: u8) -> bool {
    is_unreserved(byte) || b"!$&'()*+,;=:@/".contains(&byte)
}

/// What may stand in a query as it is (RFC 3986, section 3.4).
pub(super) fn is_query_byte(byte: u8) -> bool {
    is_path_byte(byte) || byte == b'?'
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}

/// The normal form (RFC 3986, section 6.2.2): what need not be encoded is not, the rest is in upper case.
pub(super) fn normal(text: &str, plain: fn(u8) -> bool) -> Result<String, UrlFault> {
    let mut out = String::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'%' => {
                let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
                let (Some(high), Some(low)) = (digit(bytes.next()), digit(bytes.next())) else {
                    return Err(UrlFault::Percent);
                };
                match u8::try_from(high * 16 + low) {
                    Ok(decoded) if is_unreserved(decoded) => out.push(char::from(decoded)),
                    _ => encode(&mut out, high * 16 + low),
                }
            }
            b'\\' => return Err(UrlFault::Backslash),
            _ if plain(byte) => out.push(char::from(byte)),
            // Ordinary clients encode these ("[" in queries most of all); they mean nothing else.
            b'!'..=b'~' if byte != b'#' => encode(&mut out, byte.into()),
            _ => return Err(UrlFault::Character),
        }
    }
    Ok(out)
}

fn encode(out: &mut String, byte: u32) {
    // Writing to a String cannot fail.
    let _ = write!(out, "%{byte:02X}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: Result<&str, UrlFault>) {
        assert_eq!(Path::parse(text).map(|path| path.0), want.map(str::to_owned), "{text}");
    }

    #[test]
    fn paths_have_one_form() {
        check("", Ok("/"));
        check("/api/v1/", Ok("/api/v1/"));
        check("/%61pi/%7eme/a%2fb/%c3%bc", Ok("/api/~me/a%2Fb/%C3%BC"));
        check("/a[1]|b", Ok("/a%5B1%5D%7Cb"));
        check("/v1.2/..a/a../...b/.well-known", Ok("/v1.2/..a/a../...b/.well-known"));
    }

    #[test]
    fn doubtful_paths_are_refused() {
        let dots = ["/a/../b", "/a/./b", "/..", "/%2e%2e/b", "/.%2e/b", "/%252e%252e/b", "/%25252e./b", "/a%2f..%2fb"];
        let more =
            ["/a/..;/b", "/a/..;x=1/b", "/a/..%3b/b", "/a/..%5cb", "/a/%ef%bc%8e%ef%bc%8e/b", "/a/..%20/b", "/a/.../b"];
        for text in dots.iter().chain(&more) {
            check(text, Err(UrlFault::DotSegment));
        }
        check("/a//b", Err(UrlFault::EmptySegment));
        check("//a", Err(UrlFault::EmptySegment));
        check("/a\\b", Err(UrlFault::Backslash));
        check("/a b", Err(UrlFault::Character));
        check("/ü", Err(UrlFault::Character));
        check("/a%2", Err(UrlFault::Percent));
        check("/a%zz", Err(UrlFault::Percent));
        for text in ["/a%00", "/a%0d%0ax", "/%c0%ae%c0%ae/", "/%7f", "/a%2500", "/%252525252525252541"] {
            check(text, Err(UrlFault::Encoded));
        }
    }

    #[test]
    fn prefixes_end_at_segments() {
        let path = |text| Path::parse(text).unwrap();
        let below = |text, prefix| path(text).is_below(&path(prefix));
        assert!(
            below("/api/v1", "/api/v1/")
                && below("/api/v1/x", "/api/v1")
                && below("/x", "/")
                && below("/%61pi", "/api")
        );
        assert!(!below("/api/v10", "/api/v1") && !below("/api", "/api/v1") && !below("/api%2Fv1/x", "/api/v1"));
        let may = |text, prefix| path(text).may_lead_below(&path(prefix));
        assert!(may("/api/", "/api/v1") && may("/api/v", "/api/v1") && may("/api/v1/x", "/api/v1") && may("/", "/api"));
        assert!(!may("/apx", "/api/v1") && !may("/ap/", "/api/v1") && !may("/api/v2", "/api/v1"));
    }
}
