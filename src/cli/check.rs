//! `celandine check`: everything static about schemas, in the author's own text, before they are deployed.
//!
//! Absent: what is wrong with a schema (engine), how it is shown (storage).
use std::path::{Path, PathBuf};

use super::{CliError, chain, load, print};
use crate::{
    engine::diagnostic::Severity,
    storage::directory::{Directory, Finding},
};

const EXAMPLES: &str = "\
Examples:
  # Every mistake of every schema in a directory, typed against the CRDs beside them
  celandine check examples

  # What concerns one file; its neighbours are read for the kinds that they define
  celandine check examples/bucketinfo.yaml

Warnings do not fail the command; errors do.";

/// The arguments of `celandine check`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Directories or files
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
}

/// Prints all diagnostics; fails if one is an error.
pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let (mut errors, mut warnings) = (0, 0);
    for path in &args.paths {
        for finding in findings(path)? {
            print::error_line(&finding.render(load::colour()));
            match finding.severity() {
                Severity::Error => errors += 1,
                Severity::Warning => warnings += 1,
            }
        }
    }
    print::stdout(format!("{}, {}\n", count(errors, "error"), count(warnings, "warning")).as_bytes());
    if errors == 0 { Ok(()) } else { Err(CliError::Reported) }
}

/// The findings of a directory, or those about one of its files.
fn findings(path: &Path) -> Result<Vec<Finding>, CliError> {
    let fail = |error| CliError::Message(chain(&error));
    if path.is_dir() {
        return Ok(Directory::load(path).map_err(fail)?.1.findings);
    }
    // A bare name is `./name`, as its directory calls it.
    let path = &if path.components().count() == 1 { Path::new(".").join(path) } else { path.to_owned() };
    let layers = [path.parent().unwrap_or(path).to_owned(), path.to_owned()];
    let (_, report) = Directory::overlay(&layers).map_err(fail)?;
    let shown = path.display().to_string();
    Ok(report.findings.into_iter().filter(|finding| finding.file_name() == shown).collect())
}

fn count(number: usize, word: &str) -> String {
    if number == 1 { format!("1 {word}") } else { format!("{number} {word}s") }
}
