//! One answer to a value that does not fit, with Kubernetes' constructors and words.
//!
//! Absent: the Status that carries it (server).
use std::{borrow::Cow, fmt};

use cel::Value;

use crate::engine::{diagnostic::FieldPath, schema::json};

/// `field.Error` of apimachinery, rendered: a cause of a Status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// What kind.
    pub reason: Reason,
    /// The cause's message: `Invalid value: 99: spec.depth in body should be less than or equal to 10`.
    pub message: String,
    /// `spec.depth`; `<nil>` for the document itself.
    pub field: String,
}

/// The reasons of causes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "named as in apimachinery")]
pub enum Reason {
    NotFound,
    Required,
    Duplicate,
    Invalid,
    NotSupported,
    Forbidden,
    TooLong,
    TooMany,
    TypeInvalid,
    Internal,
}

impl Reason {
    /// `FieldValueInvalid`
    pub fn as_str(self) -> &'static str {
        match self {
            Reason::NotFound => "FieldValueNotFound",
            Reason::Required => "FieldValueRequired",
            Reason::Duplicate => "FieldValueDuplicate",
            Reason::Invalid => "FieldValueInvalid",
            Reason::NotSupported => "FieldValueNotSupported",
            Reason::Forbidden => "FieldValueForbidden",
            Reason::TooLong => "FieldValueTooLong",
            Reason::TooMany => "FieldValueTooMany",
            Reason::TypeInvalid => "FieldValueTypeInvalid",
            Reason::Internal => "InternalError",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Reason::NotFound => "Not found",
            Reason::Required => "Required value",
            Reason::Duplicate => "Duplicate value",
            Reason::Invalid | Reason::TypeInvalid => "Invalid value",
            Reason::NotSupported => "Unsupported value",
            Reason::Forbidden => "Forbidden",
            Reason::TooLong => "Too long",
            Reason::TooMany => "Too many",
            Reason::Internal => "Internal error",
        }
    }
}

/// `field: message`, as in the message of a Status.
impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.message)
    }
}

/// The value does not hold: `Invalid value: 99: detail`.
pub fn invalid(path: &FieldPath, value: &Value, detail: &str) -> FieldError {
    with_value(Reason::Invalid, path, value, detail)
}

/// The same without the value, for objects and lists: `Invalid value: detail`.
pub fn invalid_omitted(path: &FieldPath, detail: &str) -> FieldError {
    new(Reason::Invalid, path, detail)
}

/// It must be there: `Required value: detail`.
pub fn required(path: &FieldPath, detail: &str) -> FieldError {
    new(Reason::Required, path, detail)
}

/// Not one of: `Unsupported value: "x": supported values: "a", "b"`.
pub fn not_supported(path: &FieldPath, value: &Value, supported: &[impl AsRef<str>]) -> FieldError {
    let quoted: Vec<String> = supported.iter().map(|s| quote(s.as_ref())).collect();
    let detail = if quoted.is_empty() { String::new() } else { format!("supported values: {}", quoted.join(", ")) };
    with_value(Reason::NotSupported, path, value, &detail)
}

/// `Too long: may not be more than 8 bytes`
pub fn too_long(path: &FieldPath, most: u64) -> FieldError {
    let unit = if most == 1 { "byte" } else { "bytes" };
    new(Reason::TooLong, path, &format!("may not be more than {most} {unit}"))
}

/// `Too many: 3: must have at most 2 items`
pub fn too_many(path: &FieldPath, actual: u64, most: u64) -> FieldError {
    let unit = if most == 1 { "item" } else { "items" };
    let detail = format!("{actual}: must have at most {most} {unit}");
    new(Reason::TooMany, path, &detail)
}

/// `Duplicate value: "x"`
pub fn duplicate(path: &FieldPath, value: &Value) -> FieldError {
    with_value(Reason::Duplicate, path, value, "")
}

/// The same without the value.
pub fn duplicate_omitted(path: &FieldPath) -> FieldError {
    new(Reason::Duplicate, path, "")
}

/// `Forbidden: detail`
pub fn forbidden(path: &FieldPath, detail: &str) -> FieldError {
    new(Reason::Forbidden, path, detail)
}

/// The wrong type: `Invalid value: "integer": detail`.
pub fn type_invalid(path: &FieldPath, value: &Value, detail: &str) -> FieldError {
    with_value(Reason::TypeInvalid, path, value, detail)
}

/// `Internal error: detail`
pub fn internal(path: &FieldPath, detail: &str) -> FieldError {
    new(Reason::Internal, path, detail)
}

fn new(reason: Reason, path: &FieldPath, detail: &str) -> FieldError {
    let title = reason.title();
    let message = if detail.is_empty() { title.to_owned() } else { format!("{title}: {detail}") };
    let field = if path.steps().is_empty() { "<nil>".to_owned() } else { path.to_string() };
    FieldError { reason, message, field }
}

fn with_value(reason: Reason, path: &FieldPath, value: &Value, detail: &str) -> FieldError {
    let shown = show(value);
    let detail = if detail.is_empty() { shown } else { Cow::Owned(format!("{shown}: {detail}")) };
    new(reason, path, &detail)
}

/// Bytes of a value that a message shows; a message is for people.
const SHOWN: usize = 1024;

/// A value as Go prints it in field errors: scalars plainly, strings quoted, the rest as JSON.
fn show(value: &Value) -> Cow<'static, str> {
    match value {
        Value::Null => Cow::Borrowed("null"),
        Value::String(text) => Cow::Owned(quote(text)),
        Value::Double(number) => Cow::Owned(go_float(*number)),
        Value::Int(number) => Cow::Owned(number.to_string()),
        Value::Bool(flag) => Cow::Owned(flag.to_string()),
        other => Cow::Owned(cut(&json::to_json(other).to_string())),
    }
}

/// `strconv.Quote`, cut where it is endless.
pub(crate) fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in cut(text).chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{b}' => out.push_str("\\v"),
            '\u{c}' => out.push_str("\\f"),
            c if (c as u32) < 0x20 || c as u32 == 0x7f => out.push_str(&format!("\\x{:02x}", c as u32)),
            // What turns the direction of a line, and what nobody sees, could make a message say something else.
            c if c.is_control()
                || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}') =>
            {
                out.push_str(&format!("\\u{:04x}", c as u32))
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn cut(text: &str) -> String {
    if text.len() <= SHOWN {
        return text.to_owned();
    }
    let end = (0..=SHOWN).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0);
    format!("{}...", text.get(..end).unwrap_or(""))
}

/// A float as Go's `%v` prints it: the shortest digits, an exponent below 1e-4 and from 1e21.
pub(crate) fn go_float(number: f64) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    let size = number.abs();
    if size != 0.0 && !(1e-4..1e21).contains(&size) {
        let text = format!("{number:e}");
        let Some((digits, exponent)) = text.split_once('e') else { return text };
        let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |e| ('-', e));
        return format!("{digits}e{sign}{exponent:0>2}");
    }
    format!("{number}")
}
