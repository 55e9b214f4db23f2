//! Golden tests: what a create answers, against what a file says that it answers.
//!
//! ```text
//! <suite>/suite.yaml               which files and directories the suite stands on; or
//! <suite>/schema.yaml              the schema itself
//! <suite>/workspace/*.yaml         objects, CRDs, RBAC
//! <suite>/<case>/input.yaml        the body of the request (or input.json)
//! <suite>/<case>/expected.yaml     the answered object, or the Status of the failure; then its warnings
//! <suite>/<case>/case.yaml         who asks, when, ... (optional)
//! <suite>/<case>/workspace/*.yaml  objects of this case, over those of the suite (optional)
//! <suite>/<case>/http/*.yaml       what services answer: request and response, several documents a file
//! <suite>/http/*.yaml              the same for all cases; a case's own come first
//! ```
//!
//! Nothing leaves: a call that no fixture answers fails its case, and so does a fixture that answers no call.
//! The clock stands at [`TIME`] and randomness is none, so that answers stay the same; cases share nothing.
//!
//! Absent: flags (test), what is answered (storage).
mod case;
mod diff;
mod fields;
mod fixture;
mod fixtures;
mod record;
mod settings;
mod suite;

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
};

pub use settings::TIME;

use self::suite::Suite;

/// How golden tests are run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Expectations are rewritten instead of compared.
    pub update: bool,
    /// Calls without a fixture are made, and become fixtures.
    pub record: bool,
    /// Diffs are coloured.
    pub colour: bool,
}

/// What golden tests gave.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Cases whose answer is as expected, rewritten ones included.
    pub passed: usize,
    /// Of these the cases whose expected answers were rewritten.
    pub updated: usize,
    /// The others.
    pub failed: usize,
    /// A line for each case, diffs, and the summary.
    pub text: String,
}

/// Why golden tests could not be run.
#[derive(Debug, thiserror::Error)]
pub enum GoldenError {
    /// A file or directory cannot be read or written.
    #[error("{path}")]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// There is nothing to run.
    #[error("no suites in {0}: a suite is a directory with a suite.yaml or a schema.yaml")]
    Nothing(PathBuf),
    /// A suite without cases.
    #[error("no cases in {0}: a case is a directory with an input.yaml")]
    NoCases(PathBuf),
    /// One case was asked for.
    #[error("there is no case {0}")]
    NoCase(PathBuf),
    /// A suite, or what it stands on, makes no sense.
    #[error("{0}")]
    Broken(String),
    /// No runtime.
    #[error("cannot start a runtime")]
    Runtime(#[source] std::io::Error),
}

impl GoldenError {
    fn file(path: &Path) -> impl FnOnce(std::io::Error) -> GoldenError {
        |source| GoldenError::File { path: path.into(), source }
    }
}

/// Runs the suites (directories of suites, suites, or single cases) in the order of their names.
///
/// # Errors
/// What keeps cases from being run at all. Differences are in the report.
pub fn run(paths: &[PathBuf], options: Options) -> Result<Report, GoldenError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(GoldenError::Runtime)?;
    let mut report = Report::default();
    for path in paths {
        let (suites, only) = find(path)?;
        for suite in suites {
            run_suite(&suite, only.as_deref(), options, &runtime, &mut report)?;
        }
    }
    let updated = if report.updated > 0 { format!(" ({} updated)", report.updated) } else { String::new() };
    let _ = writeln!(report.text, "{} passed{updated}, {} failed", report.passed, report.failed);
    Ok(report)
}

/// Runs a suite, or one case of it. What is wrong with a suite or a case fails it and nothing else.
fn run_suite(
    path: &Path,
    only: Option<&Path>,
    options: Options,
    runtime: &tokio::runtime::Runtime,
    report: &mut Report,
) -> Result<(), GoldenError> {
    let broken = |error: GoldenError| Verdict::Failed(super::chain(&error));
    let suite = match Suite::read(path) {
        Ok(suite) => suite,
        Err(error) => {
            report.add(&file_name(path), &broken(error));
            return Ok(());
        }
    };
    let cases: Vec<PathBuf> =
        suite.cases()?.into_iter().filter(|case| only.is_none_or(|only| *only == **case)).collect();
    if cases.is_empty() {
        if let Some(only) = only {
            return Err(GoldenError::NoCase(only.into()));
        }
        report.add(&suite.name(), &broken(GoldenError::NoCases(path.into())));
        return Ok(());
    }
    // Every case would say it again, unless its own objects put it right.
    if !cases.iter().any(|case| case.join("workspace").is_dir()) {
        let loaded = suite.shared().map_err(|error| super::chain(&error)).and_then(|loaded| loaded.map(drop));
        if let Err(why) = loaded {
            let why = format!("{why}\ncases that were not run: {}", cases.len());
            report.add(&suite.name(), &Verdict::Failed(why));
            return Ok(());
        }
    }
    for case in cases {
        let name = format!("{}/{}", suite.name(), file_name(&case));
        let verdict = runtime.block_on(case::run(&suite, &case, options)).unwrap_or_else(broken);
        report.add(&name, &verdict);
    }
    if only.is_none() {
        for fixture in suite.unused()? {
            let why = "no case used this fixture".to_owned();
            report.add(&format!("{}/{fixture}", suite.name()), &Verdict::Failed(why));
        }
    }
    Ok(())
}

/// What became of one case.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Verdict {
    /// As expected.
    Passed,
    /// The expectation was rewritten.
    Updated,
    /// Otherwise; what to say.
    Failed(String),
}

impl Report {
    fn add(&mut self, name: &str, verdict: &Verdict) {
        let _ = match verdict {
            Verdict::Passed => writeln!(self.text, "ok      {name}"),
            Verdict::Updated => writeln!(self.text, "updated {name}"),
            Verdict::Failed(why) => writeln!(self.text, "FAILED  {name}\n{}", indented(why)),
        };
        match verdict {
            Verdict::Passed => self.passed += 1,
            Verdict::Updated => {
                self.passed += 1;
                self.updated += 1;
            }
            Verdict::Failed(_) => self.failed += 1,
        }
    }
}

fn indented(text: &str) -> String {
    text.trim_end().lines().map(|line| format!("    {line}\n")).collect()
}

/// The suites of a path, and the only case that is meant if the path is a case's.
fn find(path: &Path) -> Result<(Vec<PathBuf>, Option<PathBuf>), GoldenError> {
    if suite::is_suite(path) {
        return Ok((vec![path.into()], None));
    }
    if let Some(parent) = path.parent()
        && suite::is_suite(parent)
    {
        return Ok((vec![parent.into()], Some(path.into())));
    }
    let suites: Vec<PathBuf> = directories(path)?.into_iter().filter(|path| suite::is_suite(path)).collect();
    if suites.is_empty() { Err(GoldenError::Nothing(path.into())) } else { Ok((suites, None)) }
}

/// The directories in a directory, by name.
fn directories(path: &Path) -> Result<Vec<PathBuf>, GoldenError> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(path).map_err(GoldenError::file(path))? {
        let entry = entry.map_err(GoldenError::file(path))?.path();
        if entry.is_dir() {
            found.push(entry);
        }
    }
    found.sort();
    Ok(found)
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
