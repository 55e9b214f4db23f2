//! The commands, each a thin use of the layers below.
//!
//! | file | command |
//! |---|---|
//! | `create` | `celandine create`: one request without a server |
//! | `serve` | `celandine serve` |
//! | `check` | `celandine check`: everything static about schemas |
//! | `test`, `golden` | `celandine test`: golden tests |
//! | `crds` | `celandine crds`: the generated CRDs |
//! | `load`, `local` | directories and requests without a server |
//! | `print` | answers, errors and diagnostics as people and scripts read them |
//!
//! Absent: anything that a library user would want.
mod check;
pub mod crds;
mod create;
pub mod golden;
mod load;
mod local;
mod print;
mod serve;
mod test;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// What `--help` says at the end.
const EXAMPLES: &str = "\
Examples:
  celandine create -f examples/requests/bucketinfo.yaml --dir examples   ask once, without a server
  celandine serve --dir examples                                         serve a directory to kubectl
  celandine check examples                                               find every mistake in schemas
  celandine test tests/golden                                            run golden tests";

/// A Kubernetes API server for ephemeral resources: created, answered in the create response, never stored.
#[derive(Debug, Parser)]
#[command(name = "celandine", version, after_help = EXAMPLES, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Create ephemeral resources against a directory and print the answers
    Create(create::Args),
    /// Serve a directory of schemas and objects to kubectl
    Serve(serve::Args),
    /// Report everything that is wrong with schemas, before they are deployed
    Check(check::Args),
    /// Run golden tests
    Test(test::Args),
    /// Write the CRDs of Celandine's own kinds
    Crds(crds::Args),
}

/// Why a command failed: what was said already, or what is still to be said.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    /// Everything was printed.
    #[error("")]
    Reported,
    /// A line on stderr.
    #[error("error: {0}")]
    Message(String),
}

/// Runs the command line. 1 tells of a failure, 2 of a command line that makes no sense.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match &cli.command {
        Command::Create(args) => create::run(args),
        Command::Serve(args) => serve::run(args),
        Command::Check(args) => check::run(args),
        Command::Test(args) => test::run(args),
        Command::Crds(args) => crds::run(args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(CliError::Reported) => ExitCode::FAILURE,
        Err(error) => {
            print::error_line(&error.to_string());
            ExitCode::FAILURE
        }
    }
}

/// An error and what it came of, in one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text = format!("{text}: {error}");
        source = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Cli;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_shows_examples() {
        for command in Cli::command().get_subcommands() {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.contains("celandine "), "{} has no examples", command.get_name());
        }
    }
}
