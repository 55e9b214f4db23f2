//! The CEL types of schemas, as Kubernetes gives them, and the one registry that a plan's expressions share.
//!
//! Absent: values (to_cel).
use std::{collections::HashMap, fmt, sync::Arc};

use cel::{
    Type,
    types::{Field, TypeProvider},
};

use crate::engine::schema::{
    MAX_DEPTH, Structural,
    escape::escape,
    structural::{Additional, SchemaType},
};

/// What fields that a schema does not name mean to an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// As in a CRD's `x-kubernetes-validations`: they cannot be reached, and what has no type has no name either.
    Rules,
    /// As authors of projections expect: where the schema keeps unknown fields, they are `dyn`.
    Workspace,
}

/// Knows the object types of a plan. Immutable; add to it with [`Registry::extend`].
#[derive(Clone)]
pub struct Registry {
    dialect: Dialect,
    objects: HashMap<Arc<str>, Arc<Object>>,
}

/// Adds schemas to a [`Registry`].
#[derive(Clone, Debug)]
pub struct RegistryBuilder(Registry);

struct Object {
    schema: Arc<Structural>,
    fields: HashMap<Arc<str>, Field>,
    /// In the schema's order, without the plain forms of reserved words.
    names: Vec<Arc<str>>,
    /// Fields that are not named are dyn.
    open: bool,
}

impl Registry {
    /// An empty one.
    pub fn builder(dialect: Dialect) -> RegistryBuilder {
        RegistryBuilder(Registry { dialect, objects: HashMap::new() })
    }

    /// A builder that starts from this one; what is known is shared.
    pub fn extend(&self) -> RegistryBuilder {
        RegistryBuilder(self.clone())
    }

    /// The schema behind an object type's name.
    pub fn schema(&self, name: &str) -> Option<&Arc<Structural>> {
        self.objects.get(name).map(|object| &object.schema)
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.objects.keys()).finish()
    }
}

impl RegistryBuilder {
    /// Names a schema and says its type. An object's type is `Type::Object(name)`, those within it are `name.field`,
    /// `name.list.@idx`, `name.map.@elem` as in Kubernetes. Adding a name again replaces it.
    pub fn add(&mut self, name: &str, schema: &Arc<Structural>) -> Type {
        self.0.declare(name, schema, 0).unwrap_or(Type::Dyn)
    }

    /// The registry.
    pub fn build(self) -> Arc<Registry> {
        Arc::new(self.0)
    }
}

impl Registry {
    /// `None` where an expression cannot name the value at all.
    fn declare(&mut self, name: &str, schema: &Arc<Structural>, depth: usize) -> Option<Type> {
        let undeclared = || (self.dialect == Dialect::Workspace).then_some(Type::Dyn);
        if schema.int_or_string {
            return Some(Type::Dyn);
        }
        if depth >= MAX_DEPTH {
            return Some(Type::Dyn);
        }
        let Some(ty) = schema.ty else { return undeclared() };
        match ty {
            SchemaType::Boolean => Some(Type::Bool),
            SchemaType::Integer => Some(Type::Int),
            SchemaType::Number => Some(Type::Double),
            SchemaType::String => Some(match schema.validation.format.as_deref() {
                Some("byte") => Type::Bytes,
                Some("duration") => Type::Duration,
                Some("date" | "date-time") => Type::Timestamp,
                _ => Type::String,
            }),
            SchemaType::Array => match &schema.items {
                Some(items) => Some(Type::list(self.declare(&format!("{name}.@idx"), items, depth + 1)?)),
                None => undeclared().map(Type::list),
            },
            SchemaType::Object => match &schema.additional {
                Some(Additional::Schema(values)) if schema.properties.is_empty() => {
                    Some(Type::map(Type::String, self.declare(&format!("{name}.@elem"), values, depth + 1)?))
                }
                Some(Additional::Anything) if self.dialect == Dialect::Workspace => {
                    Some(Type::map(Type::String, Type::Dyn))
                }
                _ => Some(self.object(name, schema, depth)),
            },
        }
    }

    fn object(&mut self, name: &str, schema: &Arc<Structural>, depth: usize) -> Type {
        let open = self.dialect == Dialect::Workspace && schema.preserve_unknown_fields;
        if open && schema.properties.is_empty() {
            return Type::Dyn;
        }
        let schema = match self.dialect {
            Dialect::Rules if schema.embedded_resource => {
                &Arc::new(crate::engine::schema::metadata::restricted(schema))
            }
            _ => schema,
        };
        let mut object = Object { schema: schema.clone(), fields: HashMap::new(), names: Vec::new(), open };
        for (key, property) in schema.properties.iter() {
            let Some(cel_name) = escape(key) else { continue };
            let Some(ty) = self.declare(&format!("{name}.{cel_name}"), property, depth + 1) else { continue };
            let cel_name: Arc<str> = cel_name.into();
            let field = Field { ty, key: key.clone() };
            if cel::is_reserved(key) {
                object.fields.insert(key.clone(), field.clone());
            }
            object.names.push(cel_name.clone());
            object.fields.insert(cel_name, field);
        }
        let name: Arc<str> = name.into();
        self.objects.insert(name.clone(), Arc::new(object));
        Type::Object(name)
    }
}

impl TypeProvider for Registry {
    fn field(&self, object: &str, name: &str) -> Option<Field> {
        let object = self.objects.get(object)?;
        match object.fields.get(name) {
            Some(field) => Some(field.clone()),
            None if object.open => Some(Field { ty: Type::Dyn, key: name.into() }),
            None => None,
        }
    }

    fn field_names(&self, object: &str) -> Vec<Arc<str>> {
        self.objects.get(object).map(|object| object.names.clone()).unwrap_or_default()
    }

    /// Expressions cannot make objects, so that their names are for messages only; but an object without fields is known by
    /// its name alone.
    fn named_type(&self, name: &str) -> Option<Type> {
        let (name, object) = self.objects.get_key_value(name)?;
        object.names.is_empty().then(|| Type::Object(name.clone()))
    }
}
