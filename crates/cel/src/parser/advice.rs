//! What to do about a syntax error: cel-go's words say what the grammar wants, this what the author may have meant.
//!
//! Absent: the errors themselves (`recovery`), advice on pieces that are no tokens (lexer).
use super::{
    Parser,
    frames::{Binary, Frame},
};
use crate::{
    lexer::{Token, TokenKind},
    source::position,
};

/// How `?:` is written.
const CONDITIONAL: &str = "a conditional has two halves: `condition ? this : that`";

/// Advice on a word of CEL's own where a name stands.
pub(super) fn on_reserved(word: &str) -> String {
    match word {
        "if" | "else" => CONDITIONAL.to_owned(),
        "let" | "var" | "const" => "a value gets a name by `cel.bind(name, value, expression)`".to_owned(),
        "for" | "while" | "loop" => "go over a list by `.map(x, ...)`, `.filter(x, ...)`, `.all(x, ...)`".to_owned(),
        word => format!("a field may be named `{word}` (`x.{word}`), a variable may not"),
    }
}

/// Advice on a macro whose arguments do not fit.
pub(super) fn on_macro(name: &str) -> Option<&'static str> {
    Some(match name {
        "has" => "it asks for a field: `has(a.b)`; of a map's key, `'b' in a`",
        "all" | "exists" | "exists_one" | "existsOne" | "map" | "filter" => {
            "the first argument names the element: `list.all(x, x > 0)`"
        }
        "bind" => "the first argument is a name: `cel.bind(x, 1 + 1, x * x)`",
        _ => return None,
    })
}

/// Advice on a literal without a value.
pub(super) fn on_literal(kind: TokenKind) -> Option<&'static str> {
    Some(match kind {
        TokenKind::Int => "an int lies between -9223372036854775808 and 9223372036854775807",
        TokenKind::Uint => "a uint is at most 18446744073709551615u",
        TokenKind::Double => "a double is less than 1.8e308",
        _ => return None,
    })
}

impl Parser<'_> {
    /// Advice on the current token, which does not fit.
    pub(super) fn advice(&self) -> Option<String> {
        use TokenKind as T;
        let (token, after) = (self.token(), self.peek(1));
        let Some(before) = self.next.checked_sub(1).and_then(|i| self.tokens.get(i)).copied() else {
            return match token.kind {
                T::Eof => Some("the expression is empty".to_owned()),
                kind if Binary::of(kind).is_some() || matches!(kind, T::And | T::Or | T::Question | T::Comma) => {
                    Some(format!("something is missing before `{}`", self.text_of(token.span)))
                }
                _ => self.on_bracket(token),
            };
        };
        if before.kind == T::Dot || (before.kind == T::Question && token.kind == T::Dot) {
            return self.on_field(before, token);
        }
        if !ends_operand(before.kind) {
            return self.on_missing_operand(before, token);
        }
        match token.kind {
            T::Eof => self.unclosed().or_else(|| self.is_in_conditional().then(|| self.on_conditional())),
            T::Ident => self.on_word(before, token, after),
            T::Colon => Some("a `:` belongs to a `?`, or to a map's entry".to_owned()),
            T::Double if self.text_of(token.span).starts_with('.') => {
                Some(format!("an element of a list is `[{}]`", self.text_of(token.span).trim_start_matches('.')))
            }
            T::RightParen | T::RightBracket | T::RightBrace | T::Comma => self.on_bracket(token),
            _ => Some(self.missing_operator()),
        }
    }

    /// Where a field's name should be.
    fn on_field(&self, before: Token, token: Token) -> Option<String> {
        use TokenKind as T;
        let text = self.text_of(token.span);
        Some(match token.kind {
            // `x?.y`
            _ if before.kind == T::Question => "did you mean `.?`?".to_owned(),
            T::In | T::True | T::False | T::Null => format!("`{text}` is a keyword: write `['{text}']`"),
            T::String => format!("write `[{text}]`"),
            T::LeftBracket => "leave the `.` out".to_owned(),
            T::Dot => "one `.` is too many".to_owned(),
            T::Eof if self.token_before_dot().is_some_and(|kind| kind == T::Int) => {
                "a double has digits after its point: `1.0`".to_owned()
            }
            _ => "a field's name must follow the `.`".to_owned(),
        })
    }

    fn token_before_dot(&self) -> Option<TokenKind> {
        self.next.checked_sub(2).and_then(|i| self.tokens.get(i)).map(|token| token.kind)
    }

    /// Where an operand should be.
    fn on_missing_operand(&self, before: Token, token: Token) -> Option<String> {
        use TokenKind as T;
        let (first, second) = (self.text_of(before.span), self.text_of(token.span));
        let joined = if before.span.end == token.span.start { format!("{first}{second}") } else { String::new() };
        let known = match &*joined {
            "<>" => "did you mean `!=`?",
            "/*" => "a comment begins with `//` and goes on to the end of its line",
            "**" => "there is no operator for powers",
            "++" | "--" => "nothing can be changed: write `+ 1` or `- 1`",
            "??" => "what is used where a value may be absent is `optional.orValue(other)`",
            "->" => "there is no `->`",
            _ => "",
        };
        if !known.is_empty() {
            return Some(known.to_owned());
        }
        Some(match (before.kind, token.kind) {
            (T::Comma, T::RightParen) => "leave the comma out, or write one more argument".to_owned(),
            (_, T::Comma) => "leave the comma out, or write something before it".to_owned(),
            (T::LeftBracket, T::RightBracket) => "an index is missing".to_owned(),
            (T::Question | T::Colon, _) if self.is_in_conditional() => CONDITIONAL.to_owned(),
            (_, T::Eof) => format!("something is missing after `{first}`"),
            _ => format!("something is missing between `{first}` and `{second}`"),
        })
    }

    /// A name after what is complete.
    fn on_word(&self, before: Token, token: Token, after: Token) -> Option<String> {
        use TokenKind as T;
        let (first, word) = (self.text_of(before.span), self.text_of(token.span));
        let is_number = matches!(before.kind, T::Int | T::Uint | T::Double);
        if is_number && before.span.end == token.span.start {
            return Some(on_suffix(first, word));
        }
        let operator = match (word, after.kind) {
            ("and" | "AND", _) => "&&",
            ("or" | "OR", _) => "||",
            ("is" | "eq" | "equals", _) => "==",
            ("not", T::In) => return Some("did you mean `!(... in ...)`?".to_owned()),
            ("contains" | "startsWith" | "endsWith" | "matches", _) => {
                return Some(format!("it is a method: `text.{word}(...)`"));
            }
            ("then" | "else" | "if", _) => return Some(CONDITIONAL.to_owned()),
            _ if first == "not" => "!",
            _ => return Some(self.missing_operator()),
        };
        Some(format!("did you mean `{operator}`?"))
    }

    /// What comes right after an operand.
    fn missing_operator(&self) -> String {
        let separated = matches!(
            self.frames.last(),
            Some(Frame::Call(_) | Frame::List { .. } | Frame::Map { .. } | Frame::Struct(_))
        );
        match self.frames.last() {
            Some(Frame::Map { key: None, .. }) => "an entry is `key: value`".to_owned(),
            _ if self.is_in_conditional() => CONDITIONAL.to_owned(),
            _ if separated => "a `,` or an operator is missing before it".to_owned(),
            _ => "an operator is missing before it".to_owned(),
        }
    }

    fn is_in_conditional(&self) -> bool {
        matches!(self.frames.last(), Some(Frame::Then { .. }))
    }

    fn on_conditional(&self) -> String {
        match self.frames.last() {
            Some(Frame::Then { at, .. })
                if self.text.get(*at as usize..).is_some_and(|rest| rest.starts_with("?.")) =>
            {
                "did you mean `.?`?".to_owned()
            }
            _ => CONDITIONAL.to_owned(),
        }
    }

    /// A closing bracket, or a comma, that nothing begun waits for.
    fn on_bracket(&self, token: Token) -> Option<String> {
        use TokenKind as T;
        if self.is_in_conditional() {
            return Some(CONDITIONAL.to_owned());
        }
        let open = match (token.kind, self.frames.last()) {
            (T::RightBrace, Some(Frame::Map { key: None, open, .. }))
                if self.text.get(..*open as usize).is_some_and(|t| t.ends_with('{')) =>
            {
                return Some("leave `{{` and `}}` out: this is an expression already".to_owned());
            }
            (T::RightBrace, Some(Frame::Map { key: None, .. })) => return Some("an entry is `key: value`".to_owned()),
            (T::RightParen | T::RightBracket | T::RightBrace, Some(_)) => return self.unclosed(),
            (T::Comma, Some(Frame::Group { .. })) => return Some("a list is written `[a, b]`".to_owned()),
            (T::RightParen, None) => '(',
            (T::RightBracket, None) => '[',
            (T::RightBrace, None) => '{',
            _ => return None,
        };
        Some(format!("there is no `{open}` that it closes"))
    }

    /// The innermost bracket that is open.
    fn unclosed(&self) -> Option<String> {
        let (bracket, open) = self.frames.iter().rev().find_map(|frame| match frame {
            Frame::Group { open } => Some(('(', *open)),
            Frame::Call(call) => Some(('(', call.open)),
            Frame::Index { open, .. } | Frame::List { open, .. } => Some(('[', *open)),
            Frame::Map { open, .. } => Some(('{', *open)),
            Frame::Struct(frame) => Some(('{', frame.open)),
            _ => None,
        })?;
        let place = position(self.text, open);
        Some(format!("the `{bracket}` at {}:{} is not closed", place.line, place.column))
    }
}

/// Letters right after a number.
fn on_suffix(number: &str, suffix: &str) -> String {
    match suffix {
        "h" | "m" | "s" | "ms" | "us" | "ns" => format!("did you mean `duration('{number}{suffix}')`?"),
        "k" | "M" | "G" | "T" | "Ki" | "Mi" | "Gi" | "Ti" => format!("did you mean `quantity('{number}{suffix}')`?"),
        "e" | "E" => format!("an exponent has digits: `{number}e9`"),
        "x" | "X" => "a hexadecimal number has digits: `0xff`".to_owned(),
        _ if suffix.starts_with('_') => {
            format!("digits are written without `_`: `{number}{}`", suffix.replace('_', ""))
        }
        _ => format!("leave `{suffix}` out"),
    }
}

/// Whether a token can be the last one of an operand.
fn ends_operand(kind: TokenKind) -> bool {
    use TokenKind as T;
    kind.is_literal() || matches!(kind, T::Ident | T::EscapedIdent | T::RightParen | T::RightBracket | T::RightBrace)
}
