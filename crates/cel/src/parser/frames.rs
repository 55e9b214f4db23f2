//! What the parser has begun and not finished, and how operators become nodes.
//!
//! Absent: calls and literals with brackets (`calls`).
use std::sync::Arc;

use super::{Operand, Parser};
use crate::{
    ast::{Kind, MapEntry, NodeId, StructField},
    lexer::TokenKind,
    source::Span,
};

/// Something begun.
pub(super) enum Frame {
    /// A run of `!` or of `-`; two of them cancel out.
    Prefix { not: bool, odd: bool, start: u32 },
    /// `left op`
    Binary { op: Binary, left: Operand, at: u32 },
    /// `a && b &&`: chains are kept whole to be balanced at their end.
    Logic { or: bool, terms: Vec<Operand>, ats: Vec<u32> },
    /// `condition ?`
    Then { condition: Operand, at: u32 },
    /// `condition ? then :`
    Else { condition: Operand, then: Operand, at: u32 },
    /// `(`
    Group { open: u32 },
    /// `f(`, `x.f(`
    Call(CallFrame),
    /// `x[`
    Index { operand: Operand, open: u32, optional: bool },
    /// `[`
    List { open: u32, elements: Vec<(NodeId, bool)>, optional: bool },
    /// `{`; `key` is the key and the place of its `:`
    Map { open: u32, entries: Vec<MapEntry>, optional: bool, key: Option<(NodeId, u32)> },
    /// `Name{`
    Struct(StructFrame),
}

pub(super) struct CallFrame {
    pub(super) target: Option<Operand>,
    pub(super) name: Arc<str>,
    pub(super) name_span: Span,
    pub(super) start: u32,
    pub(super) open: u32,
    pub(super) args: Vec<NodeId>,
}

pub(super) struct StructFrame {
    pub(super) name: Arc<str>,
    pub(super) start: u32,
    pub(super) open: u32,
    pub(super) fields: Vec<StructField>,
    /// The field whose value is being parsed; its `value` is not there yet.
    pub(super) field: Option<StructField>,
}

impl Frame {
    /// Whether it nests an expression in cel-go's grammar (its rule `expr`).
    pub(super) fn nests(&self) -> bool {
        !matches!(self, Frame::Prefix { .. } | Frame::Binary { .. } | Frame::Logic { .. } | Frame::Then { .. })
    }
}

/// The left-associative operators.
#[derive(Clone, Copy)]
pub(super) enum Binary {
    Relation(&'static str),
    Sum(&'static str),
    Product(&'static str),
}

impl Binary {
    pub(super) fn of(kind: TokenKind) -> Option<Binary> {
        Some(match kind {
            TokenKind::Equal => Binary::Relation("_==_"),
            TokenKind::NotEqual => Binary::Relation("_!=_"),
            TokenKind::Less => Binary::Relation("_<_"),
            TokenKind::LessEqual => Binary::Relation("_<=_"),
            TokenKind::Greater => Binary::Relation("_>_"),
            TokenKind::GreaterEqual => Binary::Relation("_>=_"),
            TokenKind::In => Binary::Relation("@in"),
            TokenKind::Plus => Binary::Sum("_+_"),
            TokenKind::Minus => Binary::Sum("_-_"),
            TokenKind::Star => Binary::Product("_*_"),
            TokenKind::Slash => Binary::Product("_/_"),
            TokenKind::Percent => Binary::Product("_%_"),
            _ => return None,
        })
    }

    /// How tightly it binds.
    pub(super) fn level(self) -> u8 {
        match self {
            Binary::Relation(_) => 3,
            Binary::Sum(_) => 4,
            Binary::Product(_) => 5,
        }
    }

    fn function(self) -> &'static str {
        match self {
            Binary::Relation(name) | Binary::Sum(name) | Binary::Product(name) => name,
        }
    }
}

/// How many operators wait for their right operand. cel-go's rules `relation` and `calc` are entered once more for each,
/// and its limit is per rule.
#[derive(Default)]
pub(super) struct Pending {
    relations: usize,
    calculations: usize,
}

impl Pending {
    fn of(&mut self, op: Binary) -> &mut usize {
        match op {
            Binary::Relation(_) => &mut self.relations,
            Binary::Sum(_) | Binary::Product(_) => &mut self.calculations,
        }
    }

    pub(super) fn add(&mut self, op: Binary) {
        *self.of(op) += 1;
    }

    fn remove(&mut self, op: Binary) {
        let count = self.of(op);
        *count = count.saturating_sub(1);
    }

    pub(super) fn most(&self) -> usize {
        self.relations.max(self.calculations)
    }
}

/// How tightly `||` and `&&` bind.
pub(super) fn logic_level(or: bool) -> u8 {
    if or { 1 } else { 2 }
}

const PREFIX_LEVEL: u8 = 6;

impl Parser<'_> {
    /// Finishes the operators before `operand` that bind at least as tightly as `level`.
    pub(super) fn reduce(&mut self, mut operand: Operand, level: u8) -> Operand {
        loop {
            let of_top = match self.frames.last() {
                Some(Frame::Prefix { .. }) => PREFIX_LEVEL,
                Some(Frame::Binary { op, .. }) => op.level(),
                Some(Frame::Logic { or, .. }) => logic_level(*or),
                _ => return operand,
            };
            if of_top < level {
                return operand;
            }
            operand = match self.frames.pop() {
                Some(Frame::Prefix { not, odd, start }) => {
                    let span = Span { start, end: operand.span.end };
                    let id = match odd {
                        true => {
                            self.operator_call(if not { "!_" } else { "-_" }, vec![operand.id], span, (start, 1), false)
                        }
                        false => operand.id,
                    };
                    Operand { id, span, is_name: false }
                }
                Some(Frame::Binary { op, left, at }) => {
                    self.pending.remove(op);
                    let span = Span { start: left.span.start, end: operand.span.end };
                    let function = op.function();
                    let text = if function == "@in" { 2 } else { function.len() as u32 - 2 };
                    let id = self.operator_call(function, vec![left.id, operand.id], span, (at, text), true);
                    Operand { id, span, is_name: false }
                }
                Some(Frame::Logic { or, mut terms, ats }) => {
                    terms.push(operand);
                    self.balanced(if or { "_||_" } else { "_&&_" }, &terms, &ats)
                }
                _ => return operand,
            };
        }
    }

    fn operator_call(
        &mut self,
        function: &str,
        args: Vec<NodeId>,
        span: Span,
        (at, len): (u32, u32),
        visit: bool,
    ) -> NodeId {
        let function = self.arena.name(function);
        let name_span = Span { start: at, end: at + len };
        self.arena.push(Kind::Call { target: None, function, args, name_span }, span, at, visit)
    }

    /// Adds a term to the chain of `&&` or `||` that is being read, or begins one.
    pub(super) fn term(&mut self, or: bool, term: Operand, at: u32) {
        match self.frames.last_mut() {
            Some(Frame::Logic { or: chain, terms, ats }) if *chain == or => {
                terms.push(term);
                ats.push(at);
            }
            _ => self.frames.push(Frame::Logic { or, terms: vec![term], ats: vec![at] }),
        }
    }

    /// A chain as a balanced tree, in cel-go's way: the depth is logarithmic, so recursion is fine.
    fn balanced(&mut self, function: &str, terms: &[Operand], ats: &[u32]) -> Operand {
        let (Some(first), Some(last)) = (terms.first(), terms.last()) else {
            return Operand { id: self.error, span: Span::default(), is_name: false };
        };
        let middle = ats.len() / 2;
        let (Some(&at), Some((left, right)), Some((left_ats, right_ats))) =
            (ats.get(middle), terms.split_at_checked(middle + 1), ats.split_at_checked(middle))
        else {
            return *first;
        };
        let span = Span { start: first.span.start, end: last.span.end };
        let left = self.balanced(function, left, left_ats);
        let right = self.balanced(function, right, right_ats.get(1..).unwrap_or_default());
        let id = self.operator_call(function, vec![left.id, right.id], span, (at, 2), false);
        Operand { id, span, is_name: false }
    }

    /// `condition ? then : otherwise`, whose frame is the innermost.
    pub(super) fn conditional(&mut self, otherwise: Operand) -> Operand {
        let Some(Frame::Else { condition, then, at }) = self.pop() else { return otherwise };
        let span = Span { start: condition.span.start, end: otherwise.span.end };
        let id = self.operator_call("_?_:_", vec![condition.id, then.id, otherwise.id], span, (at, 1), true);
        Operand { id, span, is_name: false }
    }
}
