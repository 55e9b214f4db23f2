//! HTTP calls: templates to one encoded request, a body to the value that expressions see.
//!
//! Absent: making the call, whether a policy allows it (storage).
use std::sync::Arc;

use cel::Value;

use crate::engine::{
    diagnostic::FieldPath,
    limits::{MAX_CALL_BODY_BYTES, MAX_URL_BYTES},
    need::{self, Need},
    outcome::ExpressionFailure,
    plan::{Call, Read, Source, Template, Text},
    run::{Runner, Stop, scalar_text},
    schema::{FieldError, admit_bounded, to_cel, validate},
    url,
};

/// The request, every value encoded for its place.
pub(super) fn need(runner: &mut Runner, call: &Call) -> Result<Need, Stop> {
    let failure = |field: &str, message: &str| ExpressionFailure {
        path: call.path.field(field),
        message: message.to_owned(),
        at: None,
    };
    let mut target = call.origin.to_string();
    for segment in &call.segments {
        let text = runner.encoded(segment, url::encode)?;
        if matches!(segment, Text::Parts(_)) && url::changes_shape(&text) {
            return Err(failure("url", "a path segment is empty, `.` or `..`").into());
        }
        target.push('/');
        target.push_str(&text);
        short(call, &target)?;
    }
    let mut separator = '?';
    for (name, template) in &call.query {
        let Some(value) = parameter(runner, template, &call.path.field("query").field(name))? else { continue };
        target.push(separator);
        target.push_str(&url::encode(name));
        target.push('=');
        // Before it is encoded, which makes it three times as long.
        if value.len() > MAX_URL_BYTES {
            return Err(too_long(call));
        }
        target.push_str(&url::encode(&value));
        short(call, &target)?;
        separator = '&';
    }
    let mut headers = Vec::with_capacity(call.headers.len());
    for (name, template) in &call.headers {
        let path = call.path.field("headers").field(name);
        let Some(value) = parameter(runner, template, &path)? else { continue };
        if value.len() > MAX_URL_BYTES {
            let message = format!("the value of a header field has at most {MAX_URL_BYTES} bytes");
            return Err(ExpressionFailure { path, message, at: None }.into());
        }
        if !value.bytes().all(|b| b == b'\t' || (0x20..0x7f).contains(&b)) {
            let message = "the value of a header field is visible ASCII".to_owned();
            return Err(ExpressionFailure { path, message, at: None }.into());
        }
        // Whoever receives it drops such spaces: it would get another value than was compared and allowed.
        if value.starts_with([' ', '\t']) || value.ends_with([' ', '\t']) {
            let message = "the value of a header field neither begins nor ends with a space".to_owned();
            return Err(ExpressionFailure { path, message, at: None }.into());
        }
        headers.push((name.clone(), value));
    }
    let body = match &call.body {
        None => None,
        Some(template) => {
            let value = runner.template(template)?.unwrap_or(Value::Null);
            let text = serde_json::to_string(&value).map_err(|_| failure("body", "it cannot be written as JSON"))?;
            if text.len() > MAX_CALL_BODY_BYTES {
                return Err(failure("body", "it is larger than a request may be").into());
            }
            runner.made(text.len(), &call.path.field("body"))?;
            Some(text.into())
        }
    };
    Ok(Need::Call(Box::new(need::Call {
        policy: call.policy.clone(),
        method: call.method.clone(),
        url: target.into(),
        headers,
        body,
        format: call.format,
        pagination: call.pagination.clone(),
        ttl_seconds: call.ttl_seconds,
    })))
}

/// No call of a longer URL is ever made, and with `forEach` there may be many.
fn short(call: &Call, target: &str) -> Result<(), Stop> {
    if target.len() > MAX_URL_BYTES { Err(too_long(call)) } else { Ok(()) }
}

fn too_long(call: &Call) -> Stop {
    let message = format!("a URL has at most {MAX_URL_BYTES} bytes");
    ExpressionFailure { path: call.path.field("url"), message, at: None }.into()
}

/// The text of a parameter; `None` where an absent optional leaves it out.
fn parameter(runner: &mut Runner, template: &Template, path: &FieldPath) -> Result<Option<Arc<str>>, Stop> {
    let Some(value) = runner.template(template)? else { return Ok(None) };
    let wrong = || ExpressionFailure {
        path: path.clone(),
        message: "the value must be a string, number, bool or time".to_owned(),
        at: None,
    };
    scalar_text(&value).map(Some).ok_or_else(|| wrong().into())
}

/// What a body means to expressions: selected, validated, typed.
///
/// # Errors
/// For the caller: which field of the answer does not fit, without its value.
pub(super) fn answer(source: &Source, body: Value) -> Result<Value, String> {
    let Read::Call(call) = &source.read else { return Ok(body) };
    let value = match &call.select {
        Some(selection) => selection.of(&body)?,
        None => body,
    };
    let Some(schema) = &call.schema else { return Ok(value) };
    let (value, _) =
        admit_bounded(schema, value).map_err(|error| format!("the answer does not fit the schema: {error}"))?;
    let errors = validate(schema, &value, &FieldPath::root().field("answer"));
    match errors.first() {
        None => Ok(to_cel(schema, &value)),
        Some(FieldError { field, reason, .. }) => {
            Err(format!("the answer does not fit the schema: {field}: {}", reason.as_str()))
        }
    }
}
