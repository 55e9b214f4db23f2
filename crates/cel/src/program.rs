//! Planning and evaluation: slots resolved, constants folded, cost counted.
//!
//! | file | owns |
//! |---|---|
//! | `node` | the planned tree |
//! | `plan`, `plan_attribute`, `plan_call`, `plan_fold` | from the syntax tree to the planned one |
//! | `run`, `run_attribute`, `run_call`, `run_operator`, `run_loop`, `run_fold`, `run_construct`, `run_short` | evaluating it |
//! | `probe`, `points` | the coverage hook |
//! | `price` | what the cost model charges for what has no overload of its own |
//!
//! Absent: functions (library), types (check).
mod node;
mod plan;
mod plan_attribute;
mod plan_call;
mod plan_fold;
mod points;
mod price;
mod probe;
mod run;
mod run_attribute;
mod run_call;
mod run_construct;
mod run_fold;
mod run_loop;
mod run_operator;
mod run_short;
#[cfg(test)]
mod tests;

use std::sync::Arc;

pub use points::Points;
pub use probe::Recorder;

use crate::{
    ast::{Ast, NodeId},
    check::{Checked, Reference},
    env::Env,
    eval::{Activation, Context, Evaluation, Host},
    limits::{COST_PER_EXPRESSION, WORK_PER_EXPRESSION},
    source::Issues,
};

/// A planned expression: immutable, `Send + Sync`, a few KiB.
#[derive(Debug)]
pub struct Program {
    root: node::Node,
    ast: Arc<Ast>,
    /// Places for results that are used twice.
    memory: usize,
}

/// How one evaluation is bounded and connected.
pub struct Options<'a> {
    /// Cost at which it stops.
    pub budget: u64,
    /// Work at which it stops, at most [`crate::limits::WORK_PER_EXPRESSION`].
    pub work: u64,
    /// Answers questions.
    pub host: Option<&'a mut dyn Host>,
    /// Is told what is evaluated and decided, for coverage. Evaluation without it pays nothing for it.
    pub recorder: Option<&'a mut dyn Recorder>,
}

/// Kubernetes' budget, nobody to ask, nothing recorded.
impl Default for Options<'_> {
    fn default() -> Self {
        Options { budget: COST_PER_EXPRESSION, work: WORK_PER_EXPRESSION, host: None, recorder: None }
    }
}

impl Program {
    /// Evaluates. Never panics, never overflows a 2 MiB stack, stops at the budget.
    #[inline]
    pub fn evaluate(&self, variables: &(impl Activation + ?Sized), options: Options<'_>) -> Evaluation {
        let variables = &run::Variables(variables);
        let Options { budget, work, host, recorder } = options;
        let mut context = Context::new(budget, host).with_work(work);
        match recorder {
            None => run::evaluate(self, variables, &mut context, probe::Off),
            Some(recorder) => run::evaluate(self, variables, &mut context, probe::On(recorder)),
        }
    }

    /// The tree that it was planned from.
    pub fn ast(&self) -> &Arc<Ast> {
        &self.ast
    }

    /// The value, where the whole expression is a constant.
    pub fn constant(&self) -> Option<&crate::Value> {
        match &self.root.op {
            node::Op::Const(value) => Some(value),
            _ => None,
        }
    }
}

/// Plans a checked tree.
pub(crate) fn plan_checked(env: &Env, checked: &Checked) -> Result<Program, Issues> {
    plan(env, checked.ast.clone(), &checked.references)
}

/// Plans a tree that was not checked: names are resolved as the checker would, calls are dispatched by value.
pub(crate) fn plan_unchecked(env: &Env, ast: Ast) -> Result<Program, Issues> {
    plan(env, Arc::new(ast), &[])
}

fn plan(env: &Env, ast: Arc<Ast>, references: &[Option<Reference>]) -> Result<Program, Issues> {
    let (root, memory) = plan::Planner::new(env, &ast, references).expression(ast.root())?;
    Ok(Program { root, ast, memory })
}

/// A node's place, for errors.
fn span(ast: &Ast, id: NodeId) -> Option<crate::source::Span> {
    ast.node(id).map(|node| node.span)
}
