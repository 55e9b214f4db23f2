//! The structural schema: immutable, its children shared.
//!
//! Absent: how it is read (parse, simple, json_schema), what is done with it (everything else here).
use std::{ops::Range, sync::Arc};

use cel::Value;

use crate::engine::{
    diagnostic::{Diagnostic, FieldPath},
    schema::{parse, pattern::Pattern},
};

/// A Kubernetes structural schema. Nested value validations (`allOf`, ...) are schemas without a type.
#[derive(Clone, Debug, Default)]
pub struct Structural {
    /// `type`; absent for `x-kubernetes-int-or-string`, `x-kubernetes-preserve-unknown-fields` and nested validations.
    pub ty: Option<SchemaType>,
    /// `title`
    pub title: Option<Arc<str>>,
    /// `description`
    pub description: Option<Arc<str>>,
    /// `default`; fits the schema.
    pub default: Option<Value>,
    /// `example`
    pub example: Option<Value>,
    /// `nullable`
    pub nullable: bool,
    /// `properties`, in the author's order.
    pub properties: Properties,
    /// `additionalProperties`
    pub additional: Option<Additional>,
    /// `items`
    pub items: Option<Arc<Structural>>,
    /// `x-kubernetes-preserve-unknown-fields`
    pub preserve_unknown_fields: bool,
    /// `x-kubernetes-int-or-string`
    pub int_or_string: bool,
    /// `x-kubernetes-embedded-resource`
    pub embedded_resource: bool,
    /// `x-kubernetes-list-type`
    pub list_type: Option<ListType>,
    /// `x-kubernetes-list-map-keys`
    pub list_map_keys: Vec<Arc<str>>,
    /// `x-kubernetes-map-type`
    pub map_type: Option<MapType>,
    /// `x-kubernetes-validations`
    pub rules: Vec<Rule>,
    /// The rest: what a value of the right type must fulfil.
    pub validation: Validation,
}

/// What a value of the right type must fulfil.
#[derive(Clone, Debug, Default)]
pub struct Validation {
    /// `format`
    pub format: Option<Arc<str>>,
    /// `maximum`
    pub maximum: Option<f64>,
    /// `exclusiveMaximum`
    pub exclusive_maximum: bool,
    /// `minimum`
    pub minimum: Option<f64>,
    /// `exclusiveMinimum`
    pub exclusive_minimum: bool,
    /// `multipleOf`
    pub multiple_of: Option<f64>,
    /// `maxLength`, code points
    pub max_length: Option<u64>,
    /// `minLength`, code points
    pub min_length: Option<u64>,
    /// `pattern`
    pub pattern: Option<Pattern>,
    /// `maxItems`
    pub max_items: Option<u64>,
    /// `minItems`
    pub min_items: Option<u64>,
    /// `maxProperties`
    pub max_properties: Option<u64>,
    /// `minProperties`
    pub min_properties: Option<u64>,
    /// `required`
    pub required: Vec<Arc<str>>,
    /// `enum`; empty for none
    pub enumeration: Vec<Value>,
    /// `allOf`
    pub all_of: Vec<Arc<Structural>>,
    /// `anyOf`
    pub any_of: Vec<Arc<Structural>>,
    /// `oneOf`
    pub one_of: Vec<Arc<Structural>>,
    /// `not`
    pub not: Option<Arc<Structural>>,
}

/// `type`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "named as in OpenAPI")]
pub enum SchemaType {
    Object,
    Array,
    String,
    Integer,
    Number,
    Boolean,
}

/// `additionalProperties`
#[derive(Clone, Debug)]
pub enum Additional {
    /// `true`
    Anything,
    /// Values of this schema.
    Schema(Arc<Structural>),
}

/// `x-kubernetes-list-type`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as in Kubernetes")]
pub enum ListType {
    Atomic,
    Set,
    Map,
}

/// `x-kubernetes-map-type`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as in Kubernetes")]
pub enum MapType {
    Atomic,
    Granular,
}

/// One of `x-kubernetes-validations`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    /// CEL giving a bool.
    pub rule: Arc<str>,
    /// What to say.
    pub message: Option<Arc<str>>,
    /// CEL giving what to say.
    pub message_expression: Option<Arc<str>>,
    /// `FieldValueInvalid`, ...
    pub reason: Option<Arc<str>>,
    /// `.spec.field`
    pub field_path: Option<Arc<str>>,
    /// Whether `oldSelf` is an optional.
    pub optional_old_self: bool,
    /// Where its text stands, if it is no field of its own: a marker's value.
    pub origin: Option<Origin>,
}

/// A part of a field that holds a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The field.
    pub path: FieldPath,
    /// Bytes of its value.
    pub bytes: Range<usize>,
    /// Whether these bytes are the text itself, so that places within it are places there.
    pub exact: bool,
}

/// `properties`: in the author's order, found by binary search where they are many.
#[derive(Clone, Debug, Default)]
pub struct Properties {
    entries: Vec<(Arc<str>, Arc<Structural>)>,
    /// INVARIANT (upheld by `from_iter`): a permutation of the indexes of `entries`, sorted by their names.
    sorted: Vec<u32>,
}

/// Up to so many properties it is faster to compare lengths, which mostly differ, and few texts.
const LINEAR: usize = 16;

impl Properties {
    /// A property by name.
    pub fn get(&self, name: &str) -> Option<&Arc<Structural>> {
        if self.entries.len() <= LINEAR {
            return self.entries.iter().find(|(known, _)| **known == *name).map(|(_, schema)| schema);
        }
        let name_of = |i: &u32| self.entries.get(*i as usize).map_or("", |(name, _)| name);
        let at = self.sorted.binary_search_by(|i| name_of(i).cmp(name)).ok()?;
        self.entries.get(*self.sorted.get(at)? as usize).map(|(_, schema)| schema)
    }

    /// All, in the author's order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Arc<str>, &Arc<Structural>)> {
        self.entries.iter().map(|(name, schema)| (name, schema))
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// These with one added or replaced.
    #[must_use]
    pub fn with(&self, name: &str, schema: Arc<Structural>) -> Properties {
        let mut entries = self.entries.clone();
        match entries.iter_mut().find(|(n, _)| &**n == name) {
            Some((_, slot)) => *slot = schema,
            None => entries.push((name.into(), schema)),
        }
        entries.into_iter().collect()
    }
}

/// The first of two of the same name counts; readers report the second before it gets here.
impl FromIterator<(Arc<str>, Arc<Structural>)> for Properties {
    fn from_iter<I: IntoIterator<Item = (Arc<str>, Arc<Structural>)>>(iter: I) -> Properties {
        let entries: Vec<(Arc<str>, Arc<Structural>)> = iter.into_iter().collect();
        let mut indexed: Vec<(&str, u32)> = entries.iter().zip(0u32..).map(|((name, _), i)| (&**name, i)).collect();
        indexed.sort();
        let sorted = indexed.into_iter().map(|(_, i)| i).collect();
        Properties { entries, sorted }
    }
}

impl SchemaType {
    /// As in OpenAPI.
    pub fn as_str(self) -> &'static str {
        match self {
            SchemaType::Object => "object",
            SchemaType::Array => "array",
            SchemaType::String => "string",
            SchemaType::Integer => "integer",
            SchemaType::Number => "number",
            SchemaType::Boolean => "boolean",
        }
    }

    /// From OpenAPI's word.
    pub fn parse(text: &str) -> Option<SchemaType> {
        SchemaType::ALL.into_iter().find(|t| t.as_str() == text)
    }

    /// All of them.
    pub const ALL: [SchemaType; 6] = [
        SchemaType::Object,
        SchemaType::Array,
        SchemaType::String,
        SchemaType::Integer,
        SchemaType::Number,
        SchemaType::Boolean,
    ];
}

impl Structural {
    /// Reads an OpenAPI v3 schema as in a CRD's `openAPIV3Schema`. All problems come at once; there is a schema unless one
    /// of them is an error. Field paths are below `path`.
    pub fn from_openapi(schema: &Value, path: &FieldPath) -> (Option<Structural>, Vec<Diagnostic>) {
        parse::root(schema, path)
    }

    /// The same, but there is a schema in spite of errors: what could be read, open where something is wrong. For checking what
    /// stands on it, not for use.
    pub fn from_openapi_partly(schema: &Value, path: &FieldPath) -> (Option<Structural>, Vec<Diagnostic>) {
        parse::root_partly(schema, path)
    }

    /// The same for a schema that is not an object's: the `schema` of a selected value.
    pub fn from_openapi_part(schema: &Value, path: &FieldPath) -> (Option<Structural>, Vec<Diagnostic>) {
        parse::part(schema, path)
    }

    /// A schema of a type and nothing else.
    pub fn of(ty: SchemaType) -> Structural {
        Structural { ty: Some(ty), ..Structural::default() }
    }

    /// Anything at all.
    pub fn anything() -> Structural {
        Structural { preserve_unknown_fields: true, nullable: true, ..Structural::default() }
    }

    /// An object of properties.
    pub fn object(properties: impl IntoIterator<Item = (Arc<str>, Arc<Structural>)>) -> Structural {
        Structural { properties: properties.into_iter().collect(), ..Structural::of(SchemaType::Object) }
    }

    /// A list.
    pub fn array(items: Structural) -> Structural {
        Structural { items: Some(Arc::new(items)), ..Structural::of(SchemaType::Array) }
    }

    /// A map of strings to values.
    pub fn map(values: Structural) -> Structural {
        Structural { additional: Some(Additional::Schema(Arc::new(values))), ..Structural::of(SchemaType::Object) }
    }

    /// A string of a format.
    pub fn formatted(format: &str) -> Structural {
        let mut schema = Structural::of(SchemaType::String);
        schema.validation.format = Some(format.into());
        schema
    }

    /// The schema of a field: a property or the values of a map.
    pub fn field(&self, name: &str) -> Option<&Arc<Structural>> {
        self.properties.get(name).or(match &self.additional {
            Some(Additional::Schema(values)) => Some(values),
            _ => None,
        })
    }
}
