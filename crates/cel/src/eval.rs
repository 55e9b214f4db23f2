//! What evaluation meets besides values: errors, unknowns, the cost budget, the host.
//!
//! Absent: the evaluator itself (program), functions (library).
use std::{collections::BTreeSet, fmt};

use crate::{source::Span, value::Value};

/// Why an evaluation gave no value. Both are absorbed by `&&`, `||` as the CEL specification says; unknowns win over errors.
#[derive(Clone, Debug, PartialEq)]
pub enum Halt {
    /// It failed.
    Error(Box<EvalError>),
    /// It needs what is not known yet. Behind a pointer, as errors are: an evaluation's result is then as small as a value.
    Unknown(Box<Unknowns>),
}

/// A run-time error.
#[derive(Clone, Debug, PartialEq)]
pub struct EvalError {
    /// What kind, for callers that decide by it.
    pub kind: ErrorKind,
    /// cel-go's words: `no such key: size`.
    pub message: String,
    /// The failing sub-expression's text; set by the evaluator.
    pub span: Option<Span>,
}

/// Kinds of run-time errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// `no such key: k`
    NoSuchKey,
    /// `index out of bounds: 3`
    IndexOutOfBounds,
    /// `no such overload: ...`
    NoSuchOverload,
    /// `no such attribute(s): x`, a variable without a value
    NoSuchAttribute,
    /// `divide by zero`, `modulus by zero`
    DivideByZero,
    /// `integer overflow` and ranges
    Overflow,
    /// A value that a function does not take.
    InvalidArgument,
    /// The cost budget is used up. Not absorbed by `||` and `&&`.
    CostExceeded,
    /// A value nests deeper than [`crate::limits::MAX_VALUE_DEPTH`]. Not absorbed by `||` and `&&`.
    TooDeep,
    /// What the host answered to a question.
    Host,
}

/// The exact set of what is not known: ids that the host gave out (attributes, questions).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unknowns(pub BTreeSet<u32>);

/// What an expression's functions may ask of outside (authorization decisions). The answer to a question is the same
/// within one evaluation.
pub trait Host {
    /// The answer, or the id of the unknown that it is.
    fn ask(&mut self, question: &Value) -> Result<Value, Halt>;
}

/// What a variable is when it is read.
pub enum Bound<'a> {
    /// Its value.
    Value(&'a Value),
    /// Its value, of which some is not known: what begins as one of the patterns does.
    Partly(&'a Value, &'a [Pattern]),
    /// Reading it fails, or it is unknown.
    Halt(&'a Halt),
    /// It has none: an error at the reader.
    Absent,
}

/// Attributes of a variable that are not known: `x.spec.size`, or with a wildcard `x.items[*].size`.
///
/// An attribute is undecided if it goes to or beyond a pattern's end, or stops on the way there: with `x.spec.size` unknown, so
/// are `x.spec`, since that holds it, and `has(x.spec.size)`, but `x.spec.name` is known. So it is in cel-go.
#[derive(Clone, Debug)]
pub struct Pattern {
    pub(crate) id: u32,
    /// A key, or any.
    pub(crate) steps: Vec<Option<Value>>,
}

impl Pattern {
    /// The whole variable. `id` is what [`Unknowns`] names it by.
    pub fn new(id: u32) -> Pattern {
        Pattern { id, steps: vec![] }
    }

    /// Goes on to a field, a key or an index.
    #[must_use]
    pub fn key(mut self, key: impl Into<Value>) -> Pattern {
        self.steps.push(Some(key.into()));
        self
    }

    /// Goes on to all fields, keys or indexes.
    #[must_use]
    pub fn any(mut self) -> Pattern {
        self.steps.push(None);
        self
    }
}

/// The variables of one evaluation, by the slots that [`crate::Env::slot`] gives.
pub trait Activation {
    /// The variable in `slot`.
    fn variable(&self, slot: u32) -> Bound<'_>;
}

impl Activation for [Option<Value>] {
    fn variable(&self, slot: u32) -> Bound<'_> {
        match self.get(slot as usize) {
            Some(Some(value)) => Bound::Value(value),
            _ => Bound::Absent,
        }
    }
}

/// What one evaluation gave, and what it cost.
#[derive(Debug)]
pub struct Evaluation {
    /// The value, or why there is none.
    pub result: Result<Value, Halt>,
    /// Its actual cost by Kubernetes' model, whether it succeeded or not.
    pub cost: u64,
    /// The work that it took beside the cost: bytes copied, and 8 for each value compared.
    pub work: u64,
}

/// Handed to functions: the budget, the host.
pub struct Context<'a> {
    budget: u64,
    cost: u64,
    work_budget: u64,
    work: u64,
    host: Option<&'a mut dyn Host>,
    pub(crate) patterns: crate::library::regex::Patterns,
}

impl<'a> Context<'a> {
    /// A context that has spent nothing.
    #[inline]
    pub fn new(budget: u64, host: Option<&'a mut dyn Host>) -> Context<'a> {
        let work_budget = crate::limits::WORK_PER_EXPRESSION;
        Context { budget, cost: 0, work_budget, work: 0, host, patterns: Default::default() }
    }

    /// The same with a smaller bound of its work.
    #[inline]
    pub(crate) fn with_work(self, work_budget: u64) -> Context<'a> {
        Context { work_budget: work_budget.min(self.work_budget), ..self }
    }

    /// The work that was counted.
    pub(crate) fn work(&self) -> u64 {
        self.work
    }

    /// What has been charged.
    pub fn cost(&self) -> u64 {
        self.cost
    }

    /// Charges `cost` before it is spent; an error when the budget does not hold it.
    #[inline]
    pub fn charge(&mut self, cost: u64) -> Result<(), Halt> {
        self.cost = self.cost.saturating_add(cost);
        if self.cost > self.budget { Err(cost_exceeded()) } else { Ok(()) }
    }

    /// Charges `cost` if the budget holds it; says whether.
    #[inline]
    pub(crate) fn charge_if_affordable(&mut self, cost: u64) -> bool {
        let total = self.cost.saturating_add(cost);
        let holds = total <= self.budget;
        if holds {
            self.cost = total;
        }
        holds
    }

    /// Takes back what a short way charged that came to nothing.
    #[inline]
    pub(crate) fn forget_back_to(&mut self, cost: u64) {
        self.cost = cost;
    }

    /// Fails if `cost` could not be charged; for calls that are charged by their result and first want to know whether they
    /// may make it.
    pub fn afford(&mut self, cost: u64) -> Result<(), Halt> {
        if self.cost.saturating_add(cost) > self.budget { self.charge(cost) } else { Ok(()) }
    }

    /// Counts work that Kubernetes' cost model does not see: bytes copied (`dyn` strings, lists joined by `+`), 8 for each
    /// value compared, 32 for each entry of a map. An error when an evaluation spends more than [`crate::limits::WORK_PER_EXPRESSION`].
    #[inline]
    pub fn spend(&mut self, work: u64) -> Result<(), Halt> {
        self.work = self.work.saturating_add(work);
        if self.work > self.work_budget { Err(cost_exceeded()) } else { Ok(()) }
    }

    /// CEL's `==`, with the work counted before it is done.
    ///
    /// # Errors
    /// As of [`Value::equals`] and [`Context::spend`].
    pub fn equals(&mut self, a: &Value, b: &Value) -> Result<bool, Halt> {
        a.equals_counted(b, &mut |work| self.spend(work))
    }

    /// Asks the host.
    pub fn ask(&mut self, question: &Value) -> Result<Value, Halt> {
        match self.host.as_mut() {
            Some(host) => host.ask(question),
            None => Err(Halt::error(ErrorKind::Host, "nothing here answers questions to the host")),
        }
    }
}

#[cold]
fn cost_exceeded() -> Halt {
    Halt::error(ErrorKind::CostExceeded, "operation cancelled: actual cost limit exceeded")
}

impl Halt {
    /// Whether nothing absorbs it: the evaluation is over.
    #[inline]
    pub fn is_fatal(&self) -> bool {
        matches!(self, Halt::Error(e) if matches!(e.kind, ErrorKind::CostExceeded | ErrorKind::TooDeep))
    }

    /// The error of a value that nests deeper than [`crate::limits::MAX_VALUE_DEPTH`].
    pub fn too_deep() -> Halt {
        Halt::error(ErrorKind::TooDeep, "value nests too deeply")
    }

    /// The error of arguments that no overload takes, in cel-go's short form.
    pub fn no_such_overload() -> Halt {
        Halt::error(ErrorKind::NoSuchOverload, "no such overload")
    }

    /// That one thing is not known, by the host's id.
    pub fn unknown(id: u32) -> Halt {
        Halt::Unknown(Box::new(Unknowns([id].into())))
    }

    /// An error without a place (the evaluator adds it).
    pub fn error(kind: ErrorKind, message: impl Into<String>) -> Halt {
        Halt::Error(Box::new(EvalError { kind, message: message.into(), span: None }))
    }
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for EvalError {}

impl fmt::Display for Halt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Halt::Error(error) => error.fmt(f),
            Halt::Unknown(_) => f.write_str("the answer depends on what is not known yet"),
        }
    }
}

impl std::error::Error for Halt {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_as_small_as_a_value() {
        assert_eq!(size_of::<Result<Value, Halt>>(), size_of::<Value>());
    }
}
