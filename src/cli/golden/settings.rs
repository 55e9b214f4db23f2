//! `case.yaml` and `suite.yaml`.
//!
//! Absent: what is done with them (case, suite).
use std::path::{Path, PathBuf};

use super::{GoldenError, fields::Fields};
use crate::{
    api::{UserInfo, user::AUTHENTICATED},
    storage::{strategy::FieldValidation, workspace::ROOT},
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
