//! The cost rules that several functions share (COST A7, B4): sizes of arguments, what is charged for them, what is estimated.
//!
//! Absent: which function has which rule (it stands beside the function), the charging itself.
#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "upstream computes costs in f64 and truncates; sizes are far below 2^53"
)]
use crate::{
    estimate::{
        Bounds, Guess, Operand, Rule,
        rule::{self, size as guessed},
    },
    library::Cost,
    value::Value,
};

/// What a call costs, for the evaluator, for the estimator and for readers.
#[derive(Clone, Copy)]
pub(crate) struct Price {
    pub(crate) cost: Cost,
    pub(crate) estimate: Rule,
    pub(crate) words: &'static str,
}

impl Price {
    pub(crate) const fn new(cost: Cost, estimate: Rule, words: &'static str) -> Price {
        Price { cost, estimate, words }
    }

    /// The same price, estimated otherwise: upstream's rules do not always tell the same.
    pub(crate) const fn estimated(self, estimate: Rule) -> Price {
        Price { estimate, ..self }
    }
}

/// What most calls cost.
pub(crate) const ONE: Price = Price::new(Cost::Fixed(1), one, "1");
/// What is charged where only the operands count.
pub(crate) const FREE: Price = Price::new(Cost::Fixed(0), one, "0");

fn one(_: &[Operand<'_>]) -> Guess {
    Guess::exactly(1)
}

/// The size of an argument: code points, bytes, elements, what an opaque says; 1 for the rest.
pub(crate) fn size(value: Option<&Value>) -> u64 {
    match value {
        Some(Value::String(s)) => code_points(s),
        Some(Value::Bytes(b)) => b.len() as u64,
        Some(Value::List(l)) => l.len() as u64,
        Some(Value::Map(m)) => m.len() as u64,
        Some(Value::Opaque(o)) => o.cost_size(),
        _ => 1,
    }
}

/// How many code points. Short texts are mostly ASCII, which is quicker to find out than to count.
pub(crate) fn code_points(text: &str) -> u64 {
    if text.len() <= 32 && text.is_ascii() { text.len() as u64 } else { text.chars().count() as u64 }
}

/// As [`size`], but of what is in a present optional.
pub(crate) fn inner_size(value: Option<&Value>) -> u64 {
    let mut value = value;
    while let Some(Value::Optional(Some(inner))) = value {
        value = Some(inner);
    }
    size(value)
}

/// The lesser of two sizes, counting no more characters than the shorter text has.
pub(crate) fn smaller_size(a: Option<&Value>, b: Option<&Value>) -> u64 {
    let (Some(Value::String(a)), Some(Value::String(b))) = (a, b) else { return inner_size(a).min(inner_size(b)) };
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let count = short.chars().count();
    // A character has at most 4 bytes.
    let other = if long.len() / 4 >= count { count } else { long.chars().count() };
    count.min(other) as u64
}

/// `ceil(x * 0.1)`: one traversal of a string.
pub(crate) fn tenth(x: u64) -> u64 {
    match usize::try_from(x).ok().and_then(|x| TENTHS.get(x)) {
        Some(tenth) => u64::from(*tenth),
        None => computed_tenth(x),
    }
}

/// Of the sizes that most texts have.
#[expect(clippy::indexing_slicing, reason = "the index is below the length, and this runs at compile time")]
const TENTHS: [u8; 128] = {
    let mut tenths = [0; 128];
    let mut x = 0;
    while x < tenths.len() {
        tenths[x] = computed_tenth(x as u64) as u8;
        x += 1;
    }
    tenths
};

const fn computed_tenth(x: u64) -> u64 {
    // What `ceil` does, but without the call that it is where there is no instruction for it.
    let exact = x as f64 * 0.1;
    let floor = exact as u64;
    floor + ((floor as f64) < exact) as u64
}

/// `ceil(x * 2 * 0.1)`: two traversals.
pub(crate) fn fifth(x: u64) -> u64 {
    (x as f64 * 2.0 * 0.1).ceil() as u64
}

/// Where a value has more parts than this, each counted as often as it is shared, walking over it costs more than any budget:
/// prices are there before the work is, and few values can share their parts 2^100 times.
pub(crate) const MOST_VISITS: u64 = 4 << 20;

/// Work of writing one value, beside its bytes.
pub(crate) const WRITTEN: u64 = 32;

/// Matching a pattern: text by pattern.
pub(crate) fn matching(text: u64, pattern: u64) -> u64 {
    let text = ((1.0 + text as f64) * 0.1).ceil() as u64;
    text.saturating_mul((pattern as f64 * 0.25).ceil() as u64)
}

/// What sorting and deduplicating `list` is charged: all pairs.
pub(crate) fn pairs(list: Option<&Value>) -> u64 {
    let (count, first) = match list {
        Some(Value::List(l)) => (l.len() as f64, l.as_slice().first()),
        _ => (0.0, None),
    };
    let factor = if matches!(first, Some(Value::String(_) | Value::Bytes(_))) { 2.1 } else { 2.0 };
    (count * count * factor) as u64 + 11
}

/// A tenth of the first argument's size.
pub(crate) const RECEIVER: Price = Price::new(
    Cost::Args(|args| tenth(size(args.first()))),
    |args| Guess::cost(guessed(args, 0).scaled(0.1)),
    "a tenth of the first argument's size",
);
/// As [`RECEIVER`], of what gives a text that is no larger.
pub(crate) const RECEIVER_KEPT: Price = RECEIVER.estimated(|args| {
    let size = guessed(args, 0);
    Guess::cost(size.scaled(0.1)).sized(size)
});
/// As [`RECEIVER`], through a present optional.
pub(crate) const RECEIVER_INNER: Price =
    Price { cost: Cost::ResolvedArgs(|args| tenth(inner_size(args.first()))), ..RECEIVER };
/// As [`RECEIVER_INNER`], of methods that look at as much of it as their argument is long: the estimate is of the argument.
pub(crate) const RECEIVER_END: Price = RECEIVER_INNER.estimated(|args| Guess::cost(guessed(args, 1).scaled(0.1)));
/// Two traversals of the first argument.
pub(crate) const RECEIVER_TWICE: Price = Price::new(
    Cost::Args(|args| fifth(size(args.first()))),
    |args| Guess::cost(guessed(args, 0).scaled(0.2)),
    "a fifth of the first argument's size",
);
/// The shorter of two.
pub(crate) const SHORTER: Price = Price::new(
    Cost::ResolvedArgs(|args| tenth(smaller_size(args.first(), args.get(1)))),
    shorter,
    "a tenth of the smaller operand's size",
);
/// Both together.
pub(crate) const BOTH: Price = Price::new(
    Cost::ResolvedArgs(|args| tenth(inner_size(args.first()).saturating_add(inner_size(args.get(1))))),
    |args| {
        let size = guessed(args, 0) + guessed(args, 1);
        Guess::cost(size.scaled(0.1)).sized(size)
    },
    "a tenth of the operands' sizes together",
);
/// A regular expression.
pub(crate) const MATCHING: Price = Price::new(
    Cost::ResolvedArgs(|args| matching(inner_size(args.first()), inner_size(args.get(1)))),
    |args| Guess::cost(rule::matching(guessed(args, 0), guessed(args, 1))),
    "a tenth of the text's size times a quarter of the pattern's",
);
/// A list that is made of the first argument: its allocation and its elements.
pub(crate) const NEW_LIST: Price = Price::new(
    Cost::ResolvedResult(|_, result| 11 + size(result)),
    |args| Guess::list(guessed(args, 0), 1.0),
    "11 and the elements of the result",
);

/// Comparing two: what is not empty costs at least 1.
pub(crate) fn shorter(args: &[Operand<'_>]) -> Guess {
    let max = guessed(args, 0).max.min(guessed(args, 1).max);
    Guess::cost(Bounds::new(max.min(1), max).scaled(0.1))
}
