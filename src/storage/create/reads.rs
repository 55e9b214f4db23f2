//! Answers what an evaluation asks of the workspace's objects. Whether the consumer may read is decided before the read, so
//! that existence does not leak.
//!
//! Absent: when it is asked (create), how objects are kept (objects).
use std::sync::{Arc, LazyLock};

use tokio::time::Instant;

use super::{
    Target,
    calls::{self, Called},
};
use crate::{
    api::{ErrorCode, Status, StatusDetails, UserInfo},
    engine::{
        definition::ReadAs,
        need::{Need, NeedId, Question, Resource, SourceFailure, Supply},
        outcome::Failure,
        schema::field_error::quote,
    },
    storage::{
        answers::{Basis, Decided, Read, What},
        authorizer::{Attributes, Decision, refusal},
        catalog::Catalog,
        egress::memory::Held,
        objects::{GroupVersionKind, Object, ObjectKey, Selection},
        selector::{FieldSelector, LabelSelector},
    },
};

/// What was found, or what the consumer may not read.
pub(super) enum Answer {
    /// Objects of the workspace.
    Objects(Supply, Read),
    /// Something from elsewhere.
    Elsewhere(Called),
    /// What the authorizer said.
    Decided(Decided),
    /// The consumer may not read it.
    Refused(Attributes, String),
}

/// What there is to know of the answers that one evaluation got.
#[derive(Debug, Default)]
pub(super) struct Refusals {
    /// The refused reads, for the details of its Status.
    refused: Vec<(Attributes, String)>,
    /// The memory of what came from elsewhere, held as long as the evaluation.
    held: Vec<Held>,
}

impl Refusals {
    /// The answer as the evaluation wants it.
    pub(super) fn note(&mut self, answer: Answer, basis: &mut Basis) -> Supply {
        match answer {
            Answer::Objects(supply, read) => {
                basis.read(read);
                supply
            }
            Answer::Elsewhere(Called { supply, until, held, .. }) => {
                basis.fresh_until(until);
                self.held.push(held);
                supply
            }
            Answer::Decided(decided) => {
                let Decision { allowed, reason } = decided.decision.clone();
                basis.decided(decided);
                Supply::Decision { allowed, reason: reason.to_string(), error: String::new() }
            }
            Answer::Refused(attributes, message) => {
                basis.once();
                self.refused.push((attributes, message.clone()));
                Supply::Failed(SourceFailure::Forbidden(message))
            }
        }
    }

    /// The 403 of a failure that one of these refusals is.
    pub(super) fn status(&self, failure: &Failure) -> Option<Status> {
        let Failure::Forbidden { message, .. } = failure else { return None };
        let (attributes, _) = self.refused.iter().find(|(_, refused)| refused == message)?;
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
    let name = if attributes.name.is_empty() { String::new() } else { format!(" {}", quote(&attributes.name)) };
    format!("{qualified}{name} is forbidden: {}", refusal(user, attributes))
}

/// Answers one need.
pub(super) async fn answer(
    target: &Target<'_>,
    user: &UserInfo,
    deadline: Instant,
    id: NeedId,
    need: Need,
) -> (NeedId, Answer) {
    let answer = match &need {
        Need::Get { resource, namespace, name, read_as } => {
            let reading = Reading::new(target, &GET, resource, namespace, name);
            match reading.refused(target, user, *read_as).await {
                Some(refused) => refused,
                None => reading.get(target, *read_as),
            }
        }
        Need::List { resource, namespace, selector, read_as } => {
            let reading = Reading::new(target, &LIST, resource, namespace, &Arc::default());
            match reading.refused(target, user, *read_as).await {
                Some(refused) => refused,
                None => reading.list(target, LabelSelector::from(selector), *read_as),
            }
        }
        Need::Decide(question) => decide(target, user, question).await,
        Need::Call(call) => Answer::Elsewhere(calls::answer(target, call, deadline).await),
    };
    (id, answer)
}

/// Answers a question of `authorizer`, for the requesting user or a service account.
async fn decide(target: &Target<'_>, user: &UserInfo, question: &Question) -> Answer {
    let account = (!question.user.is_empty()).then(|| UserInfo::service_account(&question.user));
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
    let decision = target.workspace.authorizer().decide(account.as_ref().unwrap_or(user), &attributes).await;
    Answer::Decided(Decided { account, attributes, decision })
}

static GET: LazyLock<Arc<str>> = LazyLock::new(|| "get".into());
static LIST: LazyLock<Arc<str>> = LazyLock::new(|| "list".into());

/// A read of objects of one kind.
struct Reading {
    kind: GroupVersionKind,
    attributes: Attributes,
}

impl Reading {
    fn new(
        target: &Target<'_>,
        verb: &Arc<str>,
        resource: &Resource,
        namespace: &Arc<str>,
        name: &Arc<str>,
    ) -> Reading {
        let known = target.catalog.stored(&resource.api_version, &resource.kind);
        let (kind, plural) = match known {
            Some((stored, Some(version))) => {
                let (group, version) = (stored.group.clone(), version.name.clone());
                (GroupVersionKind { group, version, kind: resource.kind.clone() }, stored.names.plural.clone())
            }
            _ => (GroupVersionKind::of(&resource.api_version, &resource.kind), plural(target.catalog, resource)),
        };
        // What is not served in this version may be anything.
        let namespaced = known.is_none_or(|(stored, version)| version.is_none() || stored.namespaced);
        let attributes = Attributes {
            verb: verb.clone(),
            group: kind.group.clone(),
            version: kind.version.clone(),
            resource: plural,
            namespace: if namespaced { namespace.clone() } else { Arc::default() },
            name: name.clone(),
            ..Attributes::default()
        };
        Reading { kind, attributes }
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

    /// Whether what was found holds credentials of an egress policy, which are nobody's to read here.
    fn guarded(&self, target: &Target<'_>, object: &Object) -> bool {
        self.is_secret() && target.catalog.egress().guards(target.workspace.path(), object.namespace(), object.name())
    }

    fn is_secret(&self) -> bool {
        (&*self.kind.group, &*self.kind.kind) == ("", "Secret")
    }

    fn credentials(self) -> Answer {
        let message = "secrets is forbidden: the credentials of egress policies cannot be read by expressions";
        Answer::Refused(self.attributes, message.to_owned())
    }

    fn get(self, target: &Target<'_>, read_as: ReadAs) -> Answer {
        let Attributes { namespace, name, .. } = &self.attributes;
        let found = target.workspace.objects().get(&self.kind, namespace, name);
        if found.as_ref().is_some_and(|object| self.guarded(target, object)) {
            return self.credentials();
        }
        let what = What::object(self.key(), found.as_deref());
        let supply = found.map_or(Supply::Missing, |object| Supply::Object(object.typed().clone()));
        Answer::Objects(supply, self.read(what, read_as))
    }

    fn list(self, target: &Target<'_>, labels: LabelSelector, read_as: ReadAs) -> Answer {
        let namespace = &*self.attributes.namespace;
        let namespace = (!namespace.is_empty()).then_some(namespace);
        let objects = target.workspace.objects();
        let (found, collection) = if self.is_secret() {
            let listing = objects.list(&self.kind, namespace, &labels, &FieldSelector::everything());
            if listing.items.iter().any(|object| self.guarded(target, object)) {
                return self.credentials();
            }
            (Selection::from_iter(&listing.items), listing.collection_revision)
        } else {
            objects.select(&self.kind, namespace, &labels)
        };
        let what = What::list(self.key(), labels, found.revisions, collection);
        Answer::Objects(Supply::Objects(found.typed), self.read(what, read_as))
    }

    fn key(&self) -> ObjectKey {
        let Attributes { namespace, name, .. } = &self.attributes;
        ObjectKey { kind: self.kind.clone(), namespace: namespace.clone(), name: name.clone() }
    }

    fn read(self, what: What, read_as: ReadAs) -> Read {
        Read { what, consumer: (read_as == ReadAs::Consumer).then_some(self.attributes) }
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
