//! The commands, each a thin use of the layers below.
//!
//! Absent: anything that a library user would want.
pub mod crds;

use std::process::ExitCode;

/// Runs the command line.
pub fn main() -> ExitCode {
    ExitCode::SUCCESS
}
