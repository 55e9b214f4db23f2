//! The EgressPolicies of a directory: those of the workspace `root`, which is the administrator's; `usableBy` says for whom
//! else they are. In other workspaces they mean nothing, so that no tenant can open a door.
//!
//! Absent: what a policy allows (egress).
use std::sync::Arc;

use super::{
    conditions::{self, Condition},
    item::Item,
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
        for item in &items {
            // What is wrong with its form is told where all objects are looked over.
            let (value, diagnostics) = lower::check(&item.value);
            if diagnostics.iter().any(|d| d.severity == Severity::Error) {
                continue;
            }
            let spec = serde_json::to_value(&value).ok().and_then(|mut json| {
                serde_json::from_value::<EgressPolicySpec>(json.get_mut("spec").map(serde_json::Value::take)?).ok()
            });
            specs.retain(|(name, _)| *name != item.name);
            specs.extend(spec.map(|spec| (Arc::clone(&item.name), spec)));
        }
        if specs != self.specs || self.revision == 0 {
            self.revision += 1;
        }
        let (egress, errors) = gateway.egress(ROOT, specs.iter().map(|(name, spec)| (&**name, spec)));
        self.errors.clear();
        for (name, error) in errors {
            let diagnostic = Diagnostic::error(FieldPath::root().field("spec"), error.to_string());
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
            unknown_policy: matches!(error, EgressError::UnknownPolicy { .. }),
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
