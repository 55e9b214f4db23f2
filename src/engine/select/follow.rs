//! Follows a path into a value: RFC 9535, sections 2.3 to 2.5, within a budget.
//!
//! Recursion is bounded by the levels of paths and of bodies (JSON is read 127 deep). Absent: reading paths.
use std::cmp::Ordering;

use cel::Value;

use crate::engine::select::path::{Comparand, Filter, Path, Query, Relation, Segment, Selector};

/// What may be looked at: eight times for each of the values that the largest answer may have (500,000), which is some tens of
/// milliseconds.
const BUDGET: u64 = 4_000_000;
/// Bytes of texts that cost as much as one value.
const BYTES_OF_ONE: u64 = 64;

/// The budget is spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spent;

/// The nodes that a path leads to, in the order of the RFC.
pub(super) fn follow<'a>(path: &Path, root: &'a Value) -> Result<Vec<&'a Value>, Spent> {
    Run { root, left: BUDGET }.nodes(path, root)
}

struct Run<'a> {
    root: &'a Value,
    left: u64,
}

impl<'a> Run<'a> {
    fn spend(&mut self, cost: u64) -> Result<(), Spent> {
        self.left = self.left.checked_sub(cost).ok_or(Spent)?;
        Ok(())
    }

    fn spend_text(&mut self, text: &str) -> Result<(), Spent> {
        self.spend(1 + size(text.len()) / BYTES_OF_ONE)
    }

    fn nodes(&mut self, path: &Path, from: &'a Value) -> Result<Vec<&'a Value>, Spent> {
        let mut nodes = vec![from];
        for segment in path {
            let mut found = vec![];
            for node in nodes {
                self.apply(segment, node, &mut found)?;
            }
            nodes = found;
        }
        Ok(nodes)
    }

    fn apply(&mut self, segment: &Segment, node: &'a Value, found: &mut Vec<&'a Value>) -> Result<(), Spent> {
        for selector in &segment.selectors {
            self.select(selector, node, found)?;
        }
        if segment.descends {
            for child in children(node) {
                self.spend(1)?;
                self.apply(segment, child, found)?;
            }
        }
        Ok(())
    }

    fn select(&mut self, selector: &Selector, node: &'a Value, found: &mut Vec<&'a Value>) -> Result<(), Spent> {
        self.spend(1)?;
        match (selector, node) {
            (Selector::Name(name), Value::Map(map)) => {
                self.spend_text(name)?;
                found.extend(map.get(name));
            }
            (Selector::Index(index), Value::List(list)) => found.extend(at(list.as_slice(), *index)),
            (Selector::Slice { start, end, step }, Value::List(list)) => {
                for index in slice(list.len(), *start, *end, *step) {
                    self.spend(1)?;
                    found.extend(list.as_slice().get(index));
                }
            }
            (Selector::Wildcard, node) => {
                for child in children(node) {
                    self.spend(1)?;
                    found.push(child);
                }
            }
            (Selector::Filter(filter), node) => {
                for child in children(node) {
                    self.spend(1)?;
                    if self.holds(filter, child)? {
                        found.push(child);
                    }
                }
            }
            (Selector::Name(_) | Selector::Index(_) | Selector::Slice { .. }, _) => {}
        }
        Ok(())
    }

    fn holds(&mut self, filter: &Filter, current: &'a Value) -> Result<bool, Spent> {
        self.spend(1)?;
        match filter {
            Filter::Any(filters) => {
                for filter in filters {
                    if self.holds(filter, current)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Filter::All(filters) => {
                for filter in filters {
                    if !self.holds(filter, current)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Filter::Not(filter) => Ok(!self.holds(filter, current)?),
            Filter::Exists(query) => Ok(!self.query(query, current)?.is_empty()),
            Filter::Matches(of, pattern) => match self.value(of, current)? {
                Some(Operand::Node(Value::String(text))) => {
                    // Matching looks at each byte, some of them more than once.
                    self.spend(1 + size(text.len()) / 4)?;
                    Ok(pattern.is_match(text))
                }
                _ => Ok(false),
            },
            Filter::Compare(left, relation, right) => {
                let (left, right) = (self.value(left, current)?, self.value(right, current)?);
                self.compare(left.as_ref(), *relation, right.as_ref())
            }
        }
    }

    fn query(&mut self, query: &Query, current: &'a Value) -> Result<Vec<&'a Value>, Spent> {
        let from = if query.absolute { self.root } else { current };
        self.nodes(&query.path, from)
    }

    /// `None` is the RFC's Nothing.
    fn value<'p>(&mut self, of: &'p Comparand, current: &'a Value) -> Result<Option<Operand<'p>>, Spent>
    where
        'a: 'p,
    {
        self.spend(1)?;
        Ok(match of {
            Comparand::Literal(value) => Some(Operand::Node(value)),
            Comparand::Value(query) => match self.query(query, current)?.as_slice() {
                [node] => Some(Operand::Node(node)),
                _ => None,
            },
            Comparand::Count(query) => Some(number(self.query(query, current)?.len())),
            Comparand::Length(of) => match self.value(of, current)? {
                Some(Operand::Node(Value::String(text))) => {
                    self.spend_text(text)?;
                    Some(number(text.chars().count()))
                }
                Some(Operand::Node(Value::List(list))) => Some(number(list.len())),
                Some(Operand::Node(Value::Map(map))) => Some(number(map.len())),
                Some(_) | None => None,
            },
        })
    }

    fn compare(
        &mut self,
        left: Option<&Operand<'_>>,
        relation: Relation,
        right: Option<&Operand<'_>>,
    ) -> Result<bool, Spent> {
        let (left, right) = match (left, right) {
            (Some(left), Some(right)) => (left.get(), right.get()),
            // Nothing equals nothing, and is neither less nor greater.
            (None, None) => {
                return Ok(matches!(relation, Relation::Equal | Relation::LessOrEqual | Relation::GreaterOrEqual));
            }
            (Some(_), None) | (None, Some(_)) => return Ok(relation == Relation::Unequal),
        };
        let order = self.order(left, right)?;
        Ok(match relation {
            Relation::Equal => self.equal(left, right)?,
            Relation::Unequal => !self.equal(left, right)?,
            Relation::Less => order == Some(Ordering::Less),
            Relation::Greater => order == Some(Ordering::Greater),
            Relation::LessOrEqual => order == Some(Ordering::Less) || self.equal(left, right)?,
            Relation::GreaterOrEqual => order == Some(Ordering::Greater) || self.equal(left, right)?,
        })
    }

    /// Only numbers and texts have one.
    fn order(&mut self, left: &Value, right: &Value) -> Result<Option<Ordering>, Spent> {
        self.spend(1)?;
        match (left, right) {
            (Value::String(left), Value::String(right)) => {
                self.spend_text(if left.len() < right.len() { left } else { right })?;
                Ok(Some(left.cmp(right)))
            }
            (left, right) => Ok(numbers(left, right)),
        }
    }

    fn equal(&mut self, left: &Value, right: &Value) -> Result<bool, Spent> {
        self.spend(1)?;
        match (left, right) {
            (Value::Null, Value::Null) => Ok(true),
            (Value::Bool(left), Value::Bool(right)) => Ok(left == right),
            (Value::String(left), Value::String(right)) => {
                if left.len() != right.len() {
                    return Ok(false);
                }
                self.spend_text(left)?;
                Ok(left == right)
            }
            (Value::List(left), Value::List(right)) => {
                if left.len() != right.len() {
                    return Ok(false);
                }
                for (left, right) in left.iter().zip(right) {
                    if !self.equal(left, right)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            (Value::Map(left), Value::Map(right)) => {
                if left.len() != right.len() {
                    return Ok(false);
                }
                for (key, left) in left.iter() {
                    self.spend(1)?;
                    match right.get_key(key) {
                        Some(right) if self.equal(left, right)? => {}
                        _ => return Ok(false),
                    }
                }
                Ok(true)
            }
            (left, right) => Ok(numbers(left, right) == Some(Ordering::Equal)),
        }
    }
}

/// A value of the body or the path, or a number that was counted.
enum Operand<'a> {
    Node(&'a Value),
    Number(Value),
}

impl Operand<'_> {
    fn get(&self) -> &Value {
        match self {
            Operand::Node(value) => value,
            Operand::Number(value) => value,
        }
    }
}

fn number(n: usize) -> Operand<'static> {
    Operand::Number(Value::Int(i64::try_from(n).unwrap_or(i64::MAX)))
}

fn size(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}

fn children(node: &Value) -> Box<dyn Iterator<Item = &Value> + '_> {
    match node {
        Value::List(list) => Box::new(list.iter()),
        Value::Map(map) => Box::new(map.iter().map(|(_, value)| value)),
        _ => Box::new(std::iter::empty()),
    }
}

fn numbers(left: &Value, right: &Value) -> Option<Ordering> {
    let whole = |value: &Value| match value {
        Value::Int(int) => Some(i128::from(*int)),
        Value::Uint(uint) => Some(i128::from(*uint)),
        _ => None,
    };
    let double = |value: &Value| match value {
        Value::Double(double) => Some(*double),
        #[expect(clippy::cast_precision_loss, reason = "JSON numbers are doubles to most who write them")]
        value => whole(value).map(|int| int as f64),
    };
    match (whole(left), whole(right)) {
        (Some(left), Some(right)) => Some(left.cmp(&right)),
        _ => double(left)?.partial_cmp(&double(right)?),
    }
}

fn at(list: &[Value], index: i64) -> Option<&Value> {
    let index = if index < 0 { i64::try_from(list.len()).ok()?.checked_add(index)? } else { index };
    list.get(usize::try_from(index).ok()?)
}

/// The positions of a slice (RFC 9535, section 2.3.4.2.2).
fn slice(length: usize, start: Option<i64>, end: Option<i64>, step: i64) -> Box<dyn Iterator<Item = usize>> {
    let length = i64::try_from(length).unwrap_or(i64::MAX);
    let from_end = |position: i64| if position < 0 { length.saturating_add(position) } else { position };
    let positions = move |first: i64, holds: fn(i64, i64) -> bool, last: i64| {
        std::iter::successors(Some(first), move |at| at.checked_add(step))
            .take_while(move |at| holds(*at, last))
            .filter_map(|at| usize::try_from(at).ok())
    };
    match step {
        0 => Box::new(std::iter::empty()),
        1.. => {
            let first = from_end(start.unwrap_or(0)).clamp(0, length);
            let last = from_end(end.unwrap_or(length)).clamp(0, length);
            Box::new(positions(first, |at, last| at < last, last))
        }
        _ => {
            let first = from_end(start.unwrap_or(length.saturating_sub(1))).clamp(-1, length.saturating_sub(1));
            let last = end.map_or(-1, |end| from_end(end).clamp(-1, length.saturating_sub(1)));
            Box::new(positions(first, |at, last| at > last, last))
        }
    }
}
