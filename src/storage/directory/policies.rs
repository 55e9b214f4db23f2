//! The EgressPolicies of a directory: those of the workspace `root`, which is the administrator's; `usableBy` says for whom
//! else they are. In other workspaces they mean nothing, so that no tenant can open a door.
//!
//! Absent: what a policy allows (egress).
use std::sync::Arc;

use cel::Value;

use super::{
    conditions::{self, Condition},
    item::{self, Item},
    report::Finding,
};
use crate::{
    api::{self, egress_policy::EgressPolicySpec, http::Method},
    engine::{
        diagnostic::{Diagnostic, FieldPath, Severity},
        kinds::{self, Refusal},
    },
    storage::{
        egress::{Egress, EgressError, Gateway, Literal},
        lower,
        workspace::ROOT,
    },
};

/// The policies as they are now.
#[derive(Debug, Default)]
pub(super) struct Policies {
    specs: Vec<(Arc<str>, EgressPolicySpec)>,
    /// Those of a wrong form.
    unreadable: Vec<Arc<str>>,
    pub(super) egress: Egress,
    /// What is wrong with which.
    errors: Vec<(Arc<str>, Diagnostic)>,
    /// Grows when they change.
    pub(super) revision: u64,
}

/// Whether an item is a policy.
pub(super) fn is_policy(item: &Item) -> bool {
    &*item.kind.group == api::GROUP && &*item.kind.kind == "EgressPolicy"
}

impl Policies {
    /// Takes what the files of `root` say.
    pub(super) fn update(&mut self, gateway: &Gateway, files: &[Arc<Vec<Item>>], findings: &mut Vec<Finding>) {
        let items: Vec<&Item> = files.iter().flat_map(|file| file.iter()).filter(|item| is_policy(item)).collect();
        let mut specs: Vec<(Arc<str>, EgressPolicySpec)> = vec![];
        let mut unreadable: Vec<&Item> = vec![];
        for item in &items {
            specs.retain(|(name, _)| *name != item.name);
            unreadable.retain(|other| other.name != item.name);
            // What is wrong with its form is told where all objects are looked over.
            let (value, diagnostics) = lower::check(&item.value);
            if diagnostics.iter().any(|d| d.severity == Severity::Error) {
                unreadable.push(item);
                continue;
            }
            let spec = serde_json::to_value(&value).ok().and_then(|mut json| {
                serde_json::from_value::<EgressPolicySpec>(json.get_mut("spec").map(serde_json::Value::take)?).ok()
            });
            specs.extend(spec.map(|spec| (Arc::clone(&item.name), spec)));
        }
        let names = unreadable.iter().map(|item| Arc::clone(&item.name)).collect();
        if specs != self.specs || names != self.unreadable || self.revision == 0 {
            self.revision += 1;
        }
        self.unreadable = names;
        let (egress, errors) = gateway.egress(ROOT, specs.iter().map(|(name, spec)| (&**name, spec)));
        let egress = unreadable.into_iter().fold(egress, |egress, item| {
            let mut secrets = vec![];
            named_secrets(&item.value, &mut secrets);
            egress.and_invalid(Arc::clone(&item.name), secrets)
        });
        self.errors.clear();
        for (name, error) in errors {
            let diagnostic = Diagnostic::error(error.path(), error.to_string());
            let item = items.iter().rev().find(|item| item.name == name);
            findings.extend(item.map(|item| item.finding(diagnostic.clone())));
            self.errors.push((name, diagnostic));
        }
        self.specs = specs;
        self.egress = egress;
    }
}

impl Policies {
    /// Whether a policy of a workspace counts: the condition of its status.
    pub(super) fn accepted(&self, item: &Item, form: &[Diagnostic], workspace: &str) -> Condition {
        let of_item = self.errors.iter().filter(|(name, _)| *name == item.name).map(|(_, error)| error);
        let errors: Vec<Diagnostic> = form.iter().chain(of_item).cloned().collect();
        let (status, reason, message) = if workspace != ROOT {
            ("False", "NotInRoot", "an EgressPolicy counts in the workspace `root` only".to_owned())
        } else if errors.iter().any(|error| error.severity == Severity::Error) {
            ("False", "Invalid", conditions::messages(item, &errors, Severity::Error))
        } else {
            ("True", "Accepted", "the calls that it allows are made".to_owned())
        };
        Condition { kind: "Accepted", status, reason, message }
    }
}

/// Namespaces and names below every `secretRef` of a policy, whatever else is wrong with it. Its depth is that of a document.
fn named_secrets(value: &Value, found: &mut Vec<(String, String)>) {
    match value {
        Value::Map(map) => {
            if let Some(secret) = map.get("secretRef")
                && let Some(Value::String(namespace)) = item::field(secret, "namespace")
                && let Some(Value::String(name)) = item::field(secret, "name")
            {
                found.push((namespace.to_string(), name.to_string()));
            }
            map.iter().for_each(|(_, value)| named_secrets(value, found));
        }
        Value::List(list) => list.iter().for_each(|value| named_secrets(value, found)),
        _ => {}
    }
}

/// Says what means nothing outside of `root`.
pub(super) fn ignored(items: &[&Item]) -> Vec<Finding> {
    let finding = |item: &&Item| {
        let message = "an EgressPolicy counts in the workspace `root` only";
        let help = "move it there and name this workspace in `usableBy.workspaces`";
        item.finding(Diagnostic::warning(FieldPath::root().field("kind"), message).help(help))
    };
    items.iter().filter(|item| is_policy(item)).map(finding).collect()
}

/// The policies as the compiler asks for them.
pub(super) struct For<'a> {
    pub(super) egress: &'a Egress,
    /// The schema that is compiled.
    pub(super) schema: &'a str,
    /// The workspace that it is for.
    pub(super) workspace: &'a str,
}

impl kinds::Policies for For<'_> {
    fn check(&self, call: &kinds::Literal<'_>) -> Result<(), Refusal> {
        let path = match call.whole {
            true => call.path.to_owned(),
            false => format!("{}/", call.path.trim_end_matches('/')),
        };
        let literal = Literal {
            scheme: &call.origin.scheme,
            host: &call.origin.host,
            port: Some(call.origin.port),
            path: &path,
            path_is_whole: call.whole,
            method: method(call.method),
        };
        let checked = self.egress.check_literal(call.policy, self.schema, Some(self.workspace), &literal);
        checked.map_err(|error| Refusal {
            of_policy: matches!(
                error,
                EgressError::UnknownPolicy { .. }
                    | EgressError::InvalidPolicy { .. }
                    | EgressError::Schema { .. }
                    | EgressError::Workspace { .. }
            ),
            help: match &error {
                EgressError::UnknownPolicy { policy } => nearest(self.egress, policy),
                _ => "the administrator's EgressPolicy decides what may be called".to_owned(),
            },
            message: error.to_string(),
        })
    }
}

fn nearest(egress: &Egress, policy: &str) -> String {
    let near = egress.names().map(|name| (strsim::damerau_levenshtein(name, policy), name)).min();
    match near {
        Some((distance, name)) if distance <= 3 => format!("did you mean `{name}`?"),
        _ => "nothing leaves without one: ask the administrator".to_owned(),
    }
}

/// A method by its name; the compiler has checked it.
pub(in crate::storage) fn method(name: &str) -> Method {
    match name {
        "HEAD" => Method::Head,
        "POST" => Method::Post,
        "PUT" => Method::Put,
        "PATCH" => Method::Patch,
        "DELETE" => Method::Delete,
        _ => Method::Get,
    }
}
