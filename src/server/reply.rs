//! Answers: documents, objects, Status and text to responses, with the headers of Kubernetes.
//!
//! Absent: what is answered.
use std::{fmt, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};
use serde::Serialize;

use crate::{
    api::Status,
    server::{
        body::{self, Body},
        negotiate::Encoding,
        status,
    },
    storage::encode::{self, EncodeError, MAX_ANSWER, Style},
};

/// A failure on its way out; boxed, for it is large and rare.
pub type Failure = Box<Status>;

/// An answer or a failure.
pub type Answer = Result<Response<Body>, Failure>;

/// Characters of all warnings of one answer, and of each once there are more: kube-apiserver's `truncateAtTotalRunes` and
/// `truncateItemRunes`. Clients and proxies bound the headers that they read.
const MAX_WARNINGS: usize = 4 * 1024;
const MAX_CUT_WARNING: usize = 256;

impl Encoding {
    /// The media type.
    pub fn media_type(self) -> &'static str {
        match self {
            Encoding::Json | Encoding::PrettyJson => "application/json",
            Encoding::Yaml => "application/yaml",
        }
    }

    /// Writes a value that was made to answer a request.
    pub fn write(self, value: &impl Serialize) -> Result<Vec<u8>, Failure> {
        Ok(encode::within(MAX_ANSWER, self.style(), value).map_err(Status::from)?)
    }

    /// How it is written.
    pub fn style(self) -> Style {
        match self {
            Encoding::Json => Style::Json,
            // As kube-apiserver indents.
            Encoding::PrettyJson => Style::Pretty("  "),
            Encoding::Yaml => Style::Yaml,
        }
    }
}

/// What took its time; whoever answers says it of the parts, and the service of the whole.
pub const SERVER_TIMING: HeaderName = HeaderName::from_static("server-timing");

/// Milliseconds to the microsecond, as `Server-Timing` tells durations.
#[derive(Clone, Copy, Debug)]
pub struct Millis(pub Duration);

impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros =
            self.0.as_secs().saturating_mul(1_000_000).saturating_add(u64::from(self.0.subsec_nanos() + 500) / 1000);
        write!(f, "{}.{:03}", micros / 1000, micros % 1000)
    }
}

/// Room for the headers of an answer: its own, those that every answer has, and those of the transport.
const HEADERS: usize = 8;

/// An extension of the response of a watch: it ends when it ends.
#[derive(Clone, Copy, Debug)]
pub struct Endless;

/// A response of bytes.
pub fn bytes(code: StatusCode, content_type: &'static str, bytes: impl Into<Bytes>) -> Response<Body> {
    let mut response = Response::new(body::full(bytes));
    *response.status_mut() = code;
    *response.headers_mut() = HeaderMap::with_capacity(HEADERS);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

/// A response of text.
pub fn text(code: StatusCode, text: impl Into<String>) -> Response<Body> {
    bytes(code, "text/plain; charset=utf-8", text.into())
}

/// Go's answer to a path that nobody serves; kubectl takes it for "no such group".
pub fn page_not_found() -> Response<Body> {
    text(StatusCode::NOT_FOUND, "404 page not found\n")
}

/// A response of a value.
pub fn value(code: StatusCode, encoding: Encoding, value: &impl Serialize) -> Answer {
    Ok(bytes(code, encoding.media_type(), encoding.write(value)?))
}

/// Bytes of what is there already and only written: pages keep lists below it.
const MAX_STORED: usize = 128 * 1024 * 1024;

/// A response of stored objects.
pub fn stored(encoding: Encoding, value: &impl Serialize) -> Answer {
    let written = encode::within(MAX_STORED, encoding.style(), value).map_err(|error| match error {
        EncodeError::TooLarge(most) => status::bad_request(format!(
            "the objects take more than {most} bytes: ask for pages of them with ?limit= (kubectl --chunk-size)"
        )),
        unwritable @ EncodeError::Unwritable(_) => unwritable.into(),
    })?;
    Ok(bytes(StatusCode::OK, encoding.media_type(), written))
}

/// A response of a failure.
pub fn failure(failure: &Status, encoding: Encoding) -> Response<Body> {
    let code = StatusCode::from_u16(failure.code.get()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    match value(code, encoding, failure) {
        Ok(response) => response,
        // A Status has nothing that cannot be written.
        Err(_) => text(StatusCode::INTERNAL_SERVER_ERROR, "the failure could not be written"),
    }
}

/// The same with a header of its own.
pub fn with(mut response: Response<Body>, name: HeaderName, value: &'static str) -> Response<Body> {
    response.headers_mut().insert(name, HeaderValue::from_static(value));
    response
}

/// Adds warnings, each as `299 - "text"` (RFC 7234 without the date, as Kubernetes writes it).
pub fn warn<S: AsRef<str>>(headers: &mut HeaderMap, warnings: &[S]) {
    let whole: usize = warnings.iter().map(|warning| warning.as_ref().chars().count()).sum();
    let most = if whole > MAX_WARNINGS { MAX_CUT_WARNING } else { MAX_WARNINGS };
    let mut left = MAX_WARNINGS;
    for warning in warnings {
        let length = warning.as_ref().chars().count().min(most);
        let Some(rest) = left.checked_sub(length) else { return };
        left = rest;
        if let Ok(value) = HeaderValue::from_bytes(warning_header(warning.as_ref(), most).as_bytes()) {
            headers.append(header::WARNING, value);
        }
    }
}

fn warning_header(text: &str, most: usize) -> String {
    let mut out = String::from("299 - \"");
    for c in text.chars().take(most) {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            // Kubernetes drops control characters; a line's end between words is a space.
            '\n' | '\t' => out.push(' '),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_told_to_the_microsecond() {
        for (nanos, text) in
            [(0, "0.000"), (499, "0.000"), (500, "0.001"), (12_345_678, "12.346"), (34_000_000_000, "34000.000")]
        {
            assert_eq!(Millis(Duration::from_nanos(nanos)).to_string(), text);
        }
    }

    #[test]
    fn warnings_are_escaped() {
        assert_eq!(warning_header("plain", 9), r#"299 - "plain""#);
        assert_eq!(warning_header("a \"b\" \\ c\r\nd\u{7f}é", 99), r#"299 - "a \"b\" \\ c dé""#);
        assert_eq!(warning_header(&"x".repeat(5000), 256).len(), 8 + 256);
    }

    #[test]
    fn warnings_are_bounded_together() {
        let written = |warnings: &[String]| {
            let mut headers = HeaderMap::new();
            warn(&mut headers, warnings);
            headers.get_all(header::WARNING).iter().map(|w| w.len() - 8).collect::<Vec<_>>()
        };
        assert_eq!(written(&["x".repeat(3000), "x".repeat(1000)]), [3000, 1000]);
        assert_eq!(written(&["x".repeat(4000), "x".repeat(100)]), [256, 100]);
        assert_eq!(written(&vec!["x".repeat(300); 100]), [256; 16]);
    }

    #[track_caller]
    fn check_yaml(value: serde_json::Value) {
        let text = String::from_utf8(Encoding::Yaml.write(&value).unwrap()).unwrap();
        let back: serde_json::Value = serde_saphyr::from_str(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert_eq!(back, value, "{text}");
    }

    #[test]
    fn yaml_says_the_same() {
        for text in [
            "yes",
            "no",
            "on",
            "off",
            "y",
            "n",
            "null",
            "~",
            "",
            "1",
            "1.0",
            "1e3",
            "0x10",
            "0o7",
            "1_000",
            ".5",
            "true",
            "- a",
            "a: b",
            "#c",
            "a #c",
            "*x",
            "&x",
            "!x",
            "%x",
            "@x",
            "`x",
            "|",
            ">",
            "'",
            "\"",
            "{",
            "[",
            "a\nb",
            "a\n",
            "\na",
            " a",
            "a ",
            "a\tb",
            "2001-01-01",
            "12:30:00",
            "\u{7f}",
            "\u{2028}",
            "é",
            "---",
            "...",
            "?",
            ":",
            "-",
            "a\r\nb",
            "a\n\n\nb\n\n",
            "  indented\nb",
            "=",
            "<<",
            ".inf",
            ".nan",
            "+1",
            "0777",
            "1:20",
        ] {
            check_yaml(serde_json::json!({"k": text, text: 1, "l": [text, [text]]}));
        }
        check_yaml(serde_json::json!({"a": {}, "b": [], "c": null, "d": [[], {}], "e": 1.5, "f": -1, "g": 1e300}));
    }
}
