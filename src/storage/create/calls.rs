//! Answers what an evaluation asks of HTTP services, through egress.
//!
//! Absent: what may be called (egress), what of an answer is taken (engine).
use std::{sync::Arc, time::Duration};

use tokio::time::Instant;

use super::Target;
use crate::{
    engine::{
        definition::{self, NextPage},
        need::{self, SourceFailure, Supply},
    },
    storage::{
        directory::policies::method,
        egress::{
            Asker, CacheUse, Call, EgressError, Fault, Format,
            memory::Held,
            pages::{Count, FieldPath, Next, Pagination},
        },
    },
};

const A_YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// What a call gave.
pub(super) struct Called {
    pub(super) supply: Supply,
    /// Until when it may be used again.
    pub(super) until: Instant,
    /// Its memory.
    pub(super) held: Held,
    /// Where it came from; `None` where nothing came.
    pub(super) cache: Option<CacheUse>,
}

/// Makes a call.
pub(super) async fn answer(target: &Target<'_>, call: &need::Call, deadline: Instant) -> Called {
    let schema: Arc<str> = format!("{}.{}", target.kind.names.plural, target.kind.group).into();
    let call = Call {
        policy: call.policy.clone(),
        asker: Asker { schema, workspace: Arc::clone(target.workspace.path()) },
        method: method(&call.method),
        url: call.url.to_string(),
        headers: call.headers.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect(),
        body: call.body.as_ref().map(|body| (body.to_string().into(), "application/json".to_owned())),
        format: match call.format {
            definition::Format::Json => Format::Json,
            definition::Format::JsonLines => Format::JsonLines,
            definition::Format::Text => Format::Text,
        },
        pagination: call.pagination.as_ref().map(pagination),
        ttl: call.ttl_seconds.map(|seconds| Duration::from_secs(u64::from(seconds))),
        // Whether an absent value is fine is for the evaluation to say.
        optional: true,
    };
    match target.catalog.egress().call(&call, deadline).await {
        Ok(reply) => {
            // No answer is kept for longer, and instants end.
            let until = Instant::now() + reply.freshness.fresh_for.min(A_YEAR);
            let supply = reply.value.map_or(Supply::Missing, Supply::Body);
            Called { supply, until, held: reply.held, cache: Some(reply.cache) }
        }
        Err(error) => Called {
            supply: Supply::Failed(failure(&error)),
            until: Instant::now(),
            held: Held::default(),
            cache: None,
        },
    }
}

/// Paths were read when the schema was, so that none is wrong here.
fn pagination(pagination: &definition::Pagination) -> Pagination {
    let path = |text: &Arc<str>| FieldPath::parse(text).unwrap_or_default();
    Pagination {
        next: match &pagination.next {
            NextPage::Link => Next::Link,
            NextPage::Url(at) => Next::Url { path: path(at) },
            NextPage::Cursor { path: at, parameter } => {
                Next::Cursor { path: path(at), parameter: Arc::clone(parameter) }
            }
            NextPage::Offset { parameter, pages, first, page_size } => Next::Offset {
                parameter: Arc::clone(parameter),
                count: if *pages { Count::Pages } else { Count::Items },
                first: u64::from(*first),
                page_size: *page_size,
            },
        },
        items: path(&pagination.items),
        max_pages: pagination.max_pages,
    }
}

/// Whose fault it is. The text of an [`EgressError`] holds nothing that a caller may not read.
fn failure(error: &EgressError) -> SourceFailure {
    match error.fault() {
        Fault::Author => SourceFailure::Unfit(error.to_string()),
        Fault::Administrator | Fault::Backend => SourceFailure::Failed(error.to_string()),
        Fault::Load => SourceFailure::Busy {
            message: error.to_string(),
            retry_after_seconds: error.retry_after().map(|after| after.as_secs() + u64::from(after.subsec_nanos() > 0)),
        },
        Fault::Deadline => SourceFailure::Timeout,
    }
}
