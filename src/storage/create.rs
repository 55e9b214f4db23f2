//! A create: the body is admitted, the plan is evaluated with what it asks for, the answer is made.
//!
//! Absent: how bytes travel (server), what admission means (strategy), what
//! expressions mean (engine), codes (failure). Nothing of an answer is kept.
mod moment;
mod reads;
mod request;

use std::{sync::Arc, time::Duration};

use cel::{Value, value::MapBuilder};
use futures_util::{FutureExt as _, StreamExt as _, stream::FuturesUnordered};
use tokio::time::{Instant, timeout_at};

pub use moment::{Entropy, Moment};

use super::{
    authorizer::Attributes,
    catalog::{Catalog, EphemeralKind, EphemeralVersion},
    failure::{self, About},
    metadata::Creation,
    strategy::{self, Admitted, Expected, FieldValidation, Sent},
    workspace::Workspace,
};
use crate::{
    api::{Status, StatusCause, UserInfo},
    engine::{
        evaluation::{Inputs, Step},
        outcome::{Answer, Outcome},
        plan::Plan,
    },
};

/// The longest that a create may take: kube-apiserver's default for requests.
pub const MAX_DEADLINE: Duration = Duration::from_secs(34);

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
}

/// Whether a user may create objects of the target's kind in a namespace. The server asks before it reads the body.
///
/// # Errors
/// 403, as kube-apiserver words it.
pub async fn authorize(target: &Target<'_>, user: &UserInfo, namespace: &str) -> Result<(), Status> {
    let attributes = Attributes {
        verb: "create".into(),
        group: target.kind.group.clone(),
        version: target.version.name.clone(),
        resource: target.kind.names.plural.clone(),
        namespace: if target.kind.namespaced { namespace.into() } else { "".into() },
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
pub async fn create(target: Target<'_>, request: &CreateRequest<'_>) -> Result<Created, Status> {
    let deadline = Instant::now() + allotted(&target, request);
    let Target { kind, version, .. } = target;
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
    let admitted = strategy::admit(&expected, &sent).map_err(|refusal| failure::refused(&refusal))?;
    let inputs =
        Inputs { object: Value::Map(admitted.object.clone()), request: request::value(&target, request, &admitted) };
    let (outcome, refused) = evaluate(&target, request.user, &version.plan, inputs, deadline).await?;
    let answer = outcome.result.map_err(|failure| {
        let name = admitted.name();
        let about = About { group: &kind.group, kind: &kind.names.kind, plural: &kind.names.plural, name: &name };
        refused.status(&failure).unwrap_or_else(|| {
            failure::failed(&about, &failure, &|resource| reads::plural(target.catalog, resource).to_string())
        })
    })?;
    Ok(answered(&target, request, admitted, answer))
}

/// The smallest of what the server, the author and the client allow.
fn allotted(target: &Target<'_>, request: &CreateRequest<'_>) -> Duration {
    MAX_DEADLINE.min(target.version.limits.timeout).min(request.timeout.unwrap_or(MAX_DEADLINE))
}

/// Hands the evaluation what it asks for, all at once, until it is done. A step's time is bounded by the cost budgets of its
/// expressions; between steps other requests get their turn.
async fn evaluate(
    target: &Target<'_>,
    user: &UserInfo,
    plan: &Arc<Plan>,
    inputs: Inputs,
    deadline: Instant,
) -> Result<(Outcome, reads::Refusals), Status> {
    let mut evaluation = plan.start(inputs);
    let mut pending = FuturesUnordered::new();
    let mut refusals = reads::Refusals::default();
    loop {
        match evaluation.next() {
            Step::Done(outcome) => return Ok((outcome, refusals)),
            Step::Need(needs) => {
                pending.extend(needs.into_iter().map(|(id, need)| reads::answer(target, user, id, need)))
            }
            Step::Wait => {}
        }
        let Ok(next) = timeout_at(deadline, pending.next()).await else {
            return Ok((evaluation.time_out(), refusals));
        };
        let Some(first) = next else {
            // A defect: it waits for nothing. Said, not hung.
            let cause = StatusCause { message: "the evaluation is stuck".into(), ..StatusCause::default() };
            return Err(failure::internal(cause, "the evaluation is stuck"));
        };
        let mut ready = Some(first);
        while let Some((id, answer)) = ready {
            evaluation.supply(id, refusals.note(answer));
            ready = pending.next().now_or_never().flatten();
        }
        tokio::task::yield_now().await;
    }
}

/// The object as it was admitted, with what the server adds and the status.
fn answered(target: &Target<'_>, request: &CreateRequest<'_>, admitted: Admitted, answer: Answer) -> Created {
    let creation = Creation { timestamp: request.moment.timestamp(), observed_at: request.moment.precise_timestamp() };
    let mut object = MapBuilder::with_capacity(admitted.object.len() + 1);
    for (key, value) in admitted.object.iter() {
        object.insert(key.clone(), value.clone());
    }
    object.insert("metadata", admitted.metadata.to_value(Some(&creation)));
    if let Some(status) = answer.status {
        object.insert("status", status);
    }
    let mut warnings = admitted.warnings;
    warnings.extend(target.version.deprecation.iter().map(ToString::to_string));
    Created { object: object.build().into(), warnings }
}
