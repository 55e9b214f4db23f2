//! `celandine crds`: writes the CustomResourceDefinitions, or checks that those written are not stale.
//!
//! Absent: what is in them (api).
use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::{CliError, chain, print};
use crate::api;

const EXAMPLES: &str = "\
Examples:
  # Write crds/*.yaml
  celandine crds

  # Fail if they are not what the types say
  celandine crds --check";

/// The arguments of `celandine crds`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Directory of the files
    #[arg(value_name = "DIR", default_value = "crds")]
    directory: PathBuf,
    /// Only compare
    #[arg(long)]
    check: bool,
}

/// Writes or compares, and names the files.
pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let files = crds(&args.directory, args.check).map_err(|error| CliError::Message(chain(&error)))?;
    let verb = if args.check { "up to date" } else { "written" };
    print::stdout(files.iter().map(|file| format!("{file} {verb}\n")).collect::<String>().as_bytes());
    Ok(())
}

/// Why the CRDs were not written, or are not right.
#[derive(Debug, thiserror::Error)]
pub enum CrdsError {
    /// A file could not be read or written.
    #[error("`{path}`")]
    File {
        /// The file.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// Files do not say what the types say.
    #[error("stale: {}; run `celandine crds`", .0.join(", "))]
    Stale(Vec<String>),
}

/// Writes the CRDs into a directory, or with `check` only compares; returns the files.
pub fn crds(directory: &Path, check: bool) -> Result<Vec<String>, CrdsError> {
    let file = |path: &Path, source| CrdsError::File { path: path.display().to_string(), source };
    let mut files = vec![];
    let mut stale = vec![];
    if !check {
        fs::create_dir_all(directory).map_err(|e| file(directory, e))?;
    }
    for (name, text) in api::crds() {
        let path = directory.join(name);
        if !check {
            fs::write(&path, text).map_err(|e| file(&path, e))?;
        } else if fs::read_to_string(&path).map_or(true, |written| written != text) {
            stale.push(path.display().to_string());
        }
        files.push(path.display().to_string());
    }
    if stale.is_empty() { Ok(files) } else { Err(CrdsError::Stale(stale)) }
}
