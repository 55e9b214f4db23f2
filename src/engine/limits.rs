//! Every bound of the engine, each with its reason.

/// Run-time cost of all expressions of one request: Kubernetes' `RuntimeCELCostBudget` for one custom resource.
pub const COST_PER_REQUEST: u64 = 10_000_000;

/// Elements that estimates take a list of workspace objects to have. Nothing declares a maximum, and without one every
/// expression over such a list would be said to cost too much. As many as may be made distinct and sorted within one
/// expression's budget, with room for the rest of it: both are priced at twice the square, 4.1 * 400 * 400 = 656,000. With more,
/// whatever sorts objects would be warned about; the run-time budget stops what a larger list makes too dear.
pub const ESTIMATED_OBJECTS: u64 = 400;

/// Work of all expressions of one request that the cost does not price: what four expressions may do. Variables keep what they
/// made until the request is answered, so that this bounds its memory too.
pub const WORK_PER_REQUEST: u64 = 4 * cel::limits::WORK_PER_EXPRESSION;

/// Bytes of all texts that templates of one request put together: as much as an answer may have.
pub const MAX_TEXT_BYTES: usize = 8 * 1024 * 1024;

/// Bytes of a failure's message; expressions and functions put what they were given into theirs.
pub const MAX_FAILURE_BYTES: usize = 2 * 1024;

/// Bytes of a value that a failure shows: names that are told to be too long.
pub const MAX_SHOWN_BYTES: usize = 64;

/// Bytes of an evaluated message expression: Kubernetes' `MaxEvaluatedMessageExpressionSizeBytes` (5 KiB).
pub const MAX_MESSAGE_BYTES: usize = 5 * 1024;

/// Sources of a projection. Each is at least one read, so that this bounds what one create can ask for.
pub const MAX_SOURCES: usize = 64;

/// Variables of a projection: as many as sources. The checker's work grows with them.
pub const MAX_VARIABLES: usize = 64;

/// Validations of a projection.
pub const MAX_VALIDATIONS: usize = 64;

/// Reads of one source: the size of `forEach`'s product.
pub const MAX_FOR_EACH_ITEMS: usize = 1_000;

/// HTTP calls of one request: as many as one source may make.
pub const MAX_CALLS: usize = 1_000;

/// Fields and elements of the `status` template.
pub const MAX_TEMPLATE_NODES: usize = 10_000;

/// Levels of the `status` template: Kubernetes' structural schemas stop at a similar depth, and so does JSON decoding.
pub const MAX_TEMPLATE_DEPTH: usize = 64;

/// Bytes of a URL, and of the value of a header field: servers need not accept longer URLs (RFC 9110, section 4.1), and mostly
/// refuse longer fields.
pub const MAX_URL_BYTES: usize = 8192;

/// Bytes of a call's body: what comes of one request's inputs, as large as Kubernetes' request bodies.
pub const MAX_CALL_BODY_BYTES: usize = 3 * 1024 * 1024;

/// Questions to the authorizer of one request: as many as forEach has items, and as a list of objects that is worth asking
/// about one by one.
pub const MAX_DECISIONS: usize = 1_000;

/// Run-time cost of one check. Kubernetes charges 350,000, because there each is a call of its own; here all of an
/// expression's are gathered and answered at once, so that 1,000 of them fit one expression's budget.
pub const COST_PER_DECISION: u64 = 350;
