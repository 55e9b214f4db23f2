//! Directories, loaded for one command; what is wrong with them is printed.
//!
//! Absent: what directories mean (storage).
use std::{path::Path, sync::Arc};

use super::{CliError, chain, print};
use crate::storage::{
    directory::{Directory, Report},
    manifest::Color,
    workspace::Workspaces,
};

/// The colours of diagnostics on standard error.
pub(crate) fn colour() -> Color {
    if print::colour_on_stderr() { Color::Always } else { Color::Never }
}

/// A directory's workspaces. Findings are printed; those that are errors are fatal only if nothing else can be served.
pub(crate) fn workspaces(directory: &Path) -> Result<Arc<Workspaces>, CliError> {
    let (directory, report) = load(directory)?;
    if report.has_errors() {
        findings(&report);
    }
    Ok(Arc::clone(directory.workspaces()))
}

/// A directory, and what was found in it.
pub(crate) fn load(directory: &Path) -> Result<(Directory, Report), CliError> {
    Directory::load(directory).map_err(|error| CliError::Message(chain(&error)))
}

/// Prints findings.
pub(crate) fn findings(report: &Report) {
    let text = report.render(colour());
    if !text.is_empty() {
        print::error_line(&text);
    }
}

/// The runtime of commands that ask without serving.
pub(crate) fn runtime() -> Result<tokio::runtime::Runtime, CliError> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::Message(format!("cannot start a runtime: {error}")))
}
