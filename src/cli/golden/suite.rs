//! A suite: what its cases stand on.
//!
//! Absent: one case (case), the files' form (settings).
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use super::{
    GoldenError, directories, file_name,
    fixtures::{self, Fixtures, Used},
    settings,
};
use crate::{
    cli::local::text,
    storage::{
        directory::{Directory, Outside},
        egress::stand_in::StandIn,
        manifest::{self, Color},
        workspace::Workspaces,
    },
};

/// Workspaces, or the diagnostics of what they stand on.
pub(super) type Loaded = Result<World, String>;

/// What a case stands on.
#[derive(Clone, Debug)]
pub(super) struct World {
    /// Schemas and objects.
    pub(super) workspaces: Arc<Workspaces>,
    /// What answers calls.
    pub(super) fixtures: Arc<Fixtures>,
}

/// A suite of cases.
#[derive(Debug)]
pub(super) struct Suite {
    path: PathBuf,
    /// Files and directories, each over those before it.
    layers: Vec<PathBuf>,
    /// `apiVersion` and `kind` of the schemas that the suite names.
    kinds: Vec<(String, String)>,
    /// What the cases without a workspace of their own stand on; loaded once, never changed.
    shared: Mutex<Option<Loaded>>,
    /// Which of its fixtures answered some case.
    used: Mutex<BTreeSet<usize>>,
}

/// Whether a directory is a suite.
pub(super) fn is_suite(path: &Path) -> bool {
    path.join("suite.yaml").is_file() || path.join("schema.yaml").is_file()
}

impl Suite {
    /// Reads what a suite stands on.
    pub(super) fn read(path: &Path) -> Result<Suite, GoldenError> {
        let file = settings::suite(&path.join("suite.yaml"))?;
        let mut schemas = file.schemas;
        let own = path.join("schema.yaml");
        if own.is_file() {
            schemas.push(own);
        }
        let mut layers: Vec<PathBuf> = file.dir.into_iter().chain(file.workspace).collect();
        let workspace = path.join("workspace");
        if workspace.is_dir() {
            layers.push(workspace);
        }
        layers.extend(schemas.iter().cloned());
        let mut kinds = Vec::new();
        for schema in &schemas {
            kinds.extend(kinds_of(schema)?);
        }
        Ok(Suite { path: path.into(), layers, kinds, shared: Mutex::default(), used: Mutex::default() })
    }

    /// The name of its directory.
    pub(super) fn name(&self) -> String {
        file_name(&self.path)
    }

    /// The directories of its cases, by name.
    pub(super) fn cases(&self) -> Result<Vec<PathBuf>, GoldenError> {
        // One whose input is forgotten is a case too: it fails.
        let files = ["input.yaml", "input.json", "expected.yaml", "case.yaml"];
        let is_case = |path: &PathBuf| files.iter().any(|file| path.join(file).is_file());
        Ok(directories(&self.path)?.into_iter().filter(is_case).collect())
    }

    /// What a case stands on. Those that call have caches and counts of calls of their own.
    pub(super) fn world(&self, case: &Path, records: bool) -> Result<Loaded, GoldenError> {
        let own = case.join("workspace");
        if own.is_dir() || fixtures::are_in(case) || fixtures::are_in(&self.path) || records {
            let layers: Vec<PathBuf> = self.layers.iter().cloned().chain(own.is_dir().then_some(own)).collect();
            return load(&layers, Fixtures::read(&self.path, case, records)?);
        }
        self.shared()
    }

    /// What every case sees.
    pub(super) fn shared(&self) -> Result<Loaded, GoldenError> {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        match &*shared {
            Some(loaded) => Ok(loaded.clone()),
            None => {
                let loaded = load(&self.layers, Fixtures::default())?;
                *shared = Some(loaded.clone());
                Ok(loaded)
            }
        }
    }

    /// Notes what became of the fixtures of a case.
    pub(super) fn note(&self, used: &Used) {
        self.used.lock().unwrap_or_else(PoisonError::into_inner).extend(&used.shared);
    }

    /// The fixtures that no case used.
    pub(super) fn unused(&self) -> Result<Vec<String>, GoldenError> {
        fixtures::unused(&self.path, &self.used.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Where a body of this kind is sent: there, if the suite is not about one kind, else to that.
    pub(super) fn target(&self, api_version: &str, kind: &str) -> (String, String) {
        let own = self.kinds.iter().find(|(version, name)| version == api_version && name == kind);
        match own.or(self.kinds.first()) {
            Some((version, name)) => (version.clone(), name.clone()),
            None => (api_version.into(), kind.into()),
        }
    }
}

fn load(layers: &[PathBuf], fixtures: Fixtures) -> Result<Loaded, GoldenError> {
    let fixtures = Arc::new(fixtures);
    let stand_in = Some(Arc::clone(&fixtures) as Arc<dyn StandIn>);
    let (directory, report) = Directory::with(layers, Outside { stand_in, ..Outside::default() })
        .map_err(|error| GoldenError::Broken(crate::cli::chain(&error)))?;
    if report.has_errors() {
        return Ok(Err(report.render(Color::Never)));
    }
    Ok(Ok(World { workspaces: Arc::clone(directory.workspaces()), fixtures }))
}

/// `apiVersion` and `kind` of the served versions of the EphemeralSchemas in a file.
fn kinds_of(path: &Path) -> Result<Vec<(String, String)>, GoldenError> {
    use cel::Value;
    let source = std::fs::read_to_string(path).map_err(GoldenError::file(path))?;
    let mut kinds = Vec::new();
    for document in manifest::parse(&path.display().to_string(), source).documents {
        let schema = &document.value;
        if text(schema, &["kind"]) != "EphemeralSchema" {
            continue;
        }
        let field = |value: &Value, name: &str| match value {
            Value::Map(map) => map.get(name).cloned(),
            _ => None,
        };
        let versions = field(schema, "spec").and_then(|spec| field(&spec, "versions"));
        let Some(Value::List(versions)) = versions else { continue };
        let (group, kind) = (text(schema, &["spec", "group"]), text(schema, &["spec", "names", "kind"]));
        for version in versions.as_slice() {
            if matches!(field(version, "served"), None | Some(Value::Bool(true))) {
                kinds.push((format!("{group}/{}", text(version, &["name"])), kind.to_owned()));
            }
        }
    }
    Ok(kinds)
}
