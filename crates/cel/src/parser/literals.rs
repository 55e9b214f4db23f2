//! The values of literal tokens: numbers, strings and bytes with their escapes.
//!
//! Absent: where tokens begin and end (lexer: a token reaches this file only if its escapes have the right form).
use crate::{ast::Literal, lexer::TokenKind};

/// The value of a literal token, or cel-go's complaint. `text` may begin with `-` if it is a number.
pub(crate) fn literal(kind: TokenKind, text: &str) -> Result<Literal, &'static str> {
    match kind {
        TokenKind::True => Ok(Literal::Bool(true)),
        TokenKind::False => Ok(Literal::Bool(false)),
        TokenKind::Int => int(text).map(Literal::Int).ok_or("invalid int literal"),
        TokenKind::Uint => uint(text).map(Literal::Uint).ok_or("invalid uint literal"),
        TokenKind::Double => double(text).map(Literal::Double).ok_or("invalid double literal"),
        TokenKind::String => {
            let bytes = unescape(text, false)?;
            let string = String::from_utf8(bytes).map_err(|_| "unable to unescape string")?;
            Ok(Literal::String(string.into()))
        }
        TokenKind::Bytes => {
            let rest = text.strip_prefix(['b', 'B']).unwrap_or(text);
            Ok(Literal::Bytes(unescape(rest, true)?.into()))
        }
        _ => Ok(Literal::Null),
    }
}

fn int(text: &str) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest.trim_start()),
        None => (false, text),
    };
    let magnitude = match digits.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok()?,
        None => digits.parse::<u64>().ok()?,
    };
    if negative { 0i64.checked_sub_unsigned(magnitude) } else { i64::try_from(magnitude).ok() }
}

fn uint(text: &str) -> Option<u64> {
    let digits = text.strip_suffix(['u', 'U'])?;
    match digits.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => digits.parse().ok(),
    }
}

fn double(text: &str) -> Option<f64> {
    // Rust reads `1e400` as infinity where Go reports a range error.
    text.parse::<f64>().ok().filter(|d| d.is_finite())
}

/// The content of a string token. `\r\n` and `\r` written in the source are `\n`, as cel-go has it.
fn unescape(text: &str, bytes: bool) -> Result<Vec<u8>, &'static str> {
    let (raw, quoted) = match text.strip_prefix(['r', 'R']) {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let quotes = if quoted.len() >= 6 && (quoted.starts_with("'''") || quoted.starts_with("\"\"\"")) { 3 } else { 1 };
    let content = quoted.get(quotes..quoted.len().saturating_sub(quotes)).unwrap_or_default();
    let mut out = Vec::with_capacity(content.len());
    let mut chars = content.chars();
    while let Some(c) = chars.next() {
        match c {
            '\r' => {
                if chars.as_str().starts_with('\n') {
                    chars.next();
                }
                out.push(b'\n');
            }
            '\\' if !raw => escape(&mut chars, bytes, &mut out)?,
            c => push(c, &mut out),
        }
    }
    Ok(out)
}

fn push(c: char, out: &mut Vec<u8>) {
    out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
}

fn escape(chars: &mut std::str::Chars<'_>, bytes: bool, out: &mut Vec<u8>) -> Result<(), &'static str> {
    const BAD: &str = "unable to unescape string";
    let simple = match chars.next().ok_or(BAD)? {
        'a' => 0x07,
        'b' => 0x08,
        'f' => 0x0c,
        'n' => b'\n',
        'r' => b'\r',
        't' => b'\t',
        'v' => 0x0b,
        c @ ('\\' | '\'' | '"' | '`' | '?') => u8::try_from(c).map_err(|_| BAD)?,
        'x' | 'X' => return code(chars, 2, 16, 0).map(|n| unit(n, bytes, out)).ok_or(BAD),
        c @ '0'..='3' => return code(chars, 2, 8, c.to_digit(8).unwrap_or(0)).map(|n| unit(n, bytes, out)).ok_or(BAD),
        c @ ('u' | 'U') => {
            if bytes {
                return Err(BAD);
            }
            let n = code(chars, if c == 'u' { 4 } else { 8 }, 16, 0).ok_or(BAD)?;
            push(char::from_u32(n).ok_or("invalid unicode code point")?, out);
            return Ok(());
        }
        _ => return Err(BAD),
    };
    out.push(simple);
    Ok(())
}

/// `\x` and octal escapes: a byte in bytes, a code point in strings.
fn unit(n: u32, bytes: bool, out: &mut Vec<u8>) {
    match u8::try_from(n) {
        Ok(byte) if bytes => out.push(byte),
        _ => push(char::from_u32(n).unwrap_or(char::REPLACEMENT_CHARACTER), out),
    }
}

fn code(chars: &mut std::str::Chars<'_>, digits: usize, radix: u32, first: u32) -> Option<u32> {
    let mut n = first;
    for _ in 0..digits {
        n = n.checked_mul(radix)?.checked_add(chars.next()?.to_digit(radix)?)?;
    }
    Some(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn string(text: &str, expected: &str) {
        assert_eq!(literal(TokenKind::String, text), Ok(Literal::String(expected.into())), "{text}");
    }

    #[test]
    fn strings_unescape() {
        string(r"'\x41\101\u00e9\U0001f600\n\\'", "AAé😀\n\\");
        string(r"r'\n'", r"\n");
        string("'''a\r\nb'''", "a\nb");
        string("'\u{ff}'", "ÿ");
        assert_eq!(
            literal(TokenKind::Bytes, r"b'\xff\377é'"),
            Ok(Literal::Bytes(Vec::from(b"\xff\xff\xc3\xa9").into()))
        );
        assert_eq!(literal(TokenKind::String, r"'\ud83d'"), Err("invalid unicode code point"));
        assert_eq!(literal(TokenKind::Bytes, r"b'\u00e9'"), Err("unable to unescape string"));
    }

    #[test]
    fn numbers_have_bounds() {
        assert_eq!(literal(TokenKind::Int, "-9223372036854775808"), Ok(Literal::Int(i64::MIN)));
        assert_eq!(literal(TokenKind::Int, "9223372036854775808"), Err("invalid int literal"));
        assert_eq!(literal(TokenKind::Int, "-0x8000000000000000"), Ok(Literal::Int(i64::MIN)));
        assert_eq!(literal(TokenKind::Uint, "0xffffffffffffffffu"), Ok(Literal::Uint(u64::MAX)));
        assert_eq!(literal(TokenKind::Double, "-1e400"), Err("invalid double literal"));
    }
}
