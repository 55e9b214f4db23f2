//! URLs as text, read and written as Go's `net/url` does.
//!
//! Absent: relative references, which Kubernetes refuses.
use std::fmt::{self, Write};

/// A URL in its parts.
#[derive(Debug, Default)]
pub(super) struct Url {
    pub(super) scheme: String,
    opaque: String,
    user: Option<(String, Option<String>)>,
    pub(super) host: String,
    omit_host: bool,
    path: Vec<u8>,
    raw_path: String,
    force_query: bool,
    pub(super) query: String,
    fragment: Option<(Vec<u8>, String)>,
}

/// Where an escape stands: what must be escaped differs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Path,
    Host,
    Zone,
    User,
    Query,
    Fragment,
}

/// What a request line may have: absolute, or a path.
pub(super) fn request(text: &str) -> Result<Url, String> {
    parse(text, true)
}

/// With the part after `#` apart.
pub(super) fn with_fragment(text: &str) -> Result<Url, String> {
    let (rest, fragment) = text.split_once('#').map_or((text, ""), |(rest, fragment)| (rest, fragment));
    let mut url = parse(rest, false)?;
    if !fragment.is_empty() {
        url.fragment = Some((unescape(fragment, Place::Fragment)?, fragment.to_string()));
    }
    Ok(url)
}

fn parse(text: &str, request: bool) -> Result<Url, String> {
    if text.bytes().any(|b| b < b' ' || b == 0x7f) {
        return Err("net/url: invalid control character in URL".to_string());
    }
    if text.is_empty() && request {
        return Err("empty url".to_string());
    }
    let mut url = Url::default();
    if text == "*" {
        url.path = b"*".to_vec();
        return Ok(url);
    }
    let (scheme, mut rest) = scheme(text)?;
    url.scheme = scheme.to_lowercase();
    if rest.ends_with('?') && rest.matches('?').count() == 1 {
        url.force_query = true;
        rest = rest.strip_suffix('?').unwrap_or(rest);
    } else if let Some((head, query)) = rest.split_once('?') {
        url.query = query.to_string();
        rest = head;
    }
    if !rest.starts_with('/') {
        if !url.scheme.is_empty() {
            url.opaque = rest.to_string();
            return Ok(url);
        }
        if request {
            return Err("invalid URI for request".to_string());
        }
        if rest.split('/').next().is_some_and(|segment| segment.contains(':')) {
            return Err("first path segment in URL cannot contain colon".to_string());
        }
    }
    let with_authority = !url.scheme.is_empty() || !request && !rest.starts_with("///");
    if let (true, Some(after)) = (with_authority, rest.strip_prefix("//")) {
        let (authority, path) = after.split_at(after.find('/').unwrap_or(after.len()));
        rest = path;
        parse_authority(&mut url, authority)?;
    } else if !url.scheme.is_empty() && rest.starts_with('/') {
        url.omit_host = true;
    }
    url.path = unescape(rest, Place::Path)?;
    if escape(&url.path, Place::Path) != rest {
        url.raw_path = rest.to_string();
    }
    Ok(url)
}

fn scheme(text: &str) -> Result<(&str, &str), String> {
    for (i, c) in text.char_indices() {
        match c {
            'a'..='z' | 'A'..='Z' => {}
            '0'..='9' | '+' | '-' | '.' if i > 0 => {}
            ':' if i == 0 => return Err("missing protocol scheme".to_string()),
            ':' => return Ok((text.get(..i).unwrap_or(""), text.get(i + 1..).unwrap_or(""))),
            _ => return Ok(("", text)),
        }
    }
    Ok(("", text))
}

fn parse_authority(url: &mut Url, authority: &str) -> Result<(), String> {
    let (user, host) = authority.rsplit_once('@').map_or((None, authority), |(user, host)| (Some(user), host));
    url.host = parse_host(host)?;
    let Some(user) = user else { return Ok(()) };
    let valid = |c: char| c.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(c);
    if !user.chars().all(valid) {
        return Err("net/url: invalid userinfo".to_string());
    }
    let text = |part: &str| unescape(part, Place::User).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    url.user = Some(match user.split_once(':') {
        None => (text(user)?, None),
        Some((name, password)) => (text(name)?, Some(text(password)?)),
    });
    Ok(())
}

fn parse_host(host: &str) -> Result<String, String> {
    let port_of = |port: &str| {
        let digits = port.strip_prefix(':').unwrap_or(port);
        let valid = port.is_empty() || port.starts_with(':') && digits.bytes().all(|b| b.is_ascii_digit());
        if valid { Ok(()) } else { Err(format!("invalid port {port:?} after host")) }
    };
    let mut bytes = vec![];
    if host.starts_with('[') {
        let Some(close) = host.rfind(']') else { return Err("missing ']' in host".to_string()) };
        let (literal, rest) = host.split_at(close);
        port_of(rest.get(1..).unwrap_or(""))?;
        match literal.find("%25") {
            Some(at) => {
                let (address, zone) = literal.split_at(at);
                bytes.extend(unescape(address, Place::Host)?);
                bytes.extend(unescape(zone, Place::Zone)?);
                bytes.extend(unescape(rest, Place::Host)?);
            }
            None => bytes.extend(unescape(host, Place::Host)?),
        }
    } else {
        if let Some(at) = host.rfind(':') {
            port_of(host.get(at..).unwrap_or(""))?;
        }
        bytes.extend(unescape(host, Place::Host)?);
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Whether a byte must be escaped where it stands.
fn must_escape(byte: u8, place: Place) -> bool {
    if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
        return false;
    }
    match place {
        Place::Host | Place::Zone => !b"!$&'()*+,;=:[]<>\"".contains(&byte),
        Place::Path => !b"$&+,/:;=@".contains(&byte),
        Place::User => !b"$&+,;=".contains(&byte),
        Place::Query => true,
        Place::Fragment => !b"$&+,/:;=?@!()*".contains(&byte),
    }
}

fn escape(bytes: &[u8], place: Place) -> String {
    let mut text = String::with_capacity(bytes.len());
    for byte in bytes {
        if must_escape(*byte, place) {
            let _ = write!(text, "%{byte:02X}");
        } else {
            text.push(char::from(*byte));
        }
    }
    text
}

pub(super) fn query_unescape(text: &str) -> Result<String, String> {
    unescape(text, Place::Query).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

fn unescape(text: &str, place: Place) -> Result<Vec<u8>, String> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at).copied() {
        if byte != b'%' {
            if matches!(place, Place::Host | Place::Zone) && byte.is_ascii() && must_escape(byte, place) {
                return Err(format!("invalid character {:?} in host name", char::from(byte).to_string()));
            }
            out.push(if byte == b'+' && place == Place::Query { b' ' } else { byte });
            at += 1;
            continue;
        }
        let whole = bytes.get(at..(at + 3).min(bytes.len())).unwrap_or(&[]);
        let bad = || Err(format!("invalid URL escape {:?}", String::from_utf8_lossy(whole)));
        let digit =
            |i: usize| whole.get(i).and_then(|b| char::from(*b).to_digit(16)).and_then(|d| u8::try_from(d).ok());
        let (Some(high), Some(low)) = (digit(1), digit(2)) else { return bad() };
        let value = high << 4 | low;
        let percent = whole == b"%25";
        let refused = match place {
            // Hosts may escape only what is not ASCII.
            Place::Host => high < 8 && !percent,
            Place::Zone => !percent && value != b' ' && must_escape(value, Place::Host),
            _ => false,
        };
        if refused {
            return bad();
        }
        out.push(value);
        at += 3;
    }
    Ok(out)
}

/// Whether a path is escaped already, so that it is kept as it was written.
fn is_escaped(text: &str, place: Place) -> bool {
    text.bytes().all(|b| b"!$&'()*+,;=:@[]%".contains(&b) || !must_escape(b, place))
}

impl Url {
    /// Bytes of its parts, about.
    pub(super) fn len(&self) -> u64 {
        let fragment = self.fragment.as_ref().map_or(0, |(_, raw)| raw.len());
        let texts = [&self.scheme, &self.opaque, &self.host, &self.raw_path, &self.query];
        (texts.iter().map(|text| text.len()).sum::<usize>() + self.path.len() + fragment) as u64
    }

    pub(super) fn escaped_path(&self) -> String {
        if !self.raw_path.is_empty() && is_escaped(&self.raw_path, Place::Path) {
            return self.raw_path.clone();
        }
        if self.path == b"*" { "*".to_string() } else { escape(&self.path, Place::Path) }
    }

    /// The host without brackets, and the port.
    pub(super) fn split_host(&self) -> (String, String) {
        let (mut host, mut port) = (&*self.host, "");
        if let Some(at) = host.rfind(':') {
            let after = host.get(at + 1..).unwrap_or("");
            if after.bytes().all(|b| b.is_ascii_digit()) {
                port = after;
                host = host.get(..at).unwrap_or(host);
            }
        }
        let inner = host.strip_prefix('[').and_then(|h| h.strip_suffix(']')).unwrap_or(host);
        (inner.to_string(), port.to_string())
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.scheme.is_empty() {
            write!(f, "{}:", self.scheme)?;
        }
        if self.opaque.is_empty() {
            let empty_host = self.host.is_empty() && self.user.is_none();
            let has_authority = !self.scheme.is_empty() || !empty_host;
            if has_authority && !(self.omit_host && empty_host) {
                if !empty_host || !self.path.is_empty() {
                    f.write_str("//")?;
                }
                if let Some((name, password)) = &self.user {
                    f.write_str(&escape(name.as_bytes(), Place::User))?;
                    if let Some(password) = password {
                        write!(f, ":{}", escape(password.as_bytes(), Place::User))?;
                    }
                    f.write_str("@")?;
                }
                f.write_str(&escape(self.host.as_bytes(), Place::Host))?;
            }
            let path = self.escaped_path();
            if !path.is_empty() && !path.starts_with('/') && !self.host.is_empty() {
                f.write_str("/")?;
            }
            f.write_str(&path)?;
        } else {
            f.write_str(&self.opaque)?;
        }
        if self.force_query || !self.query.is_empty() {
            write!(f, "?{}", self.query)?;
        }
        if let Some((fragment, raw)) = &self.fragment {
            let kept = is_escaped(raw, Place::Fragment);
            write!(f, "#{}", if kept { raw.clone() } else { escape(fragment, Place::Fragment) })?;
        }
        Ok(())
    }
}
