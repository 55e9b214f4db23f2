//! JSONPath as text to a path that can be followed: jsonpath-rust reads it, and what RFC 9535 does not have is refused.
//!
//! Absent: following it.
use std::sync::Arc;

use cel::{Value, pattern::Pattern};
use jsonpath_rust::parser::{
    model::{self, Comparable, FilterAtom, FnArg, SingularQuerySegment, Test, TestFunction},
    parse_json_path,
};

/// Bytes of a path.
const MOST_BYTES: usize = 1024;
/// Brackets within brackets: the parser tries up to four readings at each, and again at each within.
const MOST_LEVELS: usize = 6;

/// Selectors, each applied to what those before it gave.
pub(super) type Path = Vec<Segment>;

/// One step.
#[derive(Clone, Debug)]
pub(super) struct Segment {
    /// Applied to all values below as well.
    pub(super) descends: bool,
    pub(super) selectors: Vec<Selector>,
}

/// Which children of a value.
#[derive(Clone, Debug)]
pub(super) enum Selector {
    Name(Arc<str>),
    Wildcard,
    /// From the end where it is negative.
    Index(i64),
    Slice {
        start: Option<i64>,
        end: Option<i64>,
        step: i64,
    },
    Filter(Filter),
}

/// A condition of `@` (the child) and `$` (the body).
#[derive(Clone, Debug)]
pub(super) enum Filter {
    Any(Vec<Filter>),
    All(Vec<Filter>),
    Not(Box<Filter>),
    /// The query finds something.
    Exists(Query),
    /// The texts match; of anything else it is false.
    Matches(Comparand, Arc<Pattern>),
    Compare(Comparand, Relation, Comparand),
}

/// Of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// One side of a comparison: a value, or nothing.
#[derive(Clone, Debug)]
pub(super) enum Comparand {
    Literal(Value),
    /// `value()`, and a query that finds one value at most.
    Value(Query),
    /// `length()`
    Length(Box<Comparand>),
    /// `count()`
    Count(Query),
}

/// A query within a filter.
#[derive(Clone, Debug)]
pub(super) struct Query {
    /// From `$`; otherwise from `@`.
    pub(super) absolute: bool,
    pub(super) path: Path,
}

/// Reads a path.
pub(super) fn parse(text: &str) -> Result<Path, String> {
    let no_path = || "this is no JSONPath (RFC 9535)".to_owned();
    if text.len() > MOST_BYTES {
        return Err(format!("a JSONPath has at most {MOST_BYTES} bytes"));
    }
    if levels(text) > MOST_LEVELS {
        return Err(format!("a JSONPath nests at most {MOST_LEVELS} deep"));
    }
    let query = parse_json_path(text).map_err(|_| no_path())?;
    path(&query.segments)
}

/// How deep brackets nest, those in quotes aside.
fn levels(text: &str) -> usize {
    let (mut level, mut deepest, mut quote, mut escaped) = (0_usize, 0, None, false);
    for c in text.chars() {
        match (quote, c) {
            _ if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '[' | '(') => {
                level += 1;
                deepest = deepest.max(level);
            }
            (None, ']' | ')') => level = level.saturating_sub(1),
            (None, _) => {}
        }
    }
    deepest
}

fn path(segments: &[model::Segment]) -> Result<Path, String> {
    segments.iter().map(segment).collect()
}

fn segment(segment: &model::Segment) -> Result<Segment, String> {
    let (descends, inner) = match segment {
        model::Segment::Descendant(inner) => (true, &**inner),
        other => (false, other),
    };
    let selectors = match inner {
        model::Segment::Selector(one) => vec![selector(one)?],
        model::Segment::Selectors(some) => some.iter().map(selector).collect::<Result<_, _>>()?,
        model::Segment::Descendant(_) => return Err("`..` is followed by a selector".to_owned()),
    };
    Ok(Segment { descends, selectors })
}

fn selector(selector: &model::Selector) -> Result<Selector, String> {
    Ok(match selector {
        model::Selector::Name(name) => Selector::Name(name.as_str().into()),
        model::Selector::Wildcard => Selector::Wildcard,
        model::Selector::Index(index) => Selector::Index(*index),
        model::Selector::Slice(start, end, step) => {
            Selector::Slice { start: *start, end: *end, step: step.unwrap_or(1) }
        }
        model::Selector::Filter(condition) => Selector::Filter(filter(condition)?),
    })
}

fn filter(condition: &model::Filter) -> Result<Filter, String> {
    let all = |filters: &[model::Filter]| filters.iter().map(filter).collect::<Result<Vec<_>, _>>();
    Ok(match condition {
        model::Filter::Or(filters) => Filter::Any(all(filters)?),
        model::Filter::And(filters) => Filter::All(all(filters)?),
        model::Filter::Atom(FilterAtom::Filter { expr, not }) => negated(filter(expr)?, *not),
        model::Filter::Atom(FilterAtom::Test { expr, not }) => negated(test(expr)?, *not),
        model::Filter::Atom(FilterAtom::Comparison(comparison)) => compare(comparison)?,
    })
}

fn negated(filter: Filter, not: bool) -> Filter {
    if not { Filter::Not(Box::new(filter)) } else { filter }
}

fn test(test: &Test) -> Result<Filter, String> {
    let Test::Function(function) = test else { return Ok(Filter::Exists(query(test)?)) };
    let (text, pattern, whole) = match &**function {
        TestFunction::Match(text, pattern) => (text, pattern, true),
        TestFunction::Search(text, pattern) => (text, pattern, false),
        TestFunction::Custom(name, _) => return Err(format!("RFC 9535 has no function `{name}`")),
        TestFunction::Length(_) | TestFunction::Value(_) | TestFunction::Count(_) => {
            return Err("what `length`, `value` and `count` give is compared with something".to_owned());
        }
    };
    let FnArg::Literal(model::Literal::String(pattern)) = pattern else {
        return Err("the pattern of `match` and `search` is a text in quotes".to_owned());
    };
    let pattern = if whole { format!(r"\A(?:{pattern})\z") } else { pattern.clone() };
    let pattern = Pattern::new(&pattern).map_err(|_| "the pattern is no regular expression".to_owned())?;
    Ok(Filter::Matches(argument(text)?, Arc::new(pattern)))
}

fn query(test: &Test) -> Result<Query, String> {
    Ok(match test {
        Test::RelQuery(segments) => Query { absolute: false, path: path(segments)? },
        Test::AbsQuery(query) => Query { absolute: true, path: path(&query.segments)? },
        Test::Function(_) => return Err("`count` and `value` are of a query".to_owned()),
    })
}

fn compare(comparison: &model::Comparison) -> Result<Filter, String> {
    use model::Comparison;
    let (left, relation, right) = match comparison {
        Comparison::Eq(left, right) => (left, Relation::Equal, right),
        Comparison::Ne(left, right) => (left, Relation::Unequal, right),
        Comparison::Gt(left, right) => (left, Relation::Greater, right),
        Comparison::Gte(left, right) => (left, Relation::GreaterOrEqual, right),
        Comparison::Lt(left, right) => (left, Relation::Less, right),
        Comparison::Lte(left, right) => (left, Relation::LessOrEqual, right),
    };
    Ok(Filter::Compare(comparand(left)?, relation, comparand(right)?))
}

fn comparand(comparable: &Comparable) -> Result<Comparand, String> {
    Ok(match comparable {
        Comparable::Literal(value) => Comparand::Literal(literal(value)),
        Comparable::SingularQuery(model::SingularQuery::Current(segments)) => singular(false, segments),
        Comparable::SingularQuery(model::SingularQuery::Root(segments)) => singular(true, segments),
        Comparable::Function(of) => function(of)?,
    })
}

fn singular(absolute: bool, segments: &[SingularQuerySegment]) -> Comparand {
    let segment = |segment: &SingularQuerySegment| {
        let selector = match segment {
            SingularQuerySegment::Index(index) => Selector::Index(*index),
            SingularQuerySegment::Name(name) => Selector::Name(name.as_str().into()),
        };
        Segment { descends: false, selectors: vec![selector] }
    };
    Comparand::Value(Query { absolute, path: segments.iter().map(segment).collect() })
}

fn function(of: &TestFunction) -> Result<Comparand, String> {
    let nodes = |argument: &FnArg| match argument {
        FnArg::Test(test) => query(test),
        FnArg::Literal(_) | FnArg::Filter(_) => Err("`count` and `value` are of a query".to_owned()),
    };
    Ok(match of {
        TestFunction::Length(of) => Comparand::Length(Box::new(argument(of)?)),
        TestFunction::Value(of) => Comparand::Value(nodes(of)?),
        TestFunction::Count(of) => Comparand::Count(nodes(of)?),
        TestFunction::Match(..) | TestFunction::Search(..) | TestFunction::Custom(..) => {
            return Err("what `match` and `search` give is compared with nothing".to_owned());
        }
    })
}

/// The argument of a function that wants a value.
fn argument(of: &FnArg) -> Result<Comparand, String> {
    let no_value = || "this argument is a value, or a query that finds one value at most".to_owned();
    match of {
        FnArg::Literal(value) => Ok(Comparand::Literal(literal(value))),
        FnArg::Test(test) => match &**test {
            Test::Function(inner) => function(inner),
            other => {
                let query = query(other)?;
                let plain = |segment: &Segment| {
                    !segment.descends && matches!(&segment.selectors[..], [Selector::Name(_) | Selector::Index(_)])
                };
                if query.path.iter().all(plain) { Ok(Comparand::Value(query)) } else { Err(no_value()) }
            }
        },
        FnArg::Filter(_) => Err(no_value()),
    }
}

fn literal(value: &model::Literal) -> Value {
    match value {
        model::Literal::Int(int) => Value::Int(*int),
        model::Literal::Float(float) => Value::Double(*float),
        model::Literal::String(text) => Value::String(text.as_str().into()),
        model::Literal::Bool(bool) => Value::Bool(*bool),
        model::Literal::Null => Value::Null,
    }
}
