//! Workspaces from a directory of YAML: `DIR/*.yaml` is the workspace `root`, each directory below `DIR/workspaces` another.
//!
//! | file | owns |
//! |---|---|
//! | `files` | which files there are, and their texts, within bounds |
//! | `item` | objects of a file |
//! | `outside` | what its calls meet outside of it |
//! | `contents` | one workspace: its objects and its catalog, from the items of its files |
//! | `schemas` | EphemeralSchemas compiled, the last good form of each kept |
//! | `policies` | the administrator's EgressPolicies |
//! | `conditions` | what the status of an EphemeralSchema says |
//! | `report` | what was loaded and what is wrong, for people |
//! | `reload` | loading again when files change |
//!
//! A broken file keeps its last good content. Absent: the server, the command line.
mod conditions;
mod contents;
mod files;
mod item;
mod outside;
pub(in crate::storage) mod policies;
mod reload;
mod report;
mod schemas;

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use self::{
    contents::Contents,
    files::{Scan, Text},
    item::Item,
    policies::Policies,
};
pub use self::{
    outside::Outside,
    reload::{ReloadError, Reloader},
    report::{Finding, Report, WorkspaceReport},
};
use crate::storage::{
    authorizer::Authorizer,
    egress::Gateway,
    manifest,
    objects::Objects,
    workspace::{ROOT, Workspace, Workspaces},
};

/// A directory that cannot be loaded at all.
#[derive(Debug, thiserror::Error)]
#[error("cannot read `{path}`")]
pub struct DirectoryError {
    path: String,
    source: io::Error,
}

/// A directory and what it says.
#[derive(Debug)]
pub struct Directory {
    /// Directories and files, each over those before it. The first is the directory itself.
    layers: Vec<PathBuf>,
    workspaces: Arc<Workspaces>,
    contents: BTreeMap<Arc<str>, Contents>,
    files: BTreeMap<PathBuf, FileState>,
    gateway: Gateway,
    policies: Policies,
}

/// A file as it was last read.
#[derive(Debug)]
struct FileState {
    text: Option<Arc<str>>,
    /// From the newest text that was right.
    good: Arc<Vec<Item>>,
    /// What is wrong with the newest text.
    findings: Vec<Finding>,
}

impl Directory {
    /// Loads a directory.
    pub fn load(root: &Path) -> Result<(Directory, Report), DirectoryError> {
        Directory::overlay(&[root.to_owned()])
    }

    /// Loads several directories and files of the workspace `root` as one directory: what a later one says of an object is
    /// what counts.
    pub fn overlay(layers: &[PathBuf]) -> Result<(Directory, Report), DirectoryError> {
        Directory::with(layers, Outside::default())
    }

    /// The same, saying what is outside of it.
    pub fn with(layers: &[PathBuf], outside: Outside) -> Result<(Directory, Report), DirectoryError> {
        let workspaces: Arc<Workspaces> = Arc::default();
        let mut directory = Directory {
            layers: layers.to_vec(),
            gateway: Gateway::new(outside.surroundings(&workspaces)),
            workspaces,
            policies: Policies::default(),
            contents: BTreeMap::new(),
            files: BTreeMap::new(),
        };
        let report = directory.reload()?;
        Ok((directory, report))
    }

    /// The workspaces; they change when the directory is loaded again.
    pub fn workspaces(&self) -> &Arc<Workspaces> {
        &self.workspaces
    }

    /// The directory's path, as it was given.
    pub fn root(&self) -> &Path {
        self.layers.first().map_or(Path::new(""), PathBuf::as_path)
    }

    /// Loads what has changed.
    pub fn reload(&mut self) -> Result<Report, DirectoryError> {
        let mut scan = Scan::default();
        for layer in &self.layers {
            scan.add(layer).map_err(|source| DirectoryError { path: layer.display().to_string(), source })?;
        }
        let mut report = Report { workspaces: vec![], findings: scan.findings };
        let mut files = BTreeMap::new();
        for path in scan.workspaces.values().flatten() {
            let before = self.files.remove(path);
            let state = read(path, before);
            report.findings.extend(state.findings.iter().cloned());
            files.insert(path.clone(), state);
        }
        self.files = files;

        self.contents.retain(|path, _| scan.workspaces.contains_key(path));
        for path in self.workspaces.paths() {
            if !scan.workspaces.contains_key(&path) {
                self.workspaces.remove(&path);
            }
        }
        let items = |paths: &[PathBuf], files: &BTreeMap<PathBuf, FileState>| -> Vec<Arc<Vec<Item>>> {
            paths.iter().filter_map(|file| files.get(file)).map(|state| Arc::clone(&state.good)).collect()
        };
        let root = scan.workspaces.get(ROOT).map(|paths| items(paths, &self.files)).unwrap_or_default();
        self.policies.update(&self.gateway, &root, &mut report.findings);
        for (path, paths) in scan.workspaces {
            let contents = self.contents.entry(Arc::clone(&path)).or_default();
            let workspace = self.workspaces.get_exact(&path).unwrap_or_else(|| Arc::new(new_workspace(&path)));
            let items = items(&paths, &self.files);
            report.workspaces.push(contents.update(&workspace, items, &self.policies, &mut report.findings));
            // Only now: nobody sees a new workspace before it is filled.
            self.workspaces.insert(workspace);
        }
        Ok(report)
    }
}

fn new_workspace(path: &str) -> Workspace {
    // A time, so that a `resourceVersion` from before a restart is too old instead of wrong.
    let revision = u64::try_from(jiff::Timestamp::now().as_millisecond()).unwrap_or(0);
    let objects = Arc::new(Objects::new(revision));
    Workspace::new(path, Arc::clone(&objects), Authorizer::rbac(objects))
}

/// Reads a file again. Its last good items stay if it is not right.
fn read(path: &Path, before: Option<FileState>) -> FileState {
    let is_new = before.is_none();
    let good = before.as_ref().map_or_else(Arc::default, |before| Arc::clone(&before.good));
    let shown = path.display().to_string();
    let text = match files::read(path) {
        Ok(Text(text)) => text,
        Err(message) => {
            let findings = vec![Finding::file(&shown, &message)];
            return FileState { text: None, good, findings };
        }
    };
    if let Some(before) = before
        && before.text.as_deref() == Some(&*text)
    {
        return before;
    }
    let parsed = manifest::parse(&shown, Arc::clone(&text));
    let mut findings: Vec<Finding> = parsed.errors.iter().map(|e| Finding::text(&parsed, e)).collect();
    let items = item::items(parsed.documents, &mut findings);
    // There is nothing good to keep of a file that is new: what is right in it counts, and all of it is looked over.
    let good = if findings.is_empty() || is_new { Arc::new(items) } else { good };
    FileState { text: Some(text), good, findings }
}

/// The workspace of a directory below `workspaces/`.
fn workspace_path(segments: &[String]) -> Arc<str> {
    // A leading `root` is what every path begins with anyway.
    let segments = segments.strip_prefix(&[ROOT.to_owned()]).unwrap_or(segments);
    std::iter::once(ROOT).chain(segments.iter().map(String::as_str)).collect::<Vec<_>>().join(":").into()
}

#[cfg(test)]
mod tests;
