//! Structural schemas as what the estimator asks of them, as Kubernetes counts; enough for the vectors.
use std::collections::HashMap;

use cel::estimate::{Declaration, Declared, Limits, Sizes};
use serde_json::{Map, Value as Json, json};

/// Bytes of a request.
const REQUEST: u64 = 3 * 1024 * 1024;

/// The schema of `self`, which Kubernetes takes for that of every name and of what has none.
#[derive(Default)]
pub(crate) struct Root(Option<Node>);

struct Node {
    /// Bytes of the shortest value.
    min: u64,
    max: u64,
    elements: Option<Box<Node>>,
    keys: Option<Box<Node>>,
    fields: HashMap<String, Node>,
}

impl Root {
    pub(crate) fn of(schema: &Json) -> Root {
        Root(node(schema, schema["x-kubernetes-embedded-resource"] == true))
    }
}

impl Sizes for Root {
    fn variable(&self, _: &str) -> Option<Declaration<'_>> {
        self.nameless()
    }
    fn nameless(&self) -> Option<Declaration<'_>> {
        self.0.as_ref().map(|schema| Declaration { schema, limits: Limits::Possible })
    }
}

impl Declared for Node {
    fn max_elements(&self, _: Limits) -> u64 {
        self.max
    }
    fn elements(&self) -> Option<&dyn Declared> {
        self.elements.as_deref().map(|node| node as &dyn Declared)
    }
    fn keys(&self) -> Option<&dyn Declared> {
        self.keys.as_deref().map(|node| node as &dyn Declared)
    }
    fn field(&self, name: &str) -> Option<&dyn Declared> {
        self.fields.get(name).map(|node| node as &dyn Declared)
    }
}

fn leaf(min: u64, max: u64) -> Node {
    Node { min, max, elements: None, keys: None, fields: HashMap::new() }
}

fn node(schema: &Json, object: bool) -> Option<Node> {
    let limit = |name: &str| schema[name].as_i64().map(|n| u64::try_from(n).unwrap_or(0));
    let child = |schema: &Json| node(schema, schema["x-kubernetes-embedded-resource"] == true).map(Box::new);
    if schema["x-kubernetes-int-or-string"] == true {
        return Some(leaf(1, limit("maxLength").map_or(REQUEST - 2, |n| 4 * n)));
    }
    Some(match schema["type"].as_str()? {
        "array" => {
            let items = child(&schema["items"])?;
            let max = limit("maxItems").unwrap_or((REQUEST - 2) / (items.min + 1));
            Node { elements: Some(items), ..leaf(2, max) }
        }
        "object" if schema["additionalProperties"].is_object() => {
            let values = child(&schema["additionalProperties"])?;
            let max = limit("maxProperties").unwrap_or((REQUEST - 2) / (values.min + 6));
            Node { elements: Some(values), keys: Some(Box::new(leaf(2, 0))), ..leaf(2, max) }
        }
        "object" => {
            let mut min = 2;
            let mut fields = HashMap::new();
            let required: Vec<&str> =
                schema["required"].as_array().into_iter().flatten().filter_map(Json::as_str).collect();
            for (name, property) in properties(schema, object) {
                let Some(field) = child(&property) else { continue };
                if required.contains(&name.as_str()) && property["default"].is_null() {
                    min += name.len() as u64 + field.min + 4;
                }
                if let Some(name) = super::schema::escape(&name) {
                    fields.insert(name, *field);
                }
            }
            Node { fields, ..leaf(min, 0) }
        }
        "string" => match schema["format"].as_str().unwrap_or("") {
            "byte" => leaf(2, limit("maxLength").unwrap_or(REQUEST - 2)),
            "duration" => leaf(3, 32),
            "date" => leaf(12, 12),
            "date-time" => leaf(21, 32),
            _ => {
                let longest = schema["enum"].as_array().filter(|values| !values.is_empty());
                let longest = longest.map(|values| {
                    values.iter().map(|value| value.as_str().map_or(0, |s| s.len() as u64)).max().unwrap_or(0)
                });
                leaf(2, limit("maxLength").map(|n| 4 * n).or(longest).unwrap_or(REQUEST - 2))
            }
        },
        "boolean" => leaf(4, 0),
        "number" | "integer" => leaf(1, 0),
        other => panic!("unknown type {other}"),
    })
}

/// The properties, with those of every object unless they are there.
fn properties(schema: &Json, object: bool) -> Map<String, Json> {
    let mut properties = schema["properties"].as_object().cloned().unwrap_or_default();
    let is = |path: &[&str], ty: &str| {
        let found = path.iter().fold(&schema["properties"], |at, step| &at[*step]);
        found["type"] == ty
    };
    let complete = is(&["kind"], "string")
        && is(&["apiVersion"], "string")
        && is(&["metadata"], "object")
        && is(&["metadata", "properties", "name"], "string")
        && is(&["metadata", "properties", "generateName"], "string");
    if object && !complete {
        let text = json!({"type": "string"});
        properties.insert("apiVersion".to_string(), text.clone());
        properties.insert("kind".to_string(), text.clone());
        properties.insert(
            "metadata".to_string(),
            json!({"type": "object", "properties": {"name": text, "generateName": text}}),
        );
    }
    properties
}
