//! Diagnostics in the author's own text, as rustc shows them.
//!
//! Absent: what is wrong (engine, lower), where it is printed (cli).
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use super::{Document, Manifest, ManifestError, position};
use crate::engine::diagnostic::{Diagnostic, Severity};

/// Whether the text is for a terminal that shows colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Color {
    /// Escape sequences for colours.
    Always,
    /// Nothing but text.
    Never,
}

/// The most that of one document is shown; the rest is counted.
const MAX_SHOWN: usize = 100;

/// Diagnostics of a document, one after the other, each with the author's lines.
pub fn render(diagnostics: &[Diagnostic], document: &Document, color: Color) -> String {
    let mut out = String::new();
    for diagnostic in diagnostics.iter().take(MAX_SHOWN) {
        let level = match diagnostic.severity {
            Severity::Warning => Level::WARNING,
            Severity::Error => Level::ERROR,
        };
        let range = document.nearest(&diagnostic.path, &diagnostic.place);
        let shown =
            show(level, &diagnostic.message, &document.file, &document.text, range, diagnostic.help.as_deref(), color);
        out.push_str(&shown);
        out.push_str("\n\n");
    }
    if diagnostics.len() > MAX_SHOWN {
        out.push_str(&format!("and {} more\n\n", diagnostics.len() - MAX_SHOWN));
    }
    out
}

/// An error of a text that is no document.
pub fn render_error(error: &ManifestError, manifest: &Manifest, color: Color) -> String {
    show(
        Level::ERROR,
        &error.message,
        &manifest.file,
        &manifest.text,
        error.range.clone(),
        error.help.as_deref(),
        color,
    ) + "\n\n"
}

fn show(
    level: Level<'_>,
    message: &str,
    file: &str,
    text: &str,
    range: Range<usize>,
    help: Option<&str>,
    color: Color,
) -> String {
    let start = text.floor_char_boundary(range.start);
    let end = text.ceil_char_boundary(range.end).max(start);
    // Only the lines that are shown: a file may be large and have many mistakes.
    let first = text.get(..start).and_then(|t| t.rfind('\n')).map_or(0, |i| i + 1);
    let last = text.get(end..).and_then(|t| t.find('\n')).map_or(text.len(), |i| end + i);
    let lines = text.get(first..last).unwrap_or_default();
    let lines = lines.strip_suffix('\r').filter(|_| end < last).unwrap_or(lines);
    let annotation = AnnotationKind::Primary.span(start - first..end - first);
    let snippet = Snippet::source(lines).line_start(position(text, first).line).path(file).annotation(annotation);
    let mut group: Group<'_> = level.primary_title(message).element(snippet);
    if let Some(help) = help {
        group = group.element(Level::HELP.message(help));
    }
    let renderer = match color {
        Color::Always => Renderer::styled(),
        Color::Never => Renderer::plain(),
    };
    renderer.render(&[group])
}
