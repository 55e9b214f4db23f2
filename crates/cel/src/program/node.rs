//! The planned tree: what evaluation walks. Names are slots, constants are values, calls know their code.
//!
//! Absent: how it comes about (plan), what it means (run).
use std::{fmt, sync::Arc};

use crate::{
    ast::NodeId,
    library::{Cost, Implementation, Specialized},
    value::{FieldKey, Map, Value},
};

/// A node, with its identity in the syntax tree for places and coverage.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) id: NodeId,
    pub(super) op: Op,
}

#[derive(Debug)]
pub(super) enum Op {
    Const(Value),
    /// A variable by its slot, unqualified.
    Variable(u32),
    /// A variable of a fold or binding, unqualified.
    Local(Local),
    /// A root and the qualifiers that walk from it by reference.
    Attribute(Box<Attribute>),
    /// `?:` without qualifiers.
    Conditional(Box<Conditional>),
    /// `&&` (`decisive: false`) or `||` (`decisive: true`), chains flattened.
    Logic {
        operands: Box<[Node]>,
        decisive: bool,
    },
    Binary(Box<Binary>),
    /// `e in [constants]`
    InSet(Box<InSet>),
    Call(Box<Call>),
    NotStrictlyFalse(Box<Node>),
    /// `or` (`unwrap: false`), `orValue` (`unwrap: true`) of optionals.
    Or {
        operands: Box<(Node, Node)>,
        unwrap: bool,
    },
    List(Box<[Element]>),
    /// Whether a repeated key is an error.
    Map {
        entries: Box<[Entry]>,
        unique: bool,
    },
    Object(Box<[Entry]>),
    /// A fold of a shape that a macro of the standard makes.
    Loop(Box<Loop>),
    /// Any other fold.
    Fold(Box<Fold>),
    /// `cel.bind`: a fold over nothing whose accumulator is read.
    Bind(Box<Bind>),
    /// A node that has a second parent: its result and cost are kept in this place of the evaluation's memory.
    Once(Box<(usize, Node)>),
    /// The second parent's: the result kept last, at the cost of evaluating it again. In macros the first parent is always
    /// evaluated before the second, in the same scope.
    Again(usize),
    /// A name that nothing declares: an error when evaluated.
    Undeclared(Arc<str>),
}

/// A variable of an enclosing fold.
#[derive(Clone, Copy, Debug)]
pub(super) struct Local {
    /// How many folds out.
    pub(super) up: u32,
    pub(super) which: Which,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    First,
    Second,
    Accumulator,
}

#[derive(Debug)]
pub(super) struct Attribute {
    pub(super) root: Root,
    pub(super) qualifiers: Box<[Qualifier]>,
    /// From `has()`: the last qualifier is only tested.
    pub(super) test: bool,
    /// An optional step from what has no fields is absent.
    pub(super) lenient: bool,
    /// All qualifiers are constants or variables, none optional.
    pub(super) plain: bool,
    /// What the attribute itself costs: 1, or 0 for a test and over a conditional.
    pub(super) own_cost: u64,
}

#[derive(Debug)]
pub(super) enum Root {
    Variable(NodeId, u32),
    Local(NodeId, Local),
    Node(Node),
}

#[derive(Debug)]
pub(super) struct Qualifier {
    pub(super) id: NodeId,
    pub(super) optional: bool,
    pub(super) key: QualifierKey,
}

#[derive(Debug)]
pub(super) enum QualifierKey {
    Field(FieldKey),
    Const(Value),
    Node(Node),
}

#[derive(Debug)]
pub(super) struct Conditional {
    pub(super) condition: Node,
    pub(super) yes: Node,
    pub(super) no: Node,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BinaryOp {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    In,
}

impl BinaryOp {
    pub(super) fn is_arithmetic(self) -> bool {
        use BinaryOp::{Add, Divide, Modulo, Multiply, Subtract};
        matches!(self, Add | Subtract | Multiply | Divide | Modulo)
    }
}

#[derive(Debug)]
pub(super) struct Binary {
    pub(super) op: BinaryOp,
    pub(super) left: Node,
    pub(super) right: Node,
    /// What the evaluator has no short way for.
    pub(super) target: Target,
    /// Arithmetic that may be of ints or doubles.
    pub(super) of_numbers: bool,
}

/// The constants of `in [...]` by key, and those that are no keys.
#[derive(Debug)]
pub(super) struct InSet {
    pub(super) element: Node,
    pub(super) keys: Map,
    pub(super) fractions: Box<[f64]>,
}

impl InSet {
    pub(super) fn contains(&self, element: &Value) -> bool {
        match element {
            Value::Double(d) if self.fractions.contains(d) => true,
            element => self.keys.get_value(element).is_some(),
        }
    }
}

#[derive(Debug)]
pub(super) struct Call {
    pub(super) target: Target,
    pub(super) arguments: Box<[Node]>,
    /// All arguments are evaluated though one fails (COST model, A5).
    pub(super) all_arguments: bool,
    /// What the evaluator does by itself.
    pub(super) known: Option<Known>,
    /// From constant arguments.
    pub(super) specialized: Option<Code>,
}

/// Functions that short ways know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    Not,
    HasValue,
    Size,
    /// `-x`, of a number perhaps.
    Negate,
    /// What `sortBy` becomes.
    SortByKeys,
    StartsWith,
    EndsWith,
    Contains,
}

/// What may be called.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) function: Arc<str>,
    /// In the order of declaration; the first that fits the values is called. Shared between calls of the same overloads.
    pub(super) candidates: Arc<[Candidate]>,
    /// The checker left exactly one.
    pub(super) resolved: bool,
}

#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) parameters: Box<[Fit]>,
    pub(super) code: Implementation,
    pub(super) cost: Cost,
}

pub(super) struct Code(pub(super) Specialized);

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("code")
    }
}

/// Which values a parameter takes: the outermost type only, as cel-go does.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Fit {
    Any,
    Null,
    Bool,
    Int,
    Uint,
    Double,
    String,
    Bytes,
    Timestamp,
    Duration,
    List,
    Map,
    Optional,
    Type,
    Opaque(Arc<str>),
    /// A scalar or null.
    Nullable(Box<Fit>),
}

#[derive(Debug)]
pub(super) struct Element {
    pub(super) value: Node,
    pub(super) optional: bool,
}

#[derive(Debug)]
pub(super) struct Entry {
    pub(super) key: Node,
    pub(super) value: Node,
    pub(super) optional: bool,
    /// What an object's field holds; a map holds anything.
    pub(super) fit: Fit,
}

#[derive(Debug)]
pub(super) struct Loop {
    pub(super) range: Node,
    /// The two-variable form: (index or key, element), else (element or key).
    pub(super) two: bool,
    pub(super) kind: LoopKind,
    pub(super) predicate: Option<Node>,
}

#[derive(Debug)]
pub(super) enum LoopKind {
    /// `all` (`decisive: false`) or `exists` (`decisive: true`); the predicate is there.
    Quantify { decisive: bool },
    /// `exists_one`; the predicate is there.
    One,
    /// `filter`, `map`, `transformList`: appends.
    List { element: Node },
    /// `transformMap`: inserts.
    Map { key: Node, value: Node },
    /// `transformMapEntry`: inserts all of a map.
    Entries { map: Node },
}

#[derive(Debug)]
pub(super) struct Fold {
    pub(super) range: Node,
    pub(super) two: bool,
    pub(super) init: Node,
    pub(super) condition: Node,
    pub(super) step: Node,
    pub(super) result: Node,
}

#[derive(Debug)]
pub(super) struct Bind {
    pub(super) init: Node,
    pub(super) body: Node,
}
