//! How scalars are spelt: where in the text each byte of a scalar's value comes from.
//!
//! The spelling is followed again from the text, and believed only if it gives the value that the parser gave: a rule missed
//! here can cost a caret its exact place, never point at the wrong one. Absent: the parser.
use std::ops::Range;

/// How a scalar is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    SingleQuoted,
    DoubleQuoted,
    Literal,
    Folded,
}

/// A character of the value and the bytes of the text that it comes from.
type Spelt = (char, Range<usize>);

/// The bytes of `text` that bytes `part` of a scalar's value come from.
pub(super) fn within(
    text: &str,
    range: &Range<usize>,
    style: Style,
    value: &str,
    part: &Range<usize>,
) -> Option<Range<usize>> {
    let spelt = match style {
        Style::Plain => flow(text, range.clone(), Quotes::None),
        Style::SingleQuoted => flow(text, range.start + 1..range.end.checked_sub(1)?, Quotes::Single),
        Style::DoubleQuoted => flow(text, range.start + 1..range.end.checked_sub(1)?, Quotes::Double),
        Style::Literal => block(text, range.start, false),
        Style::Folded => block(text, range.start, true),
    }?;
    // What follows the value (line breaks that chomping removed) is spelt too.
    let mut bytes = 0;
    let mut first = None;
    let mut last: Option<usize> = None;
    let mut spelt = spelt.into_iter();
    for expected in value.chars() {
        let (c, place) = spelt.next()?;
        if c != expected {
            return None;
        }
        let end = bytes + c.len_utf8();
        if part.start < end && first.is_none() {
            first = Some(place.start);
        }
        if bytes < part.end {
            last = Some(place.end);
        }
        bytes = end;
    }
    let end_of_value = || spelt.next().map_or(range.end, |(_, place)| place.start);
    let start = first.unwrap_or_else(|| last.unwrap_or_else(end_of_value));
    Some(start..if part.is_empty() { start } else { last.unwrap_or(start).max(start) })
}

#[derive(Clone, Copy, PartialEq)]
enum Quotes {
    None,
    Single,
    Double,
}

/// Plain and quoted scalars: line breaks fold, quotes escape.
fn flow(text: &str, range: Range<usize>, quotes: Quotes) -> Option<Vec<Spelt>> {
    let base = range.start;
    let source = text.get(range)?;
    let mut spelt: Vec<Spelt> = vec![];
    // Blanks that were spelt by an escape do not fold away.
    let mut kept = 0;
    let mut at = 0;
    while let Some(c) = source.get(at..)?.chars().next() {
        let place = |length: usize| base + at..base + at + length;
        match c {
            '\n' | '\r' => {
                while spelt.len() > kept && spelt.last().is_some_and(|(c, _)| matches!(c, ' ' | '\t')) {
                    spelt.pop();
                }
                let (breaks, end) = fold(source, at);
                if breaks.len() == 1 {
                    spelt.push((' ', place(1)));
                }
                spelt.extend(breaks.into_iter().skip(1).map(|b| ('\n', base + b..base + b + 1)));
                kept = spelt.len();
                at = end;
            }
            '\'' if quotes == Quotes::Single => {
                spelt.push(('\'', place(2)));
                at += 2;
            }
            '\\' if quotes == Quotes::Double => {
                let (decoded, length) = escape(source.get(at..)?)?;
                match decoded {
                    Some(decoded) => {
                        spelt.push((decoded, place(length)));
                        at += length;
                    }
                    None => {
                        // An escaped line break joins; further empty lines are line breaks.
                        let (breaks, end) = fold(source, at + 1);
                        spelt.extend(breaks.into_iter().skip(1).map(|b| ('\n', base + b..base + b + 1)));
                        at = end;
                    }
                }
                kept = spelt.len();
            }
            c => {
                spelt.push((c, place(c.len_utf8())));
                at += c.len_utf8();
            }
        }
    }
    Some(spelt)
}

/// The line breaks from `at` on, and where the next line's content begins.
fn fold(source: &str, mut at: usize) -> (Vec<usize>, usize) {
    let mut breaks = vec![];
    loop {
        let rest = source.get(at..).unwrap_or_default();
        if rest.starts_with("\r\n") {
            breaks.push(at);
            at += 2;
        } else if rest.starts_with(['\n', '\r']) {
            breaks.push(at);
            at += 1;
        } else if rest.starts_with([' ', '\t']) {
            at += 1;
        } else {
            return (breaks, at);
        }
    }
}

/// The character of an escape and its length; no character for an escaped line break.
pub(super) fn escape(rest: &str) -> Option<(Option<char>, usize)> {
    let letter = rest.chars().nth(1)?;
    let digits = |n: usize| -> Option<(Option<char>, usize)> {
        let code = u32::from_str_radix(rest.get(2..2 + n)?, 16).ok()?;
        Some((Some(char::from_u32(code)?), 2 + n))
    };
    let simple = match letter {
        '0' => '\0',
        'a' => '\u{7}',
        'b' => '\u{8}',
        't' | '\t' => '\t',
        'n' => '\n',
        'v' => '\u{b}',
        'f' => '\u{c}',
        'r' => '\r',
        'e' => '\u{1b}',
        ' ' | '"' | '/' | '\\' => letter,
        'N' => '\u{85}',
        '_' => '\u{a0}',
        'L' => '\u{2028}',
        'P' => '\u{2029}',
        'x' => return digits(2),
        'u' => return surrogates(rest).or_else(|| digits(4)),
        'U' => return digits(8),
        '\n' | '\r' => return Some((None, 2)),
        _ => return None,
    };
    Some((Some(simple), 1 + letter.len_utf8()))
}

/// JSON's pair of escapes for one character.
fn surrogates(rest: &str) -> Option<(Option<char>, usize)> {
    let unit = |at: usize| -> Option<u16> {
        (rest.get(at..at + 2)? == "\\u").then_some(())?;
        u16::from_str_radix(rest.get(at + 2..at + 6)?, 16).ok()
    };
    let units = [unit(0)?, unit(6)?];
    let mut decoded = char::decode_utf16(units);
    match (decoded.next()?, decoded.next()) {
        (Ok(c), None) => Some((Some(c), 12)),
        _ => None,
    }
}

/// Block scalars whose first content is at `start`. All trailing line breaks are kept.
fn block(text: &str, start: usize, folded: bool) -> Option<Vec<Spelt>> {
    let line_of = |at: usize| text.get(..at).and_then(|t| t.rfind('\n')).map_or(0, |i| i + 1);
    let mut at = line_of(start);
    let indent = start - at;
    // Blank lines before the content belong to it; the header's line is never blank.
    while at > 0 {
        let above = line_of(at - 1);
        if !text.get(above..at)?.trim().is_empty() {
            break;
        }
        at = above;
    }
    let mut spelt: Vec<Spelt> = vec![];
    // The line break before this line, not yet spelt, if a line of content that may fold went before.
    let mut pending: Option<(usize, bool)> = None;
    let mut blanks: Vec<usize> = vec![];
    while at < text.len() {
        let end = text.get(at..)?.find('\n').map_or(text.len(), |i| at + i);
        let line = text.get(at..end)?;
        let line = line.strip_suffix('\r').unwrap_or(line);
        let spaces = line.len() - line.trim_start_matches(' ').len();
        if spaces == line.len() && spaces <= indent {
            blanks.push(end);
        } else if spaces < indent {
            break;
        } else {
            let content = line.get(indent..)?;
            let more = content.starts_with([' ', '\t']);
            if let Some((newline, folds)) = pending.take() {
                if !(folded && folds && !more) {
                    spelt.push(('\n', newline..newline + 1));
                } else if blanks.is_empty() {
                    spelt.push((' ', newline..newline + 1));
                }
            }
            spelt.extend(blanks.drain(..).map(|b| ('\n', b..b + 1)));
            spelt.extend(content.char_indices().map(|(i, c)| (c, at + indent + i..at + indent + i + c.len_utf8())));
            pending = Some((end, !more));
        }
        at = end + 1;
    }
    spelt.extend(pending.map(|(newline, _)| ('\n', newline..newline + 1)));
    spelt.extend(blanks.into_iter().map(|b| ('\n', b..b + 1)));
    Some(spelt)
}
