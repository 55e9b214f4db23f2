//! Values to bytes: JSON, and YAML as kubectl prints it. Nothing is copied on the way, and nothing grows past the bound.
//!
//! Absent: request bodies (decode), which format a client wants (server).
use std::io;

use serde::Serialize;

use crate::api::{ErrorCode, Status, StatusCause, StatusDetails};

/// Bytes of an answer: above what etcd would ever store (1.5 MiB), below what hurts a client.
pub const MAX_ANSWER: usize = 8 * 1024 * 1024;

/// Bytes of most answers.
const USUAL: usize = 1024;

/// Why a value is not written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// It is larger than this many bytes.
    #[error("the answer is larger than {0} bytes")]
    TooLarge(usize),
    /// It holds something that has no JSON form.
    #[error("the answer cannot be written: {0}")]
    Unwritable(String),
}

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// JSON in one line, with its end.
    Json,
    /// JSON for people, indented by this.
    Pretty(&'static str),
    /// Block style, lists at the indentation of their key, texts of several lines as literal blocks.
    Yaml,
}

/// The value in at most `most` bytes. It is given up where it grows past them: what expressions made may hold a part many
/// times over and be endless when it is written out.
///
/// # Errors
/// [`EncodeError`]
pub fn within(most: usize, style: Style, value: &impl Serialize) -> Result<Vec<u8>, EncodeError> {
    let mut out = Bounded { bytes: Vec::with_capacity(USUAL.min(most)), most, full: false };
    let written = match style {
        Style::Json => serde_json::to_writer(&mut out, value).map_err(|error| error.to_string()),
        Style::Pretty(indent) => {
            let formatter = serde_json::ser::PrettyFormatter::with_indent(indent.as_bytes());
            let mut serializer = serde_json::Serializer::with_formatter(&mut out, formatter);
            value.serialize(&mut serializer).map_err(|error| error.to_string())
        }
        Style::Yaml => {
            let options = serde_saphyr::ser_options! {
                compact_list_indent: true,
                // Long lines stay as they are, as kubectl leaves them.
                folded_wrap_chars: usize::MAX,
            };
            serde_saphyr::to_io_writer_with_options(&mut out, value, options).map_err(|error| error.to_string())
        }
    };
    out.finish(written)
}

/// An answer as JSON, in one line, with its end.
///
/// # Errors
/// [`EncodeError`]
pub fn json(value: &impl Serialize) -> Result<Vec<u8>, EncodeError> {
    within(MAX_ANSWER, Style::Json, value)
}

/// An answer as JSON for people: indented by four spaces, as kubectl prints it.
///
/// # Errors
/// [`EncodeError`]
pub fn pretty_json(value: &impl Serialize) -> Result<Vec<u8>, EncodeError> {
    within(MAX_ANSWER, Style::Pretty("    "), value)
}

/// An answer as YAML.
///
/// # Errors
/// [`EncodeError`]
pub fn yaml(value: &impl Serialize) -> Result<Vec<u8>, EncodeError> {
    within(MAX_ANSWER, Style::Yaml, value)
}

/// The author's fault: 500, like an expression that fails.
impl From<EncodeError> for Status {
    fn from(error: EncodeError) -> Status {
        let cause = StatusCause {
            reason: "AnswerUnwritable".into(),
            message: error.to_string(),
            field: "projection.status".into(),
        };
        Status::new(ErrorCode::INTERNAL_SERVER_ERROR, "InternalError", format!("Internal error occurred: {error}"))
            .with_details(StatusDetails { causes: vec![cause], ..StatusDetails::default() })
    }
}

struct Bounded {
    bytes: Vec<u8>,
    most: usize,
    full: bool,
}

impl Bounded {
    fn finish(mut self, written: Result<(), String>) -> Result<Vec<u8>, EncodeError> {
        match written {
            _ if self.full => Err(EncodeError::TooLarge(self.most)),
            Err(problem) => Err(EncodeError::Unwritable(problem)),
            Ok(()) => {
                if self.bytes.last() != Some(&b'\n') {
                    self.bytes.push(b'\n');
                }
                Ok(self.bytes)
            }
        }
    }
}

impl io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > self.most {
            self.full = true;
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    /// All or nothing, each time: there is no rest to go on with.
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write(bytes).map(drop)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use cel::{Value, value::List};

    use super::*;

    #[track_caller]
    fn check(json_text: &str, yaml_text: &str) {
        let value: Value = serde_json::from_str(json_text).unwrap();
        let text = String::from_utf8(yaml(&value).unwrap()).unwrap();
        assert_eq!(text, yaml_text);
        let back: Value = serde_saphyr::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string(&back).unwrap(), json_text);
    }

    #[test]
    fn yaml_is_kubectls() {
        check(
            r#"{"metadata":{"name":"a","labels":{}},"list":[{"a":1,"b":[1,2]},{"a":"x"}],"none":[],"nothing":null}"#,
            "metadata:\n  name: a\n  labels: {}\nlist:\n- a: 1\n  b:\n  - 1\n  - 2\n- a: x\nnone: []\nnothing: null\n",
        );
        check(r#"{"text":"a\nb\n"}"#, "text: |\n  a\n  b\n");
        check(r#"{"text":"a\nb"}"#, "text: |-\n  a\n  b\n");
        check(&format!(r#"{{"long":"{0} {0}"}}"#, "word".repeat(30)), &format!("long: {0} {0}\n", "word".repeat(30)));
    }

    #[test]
    fn what_other_readers_would_misread_is_quoted() {
        for text in
            ["yes", "1", "1e3", "null", "~", "", " a", "a: b", "# a", "2026-01-01", "0x10", "1_000", "- a", "@a"]
        {
            let json_text = serde_json::to_string(&serde_json::json!({ "a": text })).unwrap();
            let value: Value = serde_json::from_str(&json_text).unwrap();
            let yaml_text = String::from_utf8(yaml(&value).unwrap()).unwrap();
            assert!(yaml_text.contains('"') || yaml_text.contains('\''), "{yaml_text}");
            let back: Value = serde_saphyr::from_str(&yaml_text).unwrap();
            assert_eq!(serde_json::to_string(&back).unwrap(), json_text);
        }
    }

    #[test]
    fn answers_are_bounded() {
        let too_large = Err(EncodeError::TooLarge(MAX_ANSWER));
        let big = Value::List(List::from(vec![Value::from("x".repeat(1024 * 1024)); 9]));
        // 2^60 values when it is written out, two in memory.
        let endless = (0..60).fold(Value::from(Vec::new()), |inner, _| vec![inner.clone(), inner].into());
        for value in [big, endless] {
            assert_eq!(json(&value), too_large);
            assert_eq!(pretty_json(&value), too_large);
            assert_eq!(yaml(&value), too_large);
        }
        assert_eq!(json(&Value::Int(1)), Ok(b"1\n".to_vec()));
    }
}
