//! Tokens to tree: CEL's grammar by operator precedence (Pratt), on a stack of our own.
//!
//! What a recursive parser keeps in its callers' frames is a [`Frame`] here: no text, however nested, uses the thread's
//! stack, and cel-go's two limits (250 nested expressions, 250 nested operators) are reported as they are there.
//!
//! The parser is in one of two states: it wants an operand (`operand`), or it has one and wants to know what
//! follows it (`operator`). Errors do not stop it: see `recovery`.
//!
//! Absent: macros' meaning (macros), names' meaning (check).
use std::sync::Arc;

use crate::{
    ast::{Ast, Kind, Literal, NodeId},
    lexer::{self, Token, TokenKind},
    limits::{MAX_CODE_POINTS, MAX_DEPTH, MAX_TREE_DEPTH},
    macros::MacroTable,
    source::{Found, Issue, Issues, Span},
};

mod advice;
pub(crate) mod arena;
mod calls;
mod consequences;
mod frames;
pub(crate) mod literals;
mod recovery;

use arena::Arena;
use frames::{Binary, Frame};

/// What the grammar is extended with.
#[derive(Clone, Copy)]
pub(crate) struct Syntax<'a> {
    pub(crate) macros: &'a MacroTable,
    /// Whether fields may be named in back-quotes.
    pub(crate) escaped_identifiers: bool,
}

/// Words that no variable, function or type may be named by.
const RESERVED: [&str; 17] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// Whether a name is one of CEL's own words, which no variable can have: `in`, `true`, `namespace`, ...
pub fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name) || matches!(name, "true" | "false" | "null" | "in")
}

/// Parses `text`; all syntax errors at once, but for those that follow from another.
pub(crate) fn parse(text: &str, syntax: Syntax<'_>) -> Result<Ast, Issues> {
    let size = text.chars().count();
    if size > MAX_CODE_POINTS {
        let message = format!("expression code point size exceeds limit: size: {size}, limit {MAX_CODE_POINTS}");
        return Err(Issues::one(Issue::without_place(message)));
    }
    let mut issues = Found::default();
    let tokens = lexer::tokens(text, &mut issues);
    let mut parser = Parser {
        text,
        syntax,
        tokens,
        next: 0,
        frames: vec![],
        levels: 1,
        pending: frames::Pending::default(),
        arena: Arena::default(),
        issues,
        recovering: false,
        recoveries: 0,
        gave_up_at: None,
        limit: None,
        error: NodeId(0),
    };
    parser.error = parser.arena.push(Kind::Literal(Literal::Null), Span::default(), 0, false);
    let root = parser.run();
    if let Some(message) = parser.limit {
        return Err(Issues::one(Issue::without_place(message)));
    }
    match root {
        Some(root) if parser.issues.is_empty() => Ok(parser.arena.finish(text.into(), root)),
        _ => {
            let found = parser.issues.into_issues().list;
            Err(Issues { list: consequences::dropped(found, &parser.tokens, parser.gave_up_at), omitted: 0 })
        }
    }
}

/// An operand: its node and its text, parentheses included.
#[derive(Clone, Copy)]
struct Operand {
    id: NodeId,
    span: Span,
    /// Whether it is `a.b.c` without parentheses, which `{` makes the name of a struct.
    is_name: bool,
}

enum State {
    Operand,
    Operator(Operand),
    Done(NodeId),
    GaveUp,
}

struct Parser<'a> {
    text: &'a str,
    syntax: Syntax<'a>,
    tokens: Vec<Token>,
    next: usize,
    frames: Vec<Frame>,
    /// How many of `frames` nest an expression, and one.
    levels: usize,
    pending: frames::Pending,
    arena: Arena,
    issues: Found,
    /// After an error, until a token fits again: what follows from one mistake is not reported.
    recovering: bool,
    recoveries: usize,
    /// Beyond it, nothing was looked at.
    gave_up_at: Option<u32>,
    /// The limit that was met; then nothing else is reported, as in cel-go.
    limit: Option<&'static str>,
    /// Stands for operands that could not be parsed. Trees that hold it are not given out.
    error: NodeId,
}

impl Parser<'_> {
    fn run(&mut self) -> Option<NodeId> {
        let mut state = State::Operand;
        loop {
            if self.arena.most_visits() > MAX_DEPTH || self.arena.tallest_tree() > MAX_TREE_DEPTH {
                self.limit = Some("max recursion depth exceeded");
                return None;
            }
            if self.gave_up() {
                return None;
            }
            state = match state {
                State::Operand => self.operand(),
                State::Operator(operand) => self.operator(operand),
                State::Done(root) => return Some(root),
                State::GaveUp => return None,
            };
        }
    }

    fn peek(&self, ahead: usize) -> Token {
        let end = self.tokens.last().copied().unwrap_or(Token { kind: TokenKind::Eof, span: Span::default() });
        self.tokens.get(self.next + ahead).copied().unwrap_or(end)
    }

    fn token(&self) -> Token {
        self.peek(0)
    }

    /// Takes the current token, which fits.
    fn advance(&mut self) -> Token {
        let token = self.token();
        self.next += 1;
        self.recovering = false;
        token
    }

    fn text_of(&self, span: Span) -> &str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or_default()
    }

    fn name_of(&mut self, span: Span) -> Arc<str> {
        let text = self.text.get(span.start as usize..span.end as usize).unwrap_or_default();
        self.arena.name(text)
    }

    fn issue(&mut self, span: Span, at: u32, message: impl Into<String>, help: Option<String>) {
        self.issues.push(Issue { span, at: Some(at), message: message.into(), help });
    }

    /// Opens a nested expression.
    fn open(&mut self, frame: Frame) -> State {
        self.frames.push(frame);
        self.levels += 1;
        self.within_limit()
    }

    /// An operand, unless one of cel-go's grammar rules would be entered too often within itself.
    fn within_limit(&mut self) -> State {
        if self.levels + self.pending.most() > MAX_DEPTH {
            self.limit = Some("expression recursion limit exceeded: 250");
            return State::GaveUp;
        }
        State::Operand
    }

    /// Takes the innermost nested expression's frame off.
    fn pop(&mut self) -> Option<Frame> {
        let frame = self.frames.pop();
        if frame.as_ref().is_some_and(Frame::nests) {
            self.levels -= 1;
        }
        frame
    }

    fn operand(&mut self) -> State {
        use TokenKind as T;
        let token = self.token();
        match token.kind {
            kind if kind.is_literal() => {
                self.advance();
                self.literal(token.kind, token.span)
            }
            T::Ident => {
                self.advance();
                self.named(token.span, token)
            }
            T::Dot if self.peek(1).kind == T::Ident => {
                self.advance();
                let name = self.advance();
                self.named(token.span, name)
            }
            T::Minus | T::Not => self.prefix(token),
            T::LeftParen => {
                self.advance();
                self.open(Frame::Group { open: token.span.start })
            }
            T::LeftBracket => {
                self.advance();
                let state = self.open(Frame::List { open: token.span.start, elements: vec![], optional: false });
                self.list_element(state)
            }
            T::LeftBrace => {
                self.advance();
                let state =
                    self.open(Frame::Map { open: token.span.start, entries: vec![], optional: false, key: None });
                self.map_entry(state)
            }
            _ => self.no_operand(),
        }
    }

    fn literal(&mut self, kind: TokenKind, span: Span) -> State {
        let id = match literals::literal(kind, self.text_of(span)) {
            Ok(value) => self.arena.push(Kind::Literal(value), span, span.start, false),
            Err(message) => {
                self.issue(span, span.start, message, advice::on_literal(kind).map(str::to_owned));
                self.error
            }
        };
        State::Operator(Operand { id, span, is_name: false })
    }

    /// `-` and `!`. The grammar takes a run of one of them, then no other; `-` before a number belongs to the number.
    fn prefix(&mut self, first: Token) -> State {
        use TokenKind as T;
        let mut count = 0usize;
        while self.token().kind == first.kind {
            self.advance();
            count += 1;
        }
        let after = self.token();
        let number = |kind| matches!(kind, T::Int | T::Double);
        if first.kind == T::Minus && count == 1 && number(after.kind) {
            self.advance();
            return self.literal(after.kind, Span { start: first.span.start, end: after.span.end });
        }
        self.frames.push(Frame::Prefix { not: first.kind == T::Not, odd: count % 2 == 1, start: first.span.start });
        let misfit = match (first.kind, after.kind) {
            (T::Not, T::Minus) => (!number(self.peek(1).kind)).then(|| self.peek(1)),
            (T::Minus, T::Not) => Some(after),
            _ => None,
        };
        if let Some(misfit) = misfit {
            let span = Span { start: self.peek(0).span.start.min(misfit.span.start), end: misfit.span.end };
            let input = if first.kind == T::Minus { "-!".to_owned() } else { self.text_of(span).to_owned() };
            self.syntax_error(misfit, format!("no viable alternative at input '{input}'"));
            if let Some(issue) = self.issues.last_mut() {
                issue.help = Some("put the operand in parentheses".to_owned());
            }
        }
        State::Operand
    }

    fn operator(&mut self, operand: Operand) -> State {
        use TokenKind as T;
        let token = self.token();
        if let Some(op) = Binary::of(token.kind) {
            self.advance();
            let left = self.reduce(operand, op.level());
            self.frames.push(Frame::Binary { op, left, at: token.span.start });
            self.pending.add(op);
            return self.within_limit();
        }
        match token.kind {
            T::Dot => {
                self.advance();
                self.member(operand, token)
            }
            T::LeftBracket => {
                self.advance();
                let optional = self.token().kind == T::Question;
                if optional {
                    self.advance();
                }
                self.open(Frame::Index { operand, open: token.span.start, optional })
            }
            T::LeftBrace if operand.is_name => {
                self.advance();
                self.open_struct(operand, token)
            }
            T::And | T::Or => {
                self.advance();
                let or = token.kind == T::Or;
                let term = self.reduce(operand, frames::logic_level(or) + 1);
                self.term(or, term, token.span.start);
                State::Operand
            }
            T::Question => {
                let condition = self.reduce(operand, 1);
                if matches!(self.frames.last(), Some(Frame::Then { .. })) {
                    return self.unexpected(condition);
                }
                self.advance();
                self.frames.push(Frame::Then { condition, at: token.span.start });
                State::Operand
            }
            _ => self.close(operand),
        }
    }

    /// The end of a whole expression, if the token is one.
    fn close(&mut self, operand: Operand) -> State {
        use TokenKind as T;
        let mut operand = self.reduce(operand, 1);
        while let Some(Frame::Else { .. }) = self.frames.last() {
            operand = self.conditional(operand);
        }
        let token = self.token();
        match (self.frames.last_mut(), token.kind) {
            (None, T::Eof) => State::Done(operand.id),
            (Some(Frame::Then { .. }), T::Colon) => {
                self.advance();
                let Some(Frame::Then { condition, at }) = self.pop() else { return State::GaveUp };
                self.open(Frame::Else { condition, then: operand, at })
            }
            (Some(Frame::Group { open }), T::RightParen) => {
                let span = Span { start: *open, end: token.span.end };
                self.advance();
                self.pop();
                State::Operator(Operand { id: operand.id, span, is_name: false })
            }
            (Some(Frame::Call(call)), T::Comma) => {
                call.args.push(operand.id);
                self.advance();
                State::Operand
            }
            (Some(Frame::Call(call)), T::RightParen) => {
                call.args.push(operand.id);
                self.advance();
                self.finish_call(token.span.end)
            }
            (Some(Frame::Index { .. }), T::RightBracket) => {
                self.advance();
                self.finish_index(operand, token.span.end)
            }
            (Some(Frame::List { elements, optional, .. }), T::Comma | T::RightBracket) => {
                elements.push((operand.id, std::mem::take(optional)));
                if token.kind == T::Comma {
                    self.advance();
                }
                self.list_element(State::Operand)
            }
            (Some(Frame::Map { key: key @ None, .. }), T::Colon) => {
                *key = Some((operand.id, token.span.start));
                self.advance();
                State::Operand
            }
            (Some(Frame::Map { key: Some(_), .. }), T::Comma | T::RightBrace) => {
                self.push_entry(operand.id);
                if token.kind == T::Comma {
                    self.advance();
                }
                self.map_entry(State::Operand)
            }
            (Some(Frame::Struct(_)), T::Comma | T::RightBrace) => {
                self.push_field(operand.id);
                if token.kind == T::Comma {
                    self.advance();
                }
                self.struct_field(State::Operand)
            }
            _ => self.unexpected(operand),
        }
    }
}

#[cfg(test)]
mod tests;
