//! What a workspace publishes, in the order that clients see: groups, versions, resources.
//!
//! Absent: the documents that tell of it (discovery, openapi), what a resource answers.
use std::{collections::BTreeMap, sync::Arc};

use crate::{
    engine::schema::Structural,
    storage::catalog::{Catalog, EphemeralVersion, Names, StoredVersion, version_order},
};

/// A group and its versions, the preferred one first.
#[derive(Clone, Debug)]
pub struct Group {
    /// Empty for core.
    pub name: Arc<str>,
    /// In kube-apiserver's order of priority.
    pub versions: Vec<Version>,
}

/// A version of a group and its resources, by plural.
#[derive(Clone, Debug)]
pub struct Version {
    /// `v1`
    pub name: Arc<str>,
    /// By plural.
    pub resources: Vec<Resource>,
}

impl Version {
    /// Whether two tell of the same: the same kinds, not equal ones.
    pub fn is_same(&self, other: &Version) -> bool {
        let same = |(a, b): (&Resource, &Resource)| {
            a.plural == b.plural
                && a.kind == b.kind
                && match (&a.served, &b.served) {
                    (Served::Ephemeral(a), Served::Ephemeral(b)) => Arc::ptr_eq(a, b),
                    (Served::Stored(a), Served::Stored(b)) => Arc::ptr_eq(a, b),
                    (Served::Review, Served::Review) => true,
                    _ => false,
                }
        };
        self.resources.len() == other.resources.len() && self.resources.iter().zip(&other.resources).all(same)
    }
}

/// A resource.
#[derive(Clone, Debug)]
pub struct Resource {
    /// `bucketinfos`
    pub plural: Arc<str>,
    /// `bucketinfo`
    pub singular: Arc<str>,
    /// `BucketInfo`
    pub kind: Arc<str>,
    /// `BucketInfoList`
    pub list_kind: Arc<str>,
    /// Whether objects live in namespaces.
    pub namespaced: bool,
    /// `bi`
    pub short_names: Vec<Arc<str>>,
    /// `info`
    pub categories: Vec<Arc<str>>,
    /// What can be done with it.
    pub served: Served,
}

/// What can be done with a resource.
#[derive(Clone, Debug)]
pub enum Served {
    /// Created and answered, never stored.
    Ephemeral(Arc<EphemeralVersion>),
    /// Kubernetes' own reviews, answered by the server itself.
    Review,
    /// Read from the workspace.
    Stored(Arc<StoredVersion>),
}

impl Served {
    /// The verbs of discovery.
    pub fn verbs(&self) -> &'static [&'static str] {
        match self {
            Served::Ephemeral(_) | Served::Review => &["create"],
            Served::Stored(_) => &["get", "list", "watch"],
        }
    }

    /// The schema of whole objects; reviews are not worth one.
    pub fn schema(&self) -> Option<&Structural> {
        match self {
            Served::Ephemeral(version) => Some(version.plan.published()),
            Served::Review => None,
            Served::Stored(version) => Some(version.schema()),
        }
    }
}

/// What a catalog serves, and the reviews that every workspace serves.
pub fn of(catalog: &Catalog) -> Vec<Group> {
    let ephemeral = catalog.ephemeral().flat_map(|kind| {
        kind.versions.iter().map(|v| {
            let served = Served::Ephemeral(Arc::clone(v));
            (Arc::clone(&kind.group), Arc::clone(&v.name), resource(&kind.names, kind.namespaced, served))
        })
    });
    let stored = catalog.resources().flat_map(|kind| {
        kind.versions.iter().map(|v| {
            let served = Served::Stored(Arc::clone(v));
            (Arc::clone(&kind.group), Arc::clone(&v.name), resource(&kind.names, kind.namespaced, served))
        })
    });
    groups(ephemeral.chain(stored))
}

fn resource(names: &Names, namespaced: bool, served: Served) -> Resource {
    Resource {
        plural: Arc::clone(&names.plural),
        singular: Arc::clone(&names.singular),
        kind: Arc::clone(&names.kind),
        list_kind: Arc::clone(&names.list_kind),
        namespaced,
        short_names: names.short_names.clone(),
        categories: names.categories.clone(),
        served,
    }
}

/// Sorts resources into groups and versions; core `v1` is always there, else `kubectl create` knows no `kind: List`.
/// The first of two resources of one name wins.
fn groups(resources: impl IntoIterator<Item = (Arc<str>, Arc<str>, Resource)>) -> Vec<Group> {
    type ByName<T> = BTreeMap<Arc<str>, T>;
    let mut groups: ByName<ByName<ByName<Resource>>> = BTreeMap::new();
    groups.entry("".into()).or_default().entry("v1".into()).or_default();
    for (group, version, resource) in resources.into_iter().chain(reviews()) {
        let resources = groups.entry(group).or_default().entry(version).or_default();
        resources.entry(Arc::clone(&resource.plural)).or_insert(resource);
    }
    let group = |(name, versions): (Arc<str>, ByName<ByName<Resource>>)| {
        let version = |(name, resources): (Arc<str>, ByName<Resource>)| Version {
            name,
            resources: resources.into_values().collect(),
        };
        let mut versions: Vec<_> = versions.into_iter().map(version).collect();
        versions.sort_by(|a, b| version_order(&a.name, &b.name));
        Group { name, versions }
    };
    groups.into_iter().map(group).collect()
}

fn reviews() -> impl Iterator<Item = (Arc<str>, Arc<str>, Resource)> {
    const REVIEWS: [(&str, &str, &str, &str, bool); 6] = [
        ("authentication.k8s.io", "v1", "selfsubjectreviews", "SelfSubjectReview", false),
        ("authentication.k8s.io", "v1beta1", "selfsubjectreviews", "SelfSubjectReview", false),
        ("authorization.k8s.io", "v1", "localsubjectaccessreviews", "LocalSubjectAccessReview", true),
        ("authorization.k8s.io", "v1", "selfsubjectaccessreviews", "SelfSubjectAccessReview", false),
        ("authorization.k8s.io", "v1", "selfsubjectrulesreviews", "SelfSubjectRulesReview", false),
        ("authorization.k8s.io", "v1", "subjectaccessreviews", "SubjectAccessReview", false),
    ];
    REVIEWS.into_iter().map(|(group, version, plural, kind, namespaced)| {
        let resource = Resource {
            plural: plural.into(),
            singular: kind.to_ascii_lowercase().into(),
            kind: kind.into(),
            list_kind: format!("{kind}List").into(),
            namespaced,
            short_names: Vec::new(),
            categories: Vec::new(),
            served: Served::Review,
        };
        (group.into(), version.into(), resource)
    })
}

/// A resource, and where it is.
#[derive(Clone, Copy, Debug)]
pub struct Found<'a> {
    /// Its group.
    pub group: &'a Group,
    /// Its version.
    pub version: &'a Version,
    /// Itself.
    pub resource: &'a Resource,
}

/// The resource of a group, version and plural among groups in order; `Err(true)` when the version is there and the resource
/// is not.
pub fn find<'a>(groups: &'a [Group], group: &str, version: &str, plural: &str) -> Result<Found<'a>, bool> {
    let group = groups.binary_search_by(|g| (*g.name).cmp(group)).ok().and_then(|at| groups.get(at)).ok_or(false)?;
    let version = group.versions.iter().find(|v| *v.name == *version).ok_or(false)?;
    let at = version.resources.binary_search_by(|r| (*r.plural).cmp(plural)).map_err(|_| true)?;
    let resource = version.resources.get(at).ok_or(true)?;
    Ok(Found { group, version, resource })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn core_is_always_there() {
        let groups = groups([]);
        assert_eq!(&*groups[0].name, "");
        assert_eq!(&*groups[0].versions[0].name, "v1");
        assert!(find(&groups, "authorization.k8s.io", "v1", "subjectaccessreviews").is_ok());
        assert!(find(&groups, "authorization.k8s.io", "v1", "x").unwrap_err());
        assert!(!find(&groups, "x", "v1", "x").unwrap_err());
    }
}
