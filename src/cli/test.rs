//! `celandine test`: golden tests from the command line.
//!
//! Absent: how they are run (golden).
use std::path::PathBuf;

use super::{
    CliError,
    golden::{self, Options},
    print,
};

const EXAMPLES: &str = "\
Examples:
  # All suites of tests/golden
  celandine test

  # One suite, one case
  celandine test tests/golden/bucketinfo
  celandine test tests/golden/bucketinfo/missing-bucket

  # Write down what is answered now; review it with git diff
  celandine test --update

  # Call the services for real and keep what they answer in http/recorded.yaml of each case
  celandine test --record --update tests/golden/usagereport/one-day

A suite is a directory with a suite.yaml or schema.yaml, a workspace/ of objects and a directory for each
case: input.yaml, expected.yaml and, where needed, case.yaml (user, groups, time, dryRun, workspace,
namespace, fieldValidation, contentType) and a workspace/ of its own.

Nothing leaves: calls of HTTP sources are answered by http/*.yaml of the case, then of the suite. A call
without a fixture fails the case and shows the fixture that it lacks; so does a fixture without a call.

  request:
    url: https://metrics.acme.example/api/v1/query_range
    query: {query: up, step: 3600}        # in any order; method, headers and body where they matter
  response:
    status: 200
    bodyJSON: {status: success}           # or body; or failure: refused, reset, timeout, truncated,
                                          # badTLS or resolve";

/// The arguments of `celandine test`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Suites, directories of suites, or single cases
    #[arg(value_name = "PATH", default_value = "tests/golden")]
    paths: Vec<PathBuf>,
    /// Rewrite what is expected instead of comparing
    #[arg(long)]
    update: bool,
    /// Make the calls that no fixture answers, and write fixtures of them, without credentials
    #[arg(long)]
    record: bool,
}

/// Runs the tests; fails on a difference.
pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let options = Options { update: args.update, record: args.record, colour: print::colour_on_stdout() };
    let report = golden::run(&args.paths, options).map_err(|error| CliError::Message(super::chain(&error)))?;
    print::stdout(report.text.as_bytes());
    if report.failed == 0 { Ok(()) } else { Err(CliError::Reported) }
}
