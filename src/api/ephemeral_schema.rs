//! EphemeralSchema: the author's declaration of one ephemeral kind. Doc comments are what `kubectl explain` shows.
//!
//! Absent: what it means (engine), names and references checked across fields (storage's lowering).
use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::api::http::free_object;
pub use crate::api::http::{BodyFormat, Http, Method};

/// EphemeralSchemaSpec declares a kind whose objects can only be created, are answered in the create response, and
/// are never stored.
#[derive(CustomResource, Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "celandine.dev",
    version = "v1alpha1",
    kind = "EphemeralSchema",
    plural = "ephemeralschemas",
    singular = "ephemeralschema",
    shortname = "es",
    category = "celandine",
    status = "EphemeralSchemaStatus",
    doc = "EphemeralSchema declares a kind whose objects can only be created, are answered in the create response, and are never stored.",
    printcolumn = r#"{"name":"Kind","type":"string","jsonPath":".spec.names.kind"}"#,
    printcolumn = r#"{"name":"Scope","type":"string","jsonPath":".spec.scope","priority":1}"#,
    printcolumn = r#"{"name":"Served","type":"string","jsonPath":".status.conditions[?(@.type==\"Served\")].status"}"#,
    printcolumn = r#"{"name":"Reason","type":"string","jsonPath":".status.conditions[?(@.type==\"Served\")].reason","priority":1}"#,
    printcolumn = r#"{"name":"Age","type":"date","jsonPath":".metadata.creationTimestamp"}"#
)]
#[serde(rename_all = "camelCase")]
pub struct EphemeralSchemaSpec {
    /// The API group of the kind: `storage.acme.example`. Kubernetes' own groups (`*.k8s.io`, `*.kubernetes.io`) are
    /// refused.
    #[schemars(length(min = 1, max = 253))]
    pub group: String,
    /// Whether objects of the kind are created in a namespace.
    pub scope: Scope,
    /// The names of the kind. The object's own name must be `<plural>.<group>`.
    pub names: Names,
    /// The versions of the kind, each with its own schema and projection.
    #[schemars(length(min = 1, max = 16), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub versions: Vec<Version>,
}

/// Whether objects are created in a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Scope {
    /// In a namespace.
    Namespaced,
    /// In none.
    Cluster,
}

/// The names of the kind, as for a CustomResourceDefinition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Names {
    /// The kind in CamelCase: `BucketInfo`.
    #[schemars(length(min = 1, max = 63))]
    pub kind: String,
    /// The plural in lower case, as in URLs: `bucketinfos`.
    #[schemars(length(min = 1, max = 63))]
    pub plural: String,
    /// The singular in lower case. Defaults to the kind in lower case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub singular: Option<String>,
    /// Short names for kubectl: `bi`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    pub short_names: Vec<String>,
    /// Groups of kinds that this kind belongs to, for kubectl: `all`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    pub categories: Vec<String>,
    /// The kind of lists. Defaults to the kind followed by `List`; named in discovery only, since nothing is listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub list_kind: Option<String>,
}

/// One version of the kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    {"rule": "has(self.projection) != has(self.webhook)", "message": "exactly one of projection and webhook must be set"}
]))]
pub struct Version {
    /// The version: `v1`, `v1alpha1`.
    #[schemars(length(min = 1, max = 63))]
    pub name: String,
    /// Whether this version can be created. Defaults to true.
    #[serde(default = "yes")]
    pub served: bool,
    /// Whether creating this version returns a warning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deprecated: Option<bool>,
    /// The warning of a deprecated version, instead of the default one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 256))]
    pub deprecation_warning: Option<String>,
    /// What objects may hold.
    pub schema: VersionSchema,
    /// Columns that `kubectl create` cannot show but clients that ask for a table get.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub additional_printer_columns: Vec<PrinterColumn>,
    /// How a create is answered: what is read, what must hold, what the status says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub projection: Option<Projection>,
    /// The escape hatch: an HTTP service that is sent an EphemeralReview and answers the status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub webhook: Option<Webhook>,
    /// For how long an answer may be reused for requests with equal inputs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<Cache>,
    /// Bounds on time and rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<Limits>,
}

fn yes() -> bool {
    true
}

/// What objects may hold, in one of two forms.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    {"rule": "has(self.simple) != has(self.openAPIV3Schema)", "message": "exactly one of simple and openAPIV3Schema must be set"}
]))]
pub struct VersionSchema {
    /// A SimpleSchema: fields of `spec` as `type | marker=value ...`, and `types` for reuse.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "free_object")]
    pub simple: Option<serde_json::Value>,
    /// A structural OpenAPI v3 schema, as in a CustomResourceDefinition, x-kubernetes-validations included. The schema
    /// of `status` is inferred from the projection where it is not given.
    #[serde(default, rename = "openAPIV3Schema", skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "free_object")]
    pub open_api_v3_schema: Option<serde_json::Value>,
}

/// A column of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PrinterColumn {
    /// The header.
    #[schemars(length(min = 1))]
    pub name: String,
    /// The OpenAPI type: `string`, `integer`, `number`, `boolean`, `date`.
    #[serde(rename = "type")]
    pub type_: ColumnType,
    /// The value, a simple JSONPath: `.status.phase`.
    #[schemars(length(min = 1))]
    pub json_path: String,
    /// The OpenAPI format: `int64`, `date-time`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// What the column shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Columns above 0 are shown only by `-o wide`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<i32>,
}

/// The type of a column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ColumnType {
    /// A text.
    #[default]
    String,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// True or false.
    Boolean,
    /// A time, shown as an age.
    Date,
}

/// How a create is answered. Expressions are CEL; templates hold expressions as `${...}`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Projection {
    /// Named inputs, read on every create. They may refer to each other; independent ones are read concurrently.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["id"]))]
    pub sources: Vec<Source>,
    /// Named expressions, used as `variables.<name>`. They may use the variables before them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub variables: Vec<Variable>,
    /// What must hold, otherwise the create is refused with every failed validation as a cause.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub validations: Vec<Validation>,
    /// Named HTTP calls that change something: made once, after all validations passed, and not on dry run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["id"]))]
    pub effects: Vec<Effect>,
    /// The template of the answer's `status`. A field whose expression gives an absent optional is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "free_object")]
    pub status: Option<serde_json::Value>,
}

/// A named input: exactly one of `externalRef` and `http`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    {"rule": "has(self.externalRef) != has(self.http)", "message": "exactly one of externalRef and http must be set"}
]))]
pub struct Source {
    /// The name of the input in expressions, a CEL identifier.
    #[schemars(length(min = 1, max = 63))]
    pub id: String,
    /// Conditions, each a lone `${...}` that gives a bool. When one does not hold, the source is absent and not read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    pub include_when: Vec<String>,
    /// Dimensions of a cartesian product, each a map of one variable to a lone `${...}` that gives a list. The source
    /// becomes a list with one element for each combination, at most 1,000.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 8))]
    pub for_each: Vec<BTreeMap<String, String>>,
    /// Objects of the consumer's workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_ref: Option<ExternalRef>,
    /// An HTTP call that an EgressPolicy allows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http: Option<Http>,
}

/// A reference to objects: by `metadata.name` one object, by `selector` a list.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    {"rule": "(has(self.metadata) && has(self.metadata.name)) != has(self.selector)", "message": "exactly one of metadata.name and selector must be set"}
]))]
pub struct ExternalRef {
    /// The apiVersion of the objects: `v1`, `apps/v1`.
    #[schemars(length(min = 1))]
    pub api_version: String,
    /// The kind of the objects: `ConfigMap`.
    #[schemars(length(min = 1))]
    pub kind: String,
    /// Which object, or in which namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<ExternalRefMetadata>,
    /// The labels of the objects; `{}` selects all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selector: Option<Selector>,
    /// A missing object is an absent optional value instead of 404.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub optional: Option<bool>,
    /// With whose rights it is read: those of the requesting user (the default) or of the provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_as: Option<ReadAs>,
}

/// Which object, or in which namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExternalRefMetadata {
    /// Template of the object's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Template of the namespace. Defaults to the namespace of the request; required for namespaced kinds read by a
    /// cluster-scoped kind, where a selector without it reads all namespaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
}

/// A label selector; all requirements must hold.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Selector {
    /// Labels and templates of their values.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub match_labels: BTreeMap<String, String>,
    /// Requirements in the general form.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub match_expressions: Vec<SelectorRequirement>,
}

/// One requirement of a selector.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SelectorRequirement {
    /// The label.
    pub key: String,
    /// The relation of the label to the values.
    pub operator: SelectorOperator,
    /// Templates of the values; empty for Exists and DoesNotExist.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
}

/// The relation of a label to values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum SelectorOperator {
    /// One of the values.
    In,
    /// None of the values, or absent.
    NotIn,
    /// Present.
    Exists,
    /// Absent.
    DoesNotExist,
}

/// With whose rights a source is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ReadAs {
    /// The requesting user's.
    #[default]
    Consumer,
    /// The provider's, bounded by what the consumer granted.
    Provider,
}

/// A named expression.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Variable {
    /// The name below `variables.`, a CEL identifier.
    #[schemars(length(min = 1, max = 63))]
    pub name: String,
    /// CEL, without `${}`.
    #[schemars(length(min = 1))]
    pub expression: String,
}

/// What must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Validation {
    /// CEL that gives a bool, without `${}`. Those that need no source are checked before anything is read.
    #[schemars(length(min = 1))]
    pub expression: String,
    /// What to say when it does not hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 2048))]
    pub message: Option<String>,
    /// CEL that gives what to say when it does not hold; `message` is the fallback.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub message_expression: Option<String>,
    /// The reason of the cause. Defaults to FieldValueInvalid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<ValidationReason>,
    /// The field that is at fault, from the object's root: `.spec.since`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field_path: Option<String>,
}

/// The reason of a failed validation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ValidationReason {
    /// The value is wrong.
    FieldValueInvalid,
    /// The value may not be set.
    FieldValueForbidden,
    /// The value is missing.
    FieldValueRequired,
    /// The value is there already.
    FieldValueDuplicate,
}

/// A named HTTP call that changes something.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Effect {
    /// The name of the call's answer in the expressions of `status`, a CEL identifier.
    #[schemars(length(min = 1, max = 63))]
    pub id: String,
    /// Conditions, each a lone `${...}` that gives a bool. When one does not hold, the call is not made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    pub include_when: Vec<String>,
    /// The call.
    pub http: Http,
}

/// An HTTP service that is sent an EphemeralReview and answers the status.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Webhook {
    /// The EgressPolicy that allows the call and holds its credentials.
    #[schemars(length(min = 1, max = 253))]
    pub egress_policy: String,
    /// The URL, without templates.
    #[schemars(length(min = 1, max = 2048))]
    pub url: String,
    /// Whether the service changes something. It is then not called on dry run, and its answers are never shared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side_effects: Option<bool>,
}

/// For how long an answer may be reused.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cache {
    /// The longest time that an answer is reused for requests with equal inputs. An answer is never reused after an
    /// object that it read has changed.
    #[schemars(range(min = 0, max = 86400))]
    pub ttl_seconds: u32,
}

/// Bounds on time and rate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    /// The deadline of one create. Defaults to 10, at most 34.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 34))]
    pub timeout_seconds: Option<u32>,
    /// How many creates are answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
}

/// How many creates are answered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Rate {
    /// How many requests in the period.
    #[schemars(range(min = 1, max = 1000000))]
    pub requests: u32,
    /// The period. Defaults to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 86400))]
    pub per_seconds: Option<u32>,
    /// How many requests may come at once. Defaults to `requests`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000000))]
    pub burst: Option<u32>,
    /// Who shares one allowance. Defaults to User.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per: Option<RatePer>,
}

/// Who shares one allowance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub enum RatePer {
    /// Each user of each workspace has their own.
    #[default]
    User,
    /// All users of a workspace share one.
    Workspace,
    /// All users of all workspaces in which the schema is served share one.
    Schema,
}

/// EphemeralSchemaStatus tells whether the schema is served.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EphemeralSchemaStatus {
    /// Accepted: the schema is well-formed and its names are free. TypesChecked: its expressions are right. Served: it
    /// can be created, from its last good form if the newest is not right.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "conditions")]
    pub conditions: Vec<Condition>,
    /// What was found of each version.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub versions: Vec<VersionStatus>,
}

/// What was found of a version.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VersionStatus {
    /// The version.
    pub name: String,
    /// What may be wrong although the version can be served.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<ExpressionWarning>,
    /// What one create is estimated to cost at most, in units of CEL cost; for objects of the workspace usual sizes are assumed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimated_cost: Option<i64>,
    /// The OpenAPI schema of `status` that was inferred from the projection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "free_object")]
    pub status_schema: Option<serde_json::Value>,
}

/// A warning about an expression, as in the status of a ValidatingAdmissionPolicy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExpressionWarning {
    /// The field: `spec.versions[0].projection.variables[0].expression`.
    pub field_ref: String,
    /// What may be wrong.
    pub message: String,
}

/// `metav1.Condition`, with the list keyed by type. k8s-openapi's own schema lacks the patterns.
pub(super) fn conditions(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["type"],
        "items": {
            "type": "object",
            "required": ["type", "status", "lastTransitionTime", "reason", "message"],
            "properties": {
                "type": {"type": "string", "maxLength": 316, "description": "The type of the condition."},
                "status": {"type": "string", "enum": ["True", "False", "Unknown"], "description": "The status of the condition."},
                "observedGeneration": {"type": "integer", "format": "int64", "minimum": 0, "description": "The generation of the object that the condition was set upon."},
                "lastTransitionTime": {"type": "string", "format": "date-time", "description": "The last time that the status changed."},
                "reason": {"type": "string", "minLength": 1, "maxLength": 1024, "description": "The reason of the last transition in CamelCase."},
                "message": {"type": "string", "maxLength": 32768, "description": "The details for people; may be empty."}
            }
        }
    })
}
