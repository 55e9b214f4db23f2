//! The log of a server, on standard error. The one file that knows tracing-subscriber.
//!
//! Absent: what is logged, and findings of schemas, which are shown in the author's text.
use std::io;

use tracing_subscriber::EnvFilter;

use crate::cli::{CliError, print};

/// Logs from now on. `level` is a level, or levels of parts with commas between them.
pub(super) fn begin(level: &str) -> Result<(), CliError> {
    let filter = EnvFilter::builder()
        .parse(level)
        .map_err(|error| CliError::Message(format!("--log-level: `{level}`: {error}")))?;
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_ansi(print::colour_on_stderr())
        .try_init()
        .map_err(|error| CliError::Message(format!("cannot log: {error}")))
}
