//! The documents of one catalog snapshot, each built once: what is published, discovery, OpenAPI.
//!
//! Absent: what is in them (discovery, openapi), who asks for which (routes).
use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use bytes::Bytes;
use serde_json::Value;
use sha2::{Digest, Sha512};

use crate::{
    server::{
        discovery, openapi,
        published::{self, Group, Version},
    },
    storage::{catalog::Catalog, workspace::Workspace},
};

/// Bytes and their hash.
#[derive(Clone, Debug)]
pub struct Document {
    /// What is sent.
    pub bytes: Bytes,
    /// SHA-512 in capital hexadecimal digits, as Kubernetes writes it.
    pub hash: String,
}

impl Document {
    fn new(bytes: impl Into<Bytes>) -> Document {
        let bytes = bytes.into();
        let hash = Sha512::digest(&bytes).iter().map(|b| format!("{b:02X}")).collect();
        Document { bytes, hash }
    }

    fn json(value: &Value) -> Document {
        Document::new(value.to_string())
    }
}

/// What one catalog snapshot publishes.
#[derive(Debug)]
pub struct Documents {
    shared: Arc<Shared>,
    catalog: Arc<Catalog>,
    groups: Vec<Group>,
    /// `/api` and `/apis`, each in v2 and v2beta1.
    aggregated: [OnceLock<Document>; 4],
    openapi_v3: OnceLock<BTreeMap<String, Document>>,
    openapi_v2: OnceLock<Document>,
    openapi_v2_protobuf: OnceLock<Document>,
}

impl Documents {
    fn new(catalog: Arc<Catalog>, shared: Arc<Shared>) -> Documents {
        let groups = published::of(&catalog);
        Documents {
            shared,
            catalog,
            groups,
            aggregated: Default::default(),
            openapi_v3: OnceLock::new(),
            openapi_v2: OnceLock::new(),
            openapi_v2_protobuf: OnceLock::new(),
        }
    }

    /// The snapshot.
    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    /// What is published.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// Aggregated discovery.
    pub fn aggregated(&self, core: bool, beta: bool) -> &Document {
        let [api, apis, api_beta, apis_beta] = &self.aggregated;
        let slot = match (core, beta) {
            (true, false) => api,
            (false, false) => apis,
            (true, true) => api_beta,
            (false, true) => apis_beta,
        };
        let version = if beta { "v2beta1" } else { "v2" };
        slot.get_or_init(|| Document::json(&discovery::aggregated(&self.groups, core, version)))
    }

    /// OpenAPI v3 by path: `apis/apps/v1`.
    pub fn openapi_v3(&self) -> &BTreeMap<String, Document> {
        self.openapi_v3.get_or_init(|| {
            let all = self.groups.iter().flat_map(|g| g.versions.iter().map(move |v| (g, v)));
            all.map(|(group, version)| {
                let root = if group.name.is_empty() { "api" } else { "apis" };
                let path = format!("{root}/{}", discovery::group_version(group, version));
                let document = self.shared.get(&path, group, version);
                (path, document)
            })
            .collect()
        })
    }

    /// OpenAPI v2 as JSON.
    pub fn openapi_v2(&self) -> &Document {
        self.openapi_v2.get_or_init(|| Document::json(&openapi::v2(&self.groups)))
    }

    /// OpenAPI v2 as protobuf.
    pub fn openapi_v2_protobuf(&self) -> &Document {
        self.openapi_v2_protobuf.get_or_init(|| Document::new(openapi::v2_protobuf::encode(&openapi::v2(&self.groups))))
    }
}

/// Most versions whose documents are shared: Kubernetes' own are about 30.
const MAX_SHARED: usize = 256;

/// The OpenAPI v3 documents of versions, kept while what they tell of is the same: Kubernetes' own kinds are the same in
/// every workspace and after every reload, and take most of the time.
#[derive(Debug, Default)]
struct Shared(Mutex<HashMap<String, (Version, Document)>>);

impl Shared {
    fn get(&self, path: &str, group: &Group, version: &Version) -> Document {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, document)) = lock().get(path)
            && known.is_same(version)
        {
            return document.clone();
        }
        // Built without the lock: others are not kept waiting, and at worst two build the same.
        let document = Document::json(&openapi::v3(group, version));
        let mut all = lock();
        if all.len() >= MAX_SHARED {
            all.clear();
        }
        all.insert(path.to_owned(), (version.clone(), document.clone()));
        document
    }
}

/// The newest documents of each workspace.
#[derive(Debug, Default)]
pub struct Cache {
    newest: Mutex<HashMap<Arc<str>, Arc<Documents>>>,
    shared: Arc<Shared>,
}

impl Cache {
    /// The documents of what a workspace serves now. `alive` tells which workspaces are still there, when one is added.
    pub fn of(&self, workspace: &Workspace, alive: impl Fn(&str) -> bool) -> Arc<Documents> {
        let catalog = workspace.catalog();
        let mut all = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(documents) = all.get(workspace.path())
            && Arc::ptr_eq(&documents.catalog, &catalog)
        {
            return Arc::clone(documents);
        }
        all.retain(|path, _| alive(path));
        let documents = Arc::new(Documents::new(catalog, Arc::clone(&self.shared)));
        all.insert(Arc::clone(workspace.path()), Arc::clone(&documents));
        documents
    }
}
