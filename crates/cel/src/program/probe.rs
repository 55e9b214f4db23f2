//! The coverage hook: evaluation is compiled twice, with and without it.
//!
//! Absent: what coverage means, reports.
use crate::ast::NodeId;

/// Is told what an evaluation did.
pub trait Recorder {
    /// A node was evaluated. Constants folded at plan time never are.
    fn evaluated(&mut self, node: NodeId);
    /// A node on which the way forks came out as `outcome`: an operand of `&&` and `||`, the condition of `?:`, the predicate of
    /// `all`, `exists`, `exists_one`, `filter` and of the mapping macros.
    fn decided(&mut self, node: NodeId, outcome: bool);
}

/// [`Recorder`] or nothing, known at compile time.
pub(super) trait Probe {
    /// Whether anybody listens: short ways tell nothing, so they are not taken then.
    const ON: bool;
    fn evaluated(&mut self, node: NodeId);
    fn decided(&mut self, node: NodeId, outcome: bool);
}

pub(super) struct Off;

impl Probe for Off {
    const ON: bool = false;
    #[inline]
    fn evaluated(&mut self, _node: NodeId) {}
    #[inline]
    fn decided(&mut self, _node: NodeId, _outcome: bool) {}
}

pub(super) struct On<'a>(pub(super) &'a mut dyn Recorder);

impl Probe for On<'_> {
    const ON: bool = true;
    fn evaluated(&mut self, node: NodeId) {
        self.0.evaluated(node);
    }
    fn decided(&mut self, node: NodeId, outcome: bool) {
        self.0.decided(node, outcome);
    }
}
