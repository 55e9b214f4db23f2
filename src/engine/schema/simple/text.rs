//! One field's text: `[]string | required=true description="..."`, with the place of each part.
//!
//! Absent: what the parts mean (fields, markers).
use std::ops::Range;

/// The types that need no declaration.
pub(super) const BUILT_IN: [&str; 6] = ["string", "integer", "boolean", "float", "number", "object"];

/// A field's text in parts.
pub(super) struct FieldText<'a> {
    /// `[]string`
    pub(super) ty: Spanned<&'a str>,
    /// `required=true`
    pub(super) markers: Vec<Marker<'a>>,
}

/// `name=value`
pub(super) struct Marker<'a> {
    pub(super) name: Spanned<&'a str>,
    /// Unquoted.
    pub(super) value: Spanned<String>,
}

/// Something with its bytes in the field's text.
#[derive(Clone)]
pub(super) struct Spanned<T> {
    pub(super) is: T,
    pub(super) at: Range<usize>,
}

/// What is wrong with a text, where.
pub(super) struct TextError {
    pub(super) message: String,
    pub(super) at: Range<usize>,
    pub(super) help: Option<String>,
}

pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// Splits a text. What can be read of it is there, whatever is wrong with the rest.
pub(super) fn split<'a>(text: &'a str, errors: &mut Vec<TextError>) -> FieldText<'a> {
    let ty = text.split_once('|').map_or(text, |(ty, _)| ty);
    let start = ty.len() - ty.trim_start().len();
    let trimmed = ty.trim();
    let markers_start = if ty.len() == text.len() { text.len() } else { ty.len() + 1 };
    FieldText {
        ty: Spanned { is: trimmed, at: start..start + trimmed.len() },
        markers: Scanner { text, at: markers_start }.markers(errors),
    }
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

/// A word where a marker is expected.
fn without_value(name: &Spanned<&str>, before: Option<&Marker<'_>>) -> TextError {
    let (message, help) = match (name.is, before) {
        ("required" | "immutable" | "uniqueItems", _) => {
            (format!("marker `{}` has no value", name.is), format!("write `{}=true`", name.is))
        }
        ("|" | "||", _) => {
            (format!("`{}` is no marker", name.is), "one `|` stands between the type and all markers".to_owned())
        }
        (word, Some(before)) if !super::markers::is_known(word) => (
            format!("`{word}` is no marker"),
            format!("if it belongs to `{}`, put the whole value in quotes", before.name.is),
        ),
        (word, _) => (format!("marker `{word}` has no value"), format!("write `{word}=value`")),
    };
    error(message, name.at.clone(), Some(help))
}

impl<'a> Scanner<'a> {
    fn markers(mut self, errors: &mut Vec<TextError>) -> Vec<Marker<'a>> {
        let mut out = Vec::new();
        loop {
            self.skip_spaces();
            if self.peek().is_none() {
                return out;
            }
            let start = self.at;
            while self.peek().is_some_and(|c| c != '=' && !c.is_whitespace()) {
                self.bump();
            }
            let name = Spanned { is: self.slice(start..self.at), at: start..self.at };
            if name.is.is_empty() {
                self.bump();
                errors.push(error("a marker's name is missing before `=`", start..self.at, None));
                self.value(errors);
                continue;
            }
            if self.peek() != Some('=') {
                errors.push(without_value(&name, out.last()));
                continue;
            }
            self.bump();
            let value = self.value(errors);
            out.push(Marker { name, value });
        }
    }

    /// Up to the next space outside of quotes, brackets and braces.
    fn value(&mut self, errors: &mut Vec<TextError>) -> Spanned<String> {
        let start = self.at;
        let mut open: Vec<(char, usize)> = Vec::new();
        let mut in_quotes: Option<usize> = None;
        while let Some(c) = self.peek() {
            match c {
                '\\' if in_quotes.is_some() => self.bump(),
                '"' => in_quotes = if in_quotes.is_some() { None } else { Some(self.at) },
                _ if in_quotes.is_some() => {}
                '[' => open.push((']', self.at)),
                '{' => open.push(('}', self.at)),
                #[expect(clippy::collapsible_match, reason = "a guard that pops would hide that it does")]
                ']' | '}' => {
                    if open.pop().is_none_or(|(expected, _)| expected != c) {
                        errors.push(error(
                            format!("unmatched `{c}`"),
                            self.at..self.at + 1,
                            Some("put the value in quotes".to_owned()),
                        ));
                        open.clear();
                    }
                }
                c if c.is_whitespace() && open.is_empty() => break,
                _ => {}
            }
            self.bump();
        }
        if let Some(quote) = in_quotes {
            errors.push(error("this quote is never closed", quote..self.text.len(), None));
        } else if let Some((expected, at)) = open.pop() {
            errors.push(error(format!("`{expected}` is missing"), at..self.text.len(), None));
        }
        let raw = self.slice(start..self.at);
        let inner = raw.strip_prefix('"').and_then(|r| r.strip_suffix('"')).filter(|_| raw.len() > 1);
        let is = inner.map_or_else(|| raw.to_owned(), unescape);
        Spanned { is, at: start..self.at }
    }

    fn skip_spaces(&mut self) {
        while self.peek().is_some_and(char::is_whitespace) {
            self.bump();
        }
    }

    fn peek(&self) -> Option<char> {
        self.text.get(self.at..)?.chars().next()
    }

    fn bump(&mut self) {
        self.at += self.peek().map_or(0, char::len_utf8);
    }

    fn slice(&self, range: Range<usize>) -> &'a str {
        self.text.get(range).unwrap_or("")
    }
}

pub(super) fn error(message: impl Into<String>, at: Range<usize>, help: Option<String>) -> TextError {
    TextError { message: message.into(), at, help }
}

/// `\"` and `\\`; another backslash stays, so that patterns may be written plainly.
fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some(c @ ('"' | '\\')) => out.push(c),
            Some(other) => out.extend(['\\', other]),
            None => out.push('\\'),
        }
    }
    out
}
