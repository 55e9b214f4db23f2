//! Transcripts: what is asked and what came, in one file each. `UPDATE_GOLDEN=1` writes what came; review the difference.
#![allow(dead_code, reason = "each test binary uses its part")]
use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use celandine::{
    server::Service,
    storage::{directory::Directory, workspace::Workspaces},
};

/// A path of the repository.
pub fn path(relative: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(relative)
}

/// The recorded documents of Kubernetes; `None`, loudly, where they are not.
pub fn shared() -> Option<PathBuf> {
    let found = match std::env::var_os("CELANDINE_SHARED") {
        Some(shared) => PathBuf::from(shared),
        None => path("../shared"),
    };
    if found.is_dir() {
        return Some(found);
    }
    eprintln!("SKIPPED: {} is not there; set CELANDINE_SHARED", found.display());
    None
}

/// The workspaces of `tests/fixtures/dir`.
pub fn workspaces() -> Arc<Workspaces> {
    let (directory, report) = Directory::load(&path("tests/fixtures/dir")).unwrap();
    assert!(report.findings.is_empty(), "{:#?}", report.findings);
    Arc::clone(directory.workspaces())
}

/// A service over them.
pub fn service() -> Service {
    Service::new(workspaces(), celandine::server::Limits::default())
}

/// Runs every transcript of a folder: `answer` gets a file's text and gives what it should be.
pub fn transcripts(folder: &str, mut answer: impl FnMut(&str) -> String) {
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let mut files: Vec<_> = fs::read_dir(path(folder)).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "txt"));
    files.sort();
    assert!(!files.is_empty(), "{folder} has no transcripts");
    let mut wrong = Vec::new();
    for file in files {
        let before = fs::read_to_string(&file).unwrap();
        let after = answer(&before);
        if before == after {
            continue;
        }
        if update {
            fs::write(&file, &after).unwrap();
        } else {
            let diff = similar::TextDiff::from_lines(&before, &after);
            wrong.push(format!("{}\n{}", file.display(), diff.unified_diff().header("expected", "came")));
        }
    }
    assert!(wrong.is_empty(), "{}\nUPDATE_GOLDEN=1 accepts all of it", wrong.join("\n"));
}

/// Replaces what differs from run to run: times, ages, random endings, revisions, addresses.
pub fn stable(text: &str, server: &str) -> String {
    let mut out = text.replace(server, "http://SERVER");
    for (pattern, replacement) in [
        (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "TIME"),
        (r"\bgen-[a-z0-9]{5}\b", "gen-XXXXX"),
        (r#"("?resourceVersion"?: )"\d+""#, r#"$1"REVISION""#),
        (r#"("?uid"?: )"?[0-9a-f]{8}-[0-9a-f-]{27}"?"#, r#"$1"UID""#),
        (r"(?m)\b(\d+[smhdy]){1,2}$", "AGE"),
        (r#""(\d+[smhdy]){1,2}""#, r#""AGE""#),
        (r"\b1\d{12}\b", "REVISION"),
        (r"\b[0-9A-F]{128}\b", "HASH"),
        (r"continue=[0-9a-f]+", "continue=TOKEN"),
        (r#"("continue": )"[0-9a-f]+""#, r#"$1"TOKEN""#),
    ] {
        out = regex::Regex::new(pattern).unwrap().replace_all(&out, replacement).into_owned();
    }
    out
}
