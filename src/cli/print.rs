//! Answers, errors and warnings as people and scripts read them: kubectl's words where it has some.
//!
//! Absent: diagnostics in the author's text (storage's manifest renders them).
use std::io::{self, IsTerminal as _, Write as _};

use crate::api::Status;

/// Whether standard error shows colours: a terminal, and nobody asked for none (no-color.org).
pub(crate) fn colour_on_stderr() -> bool {
    io::stderr().is_terminal() && !no_colour()
}

/// The same for standard output.
pub(crate) fn colour_on_stdout() -> bool {
    io::stdout().is_terminal() && !no_colour()
}

fn no_colour() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}

/// Bytes to standard output. A reader that went away (`| head`) is no error worth words.
pub(crate) fn stdout(bytes: &[u8]) {
    let _ = io::stdout().lock().write_all(bytes);
}

/// A line, or several, to standard error.
pub(crate) fn error_line(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", text.trim_end_matches('\n'));
}

/// `Warning: unknown field "spec.x"`
pub(crate) fn warning(text: &str) {
    let label = if colour_on_stderr() { "\x1b[33;1mWarning:\x1b[0m" } else { "Warning:" };
    error_line(&format!("{label} {text}"));
}

/// A failed create as kubectl prints it; `source` is the file.
pub(crate) fn status(status: &Status, source: &str) -> String {
    let details = status.details.clone().unwrap_or_default();
    if status.reason != "Invalid" || details.causes.is_empty() {
        let reason = if status.reason.is_empty() { String::new() } else { format!(" ({})", status.reason) };
        return format!("Error from server{reason}: error when creating {source:?}: {}", status.message);
    }
    let subject = format!("The {} {:?} is invalid: ", details.kind, details.name);
    match details.causes.as_slice() {
        [cause] => format!("{subject}{}: {}", cause.field, cause.message),
        causes => causes.iter().fold(subject, |text, cause| format!("{text}\n* {}: {}", cause.field, cause.message)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::{ErrorCode, StatusCause, StatusDetails};

    fn invalid(fields: &[&str]) -> Status {
        let cause = |field: &&str| StatusCause {
            field: (*field).into(),
            message: "Required value".into(),
            ..StatusCause::default()
        };
        Status::new(ErrorCode::UNPROCESSABLE_ENTITY, "Invalid", "long").with_details(StatusDetails {
            kind: "BucketInfo".into(),
            name: "q1".into(),
            causes: fields.iter().map(cause).collect(),
            ..StatusDetails::default()
        })
    }

    #[test]
    fn failures_read_as_in_kubectl() {
        let not_found = Status::new(ErrorCode::NOT_FOUND, "NotFound", "pods \"x\" not found");
        assert_eq!(
            status(&not_found, "f.yaml"),
            "Error from server (NotFound): error when creating \"f.yaml\": pods \"x\" not found"
        );
        assert_eq!(status(&invalid(&["spec.a"]), "f.yaml"), "The BucketInfo \"q1\" is invalid: spec.a: Required value");
        assert_eq!(
            status(&invalid(&["spec.a", "spec.b"]), "f.yaml"),
            "The BucketInfo \"q1\" is invalid: \n* spec.a: Required value\n* spec.b: Required value"
        );
    }
}
