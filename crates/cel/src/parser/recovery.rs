//! What happens when a token does not fit: cel-go's words for it, and the way on.
//!
//! The rules are those of ANTLR's default strategy where they are simple: drop the token if the next one fits
//! ("extraneous"), pretend that a closing token was there if what follows fits ("missing"), else report a "mismatch" and
//! skip to a token that something begun waits for. Sets of expected tokens are named as in cel-go's grammar where
//! they are short.
//!
//! Absent: tokens that fit.
use super::{Operand, Parser, State, frames::Binary, frames::Frame};
use crate::{
    lexer::{Token, TokenKind},
    limits::MAX_RECOVERIES,
    source::Issue,
};

/// The tokens that begin an operand, with what else fits: a list's end, a call's end, a comma, a `?`.
fn expected_operand(list_end: &str, call_end: &str, comma: &str, question: &str) -> String {
    format!(
        "{{'[', {list_end}'{{', '(', {call_end}'.', {comma}'-', '!', {question}'true', 'false', 'null', \
         NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}}"
    )
}

fn begins_operand(kind: TokenKind) -> bool {
    use TokenKind as T;
    let opens = matches!(kind, T::LeftParen | T::LeftBracket | T::LeftBrace);
    kind.is_literal() || opens || matches!(kind, T::Ident | T::Dot | T::Minus | T::Not)
}

impl Parser<'_> {
    /// Reports a syntax error at `token`, unless it follows from the one before.
    pub(super) fn syntax_error(&mut self, token: Token, message: String) {
        if std::mem::replace(&mut self.recovering, true) {
            return;
        }
        self.recoveries += 1;
        let message = match self.recoveries > MAX_RECOVERIES {
            true => format!("Syntax error: error recovery attempt limit exceeded: {MAX_RECOVERIES}"),
            false => format!("Syntax error: {message}"),
        };
        let help = if self.issues.is_full() { None } else { self.advice() };
        self.issues.push(Issue { span: token.span, at: Some(token.span.start), message, help });
    }

    pub(super) fn gave_up(&self) -> bool {
        self.recoveries > MAX_RECOVERIES
    }

    /// A token's text as messages quote it.
    fn shown(&self, token: Token) -> String {
        match token.kind {
            TokenKind::Eof => "<EOF>".to_owned(),
            _ => self.text_of(token.span).replace('\n', "\\n").replace('\r', "\\r").replace('\t', "\\t"),
        }
    }

    /// A token where an operand must begin.
    pub(super) fn no_operand(&mut self) -> State {
        let token = self.token();
        let after = self.peek(1);
        if token.kind == TokenKind::Dot {
            self.next += 1;
            let message = format!("no viable alternative at input '.{}'", self.shown_or_nothing(after));
            self.syntax_error(after, message);
            return self.resume();
        }
        let expected = match self.frames.last() {
            Some(Frame::Call(call)) if call.args.is_empty() => expected_operand("", "')', ", "", ""),
            Some(Frame::Index { optional: false, .. }) => expected_operand("", "", "", "'?', "),
            Some(Frame::List { elements, optional: false, .. }) if elements.is_empty() => {
                expected_operand("']', ", "", "',', ", "'?', ")
            }
            _ => expected_operand("", "", "", ""),
        };
        let shown = self.shown(token);
        if token.kind != TokenKind::Eof && begins_operand(after.kind) {
            self.syntax_error(token, format!("extraneous input '{shown}' expecting {expected}"));
            self.next += 1;
            return State::Operand;
        }
        let after_prefix = matches!(self.frames.last(), Some(Frame::Prefix { .. }));
        let kind = if token.kind == TokenKind::Eof && after_prefix { "extraneous" } else { "mismatched" };
        self.syntax_error(token, format!("{kind} input '{shown}' expecting {expected}"));
        if Binary::of(token.kind).is_some() {
            // As an operator it would miss its right operand too: one mistake.
            self.next += 1;
        }
        self.resume()
    }

    fn shown_or_nothing(&self, token: Token) -> String {
        if token.kind == TokenKind::Eof { String::new() } else { self.shown(token) }
    }

    /// Goes on after an operand that is not there, at a token that can follow one.
    fn resume(&mut self) -> State {
        while !self.can_follow(self.token().kind) {
            self.next += 1;
        }
        State::Operator(Operand { id: self.error, span: self.token().span, is_name: false })
    }

    /// Whether a token can follow an operand, given what is begun.
    fn can_follow(&self, kind: TokenKind) -> bool {
        use TokenKind as T;
        let begun = |is: fn(&Frame) -> bool| self.frames.iter().rev().take(64).any(is);
        match kind {
            T::Eof | T::And | T::Or | T::Question => true,
            T::RightParen => begun(|f| matches!(f, Frame::Group { .. } | Frame::Call(_))),
            T::RightBracket => begun(|f| matches!(f, Frame::Index { .. } | Frame::List { .. })),
            T::RightBrace => begun(|f| matches!(f, Frame::Map { .. } | Frame::Struct(_))),
            T::Comma => {
                begun(|f| matches!(f, Frame::Call(_) | Frame::List { .. } | Frame::Map { .. } | Frame::Struct(_)))
            }
            T::Colon => begun(|f| matches!(f, Frame::Then { .. } | Frame::Map { .. })),
            kind => Binary::of(kind).is_some(),
        }
    }

    /// A token that is no field's name after `operand.`
    pub(super) fn no_field(&mut self, operand: Operand, optional: bool) -> State {
        let token = self.token();
        let shown = self.shown(token);
        match (optional, token.kind) {
            (true, _) => {
                self.syntax_error(
                    token,
                    format!("mismatched input '{shown}' expecting {{IDENTIFIER, ESC_IDENTIFIER}}"),
                );
                self.issue(token.span, token.span.start, "unsupported ident kind", None);
            }
            (false, TokenKind::True | TokenKind::False | TokenKind::Null) => {
                self.syntax_error(token, format!("mismatched input '{shown}' expecting IDENTIFIER"));
            }
            _ => {
                let message = format!("no viable alternative at input '.{}'", self.shown_or_nothing(token));
                self.syntax_error(token, message);
            }
        }
        match self.resume() {
            State::Operator(error) => State::Operator(Operand { id: self.error, span: operand.span, ..error }),
            state => state,
        }
    }

    /// A token after a whole expression that what is begun does not wait for.
    pub(super) fn unexpected(&mut self, operand: Operand) -> State {
        use TokenKind as T;
        let (token, after) = (self.token(), self.peek(1));
        let shown = self.shown(token);
        let (close, expected) = match self.frames.last() {
            None => {
                let kind = if after.kind == T::Eof { "extraneous" } else { "mismatched" };
                // Nothing waits for more: what is left is not looked at.
                self.gave_up_at = Some(token.span.start);
                self.syntax_error(token, format!("{kind} input '{shown}' expecting <EOF>"));
                return State::GaveUp;
            }
            Some(Frame::Then { .. } | Frame::Map { key: None, .. }) => (T::Colon, "':'"),
            Some(Frame::Group { .. } | Frame::Call(_)) => (T::RightParen, "')'"),
            Some(Frame::Index { .. }) => (T::RightBracket, "']'"),
            Some(Frame::List { .. }) => (T::RightBracket, "{']', ','}"),
            Some(_) => (T::RightBrace, "{'}', ','}"),
        };
        let fits_after = after.kind == close || (after.kind == T::Comma && expected.contains("','"));
        if token.kind != T::Eof && fits_after {
            self.syntax_error(token, format!("extraneous input '{shown}' expecting {expected}"));
            self.next += 1;
            return State::Operator(operand);
        }
        let insertable = matches!(self.frames.last(), Some(Frame::Group { .. } | Frame::Call(_) | Frame::Index { .. }));
        if insertable && self.fits_outside(token.kind) {
            self.syntax_error(token, format!("missing {expected} at '{shown}'"));
            self.pop();
            return State::Operator(Operand { id: self.error, ..operand });
        }
        self.syntax_error(token, format!("mismatched input '{shown}' expecting {expected}"));
        self.skip_to(close);
        if self.token().kind != close {
            return State::GaveUp;
        }
        State::Operator(Operand { id: self.error, ..operand })
    }

    /// Whether a token fits where the innermost bracket would already be closed.
    fn fits_outside(&self, kind: TokenKind) -> bool {
        use TokenKind as T;
        let outside = self.frames.iter().rev().skip(1).find(|f| f.nests() || matches!(f, Frame::Then { .. }));
        match outside {
            None => kind == T::Eof,
            Some(Frame::Group { .. }) => kind == T::RightParen,
            Some(Frame::Call(_)) => matches!(kind, T::RightParen | T::Comma),
            Some(Frame::Index { .. }) => kind == T::RightBracket,
            Some(Frame::List { .. }) => matches!(kind, T::RightBracket | T::Comma),
            Some(Frame::Map { key: None, .. } | Frame::Then { .. }) => kind == T::Colon,
            Some(Frame::Map { .. } | Frame::Struct(_)) => matches!(kind, T::RightBrace | T::Comma),
            Some(_) => kind == T::Eof,
        }
    }

    /// Skips to `close` of the innermost bracket, over whole brackets inside.
    fn skip_to(&mut self, close: TokenKind) {
        use TokenKind as T;
        let mut inside = 0usize;
        loop {
            match self.token().kind {
                T::Eof => return,
                kind if kind == close && inside == 0 => return,
                T::LeftParen | T::LeftBracket | T::LeftBrace => inside += 1,
                T::RightParen | T::RightBracket | T::RightBrace => inside = inside.saturating_sub(1),
                _ => {}
            }
            self.next += 1;
        }
    }

    /// A token that begins no field of a struct literal.
    pub(super) fn no_struct_field(&mut self) -> State {
        let token = self.token();
        let shown = self.shown(token);
        let empty = matches!(self.frames.last(), Some(Frame::Struct(frame)) if frame.fields.is_empty());
        let expected =
            if empty { "{'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}" } else { "{'?', IDENTIFIER, ESC_IDENTIFIER}" };
        self.syntax_error(token, format!("mismatched input '{shown}' expecting {expected}"));
        self.leave_struct()
    }

    /// A field of a struct literal without `:`.
    pub(super) fn no_colon(&mut self) -> State {
        let token = self.token();
        let shown = self.shown(token);
        self.syntax_error(token, format!("mismatched input '{shown}' expecting ':'"));
        self.leave_struct()
    }

    fn leave_struct(&mut self) -> State {
        self.skip_to(TokenKind::RightBrace);
        let end = self.token();
        if end.kind != TokenKind::RightBrace {
            return State::GaveUp;
        }
        self.advance();
        self.pop();
        State::Operator(Operand { id: self.error, span: end.span, is_name: false })
    }
}
