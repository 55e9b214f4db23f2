//! Text to tokens, by CEL's lexical grammar: longest match, no token is an error.
//!
//! A piece of text that is no token becomes an issue and is skipped, so that the parser sees what is left.
//!
//! Absent: what literals mean (`parser::literals`), which identifiers are reserved (parser).
use crate::source::{Found, Issue, Span};

/// What a token is; its text is in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    Ident,
    /// `` `a-b` ``
    EscapedIdent,
    Int,
    Uint,
    Double,
    String,
    Bytes,
    True,
    False,
    Null,
    In,
    Dot,
    Question,
    Colon,
    Comma,
    LeftParen,
    RightParen,
    LeftBracket,
    RightBracket,
    LeftBrace,
    RightBrace,
    Not,
    Minus,
    Plus,
    Star,
    Slash,
    Percent,
    And,
    Or,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Eof,
}

impl TokenKind {
    /// Whether it is a constant by itself: a number, a text, bytes, `true`, `false`, `null`.
    pub(crate) fn is_literal(self) -> bool {
        use TokenKind as T;
        matches!(self, T::Int | T::Uint | T::Double | T::String | T::Bytes | T::True | T::False | T::Null)
    }
}

/// A token and where it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) span: Span,
}

/// All tokens, the last being `Eof`. What is no token is reported in `issues`.
pub(crate) fn tokens(text: &str, issues: &mut Found) -> Vec<Token> {
    let mut lexer = Lexer { bytes: text.as_bytes(), pos: 0 };
    let mut tokens = Vec::with_capacity(text.len() / 3 + 1);
    loop {
        lexer.skip_blank();
        let start = lexer.pos;
        if start >= text.len() {
            break;
        }
        match lexer.token() {
            Some(kind) => tokens.push(Token { kind, span: span(start, lexer.pos) }),
            None => {
                // `pos` stands at the byte that fits no token; its whole character is part of the report.
                let stop = lexer.pos.min(text.len());
                let end = (stop + 1..=text.len()).find(|&i| text.is_char_boundary(i)).unwrap_or(text.len());
                lexer.pos = end;
                if issues.is_full() {
                    issues.omit();
                } else {
                    let bad = text.get(start..end).unwrap_or_default();
                    issues.push(Issue {
                        span: span(start, end),
                        at: Some(offset(start)),
                        message: format!("Syntax error: token recognition error at: '{bad}'"),
                        help: help_for(bad, text.get(..start).unwrap_or_default(), text.get(end..).unwrap_or_default()),
                    });
                }
            }
        }
    }
    tokens.push(Token { kind: TokenKind::Eof, span: span(text.len(), text.len()) });
    tokens
}

/// What may have been meant by `bad`, given what is before and after it.
fn help_for(bad: &str, before: &str, after: &str) -> Option<String> {
    let help = match bad.chars().next()? {
        '=' if bad == "=>" => "did you mean `>=`? Macros take the variable as an argument: `.exists(x, x > 0)`",
        '=' if before.ends_with("!=") => "did you mean `!=`?",
        '=' if before.ends_with(['\'', '"']) && before.contains('{') => "an entry is `key: value`, a comparison `==`",
        '=' if before.ends_with(['+', '-', '*', '/', ':']) => "nothing can be assigned: an expression gives a value",
        '=' if before.trim_end().ends_with('<') => "did you mean `<=`?",
        '=' if before.trim_end().ends_with('>') => "did you mean `>=`?",
        '=' => "did you mean `==`?",
        '#' => "a comment begins with `//`",
        ';' => "leave the `;` out: this is one expression",
        '$' if after.starts_with('{') => "leave `${` and `}` out: this is an expression already",
        '&' => "did you mean `&&`?",
        '|' => "did you mean `||`?",
        '\'' | '"' if bad.contains('\\') => "a `\\` starts an escape sequence; use a raw string (r'...') or `\\\\`",
        '\'' | '"' => "the string is not terminated on its line",
        '\u{201c}' | '\u{201d}' | '\u{2018}' | '\u{2019}' => "use straight quotes: ' or \"",
        '\u{2013}' | '\u{2014}' | '\u{2212}' => "did you mean `-`?",
        _ => return None,
    };
    Some(help.to_owned())
}

/// Texts are at most 400,000 bytes (100,000 code points), so offsets fit.
pub(crate) fn offset(i: usize) -> u32 {
    u32::try_from(i).unwrap_or(u32::MAX)
}

fn span(start: usize, end: usize) -> Span {
    Span { start: offset(start), end: offset(end) }
}

struct Lexer<'a> {
    bytes: &'a [u8],
    pos: usize,
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.pos + ahead).copied()
    }

    fn skip_blank(&mut self) {
        loop {
            match self.peek(0) {
                Some(b' ' | b'\t' | b'\r' | b'\n' | 0x0c) => self.pos += 1,
                Some(b'/') if self.peek(1) == Some(b'/') => {
                    while self.peek(0).is_some_and(|b| b != b'\n') {
                        self.pos += 1;
                    }
                }
                _ => return,
            }
        }
    }

    /// The kind of the token at `pos`, which moves past it; `None` with `pos` at the byte that fits nothing.
    fn token(&mut self) -> Option<TokenKind> {
        use TokenKind as T;
        let first = self.peek(0)?;
        let (len, kind) = match (first, self.peek(1)) {
            (b'0'..=b'9', _) => return Some(self.number()),
            (b'.', Some(b'0'..=b'9')) => return Some(self.number()),
            (b'a'..=b'z' | b'A'..=b'Z' | b'_', _) => return Some(self.word()),
            (b'\'' | b'"', _) => return self.string(false).then_some(T::String),
            (b'`', _) => return self.escaped_ident(),
            (b'=', Some(b'=')) => (2, T::Equal),
            (b'!', Some(b'=')) => (2, T::NotEqual),
            (b'<', Some(b'=')) => (2, T::LessEqual),
            (b'>', Some(b'=')) => (2, T::GreaterEqual),
            (b'&', Some(b'&')) => (2, T::And),
            (b'|', Some(b'|')) => (2, T::Or),
            (b'=' | b'&' | b'|', _) => {
                self.pos += 1;
                return None;
            }
            (b'!', _) => (1, T::Not),
            (b'<', _) => (1, T::Less),
            (b'>', _) => (1, T::Greater),
            (b'.', _) => (1, T::Dot),
            (b'?', _) => (1, T::Question),
            (b':', _) => (1, T::Colon),
            (b',', _) => (1, T::Comma),
            (b'(', _) => (1, T::LeftParen),
            (b')', _) => (1, T::RightParen),
            (b'[', _) => (1, T::LeftBracket),
            (b']', _) => (1, T::RightBracket),
            (b'{', _) => (1, T::LeftBrace),
            (b'}', _) => (1, T::RightBrace),
            (b'-', _) => (1, T::Minus),
            (b'+', _) => (1, T::Plus),
            (b'*', _) => (1, T::Star),
            (b'/', _) => (1, T::Slash),
            (b'%', _) => (1, T::Percent),
            _ => return None,
        };
        self.pos += len;
        Some(kind)
    }

    fn digits(&mut self) {
        while self.peek(0).is_some_and(|b| b.is_ascii_digit()) {
            self.pos += 1;
        }
    }

    fn number(&mut self) -> TokenKind {
        if self.peek(0) == Some(b'0')
            && self.peek(1) == Some(b'x')
            && self.peek(2).is_some_and(|b| b.is_ascii_hexdigit())
        {
            self.pos += 2;
            while self.peek(0).is_some_and(|b| b.is_ascii_hexdigit()) {
                self.pos += 1;
            }
            return self.unsigned_suffix();
        }
        self.digits();
        let mut kind = TokenKind::Int;
        if self.peek(0) == Some(b'.') && self.peek(1).is_some_and(|b| b.is_ascii_digit()) {
            self.pos += 1;
            self.digits();
            kind = TokenKind::Double;
        }
        if matches!(self.peek(0), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(self.peek(1), Some(b'+' | b'-')));
            if self.peek(1 + sign).is_some_and(|b| b.is_ascii_digit()) {
                self.pos += 1 + sign;
                self.digits();
                kind = TokenKind::Double;
            }
        }
        if kind == TokenKind::Int { self.unsigned_suffix() } else { kind }
    }

    fn unsigned_suffix(&mut self) -> TokenKind {
        if matches!(self.peek(0), Some(b'u' | b'U')) {
            self.pos += 1;
            return TokenKind::Uint;
        }
        TokenKind::Int
    }

    /// An identifier, a keyword, or the prefix of a string with the string.
    fn word(&mut self) -> TokenKind {
        let start = self.pos;
        while self.peek(0).is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_') {
            self.pos += 1;
        }
        let end = self.pos;
        let word = self.bytes.get(start..end).unwrap_or_default();
        if matches!(self.peek(0), Some(b'\'' | b'"')) {
            let (kind, raw) = match word {
                b"r" | b"R" => (TokenKind::String, true),
                b"b" | b"B" => (TokenKind::Bytes, false),
                b"br" | b"bR" | b"Br" | b"BR" => (TokenKind::Bytes, true),
                _ => return TokenKind::Ident,
            };
            if self.string(raw) {
                return kind;
            }
            // The string is broken: the prefix alone is the longest match, the string is reported next.
            self.pos = end;
            return TokenKind::Ident;
        }
        match word {
            b"true" => TokenKind::True,
            b"false" => TokenKind::False,
            b"null" => TokenKind::Null,
            b"in" => TokenKind::In,
            _ => TokenKind::Ident,
        }
    }

    fn escaped_ident(&mut self) -> Option<TokenKind> {
        let start = self.pos;
        self.pos += 1;
        while self.peek(0).is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-' | b'/' | b' ')) {
            self.pos += 1;
        }
        if self.peek(0) != Some(b'`') || self.pos == start + 1 {
            return None;
        }
        self.pos += 1;
        Some(TokenKind::EscapedIdent)
    }

    /// Whether a string starts at `pos`, which then moves past it; else `pos` is at the byte that breaks it.
    fn string(&mut self, raw: bool) -> bool {
        let Some(quote) = self.peek(0) else { return false };
        if self.peek(1) == Some(quote) && self.peek(2) == Some(quote) {
            let start = self.pos;
            self.pos += 3;
            if self.string_rest(quote, raw, true) {
                return true;
            }
            // Not terminated: the longest token here is the empty string.
            self.pos = start + 2;
            return true;
        }
        self.pos += 1;
        self.string_rest(quote, raw, false)
    }

    fn string_rest(&mut self, quote: u8, raw: bool, triple: bool) -> bool {
        loop {
            match self.peek(0) {
                None => return false,
                Some(b) if b == quote => {
                    if !triple {
                        self.pos += 1;
                        return true;
                    }
                    if self.peek(1) == Some(quote) && self.peek(2) == Some(quote) {
                        self.pos += 3;
                        return true;
                    }
                    self.pos += 1;
                }
                Some(b'\n' | b'\r') if !triple => return false,
                Some(b'\\') if !raw => {
                    self.pos += 1;
                    if !self.escape() {
                        return false;
                    }
                }
                Some(_) => self.pos += 1,
            }
        }
    }

    /// Past what follows a backslash.
    fn escape(&mut self) -> bool {
        let Some(first) = self.peek(0) else { return false };
        let hex = match first {
            b'a' | b'b' | b'f' | b'n' | b'r' | b't' | b'v' | b'"' | b'\'' | b'\\' | b'?' | b'`' => 0,
            b'0'..=b'3' => {
                self.pos += 1;
                return self.exactly(2, |b| (b'0'..=b'7').contains(&b));
            }
            b'x' | b'X' => 2,
            b'u' => 4,
            b'U' => 8,
            _ => return false,
        };
        self.pos += 1;
        self.exactly(hex, |b| b.is_ascii_hexdigit())
    }

    fn exactly(&mut self, n: usize, is: impl Fn(u8) -> bool) -> bool {
        for _ in 0..n {
            if !self.peek(0).is_some_and(&is) {
                return false;
            }
            self.pos += 1;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::{TokenKind as T, *};

    #[track_caller]
    fn check(text: &str, expected: &[T], errors: &[&str]) {
        let mut found = Found::default();
        let mut kinds: Vec<T> = tokens(text, &mut found).iter().map(|t| t.kind).collect();
        let issues = found.into_issues().list;
        assert_eq!(kinds.pop(), Some(T::Eof));
        assert_eq!(kinds, expected, "{text}");
        let found: Vec<&str> =
            issues.iter().map(|i| i.message.trim_start_matches("Syntax error: token recognition error at: ")).collect();
        assert_eq!(found, errors, "{text}");
    }

    #[test]
    fn numbers() {
        check(
            "1 0x1F 2u 0xau 1.5 .5 1e3 1.5e-3",
            &[T::Int, T::Int, T::Uint, T::Uint, T::Double, T::Double, T::Double, T::Double],
            &[],
        );
        check("1.e1", &[T::Int, T::Dot, T::Ident], &[]);
        check("x.1", &[T::Ident, T::Double], &[]);
        check("0.1e", &[T::Double, T::Ident], &[]);
        check("0b101", &[T::Int, T::Ident], &[]);
    }

    #[test]
    fn strings() {
        check(
            r#"'a' "b" r'\' b'c' br"d" """e"f""" '''g'''"#,
            &[T::String, T::String, T::String, T::Bytes, T::Bytes, T::String, T::String],
            &[],
        );
        check(r"'\x41\101\u0041\U00000041\n\`'", &[T::String], &[]);
        check("\"\"\"\"", &[T::String, T::String], &[]);
        check("'\"\"\"", &[], &["''\"\"\"'"]);
        check(r"'\xzz'", &[T::Ident], &[r"''\xz'", "'''"]);
        check(r"b'\400'", &[T::Ident, T::Int], &[r"''\4'", "'''"]);
        check("'a\n'", &[], &["''a\n'", "'''"]);
        check("rb'a'", &[T::Ident, T::String], &[]);
    }

    #[test]
    fn what_is_no_token() {
        check("1 = 1", &[T::Int, T::Int], &["'= '"]);
        check("1 & 2", &[T::Int, T::Int], &["'& '"]);
        check("é.日", &[T::Dot], &["'é'", "'日'"]);
        check("x.``", &[T::Ident, T::Dot], &["'``'"]);
        check("x.`a-b` // c", &[T::Ident, T::Dot, T::EscapedIdent], &[]);
        check("'é", &[], &["''é'"]);
        check("=", &[], &["'='"]);
    }
}
