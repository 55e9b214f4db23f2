//! RBAC over the Roles, ClusterRoles and bindings of a workspace.
//!
//! The index is made again when one of these objects has changed. Absent: escalation checks (nothing is written here).
use std::{
    collections::{BTreeSet, HashMap},
    sync::{
        Arc, LazyLock,
        atomic::{AtomicU64, Ordering},
    },
};

use arc_swap::ArcSwapOption;
use cel::{Value, value::Map};

use super::{Attributes, Decision, PathRule, ResourceRule, Rules};
use crate::{
    api::UserInfo,
    storage::{
        objects::{GroupVersionKind, Object, Objects},
        selector::{FieldSelector, LabelSelector},
    },
};

const GROUP: &str = "rbac.authorization.k8s.io";

/// The kinds that it is about.
static KINDS: LazyLock<[GroupVersionKind; 4]> =
    LazyLock::new(|| ["ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"].map(gvk));

/// Evaluates the RBAC objects of a store.
#[derive(Debug)]
pub struct Rbac {
    objects: Arc<Objects>,
    index: ArcSwapOption<Indexed>,
}

/// An index, and when it was made.
#[derive(Debug)]
struct Indexed {
    /// The newest revision of an object that it is made of.
    newest: u64,
    /// The revision of the store, at which it was looked for.
    looked: AtomicU64,
    index: Index,
}

#[derive(Debug, Default)]
struct Index {
    /// Bindings of the cluster.
    cluster: Vec<Binding>,
    /// Those of each namespace.
    namespaces: HashMap<Arc<str>, Vec<Binding>>,
}

impl Index {
    /// Those that hold in a namespace, or for the cluster alone where it is empty.
    fn bindings(&self, namespace: &str) -> impl Iterator<Item = &Binding> {
        let own = if namespace.is_empty() { None } else { self.namespaces.get(namespace) };
        self.cluster.iter().chain(own.into_iter().flatten())
    }
}

#[derive(Debug)]
struct Binding {
    /// Each with the reason of what it is allowed.
    subjects: Vec<(Subject, Arc<str>)>,
    rules: Arc<Vec<Rule>>,
}

#[derive(Debug)]
enum Subject {
    User(Arc<str>),
    Group(Arc<str>),
}

#[derive(Debug, Default)]
struct Rule {
    verbs: BTreeSet<Arc<str>>,
    groups: BTreeSet<Arc<str>>,
    resources: BTreeSet<Arc<str>>,
    names: BTreeSet<Arc<str>>,
    paths: BTreeSet<Arc<str>>,
}

impl Rbac {
    pub(super) fn new(objects: Arc<Objects>) -> Rbac {
        Rbac { objects, index: ArcSwapOption::empty() }
    }

    pub(super) fn decide(&self, user: &UserInfo, attributes: &Attributes) -> Decision {
        let index = &self.index().index;
        let namespace = if attributes.path.is_some() { "" } else { &*attributes.namespace };
        for binding in index.bindings(namespace) {
            if let Some((_, reason)) = binding.subjects.iter().find(|(subject, _)| subject.is(user))
                && binding.rules.iter().any(|rule| rule.allows(attributes))
            {
                return Decision { allowed: true, reason: Arc::clone(reason) };
            }
        }
        Decision { allowed: false, reason: Arc::default() }
    }

    pub(super) fn rules(&self, user: &UserInfo, namespace: &str) -> Rules {
        let index = &self.index().index;
        let mut rules = Rules::default();
        let bindings = index.bindings(namespace);
        for rule in bindings.filter(|b| b.subjects.iter().any(|(s, _)| s.is(user))).flat_map(|b| b.rules.iter()) {
            let list = |set: &BTreeSet<Arc<str>>| set.iter().cloned().collect::<Vec<_>>();
            if !rule.resources.is_empty() {
                rules.resources.push(ResourceRule {
                    verbs: list(&rule.verbs),
                    groups: list(&rule.groups),
                    resources: list(&rule.resources),
                    names: list(&rule.names),
                });
            }
            if !rule.paths.is_empty() {
                rules.paths.push(PathRule { verbs: list(&rule.verbs), paths: list(&rule.paths) });
            }
        }
        rules
    }

    /// Whether anything is granted to a user anywhere.
    pub(super) fn knows(&self, user: &UserInfo) -> bool {
        let index = &self.index().index;
        let all = index.cluster.iter().chain(index.namespaces.values().flatten());
        all.flat_map(|binding| &binding.subjects).any(|(subject, _)| subject.is(user))
    }

    /// The index of the objects as they are now. The revisions are read before the objects: an index that is newer than its
    /// revision is only made once more.
    fn index(&self) -> Arc<Indexed> {
        let looked = self.objects.revision();
        let known = self.index.load();
        if let Some(known) = &*known
            && known.looked.load(Ordering::Relaxed) == looked
        {
            return Arc::clone(known);
        }
        let newest = KINDS.iter().map(|kind| self.objects.revision_of(kind)).max().unwrap_or(0);
        if let Some(known) = &*known
            && known.newest == newest
        {
            known.looked.store(looked, Ordering::Relaxed);
            return Arc::clone(known);
        }
        let made = Arc::new(Indexed { newest, looked: AtomicU64::new(looked), index: build(&self.objects) });
        self.index.store(Some(Arc::clone(&made)));
        made
    }
}

fn gvk(kind: &str) -> GroupVersionKind {
    GroupVersionKind::new(GROUP, "v1", kind)
}

fn build(objects: &Objects) -> Index {
    let all =
        |kind: &str| objects.list(&gvk(kind), None, &LabelSelector::everything(), &FieldSelector::everything()).items;
    let cluster_roles = all("ClusterRole");
    let mut roles: HashMap<RoleKey, Arc<Vec<Rule>>> = HashMap::new();
    // Kubernetes makes this role in every cluster; a role of this name among the objects takes its place.
    roles.insert(("".into(), "cluster-admin".into()), Arc::new(vec![Rule::everything()]));
    for role in &cluster_roles {
        let rules = aggregated(role, &cluster_roles).into_iter().flat_map(|role| rules_of(role.value())).collect();
        roles.insert(("".into(), Arc::clone(role.name())), Arc::new(rules));
    }
    for role in all("Role") {
        roles.insert((Arc::clone(role.namespace()), Arc::clone(role.name())), Arc::new(rules_of(role.value())));
    }
    let mut index = Index::default();
    for kind in ["ClusterRoleBinding", "RoleBinding"] {
        for binding in all(kind) {
            let reference = get(Some(binding.value()), "roleRef");
            let (role_kind, role_name) = (text(get(reference, "kind")), text(get(reference, "name")));
            let scope = if &*role_kind == "Role" { Arc::clone(binding.namespace()) } else { "".into() };
            let Some(rules) = roles.get(&(scope, Arc::clone(&role_name))) else { continue };
            let place = if kind == "RoleBinding" {
                format!("{}/{}", binding.name(), binding.namespace())
            } else {
                binding.name().to_string()
            };
            let reason = |subject: &Subject| {
                let role = format!("{role_kind} {:?}", &*role_name);
                format!("RBAC: allowed by {kind} {place:?} of {role} to {}", subject.describe()).into()
            };
            let bound = match &**binding.namespace() {
                "" => &mut index.cluster,
                _ => index.namespaces.entry(Arc::clone(binding.namespace())).or_default(),
            };
            bound.push(Binding {
                subjects: list(get(Some(binding.value()), "subjects"))
                    .iter()
                    .filter_map(|subject| Subject::of(subject, binding.namespace()))
                    .map(|subject| {
                        let reason = reason(&subject);
                        (subject, reason)
                    })
                    .collect(),
                rules: Arc::clone(rules),
            });
        }
    }
    index
}

/// The namespace (empty: a ClusterRole) and name of a role.
type RoleKey = (Arc<str>, Arc<str>);

/// The roles whose rules a ClusterRole has: its own, or with an aggregationRule those of the roles that it selects, which may
/// aggregate again.
fn aggregated<'a>(role: &'a Arc<Object>, all: &'a [Arc<Object>]) -> Vec<&'a Arc<Object>> {
    let mut seen: BTreeSet<&str> = [&**role.name()].into();
    let mut open = vec![role];
    let mut found = vec![];
    while let Some(role) = open.pop() {
        let Some(rule) = get(role.value(), "aggregationRule") else {
            found.push(role);
            continue;
        };
        let selectors: Vec<_> = list(get(rule, "clusterRoleSelectors")).iter().filter_map(selector_of).collect();
        for other in all {
            if selectors.iter().any(|selector| selector.matches(other.labels())) && seen.insert(other.name()) {
                open.push(other);
            }
        }
    }
    found
}

impl Subject {
    fn of(value: &Value, namespace: &Arc<str>) -> Option<Subject> {
        let name = text(get(Some(value), "name"));
        match &*text(get(Some(value), "kind")) {
            "User" => Some(Subject::User(name)),
            "Group" => Some(Subject::Group(name)),
            "ServiceAccount" => {
                let own = text(get(Some(value), "namespace"));
                let namespace = if own.is_empty() { namespace } else { &own };
                Some(Subject::User(format!("system:serviceaccount:{namespace}:{name}").into()))
            }
            _ => None,
        }
    }

    fn is(&self, user: &UserInfo) -> bool {
        match self {
            Subject::User(name) => **name == *user.username,
            Subject::Group(name) => user.in_group(name),
        }
    }

    fn describe(&self) -> String {
        match self {
            Subject::User(name) => format!("User {name:?}"),
            Subject::Group(name) => format!("Group {name:?}"),
        }
    }
}

impl Rule {
    fn everything() -> Rule {
        let all = || BTreeSet::from(["*".into()]);
        Rule { verbs: all(), groups: all(), resources: all(), names: BTreeSet::new(), paths: all() }
    }

    fn allows(&self, attributes: &Attributes) -> bool {
        let holds = |set: &BTreeSet<Arc<str>>, value: &str| set.contains("*") || set.contains(value);
        if !holds(&self.verbs, &attributes.verb) {
            return false;
        }
        if let Some(path) = &attributes.path {
            return self.paths.iter().any(|allowed| match allowed.strip_suffix('*') {
                Some(prefix) => path.starts_with(prefix),
                None => allowed == path,
            });
        }
        let resource_holds = if attributes.subresource.is_empty() {
            holds(&self.resources, &attributes.resource)
        } else {
            holds(&self.resources, &format!("{}/{}", attributes.resource, attributes.subresource))
                || self.resources.contains(&*format!("*/{}", attributes.subresource))
        };
        holds(&self.groups, &attributes.group)
            && resource_holds
            && (self.names.is_empty() || self.names.contains(&attributes.name))
    }
}

fn rules_of(role: &Value) -> Vec<Rule> {
    list(get(Some(role), "rules"))
        .iter()
        .map(|rule| {
            let set = |name: &str| list(get(Some(rule), name)).iter().map(|v| text(Some(v))).collect();
            Rule {
                verbs: set("verbs"),
                groups: set("apiGroups"),
                resources: set("resources"),
                names: set("resourceNames"),
                paths: set("nonResourceURLs"),
            }
        })
        .collect()
}

/// A `metav1.LabelSelector`. One that cannot be understood selects nothing, as it would grant too much.
fn selector_of(value: &Value) -> Option<LabelSelector> {
    use crate::engine::need::{Operator, Requirement, Selector};
    let mut requirements = vec![];
    if let Some(Value::Map(labels)) = get(Some(value), "matchLabels") {
        for (key, value) in labels.iter() {
            let cel::value::Key::String(key) = key else { return None };
            requirements.push(Requirement {
                key: Arc::clone(key),
                operator: Operator::In,
                values: vec![text(Some(value))],
            });
        }
    }
    for expression in list(get(Some(value), "matchExpressions")) {
        requirements.push(Requirement {
            key: text(get(Some(expression), "key")),
            operator: match &*text(get(Some(expression), "operator")) {
                "In" => Operator::In,
                "NotIn" => Operator::NotIn,
                "Exists" => Operator::Exists,
                "DoesNotExist" => Operator::DoesNotExist,
                _ => return None,
            },
            values: list(get(Some(expression), "values")).iter().map(|v| text(Some(v))).collect(),
        });
    }
    Some(LabelSelector::from(&Selector(requirements)))
}

fn get<'a>(value: impl Into<Option<&'a Value>>, name: &str) -> Option<&'a Value> {
    match value.into() {
        Some(Value::Map(map)) => Map::get(map, name),
        _ => None,
    }
}

fn list(value: Option<&Value>) -> &[Value] {
    match value {
        Some(Value::List(list)) => list.as_slice(),
        _ => &[],
    }
}

fn text(value: Option<&Value>) -> Arc<str> {
    match value {
        Some(Value::String(text)) => Arc::clone(text),
        _ => "".into(),
    }
}
