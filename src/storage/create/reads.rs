//! Answers what an evaluation asks of the workspace's objects. Whether the consumer may read is decided before the read, so
//! that existence does not leak.
//!
//! Absent: when it is asked (create), how objects are kept (objects).
use std::sync::Arc;

use super::Target;
use crate::{
    api::{ErrorCode, Status, StatusDetails, UserInfo},
    engine::{
        definition::ReadAs,
        kinds::Kinds as _,
        need::{Need, NeedId, Question, Resource, SourceFailure, Supply},
        outcome::Failure,
    },
    storage::{
        authorizer::{Attributes, refusal},
        catalog::Catalog,
        objects::GroupVersionKind,
        selector::{FieldSelector, LabelSelector},
    },
};

/// What was found, or what the consumer may not read.
pub(super) enum Answer {
    Supply(Supply),
    Refused(Attributes, String),
}

/// The refused reads of one evaluation, for the details of its Status.
#[derive(Debug, Default)]
pub(super) struct Refusals(Vec<(Attributes, String)>);

impl Refusals {
    /// The answer as the evaluation wants it.
    pub(super) fn note(&mut self, answer: Answer) -> Supply {
        match answer {
            Answer::Supply(supply) => supply,
            Answer::Refused(attributes, message) => {
                self.0.push((attributes, message.clone()));
                Supply::Failed(SourceFailure::Forbidden(message))
            }
        }
    }

    /// The 403 of a failure that one of these refusals is.
    pub(super) fn status(&self, failure: &Failure) -> Option<Status> {
        let Failure::Forbidden { message, .. } = failure else { return None };
        let (attributes, _) = self.0.iter().find(|(_, refused)| refused == message)?;
        Some(forbidden(attributes, message))
    }
}

/// 403 about what may not be done, as kube-apiserver words it.
pub(super) fn forbidden(attributes: &Attributes, message: &str) -> Status {
    Status::new(ErrorCode::FORBIDDEN, "Forbidden", message).with_details(StatusDetails {
        name: attributes.name.to_string(),
        group: attributes.group.to_string(),
        kind: attributes.resource.to_string(),
        ..StatusDetails::default()
    })
}

/// `buckets.s3.acme.example "photos" is forbidden: User "sam" cannot get ...`
pub(super) fn forbidden_message(user: &UserInfo, attributes: &Attributes) -> String {
    let qualified = match attributes.group.is_empty() {
        true => attributes.resource.to_string(),
        false => format!("{}.{}", attributes.resource, attributes.group),
    };
    let name = if attributes.name.is_empty() { String::new() } else { format!(" \"{}\"", attributes.name) };
    format!("{qualified}{name} is forbidden: {}", refusal(user, attributes))
}

/// Answers one need.
pub(super) async fn answer(target: &Target<'_>, user: &UserInfo, id: NeedId, need: Need) -> (NeedId, Answer) {
    let answer = match &need {
        Need::Get { resource, namespace, name, read_as } => {
            let read = Read::new(target, "get", resource, namespace, name);
            match read.refused(target, user, *read_as).await {
                Some(refused) => refused,
                None => Answer::Supply(read.get(target)),
            }
        }
        Need::List { resource, namespace, selector, read_as } => {
            let read = Read::new(target, "list", resource, namespace, &Arc::from(""));
            match read.refused(target, user, *read_as).await {
                Some(refused) => refused,
                None => Answer::Supply(read.list(target, &LabelSelector::from(selector))),
            }
        }
        Need::Decide(question) => Answer::Supply(decide(target, user, question).await),
        // No plan has calls while no policy allows any.
        Need::Call(_) => Answer::Supply(Supply::Failed(SourceFailure::Failed("no EgressPolicy allows it".to_owned()))),
    };
    (id, answer)
}

/// Answers a question of `authorizer`, for the requesting user or a service account.
async fn decide(target: &Target<'_>, user: &UserInfo, question: &Question) -> Supply {
    let account;
    let user = match question.user.is_empty() {
        true => user,
        false => {
            account = UserInfo::service_account(&question.user);
            &account
        }
    };
    let known = target.catalog.resource(&question.group, &question.resource);
    let attributes = Attributes {
        verb: question.verb.clone(),
        group: question.group.clone(),
        version: known.and_then(|kind| kind.versions.first()).map_or_else(|| "*".into(), |v| v.name.clone()),
        resource: question.resource.clone(),
        subresource: question.subresource.clone(),
        namespace: question.namespace.clone(),
        name: question.name.clone(),
        path: question.path.clone(),
    };
    let decision = target.workspace.authorizer().decide(user, &attributes).await;
    Supply::Decision { allowed: decision.allowed, reason: decision.reason, error: String::new() }
}

/// A read of objects of one kind.
struct Read {
    kind: GroupVersionKind,
    attributes: Attributes,
}

impl Read {
    fn new(target: &Target<'_>, verb: &str, resource: &Resource, namespace: &Arc<str>, name: &Arc<str>) -> Read {
        let kind = GroupVersionKind::of(&resource.api_version, &resource.kind);
        let known = target.catalog.kind(&resource.api_version, &resource.kind);
        let namespaced = known.is_none_or(|known| known.namespaced);
        let attributes = Attributes {
            verb: verb.into(),
            group: kind.group.clone(),
            version: kind.version.clone(),
            resource: plural(target.catalog, resource),
            namespace: if namespaced { namespace.clone() } else { "".into() },
            name: name.clone(),
            ..Attributes::default()
        };
        Read { kind, attributes }
    }

    /// A provider's reads are bounded by what the consumer granted; a directory's workspaces grant everything.
    async fn refused(&self, target: &Target<'_>, user: &UserInfo, read_as: ReadAs) -> Option<Answer> {
        match read_as {
            ReadAs::Provider => None,
            ReadAs::Consumer => {
                let decision = target.workspace.authorizer().decide(user, &self.attributes).await;
                (!decision.allowed)
                    .then(|| Answer::Refused(self.attributes.clone(), forbidden_message(user, &self.attributes)))
            }
        }
    }

    fn get(&self, target: &Target<'_>) -> Supply {
        let Attributes { namespace, name, .. } = &self.attributes;
        match target.workspace.objects().get(&self.kind, namespace, name) {
            Some(object) => Supply::Object(object.typed().clone()),
            None => Supply::Missing,
        }
    }

    fn list(&self, target: &Target<'_>, labels: &LabelSelector) -> Supply {
        let namespace = &*self.attributes.namespace;
        let namespace = (!namespace.is_empty()).then_some(namespace);
        let listing = target.workspace.objects().list(&self.kind, namespace, labels, &FieldSelector::everything());
        Supply::Objects(listing.typed())
    }
}

/// The plural of a kind; guessed as Kubernetes' `UnsafeGuessKindToResource` does where nobody knows it.
pub(super) fn plural(catalog: &Catalog, resource: &Resource) -> Arc<str> {
    let group = resource.api_version.split_once('/').map_or("", |(group, _)| group);
    if let Some(plural) = catalog.plural(group, &resource.kind) {
        return plural.clone();
    }
    let singular = resource.kind.to_lowercase();
    match singular.strip_suffix('y') {
        _ if singular.ends_with('s') => format!("{singular}es").into(),
        Some(stem) => format!("{stem}ies").into(),
        None => format!("{singular}s").into(),
    }
}
