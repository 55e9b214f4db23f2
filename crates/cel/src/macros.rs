//! Macros: parse-time rewrites of calls (`has`, `all`, `map`, ...), registered by libraries.
//!
//! A macro belongs to a [`crate::library::Library`]: an environment without it calls a function of that name. Each file
//! under `macros/` gives the macros of one library as a `Vec<Macro>`.
//!
//! Absent: functions that exist at run time.
use std::sync::Arc;

use crate::{
    ast::{Comprehension, Kind, Literal, MapEntry, NodeId},
    parser::arena::Arena,
    source::Span,
};

pub mod bind;
pub mod block;
pub mod math;
pub mod optional;
pub mod sort;
pub mod standard;
pub mod two_variable;

pub use bind::bind;
pub use block::block;
pub use math::math;
pub use optional::optional;
pub use sort::sort_by;
pub use standard::standard;
pub use two_variable::two_variable;

/// A rewrite of calls of one name, form and number of arguments.
#[derive(Clone, Copy, Debug)]
pub struct Macro {
    /// The function's name: `all`.
    pub name: &'static str,
    /// Whether it is called on a receiver: `x.all(...)`, `cel.bind(...)`.
    pub receiver: bool,
    /// How many arguments it takes; `None` for any number.
    pub arguments: Option<usize>,
    /// The rewrite.
    pub expand: Expand,
    /// How it is written and what it gives, for the function reference: `list(T).all(x, bool) -> bool`.
    pub form: &'static str,
    /// One line for the function reference.
    pub doc: &'static str,
    /// An expression that shows it, true when evaluated.
    pub example: &'static str,
}

impl Macro {
    /// A macro on a receiver.
    pub(crate) const fn member(
        name: &'static str,
        arguments: usize,
        expand: Expand,
        words: [&'static str; 3],
    ) -> Macro {
        let [form, doc, example] = words;
        Macro { name, receiver: true, arguments: Some(arguments), expand, form, doc, example }
    }
}

/// A rewrite: the node that stands for the call; `None` leaves the call as it is (a namespace that is not meant).
pub type Expand = fn(&mut Expansion<'_>) -> Result<Option<NodeId>, MacroError>;

/// A call that does not fit its macro.
#[derive(Clone, Debug, PartialEq)]
pub struct MacroError {
    /// The argument to blame.
    pub node: NodeId,
    /// In cel-go's words.
    pub message: String,
}

impl MacroError {
    /// Blames `node`.
    pub fn new(node: NodeId, message: impl Into<String>) -> MacroError {
        MacroError { node, message: message.into() }
    }
}

/// The hidden name of a comprehension's accumulator.
pub const ACCUMULATOR: &str = "@result";

/// The name of an iteration variable that nothing reads.
pub const UNUSED: &str = "#unused";

/// A call being expanded, and the tools to build what it becomes. New nodes stand where the call stands.
pub struct Expansion<'a> {
    pub(crate) arena: &'a mut Arena,
    pub(crate) target: Option<NodeId>,
    pub(crate) args: &'a [NodeId],
    pub(crate) span: Span,
    pub(crate) at: u32,
}

/// The parts of a fold over `range`.
pub(crate) struct Fold<'a> {
    pub(crate) range: NodeId,
    pub(crate) iter_var: &'a str,
    pub(crate) iter_var2: Option<&'a str>,
    pub(crate) accu_var: &'a str,
    pub(crate) init: NodeId,
    pub(crate) condition: NodeId,
    pub(crate) step: NodeId,
    pub(crate) result: NodeId,
}

impl Expansion<'_> {
    /// The arguments as parsed, macros in them expanded.
    pub fn args(&self) -> &[NodeId] {
        self.args
    }

    /// The receiver.
    pub fn target(&self) -> Option<NodeId> {
        self.target
    }

    /// A node's kind.
    pub fn kind(&self, id: NodeId) -> Option<&Kind> {
        self.arena.node(id).map(|node| &node.kind)
    }

    /// A simple name without a leading dot.
    pub fn simple_name(&self, id: NodeId) -> Option<Arc<str>> {
        match self.kind(id)? {
            Kind::Ident(name) if !name.starts_with('.') => Some(name.clone()),
            _ => None,
        }
    }

    /// Whether the receiver is the namespace `name`: `cel` in `cel.bind(...)`.
    pub fn in_namespace(&self, name: &str) -> bool {
        self.target.and_then(|target| self.simple_name(target)).is_some_and(|target| &*target == name)
    }

    /// The exact arguments.
    pub(crate) fn exactly<const N: usize>(&self) -> Option<[NodeId; N]> {
        self.args.try_into().ok()
    }

    fn push(&mut self, kind: Kind) -> NodeId {
        self.arena.push(kind, self.span, self.at, false)
    }

    /// A constant.
    pub fn literal(&mut self, literal: Literal) -> NodeId {
        self.push(Kind::Literal(literal))
    }

    /// A name.
    pub fn ident(&mut self, name: &str) -> NodeId {
        let name = self.arena.name(name);
        self.push(Kind::Ident(name))
    }

    /// `function(args)`, operators included.
    pub fn call(&mut self, function: &str, args: Vec<NodeId>) -> NodeId {
        self.any_call(None, function, args)
    }

    /// `target.function(args)`
    pub fn member_call(&mut self, target: NodeId, function: &str, args: Vec<NodeId>) -> NodeId {
        self.any_call(Some(target), function, args)
    }

    fn any_call(&mut self, target: Option<NodeId>, function: &str, args: Vec<NodeId>) -> NodeId {
        let function = self.arena.name(function);
        let name_span = self.span;
        self.push(Kind::Call { target, function, args, name_span })
    }

    /// `[elements]`
    pub fn list(&mut self, elements: Vec<NodeId>) -> NodeId {
        self.push(Kind::List { elements: elements.into_iter().map(|element| (element, false)).collect() })
    }

    /// `{}`
    pub fn empty_map(&mut self) -> NodeId {
        let entries: Vec<MapEntry> = vec![];
        self.push(Kind::Map { entries })
    }

    /// `has(operand.field)`
    pub(crate) fn test(&mut self, operand: NodeId, field: Arc<str>, field_span: Span) -> NodeId {
        self.push(Kind::Select { operand, field, test_only: true, field_span })
    }

    pub(crate) fn fold(&mut self, fold: Fold<'_>) -> NodeId {
        let comprehension = Comprehension {
            iter_var: self.arena.name(fold.iter_var),
            iter_var2: fold.iter_var2.map(|name| self.arena.name(name)),
            iter_range: fold.range,
            accu_var: self.arena.name(fold.accu_var),
            accu_init: fold.init,
            loop_condition: fold.condition,
            loop_step: fold.step,
            result: fold.result,
        };
        self.push(Kind::Comprehension(Box::new(comprehension)))
    }

    /// `result` with `variable` standing for `init`: a fold over nothing, as cel-go has it.
    pub fn bind(&mut self, variable: &str, init: NodeId, result: NodeId) -> NodeId {
        let range = self.list(vec![]);
        let condition = self.literal(Literal::Bool(false));
        let step = self.ident(variable);
        self.fold(Fold { range, iter_var: UNUSED, iter_var2: None, accu_var: variable, init, condition, step, result })
    }
}

/// The macros of an environment by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct MacroTable(crate::env::Table<&'static str, Vec<Macro>>);

impl MacroTable {
    /// Adds a macro, replacing one of the same form.
    pub(crate) fn add(&mut self, new: Macro) {
        let named = self.0.entry(new.name).or_default();
        named.retain(|old| (old.receiver, old.arguments) != (new.receiver, new.arguments));
        named.push(new);
    }

    /// The macro that a call means: one with its exact number of arguments before one that takes any.
    pub(crate) fn find(&self, name: &str, receiver: bool, arguments: usize) -> Option<Macro> {
        let named = self.0.get(name)?;
        let fits =
            |wanted: Option<usize>| named.iter().find(|m| m.receiver == receiver && m.arguments == wanted).copied();
        fits(Some(arguments)).or_else(|| fits(None))
    }

    /// The numbers of arguments that macros of that name and form take, in order; none if there is no such macro.
    pub(crate) fn arguments(&self, name: &str, receiver: bool) -> Vec<usize> {
        let named = self.0.get(name).into_iter().flatten().filter(|m| m.receiver == receiver);
        let mut arguments: Vec<usize> = named.filter_map(|m| m.arguments).collect();
        arguments.sort_unstable();
        arguments
    }

    /// The full names of macros in a namespace: `math.greatest`.
    pub(crate) fn full_names(&self) -> impl Iterator<Item = &str> {
        self.0.values().flatten().filter_map(|m| m.form.split('(').next()).filter(|name| name.contains('.'))
    }

    pub(crate) fn names(&self, receiver: bool) -> impl Iterator<Item = &'static str> + '_ {
        self.0.iter().filter(move |(_, named)| named.iter().any(|m| m.receiver == receiver)).map(|(name, _)| *name)
    }
}
