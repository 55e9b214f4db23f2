//! Growing a tree: nodes with their depths, shared names.
//!
//! Absent: the grammar (parser), what macros build (macros).
use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};

use crate::{
    ast::{Ast, Kind, MacroCall, Node, NodeId},
    source::Span,
};

/// Two measures of a node's height.
#[derive(Clone, Copy, Default)]
struct Height {
    /// Of the tree as it is, macros expanded.
    tree: u16,
    /// As cel-go's parser counts it: operators, selections, indexing and method calls of the text.
    visits: u16,
}

/// The nodes of an [`Ast`] that is being built. INVARIANT: children are pushed before their parents.
#[derive(Default)]
pub(crate) struct Arena {
    nodes: Vec<Node>,
    heights: Vec<Height>,
    /// The hash is quick and keyed; a text of 100,000 characters cannot learn the key.
    names: HashSet<Arc<str>, foldhash::fast::RandomState>,
    macro_calls: BTreeMap<NodeId, MacroCall>,
    tallest: Height,
}

impl Arena {
    /// Adds a node; `visit` tells whether it is one that cel-go's parser recurses for.
    pub(crate) fn push(&mut self, kind: Kind, span: Span, at: u32, visit: bool) -> NodeId {
        let mut height = Height::default();
        kind.for_each_child(|child| {
            let below = self.heights.get(child.0 as usize).copied().unwrap_or_default();
            height.tree = height.tree.max(below.tree);
            height.visits = height.visits.max(below.visits);
        });
        height.tree = height.tree.saturating_add(1);
        height.visits = height.visits.saturating_add(u16::from(visit));
        self.tallest.tree = self.tallest.tree.max(height.tree);
        self.tallest.visits = self.tallest.visits.max(height.visits);
        let id = NodeId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(Node { kind, span, at });
        self.heights.push(height);
        id
    }

    /// Makes `id` count as one level more than `below` for cel-go's measure: a macro in the form of a method call.
    pub(crate) fn raise(&mut self, id: NodeId, below: impl Iterator<Item = NodeId>, visit: bool) {
        let height_of = |id: NodeId| self.heights.get(id.0 as usize).map_or(0, |h| h.visits);
        let visits = below.map(height_of).max().unwrap_or(0).saturating_add(u16::from(visit));
        if let Some(height) = self.heights.get_mut(id.0 as usize) {
            height.visits = height.visits.max(visits);
            self.tallest.visits = self.tallest.visits.max(height.visits);
        }
    }

    pub(crate) fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(id.0 as usize)
    }

    /// How many nodes there are.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Takes nodes back that nothing refers to.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.nodes.truncate(len);
        self.heights.truncate(len);
    }

    /// The greatest height of the tree.
    pub(crate) fn tallest_tree(&self) -> usize {
        self.tallest.tree.into()
    }

    /// The greatest height as cel-go counts it.
    pub(crate) fn most_visits(&self) -> usize {
        self.tallest.visits.into()
    }

    /// One shared copy of a name.
    pub(crate) fn name(&mut self, text: &str) -> Arc<str> {
        if let Some(name) = self.names.get(text) {
            return name.clone();
        }
        let name: Arc<str> = text.into();
        self.names.insert(name.clone());
        name
    }

    pub(crate) fn record_macro(&mut self, id: NodeId, call: MacroCall) {
        self.macro_calls.insert(id, call);
    }

    pub(crate) fn finish(self, source: Arc<str>, root: NodeId) -> Ast {
        Ast { source, nodes: self.nodes, root, macro_calls: self.macro_calls }
    }
}
