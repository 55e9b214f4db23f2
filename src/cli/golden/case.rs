//! One case: asked, rendered, compared.
//!
//! Absent: where suites and cases are (golden, suite), who asks (settings).
use std::path::{Path, PathBuf};

use cel::Value;

use super::{
    GoldenError, Options, Verdict, diff,
    fixtures::Used,
    record, settings,
    suite::{Suite, World},
};
use crate::{
    cli::local::{self, Ask, AskError, text},
    storage::{
        create::{Created, Entropy, Moment},
        decode, encode,
    },
};

/// Runs a case.
pub(super) async fn run(suite: &Suite, case: &Path, options: Options) -> Result<Verdict, GoldenError> {
    let (actual, used) = match answer(suite, case, options.record).await? {
        Ok(answered) => answered,
        Err(problem) => return Ok(Verdict::Failed(problem)),
    };
    suite.note(&used);
    let mut problems = used.problems;
    if options.record {
        problems.extend(record::write(case, used.recorded)?);
    }
    if !problems.is_empty() {
        return Ok(Verdict::Failed(problems.join("\n")));
    }
    let path = case.join("expected.yaml");
    let expected =
        if path.exists() { Some(std::fs::read_to_string(&path).map_err(GoldenError::file(&path))?) } else { None };
    Ok(match expected {
        Some(expected) if same(&expected, &actual) => Verdict::Passed,
        _ if options.update => {
            std::fs::write(&path, actual).map_err(GoldenError::file(&path))?;
            Verdict::Updated
        }
        Some(expected) => Verdict::Failed(diff::unified(&expected, &actual, options.colour)),
        None => Verdict::Failed(format!(
            "there is no expected.yaml; `celandine test --update {}` makes it of this answer:\n{actual}",
            case.display()
        )),
    })
}

/// The answer as text, and what became of the fixtures; or what is wrong with the case or what it stands on.
async fn answer(suite: &Suite, case: &Path, records: bool) -> Result<Result<(String, Used), String>, GoldenError> {
    let settings = settings::case(&case.join("case.yaml"))?;
    let (input, content_type) = input(case)?;
    let body = std::fs::read(&input).map_err(GoldenError::file(&input))?;
    let World { workspaces, fixtures } = match suite.world(case, records)? {
        Ok(world) => world,
        Err(diagnostics) => return Ok(Err(diagnostics)),
    };
    let content_type = settings.content_type.as_deref().unwrap_or(content_type);
    // A body that cannot be read, or is of another kind, goes where the suite's schema is.
    let object = decode::format(Some(content_type)).and_then(|format| decode::object(format, &body, "")).ok();
    let object = object.map_or(Value::Null, |decoded| decoded.value);
    let (api_version, kind) = suite.target(text(&object, &["apiVersion"]), text(&object, &["kind"]));
    let own = text(&object, &["metadata", "namespace"]);
    let namespace = match &settings.namespace {
        Some(namespace) => namespace,
        None if own.is_empty() => "default",
        None => own,
    };
    let ask = Ask {
        workspace: &settings.workspace,
        namespace,
        api_version: &api_version,
        kind: &kind,
        body: &body,
        content_type,
        field_validation: settings.field_validation,
        dry_run: settings.dry_run,
        user: &settings.user,
        moment: Moment { time: settings.time, entropy: Entropy::default() },
    };
    let rendered = match local::ask(&workspaces, &ask).await {
        Ok(created) => rendered(&created),
        Err(AskError::Status(status)) => encode::yaml(&*status),
        Err(other) => return Ok(Err(other.to_string())),
    };
    let text = rendered.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    Ok(text.map(|text| (text, fixtures.take())).map_err(|error| error.to_string()))
}

/// `input.yaml` or `input.json`.
fn input(case: &Path) -> Result<(PathBuf, &'static str), GoldenError> {
    let yaml = case.join("input.yaml");
    let json = case.join("input.json");
    match (yaml.exists(), json.exists()) {
        (true, false) => Ok((yaml, "application/yaml")),
        (false, true) => Ok((json, "application/json")),
        _ => Err(GoldenError::Broken(format!("{}: a case has an input.yaml or an input.json", case.display()))),
    }
}

/// The object, then a document with its warnings if there are any.
fn rendered(created: &Created) -> Result<Vec<u8>, encode::EncodeError> {
    let mut bytes = encode::yaml(&created.object)?;
    if !created.warnings.is_empty() {
        bytes.extend(b"---\n");
        bytes.extend(encode::yaml(&std::collections::BTreeMap::from([("warnings", &created.warnings)]))?);
    }
    Ok(bytes)
}

/// Equal in text, or in what the text says: comments and layout are the author's.
fn same(expected: &str, actual: &str) -> bool {
    let values = |text: &str| -> Option<Vec<Value>> {
        let manifest = crate::storage::manifest::parse("", text);
        manifest.errors.is_empty().then(|| manifest.documents.into_iter().map(|document| document.value).collect())
    };
    expected == actual || matches!((values(expected), values(actual)), (Some(a), Some(b)) if a == b)
}
