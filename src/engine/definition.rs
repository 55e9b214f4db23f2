//! The engine's own form of one EphemeralSchema version; `storage` lowers the wire type into it.
//!
//! Field paths of diagnostics are relative to the version (`projection.sources[0].id`): the shape here mirrors the wire's.
//! Absent: what any of it means (plan).
use std::sync::Arc;

use cel::Value;

/// One version of one kind.
#[derive(Clone, Debug)]
pub struct Definition {
    /// `storage.acme.example`
    pub group: Arc<str>,
    /// `v1`
    pub version: Arc<str>,
    /// `BucketInfo`
    pub kind: Arc<str>,
    /// Whether objects live in namespaces.
    pub namespaced: bool,
    /// The author's schema.
    pub schema: SchemaForm,
    /// Named inputs.
    pub sources: Vec<Source>,
    /// Named expressions.
    pub variables: Vec<Variable>,
    /// What must hold.
    pub validations: Vec<Validation>,
    /// The template of `status`: maps, lists and scalars whose strings may hold `${...}`.
    pub status: Option<Value>,
}

/// The two forms of a schema.
#[derive(Clone, Debug)]
pub enum SchemaForm {
    /// kro's SimpleSchema, at `schema.simple`.
    Simple(Value),
    /// A Kubernetes structural schema, at `schema.openAPIV3Schema`.
    OpenApi(Value),
    /// There is none that could be read, which is reported: nothing is known of the object, and there will be no plan.
    Wrong,
}

/// A named input.
#[derive(Clone, Debug)]
pub struct Source {
    /// Its name in expressions.
    pub id: Arc<str>,
    /// Conditions, each a lone `${...}`; all must hold.
    pub include_when: Vec<Arc<str>>,
    /// Dimensions of a cartesian product: variable and a lone `${...}` giving a list.
    pub for_each: Vec<(Arc<str>, Arc<str>)>,
    /// What it reads.
    pub read: Read,
    /// Something of what decides its type is wrong, which is reported: its expressions are checked, its type fits everywhere,
    /// and there will be no plan.
    pub uncertain: bool,
}

/// What a source reads.
#[derive(Clone, Debug)]
pub enum Read {
    /// Objects of the workspace.
    ExternalRef(ExternalRef),
    /// An HTTP service.
    Http(Http),
    /// What could not be read, which is reported: there will be no plan.
    Wrong,
}

/// A call of an HTTP service.
#[derive(Clone, Debug)]
pub struct Http {
    /// The policy that allows it and holds its credentials.
    pub egress_policy: Arc<str>,
    /// `GET`
    pub method: Arc<str>,
    /// Template whose scheme, host and port are literals; without a query.
    pub url: Arc<str>,
    /// Parameters and templates of their values.
    pub query: Vec<(Arc<str>, Arc<str>)>,
    /// Header fields and templates of their values.
    pub headers: Vec<(Arc<str>, Arc<str>)>,
    /// Template of the JSON body.
    pub body: Option<Value>,
    /// What the service answers with.
    pub format: Format,
    /// What of the answer is taken.
    pub select: Option<Select>,
    /// OpenAPI schema of what is taken; without it the value is `dyn`.
    pub schema: Option<Value>,
    /// How further pages are found; without it there is one.
    pub pagination: Option<Pagination>,
    /// 404 is an absent value, not an error.
    pub optional: bool,
    /// Seconds for which an answer may be reused.
    pub ttl_seconds: Option<u32>,
}

/// How further pages of an answer are found. Their items are one list, of which is taken.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pagination {
    /// Where the next page is.
    pub next: NextPage,
    /// Members that lead to the items of a page: `data.items`; empty: the page is the list.
    pub items: Arc<str>,
    /// Pages that are read at most; more are an error.
    pub max_pages: u32,
}

/// Where the next page is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum NextPage {
    /// At the `Link` header field.
    Link,
    /// At the URL to which these members of the body lead.
    Url(Arc<str>),
    /// Where the cursor leads, to which the members `path` of the body lead.
    Cursor {
        /// `metadata.continue`
        path: Arc<str>,
        /// `continue`
        parameter: Arc<str>,
    },
    /// Behind the items so far, or at the next number.
    Offset {
        /// `page`
        parameter: Arc<str>,
        /// It counts pages, not items.
        pages: bool,
        /// What the first page counts as.
        first: u32,
        /// Items of a whole page.
        page_size: Option<u32>,
    },
}

/// The format of an HTTP body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Format {
    /// One JSON value.
    #[default]
    Json,
    /// A JSON value a line: a list.
    JsonLines,
    /// A string.
    Text,
}

/// JSONPath (RFC 9535) of what is taken of a body.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Select {
    /// `select`: exactly one node.
    One(Arc<str>),
    /// `selectAll`: a list of all nodes.
    All(Arc<str>),
}

/// A reference to objects of the workspace.
#[derive(Clone, Debug)]
pub struct ExternalRef {
    /// `v1`, `apps/v1`
    pub api_version: Arc<str>,
    /// `ConfigMap`
    pub kind: Arc<str>,
    /// Template of the name; exactly one of name and selector.
    pub name: Option<Arc<str>>,
    /// Template of the namespace.
    pub namespace: Option<Arc<str>>,
    /// `matchLabels` and `matchExpressions` with templates in their values.
    pub selector: Option<Value>,
    /// A missing object is an absent value, not an error.
    pub optional: bool,
    /// Whose rights it is read with.
    pub read_as: ReadAs,
}

/// Whose rights a source is read with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ReadAs {
    /// The requesting user's.
    #[default]
    Consumer,
    /// The provider's.
    Provider,
}

/// A named expression.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name below `variables.`.
    pub name: Arc<str>,
    /// Its CEL, without `${}`.
    pub expression: Arc<str>,
}

/// What must hold, or the request is refused.
#[derive(Clone, Debug)]
pub struct Validation {
    /// CEL giving a bool.
    pub expression: Arc<str>,
    /// What to say.
    pub message: Option<Arc<str>>,
    /// CEL giving what to say.
    pub message_expression: Option<Arc<str>>,
    /// `FieldValueInvalid` (the default), `FieldValueForbidden`, `FieldValueRequired`, `FieldValueDuplicate`.
    pub reason: Option<Arc<str>>,
    /// `.spec.since`
    pub field_path: Option<Arc<str>>,
}
