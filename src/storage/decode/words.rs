//! Go's words for the first mistake in a JSON text: what Kubernetes' users know from kube-apiserver.
//!
//! Absent: values (json). It runs only when the parser has refused a text.

/// The first syntax error of `text` as `encoding/json` words it; `None` where its scanner sees none.
pub(super) fn syntax(text: &[u8]) -> Option<String> {
    let mut scanner = Scanner { text, at: 0 };
    match scanner.document() {
        Ok(()) => None,
        Err(Stop::End) => Some("unexpected end of JSON input".into()),
        Err(Stop::Invalid(byte, context)) => Some(format!("invalid character {} {context}", quote(byte))),
    }
}

enum Stop {
    End,
    Invalid(u8, String),
}

struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
}

/// An open collection: what it is waiting for is decided by the loop in [`Scanner::document`].
#[derive(Clone, Copy)]
enum Open {
    Array,
    Object,
}

impl Scanner<'_> {
    /// A loop with an explicit stack: the nesting is the sender's, the thread's stack is ours.
    fn document(&mut self) -> Result<(), Stop> {
        let mut open: Vec<Open> = Vec::new();
        loop {
            // At a value.
            let opened = match self.next_token()? {
                b'{' => {
                    open.push(Open::Object);
                    self.skip_space();
                    if self.peek() == Some(b'}') { false } else { self.key().map(|()| true)? }
                }
                b'[' => {
                    open.push(Open::Array);
                    self.skip_space();
                    self.peek() != Some(b']')
                }
                first => {
                    self.scalar(first)?;
                    false
                }
            };
            if opened {
                continue;
            }
            // After a value: close what closes, until a comma asks for the next one.
            loop {
                self.skip_space();
                match (open.last(), self.peek()) {
                    (None, None) => return Ok(()),
                    (None, Some(byte)) => return Err(Stop::Invalid(byte, "after top-level value".into())),
                    (Some(_), None) => return Err(Stop::End),
                    (Some(Open::Array), Some(b']')) | (Some(Open::Object), Some(b'}')) => {
                        self.at += 1;
                        open.pop();
                    }
                    (Some(Open::Array), Some(b',')) => {
                        self.at += 1;
                        break;
                    }
                    (Some(Open::Object), Some(b',')) => {
                        self.at += 1;
                        self.key()?;
                        break;
                    }
                    (Some(Open::Array), Some(byte)) => return Err(Stop::Invalid(byte, "after array element".into())),
                    (Some(Open::Object), Some(byte)) => {
                        return Err(Stop::Invalid(byte, "after object key:value pair".into()));
                    }
                }
            }
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn take(&mut self) -> Result<u8, Stop> {
        let byte = self.peek().ok_or(Stop::End)?;
        self.at += 1;
        Ok(byte)
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn next_token(&mut self) -> Result<u8, Stop> {
        self.skip_space();
        self.take()
    }

    fn key(&mut self) -> Result<(), Stop> {
        match self.next_token()? {
            b'"' => self.string()?,
            byte => return Err(Stop::Invalid(byte, "looking for beginning of object key string".into())),
        }
        match self.next_token()? {
            b':' => Ok(()),
            byte => Err(Stop::Invalid(byte, "after object key".into())),
        }
    }

    fn scalar(&mut self, first: u8) -> Result<(), Stop> {
        match first {
            b'"' => self.string(),
            b't' => self.literal("true"),
            b'f' => self.literal("false"),
            b'n' => self.literal("null"),
            b'-' | b'0'..=b'9' => self.number(first),
            byte => Err(Stop::Invalid(byte, "looking for beginning of value".into())),
        }
    }

    fn literal(&mut self, word: &str) -> Result<(), Stop> {
        for expected in word.bytes().skip(1) {
            let byte = self.take()?;
            if byte != expected {
                return Err(Stop::Invalid(byte, format!("in literal {word} (expecting {})", quote(expected))));
            }
        }
        Ok(())
    }

    fn string(&mut self) -> Result<(), Stop> {
        loop {
            match self.take()? {
                b'"' => return Ok(()),
                b'\\' => match self.take()? {
                    b'b' | b'f' | b'n' | b'r' | b't' | b'\\' | b'/' | b'"' => {}
                    b'u' => {
                        for _ in 0..4 {
                            let byte = self.take()?;
                            if !byte.is_ascii_hexdigit() {
                                return Err(Stop::Invalid(byte, "in \\u hexadecimal character escape".into()));
                            }
                        }
                    }
                    byte => return Err(Stop::Invalid(byte, "in string escape code".into())),
                },
                byte if byte < 0x20 => return Err(Stop::Invalid(byte, "in string literal".into())),
                _ => {}
            }
        }
    }

    fn number(&mut self, first: u8) -> Result<(), Stop> {
        let lead = if first == b'-' { self.digit("in numeric literal")? } else { first };
        if lead != b'0' {
            self.digits();
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digit("after decimal point in numeric literal")?;
            self.digits();
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digit("in exponent of numeric literal")?;
            self.digits();
        }
        Ok(())
    }

    fn digit(&mut self, context: &str) -> Result<u8, Stop> {
        match self.take()? {
            digit @ b'0'..=b'9' => Ok(digit),
            byte => Err(Stop::Invalid(byte, context.into())),
        }
    }

    fn digits(&mut self) {
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
    }
}

/// Go quotes the byte, taken for a code point.
fn quote(byte: u8) -> String {
    match byte {
        b'\'' => r"'\''".into(),
        b'"' => r#"'"'"#.into(),
        b'\\' => r"'\\'".into(),
        b'\n' => r"'\n'".into(),
        b'\r' => r"'\r'".into(),
        b'\t' => r"'\t'".into(),
        0x07 => r"'\a'".into(),
        0x08 => r"'\b'".into(),
        0x0b => r"'\v'".into(),
        0x0c => r"'\f'".into(),
        0x00..0x20 | 0x7f => format!("'\\x{byte:02x}'"),
        0x80..0xa1 | 0xad => format!("'\\u{byte:04x}'"),
        _ => format!("'{}'", char::from(byte)),
    }
}

#[cfg(test)]
mod tests {
    use super::syntax;

    #[track_caller]
    fn check(text: &str, words: Option<&str>) {
        assert_eq!(syntax(text.as_bytes()).as_deref(), words, "{text}");
    }

    #[test]
    fn words_are_those_of_encoding_json() {
        check("", Some("unexpected end of JSON input"));
        check(r#"{"a": [1, {"b": "c"}], "d": -0.5e+3, "e": null, "f": {}, "g": []}"#, None);
        check(r#"{"a"#, Some("unexpected end of JSON input"));
        check(r#"{"a": 1"#, Some("unexpected end of JSON input"));
        check("x", Some("invalid character 'x' looking for beginning of value"));
        check("[1,]", Some("invalid character ']' looking for beginning of value"));
        check("{,}", Some("invalid character ',' looking for beginning of object key string"));
        check(r#"{"a":1,}"#, Some("invalid character '}' looking for beginning of object key string"));
        check(r#"{"a" 1}"#, Some("invalid character '1' after object key"));
        check(r#"{"a":1 "b"}"#, Some("invalid character '\"' after object key:value pair"));
        check("[1 2]", Some("invalid character '2' after array element"));
        check("{} x", Some("invalid character 'x' after top-level value"));
        check("trux", Some("invalid character 'x' in literal true (expecting 'e')"));
        check("-x", Some("invalid character 'x' in numeric literal"));
        check("1.x", Some("invalid character 'x' after decimal point in numeric literal"));
        check("1ex", Some("invalid character 'x' in exponent of numeric literal"));
        check("\"a\nb\"", Some("invalid character '\\n' in string literal"));
        check(r#""\x""#, Some("invalid character 'x' in string escape code"));
        check(r#""\u00g0""#, Some("invalid character 'g' in \\u hexadecimal character escape"));
        check("01", Some("invalid character '1' after top-level value"));
        check("\u{feff}{}", Some("invalid character 'ï' looking for beginning of value"));
    }

    #[test]
    fn deep_texts_do_not_overflow() {
        check(&"[".repeat(3_000_000), Some("unexpected end of JSON input"));
    }
}
