//! The failures that the server itself finds, in kube-apiserver's words.
//!
//! Absent: the failures of a create (storage), writing them (reply).
use crate::{
    api::{ErrorCode, Status, StatusCause, StatusDetails},
    engine::schema::FieldError,
    server::body::BodyError,
};

/// Longest piece of a request that a message repeats.
const MAX_ECHO: usize = 200;

/// A piece of a request, cut to a length that a message may repeat.
pub fn echo(text: &str) -> String {
    match text.char_indices().nth(MAX_ECHO) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// 400
pub fn bad_request(message: impl Into<String>) -> Status {
    Status::new(ErrorCode::BAD_REQUEST, "BadRequest", message)
}

/// 403 on a resource, or an object of it. `why` is everything after the colon.
pub fn forbidden(group: &str, resource: &str, name: &str, why: &str) -> Status {
    let named = if name.is_empty() { String::new() } else { format!(" \"{}\"", echo(name)) };
    let message = format!("{}{named} is forbidden: {why}", qualified(resource, group));
    Status::new(ErrorCode::FORBIDDEN, "Forbidden", message).with_details(details(group, resource, name))
}

/// 403 on a path. `why` is everything after the colon.
pub fn forbidden_path(why: &str) -> Status {
    Status::new(ErrorCode::FORBIDDEN, "Forbidden", format!("forbidden: {why}")).with_details(StatusDetails::default())
}

/// 404 of an object.
pub fn not_found(group: &str, resource: &str, name: &str) -> Status {
    let message = format!("{} \"{}\" not found", qualified(resource, group), echo(name));
    Status::new(ErrorCode::NOT_FOUND, "NotFound", message).with_details(details(group, resource, name))
}

/// 404 of a path or resource.
pub fn no_such_resource() -> Status {
    Status::new(ErrorCode::NOT_FOUND, "NotFound", "the server could not find the requested resource")
        .with_details(StatusDetails::default())
}

/// 404 of what runs behind an object: logs, exec, scale.
pub fn no_subresource(group: &str, resource: &str, subresource: &str) -> Status {
    let message = format!(
        "the server could not find the requested resource: {}/{} is not served, since this server only reads objects and \
         runs none",
        qualified(resource, group),
        echo(subresource)
    );
    Status::new(ErrorCode::NOT_FOUND, "NotFound", message).with_details(StatusDetails::default())
}

/// 405 of a path.
pub fn method_not_allowed() -> Status {
    let message = "the server does not allow this method on the requested resource";
    Status::new(ErrorCode::METHOD_NOT_ALLOWED, "MethodNotAllowed", message).with_details(StatusDetails::default())
}

/// 405 of a kind that can only be created.
pub fn create_only(group: &str, resource: &str) -> Status {
    let message = format!(
        "{} is create-only: use 'kubectl create -f FILE -o yaml'. The answer comes in the create response and nothing \
         is stored, so get, list, watch, apply, patch and delete are not served",
        qualified(resource, group)
    );
    Status::new(ErrorCode::METHOD_NOT_ALLOWED, "MethodNotAllowed", message).with_details(details(group, resource, ""))
}

/// 405 of a kind whose objects come from elsewhere. `done` is `created`, `patched`, ...
pub fn read_only(group: &str, resource: &str, done: &str) -> Status {
    let message = format!(
        "{} cannot be {done} through this server, which only reads them: change the files of the workspace (or the cluster \
         that they come from) instead",
        qualified(resource, group)
    );
    Status::new(ErrorCode::METHOD_NOT_ALLOWED, "MethodNotAllowed", message).with_details(details(group, resource, ""))
}

/// 406
pub fn not_acceptable(served: &str) -> Status {
    let message = format!("only the following media types are accepted: {served}");
    Status::new(ErrorCode::NOT_ACCEPTABLE, "NotAcceptable", message)
}

/// 415
pub fn unsupported_media_type(served: &str) -> Status {
    let message = format!("the body of the request was in an unknown format - accepted media types include: {served}");
    Status::new(ErrorCode::UNSUPPORTED_MEDIA_TYPE, "UnsupportedMediaType", message)
}

/// 413
pub fn too_large(message: impl Into<String>) -> Status {
    Status::new(ErrorCode::REQUEST_ENTITY_TOO_LARGE, "RequestEntityTooLarge", message)
}

/// 429 of the server itself.
pub fn too_many_requests() -> Status {
    let details = StatusDetails { retry_after_seconds: Some(1), ..StatusDetails::default() };
    Status::new(ErrorCode::TOO_MANY_REQUESTS, "TooManyRequests", "Too many requests, please try again later.")
        .with_details(details)
}

/// 410: the change history does not reach back so far.
pub fn expired(message: impl Into<String>) -> Status {
    Status::new(ErrorCode::GONE, "Expired", message)
}

/// 504
pub fn timeout() -> Status {
    let message = "Timeout: request did not complete within the allotted timeout";
    Status::new(ErrorCode::GATEWAY_TIMEOUT, "Timeout", message).with_details(StatusDetails::default())
}

/// 500: a defect of ours.
pub fn internal(message: &str) -> Status {
    let cause = StatusCause { message: message.to_owned(), ..StatusCause::default() };
    let details = StatusDetails { causes: vec![cause], ..StatusDetails::default() };
    Status::new(ErrorCode::INTERNAL_SERVER_ERROR, "InternalError", format!("Internal error occurred: {message}"))
        .with_details(details)
}

/// `bucketinfos.storage.acme.example`, or `pods`
pub fn qualified(resource: &str, group: &str) -> String {
    if group.is_empty() { echo(resource) } else { format!("{}.{}", echo(resource), echo(group)) }
}

fn details(group: &str, resource: &str, name: &str) -> StatusDetails {
    StatusDetails { name: echo(name), group: echo(group), kind: echo(resource), ..StatusDetails::default() }
}

/// 400, 408 or 413: the body was not read.
pub fn body(error: &BodyError) -> Status {
    match error {
        BodyError::TooLarge(_) => too_large(error.to_string()),
        BodyError::Timeout(_) => {
            let code = ErrorCode::new(408).unwrap_or(ErrorCode::BAD_REQUEST);
            Status::new(code, "Timeout", error.to_string())
        }
        BodyError::Broken(_) => bad_request(error.to_string()),
    }
}

/// 422 with a cause each.
pub fn invalid(group: &str, kind: &str, name: &str, errors: &[FieldError]) -> Status {
    let texts: Vec<_> = errors.iter().map(ToString::to_string).collect();
    let text = match texts.as_slice() {
        [one] => one.clone(),
        many => format!("[{}]", many.join(", ")),
    };
    let causes = errors.iter().map(|e| StatusCause {
        reason: e.reason.as_str().to_owned(),
        message: e.message.clone(),
        field: e.field.clone(),
    });
    let details = StatusDetails { causes: causes.collect(), ..details(group, kind, name) };
    let message = format!("{} \"{}\" is invalid: {text}", qualified(kind, group), echo(name));
    Status::new(ErrorCode::UNPROCESSABLE_ENTITY, "Invalid", message).with_details(details)
}
