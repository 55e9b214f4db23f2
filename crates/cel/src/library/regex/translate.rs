//! RE2's syntax into the engine's: what both write differently is rewritten, what only the engine knows is refused.
//!
//! Perl classes and word boundaries are ASCII, classes know no set operations, escapes of punctuation mean themselves,
//! `\Q...\E`, octal escapes, at most 1,000 repetitions. Messages are Go's.
//!
//! Absent: escapes and classes (class), compiling.
mod class;

use std::fmt::Write;

use self::class::Member;
use super::weight::RANGE;
use crate::limits::PATTERN_WEIGHT;

/// Go's own bound of `{n,m}`.
const MAX_REPEAT: u32 = 1000;

/// Code points of a class whose case is folded, which the engine goes through one by one, in a unit of weight.
const FOLDED: u64 = 8;

/// What no text has: surrogates.
const NOTHING: &str = "[^\\x{0}-\\x{10FFFF}]";

type Result<T> = std::result::Result<T, String>;

/// The pattern in the engine's syntax, with the weight of what reading it takes beyond its length; or Go's words for what is
/// wrong with it.
pub(crate) fn to_rust(pattern: &str) -> Result<(String, u64)> {
    let mut t = Translator {
        pattern,
        rest: pattern,
        out: String::with_capacity(pattern.len() + 16),
        open: vec![],
        repeatable: false,
        repeated: false,
        flags: String::new(),
        times: 1,
        most: 1,
        folds: false,
        weight: 0,
    };
    while let Some(c) = t.peek() {
        t.item(c)?;
    }
    t.flush();
    if t.open.is_empty() { Ok((t.out, t.weight)) } else { Err(format!("missing closing ): `{pattern}`")) }
}

struct Translator<'a> {
    pattern: &'a str,
    rest: &'a str,
    out: String,
    /// `most` outside of each group that is open.
    open: Vec<u32>,
    /// Whether there is something that `*` may follow.
    repeatable: bool,
    /// Whether the last item ends with an operator.
    repeated: bool,
    /// Flags that hold from the next item on: an operator after them still is of the item before.
    flags: String,
    /// How often the last item is repeated, repetitions in it included; the most of the items of this group so far.
    times: u32,
    most: u32,
    /// Whether case was ever ignored before.
    folds: bool,
    weight: u64,
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

    fn literal(&mut self, code: u32) {
        match char::from_u32(code) {
            None => self.out.push_str(NOTHING),
            Some(c) if c.is_ascii_alphanumeric() || c == ' ' || !c.is_ascii() => self.out.push(c),
            Some(_) => drop(write!(self.out, "\\x{{{code:X}}}")),
        }
        self.atom(1);
    }

    /// There is an item that may be repeated, and in it is what is repeated as often.
    fn atom(&mut self, times: u32) {
        self.repeatable = true;
        self.repeated = false;
        self.times = times;
        self.most = self.most.max(times);
    }

    fn open(&mut self) {
        self.open.push(self.most);
        self.most = 1;
        self.repeatable = false;
    }

    /// What reading the engine's form of a class takes, before it is read.
    fn weigh(&mut self, ranges: u64, code_points: u64) -> Result<()> {
        self.weight += RANGE * ranges + if self.folds { code_points / FOLDED } else { 0 };
        if self.weight > PATTERN_WEIGHT { Err(too_large(self.pattern)) } else { Ok(()) }
    }

    fn flush(&mut self) {
        let flags = std::mem::take(&mut self.flags);
        self.out.push_str(&flags);
    }

    fn item(&mut self, c: char) -> Result<()> {
        if !matches!(c, '*' | '+' | '?' | '{') {
            self.flush();
        }
        match c {
            '(' => return self.group(),
            ')' => {
                let Some(outside) = self.open.pop() else {
                    return Err(format!("unexpected ): `{}`", self.pattern));
                };
                self.take();
                self.out.push(')');
                let inside = std::mem::replace(&mut self.most, outside);
                self.atom(inside);
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
                    self.flush();
                    self.take();
                    self.literal('{'.into());
                }
            },
            '[' => return self.class(),
            '.' | '^' | '$' => {
                self.take();
                self.out.push(c);
                self.atom(1);
            }
            '\\' => return self.escape(),
            _ => {
                self.take();
                self.literal(c.into());
            }
        }
        Ok(())
    }

    fn group(&mut self) -> Result<()> {
        let start = self.rest;
        self.take();
        if !self.eat("?") {
            self.out.push('(');
            self.open();
            return Ok(());
        }
        if self.rest.len() > 2 && self.eat("P<") || self.rest.len() > 1 && self.eat("<") {
            let Some((name, rest)) = self.rest.split_once('>') else {
                return Err(format!("invalid named capture: `{start}`"));
            };
            self.rest = rest;
            if name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
                return Err(format!("invalid named capture: `{}`", self.since(start)));
            }
            // Go's names may begin with a digit; the engine's not. The position is what counts here.
            self.out.push('(');
            self.open();
            return Ok(());
        }
        let mut flags = String::new();
        let mut negative = false;
        loop {
            let bad = |t: &Self| Err(format!("invalid or unsupported Perl syntax: `{}`", t.since(start)));
            match self.take() {
                Some(flag @ ('i' | 'm' | 's' | 'U')) => {
                    self.folds |= flag == 'i' && !negative;
                    flags.push(flag);
                }
                Some('-') if !negative => {
                    negative = true;
                    flags.push('-');
                }
                Some(':') if !flags.ends_with('-') => {
                    let _ = write!(self.out, "(?{flags}:");
                    self.open();
                    return Ok(());
                }
                Some(')') if !flags.ends_with('-') => {
                    if !flags.is_empty() {
                        let _ = write!(self.flags, "(?{flags})");
                    }
                    // The engine knows no operator of an operator, and this would turn one around.
                    self.repeatable &= !self.repeated && !flags.contains('U');
                    return Ok(());
                }
                _ => return bad(self),
            }
        }
    }

    /// `{n}`, `{n,}`, `{n,m}` ahead; `None` where it is no such thing and stands for itself.
    fn counts(&self) -> Result<Option<(&'a str, u32)>> {
        let Some((inside, _)) = self.rest.get(1..).and_then(|r| r.split_once('}')) else { return Ok(None) };
        let (low, high) = inside.split_once(',').map_or((inside, None), |(low, high)| (low, Some(high)));
        let number =
            |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit()) && (s == "0" || !s.starts_with('0'));
        if !number(low) || !high.is_none_or(|h| h.is_empty() || number(h)) {
            return Ok(None);
        }
        let count = |s: &str| s.parse::<u32>().unwrap_or(u32::MAX);
        let least = count(low);
        let most = high.map_or(Some(least), |high| (!high.is_empty()).then(|| count(high)));
        let whole = self.rest.get(..inside.len() + 2).unwrap_or(self.rest);
        if least > MAX_REPEAT || most.is_some_and(|most| most > MAX_REPEAT || most < least) {
            return Err(format!("invalid repeat count: `{whole}`"));
        }
        // Without an upper bound, the lower one counts.
        Ok(Some((whole, most.unwrap_or(least))))
    }

    /// An operator, and how often it repeats at most; 1 where that has no bound.
    fn operator(&mut self) -> Result<Option<(&'a str, u32)>> {
        let start = self.rest;
        let times = match self.peek() {
            Some('*' | '+' | '?') => {
                self.take();
                1
            }
            Some('{') => match self.counts()? {
                Some((counts, times)) => {
                    self.rest = self.rest.get(counts.len()..).unwrap_or("");
                    times
                }
                None => return Ok(None),
            },
            _ => return Ok(None),
        };
        self.eat("?");
        Ok(Some((self.since(start), times)))
    }

    fn repetition(&mut self) -> Result<()> {
        let start = self.rest;
        let Some((operator, times)) = self.operator()? else { return Ok(()) };
        if !self.repeatable {
            return Err(format!("missing argument to repetition operator: `{operator}`"));
        }
        // Nested ones multiply. What is repeated 0 times is not looked into.
        let times = if times == 0 { 1 } else { self.times.saturating_mul(times) };
        if times > MAX_REPEAT {
            return Err(format!("invalid repeat count: `{operator}`"));
        }
        self.atom(times);
        self.repeated = true;
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
                self.literal(c.into());
            }
            self.rest = rest;
            return Ok(());
        }
        for (escape, meaning) in [("\\A", "\\A"), ("\\z", "\\z"), ("\\b", "(?-u:\\b)"), ("\\B", "(?-u:\\B)")] {
            if self.eat(escape) {
                self.out.push_str(meaning);
                self.atom(1);
                return Ok(());
            }
        }
        match self.escaped()? {
            Member::Char(c) => self.literal(c),
            Member::Class(class) => {
                let _ = write!(self.out, "[{class}]");
                self.atom(1);
            }
        }
        Ok(())
    }
}

pub(super) fn too_large(pattern: &str) -> String {
    format!("expression too large: `{}`", shortened(pattern))
}

pub(super) fn too_deep(pattern: &str) -> String {
    format!("expression nests too deeply: `{}`", shortened(pattern))
}

/// The beginning will do to recognize a pattern.
fn shortened(pattern: &str) -> String {
    let start: String = pattern.chars().take(100).collect();
    let rest = if start.len() < pattern.len() { "..." } else { "" };
    start + rest
}

#[cfg(test)]
mod tests {
    use crate::library::Effort;

    fn compile(pattern: &str) -> Result<std::sync::Arc<crate::library::regex::Pattern>, String> {
        super::super::compile_constant(pattern, &mut Effort::default())
    }

    #[track_caller]
    fn check(pattern: &str, matching: &[&str], others: &[&str]) {
        let regex = compile(pattern).unwrap();
        for text in matching {
            assert!(regex.is_match(text), "`{pattern}` does not match {text:?}");
        }
        for text in others {
            assert!(!regex.is_match(text), "`{pattern}` matches {text:?}");
        }
    }

    #[track_caller]
    fn refused(pattern: &str, message: &str) {
        assert_eq!(compile(pattern).map(drop), Err(format!("error parsing regexp: {message}")), "`{pattern}`");
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
        check("^\\p{lowercase letter}$", &["é"], &["É"]);
        for other in ["Alphabetic", "Emoji", "Grek", "Script=Greek", "IsGreek", "White_Space", ""] {
            refused(&format!("\\p{{{other}}}"), &format!("invalid character class range: `\\p{{{other}}}`"));
        }
    }

    #[test]
    fn no_text_has_surrogates() {
        check("^[\\x{20}-\\x{D7FF}\\x{E000}-\\x{10FFFF}]$", &["a", "😀"], &["\n"]);
        check("^[^\\x{D800}-\\x{DFFF}]$", &["a"], &[]);
        check("^[\\x{D000}-\\x{E000}]$", &["\u{E000}"], &["\u{E001}"]);
        check("\\x{D800}|\\p{Cs}|[\\p{Cs}]", &[], &["a", "\u{E000}"]);
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
        check("^a(?i)+b$", &["aaB"], &["aAb"]);
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
        refused("*?", "missing argument to repetition operator: `*?`");
        refused("x(?i", "invalid or unsupported Perl syntax: `(?i`");
        refused("(?<=a)b", "invalid named capture: `(?<=a)b`");
        refused("[a-\\d]", "invalid escape sequence: `\\d`");
        refused("(a{100}){100}", "invalid repeat count: `{100}`");
        refused("\\x{g}", "invalid escape sequence: `\\x{g`");
        assert!(compile("((((a{1000}){1000}){1000}){1000})").is_err());
    }
}
