//! Escapes and classes: what stands for one of several characters.
//!
//! Absent: groups, repetition, quoting (translate).
use std::fmt::Write;

use regex_syntax::hir::{Class, HirKind};

use super::{NOTHING, Result, Translator};

/// One member of a class, or an escape.
pub(super) enum Member {
    /// A code point; a surrogate too, which no text has.
    Char(u32),
    /// Already in the engine's class syntax.
    Class(String),
}

impl<'a> Translator<'a> {
    /// What follows a backslash, in a class or out of it.
    pub(super) fn escaped(&mut self) -> Result<Member> {
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
            'a' => Ok(Member::Char(7)),
            'f' => Ok(Member::Char(12)),
            't' => Ok(Member::Char(9)),
            'n' => Ok(Member::Char(10)),
            'r' => Ok(Member::Char(13)),
            'v' => Ok(Member::Char(11)),
            'x' => self.hexadecimal(start),
            '1'..='7' if !matches!(self.peek(), Some('0'..='7')) => Err(self.bad_escape(start)),
            '0'..='7' => {
                let mut code = c.to_digit(8).unwrap_or(0);
                for _ in 0..2 {
                    let Some(digit) = self.peek().and_then(|c| c.to_digit(8)) else { break };
                    code = code * 8 + digit;
                    self.take();
                }
                Ok(Member::Char(code))
            }
            c if c.is_ascii() && !c.is_ascii_alphanumeric() => Ok(Member::Char(c.into())),
            _ => Err(self.bad_escape(start)),
        }
    }

    fn bad_escape(&self, start: &'a str) -> String {
        format!("invalid escape sequence: `{}`", self.since(start))
    }

    /// `\x41`, `\x{41}`
    fn hexadecimal(&mut self, start: &'a str) -> Result<Member> {
        let digit = |t: &mut Self| t.take().and_then(|c| c.to_digit(16)).ok_or_else(|| t.bad_escape(start));
        if !self.eat("{") {
            let first = self.take().ok_or_else(|| self.bad_escape(start))?.to_digit(16);
            let second = digit(self)?;
            return first.map(|first| Member::Char(first * 16 + second)).ok_or_else(|| self.bad_escape(start));
        }
        let mut code = digit(self)?;
        while !self.eat("}") {
            code = code * 16 + digit(self)?;
            if code > u32::from(char::MAX) {
                return Err(self.bad_escape(start));
            }
        }
        Ok(Member::Char(code))
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
        let Some(class) = known_property(name) else { return bad(self) };
        if class.is_empty() {
            return Ok(Member::Class(if negated { "\\x{0}-\\x{10FFFF}" } else { NOTHING }.to_owned()));
        }
        let class = format!("\\{}{{{class}}}", if negated { 'P' } else { 'p' });
        // The engine decides which names there are.
        let Ok(parsed) = regex_syntax::parse(&class) else { return bad(self) };
        if let HirKind::Class(Class::Unicode(class)) = parsed.kind() {
            let code_points = class.iter().map(|range| u64::from(range.end()) - u64::from(range.start()) + 1).sum();
            self.weigh(class.ranges().len() as u64, code_points)?;
        }
        Ok(Member::Class(class))
    }

    pub(super) fn class(&mut self) -> Result<()> {
        let start = self.rest;
        self.take();
        self.out.push('[');
        if self.eat("^") {
            self.out.push('^');
        }
        let mut first = true;
        loop {
            match self.peek() {
                None => return Err(missing(start)),
                Some(']') if !first => break,
                _ => {}
            }
            first = false;
            let from = self.rest;
            let low = match self.member(start)? {
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
                high = self.end_of_range()?;
                if high < low {
                    return Err(format!("invalid character class range: `{}`", self.since(from)));
                }
            }
            self.range(low, high)?;
        }
        self.take();
        self.out.push(']');
        self.atom(1);
        Ok(())
    }

    /// What follows a dash: a character, not a class.
    fn end_of_range(&mut self) -> Result<u32> {
        let start = self.rest;
        match self.take() {
            Some('\\') => {
                self.rest = start;
                match self.escaped()? {
                    Member::Char(code) => Ok(code),
                    Member::Class(_) => Err(format!("invalid escape sequence: `{}`", start.get(..2).unwrap_or(start))),
                }
            }
            c => Ok(c.map_or(0, u32::from)),
        }
    }

    /// The engine takes no surrogates.
    fn range(&mut self, low: u32, high: u32) -> Result<()> {
        let low = if (0xD800..=0xDFFF).contains(&low) { 0xE000 } else { low };
        let high = if (0xD800..=0xDFFF).contains(&high) { 0xD7FF } else { high };
        if low > high {
            self.out.push_str(NOTHING);
            return Ok(());
        }
        self.weigh(0, u64::from(high - low) + 1)?;
        let _ = write!(self.out, "\\x{{{low:X}}}-\\x{{{high:X}}}");
        Ok(())
    }

    fn member(&mut self, class: &str) -> Result<Member> {
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
        self.take().map(|c| Member::Char(c.into())).ok_or_else(|| missing(class))
    }
}

fn missing(class: &str) -> String {
    format!("missing closing ]: `{class}`")
}

/// The engine's form of a general category or a script, whose names Go takes in any case, without regard to spaces, dashes and
/// underscores; the empty text for surrogates.
fn known_property(name: &str) -> Option<String> {
    /// Scripts of four letters; other four letters are a script's code, which Go does not know.
    const SCRIPTS: [&str; 9] = ["ahom", "cham", "kawi", "lisu", "miao", "modi", "newa", "thai", "toto"];
    let name: String = name.chars().filter(|c| !matches!(c, '_' | '-' | ' ')).map(|c| c.to_ascii_lowercase()).collect();
    // The engine would take `is` before any name.
    if name.is_empty() || name.starts_with("is") || !name.bytes().all(|b| b.is_ascii_alphabetic()) {
        return None;
    }
    if name == "cs" || name == "surrogate" {
        return Some(String::new());
    }
    let category = format!("gc={name}");
    if regex_syntax::parse(&format!("\\p{{{category}}}")).is_ok() {
        return Some(category);
    }
    (name.len() != 4 || SCRIPTS.contains(&name.as_str())).then(|| format!("sc={name}"))
}
