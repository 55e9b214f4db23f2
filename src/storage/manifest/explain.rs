//! The YAML parser's errors as an author needs them: at the place of the mistake, which is often not where the parser gave up,
//! and with the remedy.
//!
//! The parser tells errors by their words only; what is not known here is passed on as it is. Absent: reading (parse).
use std::ops::Range;

use super::{
    parse::{MAX_DEPTH, ManifestError, fail},
    position, spell,
};

/// An error at byte `at`. `last` is the end of what was understood before it, `open` the beginning of the innermost `[` or `{`
/// that is not closed.
pub(super) fn error(text: &str, at: usize, info: &str, last: usize, open: Option<usize>) -> ManifestError {
    let say = |range: Range<usize>, message: String, help: Option<String>| ManifestError {
        help,
        ..fail(text, range, message)
    };
    let told = |message: &str, help: &str| say(at..at, message.to_owned(), Some(help.to_owned()));
    let has = |words: &str| info.contains(words);
    if has("trailing content after double-quoted") {
        return say(at..at, "the string ends before this".to_owned(), Some(early_end(text, last, at, '"')));
    }
    if has("trailing content after single-quoted") {
        return say(at..at, "the string ends before this".to_owned(), Some(early_end(text, last, at, '\'')));
    }
    if has("unclosed quote") {
        return told("the string that begins here is never closed", "add the closing quote");
    }
    if has("unknown escape character")
        && let Some(range) = wrong_escape(text, at)
    {
        let message = format!("`{}` is no escape of YAML", text.get(range.clone()).unwrap_or_default());
        let help = "in double quotes a backslash is written `\\\\`; in single quotes it stands for itself";
        return say(range, message, Some(help.to_owned()));
    }
    if has("found a tab") {
        let at = tab_of_indentation(text, at).unwrap_or(at);
        return say(at..at + 1, "a tab cannot indent".to_owned(), Some("use spaces".to_owned()));
    }
    if has("recursion limit") {
        return say(at..at, format!("nested more than {MAX_DEPTH} levels deep"), None);
    }
    if has("unexpected character") {
        return unexpected(text, at);
    }
    if has("mapping values are not allowed") {
        return told("a `:` is not expected here", "if it belongs to the value, put the value in quotes");
    }
    if has("unknown anchor") {
        return told("this names no anchor that stands before it", "an anchor is set by `&name`");
    }
    if has("did not find expected key") {
        return told("a key is expected here", "look at the indentation: it fits no line above");
    }
    if has("did not find expected ',' or")
        && let Some(open) = open
    {
        let bracket = text.get(open..open + 1).unwrap_or_default();
        let message = format!("a `,` or the end of what `{bracket}` began is expected here");
        let help =
            format!("`{bracket}` is at {}; a value that holds one of `{{}}[],` is put in quotes", position(text, open));
        return say(at..at, message, Some(help));
    }
    fail(text, at..at, info)
}

/// What to do about a string that ends at `end`, where more follows.
fn early_end(text: &str, last: usize, end: usize, quote: char) -> String {
    let begun = string_start(text, last, end, quote);
    if let Some(start) = begun
        && text.get(start..end).is_some_and(|string| string.contains('\n'))
    {
        return format!("the string began at {}: is a quote missing there?", position(text, start));
    }
    match quote {
        '"' => "within the string a `\"` is written `\\\"`; or put it in single quotes".to_owned(),
        _ => "within the string a `'` is written `''`; or put it in double quotes".to_owned(),
    }
}

/// Where the quoted string begins that ends just before `end`: strings are walked from `last` on.
fn string_start(text: &str, last: usize, end: usize, quote: char) -> Option<usize> {
    let mut at = last.min(end);
    loop {
        let start = at + text.get(at..end)?.find(quote)?;
        let mut rest = text.get(start + 1..)?.char_indices().peekable();
        let close = loop {
            let (i, c) = rest.next()?;
            match c {
                '\\' if quote == '"' => drop(rest.next()),
                '\'' if quote == '\'' && rest.peek().is_some_and(|(_, next)| *next == '\'') => drop(rest.next()),
                c if c == quote => break start + 1 + i,
                _ => {}
            }
        };
        // Blanks may stand between the string and what should not follow it.
        if text.get(close + 1..end).is_none_or(|between| between.trim().is_empty()) {
            return Some(start);
        }
        at = close + 1;
    }
}

/// The first escape that YAML does not have, in the double-quoted string at `start`.
fn wrong_escape(text: &str, start: usize) -> Option<Range<usize>> {
    let mut at = start + 1;
    loop {
        let rest = text.get(at..)?;
        match rest.chars().next()? {
            '\\' => match spell::escape(rest) {
                Some((_, length)) => at += length,
                None => return Some(at..at + 1 + rest.chars().nth(1).map_or(0, char::len_utf8)),
            },
            '"' => return None,
            c => at += c.len_utf8(),
        }
    }
}

/// The tab among the blanks that begin a line, from the line of `at` on.
fn tab_of_indentation(text: &str, at: usize) -> Option<usize> {
    let start = text.get(..at)?.rfind('\n').map_or(0, |i| i + 1);
    let mut line_start = start;
    for line in text.get(start..)?.split_inclusive('\n') {
        let blanks = line.len() - line.trim_start_matches([' ', '\t']).len();
        if let Some(tab) = line.get(..blanks).and_then(|blanks| blanks.find('\t')) {
            return Some(line_start + tab);
        }
        line_start += line.len();
    }
    None
}

fn unexpected(text: &str, at: usize) -> ManifestError {
    let is_odd = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
    let rest = text.get(at..).unwrap_or_default();
    let control = rest.lines().next().unwrap_or_default().char_indices().find(|(_, c)| is_odd(*c));
    if let Some((i, c)) = control {
        let message = format!("the control character U+{:04X} cannot stand here", u32::from(c));
        let help = "remove it; in double quotes it can be written as an escape, `\\x07`";
        let place = at + i..at + i + c.len_utf8();
        return ManifestError { help: Some(help.to_owned()), ..fail(text, place, message) };
    }
    let c = rest.chars().next().unwrap_or_default();
    let message = format!("a value cannot begin with `{c}`");
    ManifestError { help: Some("put it in quotes".to_owned()), ..fail(text, at..at + c.len_utf8(), message) }
}
