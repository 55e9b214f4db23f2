//! `metav1.Status`: how every failure is told.
//!
//! Absent: which failure is which Status (storage and server know their own).
use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// An HTTP status code that tells of an error.
///
/// INVARIANT: 400 to 599, upheld by [`ErrorCode::new`] and the constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u16", into = "u16")]
pub struct ErrorCode(u16);

/// A code that tells of no error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an HTTP error code")]
pub struct NotAnErrorCodeError(u16);

impl ErrorCode {
    /// 400
    pub const BAD_REQUEST: ErrorCode = ErrorCode(400);
    /// 401
    pub const UNAUTHORIZED: ErrorCode = ErrorCode(401);
    /// 403
    pub const FORBIDDEN: ErrorCode = ErrorCode(403);
    /// 404
    pub const NOT_FOUND: ErrorCode = ErrorCode(404);
    /// 405
    pub const METHOD_NOT_ALLOWED: ErrorCode = ErrorCode(405);
    /// 406
    pub const NOT_ACCEPTABLE: ErrorCode = ErrorCode(406);
    /// 409
    pub const CONFLICT: ErrorCode = ErrorCode(409);
    /// 410
    pub const GONE: ErrorCode = ErrorCode(410);
    /// 413
    pub const REQUEST_ENTITY_TOO_LARGE: ErrorCode = ErrorCode(413);
    /// 415
    pub const UNSUPPORTED_MEDIA_TYPE: ErrorCode = ErrorCode(415);
    /// 422
    pub const UNPROCESSABLE_ENTITY: ErrorCode = ErrorCode(422);
    /// 429
    pub const TOO_MANY_REQUESTS: ErrorCode = ErrorCode(429);
    /// 500
    pub const INTERNAL_SERVER_ERROR: ErrorCode = ErrorCode(500);
    /// 502
    pub const BAD_GATEWAY: ErrorCode = ErrorCode(502);
    /// 503
    pub const SERVICE_UNAVAILABLE: ErrorCode = ErrorCode(503);
    /// 504
    pub const GATEWAY_TIMEOUT: ErrorCode = ErrorCode(504);

    /// The code, if it is one of an error.
    pub fn new(code: u16) -> Result<ErrorCode, NotAnErrorCodeError> {
        if (400..=599).contains(&code) { Ok(ErrorCode(code)) } else { Err(NotAnErrorCodeError(code)) }
    }

    /// The number.
    pub fn get(self) -> u16 {
        self.0
    }
}

impl TryFrom<u16> for ErrorCode {
    type Error = NotAnErrorCodeError;
    fn try_from(code: u16) -> Result<ErrorCode, NotAnErrorCodeError> {
        ErrorCode::new(code)
    }
}

impl From<ErrorCode> for u16 {
    fn from(code: ErrorCode) -> u16 {
        code.0
    }
}

/// A failure, as `kind: Status` of `v1` with `status: Failure`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// `Status`
    pub kind: String,
    /// `v1`
    pub api_version: String,
    /// Empty; clients expect it to be there.
    pub metadata: EmptyMeta,
    /// `Failure`
    pub status: String,
    /// What clients print.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// The machine-readable reason: `NotFound`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// What it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<StatusDetails>,
    /// The HTTP code.
    pub code: ErrorCode,
}

/// `{}`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EmptyMeta {}

/// What a [`Status`] is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StatusDetails {
    /// The object's name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The object's group.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// The kind in 422, the plural in 403, 404 and 409.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// The object's uid.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub uid: String,
    /// One for each problem.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<StatusCause>,
    /// When to try again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_seconds: Option<u32>,
}

/// One problem.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusCause {
    /// `FieldValueInvalid`
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// What is wrong.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// The field: `spec.bucket`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub field: String,
}

/// Bytes of a piece of a request that a failure repeats: a message is for people.
const MAX_SHOWN: usize = 1024;
/// The field is an int32: a client in Go cannot read a Status with more, and shows none of it.
const MAX_RETRY_AFTER: u32 = i32::MAX.unsigned_abs();

/// Bytes of a failure's message: as much as anybody scrolls through.
const MAX_MESSAGE: usize = 32 * 1024;

/// Causes of a failure, as many as a validation lists.
const MAX_CAUSES: usize = 256;

/// A text as far as a failure repeats it.
pub fn shown(text: &str) -> Cow<'_, str> {
    match cut(text, MAX_SHOWN) {
        None => Cow::Borrowed(text),
        Some(beginning) => Cow::Owned(format!("{beginning}...")),
    }
}

/// The beginning of a text that is too long.
fn cut(text: &str, most: usize) -> Option<&str> {
    (text.len() > most).then(|| text.get(..text.floor_char_boundary(most)).unwrap_or_default())
}

fn shorten(text: &mut String, most: usize) {
    if let Some(beginning) = cut(text, most) {
        *text = format!("{beginning}...");
    }
}

/// INVARIANT: whatever a client sends, a failure stays small: [`Status::new`] and [`Status::with_details`] see to it.
impl Status {
    /// A failure without details.
    pub fn new(code: ErrorCode, reason: impl Into<String>, message: impl Into<String>) -> Status {
        let mut message = message.into();
        shorten(&mut message, MAX_MESSAGE);
        Status {
            kind: "Status".into(),
            api_version: "v1".into(),
            metadata: EmptyMeta {},
            status: "Failure".into(),
            message,
            reason: reason.into(),
            details: None,
            code,
        }
    }

    /// The same with details.
    #[must_use]
    pub fn with_details(self, mut details: StatusDetails) -> Status {
        for text in [&mut details.name, &mut details.group, &mut details.kind, &mut details.uid] {
            shorten(text, MAX_SHOWN);
        }
        details.causes.truncate(MAX_CAUSES);
        for cause in &mut details.causes {
            // A message of an EphemeralSchema's own may have 5 KiB, and the rule's words around it.
            shorten(&mut cause.message, 8 * MAX_SHOWN);
            shorten(&mut cause.field, MAX_SHOWN);
        }
        details.retry_after_seconds = details.retry_after_seconds.map(|after| after.clamp(1, MAX_RETRY_AFTER));
        Status { details: Some(details), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn when_to_try_again_is_later_and_fits_an_int32() {
        for (told, read) in [(0, 1), (30, 30), (u32::MAX, 2_147_483_647)] {
            let details = StatusDetails { retry_after_seconds: Some(told), ..StatusDetails::default() };
            let status = Status::new(ErrorCode::TOO_MANY_REQUESTS, "TooManyRequests", "").with_details(details);
            assert_eq!(status.details.and_then(|details| details.retry_after_seconds), Some(read));
        }
    }

    #[test]
    fn only_errors_are_error_codes() {
        assert_eq!(ErrorCode::new(201), Err(NotAnErrorCodeError(201)));
        assert_eq!(ErrorCode::new(600), Err(NotAnErrorCodeError(600)));
        assert_eq!(ErrorCode::new(404).map(ErrorCode::get), Ok(404));
    }

    #[test]
    fn a_status_is_small_whatever_it_is_made_of() {
        let huge = || "é".repeat(1 << 20);
        let cause = StatusCause { reason: "X".into(), message: huge(), field: huge() };
        let details = StatusDetails {
            name: huge(),
            group: huge(),
            kind: huge(),
            causes: vec![cause; 300],
            ..StatusDetails::default()
        };
        let status = Status::new(ErrorCode::BAD_REQUEST, "BadRequest", huge()).with_details(details);
        assert!(status.message.len() < 33 * 1024 && status.message.ends_with("é..."));
        assert_eq!(status.details.as_ref().unwrap().causes.len(), 256);
        assert!(serde_json::to_string(&status).unwrap().len() < 3 << 20);
        assert_eq!(shown("short"), "short");
        assert_eq!(shown(&huge()).len(), 1024 + 3);
    }

    #[test]
    fn a_status_is_written_as_kubernetes_writes_it() {
        let status = Status::new(ErrorCode::NOT_FOUND, "NotFound", "pods \"x\" not found")
            .with_details(StatusDetails { name: "x".into(), kind: "pods".into(), ..StatusDetails::default() });
        assert_eq!(
            serde_json::to_string(&status).unwrap(),
            r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"pods \"x\" not found","reason":"NotFound","details":{"name":"x","kind":"pods"},"code":404}"#
        );
    }
}
