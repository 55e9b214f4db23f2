//! Label and field selectors, parsed and refused as kube-apiserver does.
//!
//! Absent: which fields a kind can be selected by beyond the well-known ones, where objects are (objects).
use std::{collections::BTreeSet, sync::Arc};

use cel::{Value, value::Map};

use crate::engine::{names, need};

/// A selector that cannot be understood, in kube-apiserver's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SelectorError(String);

/// Which labels objects must have; all requirements must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct LabelSelector(Vec<Requirement>);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Requirement {
    key: Arc<str>,
    relation: Relation,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Relation {
    In(BTreeSet<Arc<str>>),
    NotIn(BTreeSet<Arc<str>>),
    Exists,
    DoesNotExist,
    Greater(i64),
    Less(i64),
}

impl LabelSelector {
    /// Selects everything.
    pub fn everything() -> LabelSelector {
        LabelSelector::default()
    }

    /// Whether it selects everything.
    pub fn is_everything(&self) -> bool {
        self.0.is_empty()
    }

    /// The labels of which objects must have exactly this value.
    pub(super) fn exact(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().filter_map(|requirement| match &requirement.relation {
            Relation::In(values) if values.len() == 1 => Some((&*requirement.key, &**values.first()?)),
            _ => None,
        })
    }

    /// Whether one of [`LabelSelector::exact`] is all that is required.
    pub(super) fn is_one_label(&self) -> bool {
        self.0.len() == 1 && self.exact().next().is_some()
    }

    /// Parses `a=b,c!=d,e in (x,y),!f,g`.
    pub fn parse(text: &str) -> Result<LabelSelector, SelectorError> {
        Parser { tokens: lex(text), at: 0 }.selector()
    }

    /// Whether an object with these `metadata.labels` is selected.
    pub fn matches(&self, labels: Option<&Map>) -> bool {
        self.0.iter().all(|requirement| {
            let value = labels.and_then(|l| l.get(&requirement.key)).and_then(|v| match v {
                Value::String(s) => Some(&**s),
                _ => None,
            });
            match (&requirement.relation, value) {
                (Relation::In(values), Some(value)) => values.contains(value),
                (Relation::NotIn(values), Some(value)) => !values.contains(value),
                (Relation::Exists, Some(_)) | (Relation::NotIn(_) | Relation::DoesNotExist, None) => true,
                (Relation::Greater(bound), Some(value)) => value.parse::<i64>().is_ok_and(|v| v > *bound),
                (Relation::Less(bound), Some(value)) => value.parse::<i64>().is_ok_and(|v| v < *bound),
                (Relation::DoesNotExist, Some(_))
                | (Relation::In(_) | Relation::Exists | Relation::Greater(_) | Relation::Less(_), None) => false,
            }
        })
    }
}

impl From<&need::Selector> for LabelSelector {
    fn from(selector: &need::Selector) -> LabelSelector {
        LabelSelector(
            selector
                .0
                .iter()
                .map(|requirement| Requirement {
                    key: Arc::clone(&requirement.key),
                    relation: {
                        let values = || requirement.values.iter().cloned().collect();
                        match requirement.operator {
                            need::Operator::In => Relation::In(values()),
                            need::Operator::NotIn => Relation::NotIn(values()),
                            need::Operator::Exists => Relation::Exists,
                            need::Operator::DoesNotExist => Relation::DoesNotExist,
                        }
                    },
                })
                .collect(),
        )
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    Identifier,
    Comma,
    Open,
    Close,
    Not,
    Operator,
    In,
    NotIn,
    End,
}

/// The tokens with their texts; always ends in [`Token::End`].
fn lex(text: &str) -> Vec<(Token, &str)> {
    let special = |c: char| matches!(c, '=' | '!' | '(' | ')' | ',' | '>' | '<');
    let mut tokens = vec![];
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\r', '\n']);
        let Some(first) = rest.chars().next() else {
            tokens.push((Token::End, ""));
            return tokens;
        };
        let (token, length) = match first {
            ',' => (Token::Comma, 1),
            '(' => (Token::Open, 1),
            ')' => (Token::Close, 1),
            '=' if rest.starts_with("==") => (Token::Operator, 2),
            '!' if rest.starts_with("!=") => (Token::Operator, 2),
            '=' | '<' | '>' => (Token::Operator, 1),
            '!' => (Token::Not, 1),
            _ => {
                let length =
                    rest.find(|c: char| special(c) || matches!(c, ' ' | '\t' | '\r' | '\n')).unwrap_or(rest.len());
                match rest.get(..length) {
                    Some("in") => (Token::In, length),
                    Some("notin") => (Token::NotIn, length),
                    _ => (Token::Identifier, length),
                }
            }
        };
        let (literal, after) = rest.split_at(length);
        tokens.push((token, literal));
        rest = after;
    }
}

struct Parser<'a> {
    tokens: Vec<(Token, &'a str)>,
    at: usize,
}

/// Where `in` and `notin` are words of the grammar; elsewhere they are identifiers like any other.
#[derive(Clone, Copy, PartialEq)]
enum Context {
    KeyAndOperator,
    Values,
}

impl<'a> Parser<'a> {
    fn peek(&self, context: Context) -> (Token, &'a str) {
        match self.tokens.get(self.at).copied().unwrap_or((Token::End, "")) {
            (Token::In | Token::NotIn, literal) if context == Context::Values => (Token::Identifier, literal),
            other => other,
        }
    }

    fn next(&mut self, context: Context) -> (Token, &'a str) {
        let token = self.peek(context);
        self.at += 1;
        token
    }

    fn selector(mut self) -> Result<LabelSelector, SelectorError> {
        let mut requirements = vec![];
        loop {
            match self.peek(Context::Values) {
                (Token::Identifier | Token::Not, _) => {
                    let requirement =
                        self.requirement().map_err(|e| SelectorError(format!("unable to parse requirement: {e}")))?;
                    requirements.push(requirement);
                    match self.next(Context::Values) {
                        (Token::End, _) => return Ok(LabelSelector(requirements)),
                        (Token::Comma, _) => {
                            let (token, literal) = self.peek(Context::Values);
                            if !matches!(token, Token::Identifier | Token::Not) {
                                return Err(SelectorError(format!(
                                    "found '{literal}', expected: identifier after ','"
                                )));
                            }
                        }
                        (_, literal) => {
                            return Err(SelectorError(format!("found '{literal}', expected: ',' or 'end of string'")));
                        }
                    }
                }
                (Token::End, _) => return Ok(LabelSelector(requirements)),
                (_, literal) => {
                    return Err(SelectorError(format!(
                        "found '{literal}', expected: !, identifier, or 'end of string'"
                    )));
                }
            }
        }
    }

    fn requirement(&mut self) -> Result<Requirement, String> {
        let (mut token, mut key) = self.next(Context::Values);
        let negated = token == Token::Not;
        if negated {
            (token, key) = self.next(Context::Values);
        }
        if token != Token::Identifier {
            return Err(format!("found '{key}', expected: identifier"));
        }
        let problems = names::qualified_name(key);
        if !problems.is_empty() {
            return Err(format!("<nil>: Invalid value: {key:?}: {}", problems.join("; ")));
        }
        if negated {
            return Ok(Requirement { key: key.into(), relation: Relation::DoesNotExist });
        }
        if matches!(self.peek(Context::Values).0, Token::End | Token::Comma) {
            return Ok(Requirement { key: key.into(), relation: Relation::Exists });
        }
        let (token, operator) = self.next(Context::KeyAndOperator);
        let relation = match (token, operator) {
            (Token::In, _) => Relation::In(self.values(key)?),
            (Token::NotIn, _) => Relation::NotIn(self.values(key)?),
            (Token::Operator, "=" | "==") => Relation::In([self.value(key)?].into()),
            (Token::Operator, "!=") => Relation::NotIn([self.value(key)?].into()),
            (Token::Operator, ">") => Relation::Greater(integer(&self.value(key)?)?),
            (Token::Operator, "<") => Relation::Less(integer(&self.value(key)?)?),
            _ => return Err(format!("found '{operator}', expected: in, notin, =, ==, !=, gt, lt")),
        };
        Ok(Requirement { key: key.into(), relation })
    }

    /// The one value of a comparison; nothing is the empty value.
    fn value(&mut self, key: &str) -> Result<Arc<str>, String> {
        match self.peek(Context::Values) {
            (Token::End | Token::Comma, _) => Ok("".into()),
            (Token::Identifier, literal) => {
                self.at += 1;
                checked_value(key, 0, literal)
            }
            (_, literal) => Err(format!("found '{literal}', expected: identifier")),
        }
    }

    fn values(&mut self, key: &str) -> Result<BTreeSet<Arc<str>>, String> {
        let (token, literal) = self.next(Context::Values);
        if token != Token::Open {
            return Err(format!("found '{literal}' expected: '('"));
        }
        let mut values = BTreeSet::new();
        loop {
            let value = match self.peek(Context::Values) {
                (Token::Identifier, literal) => {
                    self.at += 1;
                    literal
                }
                (Token::Comma | Token::Close, _) => "",
                (_, literal) => return Err(format!("found '{literal}', expected: ',', ')' or identifier")),
            };
            let index = values.len();
            values.insert(checked_value(key, index, value)?);
            match self.next(Context::Values) {
                (Token::Comma, _) => {}
                (Token::Close, _) => return Ok(values),
                (_, literal) => return Err(format!("found '{literal}', expected: ',' or ')'")),
            }
        }
    }
}

fn checked_value(key: &str, index: usize, value: &str) -> Result<Arc<str>, String> {
    let problems = names::label_value(value);
    if problems.is_empty() {
        Ok(value.into())
    } else {
        Err(format!("values[{index}][{key}]: Invalid value: {value:?}: {}", problems.join("; ")))
    }
}

fn integer(value: &str) -> Result<i64, String> {
    value.parse().map_err(|_| "for 'Gt', 'Lt' operators, the value must be an integer".to_owned())
}

/// Which fields objects must have; all requirements must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct FieldSelector(Vec<FieldRequirement>);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct FieldRequirement {
    path: Vec<Arc<str>>,
    equal: bool,
    value: Arc<str>,
}

/// Fields beyond name and namespace by which core kinds can be selected: those that clients really use.
const CORE_FIELDS: [(&str, &str); 16] = [
    ("Pod", "spec.nodeName"),
    ("Pod", "status.phase"),
    ("Pod", "spec.serviceAccountName"),
    ("Pod", "spec.restartPolicy"),
    ("Pod", "status.podIP"),
    ("Node", "spec.unschedulable"),
    ("Namespace", "status.phase"),
    ("Secret", "type"),
    ("Event", "involvedObject.name"),
    ("Event", "involvedObject.kind"),
    ("Event", "involvedObject.namespace"),
    ("Event", "involvedObject.uid"),
    ("Event", "involvedObject.apiVersion"),
    ("Event", "involvedObject.fieldPath"),
    ("Event", "reason"),
    ("Event", "type"),
];

impl FieldSelector {
    /// Selects everything.
    pub fn everything() -> FieldSelector {
        FieldSelector::default()
    }

    /// Parses `metadata.name=a,status.phase!=Running` for a kind.
    pub fn parse(text: &str, group: &str, kind: &str) -> Result<FieldSelector, SelectorError> {
        let mut requirements = vec![];
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let split = [("!=", false), ("==", true), ("=", true)]
                .into_iter()
                .filter_map(|(operator, equal)| part.split_once(operator).map(|(field, value)| (field, value, equal)))
                .min_by_key(|(field, ..)| field.len());
            let Some((field, value, equal)) = split else {
                return Err(SelectorError(format!("invalid selector: '{text}'; can't understand '{part}'")));
            };
            let core: Vec<_> = CORE_FIELDS.iter().filter(|(k, _)| group.is_empty() && *k == kind).collect();
            let known =
                matches!(field, "metadata.name" | "metadata.namespace") || core.iter().any(|(_, f)| *f == field);
            if !known {
                return Err(SelectorError(if core.is_empty() {
                    format!(r#""{field}" is not a known field selector: only "metadata.name", "metadata.namespace""#)
                } else {
                    format!("field label not supported: {field}")
                }));
            }
            requirements.push(FieldRequirement {
                path: field.split('.').map(Arc::from).collect(),
                equal,
                value: value.into(),
            });
        }
        Ok(FieldSelector(requirements))
    }

    /// Whether an object is selected. A field that is not there is empty.
    pub fn matches(&self, object: &Value) -> bool {
        self.0.iter().all(|requirement| {
            let found = requirement.path.iter().try_fold(object, |value, step| match value {
                Value::Map(map) => map.get(step),
                _ => None,
            });
            let equal = match found {
                Some(Value::String(text)) => *text == requirement.value,
                Some(Value::Bool(flag)) => *requirement.value == *flag.to_string(),
                // What is not there is empty, and a boolean is false.
                _ if requirement.path.last().is_some_and(|field| &**field == "unschedulable") => {
                    &*requirement.value == "false"
                }
                _ => requirement.value.is_empty(),
            };
            equal == requirement.equal
        })
    }
}

#[cfg(test)]
mod tests {
    use cel::value::MapBuilder;

    use super::*;

    fn labels(pairs: &[(&str, &str)]) -> Map {
        let mut builder = MapBuilder::default();
        for (key, value) in pairs {
            builder.insert(*key, Value::from(*value));
        }
        builder.build()
    }

    #[test]
    fn selects_as_kubernetes_does() {
        let object = labels(&[("a", "1"), ("b", "x"), ("in", "in")]);
        for (selector, expected) in [
            ("", true),
            ("a=1", true),
            ("a==1,b=x", true),
            ("a=2", false),
            ("a!=2", true),
            ("c!=2", true),
            ("a in (0, 1)", true),
            ("a in (0)", false),
            ("a notin (0)", true),
            ("c notin (0)", true),
            ("c in (0)", false),
            ("a", true),
            ("!a", false),
            ("!c", true),
            ("a>0", true),
            ("a<1", false),
            ("b>0", false),
            ("c=", false),
            ("in=in", true),
            ("in in (in,notin)", true),
            ("a in (,1)", true),
        ] {
            let parsed = LabelSelector::parse(selector).unwrap_or_else(|e| panic!("{selector}: {e}"));
            assert_eq!(parsed.matches(Some(&object)), expected, "{selector}");
        }
    }

    #[test]
    fn refuses_in_kubernetes_words() {
        for (selector, expected) in [
            ("a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"),
            ("a,", "found '', expected: identifier after ','"),
            ("a=b=c", "found '=', expected: ',' or 'end of string'"),
            ("=b", "found '=', expected: !, identifier, or 'end of string'"),
            ("a in b", "unable to parse requirement: found 'b' expected: '('"),
            ("a in (b", "unable to parse requirement: found '', expected: ',' or ')'"),
            ("a>b", "unable to parse requirement: for 'Gt', 'Lt' operators, the value must be an integer"),
        ] {
            let error = LabelSelector::parse(selector).map(|_| ()).unwrap_err();
            assert_eq!(error.to_string(), expected, "{selector}");
        }
        let error = LabelSelector::parse("-a=b").unwrap_err().to_string();
        assert!(
            error.starts_with(r#"unable to parse requirement: <nil>: Invalid value: "-a": name part must consist of"#),
            "{error}"
        );
        let error = LabelSelector::parse("a=-").unwrap_err().to_string();
        assert!(
            error.starts_with(r#"unable to parse requirement: values[0][a]: Invalid value: "-": a valid label"#),
            "{error}"
        );
    }

    #[test]
    fn selects_by_fields() {
        let mut metadata = MapBuilder::default();
        metadata.insert("name", Value::from("x"));
        let mut object = MapBuilder::default();
        object.insert("metadata", Value::Map(metadata.build()));
        let object = Value::Map(object.build());
        for (selector, expected) in [
            ("", true),
            ("metadata.name=x", true),
            ("metadata.name!=x", false),
            ("metadata.namespace=", true),
            ("spec.nodeName==n", false),
        ] {
            let parsed = FieldSelector::parse(selector, "", "Pod").unwrap_or_else(|e| panic!("{selector}: {e}"));
            assert_eq!(parsed.matches(&object), expected, "{selector}");
        }
        for (selector, kind, expected) in [
            ("a", "Pod", "invalid selector: 'a'; can't understand 'a'"),
            ("a=b", "Pod", "field label not supported: a"),
            ("a=b", "Foo", r#""a" is not a known field selector: only "metadata.name", "metadata.namespace""#),
        ] {
            assert_eq!(FieldSelector::parse(selector, "", kind).unwrap_err().to_string(), expected);
        }
    }
}
