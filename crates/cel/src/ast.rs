//! The syntax tree: an arena of nodes, each with the span of its text, after macro expansion.
//!
//! The shape is that of cel-spec's `syntax.proto`, so that what is known of CEL trees holds here: operators are calls of
//! `_+_`, `_&&_`, `_?_:_`, `_[_]`, `_?._`, `_[?_]`, `!_`, `-_`, `@in`; macros are comprehensions.
//! An arena, because dropping or walking a deep tree must not use the stack.
//!
//! Absent: types, values.
use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};

use crate::source::Span;

/// Index of a node in its [`Ast`]; also its identity for types, costs and coverage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// A parsed expression. INVARIANT (upheld by the parser, which alone builds one): every [`NodeId`] in it is an index of
/// `nodes`, children have smaller ids than their parents, and the depth is at most [`crate::limits::MAX_TREE_DEPTH`].
///
/// A node may have two parents: `t.optMap(v, f)` uses `t` twice, and copies would double the tree at each link of a chain.
/// Whoever walks the tree must visit each node once (or remember what it found), not once per path. Some nodes have no
/// parent: what a macro consumed (its variable names) stays in the arena for printing.
#[derive(Clone, Debug)]
pub struct Ast {
    pub(crate) source: Arc<str>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) root: NodeId,
    pub(crate) macro_calls: BTreeMap<NodeId, MacroCall>,
}

/// One node.
#[derive(Clone, Debug)]
pub struct Node {
    /// What it is.
    pub kind: Kind,
    /// All of its text, operands included; for nodes made by a macro, the macro call's.
    pub span: Span,
    /// Byte offset of the place that cel-go reports for it (ERRORS: the `.` of a select, the `(` of a call, ...).
    pub at: u32,
}

/// The kinds of nodes.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A constant.
    Literal(Literal),
    /// A name; a leading `.` (absolute) is kept.
    Ident(Arc<str>),
    /// `operand.field`, or `has(operand.field)` when `test_only`.
    Select {
        /// What is selected from.
        operand: NodeId,
        /// The field, unescaped from back-quotes.
        field: Arc<str>,
        /// From `has()`.
        test_only: bool,
        /// The field's own text.
        field_span: Span,
    },
    /// A function, method or operator.
    Call {
        /// The receiver of a method call.
        target: Option<NodeId>,
        /// The function's name, or an operator's inner name.
        function: Arc<str>,
        /// The arguments without the receiver. `_?._`'s second is a string literal.
        args: Vec<NodeId>,
        /// The name's own text.
        name_span: Span,
    },
    /// `[a, ?b]`.
    List {
        /// The elements and whether each is optional (`?`).
        elements: Vec<(NodeId, bool)>,
    },
    /// `Name{field: value}`.
    Struct {
        /// The type's name as written.
        name: Arc<str>,
        /// The fields.
        fields: Vec<StructField>,
    },
    /// `{key: value}`.
    Map {
        /// The entries.
        entries: Vec<MapEntry>,
    },
    /// What macros become.
    Comprehension(Box<Comprehension>),
}

/// A field of a struct literal.
#[derive(Clone, Debug, PartialEq)]
pub struct StructField {
    /// Its name.
    pub name: Arc<str>,
    /// Its value.
    pub value: NodeId,
    /// Written with `?`.
    pub optional: bool,
    /// The name's text.
    pub name_span: Span,
    /// Byte offset of its `:` (where cel-go reports it).
    pub at: u32,
}

/// An entry of a map literal.
#[derive(Clone, Debug, PartialEq)]
pub struct MapEntry {
    /// Its key.
    pub key: NodeId,
    /// Its value.
    pub value: NodeId,
    /// Written with `?`.
    pub optional: bool,
    /// Byte offset of its `:` (where cel-go reports it).
    pub at: u32,
}

/// A fold, as in `syntax.proto`.
#[derive(Clone, Debug, PartialEq)]
pub struct Comprehension {
    /// The element's (or key's, or index's) variable.
    pub iter_var: Arc<str>,
    /// The second variable of the two-variable form.
    pub iter_var2: Option<Arc<str>>,
    /// The list or map.
    pub iter_range: NodeId,
    /// The accumulator's variable: `@result` (cel-go's hidden name).
    pub accu_var: Arc<str>,
    /// Its first value.
    pub accu_init: NodeId,
    /// The fold stops when this is false.
    pub loop_condition: NodeId,
    /// The accumulator's next value.
    pub loop_step: NodeId,
    /// The result, over the accumulator.
    pub result: NodeId,
}

/// A constant.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// `null`
    Null,
    /// `true`
    Bool(bool),
    /// `1`
    Int(i64),
    /// `1u`
    Uint(u64),
    /// `1.0`
    Double(f64),
    /// `'a'`
    String(Arc<str>),
    /// `b'a'`
    Bytes(Arc<[u8]>),
}

/// The call that a macro's expansion stands for (for printing, coverage, messages).
#[derive(Clone, Debug, PartialEq)]
pub struct MacroCall {
    /// The receiver: `list` in `list.all(x, p)`.
    pub target: Option<NodeId>,
    /// The macro's name.
    pub function: Arc<str>,
    /// The arguments as written (they are nodes of the same arena).
    pub args: Vec<NodeId>,
    /// The name's own text.
    pub name_span: Span,
}

impl Kind {
    /// Calls `visit` with every child, in the order of evaluation.
    pub fn for_each_child(&self, mut visit: impl FnMut(NodeId)) {
        match self {
            Kind::Literal(_) | Kind::Ident(_) => {}
            Kind::Select { operand, .. } => visit(*operand),
            Kind::Call { target, args, .. } => target.iter().chain(args).copied().for_each(visit),
            Kind::List { elements } => elements.iter().for_each(|(element, _)| visit(*element)),
            Kind::Struct { fields, .. } => fields.iter().for_each(|field| visit(field.value)),
            Kind::Map { entries } => entries.iter().for_each(|entry| {
                visit(entry.key);
                visit(entry.value);
            }),
            Kind::Comprehension(c) => {
                [c.iter_range, c.accu_init, c.loop_condition, c.loop_step, c.result].into_iter().for_each(visit);
            }
        }
    }
}

impl Kind {
    /// Whether two nodes are the same but for their children and places.
    fn is_alike(&self, other: &Kind) -> bool {
        match (self, other) {
            (Kind::Literal(one), Kind::Literal(two)) => one == two,
            (Kind::Ident(one), Kind::Ident(two)) => one == two,
            (Kind::Select { field: one, test_only, .. }, Kind::Select { field: two, test_only: other_test, .. }) => {
                one == two && test_only == other_test
            }
            (Kind::Call { target, function, .. }, Kind::Call { target: other_target, function: other, .. }) => {
                function == other && target.is_some() == other_target.is_some()
            }
            (Kind::List { elements }, Kind::List { elements: others }) => {
                elements.iter().map(|(_, optional)| optional).eq(others.iter().map(|(_, optional)| optional))
            }
            (Kind::Struct { name, fields }, Kind::Struct { name: other_name, fields: others }) => {
                let of = |field: &StructField| (field.name.clone(), field.optional);
                name == other_name && fields.iter().map(of).eq(others.iter().map(of))
            }
            (Kind::Map { entries }, Kind::Map { entries: others }) => {
                entries.iter().map(|entry| entry.optional).eq(others.iter().map(|entry| entry.optional))
            }
            (Kind::Comprehension(one), Kind::Comprehension(two)) => {
                (&one.iter_var, &one.iter_var2, &one.accu_var) == (&two.iter_var, &two.iter_var2, &two.accu_var)
            }
            _ => false,
        }
    }
}

impl Ast {
    /// The text it was parsed from.
    pub fn source(&self) -> &Arc<str> {
        &self.source
    }

    /// The outermost node.
    pub fn root(&self) -> NodeId {
        self.root
    }

    /// All nodes; a [`NodeId`] is an index into them. Children come before parents.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// One node; `None` for an id of another tree.
    pub fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(id.0 as usize)
    }

    /// The macro call that became `id`.
    pub fn macro_call(&self, id: NodeId) -> Option<&MacroCall> {
        self.macro_calls.get(&id)
    }

    /// Whether two trees are the same but for the places of their nodes.
    pub fn is_same(&self, other: &Ast) -> bool {
        let mut open = vec![(self.root, other.root)];
        let mut seen = HashSet::new();
        while let Some(pair) = open.pop() {
            if !seen.insert(pair) {
                continue;
            }
            let (Some(one), Some(two)) = (self.node(pair.0), other.node(pair.1)) else { return false };
            if !one.kind.is_alike(&two.kind) {
                return false;
            }
            let (mut ones, mut twos) = (vec![], vec![]);
            one.kind.for_each_child(|child| ones.push(child));
            two.kind.for_each_child(|child| twos.push(child));
            if ones.len() != twos.len() {
                return false;
            }
            open.extend(ones.into_iter().zip(twos));
        }
        true
    }
}
