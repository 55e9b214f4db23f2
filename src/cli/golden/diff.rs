//! Unified diffs of what was expected and what came.
//!
//! Absent: what is compared (run).
use std::fmt::Write as _;

use similar::{ChangeTag, TextDiff};

/// Lines of agreement round each difference.
const CONTEXT: usize = 3;

/// A unified diff, coloured where a terminal shows it; empty where there is no difference.
pub(super) fn unified(expected: &str, actual: &str, colour: bool) -> String {
    let diff = TextDiff::from_lines(expected, actual);
    let mut out = String::new();
    for hunk in diff.unified_diff().context_radius(CONTEXT).iter_hunks() {
        let _ = writeln!(out, "{}", paint(&hunk.header().to_string(), "36", colour));
        for change in hunk.iter_changes() {
            let (sign, code) = match change.tag() {
                ChangeTag::Delete => ('-', "31"),
                ChangeTag::Insert => ('+', "32"),
                ChangeTag::Equal => (' ', ""),
            };
            let line = format!("{sign}{}", change.value().trim_end_matches('\n'));
            let _ = writeln!(out, "{}", paint(&line, code, colour));
        }
    }
    out
}

fn paint(text: &str, code: &str, colour: bool) -> String {
    if colour && !code.is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::unified;

    #[test]
    fn only_what_differs_is_shown() {
        let many: String = (0..20).map(|i| format!("line {i}\n")).collect();
        let other = many.replace("line 10\n", "line ten\n");
        assert_eq!(unified(&many, &many, true), "");
        let diff = unified(&many, &other, false);
        assert!(diff.contains("-line 10\n+line ten\n"), "{diff}");
        assert!(!diff.contains("line 3\n"), "{diff}");
        assert!(unified(&many, &other, true).contains("\x1b[31m-line 10\x1b[0m"));
    }
}
