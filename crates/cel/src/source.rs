//! Where things stand in an expression's text: spans in bytes, positions in characters, issues with a place.
//!
//! Absent: what the issues are about.
use std::fmt;

use crate::limits::MAX_ISSUES;

/// A half-open range of byte offsets into the expression's text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

/// A place in characters (code points), as Kubernetes prints it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// 1-based line.
    pub line: u32,
    /// 1-based column, in code points.
    pub column: u32,
}

/// One static problem of an expression.
///
/// Two places, because they serve two readers: `span` is what to underline (the misspelt field, the whole
/// argument), `at` is where cel-go says that the node is (the `.` of a select, the `(` of a call), which
/// Kubernetes' users know from its messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    /// What to underline.
    pub span: Span,
    /// Byte offset of the place that cel-go reports; `None` for issues without a place (size limits).
    pub at: Option<u32>,
    /// One fragment in cel-go's words: ``undeclared reference to 'x' (in container '')``.
    pub message: String,
    /// A remedy where one is known: ``did you mean `size`?``.
    pub help: Option<String>,
}

/// The static problems of one expression, in the order of their places. Never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issues {
    /// At most [`MAX_ISSUES`].
    pub list: Vec<Issue>,
    /// How many there are beside those listed.
    pub omitted: usize,
}

impl std::error::Error for Issues {}

impl Issue {
    /// One about the whole text: a limit.
    pub(crate) fn without_place(message: impl Into<String>) -> Issue {
        Issue { span: Span::default(), at: None, message: message.into(), help: None }
    }
}

impl Issues {
    /// As cel-go prints compile errors of `text`: a line each, with the source's line and a caret where there is a place.
    /// (`help` is not cel-go's; it is left out.)
    pub fn render(&self, text: &str) -> String {
        let issues = self.list.iter().map(|issue| issue.render(text));
        issues.chain(self.omission()).collect::<Vec<_>>().join("\n")
    }

    /// What tells of the omitted ones, in cel-go's words.
    pub fn omission(&self) -> Option<String> {
        (self.omitted > 0).then(|| format!("{} more errors were truncated", self.omitted))
    }

    pub(crate) fn one(issue: Issue) -> Issues {
        Issues { list: vec![issue], omitted: 0 }
    }
}

/// Issues while they are being found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    list: Vec<Issue>,
    omitted: usize,
}

/// Issues are kept in the order in which they are found and listed in the order of their places: some more are kept than are
/// listed.
const MAX_FOUND: usize = 10 * MAX_ISSUES;

impl Found {
    pub(crate) fn push(&mut self, issue: Issue) {
        if self.is_full() {
            self.omitted += 1;
        } else {
            self.list.push(issue);
        }
    }

    /// Whether one more would be counted, but not kept.
    pub(crate) fn is_full(&self) -> bool {
        self.list.len() >= MAX_FOUND
    }

    /// Counts one that nobody needs the words of.
    pub(crate) fn omit(&mut self) {
        self.omitted += 1;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn last_mut(&mut self) -> Option<&mut Issue> {
        self.list.last_mut()
    }

    /// In the order of their places.
    pub(crate) fn into_issues(self) -> Issues {
        let Found { mut list, mut omitted } = self;
        list.sort_by_key(|issue| issue.at);
        omitted += list.len().saturating_sub(MAX_ISSUES);
        list.truncate(MAX_ISSUES);
        Issues { list, omitted }
    }
}

impl fmt::Display for Issues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, issue) in self.list.iter().enumerate() {
            if i > 0 {
                f.write_str("; ")?;
            }
            f.write_str(&issue.message)?;
            if let Some(help) = &issue.help {
                write!(f, "; {help}")?;
            }
        }
        self.omission().map_or(Ok(()), |omission| write!(f, "; {omission}"))
    }
}

/// Lines longer than this are not shown with an error, as in cel-go.
const MAX_SNIPPET_BYTES: usize = 16_384;

impl Issue {
    /// As cel-go prints one compile error: `ERROR: <input>:1:5: message`, the source's line, a caret.
    pub fn render(&self, text: &str) -> String {
        let Some(at) = self.at else { return format!("ERROR: <input>:-1:0: {}", self.message) };
        let Position { line, column } = position(text, at);
        let heading = format!("ERROR: <input>:{line}:{column}: {}", self.message);
        let shown = text.split('\n').nth(line as usize - 1).map(|shown| shown.strip_suffix('\r').unwrap_or(shown));
        match shown {
            Some(shown) if column > 0 && shown.len() <= MAX_SNIPPET_BYTES => {
                let before = column as usize - 1;
                // Wide marks under characters of more than one byte: in most fonts those are wide.
                let wide = |c: char| c.len_utf8() > 1;
                let dots: String = shown.chars().take(before).map(|c| if wide(c) { '\u{ff0e}' } else { '.' }).collect();
                let caret = if shown.chars().nth(before).is_some_and(wide) { '\u{ff3e}' } else { '^' };
                format!("{heading}\n | {}\n | {dots}{caret}", shown.replace('\t', " "))
            }
            _ => heading,
        }
    }
}

/// The line and column of a byte offset of `text`; an offset past the end is the end. An empty text has only column 0,
/// as in cel-go.
pub fn position(text: &str, offset: u32) -> Position {
    if text.is_empty() {
        return Position { line: 1, column: 0 };
    }
    let offset = (offset as usize).min(text.len());
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |i| i + 1);
    let count = |s: &str| u32::try_from(s.chars().count()).unwrap_or(u32::MAX);
    Position {
        line: 1 + u32::try_from(before.matches('\n').count()).unwrap_or(u32::MAX - 1),
        column: 1 + count(before.get(line_start..).unwrap_or("")),
    }
}
