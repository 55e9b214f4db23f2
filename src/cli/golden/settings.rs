//! `case.yaml` and `suite.yaml`: strictly read, mistakes shown where they stand.
//!
//! Absent: what is done with them (case, suite).
use std::path::{Path, PathBuf};

use cel::{
    Value,
    value::{Key, Map},
};

use super::GoldenError;
use crate::{
    api::{UserInfo, user::AUTHENTICATED},
    engine::diagnostic::{Diagnostic, FieldPath, Place},
    storage::{
        manifest::{self, Color, Document},
        strategy::FieldValidation,
        workspace::ROOT,
    },
};

/// The time of all golden tests whose case names none.
pub const TIME: &str = "2026-01-01T00:00:00Z";

/// `case.yaml`
#[derive(Clone, Debug)]
pub(super) struct Case {
    /// `user` and `groups`; an administrator where there is none.
    pub(super) user: UserInfo,
    /// `time`
    pub(super) time: jiff::Timestamp,
    /// `dryRun`
    pub(super) dry_run: bool,
    /// `workspace`
    pub(super) workspace: String,
    /// `namespace`: of the path; the object's own, or `default`.
    pub(super) namespace: Option<String>,
    /// `fieldValidation`: as kubectl, Strict unless it says otherwise.
    pub(super) field_validation: FieldValidation,
    /// `contentType`: of the input; by its ending unless it says otherwise.
    pub(super) content_type: Option<String>,
}

/// `suite.yaml`. Paths are relative to it.
#[derive(Clone, Debug, Default)]
pub(super) struct SuiteFile {
    /// `dir`: a directory as `celandine serve` takes it.
    pub(super) dir: Option<PathBuf>,
    /// `schema`: one or several files.
    pub(super) schemas: Vec<PathBuf>,
    /// `workspace`: files and directories of objects.
    pub(super) workspace: Vec<PathBuf>,
}

/// Reads `case.yaml`, if it is there.
pub(super) fn case(path: &Path) -> Result<Case, GoldenError> {
    let mut case = Case {
        user: UserInfo::admin(),
        time: jiff::Timestamp::UNIX_EPOCH,
        dry_run: false,
        workspace: ROOT.into(),
        namespace: None,
        field_validation: FieldValidation::Strict,
        content_type: None,
    };
    let mut time = TIME.to_owned();
    if let Some(fields) = Fields::read(path)? {
        fields.only(&[
            "user",
            "groups",
            "time",
            "dryRun",
            "workspace",
            "namespace",
            "fieldValidation",
            "contentType",
        ])?;
        if let Some(user) = fields.text("user")? {
            let groups = fields.texts("groups")?.into_iter().chain([AUTHENTICATED.to_owned()]).collect();
            case.user = UserInfo { username: user, groups, ..UserInfo::default() };
        } else if fields.has("groups") {
            return Err(fields.wrong("groups", "`groups` needs a `user`"));
        }
        time = fields.text("time")?.unwrap_or(time);
        case.dry_run = fields.flag("dryRun")?;
        case.workspace = fields.text("workspace")?.unwrap_or(case.workspace);
        case.namespace = fields.text("namespace")?;
        case.content_type = fields.text("contentType")?;
        if let Some(word) = fields.text("fieldValidation")? {
            case.field_validation =
                word.parse().map_err(|error| fields.wrong("fieldValidation", &format!("{error}")))?;
        }
        case.time = time.parse().map_err(|_| fields.wrong("time", "not a time: expected RFC 3339"))?;
        return Ok(case);
    }
    case.time = time.parse().map_err(|_| GoldenError::Broken(format!("not a time: {time}")))?;
    Ok(case)
}

/// Reads `suite.yaml`, if it is there.
pub(super) fn suite(path: &Path) -> Result<SuiteFile, GoldenError> {
    let Some(fields) = Fields::read(path)? else { return Ok(SuiteFile::default()) };
    fields.only(&["dir", "schema", "workspace"])?;
    let base = path.parent().unwrap_or(Path::new(""));
    let paths = |name| Ok(fields.texts(name)?.iter().map(|path| base.join(path)).collect());
    Ok(SuiteFile {
        dir: fields.text("dir")?.map(|dir| base.join(dir)),
        schemas: paths("schema")?,
        workspace: paths("workspace")?,
    })
}

/// The fields of a file, read one by one.
struct Fields {
    document: Document,
    map: Map,
}

impl Fields {
    fn read(path: &Path) -> Result<Option<Fields>, GoldenError> {
        if !path.exists() {
            return Ok(None);
        }
        let text = std::fs::read_to_string(path).map_err(GoldenError::file(path))?;
        let manifest = manifest::parse(&path.display().to_string(), text);
        if let Some(error) = manifest.errors.first() {
            return Err(GoldenError::Broken(manifest::render_error(error, &manifest, Color::Never)));
        }
        match manifest.documents.as_slice() {
            [] => Ok(None),
            [document] => match &document.value {
                Value::Map(map) => Ok(Some(Fields { document: document.clone(), map: map.clone() })),
                Value::Null => Ok(None),
                _ => Err(GoldenError::Broken(format!("{}: expected fields", path.display()))),
            },
            _ => Err(GoldenError::Broken(format!("{}: expected one document", path.display()))),
        }
    }

    fn only(&self, known: &[&str]) -> Result<(), GoldenError> {
        for (key, _) in self.map.iter() {
            let Key::String(name) = key else { continue };
            if !known.contains(&&**name) {
                let near = known.iter().min_by_key(|known| strsim::damerau_levenshtein(known, name));
                let near = near.filter(|near| strsim::damerau_levenshtein(near, name) <= 3);
                let help = match near {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("there are {}", known.join(", ")),
                };
                let path = FieldPath::root().field(name);
                let diagnostic = Diagnostic::error(path, format!("unknown field `{name}`")).at(Place::Key).help(help);
                return Err(self.broken(diagnostic));
            }
        }
        Ok(())
    }

    fn has(&self, name: &str) -> bool {
        self.map.get(name).is_some()
    }

    fn text(&self, name: &str) -> Result<Option<String>, GoldenError> {
        match self.map.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.to_string())),
            Some(_) => Err(self.wrong(name, "expected a string")),
        }
    }

    /// A string or a list of strings.
    fn texts(&self, name: &str) -> Result<Vec<String>, GoldenError> {
        let Some(Value::List(items)) = self.map.get(name) else { return Ok(self.text(name)?.into_iter().collect()) };
        let text = |item: &Value| match item {
            Value::String(text) => Ok(text.to_string()),
            _ => Err(self.wrong(name, "expected strings")),
        };
        items.as_slice().iter().map(text).collect()
    }

    fn flag(&self, name: &str) -> Result<bool, GoldenError> {
        match self.map.get(name) {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => Err(self.wrong(name, "expected true or false")),
        }
    }

    fn wrong(&self, name: &str, message: &str) -> GoldenError {
        self.broken(Diagnostic::error(FieldPath::root().field(name), message))
    }

    fn broken(&self, diagnostic: Diagnostic) -> GoldenError {
        GoldenError::Broken(manifest::render(&[diagnostic], &self.document, Color::Never))
    }
}
