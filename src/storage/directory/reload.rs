//! Loading a directory again when its files change.
//!
//! Absent: what loading does.
use std::{
    collections::BTreeSet,
    sync::{Arc, mpsc},
    thread,
    time::{Duration, Instant},
};

use notify::{RecursiveMode, Watcher as _};

use super::{Directory, Report};

/// A quiet time after which a change is complete: editors write in several steps.
const QUIET: Duration = Duration::from_millis(50);
/// The longest that changes are waited for to end.
const PATIENCE: Duration = Duration::from_millis(500);

/// Why files cannot be watched.
#[derive(Debug, thiserror::Error)]
#[error("cannot watch `{path}`")]
pub struct ReloadError {
    path: String,
    source: notify::Error,
}

/// Loads again until it is dropped.
#[derive(Debug)]
pub struct Reloader {
    reports: tokio::sync::watch::Receiver<Arc<Report>>,
    _watcher: notify::RecommendedWatcher,
}

impl Reloader {
    /// Watches a directory from now on. What changed since it was loaded is loaded at once.
    pub fn start(mut directory: Directory) -> Result<Reloader, ReloadError> {
        let path = directory.root().display().to_string();
        let (sender, changes) = mpsc::channel();
        // One that cannot be sent is one that nobody waits for.
        let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            if event.is_ok_and(|event| !event.kind.is_access()) {
                let _ = sender.send(());
            }
        })
        .map_err(|source| ReloadError { path: path.clone(), source })?;
        watcher
            .watch(directory.root(), RecursiveMode::Recursive)
            .map_err(|source| ReloadError { path: path.clone(), source })?;
        let (reports, receiver) = tokio::sync::watch::channel(Arc::default());
        let work = move || {
            let mut workspaces = directory.workspaces().paths();
            let mut again = true;
            let mut known = BTreeSet::new();
            loop {
                if !again && changes.recv().is_err() {
                    return;
                }
                let began = Instant::now();
                while began.elapsed() < PATIENCE && changes.recv_timeout(QUIET).is_ok() {}
                match directory.reload() {
                    Ok(report) => {
                        known = log(&report, &known);
                        if reports.send(Arc::new(report)).is_err() {
                            return;
                        }
                    }
                    Err(error) => tracing::warn!(%error, "the directory cannot be loaded; what was loaded stays"),
                }
                // A directory that is new may have been filled before it was watched.
                let now = directory.workspaces().paths();
                again = now != workspaces;
                workspaces = now;
            }
        };
        thread::Builder::new()
            .name("reload".to_owned())
            .spawn(work)
            .map_err(|source| ReloadError { path, source: notify::Error::io(source) })?;
        Ok(Reloader { reports: receiver, _watcher: watcher })
    }

    /// What each load found; the newest only.
    pub fn reports(&self) -> tokio::sync::watch::Receiver<Arc<Report>> {
        self.reports.clone()
    }
}

/// Tells what is wrong since the last time; returns what is wrong. Whoever has the reports tells it better.
fn log(report: &Report, known: &BTreeSet<String>) -> BTreeSet<String> {
    let findings: BTreeSet<String> = report.findings.iter().map(ToString::to_string).collect();
    for finding in findings.difference(known) {
        tracing::debug!("{finding}");
    }
    let kinds: usize = report.workspaces.iter().map(|w| w.ephemeral.len()).sum();
    let objects: usize = report.workspaces.iter().map(|w| w.objects).sum();
    tracing::info!(workspaces = report.workspaces.len(), kinds, objects, findings = findings.len(), "loaded");
    findings
}
