//! Workspaces by path: each with its catalog, objects and authorizer.
//!
//! Absent: who fills them (directory, a cluster).
use std::{collections::BTreeMap, sync::Arc};

use arc_swap::ArcSwap;

use crate::storage::{authorizer::Authorizer, catalog::Catalog, objects::Objects};

/// The path of the workspace that is served without `/clusters/`.
pub const ROOT: &str = "root";

/// An isolated set of objects and what is served over them.
#[derive(Debug)]
pub struct Workspace {
    path: Arc<str>,
    catalog: ArcSwap<Catalog>,
    objects: Arc<Objects>,
    authorizer: Authorizer,
}

impl Workspace {
    /// A workspace whose users may do what `authorizer` says.
    pub fn new(path: &str, objects: Arc<Objects>, authorizer: Authorizer) -> Workspace {
        Workspace { path: path.into(), catalog: ArcSwap::default(), objects, authorizer }
    }

    /// `root:acme:team`
    pub fn path(&self) -> &Arc<str> {
        &self.path
    }

    /// What it serves now. One request uses one snapshot.
    pub fn catalog(&self) -> Arc<Catalog> {
        self.catalog.load_full()
    }

    /// Serves something else from now on.
    pub fn set_catalog(&self, catalog: Arc<Catalog>) {
        self.catalog.store(catalog);
    }

    /// Its objects.
    pub fn objects(&self) -> &Arc<Objects> {
        &self.objects
    }

    /// What its users may do.
    pub fn authorizer(&self) -> &Authorizer {
        &self.authorizer
    }
}

/// All workspaces.
#[derive(Debug, Default)]
pub struct Workspaces(ArcSwap<BTreeMap<Arc<str>, Arc<Workspace>>>);

impl Workspaces {
    /// The workspace that is served without `/clusters/`.
    pub fn root(&self) -> Option<Arc<Workspace>> {
        self.get(ROOT)
    }

    /// A workspace by its path, with or without the leading `root:`.
    pub fn get(&self, path: &str) -> Option<Arc<Workspace>> {
        let all = self.0.load();
        all.get(path).or_else(|| all.get(&*format!("{ROOT}:{path}"))).cloned()
    }

    /// The workspace with exactly this path.
    pub fn get_exact(&self, path: &str) -> Option<Arc<Workspace>> {
        self.0.load().get(path).cloned()
    }

    /// The paths in their order.
    pub fn paths(&self) -> Vec<Arc<str>> {
        self.0.load().keys().cloned().collect()
    }

    /// Adds or replaces a workspace.
    pub fn insert(&self, workspace: Arc<Workspace>) {
        self.0.rcu(|all| {
            let mut all = BTreeMap::clone(all);
            all.insert(Arc::clone(workspace.path()), Arc::clone(&workspace));
            all
        });
    }

    /// Removes a workspace. Requests that hold it go on.
    pub fn remove(&self, path: &str) {
        self.0.rcu(|all| {
            let mut all = BTreeMap::clone(all);
            all.remove(path);
            all
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_found_with_and_without_root() {
        let workspaces = Workspaces::default();
        for path in ["root", "root:acme:team"] {
            workspaces.insert(Arc::new(Workspace::new(path, Arc::new(Objects::new(0)), Authorizer::AlwaysAllow)));
        }
        for (asked, found) in [("root", "root"), ("acme:team", "root:acme:team"), ("root:acme:team", "root:acme:team")]
        {
            assert_eq!(workspaces.get(asked).map(|w| w.path().to_string()).as_deref(), Some(found));
        }
        assert!(workspaces.get("acme").is_none());
        workspaces.remove("root:acme:team");
        assert_eq!(workspaces.paths(), ["root".into()]);
    }
}
