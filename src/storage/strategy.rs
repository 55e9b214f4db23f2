//! What Kubernetes' create strategy does before anything is answered: checks, defaults, pruning, validation, in its order.
//!
//! Absent: the projection (engine), reading objects, HTTP codes (refusal).
use std::sync::{Arc, LazyLock};

use cel::{
    Value,
    value::{Key, Map, MapBuilder},
};

use super::{
    decode::{self, DecodeError},
    metadata::{self, Metadata},
};
use crate::{
    api::shown,
    engine::{
        diagnostic::FieldPath,
        schema::{
            self, DefaultsError, FieldError, Structural, field_error,
            rules::Rules,
            validate::{blocks_rules, validate},
        },
    },
};

/// The kind that a path names, and what its objects may hold.
#[derive(Clone, Copy, Debug)]
pub struct Expected<'a> {
    /// `storage.acme.example`
    pub group: &'a str,
    /// `v1`
    pub version: &'a str,
    /// `BucketInfo`
    pub kind: &'a str,
    /// Whether objects live in namespaces.
    pub namespaced: bool,
    /// apiVersion, kind, metadata, spec.
    pub schema: &'a Structural,
    /// The schema's `x-kubernetes-validations`.
    pub rules: &'a Rules,
}

/// What the request says besides its body.
#[derive(Clone, Copy, Debug)]
pub struct Sent<'a> {
    /// The body.
    pub body: &'a [u8],
    /// Its `Content-Type`.
    pub content_type: Option<&'a str>,
    /// The namespace of the path; empty for cluster-scoped kinds.
    pub namespace: &'a str,
    /// `fieldValidation`
    pub field_validation: FieldValidation,
    /// For a generated name.
    pub random: [u8; 5],
}

/// `fieldValidation`: what becomes of unknown and duplicate fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FieldValidation {
    /// They are dropped.
    Ignore,
    /// They are dropped, with a warning each. kube-apiserver's default.
    #[default]
    Warn,
    /// They are an error.
    Strict,
}

/// The words of `fieldValidation` that are none of the three.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("fieldValidation: Unsupported value: {0:?}: supported values: \"Ignore\", \"Strict\", \"Warn\"")]
pub struct FieldValidationError(String);

impl std::str::FromStr for FieldValidation {
    type Err = FieldValidationError;

    fn from_str(text: &str) -> Result<FieldValidation, FieldValidationError> {
        match text {
            "" | "Warn" => Ok(FieldValidation::Warn),
            "Ignore" => Ok(FieldValidation::Ignore),
            "Strict" => Ok(FieldValidation::Strict),
            other => Err(FieldValidationError(other.into())),
        }
    }
}

/// Made once: every object has it.
static METADATA: LazyLock<Arc<str>> = LazyLock::new(|| "metadata".into());

/// An object that is ready to be answered.
#[derive(Clone, Debug)]
pub struct Admitted {
    /// apiVersion, kind, metadata, spec, ...: defaulted, pruned, valid.
    pub object: Map,
    /// Its metadata.
    pub metadata: Metadata,
    /// For the `Warning` header.
    pub warnings: Vec<String>,
}

/// Why an object is refused before its projection is looked at. The caller's fault, always.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// 400, 413 or 415: no object.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// 400
    #[error("{kind} in version {version:?} cannot be handled as a {expected}: {problem}")]
    Unfit {
        /// The body's kind.
        kind: String,
        /// The body's version.
        version: String,
        /// The path's kind.
        expected: String,
        /// Strict decoding errors, or a field of a wrong type.
        problem: String,
    },
    /// 400
    #[error("the API version in the data ({found}) does not match the expected API version ({expected})")]
    Version {
        /// The body's.
        found: String,
        /// The path's.
        expected: String,
    },
    /// 400
    #[error("the namespace of the provided object does not match the namespace sent on the request")]
    Namespace,
    /// 422
    #[error("{kind}.{group} {name:?} is invalid")]
    Invalid {
        /// The body's kind.
        kind: String,
        /// The group.
        group: String,
        /// The object's name; empty where it has none.
        name: String,
        /// What is wrong, at least one.
        errors: Vec<FieldError>,
    },
    /// Not refused: to find out costs more than was allowed.
    #[error("the rules of the schema cost more than was allowed")]
    Unfinished,
}

/// Admits the body of a request, if its rules cost no more than is `allowed`.
///
/// # Errors
/// The first stage that refuses it, with all that this stage has to say.
pub fn admit(expected: &Expected<'_>, sent: &Sent<'_>, allowed: u64) -> Result<Admitted, Refusal> {
    let format = decode::format(sent.content_type)?;
    let decoded = decode::object(format, sent.body, expected.kind)?;
    let Value::Map(fields) = decoded.value else { return Err(Refusal::Decode(DecodeError::UnknownFormat)) };
    let (kind, api_version) = (text(&fields, "kind"), text(&fields, "apiVersion"));
    let (group, version) = group_version(api_version).ok_or_else(|| {
        DecodeError::unrecognized(
            expected.kind,
            format!("unexpected GroupVersion string: {}", shown(api_version)),
            sent.body,
        )
    })?;
    let unfit = |problem: String| Refusal::Unfit {
        kind: shown(kind).into(),
        version: shown(version).into(),
        expected: expected.kind.into(),
        problem,
    };

    let (mut metadata, unknown_metadata) = metadata::decode(fields.get("metadata")).map_err(unfit)?;
    let invalid = |name: Option<&str>, errors: Vec<FieldError>| Refusal::Invalid {
        kind: shown(kind).into(),
        group: group.into(),
        name: shown(name.unwrap_or_default()).into(),
        errors,
    };
    // Before the object is made, which has it; what is wrong with it is told in its turn.
    let name_sent = metadata.name.clone();
    let placed = place(&mut metadata, expected.namespaced, sent.namespace);
    metadata.generate(sent.random);
    let ours = group == expected.group && version == expected.version && kind == expected.kind;
    let (object, unknown) = match ours {
        true => defaulted_and_pruned(expected.schema, &fields, &metadata).map_err(|error| {
            let path = FieldPath::root().field("spec");
            invalid(name_sent.as_deref(), vec![field_error::invalid_omitted(&path, &error.to_string())])
        })?,
        false => (Map::default(), Vec::new()),
    };
    let mut strict = decoded.strict;
    strict.extend(unknown_metadata);
    strict.extend(unknown.iter().map(|path| format!("unknown field {path:?}")));
    let warnings = match sent.field_validation {
        FieldValidation::Strict if !strict.is_empty() => {
            return Err(unfit(format!("strict decoding error: {}", strict.join(", "))));
        }
        FieldValidation::Warn => strict.iter().map(|problem| one_line(problem)).collect(),
        FieldValidation::Strict | FieldValidation::Ignore => Vec::new(),
    };

    if (group, version) != (expected.group, expected.version) {
        return Err(Refusal::Version {
            found: shown(api_version).into(),
            expected: format!("{}/{}", expected.group, expected.version),
        });
    }
    placed?;
    if kind != expected.kind {
        let path = FieldPath::root().field("kind");
        let detail = format!("must be {}", expected.kind);
        return Err(invalid(metadata.name.as_deref(), vec![field_error::invalid(&path, &kind.into(), &detail)]));
    }
    let errors = invalidities(expected, &metadata, &object, allowed).ok_or(Refusal::Unfinished)?;
    if !errors.is_empty() {
        return Err(invalid(metadata.name.as_deref(), errors));
    }
    Ok(Admitted { object, metadata, warnings })
}

/// `group/version`, or `version` of the core group; nothing where there is more.
fn group_version(api_version: &str) -> Option<(&str, &str)> {
    match api_version.split_once('/') {
        None => Some(("", api_version)),
        Some((_, rest)) if rest.contains('/') => None,
        Some((group, version)) => Some((group, version)),
    }
}

/// The object with its metadata as it was decoded: an author's defaults of a name are none.
fn defaulted_and_pruned(
    schema: &Structural,
    fields: &Map,
    metadata: &Metadata,
) -> Result<(Map, Vec<String>), DefaultsError> {
    let metadata = metadata.to_map(None);
    let sent = with_metadata(fields, metadata.clone().into());
    let (admitted, unknown) = schema::admit_bounded(schema, sent.into())?;
    let Value::Map(mut object) = admitted else { return Ok((Map::default(), unknown)) };
    if !matches!(object.get("metadata"), Some(Value::Map(map)) if map.same(&metadata)) {
        object.insert(METADATA.clone(), metadata.into());
    }
    Ok((object, unknown))
}

/// The object lives where the path says, and says so itself.
fn place(metadata: &mut Metadata, namespaced: bool, namespace: &str) -> Result<(), Refusal> {
    if !namespaced {
        metadata.namespace = None;
        return Ok(());
    }
    match &metadata.namespace {
        Some(own) if &**own != namespace => Err(Refusal::Namespace),
        _ => {
            metadata.namespace = (!namespace.is_empty()).then(|| namespace.into());
            Ok(())
        }
    }
}

/// apiVersion and kind first, then metadata, then the rest as it was sent. A client's `status` is dropped before anything looks
/// at it: the server alone decides it.
fn with_metadata(fields: &Map, metadata: Value) -> Map {
    let mut object = MapBuilder::with_capacity(fields.len() + 1);
    let is = |key: &Key, names: &[&str]| matches!(key, Key::String(key) if names.contains(&&**key));
    for name in ["apiVersion", "kind"] {
        for (key, value) in fields.iter().filter(|(key, _)| is(key, &[name])) {
            object.push(key.clone(), value.clone());
        }
    }
    object.push(METADATA.clone(), metadata);
    for (key, value) in fields.iter().filter(|(key, _)| !is(key, &["apiVersion", "kind", "metadata", "status"])) {
        object.push(key.clone(), value.clone());
    }
    object.build()
}

/// Metadata, then the schema, then its rules unless the object is too broken for them. Kubernetes adds a cause that says so;
/// it tells nobody anything, and is left out. `None` where the rules cost more than is allowed.
fn invalidities(expected: &Expected<'_>, metadata: &Metadata, object: &Map, allowed: u64) -> Option<Vec<FieldError>> {
    let object = Value::Map(object.clone());
    let root = FieldPath::root();
    let mut errors = metadata::validate(metadata, expected.namespaced);
    errors.extend(validate(expected.schema, &object, &root));
    if !errors.iter().any(blocks_rules) {
        errors.extend(expected.rules.evaluate(&object, &root, allowed)?);
    }
    Some(errors)
}

fn text<'a>(fields: &'a Map, name: &str) -> &'a str {
    match fields.get(name) {
        Some(Value::String(text)) => text,
        _ => "",
    }
}

/// A warning is an HTTP header.
fn one_line(problem: &str) -> String {
    problem.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The names that [`Admitted`]'s metadata gives the object, for `request`.
impl Admitted {
    /// `metadata.name`, empty where there is none.
    pub fn name(&self) -> Arc<str> {
        self.metadata.name.clone().unwrap_or_default()
    }

    /// `metadata.namespace`, empty where there is none.
    pub fn namespace(&self) -> Arc<str> {
        self.metadata.namespace.clone().unwrap_or_default()
    }
}
