//! The fixtures of a case: they answer what it calls, and what was missing or not used is told.
//!
//! Of the fixtures that fit a request the first unused one answers, and the last again when all are used: a flapping backend
//! is several fixtures of one request. Fixtures of the case come before those of its suite.
//! Absent: one fixture (fixture), writing them (record).
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use bytes::Bytes;
use http::{Request, Response};

use super::{
    GoldenError,
    fields::Fields,
    file_name,
    fixture::{Fixture, object, request_value},
    record::{self, Recorded},
};
use crate::storage::{
    egress::{EgressError, stand_in::StandIn},
    encode,
};

/// A fixture and where it stands.
#[derive(Clone, Debug)]
struct Placed {
    /// `http/usage.yaml`, `http/usage.yaml (2)`
    place: String,
    fixture: Fixture,
}

/// Fixtures for one case.
#[derive(Debug, Default)]
pub(super) struct Fixtures {
    own: Vec<Placed>,
    shared: Vec<Placed>,
    /// Calls without a fixture are made, and kept.
    records: bool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    used_own: BTreeSet<usize>,
    used_shared: BTreeSet<usize>,
    missing: Vec<String>,
    recorded: Vec<Recorded>,
}

/// What became of the fixtures of a case.
#[derive(Debug, Default)]
pub(super) struct Used {
    /// What is wrong, if anything.
    pub(super) problems: Vec<String>,
    /// Which fixtures of the suite answered.
    pub(super) shared: BTreeSet<usize>,
    /// What backends answered.
    pub(super) recorded: Vec<Recorded>,
}

impl Fixtures {
    /// Reads the fixtures in the `http/` of a suite and of a case. What was recorded before is not read when it is made anew.
    pub(super) fn read(suite: &Path, case: &Path, records: bool) -> Result<Fixtures, GoldenError> {
        let own = placed(&files(case)?, records)?;
        Ok(Fixtures { own, shared: placed(&files(suite)?, false)?, records, state: Mutex::default() })
    }

    /// What became of them; the next case begins anew.
    pub(super) fn take(&self) -> Used {
        let State { used_own, used_shared, missing, recorded } =
            std::mem::take(&mut *self.state.lock().unwrap_or_else(PoisonError::into_inner));
        let unused = self.own.iter().enumerate().filter(|(i, _)| !used_own.contains(i));
        let unused = unused.map(|(_, placed)| format!("the fixture {} was not used", placed.place));
        let problems = missing.into_iter().chain(unused).collect();
        Used { problems, shared: used_shared, recorded }
    }
}

/// The fixtures of a suite that are not among the used ones.
pub(super) fn unused(suite: &Path, used: &BTreeSet<usize>) -> Result<Vec<String>, GoldenError> {
    let all = placed(&files(suite)?, false)?.into_iter().enumerate();
    Ok(all.filter(|(i, _)| !used.contains(i)).map(|(_, placed)| placed.place).collect())
}

/// Whether a suite or a case has fixtures.
pub(super) fn are_in(path: &Path) -> bool {
    path.join("http").is_dir()
}

impl StandIn for Fixtures {
    fn replays(&self) -> bool {
        !self.records
    }

    fn answer(&self, request: &Request<Bytes>) -> Option<Result<Response<Bytes>, EgressError>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = choose(&self.own, &state.used_own, request) {
            state.used_own.insert(index);
            return self.own.get(index).map(|placed| placed.fixture.answer.clone());
        }
        if let Some(index) = choose(&self.shared, &state.used_shared, request) {
            state.used_shared.insert(index);
            return self.shared.get(index).map(|placed| placed.fixture.answer.clone());
        }
        if self.records {
            return None;
        }
        let text = missing(request);
        if !state.missing.contains(&text) {
            state.missing.push(text);
        }
        Some(Err(EgressError::Connect))
    }

    fn saw(&self, request: &Request<Bytes>, answer: &Result<Response<Bytes>, EgressError>, has_credentials: bool) {
        let recorded = Recorded { request: request.clone(), answer: answer.clone(), has_credentials };
        self.state.lock().unwrap_or_else(PoisonError::into_inner).recorded.push(recorded);
    }
}

fn choose(fixtures: &[Placed], used: &BTreeSet<usize>, request: &Request<Bytes>) -> Option<usize> {
    let mut last = None;
    for (index, placed) in fixtures.iter().enumerate() {
        if placed.fixture.fits(request) {
            if !used.contains(&index) {
                return Some(index);
            }
            last = Some(index);
        }
    }
    last
}

/// Says what the fixture of a request would look like.
fn missing(request: &Request<Bytes>) -> String {
    let response = object([("status".to_owned(), cel::Value::Int(200)), ("bodyJSON".to_owned(), object([]))]);
    let fixture = object([("request".to_owned(), request_value(request)), ("response".to_owned(), response)]);
    let text = encode::yaml(&fixture).unwrap_or_default();
    let text = String::from_utf8_lossy(&text).into_owned();
    format!("a call has no fixture; in a file of http/ it would be, with what the service answers:\n{text}")
}

fn files(path: &Path) -> Result<Vec<PathBuf>, GoldenError> {
    let folder = path.join("http");
    if !folder.is_dir() {
        return Ok(vec![]);
    }
    let mut files = vec![];
    for entry in std::fs::read_dir(&folder).map_err(GoldenError::file(&folder))? {
        let path = entry.map_err(GoldenError::file(&folder))?.path();
        let ends = path.extension().and_then(|ending| ending.to_str());
        if matches!(ends, Some("yaml" | "yml" | "json")) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn placed(files: &[PathBuf], records: bool) -> Result<Vec<Placed>, GoldenError> {
    let mut all = vec![];
    for file in files {
        let name = file_name(file);
        if records && name == record::FILE {
            continue;
        }
        let documents = Fields::documents(file)?;
        let several = documents.len() > 1;
        for (index, fields) in documents.iter().enumerate() {
            let place = if several { format!("http/{name} ({})", index + 1) } else { format!("http/{name}") };
            all.push(Placed { place, fixture: Fixture::read(fields)? });
        }
    }
    Ok(all)
}
