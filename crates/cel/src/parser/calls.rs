//! Names, selections, calls, indexing, and the literals in brackets.
//!
//! Absent: operators (`frames`), what happens when a token does not fit (`recovery`).
use std::sync::Arc;

use super::{
    Operand, Parser, State, advice,
    frames::{CallFrame, Frame, StructFrame},
    is_reserved,
};
use crate::{
    ast::{Kind, Literal, MacroCall, MapEntry, NodeId, StructField},
    lexer::{Token, TokenKind},
    macros::Expansion,
    source::Span,
};

impl Parser<'_> {
    /// A variable or a call, its name just read. `start` is the leading `.` or the name.
    pub(super) fn named(&mut self, start: Span, token: Token) -> State {
        let span = Span { start: start.start, end: token.span.end };
        let name = if start == token.span { self.name_of(token.span) } else { self.absolute_name(token.span) };
        if is_reserved(name.trim_start_matches('.')) {
            let help = advice::on_reserved(name.trim_start_matches('.'));
            self.issue(token.span, token.span.start, format!("reserved identifier: {name}"), Some(help));
        }
        let open = self.token();
        if open.kind == TokenKind::LeftParen {
            self.advance();
            let call = CallFrame {
                target: None,
                name,
                name_span: token.span,
                start: span.start,
                open: open.span.start,
                args: vec![],
            };
            return self.open_call(call);
        }
        let id = self.arena.push(Kind::Ident(name), span, token.span.start, false);
        State::Operator(Operand { id, span, is_name: true })
    }

    fn absolute_name(&mut self, span: Span) -> Arc<str> {
        let name = format!(".{}", self.text_of(span));
        self.arena.name(&name)
    }

    fn open_call(&mut self, call: CallFrame) -> State {
        let close = self.token();
        let state = self.open(Frame::Call(call));
        if matches!(state, State::Operand) && close.kind == TokenKind::RightParen {
            self.advance();
            return self.finish_call(close.span.end);
        }
        state
    }

    /// The call whose frame is the innermost; it ends at `end`.
    pub(super) fn finish_call(&mut self, end: u32) -> State {
        let Some(Frame::Call(call)) = self.pop() else { return State::GaveUp };
        let span = Span { start: call.start, end };
        let target = call.target.map(|target| target.id);
        let id = match self.expand(&call, target, span) {
            Some(id) => id,
            None => {
                let kind = Kind::Call { target, function: call.name, args: call.args, name_span: call.name_span };
                self.arena.push(kind, span, call.open, target.is_some())
            }
        };
        State::Operator(Operand { id, span, is_name: false })
    }

    /// The node that a macro call becomes; `None` if it is no macro call.
    fn expand(&mut self, call: &CallFrame, target: Option<NodeId>, span: Span) -> Option<NodeId> {
        let found = self.syntax.macros.find(&call.name, target.is_some(), call.args.len())?;
        if target.iter().chain(&call.args).any(|id| *id == self.error) {
            return Some(self.error);
        }
        let mut expansion = Expansion { arena: &mut self.arena, target, args: &call.args, span, at: call.open };
        match (found.expand)(&mut expansion) {
            Ok(None) => None,
            Ok(Some(id)) => {
                self.arena.raise(id, target.into_iter().chain(call.args.iter().copied()), target.is_some());
                let function = call.name.clone();
                let macro_call = MacroCall { target, function, args: call.args.clone(), name_span: call.name_span };
                self.arena.record_macro(id, macro_call);
                Some(id)
            }
            Err(error) => {
                let (span, at) = self.arena.node(error.node).map_or((span, call.open), |node| (node.span, node.at));
                self.issue(span, at, error.message, advice::on_macro(&call.name).map(str::to_owned));
                Some(self.error)
            }
        }
    }

    /// What follows `operand.`
    pub(super) fn member(&mut self, operand: Operand, dot: Token) -> State {
        let optional = self.token().kind == TokenKind::Question;
        if optional {
            self.advance();
        }
        let field = self.token();
        let known = matches!(field.kind, TokenKind::Ident | TokenKind::EscapedIdent);
        if !known {
            return self.no_field(operand, optional);
        }
        self.advance();
        let open = self.token();
        if field.kind == TokenKind::Ident && !optional && open.kind == TokenKind::LeftParen {
            self.advance();
            let name = self.name_of(field.span);
            let start = operand.span.start;
            let open = open.span.start;
            return self.open_call(CallFrame {
                target: Some(operand),
                name,
                name_span: field.span,
                start,
                open,
                args: vec![],
            });
        }
        let name = self.field_name(field);
        let span = Span { start: operand.span.start, end: field.span.end };
        let id = if optional {
            let key = self.arena.push(Kind::Literal(Literal::String(name)), field.span, field.span.start, false);
            let kind = Kind::Call {
                target: None,
                function: self.arena.name("_?._"),
                args: vec![operand.id, key],
                name_span: Span { start: dot.span.start, end: dot.span.end + 1 },
            };
            self.arena.push(kind, span, dot.span.start, true)
        } else {
            let kind = Kind::Select { operand: operand.id, field: name, test_only: false, field_span: field.span };
            self.arena.push(kind, span, dot.span.start, true)
        };
        let is_name = operand.is_name && !optional && field.kind == TokenKind::Ident;
        State::Operator(Operand { id, span, is_name })
    }

    /// A field's name, without its back-quotes.
    pub(super) fn field_name(&mut self, field: Token) -> Arc<str> {
        if field.kind != TokenKind::EscapedIdent {
            return self.name_of(field.span);
        }
        if !self.syntax.escaped_identifiers {
            self.issue(field.span, field.span.start, "unsupported syntax: '`'", None);
        }
        let name = self.text_of(field.span).trim_matches('`').to_owned();
        self.arena.name(&name)
    }

    /// The indexing whose frame is the innermost.
    pub(super) fn finish_index(&mut self, index: Operand, end: u32) -> State {
        let Some(Frame::Index { operand, open, optional }) = self.pop() else { return State::GaveUp };
        let function = self.arena.name(if optional { "_[?_]" } else { "_[_]" });
        let span = Span { start: operand.span.start, end };
        let name_span = Span { start: open, end };
        let kind = Kind::Call { target: None, function, args: vec![operand.id, index.id], name_span };
        let id = self.arena.push(kind, span, open, true);
        State::Operator(Operand { id, span, is_name: false })
    }

    /// Past the mark of an optional entry.
    fn question(&mut self) -> bool {
        let optional = self.token().kind == TokenKind::Question;
        if optional {
            self.advance();
        }
        optional
    }

    /// Whether the closing token is next, a trailing comma before it included; it is taken. Gives its end.
    fn closed(&mut self, close: TokenKind, is_empty: bool) -> Option<u32> {
        if is_empty && self.token().kind == TokenKind::Comma && self.peek(1).kind == close {
            self.advance();
        }
        let token = self.token();
        (token.kind == close).then(|| {
            self.advance();
            token.span.end
        })
    }

    /// The start of an element, or the list's end. `state` tells whether there is a list to go on with.
    pub(super) fn list_element(&mut self, state: State) -> State {
        let (State::Operand, Some(Frame::List { elements, .. })) = (&state, self.frames.last()) else { return state };
        let is_empty = elements.is_empty();
        if let Some(end) = self.closed(TokenKind::RightBracket, is_empty) {
            let Some(Frame::List { open, elements, .. }) = self.pop() else { return State::GaveUp };
            let span = Span { start: open, end };
            let id = self.arena.push(Kind::List { elements }, span, open, false);
            return State::Operator(Operand { id, span, is_name: false });
        }
        let marked = self.question();
        if let Some(Frame::List { optional, .. }) = self.frames.last_mut() {
            *optional = marked;
        }
        State::Operand
    }

    /// The start of an entry, or the map's end.
    pub(super) fn map_entry(&mut self, state: State) -> State {
        let (State::Operand, Some(Frame::Map { entries, .. })) = (&state, self.frames.last()) else { return state };
        let is_empty = entries.is_empty();
        if let Some(end) = self.closed(TokenKind::RightBrace, is_empty) {
            let Some(Frame::Map { open, entries, .. }) = self.pop() else { return State::GaveUp };
            let span = Span { start: open, end };
            let id = self.arena.push(Kind::Map { entries }, span, open, false);
            return State::Operator(Operand { id, span, is_name: false });
        }
        let marked = self.question();
        if let Some(Frame::Map { optional, .. }) = self.frames.last_mut() {
            *optional = marked;
        }
        State::Operand
    }

    /// Adds the entry whose value is `value`.
    pub(super) fn push_entry(&mut self, value: NodeId) {
        if let Some(Frame::Map { entries, optional, key, .. }) = self.frames.last_mut()
            && let Some((key, at)) = key.take()
        {
            entries.push(MapEntry { key, value, optional: std::mem::take(optional), at });
        }
    }

    /// `operand{`: the names that `operand` is made of become the struct's.
    pub(super) fn open_struct(&mut self, operand: Operand, open: Token) -> State {
        let mut parts = vec![];
        let mut id = operand.id;
        loop {
            match self.arena.node(id).map(|node| &node.kind) {
                Some(Kind::Select { operand, field, .. }) => {
                    parts.push(field.clone());
                    id = *operand;
                }
                Some(Kind::Ident(name)) => {
                    parts.push(name.clone());
                    break;
                }
                _ => break,
            }
        }
        parts.reverse();
        // They are the last nodes made, and no longer used.
        self.arena.truncate(self.arena.len() - parts.len());
        let name = self.arena.name(&parts.join("."));
        let frame = StructFrame { name, start: operand.span.start, open: open.span.start, fields: vec![], field: None };
        let state = self.open(Frame::Struct(frame));
        self.struct_field(state)
    }

    /// The start of a field with its `:`, or the struct's end.
    pub(super) fn struct_field(&mut self, state: State) -> State {
        let (State::Operand, Some(Frame::Struct(frame))) = (&state, self.frames.last()) else { return state };
        let is_empty = frame.fields.is_empty();
        if let Some(end) = self.closed(TokenKind::RightBrace, is_empty) {
            let Some(Frame::Struct(frame)) = self.pop() else { return State::GaveUp };
            let span = Span { start: frame.start, end };
            let kind = Kind::Struct { name: frame.name, fields: frame.fields };
            let id = self.arena.push(kind, span, frame.open, false);
            return State::Operator(Operand { id, span, is_name: false });
        }
        let optional = self.question();
        let token = self.token();
        if !matches!(token.kind, TokenKind::Ident | TokenKind::EscapedIdent) {
            return self.no_struct_field();
        }
        self.advance();
        let name = self.field_name(token);
        let colon = self.token();
        if colon.kind != TokenKind::Colon {
            return self.no_colon();
        }
        self.advance();
        let error = self.error;
        if let Some(Frame::Struct(frame)) = self.frames.last_mut() {
            let at = colon.span.start;
            frame.field = Some(StructField { name, value: error, optional, name_span: token.span, at });
        }
        State::Operand
    }

    /// Adds the field whose value is `value`.
    pub(super) fn push_field(&mut self, value: NodeId) {
        if let Some(Frame::Struct(frame)) = self.frames.last_mut()
            && let Some(field) = frame.field.take()
        {
            frame.fields.push(StructField { value, ..field });
        }
    }
}
