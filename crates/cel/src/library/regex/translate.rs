//! RE2's syntax into the engine's: what both write differently is rewritten, what only the engine knows is refused.
//!
//! Perl classes and word boundaries are ASCII, classes know no set operations, escapes of punctuation mean themselves,
//! `\Q...\E`, octal escapes, at most 1,000 repetitions. Messages are Go's.
//!
//! Absent: compiling.
use std::fmt::Write;

/// Go's own bound of `{n,m}`.
const MAX_REPEAT: u32 = 1000;

type Result<T> = std::result::Result<T, String>;

/// The pattern in the engine's syntax, or Go's words for what is wrong with it.
pub(crate) fn to_rust(pattern: &str) -> Result<String> {
    let mut t = Translator {
        pattern,
        rest: pattern,
        out: String::with_capacity(pattern.len() + 16),
        open: 0,
        repeatable: false,
    };
    while let Some(c) = t.peek() {
        t.item(c)?;
    }
    if t.open > 0 { Err(format!("missing closing ): `{pattern}`")) } else { Ok(t.out) }
}

struct Translator<'a> {
    pattern: &'a str,
    rest: &'a str,
    out: String,
    open: usize,
    /// Whether there is something that `*` may follow.
    repeatable: bool,
}

/// One member of a class, or an escape.
enum Member {
    Char(char),
    /// Already in the engine's class syntax.
    Class(String),
}

impl<'a> Translator<'a> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn take(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.rest = self.rest.get(c.len_utf8()..).unwrap_or("");
        Some(c)
    }

    fn eat(&mut self, prefix: &str) -> bool {
        let Some(rest) = self.rest.strip_prefix(prefix) else { return false };
        self.rest = rest;
        true
    }

    /// What was read since `start`.
    fn since(&self, start: &'a str) -> &'a str {
        start.get(..start.len() - self.rest.len()).unwrap_or(start)
    }

    fn literal(&mut self, c: char) {
        if c.is_ascii_alphanumeric() || c == ' ' || !c.is_ascii() {
            self.out.push(c);
        } else {
            let _ = write!(self.out, "\\x{{{:X}}}", u32::from(c));
        }
        self.repeatable = true;
    }

    fn item(&mut self, c: char) -> Result<()> {
        match c {
            '(' => return self.group(),
            ')' => {
                if self.open == 0 {
                    return Err(format!("unexpected ): `{}`", self.pattern));
                }
                self.open -= 1;
                self.take();
                self.out.push(')');
                self.repeatable = true;
            }
            '|' => {
                self.take();
                self.out.push('|');
                self.repeatable = false;
            }
            '*' | '+' | '?' => return self.repetition(),
            '{' => match self.counts()? {
                Some(_) => return self.repetition(),
                None => {
                    self.take();
                    self.literal('{');
                }
            },
            '[' => return self.class(),
            '.' | '^' | '$' => {
                self.take();
                self.out.push(c);
                self.repeatable = true;
            }
            '\\' => return self.escape(),
            _ => {
                self.take();
                self.literal(c);
            }
        }
        Ok(())
    }

    fn group(&mut self) -> Result<()> {
        let start = self.rest;
        self.take();
        self.repeatable = false;
        if !self.eat("?") {
            self.out.push('(');
            self.open += 1;
            return Ok(());
        }
        if self.eat("P<") || self.eat("<") {
            let unsupported =
                || Err(format!("invalid or unsupported Perl syntax: `{}`", start.get(..3).unwrap_or(start)));
            if matches!(self.peek(), Some('=' | '!')) {
                return unsupported();
            }
            let Some((name, rest)) = self.rest.split_once('>') else {
                return Err(format!("invalid named capture: `{start}`"));
            };
            self.rest = rest;
            if name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
                return Err(format!("invalid named capture: `{}`", self.since(start)));
            }
            // Go's names may begin with a digit; the engine's not. The position is what counts here.
            self.out.push('(');
            self.open += 1;
            return Ok(());
        }
        let mut flags = String::new();
        let mut negative = false;
        loop {
            let bad = |t: &Self| Err(format!("invalid or unsupported Perl syntax: `{}`", t.since(start)));
            match self.take() {
                Some(flag @ ('i' | 'm' | 's' | 'U')) => flags.push(flag),
                Some('-') if !negative => {
                    negative = true;
                    flags.push('-');
                }
                Some(':') if !flags.ends_with('-') => {
                    let _ = write!(self.out, "(?{flags}:");
                    self.open += 1;
                    return Ok(());
                }
                Some(')') if !flags.ends_with('-') => {
                    if !flags.is_empty() {
                        let _ = write!(self.out, "(?{flags})");
                    }
                    return Ok(());
                }
                None => return Err(format!("missing closing ): `{}`", self.pattern)),
                _ => return bad(self),
            }
        }
    }

    /// `{n}`, `{n,}`, `{n,m}` ahead; `None` where it is no such thing and stands for itself.
    fn counts(&self) -> Result<Option<&'a str>> {
        let Some((inside, _)) = self.rest.get(1..).and_then(|r| r.split_once('}')) else { return Ok(None) };
        let (low, high) = inside.split_once(',').map_or((inside, None), |(low, high)| (low, Some(high)));
        let number =
            |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit()) && (s == "0" || !s.starts_with('0'));
        if !number(low) || !high.is_none_or(|h| h.is_empty() || number(h)) {
            return Ok(None);
        }
        let count = |s: &str| s.parse::<u32>().unwrap_or(u32::MAX);
        let (least, most) = (count(low), high.filter(|h| !h.is_empty()).map(count));
        let whole = self.rest.get(..inside.len() + 2).unwrap_or(self.rest);
        if least > MAX_REPEAT || most.is_some_and(|most| most > MAX_REPEAT || most < least) {
            return Err(format!("invalid repeat count: `{whole}`"));
        }
        Ok(Some(whole))
    }

    fn operator(&mut self) -> Result<Option<&'a str>> {
        let start = self.rest;
        match self.peek() {
            Some('*' | '+' | '?') => {
                self.take();
            }
            Some('{') => match self.counts()? {
                Some(counts) => self.rest = self.rest.get(counts.len()..).unwrap_or(""),
                None => return Ok(None),
            },
            _ => return Ok(None),
        }
        self.eat("?");
        Ok(Some(self.since(start)))
    }

    fn repetition(&mut self) -> Result<()> {
        let start = self.rest;
        let Some(operator) = self.operator()? else { return Ok(()) };
        if !self.repeatable {
            return Err(format!(
                "missing argument to repetition operator: `{}`",
                operator.strip_suffix('?').filter(|o| !o.is_empty()).unwrap_or(operator)
            ));
        }
        self.out.push_str(operator);
        if self.operator()?.is_some() {
            return Err(format!("invalid nested repetition operator: `{}`", self.since(start)));
        }
        Ok(())
    }

    fn escape(&mut self) -> Result<()> {
        if self.eat("\\Q") {
            let (quoted, rest) = self.rest.split_once("\\E").unwrap_or((self.rest, ""));
            for c in quoted.chars() {
                self.literal(c);
            }
            self.rest = rest;
            return Ok(());
        }
        for (escape, meaning) in [("\\A", "\\A"), ("\\z", "\\z"), ("\\b", "(?-u:\\b)"), ("\\B", "(?-u:\\B)")] {
            if self.eat(escape) {
                self.out.push_str(meaning);
                self.repeatable = true;
                return Ok(());
            }
        }
        match self.escaped()? {
            Member::Char(c) => self.literal(c),
            Member::Class(class) => {
                let _ = write!(self.out, "[{class}]");
                self.repeatable = true;
            }
        }
        Ok(())
    }

    /// What follows a backslash, in a class or out of it.
    fn escaped(&mut self) -> Result<Member> {
        let start = self.rest;
        self.take();
        let Some(c) = self.take() else {
            return Err("trailing backslash at end of expression: ``".to_string());
        };
        let class = |class: &str| Ok(Member::Class(class.to_string()));
        match c {
            'd' => class("0-9"),
            'D' => class("[^0-9]"),
            'w' => class("0-9A-Za-z_"),
            'W' => class("[^0-9A-Za-z_]"),
            's' => class("\\t\\n\\x0C\\r\\x20"),
            'S' => class("[^\\t\\n\\x0C\\r\\x20]"),
            'p' | 'P' => self.property(start, c == 'P'),
            'a' => Ok(Member::Char('\x07')),
            'f' => Ok(Member::Char('\x0c')),
            't' => Ok(Member::Char('\t')),
            'n' => Ok(Member::Char('\n')),
            'r' => Ok(Member::Char('\r')),
            'v' => Ok(Member::Char('\x0b')),
            'x' => self.hexadecimal(start),
            '1'..='7' if !matches!(self.peek(), Some('0'..='7')) => Err(self.bad_escape(start)),
            '0'..='7' => {
                let mut code = c.to_digit(8).unwrap_or(0);
                for _ in 0..2 {
                    let Some(digit) = self.peek().and_then(|c| c.to_digit(8)) else { break };
                    code = code * 8 + digit;
                    self.take();
                }
                char::from_u32(code).map(Member::Char).ok_or_else(|| self.bad_escape(start))
            }
            c if c.is_ascii() && !c.is_ascii_alphanumeric() => Ok(Member::Char(c)),
            _ => Err(self.bad_escape(start)),
        }
    }

    fn bad_escape(&self, start: &'a str) -> String {
        format!("invalid escape sequence: `{}`", self.since(start))
    }

    fn hexadecimal(&mut self, start: &'a str) -> Result<Member> {
        let digits = if self.eat("{") {
            let Some((digits, rest)) = self.rest.split_once('}') else { return Err(self.bad_escape(start)) };
            self.rest = rest;
            digits
        } else {
            let digits = self.rest.get(..2).unwrap_or("");
            self.rest = self.rest.get(digits.len()..).unwrap_or("");
            digits
        };
        let valid = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit());
        let code = u32::from_str_radix(digits, 16).ok().filter(|_| valid);
        code.and_then(char::from_u32).map(Member::Char).ok_or_else(|| self.bad_escape(start))
    }

    /// `\pL`, `\p{Greek}`, `\p{^Greek}`.
    fn property(&mut self, start: &'a str, negated: bool) -> Result<Member> {
        let bad = |t: &Self| Err(format!("invalid character class range: `{}`", t.since(start)));
        let name = if self.eat("{") {
            let Some((name, rest)) = self.rest.split_once('}') else {
                self.rest = "";
                return bad(self);
            };
            self.rest = rest;
            name.to_string()
        } else {
            self.take().map(String::from).unwrap_or_default()
        };
        let (negated, name) = name.strip_prefix('^').map_or((negated, name.as_str()), |name| (!negated, name));
        if name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphabetic() || b == b'_') {
            return bad(self);
        }
        let class = format!("\\{}{{{name}}}", if negated { 'P' } else { 'p' });
        // The engine decides which names there are.
        if regex_syntax::parse(&class).is_err() {
            return bad(self);
        }
        Ok(Member::Class(class))
    }

    fn class(&mut self) -> Result<()> {
        let start = self.rest;
        self.take();
        self.out.push('[');
        if self.eat("^") {
            self.out.push('^');
        }
        let mut first = true;
        loop {
            match self.peek() {
                None => return Err(format!("missing closing ]: `{start}`")),
                Some(']') if !first => break,
                _ => {}
            }
            first = false;
            let from = self.rest;
            let low = match self.member()? {
                Member::Class(class) => {
                    self.out.push_str(&class);
                    continue;
                }
                Member::Char(c) => c,
            };
            let mut high = low;
            let mut ahead = self.rest.chars();
            if ahead.next() == Some('-') && !matches!(ahead.next(), Some(']') | None) {
                self.take();
                let to = self.member()?;
                high = match to {
                    Member::Char(high) if high >= low => high,
                    _ => return Err(format!("invalid character class range: `{}`", self.since(from))),
                };
            }
            let _ = write!(self.out, "\\x{{{:X}}}-\\x{{{:X}}}", u32::from(low), u32::from(high));
        }
        self.take();
        self.out.push(']');
        self.repeatable = true;
        Ok(())
    }

    fn member(&mut self) -> Result<Member> {
        const NAMES: [&str; 14] = [
            "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper",
            "word", "xdigit",
        ];
        if let Some((name, _)) = self.rest.strip_prefix("[:").and_then(|r| r.split_once(":]")) {
            let whole = self.rest.get(..name.len() + 4).unwrap_or(self.rest);
            if !NAMES.contains(&name.strip_prefix('^').unwrap_or(name)) {
                return Err(format!("invalid character class range: `{whole}`"));
            }
            self.rest = self.rest.get(whole.len()..).unwrap_or("");
            return Ok(Member::Class(whole.to_string()));
        }
        if self.peek() == Some('\\') {
            return self.escaped();
        }
        self.take().map(Member::Char).ok_or_else(|| format!("missing closing ]: `{}`", self.pattern))
    }
}

#[cfg(test)]
mod tests {
    use super::super::compile;

    #[track_caller]
    fn check(pattern: &str, matching: &[&str], others: &[&str]) {
        let regex = compile(pattern).unwrap();
        for text in matching {
            assert!(regex.is_match(*text), "`{pattern}` does not match {text:?}");
        }
        for text in others {
            assert!(!regex.is_match(*text), "`{pattern}` matches {text:?}");
        }
    }

    #[track_caller]
    fn refused(pattern: &str, message: &str) {
        match compile(pattern) {
            Err(crate::eval::Halt::Error(e)) => assert_eq!(e.message, format!("error parsing regexp: {message}")),
            other => panic!("`{pattern}` gives {other:?}"),
        }
    }

    #[test]
    fn classes_are_ascii() {
        check("^\\d+$", &["12"], &["٣"]);
        check("^[\\w-]+$", &["a-b"], &["é"]);
        check("^\\S$", &["\u{a0}", "\u{b}"], &[" "]);
        check("é\\b", &[], &["é"]);
        check("a\\B", &["ab"], &["aé"]);
        check("\\pL", &["é"], &["1"]);
        check("^\\p{^Greek}$", &["a"], &["α"]);
        check("^[[:alpha:]\\]&&[]+$", &["a]&["], &["1"]);
        check("^[]-a]$", &["]", "^", "a"], &["b"]);
    }

    #[test]
    fn what_only_the_engine_knows_is_text() {
        check("^[a&&b~~0]$", &["&", "~"], &["c"]);
        check("\\<a\\>", &["<a>"], &["a"]);
        check("^a{,2}$", &["a{,2}"], &["aa"]);
        check("^\\Qa.b\\E$", &["a.b"], &["axb"]);
        check("^\\101\\x{42}$", &["AB"], &[]);
        check("(?i)straße", &["STRAßE"], &[]);
        check("(?U)a+", &["a"], &[]);
    }

    #[test]
    fn mistakes_are_told_as_in_go() {
        refused("(", "missing closing ): `(`");
        refused("a)", "unexpected ): `a)`");
        refused("*", "missing argument to repetition operator: `*`");
        refused("a**", "invalid nested repetition operator: `**`");
        refused("[", "missing closing ]: `[`");
        refused("(?=a)", "invalid or unsupported Perl syntax: `(?=`");
        refused("(?x)a", "invalid or unsupported Perl syntax: `(?x`");
        refused("a{1001}", "invalid repeat count: `{1001}`");
        refused("\\y", "invalid escape sequence: `\\y`");
        refused("[z-a]", "invalid character class range: `z-a`");
        refused("\\", "trailing backslash at end of expression: ``");
        refused("\\1", "invalid escape sequence: `\\1`");
        assert!(compile("((((a{1000}){1000}){1000}){1000})").is_err());
    }
}
