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
use sha2::{Digest as _, Sha256};

use super::{
    item::{Item, field},
    policies::For,
};
use crate::{
    engine::{
        Plan, compile,
        diagnostic::{Diagnostic, FieldPath, Severity},
    },
    storage::{
        catalog::{Catalog, EphemeralKind, EphemeralVersion, SchemaId, version_order},
        computing::Pace,
        lower::{Lowered, LoweredVersion, Lowering, lower},
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
    /// How many of them are about its form; they come first.
    pub(super) form: usize,
    /// Whether its form is right.
    pub(super) lowered: bool,
    /// Whose names it takes, if they are taken.
    pub(super) conflict: Option<Diagnostic>,
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
                    let (outcome, served) = build(item, catalog, &policies, last);
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
    item: &Item,
    kinds: &Catalog,
    policies: &For<'_>,
    last: Option<Arc<EphemeralKind>>,
) -> (Outcome, Option<Arc<EphemeralKind>>) {
    let lowering = lower(&item.value);
    let is_right = lowering.is_right() && !item.document.is_flawed;
    let Lowering { lowered, mut diagnostics, told } = lowering;
    let mut form = diagnostics.len();
    let plans = compile_all(lowered.as_ref(), kinds, policies, &told, &mut diagnostics);
    once(item, &mut diagnostics, &mut form);
    let Some(lowered) = lowered.filter(|_| is_right) else {
        let failed = last.iter().flat_map(|last| last.versions.iter().map(|v| (Arc::clone(&v.name), true))).collect();
        let outcome = Outcome { diagnostics, form, lowered: false, conflict: None, compiled: vec![], failed };
        return (outcome, last);
    };
    let mut compiled = vec![];
    let mut failed = vec![];
    let mut versions = vec![];
    for (version, plan) in lowered.versions.iter().zip(plans) {
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
    let served = (!versions.is_empty())
        .then(|| Arc::new(EphemeralKind { group, names, namespaced, versions, schema: id(item) }));
    (Outcome { diagnostics, form, lowered: true, conflict: None, compiled, failed }, served)
}

/// In a directory nobody publishes: two workspaces have the same schema where theirs say the same.
fn id(item: &Item) -> SchemaId {
    let spec = field(&item.value, "spec").map(|spec| serde_json::to_vec(spec).unwrap_or_default());
    let mut digest = Sha256::new();
    digest.update(item.name.as_bytes());
    digest.update([0]);
    digest.update(spec.unwrap_or_default());
    SchemaId(digest.finalize().into())
}

/// Says once what is said twice of one place: an alias is expanded, and its mistakes with it. The first `form` stay first.
fn once(item: &Item, diagnostics: &mut Vec<Diagnostic>, form: &mut usize) {
    let mut seen = BTreeSet::new();
    let mut index = 0;
    let form_before = *form;
    diagnostics.retain(|d| {
        let is_new = seen.insert((item.place(&d.path, &d.place), d.message.clone()));
        *form -= usize::from(!is_new && index < form_before);
        index += 1;
        is_new
    });
}

/// The plans of all versions. What is not served is compiled too, and what is wrong in form: its mistakes are mistakes. What is
/// said of a field already is not said again.
fn compile_all(
    lowered: Option<&Lowered>,
    kinds: &Catalog,
    policies: &For<'_>,
    told: &BTreeSet<FieldPath>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Option<Plan>> {
    let versions = lowered.map(|lowered| &*lowered.versions).unwrap_or_default();
    let mut plans = Vec::with_capacity(versions.len());
    for version in versions {
        let (plan, found) = compile(&version.definition, kinds, policies);
        let found = found.into_iter().map(|d| Diagnostic { path: version.path.join(&d.path), ..d });
        diagnostics.extend(found.filter(|d| !told.contains(&d.path)));
        plans.push(plan);
    }
    plans
}

fn ephemeral_version(version: &LoweredVersion, plan: Plan) -> EphemeralVersion {
    EphemeralVersion {
        name: Arc::clone(&version.name),
        deprecation: version.deprecation.clone(),
        plan: Arc::new(plan),
        columns: Arc::clone(&version.columns),
        cache: version.cache,
        limits: version.limits,
        admission: Pace::default(),
        evaluation: Pace::default(),
    }
}

/// The name that another kind of the group has already. As in kube-apiserver, kinds and list kinds share one space of names;
/// plurals, singulars and short names another.
fn taken(kind: &EphemeralKind, catalog: &Catalog) -> Option<Diagnostic> {
    let stored = catalog.resources().filter(|other| other.group == kind.group).map(|other| &other.names);
    let ephemeral = catalog.ephemeral().filter(|other| other.group == kind.group).map(|other| &other.names);
    let path = FieldPath::root().field("spec").field("names");
    let names = &kind.names;
    for other in stored.chain(ephemeral) {
        let whose = format!("that of `{}.{}` already", other.plural, kind.group);
        let kinds = [("kind", &names.kind), ("listKind", &names.list_kind)];
        let taken = kinds.into_iter().find(|(_, name)| [&other.kind, &other.list_kind].contains(name));
        if let Some((field, name)) = taken {
            return Some(Diagnostic::error(path.field(field), format!("the {field} `{name}` is {whose}")));
        }
        let short = names.short_names.iter().enumerate().map(|(i, name)| (path.field("shortNames").index(i), name));
        let own = [("plural", &names.plural), ("singular", &names.singular)];
        let own = own.into_iter().map(|(field, name)| (path.field(field), name));
        let theirs = || [&other.plural, &other.singular].into_iter().chain(&other.short_names);
        if let Some((path, name)) = own.chain(short).find(|(_, name)| theirs().any(|other| other == *name)) {
            return Some(Diagnostic::error(path, format!("the name `{name}` is {whose}")));
        }
    }
    None
}

impl Outcome {
    /// The warnings of a version.
    pub(super) fn warnings(&self, version: &FieldPath) -> Vec<&Diagnostic> {
        let within = |d: &&Diagnostic| d.path.steps().starts_with(version.steps());
        self.diagnostics.iter().filter(|d| d.severity == Severity::Warning).filter(within).collect()
    }
}
