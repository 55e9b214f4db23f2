//! One request against workspaces in this process: what the server does with a POST, without HTTP.
//!
//! Absent: where workspaces come from (load), how answers are shown (create, golden).
use cel::Value;

use crate::{
    api::{Status, UserInfo},
    storage::{
        create::{self, CreateRequest, Created, Moment, Shared, Target},
        strategy::FieldValidation,
        workspace::Workspaces,
    },
};

/// What is asked.
#[derive(Clone, Debug)]
pub(crate) struct Ask<'a> {
    /// The path of the workspace.
    pub(crate) workspace: &'a str,
    /// The namespace; of no meaning for cluster-scoped kinds.
    pub(crate) namespace: &'a str,
    /// The object's `apiVersion`.
    pub(crate) api_version: &'a str,
    /// The object's `kind`.
    pub(crate) kind: &'a str,
    /// The object.
    pub(crate) body: &'a [u8],
    /// How it is written.
    pub(crate) content_type: &'a str,
    /// `fieldValidation`
    pub(crate) field_validation: FieldValidation,
    /// `dryRun=All`
    pub(crate) dry_run: bool,
    /// Who asks.
    pub(crate) user: &'a UserInfo,
    /// When, and with what randomness.
    pub(crate) moment: Moment,
}

/// Why nothing was answered.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AskError {
    /// There is no such workspace.
    #[error("there is no workspace `{0}`; there are {1}")]
    Workspace(String, String),
    /// The workspace serves no such kind.
    #[error("no matches for kind {kind:?} in version {api_version:?}{hint}")]
    Kind {
        /// The version.
        api_version: String,
        /// The kind.
        kind: String,
        /// What there is instead.
        hint: String,
    },
    /// The server's answer is a failure.
    #[error("{}", .0.message)]
    Status(Box<Status>),
}

/// Asks. The create is authorized first, as the server does it.
pub(crate) async fn ask(workspaces: &Workspaces, ask: &Ask<'_>) -> Result<Created, AskError> {
    let workspace = workspaces.get(ask.workspace).ok_or_else(|| {
        let paths: Vec<String> = workspaces.paths().iter().map(|path| format!("`{path}`")).collect();
        AskError::Workspace(ask.workspace.into(), paths.join(", "))
    })?;
    let catalog = workspace.catalog();
    let (group, version) = ask.api_version.split_once('/').unwrap_or(("", ask.api_version));
    let found = catalog
        .plural(group, ask.kind)
        .and_then(|plural| catalog.ephemeral_version(group, version, plural))
        .ok_or_else(|| AskError::Kind {
            api_version: ask.api_version.into(),
            kind: ask.kind.into(),
            hint: hint(&catalog, group, ask.kind),
        })?;
    let (kind, version) = found;
    let target = Target { workspace: &workspace, catalog: &catalog, kind, version };
    let request = CreateRequest {
        namespace: if kind.namespaced { ask.namespace } else { "" },
        body: ask.body,
        content_type: Some(ask.content_type),
        field_validation: ask.field_validation,
        dry_run: ask.dry_run,
        user: ask.user,
        moment: ask.moment,
        timeout: None,
    };
    let fail = |status| AskError::Status(Box::new(status));
    create::authorize(&target, ask.user, request.namespace).await.map_err(fail)?;
    create::create(&Shared::default(), target, &request).await.map_err(fail)
}

/// What a typing mistake may have meant.
fn hint(catalog: &crate::storage::catalog::Catalog, group: &str, kind: &str) -> String {
    if catalog.plural(group, kind).is_some_and(|plural| catalog.resource(group, plural).is_some()) {
        return ": its objects are stored, and only ephemeral kinds are created here".into();
    }
    let mut offers: Vec<String> = Vec::new();
    for ephemeral in catalog.ephemeral() {
        let near = strsim::damerau_levenshtein(&ephemeral.names.kind, kind) <= 2;
        if near || *ephemeral.names.kind == *kind {
            let versions = ephemeral.versions.iter().map(|version| format!("{}/{}", ephemeral.group, version.name));
            offers.extend(versions.map(|version| format!("{} in {version}", ephemeral.names.kind)));
        }
    }
    match offers.is_empty() {
        true => String::new(),
        false => format!("; did you mean {}?", offers.join(" or ")),
    }
}

/// A string field of an object: `["metadata", "namespace"]`; empty where there is none.
pub(crate) fn text<'a>(object: &'a Value, path: &[&str]) -> &'a str {
    let found = path.iter().try_fold(object, |value, name| match value {
        Value::Map(map) => map.get(name),
        _ => None,
    });
    match found {
        Some(Value::String(text)) => text,
        _ => "",
    }
}
