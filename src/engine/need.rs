//! What an evaluation asks for, and what it is handed.
//!
//! Absent: how it is answered (storage), when it asks (evaluation).
use std::sync::Arc;

use cel::Value;

use crate::engine::definition::{Format, Pagination, ReadAs};

/// Identifies a [`Need`] within one evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NeedId(pub u32);

/// Something that the evaluation cannot know by itself.
#[derive(Clone, Debug, PartialEq)]
pub enum Need {
    /// One object.
    Get {
        /// Which kind.
        resource: Resource,
        /// Its namespace; empty for cluster-scoped kinds.
        namespace: Arc<str>,
        /// Its name.
        name: Arc<str>,
        /// With whose rights.
        read_as: ReadAs,
    },
    /// The objects that a selector selects.
    List {
        /// Which kind.
        resource: Resource,
        /// The namespace; empty for all or for cluster-scoped kinds.
        namespace: Arc<str>,
        /// The labels they must have.
        selector: Selector,
        /// With whose rights.
        read_as: ReadAs,
    },
    /// The answer of an HTTP service.
    Call(Box<Call>),
    /// Whether something may be done.
    Decide(Box<Question>),
}

/// What an expression asks `authorizer`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Question {
    /// Whose rights: a service account's `system:serviceaccount:ns:name`; empty for the requesting user.
    pub user: Arc<str>,
    /// `get`
    pub verb: Arc<str>,
    /// A URL path that is no resource; then the fields below are empty.
    pub path: Option<Arc<str>>,
    /// `apps`
    pub group: Arc<str>,
    /// `deployments`
    pub resource: Arc<str>,
    /// `status`
    pub subresource: Arc<str>,
    /// Empty for all and for cluster-scoped resources.
    pub namespace: Arc<str>,
    /// Empty for collections.
    pub name: Arc<str>,
    /// Fields that the objects must have.
    pub field_selector: Arc<str>,
    /// Labels that the objects must have.
    pub label_selector: Arc<str>,
}

/// One HTTP call, all templates evaluated, every value encoded for its place.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Call {
    /// The policy that must allow it and holds its credentials.
    pub policy: Arc<str>,
    /// `GET`
    pub method: Arc<str>,
    /// `https://host/path?query`
    pub url: Arc<str>,
    /// Names in lower case; values without control characters.
    pub headers: Vec<(Arc<str>, Arc<str>)>,
    /// JSON.
    pub body: Option<Arc<str>>,
    /// What is wanted.
    pub format: Format,
    /// How further pages are found.
    pub pagination: Option<Pagination>,
    /// Seconds for which an answer may be reused.
    pub ttl_seconds: Option<u32>,
}

/// The kind of objects that a source names. Its plural is known where the kind is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Resource {
    /// `v1`, `apps/v1`
    pub api_version: Arc<str>,
    /// `Deployment`
    pub kind: Arc<str>,
}

/// A label selector after its templates are evaluated; all requirements must hold. Empty selects everything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Selector(pub Vec<Requirement>);

/// One requirement of a [`Selector`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Requirement {
    /// The label.
    pub key: Arc<str>,
    /// The relation.
    pub operator: Operator,
    /// The values; empty for `Exists` and `DoesNotExist`, one for equality.
    pub values: Vec<Arc<str>>,
}

/// The relations of label selectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operator {
    /// One of the values.
    In,
    /// None of the values, or absent.
    NotIn,
    /// Present.
    Exists,
    /// Absent.
    DoesNotExist,
}

/// The answer to a [`Need`].
#[derive(Clone, Debug)]
pub enum Supply {
    /// The object, in its final form.
    Object(Value),
    /// There is no such object (or its kind is not there); the service answered 404.
    Missing,
    /// The objects.
    Objects(cel::value::List),
    /// The body of an HTTP answer.
    Body(Value),
    /// What was decided.
    Decision {
        /// Whether it may be done.
        allowed: bool,
        /// Why; may be empty.
        reason: String,
        /// What went wrong while deciding; may be empty.
        error: String,
    },
    /// It could not be answered.
    Failed(SourceFailure),
}

/// Why a source gave nothing.
#[derive(Clone, Debug, PartialEq)]
pub enum SourceFailure {
    /// The caller may not read it: `pods is forbidden: User "jane" cannot list resource ...`.
    Forbidden(String),
    /// What the templates gave is not what is ever asked for; the text is for the caller.
    Unfit(String),
    /// It answered wrongly or not at all; the text is for the caller, without addresses, bodies, headers, credentials.
    Failed(String),
    /// There is too much to do: a policy's or a backend's limit. The text is for the caller.
    Busy {
        /// Which limit.
        message: String,
        /// Seconds until it may be tried again, where that is known.
        retry_after_seconds: Option<u64>,
    },
    /// The deadline passed.
    Timeout,
}
