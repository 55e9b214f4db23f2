//! Structural schemas as CEL types, as Kubernetes maps them; enough for the vectors.
use std::{collections::HashMap, sync::Arc};

use cel::{
    Env, Type, Value,
    program::Options,
    types::{Field, TypeProvider},
    value::{FieldKey, Identity, List, MapBuilder},
};
use serde_json::{Value as Json, json};

#[derive(Default)]
pub(crate) struct Schemas(HashMap<String, Vec<(String, Field)>>);

impl TypeProvider for Schemas {
    fn field(&self, object: &str, name: &str) -> Option<Field> {
        self.0.get(object)?.iter().find(|(n, _)| n == name).map(|(_, field)| field.clone())
    }
    fn field_names(&self, object: &str) -> Vec<Arc<str>> {
        self.0.get(object).into_iter().flatten().map(|(name, _)| name.as_str().into()).collect()
    }
    fn named_type(&self, name: &str) -> Option<Type> {
        self.0.contains_key(name).then(|| Type::Object(name.into()))
    }
}

impl Schemas {
    pub(crate) fn declare(&mut self, name: &str, schema: &Json) -> Type {
        self.ty(name, schema, true).unwrap_or(Type::Dyn)
    }

    fn ty(&mut self, name: &str, schema: &Json, root: bool) -> Option<Type> {
        if schema["x-kubernetes-int-or-string"] == true {
            return Some(Type::Dyn);
        }
        Some(match schema["type"].as_str()? {
            "boolean" => Type::Bool,
            "integer" => Type::Int,
            "number" => Type::Double,
            "string" => match schema["format"].as_str().unwrap_or("") {
                "byte" => Type::Bytes,
                "duration" => Type::Duration,
                "date" | "date-time" => Type::Timestamp,
                _ => Type::String,
            },
            "array" => Type::list(self.ty(&format!("{name}.@idx"), &schema["items"], false)?),
            "object" if schema["additionalProperties"].is_object() => {
                Type::map(Type::String, self.ty(&format!("{name}.@elem"), &schema["additionalProperties"], false)?)
            }
            "object" => {
                let mut fields = vec![];
                for (key, property) in properties(schema, root) {
                    let Some(cel) = escape(&key) else { continue };
                    if let Some(ty) = self.ty(&format!("{name}.{key}"), &property, false) {
                        fields.push((cel, Field { ty: ty.clone(), key: key.as_str().into() }));
                        // Reserved by the language, but not as field names: both spellings work.
                        if ["namespace", "if", "while"].contains(&key.as_str()) {
                            fields.push((key.clone(), Field { ty, key: key.as_str().into() }));
                        }
                    }
                }
                self.0.insert(name.to_string(), fields);
                Type::Object(name.into())
            }
            other => panic!("unknown type {other}"),
        })
    }
}

/// The properties, and those of every Kubernetes object where there is one.
fn properties(schema: &Json, _root: bool) -> serde_json::Map<String, Json> {
    let mut properties = schema["properties"].as_object().cloned().unwrap_or_default();
    if schema["x-kubernetes-embedded-resource"] == true {
        let text = json!({"type": "string"});
        properties.entry("apiVersion").or_insert(text.clone());
        properties.entry("kind").or_insert(text.clone());
        properties.insert(
            "metadata".to_string(),
            json!({"type": "object", "properties": {"name": text, "generateName": text}}),
        );
    }
    properties
}

/// A property's name in CEL; `None` where it has none.
pub(crate) fn escape(key: &str) -> Option<String> {
    if cel::is_reserved(key) {
        return Some(format!("__{key}__"));
    }
    let escaped =
        key.replace("__", "__underscores__").replace('.', "__dot__").replace('-', "__dash__").replace('/', "__slash__");
    let mut bytes = escaped.bytes();
    let starts = bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
    (starts && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')).then_some(escaped)
}

/// Data by its schema; `None` where it is not there for an expression.
pub(crate) fn value(schema: &Json, data: &Json, root: bool) -> Option<Value> {
    if schema["x-kubernetes-int-or-string"] == true {
        return Some(super::values::from_json(data));
    }
    let call = |function: &str, text: &str| {
        let env = Env::standard().variable("x", Type::String).build();
        let program = env.program(&env.check(env.parse(&format!("{function}(x)")).unwrap()).unwrap()).unwrap();
        let variables = [Some(Value::from(text))];
        program.evaluate(variables.as_slice(), Options { budget: 1000, ..Options::default() }).result.ok()
    };
    match (schema["type"].as_str()?, data) {
        (_, Json::Null) if root => Some(Value::Null),
        (_, Json::Null) => None,
        ("number", Json::Number(n)) => Some(Value::Double(n.as_f64()?)),
        ("string", Json::String(s)) => match schema["format"].as_str().unwrap_or("") {
            "byte" if s.bytes().all(|b| b.is_ascii_alphanumeric() || b"+/=".contains(&b)) => {
                Some(Value::Bytes(crate::common::base64(s).into()))
            }
            "byte" => None,
            "duration" => call("duration", s),
            "date" => call("timestamp", &format!("{s}T00:00:00Z")),
            "date-time" => call("timestamp", s),
            _ => Some(s.as_str().into()),
        },
        ("array", Json::Array(items)) => {
            let items: Vec<Value> =
                items.iter().map(|item| value(&schema["items"], item, true).unwrap_or(Value::Null)).collect();
            let keys = || {
                let names = schema["x-kubernetes-list-map-keys"].as_array().unwrap().iter();
                names.map(|name| FieldKey::new(name.as_str().unwrap().into())).collect()
            };
            Some(Value::List(match schema["x-kubernetes-list-type"].as_str() {
                Some("set") => List::with_identity(items, Arc::new(Identity::Set)),
                Some("map") => List::with_identity(items, Arc::new(Identity::Map(keys()))),
                _ => items.into(),
            }))
        }
        ("object", Json::Object(object)) if schema["additionalProperties"].is_object() => {
            let mut map = MapBuilder::default();
            for (key, item) in object {
                map.insert(key.as_str(), value(&schema["additionalProperties"], item, true).unwrap_or(Value::Null));
            }
            Some(Value::Map(map.build()))
        }
        ("object", Json::Object(object)) => {
            let mut map = MapBuilder::default();
            for (key, property) in properties(schema, root) {
                if escape(&key).is_some()
                    && let Some(item) = object.get(&key)
                    && let Some(item) = value(&property, item, false)
                {
                    map.insert(key.as_str(), item);
                }
            }
            Some(Value::Map(map.build()))
        }
        _ => Some(super::values::from_json(data)),
    }
}
