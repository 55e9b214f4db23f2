//! The schema of `metadata`, and whole objects: the author's schema with `apiVersion`, `kind` and typed metadata.
//!
//! Absent: whether names are valid (storage).
use std::sync::{Arc, LazyLock};

use crate::engine::schema::{
    Structural,
    structural::{SchemaType, Validation},
};

/// `ObjectMeta` as every object has it.
pub static OBJECT_META: LazyLock<Arc<Structural>> = LazyLock::new(|| Arc::new(object_meta()));

/// A whole object as expressions see it and as OpenAPI shows it: `schema` with `apiVersion`, `kind` and all of `metadata`.
/// What the author says of `metadata.name` and `.generateName` is kept.
#[must_use]
pub fn whole(schema: &Structural) -> Structural {
    let named = schema.properties.get("metadata");
    let mut metadata = OBJECT_META.clone();
    for field in ["name", "generateName"] {
        if let Some(author) = named.and_then(|m| m.properties.get(field)) {
            let meta = Arc::make_mut(&mut metadata);
            meta.properties = meta.properties.with(field, author.clone());
        }
    }
    with_head(schema, metadata)
}

/// A whole object whose metadata has no `namespace`.
#[must_use]
pub fn without_namespace(whole: &Structural) -> Structural {
    let Some(metadata) = whole.properties.get("metadata") else { return whole.clone() };
    let rest = metadata.properties.iter().filter(|(name, _)| &***name != "namespace");
    let properties = rest.map(|(name, schema)| (name.clone(), schema.clone())).collect();
    let metadata = Structural { properties, ..Structural::clone(metadata) };
    Structural { properties: whole.properties.with("metadata", Arc::new(metadata)), ..whole.clone() }
}

/// An object as the rules of its schema see it: of `metadata` only `name` and `generateName`.
#[must_use]
pub fn restricted(schema: &Structural) -> Structural {
    let author = schema.properties.get("metadata");
    let of = |field: &str| {
        author.and_then(|m| m.properties.get(field)).cloned().unwrap_or_else(|| described(SchemaType::String, ""))
    };
    let metadata = Structural::object([("name".into(), of("name")), ("generateName".into(), of("generateName"))]);
    with_head(schema, Arc::new(metadata))
}

fn with_head(schema: &Structural, metadata: Arc<Structural>) -> Structural {
    let head = [
        ("apiVersion".into(), described(SchemaType::String, API_VERSION)),
        ("kind".into(), described(SchemaType::String, KIND)),
        ("metadata".into(), metadata),
    ];
    let names = ["apiVersion", "kind", "metadata"];
    let rest = schema.properties.iter().filter(|(name, _)| !names.contains(&&***name));
    let properties = head.into_iter().chain(rest.map(|(name, schema)| (name.clone(), schema.clone()))).collect();
    Structural { properties, ..schema.clone() }
}

const API_VERSION: &str = "The versioned schema of this representation of an object.";
const KIND: &str = "The REST resource that this object represents, in CamelCase.";

fn described(ty: SchemaType, description: &str) -> Arc<Structural> {
    let description = (!description.is_empty()).then(|| description.into());
    Arc::new(Structural { description, ..Structural::of(ty) })
}

fn object_meta() -> Structural {
    let text = |description: &str| described(SchemaType::String, description);
    let strings = || Structural::map(Structural::of(SchemaType::String));
    let instant = |description: &str| {
        Arc::new(Structural {
            description: Some(description.into()),
            nullable: true,
            validation: Validation { format: Some("date-time".into()), ..Validation::default() },
            ..Structural::of(SchemaType::String)
        })
    };
    let number = |description: &str| {
        let mut schema = Structural { description: Some(description.into()), ..Structural::of(SchemaType::Integer) };
        schema.validation.format = Some("int64".into());
        Arc::new(schema)
    };
    let with = |schema: Structural, description: &str| {
        Arc::new(Structural { description: Some(description.into()), ..schema })
    };
    let mut owner = Structural::object([
        ("apiVersion".into(), text("API version of the owner.")),
        ("kind".into(), text("Kind of the owner.")),
        ("name".into(), text("Name of the owner.")),
        ("uid".into(), text("UID of the owner.")),
        ("controller".into(), described(SchemaType::Boolean, "Whether the owner is the managing controller.")),
        (
            "blockOwnerDeletion".into(),
            described(SchemaType::Boolean, "Whether the owner cannot go before this object."),
        ),
    ]);
    owner.validation.required = ["apiVersion", "kind", "name", "uid"].map(Into::into).to_vec();
    let free = Structural { preserve_unknown_fields: true, ..Structural::of(SchemaType::Object) };
    let managed = Structural::object([
        ("manager".into(), text("Who manages these fields.")),
        ("operation".into(), text("Apply or Update.")),
        ("apiVersion".into(), text("The version of the resource that the fields belong to.")),
        ("time".into(), instant("When they were last changed.")),
        ("fieldsType".into(), text("FieldsV1")),
        ("fieldsV1".into(), with(free, "The fields.")),
        ("subresource".into(), text("The subresource that changed them.")),
    ]);
    let meta = Structural::object([
        ("name".into(), text("Name, unique within a namespace.")),
        ("generateName".into(), text("Prefix of the name that the server makes where there is none.")),
        ("namespace".into(), text("The namespace; empty for kinds that live in none.")),
        ("uid".into(), text("Unique in time and space; set by the server.")),
        ("resourceVersion".into(), text("Opaque version of what is stored.")),
        ("generation".into(), number("Counts changes of the desired state.")),
        ("creationTimestamp".into(), instant("When it was created; set by the server.")),
        ("deletionTimestamp".into(), instant("When it is to be deleted; set by the server.")),
        ("deletionGracePeriodSeconds".into(), number("Seconds that it has to end gracefully.")),
        ("labels".into(), with(strings(), "Labels, for selectors.")),
        ("annotations".into(), with(strings(), "Annotations, for tools.")),
        ("ownerReferences".into(), with(Structural::array(owner), "The objects that this one depends on.")),
        (
            "finalizers".into(),
            with(Structural::array(Structural::of(SchemaType::String)), "Who must act before it goes."),
        ),
        ("managedFields".into(), with(Structural::array(managed), "Who manages which fields.")),
        ("selfLink".into(), text("No longer set.")),
    ]);
    Structural { description: Some("Standard object metadata.".into()), ..meta }
}
