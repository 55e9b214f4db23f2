//! EphemeralSchemas compiled against the kinds of their workspace. Each keeps its last good form.
//!
//! INVARIANT: what is served was compiled without errors; a version that stops compiling goes on in its last good form until it
//! is right again, is no longer served or is gone.
//! Absent: the words of conditions (conditions).
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use cel::Value;

use super::{item::Item, policies::For};
use crate::{
    engine::{
        compile,
        diagnostic::{Diagnostic, FieldPath, Severity},
    },
    storage::{
        catalog::{Catalog, EphemeralKind, EphemeralVersion, version_order},
        lower::{Lowered, LoweredVersion, lower},
    },
};

/// The EphemeralSchemas of a workspace, by name.
#[derive(Debug, Default)]
pub(super) struct Schemas(BTreeMap<Arc<str>, Schema>);

/// One EphemeralSchema.
#[derive(Debug)]
pub(super) struct Schema {
    value: Value,
    /// The kinds and policies that it was compiled against.
    world: (u64, u64),
    pub(super) outcome: Outcome,
    /// What is served, which may be older than `value`.
    pub(super) served: Option<Arc<EphemeralKind>>,
}

/// What became of the newest text.
#[derive(Debug)]
pub(super) struct Outcome {
    /// Paths are from the root of the object.
    pub(super) diagnostics: Vec<Diagnostic>,
    /// Whether its form is right.
    pub(super) lowered: bool,
    /// Whose names it takes, if they are taken.
    pub(super) conflict: Option<String>,
    /// The served versions that compile.
    pub(super) compiled: Vec<Arc<EphemeralVersion>>,
    /// The served versions that do not, with a last good form or without.
    pub(super) failed: Vec<(Arc<str>, bool)>,
}

impl Schemas {
    /// Compiles what has changed and adds what is served to the catalog, which has the stored kinds already. `world` tells
    /// whether these or the policies have changed.
    pub(super) fn update(&mut self, items: &[&Item], catalog: &mut Catalog, world: (u64, u64), workspace: &str) {
        let names: BTreeSet<&Arc<str>> = items.iter().map(|item| &item.name).collect();
        self.0.retain(|name, _| names.contains(name));
        for item in items {
            let before = self.0.remove(&item.name);
            let schema = match before {
                Some(before) if before.world == world && before.value == item.value => before,
                before => {
                    let last = before.and_then(|before| before.served);
                    let policies = For { egress: &catalog.egress, schema: &item.name, workspace };
                    let (outcome, served) = build(&item.value, catalog, &policies, last);
                    Schema { value: item.value.clone(), world, outcome, served }
                }
            };
            self.0.insert(Arc::clone(&item.name), schema);
        }
        // In the order of names, so that of two that want the same name the same one wins always.
        for schema in self.0.values_mut() {
            schema.outcome.conflict = schema.served.as_ref().and_then(|kind| taken(kind, catalog));
            if let (Some(kind), None) = (&schema.served, &schema.outcome.conflict) {
                catalog.add_ephemeral(Arc::clone(kind));
            }
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&Schema> {
        self.0.get(name)
    }
}

/// Compiles an object. Versions that fail go on in the form of `last`.
fn build(
    value: &Value,
    kinds: &Catalog,
    policies: &For<'_>,
    last: Option<Arc<EphemeralKind>>,
) -> (Outcome, Option<Arc<EphemeralKind>>) {
    let (lowered, mut diagnostics) = lower(value);
    let Some(lowered) = lowered else {
        let failed = last.iter().flat_map(|last| last.versions.iter().map(|v| (Arc::clone(&v.name), true))).collect();
        let outcome = Outcome { diagnostics, lowered: false, conflict: None, compiled: vec![], failed };
        return (outcome, last);
    };
    let mut compiled = vec![];
    let mut failed = vec![];
    let mut versions = vec![];
    // What is not served is compiled too: its mistakes are mistakes.
    for version in &lowered.versions {
        let (plan, found) = compile(&version.definition, kinds, policies);
        diagnostics.extend(found.into_iter().map(|d| Diagnostic { path: version.path.join(&d.path), ..d }));
        let good = plan.map(|plan| Arc::new(ephemeral_version(version, plan)));
        if !version.served {
            continue;
        }
        if let Some(good) = good {
            compiled.push(Arc::clone(&good));
            versions.push(good);
        } else {
            let old = last.iter().flat_map(|last| &last.versions).find(|old| old.name == version.name);
            failed.push((Arc::clone(&version.name), old.is_some()));
            versions.extend(old.cloned());
        }
    }
    versions.sort_by(|a, b| version_order(&a.name, &b.name));
    let Lowered { group, namespaced, names, .. } = lowered;
    let served = (!versions.is_empty()).then(|| Arc::new(EphemeralKind { group, names, namespaced, versions }));
    (Outcome { diagnostics, lowered: true, conflict: None, compiled, failed }, served)
}

fn ephemeral_version(version: &LoweredVersion, plan: crate::engine::Plan) -> EphemeralVersion {
    EphemeralVersion {
        name: Arc::clone(&version.name),
        deprecation: version.deprecation.clone(),
        plan: Arc::new(plan),
        columns: Arc::clone(&version.columns),
        cache: version.cache,
        limits: version.limits,
    }
}

/// The name that another kind of the group has already.
fn taken(kind: &EphemeralKind, catalog: &Catalog) -> Option<String> {
    let names = &kind.names;
    if let Some(other) = catalog.plural(&kind.group, &names.kind) {
        return Some(format!("the kind `{}` is that of `{other}.{}` already", names.kind, kind.group));
    }
    if catalog.resource(&kind.group, &names.plural).is_some()
        || catalog.ephemeral_kind(&kind.group, &names.plural).is_some()
    {
        return Some(format!("the plural `{}` is taken in `{}` already", names.plural, kind.group));
    }
    None
}

impl Outcome {
    /// Whether something keeps a version from being compiled.
    pub(super) fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|d| d.severity == Severity::Error)
    }

    /// The warnings of a version.
    pub(super) fn warnings(&self, version: &FieldPath) -> Vec<&Diagnostic> {
        let within = |d: &&Diagnostic| d.path.steps().starts_with(version.steps());
        self.diagnostics.iter().filter(|d| d.severity == Severity::Warning).filter(within).collect()
    }
}
