//! What evaluating a plan for one request gave.
//!
//! Absent: HTTP codes (storage decides them in one exhaustive match).
use std::sync::Arc;

use cel::Value;

use crate::engine::{diagnostic::FieldPath, need::Resource, schema::FieldError};

/// The end of an evaluation.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The status, or whose fault it is that there is none.
    pub result: Result<Answer, Failure>,
    /// The run-time cost of all expressions, by Kubernetes' cost model.
    pub cost: u64,
}

/// What a create is answered with.
#[derive(Clone, Debug)]
pub struct Answer {
    /// `status`; `None` when the schema has none.
    pub status: Option<Value>,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// The caller's: validations that do not hold, all of one stage.
    Invalid(Vec<FieldError>),
    /// The caller's: a required object is not there.
    Missing {
        /// The source.
        source: Arc<str>,
        /// Its kind.
        resource: Resource,
        /// Where it was looked for; empty for cluster-scoped kinds.
        namespace: Arc<str>,
        /// Its name.
        name: Arc<str>,
    },
    /// The caller's: the objects may not be read with the rights that they are read with.
    Forbidden {
        /// The source.
        source: Arc<str>,
        /// As kube-apiserver words it.
        message: String,
    },
    /// The author's: an expression failed at run time.
    Expression(ExpressionFailure),
    /// A backend's: it answered wrongly or not at all.
    Source {
        /// The source.
        source: Arc<str>,
        /// For the caller: no address, body, header or credential.
        message: String,
    },
    /// Nobody's: a source has too much to do.
    Busy {
        /// The source.
        source: Arc<str>,
        /// Which limit.
        message: String,
        /// Seconds until it may be tried again, where that is known.
        retry_after_seconds: Option<u64>,
    },
    /// The deadline passed.
    Timeout {
        /// The sources that were still pending.
        pending: Vec<Arc<str>>,
    },
}

/// An expression that failed at run time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpressionFailure {
    /// Its field, relative to the schema's version: `projection.status.phase`.
    pub path: FieldPath,
    /// cel-go's words: `no such key: size`.
    pub message: String,
    /// The failing sub-expression's text, where it is a part of the whole.
    pub at: Option<Arc<str>>,
}
