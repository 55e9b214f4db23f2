//! What was loaded and what is wrong with it, for people.
//!
//! Absent: where it is printed (cli).
use std::{fmt, sync::Arc};

use crate::{
    engine::diagnostic::{Diagnostic, Severity},
    storage::manifest::{Color, Document, Manifest, ManifestError, render, render_error},
};

/// What a directory holds.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// By path.
    pub workspaces: Vec<WorkspaceReport>,
    /// What is wrong, in the order of files.
    pub findings: Vec<Finding>,
}

/// What a workspace holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkspaceReport {
    /// `root:acme`
    pub path: Arc<str>,
    /// `storage.acme.example/v1 BucketInfo`: the ephemeral kinds that are served.
    pub ephemeral: Vec<String>,
    /// How many kinds its CustomResourceDefinitions declare.
    pub custom_kinds: usize,
    /// How many objects it has.
    pub objects: usize,
}

/// Something wrong.
#[derive(Clone, Debug)]
pub struct Finding(What);

#[derive(Clone, Debug)]
enum What {
    Document { document: Arc<Document>, diagnostic: Diagnostic },
    Text { manifest: Arc<Manifest>, error: ManifestError },
    File { file: Arc<str>, message: String },
}

impl Report {
    /// Whether something does not work.
    pub fn has_errors(&self) -> bool {
        self.findings.iter().any(|finding| finding.severity() == Severity::Error)
    }

    /// All findings with the author's lines.
    pub fn render(&self, color: Color) -> String {
        self.findings.iter().map(|finding| finding.render(color)).collect()
    }
}

impl Finding {
    /// About a field of a document.
    pub fn document(document: &Arc<Document>, diagnostic: Diagnostic) -> Finding {
        Finding(What::Document { document: Arc::clone(document), diagnostic })
    }

    pub(super) fn text(manifest: &Manifest, error: &ManifestError) -> Finding {
        // Only the text is needed to show it.
        let manifest = Manifest { documents: vec![], errors: vec![], ..manifest.clone() };
        Finding(What::Text { manifest: Arc::new(manifest), error: error.clone() })
    }

    pub(super) fn file(file: &str, message: &str) -> Finding {
        Finding(What::File { file: file.into(), message: message.to_owned() })
    }

    /// How bad it is.
    pub fn severity(&self) -> Severity {
        match &self.0 {
            What::Document { diagnostic, .. } => diagnostic.severity,
            What::Text { .. } | What::File { .. } => Severity::Error,
        }
    }

    /// The file, as it is shown.
    pub fn file_name(&self) -> &str {
        match &self.0 {
            What::Document { document, .. } => &document.file,
            What::Text { manifest, .. } => &manifest.file,
            What::File { file, .. } => file,
        }
    }

    /// With the author's lines.
    pub fn render(&self, color: Color) -> String {
        match &self.0 {
            What::Document { document, diagnostic } => render(std::slice::from_ref(diagnostic), document, color),
            What::Text { manifest, error } => render_error(error, manifest, color),
            What::File { .. } => format!("error: {self}\n\n"),
        }
    }
}

/// `file:line:column: text`
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            What::Document { document, diagnostic } => {
                let position = document.position(&diagnostic.path, &diagnostic.place);
                write!(f, "{}:{position}: {}", document.file, diagnostic.message)?;
                match &diagnostic.help {
                    Some(help) => write!(f, "; {help}"),
                    None => Ok(()),
                }
            }
            What::Text { manifest, error } => write!(f, "{}:{error}", manifest.file),
            What::File { file, message } => write!(f, "`{file}` {message}"),
        }
    }
}
