//! What can be said of literal arguments before anything runs: patterns, durations, timestamps.
//!
//! Absent: format strings (strings::validate).
use crate::{
    Checked, Issue,
    ast::{Kind, Literal, NodeId},
    format::time,
    library::{Validator, regex},
};

/// By function. Upstream's words name the function, not the mistake; the mistake is told as help.
pub(crate) fn validators() -> Vec<(&'static str, Validator)> {
    vec![("matches", matches), ("duration", duration), ("timestamp", timestamp)]
}

fn report(checked: &Checked, argument: NodeId, message: &str, help: Option<String>, issues: &mut Vec<Issue>) {
    if let Some(node) = checked.ast().node(argument) {
        issues.push(Issue { span: node.span, at: Some(node.at), message: message.to_string(), help });
    }
}

/// The last argument of a call and the constant that it is.
fn last_literal(checked: &Checked, call: NodeId) -> Option<(NodeId, &Literal)> {
    let Kind::Call { args, .. } = &checked.ast().node(call)?.kind else { return None };
    let argument = *args.last()?;
    let Kind::Literal(literal) = &checked.ast().node(argument)?.kind else { return None };
    Some((argument, literal))
}

fn matches(checked: &Checked, call: NodeId, issues: &mut Vec<Issue>) {
    if let Some((argument, Literal::String(pattern))) = last_literal(checked, call)
        && let Err(message) = regex::check(pattern)
    {
        report(checked, argument, "invalid matches argument", Some(message), issues);
    }
}

fn duration(checked: &Checked, call: NodeId, issues: &mut Vec<Issue>) {
    let help = || Some("write hours to nanoseconds: `1h2m3.5s`, `500ms`".to_string());
    match last_literal(checked, call) {
        Some((argument, Literal::String(text))) if time::parse_duration(text).is_none() => {
            report(checked, argument, "invalid duration argument", help(), issues);
        }
        Some((argument, Literal::Int(_))) => report(checked, argument, "invalid duration argument", help(), issues),
        _ => {}
    }
}

fn timestamp(checked: &Checked, call: NodeId, issues: &mut Vec<Issue>) {
    match last_literal(checked, call) {
        Some((argument, Literal::String(text))) if time::parse_timestamp(text).is_err() => {
            let help = Some("write RFC 3339: `2024-01-31T10:20:30Z`".to_string());
            report(checked, argument, "invalid timestamp argument", help, issues);
        }
        Some((argument, Literal::Int(seconds))) if !time::IN_RANGE.contains(seconds) => {
            report(checked, argument, "invalid timestamp argument", None, issues);
        }
        _ => {}
    }
}
