//! Fixtures made of what backends answered.
//!
//! INVARIANT: no credentials are written: requests are seen without them, and an answer that holds them is refused.
//! Absent: making the calls (storage).
use std::path::Path;

use bytes::Bytes;
use http::{Request, Response};

use super::{
    GoldenError,
    fixture::{object, request_value, response_value},
};
use crate::storage::{egress::EgressError, encode};

/// The file of a case's `http/` that holds what was recorded; all others are the author's.
pub(super) const FILE: &str = "recorded.yaml";

/// A call that was made.
#[derive(Clone, Debug)]
pub(super) struct Recorded {
    pub(super) request: Request<Bytes>,
    pub(super) answer: Result<Response<Bytes>, EgressError>,
    /// Whether the answer holds the policy's credentials.
    pub(super) has_credentials: bool,
}

/// Writes the fixtures of a case, instead of those recorded before. Gives what could not be written.
pub(super) fn write(case: &Path, mut recorded: Vec<Recorded>) -> Result<Vec<String>, GoldenError> {
    // Independent calls are made in no order; those to one URL in theirs.
    recorded.sort_by_key(|recorded| recorded.request.uri().to_string());
    let mut problems = vec![];
    let mut text = String::new();
    for Recorded { request, answer, has_credentials } in &recorded {
        let (method, path) = (request.method(), request.uri().path());
        if *has_credentials {
            problems.push(format!(
                "the answer to {method} {path} holds the credentials of its policy and is not recorded; write its fixture by hand"
            ));
            continue;
        }
        let Some(response) = response_value(answer) else {
            problems.push(format!("the answer to {method} {path} cannot be written as a fixture"));
            continue;
        };
        let fixture = object([("request".to_owned(), request_value(request)), ("response".to_owned(), response)]);
        let yaml = encode::yaml(&fixture).map_err(|error| GoldenError::Broken(error.to_string()))?;
        if !text.is_empty() {
            text.push_str("---\n");
        }
        text.push_str(&String::from_utf8_lossy(&yaml));
    }
    let folder = case.join("http");
    let file = folder.join(FILE);
    if !text.is_empty() {
        std::fs::create_dir_all(&folder).map_err(GoldenError::file(&folder))?;
        std::fs::write(&file, text).map_err(GoldenError::file(&file))?;
    } else if file.exists() {
        std::fs::remove_file(&file).map_err(GoldenError::file(&file))?;
    }
    Ok(problems)
}
