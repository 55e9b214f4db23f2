//! Every reason why a create has no answer, as the Status that the client gets: whose fault it is decides the code.
//!
//! Absent: the protocol's own errors (server: 401, 405, 406, ...), the log.
use super::{decode::DecodeError, strategy::Refusal};
use crate::{
    api::{ErrorCode, Status, StatusCause, StatusDetails, shown},
    engine::{
        need::Resource,
        outcome::{ExpressionFailure, Failure},
        schema::{FieldError, field_error::quote},
    },
};

/// What a failure is about.
#[derive(Clone, Copy, Debug)]
pub struct About<'a> {
    /// The group of the ephemeral kind.
    pub group: &'a str,
    /// The ephemeral kind.
    pub kind: &'a str,
    /// Its plural.
    pub plural: &'a str,
    /// The object's name; empty where it has none.
    pub name: &'a str,
}

/// The Status of an object that is refused before its projection is looked at.
pub fn refused(refusal: &Refusal) -> Status {
    let bad_request = || Status::new(ErrorCode::BAD_REQUEST, "BadRequest", refusal.to_string());
    match refusal {
        Refusal::Decode(DecodeError::UnknownFormat) => {
            Status::new(ErrorCode::UNSUPPORTED_MEDIA_TYPE, "UnsupportedMediaType", refusal.to_string())
        }
        Refusal::Decode(DecodeError::TooLarge) => too_large(),
        Refusal::Decode(DecodeError::Unrecognized { .. }) => bad_request(),
        Refusal::Unfit { .. } | Refusal::Version { .. } | Refusal::Namespace => bad_request(),
        Refusal::Invalid { kind, group, name, errors } => invalid(group, kind, name, errors),
        Refusal::Unfinished => internal(StatusCause::default(), &refusal.to_string()),
    }
}

/// 413, as kube-apiserver words it.
pub fn too_large() -> Status {
    Status::new(
        ErrorCode::REQUEST_ENTITY_TOO_LARGE,
        "RequestEntityTooLarge",
        format!("Request entity too large: {}", DecodeError::TooLarge),
    )
}

/// The Status of an evaluation that gave no answer; `plural` knows the plurals of kinds.
pub fn failed(about: &About<'_>, failure: &Failure, plural: &dyn Fn(&Resource) -> String) -> Status {
    match failure {
        Failure::Invalid(errors) => invalid(about.group, about.kind, about.name, errors),
        Failure::Missing { resource, name, .. } => {
            let group = resource.api_version.split_once('/').map_or("", |(group, _)| group);
            not_found(group, &plural(resource), name)
        }
        Failure::Forbidden { message, .. } => forbidden(about, message),
        Failure::Expression(expression) => expression_failed(expression),
        Failure::Source { source, message } => source_failed(source, message),
        Failure::Busy { source, message, retry_after_seconds } => busy(source, message, *retry_after_seconds),
        Failure::Timeout { pending } => timed_out(pending.iter().map(|source| &**source)),
    }
}

/// 422 with a cause each.
fn invalid(group: &str, kind: &str, name: &str, errors: &[FieldError]) -> Status {
    let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
    let text = match texts.as_slice() {
        [one] => one.clone(),
        many => format!("[{}]", many.join(", ")),
    };
    let qualified = if group.is_empty() { kind.to_owned() } else { format!("{kind}.{group}") };
    let message = format!("{qualified} \"{}\" is invalid: {text}", shown(name));
    let causes = errors.iter().map(|error| StatusCause {
        reason: error.reason.as_str().into(),
        message: error.message.clone(),
        field: error.field.clone(),
    });
    Status::new(ErrorCode::UNPROCESSABLE_ENTITY, "Invalid", message).with_details(StatusDetails {
        name: name.into(),
        group: group.into(),
        kind: kind.into(),
        causes: causes.collect(),
        ..StatusDetails::default()
    })
}

/// 404 that names the object which is not there.
fn not_found(group: &str, plural: &str, name: &str) -> Status {
    let qualified = if group.is_empty() { plural.to_owned() } else { format!("{plural}.{group}") };
    Status::new(ErrorCode::NOT_FOUND, "NotFound", format!("{qualified} {} not found", quote(name))).with_details(
        StatusDetails { name: name.into(), group: group.into(), kind: plural.into(), ..StatusDetails::default() },
    )
}

/// 403 about what is created, saying which read of it was refused.
fn forbidden(about: &About<'_>, message: &str) -> Status {
    Status::new(ErrorCode::FORBIDDEN, "Forbidden", message).with_details(StatusDetails {
        name: about.name.into(),
        group: about.group.into(),
        kind: about.plural.into(),
        ..StatusDetails::default()
    })
}

/// 500: the author's fault; the cause has the field of the schema, which the consumer can hand on.
fn expression_failed(failure: &ExpressionFailure) -> Status {
    let at = failure.at.as_ref().map(|at| format!(" (at `{at}`)")).unwrap_or_default();
    let text = format!("evaluating {}: {}{at}", failure.path, failure.message);
    internal(
        StatusCause {
            reason: "ExpressionFailed".into(),
            message: format!("{}{at}", failure.message),
            field: failure.path.to_string(),
        },
        &text,
    )
}

/// 500 as kube-apiserver words it.
pub fn internal(cause: StatusCause, text: &str) -> Status {
    Status::new(ErrorCode::INTERNAL_SERVER_ERROR, "InternalError", format!("Internal error occurred: {text}"))
        .with_details(StatusDetails { causes: vec![cause], ..StatusDetails::default() })
}

/// 502: a backend's fault.
fn source_failed(source: &str, message: &str) -> Status {
    Status::new(ErrorCode::BAD_GATEWAY, "SourceFailed", format!("source {source} failed: {message}")).with_details(
        StatusDetails {
            causes: vec![StatusCause { reason: "SourceFailed".into(), message: message.into(), field: source.into() }],
            ..StatusDetails::default()
        },
    )
}

/// 429 without a Retry-After header: clients would sleep and repeat, and the limit is not theirs alone.
fn busy(source: &str, message: &str, retry_after_seconds: Option<u64>) -> Status {
    let text = format!("source {source} cannot be asked at the moment: {message}");
    Status::new(ErrorCode::TOO_MANY_REQUESTS, "TooManyRequests", text).with_details(StatusDetails {
        causes: vec![StatusCause { reason: "SourceBusy".into(), message: message.into(), field: source.into() }],
        // Where nobody knows, soon: a 429 always says when.
        retry_after_seconds: Some(retry_after_seconds.map_or(1, |seconds| u32::try_from(seconds).unwrap_or(u32::MAX))),
        ..StatusDetails::default()
    })
}

/// 504, naming what was still pending.
pub fn timed_out<'a>(pending: impl Iterator<Item = &'a str>) -> Status {
    let causes = pending.map(|source| StatusCause {
        reason: "Pending".into(),
        message: "was still pending when the deadline passed".into(),
        field: source.into(),
    });
    Status::new(ErrorCode::GATEWAY_TIMEOUT, "Timeout", "Timeout: request did not complete within the allotted timeout")
        .with_details(StatusDetails { causes: causes.collect(), ..StatusDetails::default() })
}
