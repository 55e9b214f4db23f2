//! Answers: documents, objects, Status and text to responses, with the headers of Kubernetes.
//!
//! Absent: what is answered.
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};
use serde::Serialize;

use crate::{
    api::Status,
    server::{
        body::{self, Body},
        negotiate::Encoding,
    },
    storage::encode::{self, EncodeError},
};

/// A failure on its way out; boxed, for it is large and rare.
pub type Failure = Box<Status>;

/// An answer or a failure.
pub type Answer = Result<Response<Body>, Failure>;

/// Most warnings of one answer, and most bytes of one: kube-apiserver's bounds.
const MAX_WARNINGS: usize = 100;
const MAX_WARNING_BYTES: usize = 4 * 1024;

impl Encoding {
    /// The media type.
    pub fn media_type(self) -> &'static str {
        match self {
            Encoding::Json | Encoding::PrettyJson => "application/json",
            Encoding::Yaml => "application/yaml",
        }
    }

    /// Writes a value.
    pub fn write(self, value: &impl Serialize) -> Result<Vec<u8>, Failure> {
        match self {
            Encoding::Json => Ok(encode::json(value).map_err(Status::from)?),
            Encoding::PrettyJson => serde_json::to_vec_pretty(value)
                .map_err(|e| EncodeError::Unwritable(e.to_string()).into())
                .map_err(Box::new),
            Encoding::Yaml => Ok(encode::yaml(value).map_err(Status::from)?),
        }
    }
}

/// What the `Server-Timing` header of a response says besides the whole time; an extension of the response.
#[derive(Clone, Debug)]
pub struct ServerTiming(pub String);

/// A response of bytes.
pub fn bytes(code: StatusCode, content_type: &'static str, bytes: impl Into<Bytes>) -> Response<Body> {
    let mut response = Response::new(body::full(bytes));
    *response.status_mut() = code;
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
    for warning in warnings.iter().take(MAX_WARNINGS) {
        if let Ok(value) = HeaderValue::from_bytes(warning_header(warning.as_ref()).as_bytes()) {
            headers.append(header::WARNING, value);
        }
    }
}

fn warning_header(text: &str) -> String {
    let mut out = String::from("299 - \"");
    for c in text.chars().take_while({
        let mut bytes = 0;
        move |c| {
            bytes += c.len_utf8();
            bytes <= MAX_WARNING_BYTES
        }
    }) {
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
    fn warnings_are_escaped() {
        assert_eq!(warning_header("plain"), r#"299 - "plain""#);
        assert_eq!(warning_header("a \"b\" \\ c\r\nd\u{7f}é"), r#"299 - "a \"b\" \\ c dé""#);
        assert_eq!(warning_header(&"é".repeat(5000)).len(), 8 + MAX_WARNING_BYTES);
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
