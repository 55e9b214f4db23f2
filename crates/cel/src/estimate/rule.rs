//! The form of a function's estimate: from its arguments' sizes, its cost and its result's size (COST, B4).
//!
//! Absent: the rules themselves, which stand beside the prices of functions (library).
use super::Bounds;
use crate::{ast::Literal, types::Type};

/// What one call is estimated to cost beyond its arguments, and how large its result is. The receiver is the first argument.
pub type Rule = fn(&[Operand<'_>]) -> Guess;

/// An argument of a call, as a [`Rule`] sees it.
#[derive(Clone, Copy, Debug)]
pub struct Operand<'a> {
    /// Its type.
    pub ty: &'a Type,
    /// Code points, bytes, elements, if something is known of it.
    pub size: Option<Bounds>,
    /// If its type has parameters: the first (elements of lists, keys of maps), and the size of what is in it.
    pub element: Option<(&'a Type, Bounds)>,
    /// Its value, where it stands in the text.
    pub literal: Option<&'a Literal>,
}

/// What a call is estimated at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guess {
    /// Its cost beyond its arguments.
    pub cost: Bounds,
    /// The size of its result; `None` where only its type tells.
    pub size: Option<Bounds>,
}

impl Guess {
    /// Of that cost.
    pub const fn cost(cost: Bounds) -> Guess {
        Guess { cost, size: None }
    }

    /// Of exactly that cost.
    pub const fn exactly(cost: u64) -> Guess {
        Guess::cost(Bounds::exactly(cost))
    }

    /// The same with a result of that size.
    #[must_use]
    pub const fn sized(self, size: Bounds) -> Guess {
        Guess { size: Some(size), ..self }
    }

    /// The result is a new list of `size`, whose every element is walked over `walks` times.
    pub(crate) fn list(size: Bounds, walks: f64) -> Guess {
        Guess::cost(size.scaled(walks) + Bounds::exactly(11)).sized(size)
    }
}

/// The size of an argument.
pub(crate) fn size(args: &[Operand<'_>], index: usize) -> Bounds {
    args.get(index).and_then(|arg| arg.size).unwrap_or(Bounds::UNKNOWN)
}

/// An argument that is an integer in the text.
pub(crate) fn integer(args: &[Operand<'_>], index: usize) -> Option<i64> {
    match args.get(index)?.literal? {
        Literal::Int(n) => Some(*n),
        _ => None,
    }
}

/// Matching a pattern: text by pattern.
pub(crate) fn matching(text: Bounds, pattern: Bounds) -> Bounds {
    (text + Bounds::exactly(1)).scaled(0.1) * pattern.scaled(0.25)
}
