//! The bytes of an answer to a value: content type, character set, JSON within bounds.
//!
//! Absent: decompression (decode), what of the value is taken (engine).
use std::sync::Arc;

use bytes::Bytes;
use cel::{
    Value,
    json::{Decoder, Keys},
    value::{List, MapBuilder},
};
use http::{HeaderMap, header};
use serde::de::DeserializeSeed;
use tokio::sync::Semaphore;

use crate::storage::egress::{call::Format, decode, echo::Sent, error::BodyFault, headers};

/// Values in the JSON of one answer, with all its pages: 23 MiB besides their text.
pub(super) const MOST_VALUES: usize = 500_000;

/// What a value takes besides its text, about.
const VALUE_BYTES: usize = 48;

/// Levels of nesting of JSON: where serde_json's recursion ends, checked before so that it can be told apart.
const MOST_LEVELS: usize = 127;

/// Shorter plain bodies are read at once, others on a thread for blocking work: they take milliseconds.
const READ_AT_ONCE: usize = 32 * 1024;

/// What an answer holds.
#[derive(Clone, Debug)]
pub(super) struct Body {
    pub(super) value: Value,
    /// After decompression.
    pub(super) bytes: usize,
    /// How many values there are in it, about.
    pub(super) values: usize,
}

impl Body {
    /// Bytes that it takes, about.
    pub(super) fn weight(&self) -> usize {
        self.bytes + self.values * VALUE_BYTES
    }
}

/// The header fields as a value, for HEAD.
pub(super) fn of_headers(headers: &HeaderMap) -> Body {
    let mut map = MapBuilder::default();
    let mut bytes = 0;
    let mut values = 1;
    for (name, value) in headers::readable(headers) {
        bytes += name.len() + value.len();
        values += 1;
        map.insert(Arc::<str>::from(name), Value::String(value.into()));
    }
    Body { value: Value::Map(map.build()), bytes, values }
}

/// No body at all.
pub(super) fn empty() -> Body {
    Body { value: Value::Null, bytes: 0, values: 1 }
}

/// A body as it was sent.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) headers: HeaderMap,
    pub(super) bytes: Bytes,
    /// What must not be in it.
    pub(super) sent: Sent,
}

/// Reads a body, elsewhere when it may take long. `readers` is how many of those are read at a time: values take many times
/// the memory of their text, and nobody has counted them yet.
pub(super) async fn read(
    source: Source,
    format: Format,
    limit: usize,
    readers: &Arc<Semaphore>,
) -> Result<Body, BodyFault> {
    let Source { headers, bytes, sent } = source;
    let encoding = decode::encoding(&headers)?;
    let plain = move |bytes: &[u8]| match sent.is_in(bytes) {
        true => Err(BodyFault::Echo),
        false => parse(&headers, bytes, format),
    };
    if encoding.is_none() && bytes.len() <= READ_AT_ONCE {
        return plain(&bytes);
    }
    // The semaphore is never closed. Work that nobody waits for any more goes on, and counts.
    let turn = Arc::clone(readers).acquire_owned().await.ok();
    let work = move || {
        let _turn = turn;
        match encoding {
            None => plain(&bytes),
            Some(encoding) => plain(&decode::decompress(encoding, &bytes, limit)?),
        }
    };
    // An error here is a panic of a decoder on bytes it did not expect.
    tokio::task::spawn_blocking(work).await.unwrap_or(Err(BodyFault::Compression))
}

fn parse(headers: &HeaderMap, bytes: &[u8], format: Format) -> Result<Body, BodyFault> {
    let media = media_type(headers)?;
    check_type(&media, format)?;
    let (value, values) = match format {
        Format::Json => json(utf8(&media, bytes)?)?,
        Format::JsonLines => json_lines(utf8(&media, bytes)?)?,
        Format::Text => (Value::String(text(&media, bytes)?), 1),
    };
    Ok(Body { value, bytes: bytes.len(), values })
}

/// A content type: `application/json` and its charset, both in lower case.
#[derive(Debug, Default)]
struct Media {
    essence: String,
    charset: Option<String>,
}

fn media_type(headers: &HeaderMap) -> Result<Media, BodyFault> {
    let Some(value) = headers.get(header::CONTENT_TYPE) else { return Ok(Media::default()) };
    let text = value.to_str().map_err(|_| BodyFault::Charset)?.to_ascii_lowercase();
    let mut parts = text.split(';');
    let essence = parts.next().unwrap_or_default().trim().to_owned();
    let charset = parts.find_map(|part| part.trim().strip_prefix("charset=").map(|c| c.trim_matches('"').to_owned()));
    Ok(Media { essence, charset })
}

/// Whether a type may hold a format. No type at all is left to the parser.
fn check_type(media: &Media, format: Format) -> Result<(), BodyFault> {
    let essence = media.essence.as_str();
    let json = matches!(essence, "application/json" | "text/json") || essence.ends_with("+json");
    let lines = matches!(
        essence,
        "application/x-ndjson"
            | "application/ndjson"
            | "application/jsonl"
            | "application/x-jsonl"
            | "application/jsonlines"
            | "application/x-jsonlines"
            | "application/json-lines"
    );
    let (fits, expected) = match format {
        Format::Json => (json, "JSON"),
        Format::JsonLines => (json || lines || essence == "text/plain", "JSON Lines"),
        Format::Text => (
            json || lines
                || essence.starts_with("text/")
                || essence.ends_with("+xml")
                || matches!(
                    essence,
                    "application/xml" | "application/yaml" | "application/x-yaml" | "application/openmetrics-text"
                ),
            "text",
        ),
    };
    if fits || essence.is_empty() { Ok(()) } else { Err(BodyFault::ContentType { expected }) }
}

/// JSON is UTF-8 (RFC 8259, section 8.1).
fn utf8<'a>(media: &Media, bytes: &'a [u8]) -> Result<&'a str, BodyFault> {
    match media.charset.as_deref() {
        None | Some("utf-8" | "utf8" | "us-ascii") => {}
        Some(_) => return Err(BodyFault::Charset),
    }
    let text = std::str::from_utf8(bytes).map_err(|_| BodyFault::Charset)?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

fn text(media: &Media, bytes: &[u8]) -> Result<Arc<str>, BodyFault> {
    match media.charset.as_deref() {
        // ISO-8859-1 is the first 256 characters of Unicode.
        Some("iso-8859-1" | "latin1") => Ok(bytes.iter().map(|byte| char::from(*byte)).collect::<String>().into()),
        _ => utf8(media, bytes).map(Into::into),
    }
}

fn json(text: &str) -> Result<(Value, usize), BodyFault> {
    let values = count(text)?;
    let mut keys = Keys::default();
    Ok((one(text, &mut keys, 0)?, values))
}

fn json_lines(text: &str) -> Result<(Value, usize), BodyFault> {
    let values = count(text)?;
    let mut keys = Keys::default();
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let items = lines.map(|(before, line)| one(line, &mut keys, before)).collect::<Result<Vec<Value>, _>>()?;
    let values = values + items.len();
    if values > MOST_VALUES {
        return Err(BodyFault::Values { limit: MOST_VALUES });
    }
    Ok((Value::List(List::from(items)), values))
}

fn one(text: &str, keys: &mut Keys, lines_before: usize) -> Result<Value, BodyFault> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let decoder = Decoder { keys: Some(keys), repeated: None };
    let value = decoder.deserialize(&mut deserializer).and_then(|value| deserializer.end().map(|()| value));
    value.map_err(|error| {
        let (line, column) = (lines_before + error.line(), error.column());
        // serde_json has no other way to tell.
        match error.to_string().starts_with("number out of range") {
            true => BodyFault::Number { line, column },
            false => BodyFault::Json { line, column },
        }
    })
}

/// How many values JSON has at most: one and one for each `,`, `[`, `{` outside strings. Counted before anything is built,
/// with the levels.
fn count(text: &str) -> Result<usize, BodyFault> {
    let (mut values, mut levels, mut in_string, mut escaped) = (1_usize, 0_usize, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b',' => values += 1,
            b'[' | b'{' => {
                values += 1;
                levels += 1;
                if levels > MOST_LEVELS {
                    return Err(BodyFault::Depth);
                }
            }
            b']' | b'}' => levels = levels.saturating_sub(1),
            _ => {}
        }
    }
    if values > MOST_VALUES { Err(BodyFault::Values { limit: MOST_VALUES }) } else { Ok(values) }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[track_caller]
    fn check(content_type: &'static str, body: &[u8], format: Format, want: Result<&str, BodyFault>) {
        let mut headers = HeaderMap::new();
        if !content_type.is_empty() {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
        }
        let got = parse(&headers, body, format).map(|body| body.value.to_string());
        assert_eq!(got, want.map(str::to_owned), "{content_type} {:?}", String::from_utf8_lossy(body));
    }

    #[test]
    fn long_bodies_are_read_in_turn() {
        use futures_util::FutureExt;
        let nobody = Arc::new(Semaphore::new(0));
        let source = |bytes: Vec<u8>, encoding: Option<&'static str>| Source {
            headers: encoding
                .map(|e| (header::CONTENT_ENCODING, http::HeaderValue::from_static(e)))
                .into_iter()
                .collect(),
            bytes: bytes.into(),
            sent: Sent::default(),
        };
        let at_once = |source| read(source, Format::Json, usize::MAX, &nobody).now_or_never();
        assert!(at_once(source(b"[]".to_vec(), None)).is_some_and(|body| body.is_ok()));
        assert!(at_once(source(b"[]".to_vec(), Some("gzip"))).is_none());
        assert!(at_once(source(vec![b' '; READ_AT_ONCE + 1], None)).is_none());
    }

    #[test]
    fn formats_are_read() {
        check("application/json", br#"{"a": [1, 2.5, null]}"#, Format::Json, Ok(r#"{"a": [1, 2.5, null]}"#));
        check("application/problem+json; charset=UTF-8", "\u{feff}[]".as_bytes(), Format::Json, Ok("[]"));
        check("", b"7", Format::Json, Ok("7"));
        check(
            "application/x-ndjson",
            b"{\"a\": 1}\n\n{\"a\": 2}\r\n",
            Format::JsonLines,
            Ok(r#"[{"a": 1}, {"a": 2}]"#),
        );
        check("text/plain", b"", Format::JsonLines, Ok("[]"));
        check("text/plain; charset=iso-8859-1", b"b\xfccher", Format::Text, Ok("\"bücher\""));
        check("text/plain", "bücher".as_bytes(), Format::Text, Ok("\"bücher\""));
    }

    #[test]
    fn wrong_bodies_are_told_without_what_is_in_them() {
        check("text/html", b"{}", Format::Json, Err(BodyFault::ContentType { expected: "JSON" }));
        check("application/octet-stream", b"x", Format::Text, Err(BodyFault::ContentType { expected: "text" }));
        check("application/json", b"{\"a\":\n secret}", Format::Json, Err(BodyFault::Json { line: 2, column: 2 }));
        check("application/json", b"", Format::Json, Err(BodyFault::Json { line: 1, column: 0 }));
        check("application/json", b"[1e999]", Format::Json, Err(BodyFault::Number { line: 1, column: 6 }));
        check("application/json", b"{} {}", Format::Json, Err(BodyFault::Json { line: 1, column: 4 }));
        check("application/x-ndjson", b"1\n2\n{\n", Format::JsonLines, Err(BodyFault::Json { line: 3, column: 1 }));
        check("application/json; charset=utf-16", b"{}", Format::Json, Err(BodyFault::Charset));
        check("application/json", b"\"\xff\"", Format::Json, Err(BodyFault::Charset));
        check("application/json", "[".repeat(100_000).as_bytes(), Format::Json, Err(BodyFault::Depth));
        let deep = format!("{}{}", "[".repeat(MOST_LEVELS), "]".repeat(MOST_LEVELS));
        assert!(parse(&HeaderMap::new(), deep.as_bytes(), Format::Json).is_ok());
        let many = format!("[{}0]", "0,".repeat(MOST_VALUES));
        check("application/json", many.as_bytes(), Format::Json, Err(BodyFault::Values { limit: MOST_VALUES }));
        let commas = format!("[\"{}\"]", ",\\\"".repeat(MOST_VALUES));
        assert!(parse(&HeaderMap::new(), commas.as_bytes(), Format::Json).is_ok());
    }
}
