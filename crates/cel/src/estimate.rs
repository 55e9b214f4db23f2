//! What an expression can cost, before it is evaluated: Kubernetes' static estimate (COST, part B).
//!
//! Kubernetes refuses rules of CustomResourceDefinitions by it. It knows how large values can get from a schema ([`Sizes`]); where
//! a schema bounds nothing, neither does the estimate. It is upstream's but for two things: upstream's paths share memory, so
//! that a sibling's limits can take the place of a field's; and it takes the pairs of a sorted list's elements for its size.
//!
//! | file | owns |
//! |---|---|
//! | `bounds` | the arithmetic |
//! | `sizes` | what is asked of schemas |
//! | `rule` | the form of a function's rule; the rules stand beside the functions |
//! | `walk` | the walk over the tree: costs, sizes, scopes |
//! | `call` | calls, and the operators that the evaluator runs itself |
//!
//! Absent: schemas, what is done about an expression that may cost too much.
mod bounds;
mod call;
pub(crate) mod rule;
mod sizes;
mod walk;

pub use bounds::Bounds;
pub(crate) use bounds::parts;
pub use rule::{Guess, Operand, Rule};
pub use sizes::{Declaration, Declared, Limits, NoSizes, Sizes};

use crate::{Checked, Env};

/// What is estimated of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// Its cost.
    pub cost: Bounds,
    /// The size of its value, if anything bounds it.
    pub size: Option<Bounds>,
    /// The size of what is in its value (elements of a list, values of a map), if anything bounds it.
    pub elements: Option<Bounds>,
}

impl Checked {
    /// What it can cost in `env`, where it was checked. The work is linear in the size of the tree.
    ///
    /// ```
    /// use cel::{Env, Type, estimate::{Bounds, NoSizes}};
    ///
    /// let env = Env::standard().variable("names", Type::list(Type::String)).build();
    /// let cost = |text| env.compile(text).map(|checked| checked.estimate(&env, &NoSizes).cost);
    /// assert_eq!(cost("names[0].size() > 3")?, Bounds::new(4, 4));
    /// assert_eq!(cost("names.all(n, n.size() > 3)")?, Bounds::new(2, u64::MAX));
    /// # Ok::<(), cel::Issues>(())
    /// ```
    pub fn estimate(&self, env: &Env, sizes: &dyn Sizes) -> Estimate {
        walk::estimate(self, env, sizes)
    }
}
