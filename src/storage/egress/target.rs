//! A URL in its one normal form. What is judged is what is sent: requests are made from the parts that were compared with
//! the policy, never from the text they came from.
//!
//! Absent: what is allowed (policy), templates and their encoding (engine).
use std::fmt;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use crate::{
    api::egress_policy::Scheme,
    storage::egress::{
        error::UrlFault,
        host::Host,
        path::{Path, is_query_byte, normal},
    },
};

/// As long as the engine lets one become, and the next page's.
const MOST_BYTES: usize = crate::engine::limits::MAX_URL_BYTES;

/// Where a call goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    scheme: Scheme,
    host: Host,
    port: u16,
    path: Path,
    query: Option<String>,
}

impl Target {
    /// Reads an absolute URL. What may be read in two ways is refused.
    pub fn parse(url: &str) -> Result<Target, UrlFault> {
        if url.len() > MOST_BYTES {
            return Err(UrlFault::Length);
        }
        if url.contains('\\') {
            return Err(UrlFault::Backslash);
        }
        if url.chars().any(|c| c.is_control() || c.is_whitespace()) {
            return Err(UrlFault::Character);
        }
        if url.contains('#') {
            return Err(UrlFault::Fragment);
        }
        let (scheme, rest) = url.split_once("://").ok_or(UrlFault::Scheme)?;
        let scheme = parse_scheme(scheme)?;
        let (authority, rest) = match rest.find(['/', '?']) {
            Some(at) => rest.split_at(at),
            None => (rest, ""),
        };
        let (path, query) = match rest.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (rest, None),
        };
        if authority.contains('@') {
            return Err(UrlFault::UserInfo);
        }
        let (host, port) = split_port(authority)?;
        Ok(Target {
            scheme,
            host: Host::parse(host)?,
            port: port.unwrap_or_else(|| default_port(scheme)),
            path: Path::parse(path)?,
            query: query.map(|query| normal(query, is_query_byte)).transpose()?,
        })
    }

    /// The scheme.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The host.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// The port, also where the URL left it out.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether both have the same scheme, host and port (RFC 6454).
    pub fn same_origin(&self, other: &Target) -> bool {
        self.scheme == other.scheme && self.host == other.host && self.port == other.port
    }

    /// The target of a reference in an answer from this one (RFC 3986, section 5.2). Relative paths are resolved; dot
    /// segments in them are refused as everywhere.
    pub fn join(&self, reference: &str) -> Result<Target, UrlFault> {
        let origin = Origin(self);
        let has_scheme = reference.split(['/', '?', '#']).next().is_some_and(|first| first.contains(':'));
        if has_scheme {
            return Target::parse(reference);
        }
        if let Some(rest) = reference.strip_prefix("//") {
            return Target::parse(&format!("{}://{rest}", scheme_text(self.scheme)));
        }
        if reference.starts_with('/') {
            return Target::parse(&format!("{origin}{reference}"));
        }
        if reference.is_empty() || reference.starts_with('?') {
            return Target::parse(&format!("{origin}{}{reference}", self.path.as_str()));
        }
        let folder = self.path.as_str().rsplit_once('/').map_or("", |(folder, _)| folder);
        Target::parse(&format!("{origin}{folder}/{}", reference.strip_prefix("./").unwrap_or(reference)))
    }

    /// The same with a query parameter set to a value, instead of what it had.
    pub fn with_parameter(&self, name: &str, value: &str) -> Result<Target, UrlFault> {
        let encode = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
        let pair = normal(&format!("{}={}", encode(name), encode(value)), is_query_byte)?;
        let name = pair.split('=').next().unwrap_or_default();
        let others = self.query.as_deref().unwrap_or_default().split('&');
        let mut parts: Vec<&str> =
            others.filter(|part| !part.is_empty() && part.split('=').next() != Some(name)).collect();
        parts.push(&pair);
        let query = Some(parts.join("&"));
        let target = Target { query, ..self.clone() };
        if target.to_string().len() > MOST_BYTES { Err(UrlFault::Length) } else { Ok(target) }
    }

    /// `metrics.acme.example`, `metrics.acme.example:8443`: without the port that the scheme has anyway.
    pub fn authority(&self) -> String {
        match self.port == default_port(self.scheme) {
            true => self.host.to_string(),
            false => format!("{}:{}", self.host, self.port),
        }
    }
}

/// Prints scheme and authority.
struct Origin<'a>(&'a Target);

impl fmt::Display for Origin<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", scheme_text(self.0.scheme), self.0.authority())
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", Origin(self), self.path.as_str())?;
        match &self.query {
            Some(query) => write!(f, "?{query}"),
            None => Ok(()),
        }
    }
}

/// Reads a scheme in any case.
pub(super) fn parse_scheme(text: &str) -> Result<Scheme, UrlFault> {
    match text.to_ascii_lowercase().as_str() {
        "https" => Ok(Scheme::Https),
        "http" => Ok(Scheme::Http),
        _ => Err(UrlFault::Scheme),
    }
}

/// The port that a scheme has where a URL gives none.
pub(super) fn default_port(scheme: Scheme) -> u16 {
    match scheme {
        Scheme::Https => 443,
        Scheme::Http => 80,
    }
}

fn scheme_text(scheme: Scheme) -> &'static str {
    match scheme {
        Scheme::Https => "https",
        Scheme::Http => "http",
    }
}

/// Splits the port off; the colons of an IPv6 address are inside its brackets.
fn split_port(authority: &str) -> Result<(&str, Option<u16>), UrlFault> {
    let end = authority.rfind(']').map_or(0, |at| at + 1);
    let Some(colon) = authority.get(end..).and_then(|rest| rest.find(':')) else {
        return Ok((authority, None));
    };
    let (host, port) = authority.split_at(end + colon);
    let digits = port.strip_prefix(':').unwrap_or(port);
    let plain = !digits.is_empty() && !digits.starts_with('0') && digits.bytes().all(|b| b.is_ascii_digit());
    match digits.parse() {
        Ok(port) if plain => Ok((host, Some(port))),
        _ => Err(UrlFault::Port),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(url: &str, want: Result<&str, UrlFault>) {
        assert_eq!(Target::parse(url).map(|target| target.to_string()), want.map(str::to_owned), "{url}");
    }

    #[test]
    fn urls_have_one_form() {
        check("HTTPS://Metrics.Acme.example.:443", Ok("https://metrics.acme.example/"));
        check("http://a.example:443/x?", Ok("http://a.example:443/x?"));
        check("https://a.example?q=%7e[1]", Ok("https://a.example/?q=~%5B1%5D"));
        check("https://[2001:db8::1]:8443/", Ok("https://[2001:db8::1]:8443/"));
    }

    #[test]
    fn doubtful_urls_are_refused() {
        check("ftp://a.example/", Err(UrlFault::Scheme));
        check("https:/a.example/", Err(UrlFault::Scheme));
        check("//a.example/", Err(UrlFault::Scheme));
        check("https://u:p@a.example/", Err(UrlFault::UserInfo));
        check("https://a.example#@b.example/", Err(UrlFault::Fragment));
        check("https://a.example\\@b.example/", Err(UrlFault::Backslash));
        check(" https://a.example/", Err(UrlFault::Character));
        check("https://a.example/\r\nHost: b", Err(UrlFault::Character));
        for port in ["", "0", "0443", "+443", "65536", "x"] {
            check(&format!("https://a.example:{port}/"), Err(UrlFault::Port));
        }
        check(&format!("https://a.example/{}", "a".repeat(MOST_BYTES)), Err(UrlFault::Length));
    }

    #[test]
    fn references_are_joined() {
        let base = Target::parse("https://a.example/api/items?page=1").unwrap();
        let join = |reference: &str| base.join(reference).map(|target| target.to_string());
        assert_eq!(join("?page=2"), Ok("https://a.example/api/items?page=2".into()));
        assert_eq!(join("/x"), Ok("https://a.example/x".into()));
        assert_eq!(join("more?c=1"), Ok("https://a.example/api/more?c=1".into()));
        assert_eq!(join("http://b.example/"), Ok("http://b.example/".into()));
        assert_eq!(join("//b.example/"), Ok("https://b.example/".into()));
        assert_eq!(join("../x"), Err(UrlFault::DotSegment));
        assert_eq!(join("javascript:x"), Err(UrlFault::Scheme));
    }

    #[test]
    fn parameters_are_replaced() {
        let base = Target::parse("https://a.example/?a=1&page=1&b=2").unwrap();
        let url = base.with_parameter("page", "x&y=1/ü").unwrap().to_string();
        assert_eq!(url, "https://a.example/?a=1&b=2&page=x%26y%3D1%2F%C3%BC");
    }

    /// Texts made of what URLs are made of and of what breaks them.
    fn scrambled(seed: u64) -> String {
        const PIECES: [&str; 40] = [
            "http://",
            "https://",
            "HTTP://",
            "a.example",
            "A.b.",
            "[2001:db8::1]",
            "127.0.0.1",
            "bücher",
            ":80",
            ":8443",
            ":",
            "/",
            "//",
            ".",
            "..",
            "%2e",
            "%2E",
            "%2f",
            "%5c",
            "%25",
            "%41",
            "%c3%bc",
            "%",
            "?",
            "&",
            "=",
            "#",
            "@",
            ";",
            "\\",
            "!$&'()*+,",
            "~",
            "[",
            "]",
            "{|}",
            "^`\"<>",
            " ",
            "\u{7f}",
            "ü",
            "x",
        ];
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            usize::try_from(state >> 33).unwrap()
        };
        let start = if next() % 8 == 0 { "" } else { "http://a.example/" };
        let length = next() % 8;
        (0..length).fold(start.to_owned(), |text, _| text + PIECES[next() % PIECES.len()])
    }

    #[test]
    fn what_is_accepted_prints_to_itself_and_to_the_uri_that_is_sent() {
        let mut accepted = 0;
        for seed in 0..100_000 {
            let text = scrambled(seed);
            let Ok(target) = Target::parse(&text) else { continue };
            accepted += 1;
            let printed = target.to_string();
            assert_eq!(Target::parse(&printed), Ok(target.clone()), "{text}");
            let uri: http::Uri = printed.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(uri.host().map(Host::parse), Some(Ok(target.host.clone())), "{text}");
            assert_eq!(uri.port_u16().unwrap_or(default_port(target.scheme)), target.port, "{text}");
            assert_eq!((uri.path(), uri.query()), (target.path.as_str(), target.query.as_deref()), "{text}");
            let decoded = percent_encoding::percent_decode_str(uri.path()).decode_utf8().unwrap();
            assert!(!decoded.split(['/', '\\']).any(|segment| segment == "." || segment == ".."), "{text}");
        }
        assert!(accepted > 10_000, "{accepted} were accepted");
    }
}
