//! POST of an ephemeral kind: options, the namespace, the answer's form.
//!
//! Absent: what a create answers (storage).
use std::{
    fmt::Write as _,
    sync::{Arc, LazyLock},
};

use cel::Value;
use http::{HeaderValue, Response, StatusCode, header};
use serde_json::json;

use crate::{
    api::Status,
    engine::{
        diagnostic::FieldPath,
        names,
        schema::{FieldError, field_error},
    },
    server::{
        body::Body,
        negotiate::{self, Form, Media},
        object,
        reply::{self, Answer, Failure, Millis, SERVER_TIMING},
        request_info::ResourcePath,
        routes::{Place, SERVED},
        service::Context,
        status,
        table::{self, Column, Include},
    },
    storage::{
        catalog::EphemeralVersion,
        computing::LITTLE_BYTES,
        create::{self, CacheUse, CreateRequest, Created, Moment, SourceTime, Target, Timing},
        egress, encode,
        objects::GroupVersionKind,
        strategy::FieldValidation,
    },
};

/// Kubernetes' bound on `fieldManager`.
const MAX_FIELD_MANAGER: usize = 128;

/// Answers a create.
pub(super) async fn create(
    context: &Context<'_>,
    place: &Place,
    path: &ResourcePath<'_>,
    version: &Arc<EphemeralVersion>,
    body: &[u8],
) -> Answer {
    let wanted =
        negotiate::objects(context.accept().as_deref()).ok_or_else(|| Box::new(status::not_acceptable(SERVED)))?;
    if matches!(negotiate::content_type(context.header(header::CONTENT_TYPE)), Media::Protobuf | Media::Unknown) {
        return Err(Box::new(status::unsupported_media_type(SERVED)));
    }
    let options = options(context)?;
    namespace(place, &path.namespace)?;
    let catalog = place.catalog();
    let kind =
        catalog.ephemeral_kind(&path.group, &path.resource).ok_or_else(|| Box::new(status::no_such_resource()))?;
    let target = Target { workspace: &place.workspace, catalog, kind, version };
    let request = CreateRequest {
        namespace: &path.namespace,
        body,
        content_type: context.header(header::CONTENT_TYPE),
        field_validation: options.field_validation,
        dry_run: options.dry_run,
        user: &context.user,
        moment: Moment::now(),
        timeout: Some(context.deadline),
    };
    let Created { object, warnings, timing } = create::create(&context.server.creates, target, &request).await?;
    let mut response = match small(context, wanted, &object) {
        Some(response) => response,
        None => context.apart(|| respond(context, wanted, version, &object)).await??,
    };
    if let Ok(timing) = HeaderValue::try_from(server_timing(&timing)) {
        response.headers_mut().insert(SERVER_TIMING, timing);
    }
    reply::warn(response.headers_mut(), &warnings);
    Ok(response)
}

/// `cache;desc=miss, queue;dur=0.012, source.bucket;dur=0.031`: W3C Server-Timing. Names of sources are identifiers.
fn server_timing(timing: &Timing) -> String {
    let cache = match timing.cache {
        CacheUse::Hit => "hit",
        CacheUse::Miss => "miss",
        CacheUse::Coalesced => "coalesced",
        CacheUse::Bypass => "bypass",
    };
    let mut text = format!("cache;desc={cache}, queue;dur={}", Millis(timing.queued));
    for SourceTime { source, took, cache } in &timing.sources {
        let cache = match cache {
            None => "",
            Some(egress::CacheUse::Hit) => ";desc=hit",
            Some(egress::CacheUse::StaleOnError) => ";desc=stale",
            Some(egress::CacheUse::Revalidated) => ";desc=revalidated",
            Some(egress::CacheUse::Miss) => ";desc=miss",
        };
        let _ = write!(text, ", source.{source}{cache};dur={}", Millis(*took));
    }
    text
}

/// The object as most clients want it, if it is small: written at once.
fn small(context: &Context<'_>, wanted: negotiate::Wanted, object: &Value) -> Option<Response<Body>> {
    let encoding = context.pretty(wanted.encoding);
    let object = matches!(wanted.form, Form::Object).then_some(object)?;
    let written = encode::within(LITTLE_BYTES, encoding.style(), object).ok()?;
    Some(reply::bytes(StatusCode::CREATED, encoding.media_type(), written))
}

fn respond(context: &Context<'_>, wanted: negotiate::Wanted, version: &EphemeralVersion, object: &Value) -> Answer {
    let encoding = context.pretty(wanted.encoding);
    match wanted.form {
        Form::Object => reply::value(StatusCode::CREATED, encoding, object),
        Form::Metadata(of) => {
            reply::value(StatusCode::CREATED, encoding, &table::partial(&object::metadata(object), of))
        }
        Form::Table(of) => {
            let columns: Vec<_> = if version.columns.is_empty() {
                table::default_columns()
            } else {
                [Column::name()].into_iter().chain(version.columns.iter().filter_map(Column::of)).collect()
            };
            let include = Include::parse(context.query.get("includeObject")).unwrap_or_default();
            let table = table::table(&columns, &[object::answer_tree(object)?], json!({}), include, of, true);
            reply::value(StatusCode::CREATED, encoding, &table)
        }
    }
}

struct Options {
    dry_run: bool,
    field_validation: FieldValidation,
}

/// `CreateOptions`, with all that is wrong in them at once.
fn options(context: &Context<'_>) -> Result<Options, Failure> {
    let query = context.query;
    let mut errors = Vec::new();
    let text = |t: &str| Value::from(status::echo(t));
    let dry_run: Vec<_> = query.all("dryRun").filter(|v| !v.is_empty()).collect();
    if let Some(other) = dry_run.iter().find(|v| **v != "All") {
        errors.push(field_error::not_supported(&FieldPath::root().field("dryRun"), &text(other), &["All"]));
    }
    let manager = query.get("fieldManager").unwrap_or_default();
    let at = || FieldPath::root().field("fieldManager");
    if manager.len() > MAX_FIELD_MANAGER {
        errors.push(field_error::too_long(&at(), MAX_FIELD_MANAGER as u64));
    }
    if manager.contains(|c: char| c.is_control() || (c.is_whitespace() && c != ' ')) {
        errors.push(field_error::invalid(&at(), &text(manager), "should only contain printable characters"));
    }
    let validation = query.get("fieldValidation").unwrap_or_default();
    let field_validation = validation.parse().unwrap_or_else(|_| {
        let path = FieldPath::root().field("fieldValidation");
        errors.push(field_error::not_supported(&path, &text(validation), &["Ignore", "Strict", "Warn"]));
        FieldValidation::default()
    });
    if errors.is_empty() {
        Ok(Options { dry_run: !dry_run.is_empty(), field_validation })
    } else {
        Err(Box::new(invalid_options(&errors)))
    }
}

fn invalid_options(errors: &[FieldError]) -> Status {
    status::invalid("meta.k8s.io", "CreateOptions", "", errors)
}

/// A namespace must be there, as kube-apiserver's admission demands. Workspaces without any Namespace object have all.
fn namespace(place: &Place, name: &str) -> Result<(), Failure> {
    static KIND: LazyLock<GroupVersionKind> = LazyLock::new(|| GroupVersionKind::new("", "v1", "Namespace"));
    // That one is always there.
    if name.is_empty() || name == "default" {
        return Ok(());
    }
    let objects = place.workspace.objects();
    let unknown = objects.revision_of(&KIND) > 0 && objects.get(&KIND, "", name).is_none();
    if unknown || !names::dns1123_label(name).is_empty() {
        return Err(Box::new(status::not_found("", "namespaces", name)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn server_timing_tells_durations_only() {
        let timing = Timing {
            cache: CacheUse::Miss,
            queued: Duration::from_micros(12),
            sources: vec![
                SourceTime { source: "bucket".into(), took: Duration::from_micros(31_250), cache: None },
                SourceTime { source: "usage".into(), took: Duration::ZERO, cache: Some(egress::CacheUse::Hit) },
            ],
        };
        assert_eq!(
            server_timing(&timing),
            "cache;desc=miss, queue;dur=0.012, source.bucket;dur=31.250, source.usage;desc=hit;dur=0.000"
        );
        let timing = Timing { cache: CacheUse::Hit, queued: Duration::ZERO, sources: vec![] };
        assert_eq!(server_timing(&timing), "cache;desc=hit, queue;dur=0.000");
    }
}
