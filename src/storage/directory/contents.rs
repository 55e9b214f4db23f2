//! One workspace: its catalog and its objects, made from the items of its files. What has not changed is not made again.
//!
//! Absent: files.
use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use cel::Value;

use super::{
    conditions,
    item::{Item, field},
    policies::{self, Policies},
    report::{Finding, WorkspaceReport},
    schemas::Schemas,
};
use crate::{
    api,
    engine::{
        diagnostic::{Diagnostic, FieldPath, Severity},
        schema::{Structural, admit, validate},
    },
    storage::{
        builtin,
        catalog::{self, Catalog, StoredKind},
        lower,
        objects::{GroupVersionKind, Incoming},
        workspace::{ROOT, Workspace},
    },
};

/// What a workspace is made from.
#[derive(Debug, Default)]
pub(super) struct Contents {
    custom: BTreeMap<Arc<str>, Custom>,
    /// Grows when the stored kinds change.
    kinds: u64,
    schemas: Schemas,
    /// What was made of each file's items, by their address, which lives as long as they are held here.
    prepared: HashMap<usize, Prepared>,
    revision: u64,
}

/// A CustomResourceDefinition.
#[derive(Debug)]
struct Custom {
    value: Value,
    kind: Option<Arc<StoredKind>>,
    diagnostics: Vec<Diagnostic>,
}

/// The objects of a file.
#[derive(Debug)]
struct Prepared {
    items: Arc<Vec<Item>>,
    kinds: u64,
    incoming: Vec<Incoming>,
    findings: Vec<Finding>,
}

fn is_crd(item: &Item) -> bool {
    &*item.kind.group == "apiextensions.k8s.io" && &*item.kind.kind == "CustomResourceDefinition"
}

fn is_own(item: &Item, kind: &str) -> bool {
    &*item.kind.group == api::GROUP && &*item.kind.kind == kind
}

impl Contents {
    /// Makes the workspace what the files say.
    pub(super) fn update(
        &mut self,
        workspace: &Workspace,
        files: Vec<Arc<Vec<Item>>>,
        policies: &Policies,
        findings: &mut Vec<Finding>,
    ) -> WorkspaceReport {
        let now: Arc<str> = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string().into();
        let items: Vec<&Item> = files.iter().flat_map(|file| file.iter()).collect();
        let items = distinct(items, findings);

        self.stored_kinds(&items, findings);
        if &**workspace.path() != ROOT {
            findings.extend(policies::ignored(&items));
        }
        let mut catalog = Catalog { egress: policies.egress.clone(), ..Catalog::default() };
        for kind in builtin::kinds().iter().chain(own_kinds()).cloned() {
            catalog.add_stored(kind);
        }
        for kind in self.custom.values().filter_map(|custom| custom.kind.clone()) {
            catalog.add_stored(kind);
        }
        let schemas: Vec<&Item> = items.iter().copied().filter(|item| is_own(item, "EphemeralSchema")).collect();
        self.schemas.update(&schemas, &mut catalog, (self.kinds, policies.revision), workspace.path());
        self.revision += 1;
        catalog.revision = self.revision;

        let objects = workspace.objects();
        let mut incoming = self.prepare(&files, &catalog, &now, findings);
        for item in schemas {
            let Some(schema) = self.schemas.get(&item.name) else { continue };
            findings.extend(schema.outcome.diagnostics.iter().cloned().map(|d| item.finding(d)));
            findings.extend(schema.outcome.conflict.iter().cloned().map(|d| item.finding(d)));
            let mut object = object(item, &catalog, &now).remove_first(item, &now);
            let before = objects.get(&object.kind, "", &item.name);
            let generation = objects.generation_of(&object);
            let status = before.as_ref().and_then(|before| field(before.value(), "status"));
            object.value = conditions::with_status(item, &object.value, schema, status, generation, &now);
            incoming.push(object);
        }
        for item in items.iter().copied().filter(|item| policies::is_policy(item)) {
            let made = self::object(item, &catalog, &now);
            let accepted = policies.accepted(item, &made.diagnostics, workspace.path());
            findings.extend(made.diagnostics.iter().cloned().map(|d| item.finding(d)));
            let mut object = made.remove_first(item, &now);
            let before = objects.get(&object.kind, "", &item.name);
            let generation = objects.generation_of(&object);
            let status = before.as_ref().and_then(|before| field(before.value(), "status"));
            object.value = conditions::of_policy(&object.value, accepted, status, generation, &now);
            incoming.push(object);
        }
        let report = WorkspaceReport {
            path: Arc::clone(workspace.path()),
            ephemeral: catalog
                .ephemeral()
                .flat_map(|kind| kind.versions.iter().map(|v| format!("{}/{} {}", kind.group, v.name, kind.names.kind)))
                .collect(),
            custom_kinds: self.custom.values().filter(|custom| custom.kind.is_some()).count(),
            objects: items.len(),
        };
        workspace.set_catalog(Arc::new(catalog));
        objects.replace_all(incoming);
        report
    }

    /// Reads the CustomResourceDefinitions that have changed.
    fn stored_kinds(&mut self, items: &[&Item], findings: &mut Vec<Finding>) {
        let mut before = std::mem::take(&mut self.custom);
        let mut changed = false;
        for item in items.iter().copied().filter(|item| is_crd(item)) {
            let custom = match before.remove(&item.name) {
                Some(custom) if custom.value == item.value => custom,
                other => {
                    changed = true;
                    let (kind, diagnostics) = catalog::custom(&item.value);
                    // A definition that is not right keeps what it declared before.
                    let failed = diagnostics.iter().any(|d| d.severity == Severity::Error);
                    let last = other.and_then(|other| other.kind);
                    let kind = if failed { last.or(kind.map(Arc::new)) } else { kind.map(Arc::new) };
                    Custom { value: item.value.clone(), kind, diagnostics }
                }
            };
            findings.extend(custom.diagnostics.iter().cloned().map(|d| item.finding(d)));
            self.custom.insert(Arc::clone(&item.name), custom);
        }
        if changed || !before.is_empty() {
            self.kinds += 1;
        }
    }

    /// The objects of all files but EphemeralSchemas and EgressPolicies, whose status is not known yet.
    fn prepare(
        &mut self,
        files: &[Arc<Vec<Item>>],
        catalog: &Catalog,
        now: &Arc<str>,
        findings: &mut Vec<Finding>,
    ) -> Vec<Incoming> {
        let mut before = std::mem::take(&mut self.prepared);
        let mut all = vec![];
        for items in files {
            let address = Arc::as_ptr(items).addr();
            let prepared = match before.remove(&address) {
                Some(prepared) if prepared.kinds == self.kinds && Arc::ptr_eq(&prepared.items, items) => prepared,
                _ => {
                    let mut found = vec![];
                    let mut incoming = vec![];
                    let right = items.iter().filter(|item| !item.document.is_flawed || is_crd(item));
                    let right = right.filter(|item| !is_own(item, "EphemeralSchema") && !policies::is_policy(item));
                    for item in right {
                        let made = object(item, catalog, now);
                        found.extend(made.diagnostics.into_iter().map(|d| item.finding(d)));
                        incoming.extend(made.incoming);
                    }
                    bound(&mut found, items);
                    Prepared { items: Arc::clone(items), kinds: self.kinds, incoming, findings: found }
                }
            };
            findings.extend(prepared.findings.iter().cloned());
            all.extend(prepared.incoming.iter().cloned());
            self.prepared.insert(address, prepared);
        }
        all
    }
}

/// Cuts the warnings of a file to a number that someone may read.
fn bound(findings: &mut Vec<Finding>, items: &[Item]) {
    const MAX_FINDINGS: usize = 100;
    let (Some(more), Some(item)) = (findings.len().checked_sub(MAX_FINDINGS + 1), items.first()) else { return };
    findings.truncate(MAX_FINDINGS);
    let message = format!("and {} more warnings of this file", more + 1);
    findings.push(item.finding(Diagnostic::warning(FieldPath::root(), message)));
}

/// Celandine's own kinds.
fn own_kinds() -> &'static [Arc<StoredKind>] {
    static OWN: std::sync::LazyLock<Vec<Arc<StoredKind>>> = std::sync::LazyLock::new(|| {
        lower::own_kinds()
            .filter_map(|(_, crd)| serde_json::from_value::<Value>(crd).ok())
            .filter_map(|crd| catalog::custom(&crd).0)
            .map(Arc::new)
            .collect()
    });
    &OWN
}

/// Of several items with one identity the last, as if they had been applied in order.
fn distinct<'a>(items: Vec<&'a Item>, findings: &mut Vec<Finding>) -> Vec<&'a Item> {
    let mut last: HashMap<(&str, &str, Option<&str>, &str), usize> = HashMap::new();
    let mut kept: Vec<Option<&Item>> = vec![];
    for item in items {
        let key = (&*item.kind.group, &*item.kind.kind, item.namespace.as_deref(), &*item.name);
        if let Some(other) = last.insert(key, kept.len()).and_then(|i| kept.get_mut(i)).and_then(Option::take) {
            let path = FieldPath::root().field("metadata").field("name");
            let place = other.place(&path, &crate::engine::diagnostic::Place::Value);
            let message = format!("`{}` is at {place} already; the last one counts", item.name);
            findings.push(item.finding(Diagnostic::warning(path, message)));
        }
        kept.push(Some(item));
    }
    kept.into_iter().flatten().collect()
}

/// What becomes of an item.
struct Made {
    /// One for each version that is served.
    incoming: Vec<Incoming>,
    diagnostics: Vec<Diagnostic>,
}

impl Made {
    /// The object of a kind with one version.
    fn remove_first(self, item: &Item, now: &Arc<str>) -> Incoming {
        self.incoming.into_iter().next().unwrap_or_else(|| Incoming {
            kind: item.kind.clone(),
            namespace: Arc::default(),
            name: Arc::clone(&item.name),
            value: item.value.clone(),
            schema: None,
            arrived: Arc::clone(now),
        })
    }
}

/// Objects of known kinds get their defaults and are looked over; what does not fit is a warning.
fn object(item: &Item, catalog: &Catalog, now: &Arc<str>) -> Made {
    let incoming = |kind: GroupVersionKind, namespace, value, schema: Option<&Arc<Structural>>| Incoming {
        kind,
        namespace,
        name: Arc::clone(&item.name),
        value,
        schema: schema.cloned(),
        arrived: Arc::clone(now),
    };
    let known = catalog.plural(&item.kind.group, &item.kind.kind).and_then(|p| catalog.resource(&item.kind.group, p));
    let Some(known) = known else {
        let namespace = item.namespace.clone().unwrap_or_default();
        let diagnostics = misspelt(item);
        return Made { incoming: vec![incoming(item.kind.clone(), namespace, item.value.clone(), None)], diagnostics };
    };
    let mut diagnostics = vec![];
    let namespace_path = FieldPath::root().field("metadata").field("namespace");
    let namespace: Arc<str> = match (known.namespaced, &item.namespace) {
        (true, Some(namespace)) => Arc::clone(namespace),
        (true, None) => "default".into(),
        (false, None) => "".into(),
        (false, Some(_)) => {
            let message = format!("a `{}` lives in no namespace", item.kind.kind);
            diagnostics.push(Diagnostic::warning(namespace_path, message));
            "".into()
        }
    };
    let own = known.versions.iter().find(|version| version.name == item.kind.version);
    if own.is_none() {
        let names: Vec<_> = known.versions.iter().map(|v| format!("`{}`", v.name)).collect();
        let message = format!("`{}` is no served version of `{}`", item.kind.version, item.kind.kind);
        let help = format!("served: {}", names.join(", "));
        diagnostics.push(Diagnostic::warning(FieldPath::root().field("apiVersion"), message).help(help));
    }
    let builtin = builtin::kinds().iter().any(|kind| Arc::ptr_eq(kind, known));
    if let Some(own) = own {
        if &*item.kind.group == api::GROUP {
            diagnostics.extend(lower::check(&item.value).1);
        } else {
            look_over(&item.value, own.schema(), &mut diagnostics);
        }
        if builtin {
            let object = incoming(item.kind.clone(), namespace, item.value.clone(), Some(own.schema()));
            return Made { incoming: vec![object], diagnostics };
        }
    }
    // Without conversion an object is the same in every version but for its apiVersion.
    let mut told = vec![];
    let versions = known.versions.iter().map(|version| {
        let kind = GroupVersionKind { version: Arc::clone(&version.name), ..item.kind.clone() };
        let mut value = item.value.clone();
        if version.name != item.kind.version
            && let Value::Map(map) = &mut value
        {
            map.insert("apiVersion", Value::from(kind.api_version()));
        }
        // With too many it stays as it is.
        let value = admit::default(version.schema(), value.clone()).unwrap_or_else(|error| {
            told = vec![Diagnostic::warning(FieldPath::root(), error.to_string())];
            value
        });
        incoming(kind, Arc::clone(&namespace), value, Some(version.schema()))
    });
    let incoming = versions.collect();
    diagnostics.extend(told);
    Made { incoming, diagnostics }
}

/// What is no kind of Celandine's, but was meant to be one.
fn misspelt(item: &Item) -> Vec<Diagnostic> {
    if &*item.kind.group == api::GROUP {
        return lower::check(&item.value).1;
    }
    if !lower::own_kinds().any(|(own, _)| own.kind == item.kind.kind) {
        return vec![];
    }
    let message = format!("`{}` is a kind of `{}/{}`", item.kind.kind, api::GROUP, api::VERSION);
    let path = FieldPath::root().field("apiVersion");
    vec![Diagnostic::warning(path, message).help("as it stands here it is a kind that nothing knows")]
}

/// What kube-apiserver would not have taken or kept.
fn look_over(value: &Value, schema: &Structural, diagnostics: &mut Vec<Diagnostic>) {
    let (admitted, unknown) = admit::admit(schema, value.clone());
    for path in unknown {
        let path = lower::printed_path(&path);
        let message = format!("unknown field `{path}`");
        let place = crate::engine::diagnostic::Place::Key;
        diagnostics.push(Diagnostic::warning(path, message).at(place));
    }
    for error in validate(schema, &admitted, &FieldPath::root()) {
        diagnostics.push(Diagnostic::warning(lower::printed_path(&error.field), error.to_string()));
    }
}
