//! Reads of workspace objects: templates to names, namespaces and labels that servers may be asked for.
//!
//! INVARIANT: a name is one segment of a path and a namespace one namespace: no value of a template turns the read of one
//! object into that of a collection, of one namespace into that of all, or of one path into another. What an author
//! leaves out, or writes as `""`, is his own choice. Absent: who reads (storage).
use std::sync::Arc;

use cel::Value;

use crate::engine::{
    diagnostic::FieldPath,
    limits::MAX_SHOWN_BYTES,
    names,
    need::{Need, Requirement, Selector},
    outcome::ExpressionFailure,
    plan::{Namespace, OBJECT, Objects, Target, Text},
    run::{Runner, Stop},
    schema::field_error::quote,
};

/// The read, every value fit for its place.
pub(super) fn need(runner: &mut Runner, objects: &Objects) -> Result<Need, Stop> {
    let namespace = match &objects.namespace {
        Namespace::All => Arc::default(),
        Namespace::Own => own_namespace(runner),
        Namespace::Template(text) => fit(runner, text, "namespace", |text| match text {
            "" => vec![],
            text => names::dns1123_label(text),
        })?,
    };
    let (resource, read_as) = (objects.resource.clone(), objects.read_as);
    Ok(match &objects.target {
        Target::Name(name) => {
            let name = fit(runner, name, "name", names::path_segment)?;
            Need::Get { resource, namespace, name, read_as }
        }
        Target::Selector(requirements) => {
            let mut selector = Vec::with_capacity(requirements.len());
            for requirement in requirements {
                let values = requirement.values.iter();
                selector.push(Requirement {
                    key: requirement.key.clone(),
                    operator: requirement.operator,
                    values: values.map(|text| label(runner, text)).collect::<Result<_, _>>()?,
                });
            }
            Need::List { resource, namespace, selector: Selector(selector), read_as }
        }
    })
}

/// The value of a template that is to be a name. A constant was looked at when the schema was compiled.
fn fit(
    runner: &mut Runner,
    template: &Text,
    what: &str,
    problems: impl Fn(&str) -> Vec<String>,
) -> Result<Arc<str>, Stop> {
    let text = runner.text(template)?;
    let Some(path) = path(template) else { return Ok(text) };
    if text.is_empty() {
        return Err(failure(path, format!("the {what} is empty")));
    }
    match problems(&text).first() {
        None => Ok(text),
        Some(problem) => Err(failure(path, format!("the {what} {} is none: {problem}", shown(&text)))),
    }
}

fn label(runner: &mut Runner, template: &Text) -> Result<Arc<str>, Stop> {
    let text = runner.text(template)?;
    let Some(path) = path(template) else { return Ok(text) };
    match names::label_value(&text).first() {
        None => Ok(text),
        Some(problem) => Err(failure(path, format!("the label's value {} is none: {problem}", shown(&text)))),
    }
}

/// The field of a template, if it has expressions.
fn path(template: &Text) -> Option<&FieldPath> {
    template.expressions().next().map(|expression| &expression.path)
}

fn failure(path: &FieldPath, message: String) -> Stop {
    Stop::Failed(ExpressionFailure { path: path.clone(), message, at: None })
}

/// In quotes, and not all of a text that may be megabytes.
fn shown(text: &str) -> String {
    match text.get(..text.floor_char_boundary(MAX_SHOWN_BYTES)) {
        Some(beginning) if beginning.len() < text.len() => format!("{}...", quote(beginning)),
        _ => quote(text),
    }
}

fn own_namespace(runner: &Runner) -> Arc<str> {
    let metadata = match runner.value(OBJECT) {
        Some(Value::Map(object)) => object.get("metadata"),
        _ => None,
    };
    match metadata {
        Some(Value::Map(metadata)) => match metadata.get("namespace") {
            Some(Value::String(namespace)) => namespace.clone(),
            _ => "".into(),
        },
        _ => "".into(),
    }
}
