//! Which files a directory holds, and their texts. Bounded in size, number and depth; links lead nowhere outside.
//!
//! Absent: what is in them.
use std::{
    collections::BTreeMap,
    fs,
    io::{self, Read as _},
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{report::Finding, workspace_path};
use crate::storage::workspace::ROOT;

/// The longest file, in bytes. The largest CRDs in use have about 1 MiB; dumps of clusters are cut into several files.
const MAX_FILE: u64 = 16 << 20;
/// The most files of all workspaces together.
const MAX_FILES: usize = 10_000;
/// Levels of directories below `workspaces/`.
const MAX_DEPTH: usize = 16;

/// The files of each workspace, sorted by name.
#[derive(Default)]
pub(super) struct Scan {
    pub(super) workspaces: BTreeMap<Arc<str>, Vec<PathBuf>>,
    pub(super) findings: Vec<Finding>,
}

impl Scan {
    /// The files of a layer, over those that are there: a directory, or a file of the workspace `root`. A file that is there
    /// already moves to the end.
    pub(super) fn add(&mut self, layer: &Path) -> io::Result<()> {
        let added = if layer.is_file() {
            Scan { workspaces: BTreeMap::from([(ROOT.into(), vec![layer.to_owned()])]), findings: vec![] }
        } else {
            scan(layer)?
        };
        self.findings.extend(added.findings);
        for (workspace, files) in added.workspaces {
            let all = self.workspaces.entry(workspace).or_default();
            all.retain(|file| !files.contains(file));
            all.extend(files);
        }
        Ok(())
    }
}

/// A file's text.
pub(super) struct Text(pub(super) Arc<str>);

/// Lists the files of a directory.
fn scan(root: &Path) -> io::Result<Scan> {
    let mut scanner = Scanner {
        inside: root.canonicalize()?,
        count: 0,
        scan: Scan { workspaces: BTreeMap::new(), findings: vec![] },
    };
    let entries = sorted(root)?;
    scanner.files(ROOT.into(), &entries);
    let workspaces = root.join("workspaces");
    if scanner.is_directory(&workspaces) {
        scanner.below(&workspaces, &mut vec![]);
    }
    Ok(scanner.scan)
}

/// Reads a file.
pub(super) fn read(path: &Path) -> Result<Text, String> {
    let file = fs::File::open(path).map_err(|e| format!("cannot be read: {e}"))?;
    let mut text = String::new();
    match file.take(MAX_FILE + 1).read_to_string(&mut text) {
        Ok(length) if length as u64 > MAX_FILE => Err(format!("is larger than {MAX_FILE} bytes")),
        Ok(_) => Ok(Text(text.into())),
        Err(e) if e.kind() == io::ErrorKind::InvalidData => Err("is not UTF-8".to_owned()),
        Err(e) => Err(format!("cannot be read: {e}")),
    }
}

struct Scanner {
    inside: PathBuf,
    count: usize,
    scan: Scan,
}

impl Scanner {
    fn files(&mut self, workspace: Arc<str>, entries: &[PathBuf]) {
        let mut files = vec![];
        for path in entries {
            let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
            if hidden(path) || !matches!(extension, "yaml" | "yml" | "json") || !path.is_file() || !self.is_inside(path)
            {
                continue;
            }
            self.count += 1;
            if self.count > MAX_FILES {
                let message = format!("is one file more than {MAX_FILES}, and is not loaded");
                self.scan.findings.push(Finding::file(&path.display().to_string(), &message));
                break;
            }
            files.push(path.clone());
        }
        self.scan.workspaces.entry(workspace).or_default().extend(files);
    }

    /// The workspaces below a directory: each directory is one.
    fn below(&mut self, directory: &Path, segments: &mut Vec<String>) {
        if segments.len() >= MAX_DEPTH {
            return self.warn(directory, &format!("is nested more than {MAX_DEPTH} levels deep, and is not loaded"));
        }
        let entries = match sorted(directory) {
            Ok(entries) => entries,
            Err(e) => return self.warn(directory, &format!("cannot be read: {e}")),
        };
        if !segments.is_empty() {
            self.files(workspace_path(segments), &entries);
        }
        for path in entries {
            if hidden(&path) || !self.is_directory(&path) {
                continue;
            }
            match path.file_name().and_then(|name| name.to_str()) {
                Some(name) if crate::engine::names::dns1123_label(name).is_empty() => {
                    segments.push(name.to_owned());
                    self.below(&path, segments);
                    segments.pop();
                }
                _ => self.warn(&path, "is no name of a workspace, and is not loaded"),
            }
        }
    }

    fn is_directory(&mut self, path: &Path) -> bool {
        path.is_dir() && self.is_inside(path)
    }

    fn is_inside(&mut self, path: &Path) -> bool {
        let inside = path.canonicalize().is_ok_and(|path| path.starts_with(&self.inside));
        if !inside {
            self.warn(path, "leads out of the directory, and is not loaded");
        }
        inside
    }

    fn warn(&mut self, path: &Path, message: &str) {
        self.scan.findings.push(Finding::file(&path.display().to_string(), message));
    }
}

fn hidden(path: &Path) -> bool {
    path.file_name().is_none_or(|name| name.as_encoded_bytes().starts_with(b"."))
}

fn sorted(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut entries: Vec<PathBuf> = fs::read_dir(directory)?.flatten().map(|entry| entry.path()).collect();
    entries.sort();
    Ok(entries)
}
