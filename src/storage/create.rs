//! A create: the body is admitted, the plan is evaluated with what it asks for, the answer is made.
//!
//! Absent: how bytes travel (server), what admission means (strategy), what
//! expressions mean (engine), codes (failure). Nothing of an answer is kept.
mod calls;
mod evaluate;
mod moment;
mod reads;
mod request;
mod resolve;

use std::{
    sync::{Arc, LazyLock},
    time::Duration,
};

use cel::{
    Value,
    value::{Key, MapBuilder},
};
use tokio::time::Instant;

use self::resolve::{Resolved, resolve};
pub use self::{
    moment::{Entropy, Moment},
    resolve::{CacheUse, SourceTime, Timing},
};
use super::{
    answers::Answers,
    authorizer::Attributes,
    catalog::{Catalog, EphemeralKind, EphemeralVersion},
    computing::{LITTLE_COST, LITTLE_OBJECT, Places},
    failure::{self, About},
    fair::{Fair, OverloadedError},
    metadata::Creation,
    strategy::{self, Admitted, Expected, FieldValidation, Refusal, Sent},
    throttle::{self, Counted, Throttles},
    workspace::Workspace,
};
use crate::{
    api::{Status, UserInfo},
    engine::{evaluation::Inputs, outcome::Answer},
};

/// The longest that a create may take: kube-apiserver's default for requests.
pub const MAX_DEADLINE: Duration = Duration::from_secs(34);

/// Made once: every request has them.
static CREATE: LazyLock<Arc<str>> = LazyLock::new(|| "create".into());
static STATUS: LazyLock<Arc<str>> = LazyLock::new(|| "status".into());

/// What all creates of a process share. The default has nothing, for one create at a time: nothing is kept, nothing refused.
#[derive(Debug, Default)]
pub struct Shared {
    /// Answers that are reused.
    pub answers: Option<Answers>,
    /// Allowances of those who create.
    pub throttles: Option<Throttles>,
    /// Seats of those at work.
    pub seats: Option<Fair>,
    /// Places of those that compute for longer.
    pub computing: Option<Places>,
    /// What steps of an evaluation may take before others get their turn: long against what it takes to give it. Zero: each
    /// step is a turn.
    pub turn: Duration,
}

impl Shared {
    /// Does work of a user of a workspace that may take long, at a place for it.
    ///
    /// # Errors
    /// [`OverloadedError`]: the deadline passed before there was one.
    pub async fn apart<T>(
        &self,
        workspace: &str,
        user: &str,
        deadline: Instant,
        work: impl FnOnce() -> T,
    ) -> Result<T, OverloadedError> {
        match &self.computing {
            Some(places) => places.apart(workspace, user, deadline, work).await,
            None => Ok(work()),
        }
    }
}

/// What is created, and where. One request uses one catalog.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// The consumer's workspace.
    pub workspace: &'a Workspace,
    /// Its catalog, from which kind and version are.
    pub catalog: &'a Catalog,
    /// The kind.
    pub kind: &'a EphemeralKind,
    /// The version.
    pub version: &'a EphemeralVersion,
}

/// A request to create one object.
#[derive(Clone, Debug)]
pub struct CreateRequest<'a> {
    /// The namespace of the path; empty for cluster-scoped kinds.
    pub namespace: &'a str,
    /// The body.
    pub body: &'a [u8],
    /// Its `Content-Type`.
    pub content_type: Option<&'a str>,
    /// `fieldValidation`
    pub field_validation: FieldValidation,
    /// `dryRun=All`
    pub dry_run: bool,
    /// Who asks.
    pub user: &'a UserInfo,
    /// When, and what randomness it gets.
    pub moment: Moment,
    /// How long it may take, if less than the version's own limit: `timeout`.
    pub timeout: Option<Duration>,
}

/// The answer of a create.
#[derive(Clone, Debug)]
pub struct Created {
    /// The whole object.
    pub object: Value,
    /// For the `Warning` header.
    pub warnings: Vec<String>,
    /// For the `Server-Timing` header.
    pub timing: Timing,
}

/// Whether a user may create objects of the target's kind in a namespace. The server asks before it reads the body.
///
/// # Errors
/// 403, as kube-apiserver words it.
pub async fn authorize(target: &Target<'_>, user: &UserInfo, namespace: &str) -> Result<(), Status> {
    let attributes = Attributes {
        verb: CREATE.clone(),
        group: target.kind.group.clone(),
        version: target.version.name.clone(),
        resource: target.kind.names.plural.clone(),
        namespace: if target.kind.namespaced { namespace.into() } else { Arc::default() },
        ..Attributes::default()
    };
    match target.workspace.authorizer().decide(user, &attributes).await.allowed {
        true => Ok(()),
        false => Err(reads::forbidden(&attributes, &reads::forbidden_message(user, &attributes))),
    }
}

/// Answers a create. Whoever calls has asked [`authorize`].
///
/// # Errors
/// The Status that says whose fault it is.
pub async fn create(shared: &Shared, target: Target<'_>, request: &CreateRequest<'_>) -> Result<Created, Status> {
    let begun = Instant::now();
    let deadline = begun + allotted(&target, request);
    let Target { workspace, kind, version, .. } = target;
    let counted = Counted {
        workspace: workspace.path(),
        schema: kind.schema,
        group: &kind.group,
        version: &version.name,
        plural: &kind.names.plural,
        user: request.user,
    };
    if let Some(throttles) = &shared.throttles {
        throttles.count(version.limits.rate.as_ref(), &counted)?;
    }
    let _seat = match &shared.seats {
        Some(fair) => {
            let flow = fair.flow(workspace.path(), &request.user.username);
            Some(fair.seat(flow, deadline).await.map_err(|_| throttle::overloaded(&counted))?)
        }
        None => None,
    };
    let queued = begun.elapsed();
    let admitted = admit(shared, &target, request, deadline).await?;
    let inputs =
        Inputs { object: Value::Map(admitted.object.clone()), request: request::value(&target, request, &admitted) };
    let resolved = resolve(shared, &target, request, inputs, deadline).await?;
    let Resolved { outcome, refusals, observed, cache, sources } = resolved;
    let answer = outcome.result.map_err(|failure| {
        let name = admitted.name();
        let about = About { group: &kind.group, kind: &kind.names.kind, plural: &kind.names.plural, name: &name };
        refusals.status(&failure).unwrap_or_else(|| {
            failure::failed(&about, &failure, &|resource| reads::plural(target.catalog, resource).to_string())
        })
    })?;
    let observed = Moment { time: observed, ..request.moment };
    Ok(answered(&target, request, admitted, answer, observed, Timing { cache, queued, sources }))
}

/// Admits the object: here, where it is small and others of its kind were quick lately; apart, where they were not or its rules
/// are not.
async fn admit(
    shared: &Shared,
    target: &Target<'_>,
    request: &CreateRequest<'_>,
    deadline: Instant,
) -> Result<Admitted, Status> {
    let Target { workspace, kind, version, .. } = target;
    let expected = Expected {
        group: &kind.group,
        version: &version.name,
        kind: &kind.names.kind,
        namespaced: kind.namespaced,
        schema: version.plan.schema(),
        rules: version.plan.rules(),
    };
    let sent = Sent {
        body: request.body,
        content_type: request.content_type,
        namespace: request.namespace,
        field_validation: request.field_validation,
        random: request.moment.entropy.suffix(),
    };
    let refused = |refusal: Refusal| failure::refused(&refusal);
    let pace = &version.admission;
    let timed = |allowed: u64| {
        let begun = Instant::now();
        let admitted = strategy::admit(&expected, &sent, allowed);
        // What its rules cost is not told; they may cost as much as ever.
        pace.took(begun.elapsed(), LITTLE_COST);
        admitted
    };
    if request.body.len() <= LITTLE_OBJECT
        && let Some(allowed) = pace.allowed()
    {
        match timed(allowed) {
            Err(Refusal::Unfinished) => pace.overran(),
            admitted => return admitted.map_err(refused),
        }
    }
    let whole = || timed(u64::MAX);
    let admitted = shared.apart(workspace.path(), &request.user.username, deadline, whole).await;
    admitted.map_err(|_| failure::timed_out(std::iter::empty()))?.map_err(refused)
}

/// The smallest of what the server, the author and the client allow.
fn allotted(target: &Target<'_>, request: &CreateRequest<'_>) -> Duration {
    MAX_DEADLINE.min(target.version.limits.timeout).min(request.timeout.unwrap_or(MAX_DEADLINE))
}

/// The object as it was admitted, with what the server adds and the status.
fn answered(
    target: &Target<'_>,
    request: &CreateRequest<'_>,
    admitted: Admitted,
    answer: Answer,
    observed: Moment,
    timing: Timing,
) -> Created {
    let creation = Creation { timestamp: request.moment.timestamp(), observed_at: observed.precise_timestamp() };
    let mut object = MapBuilder::with_capacity(admitted.object.len() + 1);
    let metadata = admitted.metadata.to_map(Some(&creation));
    for (key, value) in admitted.object.iter() {
        let value = match key {
            Key::String(name) if &**name == "metadata" => metadata.clone().into(),
            _ => value.clone(),
        };
        object.push(key.clone(), value);
    }
    if let Some(status) = answer.status {
        object.insert(STATUS.clone(), status);
    }
    let mut warnings = admitted.warnings;
    warnings.extend(target.version.deprecation.iter().map(ToString::to_string));
    Created { object: object.build().into(), warnings, timing }
}

#[cfg(test)]
mod tests;
