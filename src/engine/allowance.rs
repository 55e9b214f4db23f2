//! What expressions may use up at once before they are interrupted, to be evaluated again where they may use up more.
//!
//! Absent: the limits of what they may use up at all (limits).
use cel::{
    Value,
    eval::{ErrorKind, Halt},
    limits::{COST_PER_EXPRESSION, WORK_PER_EXPRESSION},
};

/// Work goes with cost as it does in the limits of one expression.
const WORK_PER_COST: u64 = WORK_PER_EXPRESSION / COST_PER_EXPRESSION;

/// What is left to use up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allowance {
    cost: u64,
    work: u64,
}

impl Allowance {
    /// Whatever it takes.
    pub(crate) const WHOLE: Allowance = Allowance { cost: u64::MAX, work: u64::MAX };

    /// So much cost, and the work that goes with it.
    pub(crate) fn of(cost: u64) -> Allowance {
        Allowance { cost, work: cost.saturating_mul(WORK_PER_COST) }
    }

    /// The cost and the work that an expression may have, which may have as much by its limits.
    pub(crate) fn of_limits(&self, cost: u64, work: u64) -> (u64, u64) {
        (cost.min(self.cost), work.min(self.work))
    }

    /// Whether an expression that may have as much by its limits ended because it was not allowed them.
    pub(crate) fn interrupted(&self, cost: u64, work: u64, result: &Result<Value, Halt>) -> bool {
        (self.cost < cost || self.work < work)
            && matches!(result, Err(Halt::Error(error)) if error.kind == ErrorKind::CostExceeded)
    }

    /// Takes off what an expression used up.
    pub(crate) fn spend(&mut self, cost: u64, work: u64) {
        self.cost = self.cost.saturating_sub(cost);
        self.work = self.work.saturating_sub(work);
    }
}
