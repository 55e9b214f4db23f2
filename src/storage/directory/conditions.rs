//! The status of an EphemeralSchema (Accepted, TypesChecked, Served) and of an EgressPolicy (Accepted), as KEP-1623 has
//! conditions.
//!
//! Absent: how it came to be (schemas, policies).
use cel::{Value, value::MapBuilder};

use super::{
    item::{Item, field},
    schemas::Schema,
};
use crate::engine::{
    diagnostic::{Diagnostic, FieldPath, Severity},
    schema::openapi,
};

/// The most of a condition's message, in bytes, by the API's schema.
const MAX_MESSAGE: usize = 32_768;

/// A condition without its times.
pub(super) struct Condition {
    pub(super) kind: &'static str,
    pub(super) status: &'static str,
    pub(super) reason: &'static str,
    pub(super) message: String,
}

/// The object with its status. `value` is the item's with defaults, `before` is the status that it had, `now` is RFC 3339.
pub(super) fn with_status(
    item: &Item,
    value: &Value,
    schema: &Schema,
    before: Option<&Value>,
    generation: i64,
    now: &str,
) -> Value {
    let conditions = [accepted(item, schema), types_checked(item, schema), served(schema)];
    let conditions = conditions.into_iter().map(|c| condition(c, before, generation, now)).collect();
    let mut status = MapBuilder::with_capacity(2);
    status.insert("conditions", Value::List(conditions));
    status.insert("versions", Value::List(versions(item, schema).into()));
    placed(value, status)
}

/// An EgressPolicy with its status.
pub(super) fn of_policy(
    value: &Value,
    accepted: Condition,
    before: Option<&Value>,
    generation: i64,
    now: &str,
) -> Value {
    let mut status = MapBuilder::with_capacity(1);
    status.insert("conditions", Value::List(vec![condition(accepted, before, generation, now)].into()));
    placed(value, status)
}

fn placed(value: &Value, status: MapBuilder) -> Value {
    match value {
        Value::Map(map) => {
            let mut map = map.clone();
            map.insert("status", Value::Map(status.build()));
            Value::Map(map)
        }
        other => other.clone(),
    }
}

fn accepted(item: &Item, schema: &Schema) -> Condition {
    let outcome = &schema.outcome;
    let (status, reason, message) = if !outcome.lowered {
        (
            "False",
            "Invalid",
            messages(item, outcome.diagnostics.get(..outcome.form).unwrap_or_default(), Severity::Error),
        )
    } else if let Some(conflict) = &outcome.conflict {
        ("False", "NamesConflict", conflict.message.clone())
    } else {
        ("True", "Accepted", "the schema is well-formed and its names are free".to_owned())
    };
    Condition { kind: "Accepted", status, reason, message }
}

fn types_checked(item: &Item, schema: &Schema) -> Condition {
    let outcome = &schema.outcome;
    let compiled = outcome.diagnostics.get(outcome.form..).unwrap_or_default();
    let (status, reason, message) = if compiled.iter().any(|d| d.severity == Severity::Error) {
        ("False", "ExpressionErrors", messages(item, compiled, Severity::Error))
    } else if !outcome.lowered {
        ("Unknown", "NotAccepted", "the schema is not well-formed".to_owned())
    } else if outcome.diagnostics.is_empty() {
        ("True", "TypesChecked", "all expressions are typed".to_owned())
    } else {
        ("True", "Warnings", messages(item, &outcome.diagnostics, Severity::Warning))
    };
    Condition { kind: "TypesChecked", status, reason, message }
}

fn served(schema: &Schema) -> Condition {
    let outcome = &schema.outcome;
    let names = |names: &mut dyn Iterator<Item = &str>| names.map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
    let (old, missing): (Vec<_>, Vec<_>) = outcome.failed.iter().partition(|(_, old)| *old);
    let (old, missing) = (names(&mut old.iter().map(|(n, _)| &**n)), names(&mut missing.iter().map(|(n, _)| &**n)));
    let (status, reason, message) = if outcome.conflict.is_some() {
        ("False", "NotAccepted", "its names are taken".to_owned())
    } else if schema.served.is_none() {
        let message = if missing.is_empty() && outcome.lowered {
            "no version is to be served"
        } else {
            "there is no form of it that is right"
        };
        ("False", "NotServed", message.to_owned())
    } else if !missing.is_empty() {
        ("False", "VersionsNotServed", format!("not served: {missing}"))
    } else if !old.is_empty() {
        ("True", "LastGoodServed", format!("served in their last good form: {old}"))
    } else {
        ("True", "Served", format!("served: {}", names(&mut outcome.compiled.iter().map(|v| &*v.name))))
    };
    Condition { kind: "Served", status, reason, message }
}

/// `file:line:column: text`, one a line.
pub(super) fn messages(item: &Item, diagnostics: &[Diagnostic], severity: Severity) -> String {
    let lines = diagnostics.iter().filter(|d| d.severity == severity).map(|d| {
        let help = d.help.as_ref().map_or_else(String::new, |help| format!("; {help}"));
        format!("{}: {}{help}", item.place(&d.path, &d.place), d.message)
    });
    let mut text = String::new();
    for line in lines {
        if text.len() + line.len() + 8 > MAX_MESSAGE {
            text.push_str("\n...");
            break;
        }
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&line);
    }
    text
}

fn condition(condition: Condition, before: Option<&Value>, generation: i64, now: &str) -> Value {
    let text = |value: Option<&Value>| match value {
        Some(Value::String(text)) => text.to_string(),
        _ => String::new(),
    };
    let old = match before.and_then(|status| field(status, "conditions")) {
        Some(Value::List(list)) => list.as_slice().iter().find(|c| text(field(c, "type")) == condition.kind),
        _ => None,
    };
    // The time is that of the status' last change, not of its reason's.
    let since = match old {
        Some(old) if text(field(old, "status")) == condition.status => text(field(old, "lastTransitionTime")),
        _ => now.to_owned(),
    };
    let mut map = MapBuilder::with_capacity(6);
    map.insert("type", Value::from(condition.kind));
    map.insert("status", Value::from(condition.status));
    map.insert("observedGeneration", Value::Int(generation));
    map.insert("lastTransitionTime", Value::from(since));
    map.insert("reason", Value::from(condition.reason));
    map.insert("message", Value::from(condition.message));
    Value::Map(map.build())
}

fn versions(item: &Item, schema: &Schema) -> Vec<Value> {
    let path = FieldPath::root().field("spec").field("versions");
    let listed = match field(&item.value, "spec").and_then(|spec| field(spec, "versions")) {
        Some(Value::List(list)) => list.as_slice(),
        _ => &[],
    };
    let version = |(i, listed): (usize, &Value)| {
        let name = field(listed, "name").filter(|name| matches!(name, Value::String(_)))?.clone();
        let warnings = schema.outcome.warnings(&path.index(i)).into_iter().map(|warning| {
            let mut map = MapBuilder::with_capacity(2);
            map.insert("fieldRef", Value::from(warning.path.to_string()));
            map.insert("message", Value::from(warning.message.clone()));
            Value::Map(map.build())
        });
        let warnings: Vec<Value> = warnings.collect();
        let plan = schema.outcome.compiled.iter().find(|v| matches!(&name, Value::String(n) if *n == v.name));
        let inferred = plan
            .and_then(|version| version.plan.published().field("status").cloned())
            .and_then(|status| serde_json::from_value::<Value>(openapi(&status)).ok());
        let mut map = MapBuilder::with_capacity(4);
        map.insert("name", name);
        if !warnings.is_empty() {
            map.insert("warnings", Value::List(warnings.into()));
        }
        if let Some(version) = plan {
            let cost = i64::try_from(version.plan.estimated_cost()).unwrap_or(i64::MAX);
            map.insert("estimatedCost", Value::Int(cost));
        }
        if let Some(inferred) = inferred {
            map.insert("statusSchema", inferred);
        }
        Some(Value::Map(map.build()))
    };
    listed.iter().enumerate().filter_map(version).collect()
}
