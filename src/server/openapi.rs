//! OpenAPI documents: v3 by group and version, v2 as a whole. They are built of the same parts.
//!
//! Ephemeral kinds declare a PATCH operation that is answered 405: kubectl creates a kind only after it found the query
//! parameter `fieldValidation` on the kind's PATCH. Absent: negotiation, hashes, ETags (documents, routes).
pub mod v2_protobuf;

use serde_json::{Map, Value, json};

use crate::{
    engine::schema::{metadata, publish},
    server::published::{Group, Resource, Served, Version},
};

const OBJECT_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
const LIST_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta";

/// The two versions of OpenAPI that Kubernetes publishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Swagger 2.0, read by kube-apiserver's aggregator and old clients.
    V2,
    /// OpenAPI 3.0.
    V3,
}

use Dialect::{V2, V3};

/// The document of one group and version.
pub fn v3(group: &Group, version: &Version) -> Value {
    let mut document = Document::default();
    document.add(group, version, V3);
    json!({
        "openapi": "3.0.0",
        "info": info(),
        "paths": document.paths,
        "components": {"schemas": document.schemas},
    })
}

/// The document of everything.
pub fn v2(groups: &[Group]) -> Value {
    let mut document = Document::default();
    for (group, version) in groups.iter().flat_map(|g| g.versions.iter().map(move |v| (g, v))) {
        document.add(group, version, V2);
    }
    json!({"swagger": "2.0", "info": info(), "paths": document.paths, "definitions": document.schemas})
}

fn info() -> Value {
    json!({"title": "Celandine", "version": format!("v1.{}.0", crate::server::probes::MINOR)})
}

#[derive(Default)]
struct Document {
    paths: Map<String, Value>,
    schemas: Map<String, Value>,
}

impl Document {
    fn add(&mut self, group: &Group, version: &Version, dialect: Dialect) {
        for resource in &version.resources {
            let one = One { group, version, resource, dialect };
            one.paths(&mut self.paths);
            one.schemas(&mut self.schemas);
        }
        if !version.resources.is_empty() {
            for (name, value) in meta(dialect) {
                self.schemas.entry(name).or_insert(value);
            }
        }
    }
}

fn meta(dialect: Dialect) -> [(String, Value); 2] {
    let string = |description: &str| json!({"type": "string", "description": description});
    let list = json!({
        "type": "object",
        "description": "ListMeta describes metadata that synthetic resources must have.",
        "properties": {
            "resourceVersion": string("The version of the collection; only good for watching from there."),
            "continue": string("Set when there are more items: give it back to get them."),
            "remainingItemCount": {
                "type": "integer",
                "format": "int64",
                "description": "How many more items there are.",
            },
        },
    });
    [(OBJECT_META.to_owned(), publish(&metadata::OBJECT_META, dialect)), (LIST_META.to_owned(), list)]
}

fn publish(schema: &crate::engine::schema::Structural, dialect: Dialect) -> Value {
    match dialect {
        V2 => publish::openapi_v2(schema),
        V3 => publish::openapi(schema),
    }
}

/// One resource in one dialect.
#[derive(Clone, Copy)]
struct One<'a> {
    group: &'a Group,
    version: &'a Version,
    resource: &'a Resource,
    dialect: Dialect,
}

impl One<'_> {
    fn gvk(&self) -> Value {
        json!({"group": self.group.name, "version": self.version.name, "kind": self.resource.kind})
    }

    /// `example.acme.storage.v1.BucketInfo`; Kubernetes' own groups lie in `io.k8s.api`.
    fn component(&self, suffix: &str) -> String {
        let group = match &*self.group.name {
            "" => "io.k8s.api.core".to_owned(),
            own if !own.contains('.') => format!("io.k8s.api.{own}"),
            other => other.rsplit('.').collect::<Vec<_>>().join("."),
        };
        format!("{group}.{}.{}{suffix}", self.version.name, self.resource.kind)
    }

    fn reference(&self, name: &str) -> Value {
        let at = match self.dialect {
            V2 => "#/definitions/",
            V3 => "#/components/schemas/",
        };
        json!({"$ref": format!("{at}{name}")})
    }

    fn paths(&self, paths: &mut Map<String, Value>) {
        let root = match &*self.group.name {
            "" => format!("/api/{}", self.version.name),
            group => format!("/apis/{group}/{}", self.version.name),
        };
        let plural = &self.resource.plural;
        let collection = if self.resource.namespaced {
            format!("{root}/namespaces/{{namespace}}/{plural}")
        } else {
            format!("{root}/{plural}")
        };
        let (mut many, mut named) = (Map::new(), Map::new());
        match &self.resource.served {
            Served::Review => {
                many.insert("post".to_owned(), self.create());
            }
            Served::Ephemeral(_) => {
                many.insert("post".to_owned(), self.create());
                named.insert("patch".to_owned(), self.patch());
            }
            Served::Stored(_) => {
                many.insert("get".to_owned(), self.read("list"));
                named.insert("get".to_owned(), self.read("get"));
            }
        }
        let namespace = self.resource.namespaced.then_some("namespace");
        let in_path = |names: &[&str]| -> Vec<Value> { names.iter().map(|n| self.parameter(n, "path")).collect() };
        let of_many: Vec<_> = namespace.into_iter().collect();
        let of_named: Vec<_> = ["name"].into_iter().chain(namespace).collect();
        if !named.is_empty() {
            named.insert("parameters".to_owned(), in_path(&of_named).into());
            paths.insert(format!("{collection}/{{name}}"), named.into());
        }
        if !of_many.is_empty() {
            many.insert("parameters".to_owned(), in_path(&of_many).into());
        }
        paths.insert(collection, many.into());
    }

    fn parameter(&self, name: &str, place: &str) -> Value {
        let mut out = json!({"name": name, "in": place, "description": parameter_description(name)});
        if let Value::Object(out) = &mut out {
            if place == "path" {
                out.insert("required".to_owned(), true.into());
            }
            let schema = [("type".to_owned(), "string".into()), ("uniqueItems".to_owned(), true.into())];
            match self.dialect {
                V2 => out.extend(schema),
                V3 => {
                    out.insert("schema".to_owned(), Map::from_iter(schema).into());
                }
            }
        }
        out
    }

    fn operation(&self, verb: &str, id: &str, description: String, mut parameters: Vec<Value>) -> Map<String, Value> {
        let scope = if self.resource.namespaced { "Namespaced" } else { "" };
        let tag = camel(&self.group.name);
        let mut out = Map::new();
        out.insert("tags".to_owned(), json!([format!("{tag}_{}", self.version.name)]));
        out.insert("description".to_owned(), description.into());
        let own = camel_upper(&format!("{tag}_{}", self.version.name));
        out.insert("operationId".to_owned(), format!("{id}{own}{scope}{}", self.resource.kind).into());
        let query = |names: &[&str]| -> Vec<Value> { names.iter().map(|n| self.parameter(n, "query")).collect() };
        parameters.extend(match verb {
            "list" => query(&["labelSelector", "fieldSelector", "limit", "continue", "resourceVersion", "watch"]),
            "get" => Vec::new(),
            _ => query(&["dryRun", "fieldManager", "fieldValidation"]),
        });
        parameters.extend(query(&["pretty"]));
        out.insert("parameters".to_owned(), parameters.into());
        if self.dialect == V2 {
            out.insert("consumes".to_owned(), json!(["application/json", "application/yaml"]));
            out.insert("produces".to_owned(), json!(["application/json", "application/yaml"]));
            out.insert("schemes".to_owned(), json!(["https"]));
        }
        out.insert("x-kubernetes-action".to_owned(), verb.into());
        out.insert("x-kubernetes-group-version-kind".to_owned(), self.gvk());
        out
    }

    fn content(&self, component: &str) -> Value {
        let schema = json!({"schema": self.reference(component)});
        json!({"application/json": schema, "application/yaml": schema})
    }

    fn responses(&self, code: &str, description: &str, component: &str) -> Value {
        let body = match self.dialect {
            V2 => json!({"description": description, "schema": self.reference(component)}),
            V3 => json!({"description": description, "content": self.content(component)}),
        };
        json!({code: body, "401": {"description": "Unauthorized"}})
    }

    fn create(&self) -> Value {
        let component = self.component("");
        let description = format!("create a {}; the answer comes in the response", self.resource.kind);
        let body = json!({"name": "body", "in": "body", "required": true, "schema": self.reference(&component)});
        let first = if self.dialect == V2 { vec![body] } else { Vec::new() };
        let mut out = self.operation("post", "create", description, first);
        if self.dialect == V3 {
            let body = json!({"content": self.content(&component), "required": true});
            out.insert("requestBody".to_owned(), body);
        }
        out.insert("responses".to_owned(), self.responses("201", "Created", &component));
        out.into()
    }

    fn patch(&self) -> Value {
        let description = "not served: answers 405 (declared so that kubectl finds fieldValidation here)".to_owned();
        let mut out = self.operation("patch", "patch", description, Vec::new());
        out.insert("responses".to_owned(), json!({"405": {"description": "Method Not Allowed"}}));
        out.into()
    }

    fn read(&self, verb: &str) -> Value {
        let (description, component) = match verb {
            "list" => (format!("list or watch objects of kind {}", self.resource.kind), self.component("List")),
            _ => (format!("read the specified {}", self.resource.kind), self.component("")),
        };
        let mut out = self.operation(verb, if verb == "list" { "list" } else { "read" }, description, Vec::new());
        out.insert("responses".to_owned(), self.responses("200", "OK", &component));
        out.into()
    }

    fn schemas(&self, schemas: &mut Map<String, Value>) {
        let name = self.component("");
        schemas.insert(name.clone(), self.object());
        if matches!(self.resource.served, Served::Stored(_)) {
            let list = json!({
                "type": "object",
                "description": format!("{0}List is a list of {0}", self.resource.kind),
                "required": ["items"],
                "properties": {
                    "apiVersion": head("apiVersion"),
                    "kind": head("kind"),
                    "items": {"type": "array", "items": self.reference(&name)},
                    "metadata": self.reference(LIST_META),
                },
                "x-kubernetes-group-version-kind": [
                    {"group": self.group.name, "version": self.version.name, "kind": self.resource.list_kind}
                ],
            });
            schemas.insert(self.component("List"), list);
        }
    }

    fn object(&self) -> Value {
        let mut out = match self.resource.served.schema() {
            Some(schema) => publish(schema, self.dialect),
            None => json!({"type": "object", "properties": {"spec": {"type": "object"}, "status": {"type": "object"}}}),
        };
        if let Value::Object(out) = &mut out {
            let properties = out.entry("properties").or_insert_with(|| json!({}));
            if let Value::Object(properties) = properties {
                for field in ["apiVersion", "kind"] {
                    properties.insert(field.to_owned(), head(field));
                }
                properties.insert("metadata".to_owned(), self.metadata());
            }
            if matches!(self.resource.served, Served::Ephemeral(_)) && !out.contains_key("description") {
                let kind = &self.resource.kind;
                let description = format!(
                    "{kind} is answered when it is created (kubectl create -f FILE -o yaml), and never stored."
                );
                out.insert("description".to_owned(), description.into());
            }
            out.insert("x-kubernetes-group-version-kind".to_owned(), json!([self.gvk()]));
        }
        out
    }

    fn metadata(&self) -> Value {
        let description = "Standard object's metadata.";
        let reference = self.reference(OBJECT_META);
        match self.dialect {
            // v2 knows no allOf beside a description that Kubernetes' readers keep.
            V2 => reference,
            V3 => json!({"allOf": [reference], "default": {}, "description": description}),
        }
    }
}

fn head(field: &str) -> Value {
    let description = match field {
        "kind" => "Kind is a string value representing the REST resource this object represents, in CamelCase.",
        _ => "APIVersion defines the versioned schema of this representation of an object: GROUP/VERSION.",
    };
    json!({"type": "string", "description": description})
}

fn parameter_description(name: &str) -> &'static str {
    match name {
        "name" => "name of the object",
        "namespace" => "object name and auth scope, such as for teams and projects",
        "dryRun" => "All: validate and evaluate, change nothing",
        "fieldManager" => "the name of the client; at most 128 printable characters",
        "fieldValidation" => "Ignore, Warn or Strict: what to do about unknown and duplicate fields",
        "labelSelector" => "select objects by their labels",
        "fieldSelector" => "select objects by their fields",
        "limit" => "at most so many objects; continue tells where to go on",
        "continue" => "the token of an earlier answer",
        "resourceVersion" => "how new the answer must be, or where a watch begins",
        "watch" => "send changes as they happen",
        "pretty" => "true: indent the answer",
        _ => "",
    }
}

/// `storage.acme.example` -> `storageAcmeExample`; core is `core`.
fn camel(group: &str) -> String {
    let mut parts = group.split(['.', '-']);
    let first = parts.next().filter(|p| !p.is_empty()).unwrap_or("core");
    parts.fold(first.to_owned(), |out, part| out + &camel_upper(part))
}

fn camel_upper(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|c| c.to_ascii_uppercase()).into_iter().chain(chars).filter(|c| *c != '_').collect()
}
