//! `${...}` templates: splitting a string into text and expressions, with the place of each.
//!
//! kro's rules: a lone `${x}` keeps its type, mixed text interpolates strings, `$${` stands for `${`. Braces and quotes
//! inside an expression are CEL's own.
//!
//! Absent: compiling the expressions (expressions), evaluating them.
use std::{ops::Range, sync::Arc};

/// A string of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Template {
    /// No expression in it; escapes are resolved.
    Text(Arc<str>),
    /// Exactly one expression and nothing else: it keeps its type.
    Lone(Fragment),
    /// Text and expressions that give strings.
    Mixed(Vec<Part>),
}

/// A part of a mixed template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Text, escapes resolved.
    Text(Arc<str>),
    /// An expression that gives a string.
    Expression(Fragment),
}

/// The text of one expression and where it stands in the template's string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fragment {
    /// CEL, without `${` and `}`.
    pub(crate) text: Arc<str>,
    /// Byte offset of its first character.
    pub(crate) start: usize,
}

/// What is wrong with a template, and where in its string.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct TemplateError {
    /// One lowercase fragment.
    pub(crate) message: &'static str,
    /// What to do.
    pub(crate) help: &'static str,
    /// Bytes of the string.
    pub(crate) place: Range<usize>,
}

/// Splits a string.
///
/// # Errors
/// An expression that is not closed, is empty, or holds another `${`.
pub(crate) fn parse(string: &str) -> Result<Template, TemplateError> {
    let mut parts: Vec<Part> = Vec::new();
    let mut text = String::new();
    let mut rest = string;
    let at = |rest: &str| string.len() - rest.len();
    while let Some(dollar) = rest.find('$') {
        let (before, from_dollar) = rest.split_at(dollar);
        text.push_str(before);
        if let Some(after) = from_dollar.strip_prefix("$${") {
            text.push_str("${");
            rest = after;
        } else if let Some(after) = from_dollar.strip_prefix("${") {
            let start = at(after);
            let length = expression_length(after).map_err(|error| place_in(error, start, string))?;
            let (expression, closed) = after.split_at(length);
            if expression.trim().is_empty() {
                return Err(TemplateError {
                    message: "empty expression",
                    help: "write CEL between `${` and `}`, or `$${` for the characters `${`",
                    place: start - 2..start + length + 1,
                });
            }
            flush(&mut text, &mut parts);
            parts.push(Part::Expression(Fragment { text: expression.into(), start }));
            rest = closed.strip_prefix('}').unwrap_or(closed);
        } else {
            text.push('$');
            rest = from_dollar.strip_prefix('$').unwrap_or(from_dollar);
        }
    }
    text.push_str(rest);
    if parts.is_empty() {
        return Ok(Template::Text(text.into()));
    }
    flush(&mut text, &mut parts);
    Ok(match <[Part; 1]>::try_from(parts) {
        Ok([Part::Expression(fragment)]) => Template::Lone(fragment),
        Ok([Part::Text(text)]) => Template::Text(text),
        Err(parts) => Template::Mixed(parts),
    })
}

fn flush(text: &mut String, parts: &mut Vec<Part>) {
    if !text.is_empty() {
        parts.push(Part::Text(std::mem::take(text).into()));
    }
}

/// Why no end was found, as an offset after `${`.
enum Unclosed {
    End,
    Nested(usize),
    Quote(usize),
}

fn place_in(error: Unclosed, start: usize, string: &str) -> TemplateError {
    match error {
        Unclosed::End => TemplateError {
            message: "`${` is not closed",
            help: "add the missing `}`, or write `$${` for the characters `${`",
            place: start - 2..string.len(),
        },
        Unclosed::Nested(offset) => TemplateError {
            message: "`${` inside an expression",
            help: "names are used directly inside `${...}`; close the outer expression with `}` before the next one",
            place: start + offset..start + offset + 2,
        },
        Unclosed::Quote(offset) => TemplateError {
            message: "the string literal is not closed",
            help: "add the missing quote before the closing `}`",
            place: start + offset..string.len(),
        },
    }
}

/// Bytes up to the `}` that closes an expression: braces are counted, those in CEL's string literals and comments are not.
fn expression_length(text: &str) -> Result<usize, Unclosed> {
    let bytes = text.as_bytes();
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'}' if depth == 0 => return Ok(at),
            b'}' => depth -= 1,
            b'{' => depth += 1,
            b'$' if bytes.get(at + 1) == Some(&b'{') => return Err(Unclosed::Nested(at)),
            b'\'' | b'"' => {
                at = literal_end(bytes, at, is_raw(bytes, at)).ok_or(Unclosed::Quote(at))?;
                continue;
            }
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                let tail = bytes.get(at..).unwrap_or_default();
                at += tail.iter().position(|&b| b == b'\n').ok_or(Unclosed::End)?;
            }
            _ => {}
        }
        at += 1;
    }
    Err(Unclosed::End)
}

/// Whether the quote at `at` opens a raw literal (`r''`, `br''`, `rb''`), and not the end of a longer word.
fn is_raw(bytes: &[u8], at: usize) -> bool {
    let word_start = bytes
        .get(..at)
        .unwrap_or_default()
        .iter()
        .rposition(|b| !(b.is_ascii_alphanumeric() || *b == b'_'))
        .map_or(0, |i| i + 1);
    let prefix = bytes.get(word_start..at).unwrap_or_default();
    prefix.len() <= 2 && prefix.iter().any(|b| b.eq_ignore_ascii_case(&b'r'))
}

/// One past the literal that opens at `at`; `None` when it does not close.
fn literal_end(bytes: &[u8], at: usize, raw: bool) -> Option<usize> {
    let quote = *bytes.get(at)?;
    let triple = bytes.get(at..at + 3).is_some_and(|q| q.iter().all(|&b| b == quote));
    let width = if triple { 3 } else { 1 };
    let mut i = at + width;
    loop {
        match *bytes.get(i)? {
            b'\\' if !raw => i += 2,
            b'\n' if !triple => return None,
            b if b == quote && (!triple || bytes.get(i..i + 3).is_some_and(|q| q.iter().all(|&b| b == quote))) => {
                return Some(i + width);
            }
            _ => i += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(string: &str) -> String {
        let fragment = |f: &Fragment| {
            assert_eq!(&string[f.start..f.start + f.text.len()], &*f.text, "a fragment knows its place");
            format!("<{}>", f.text)
        };
        match parse(string) {
            Ok(Template::Text(text)) => format!("text {text}"),
            Ok(Template::Lone(f)) => format!("lone {}", fragment(&f)),
            Ok(Template::Mixed(parts)) => {
                let parts = parts.iter().map(|p| match p {
                    Part::Text(text) => text.to_string(),
                    Part::Expression(f) => fragment(f),
                });
                format!("mixed {}", parts.collect::<Vec<_>>().join("|"))
            }
            Err(error) => format!("error {} at {:?}", error.message, &string[error.place]),
        }
    }

    #[track_caller]
    fn check(string: &str, expected: &str) {
        assert_eq!(shape(string), expected, "{string}");
    }

    #[test]
    fn splits() {
        check("", "text ");
        check("plain $5 $", "text plain $5 $");
        check("${a.b}", "lone <a.b>");
        check("${ a }", "lone < a >");
        check("${a} ", "mixed <a>| ");
        check("a ${b} c ${d}", "mixed a |<b>| c |<d>");
        check("$${a} ${b}", "mixed ${a} |<b>");
        check("$$${a}", "text $${a}");
        check("é${a}é", "mixed é|<a>|é");
    }

    #[test]
    fn braces_and_quotes_belong_to_cel() {
        check("${ {'a': {}} }", "lone < {'a': {}} >");
        check("${'}'}", "lone <'}'>");
        check(r#"${"\"}"}"#, r#"lone <"\"}">"#);
        check(r"${r'\'}", r"lone <r'\'>");
        check(r"${'''it's }'''}", r"lone <'''it's }'''>");
        check("${a // }\n}", "lone <a // }\n>");
        check("${'$'+'{'}", "lone <'$'+'{'>");
    }

    #[test]
    fn errors_point_at_the_place() {
        check("x ${a", r#"error `${` is not closed at "${a""#);
        check("${a ${b}}", r#"error `${` inside an expression at "${""#);
        check("${}", r#"error empty expression at "${}""#);
        check("x ${ }", r#"error empty expression at "${ }""#);
        check("${'a}", r#"error the string literal is not closed at "'a}""#);
        check("${{}", r#"error `${` is not closed at "${{}""#);
        check("${a // }", r#"error `${` is not closed at "${a // }""#);
    }
}
