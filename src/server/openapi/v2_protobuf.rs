//! OpenAPI v2 in the protobuf of gnostic (`openapi.v2.Document`), which kubectl asks for: the parts that `openapi` makes.
//!
//! Absent: what those documents never hold (security, examples, headers, external documentation).
use serde_json::{Map, Value};

/// Writes a document.
pub fn encode(document: &Value) -> Vec<u8> {
    let mut out = Writer::default();
    out.string(1, text(document, "swagger"));
    if let Some(info) = document.get("info") {
        out.message(2, |w| {
            w.string(1, text(info, "title"));
            w.string(2, text(info, "version"));
        });
    }
    out.message(8, |w| {
        for (path, item) in fields(document, "paths") {
            w.named(2, path, |w| path_item(w, item));
        }
    });
    out.message(9, |w| {
        for (name, schema) in fields(document, "definitions") {
            w.named(1, name, |w| write_schema(w, schema));
        }
    });
    out.0
}

fn path_item(w: &mut Writer, item: &Value) {
    for (number, method) in [(2, "get"), (4, "post"), (8, "patch")] {
        if let Some(value) = item.get(method) {
            w.message(number, |w| operation(w, value));
        }
    }
    for value in items(item, "parameters") {
        w.message(9, |w| parameters_item(w, value));
    }
}

fn operation(w: &mut Writer, operation: &Value) {
    for tag in items(operation, "tags") {
        w.string(1, tag.as_str().unwrap_or_default());
    }
    w.string(3, text(operation, "description"));
    w.string(5, text(operation, "operationId"));
    for (number, name) in [(6, "produces"), (7, "consumes")] {
        for media in items(operation, name) {
            w.string(number, media.as_str().unwrap_or_default());
        }
    }
    for value in items(operation, "parameters") {
        w.message(8, |w| parameters_item(w, value));
    }
    w.message(9, |w| {
        for (code, response) in fields(operation, "responses") {
            // Responses.response_code[] = NamedResponseValue{name, ResponseValue{response = 1}}
            w.named(1, code, |w| {
                w.message(1, |w| {
                    w.string(1, text(response, "description"));
                    if let Some(schema) = response.get("schema") {
                        // SchemaItem{schema = 1}
                        w.message(2, |w| w.message(1, |w| write_schema(w, schema)));
                    }
                });
            });
        }
    });
    for scheme in items(operation, "schemes") {
        w.string(10, scheme.as_str().unwrap_or_default());
    }
    extensions(w, 13, operation);
}

/// ParametersItem{parameter = 1}, Parameter{body_parameter = 1, non_body_parameter = 2}
fn parameters_item(w: &mut Writer, parameter: &Value) {
    w.message(1, |w| match text(parameter, "in") {
        "body" => w.message(1, |w| {
            w.string(1, text(parameter, "description"));
            w.string(2, text(parameter, "name"));
            w.string(3, text(parameter, "in"));
            w.bool(4, flag(parameter, "required"));
            if let Some(schema) = parameter.get("schema") {
                w.message(5, |w| write_schema(w, schema));
            }
        }),
        place => {
            // NonBodyParameter{header = 1, form = 2, query = 3, path = 4}; the two below have the same first fields but one.
            let number = if place == "path" { 4 } else { 3 };
            w.message(2, |w| {
                w.message(number, |w| {
                    w.bool(1, flag(parameter, "required"));
                    w.string(2, place);
                    w.string(3, text(parameter, "description"));
                    w.string(4, text(parameter, "name"));
                    // The query's has allow_empty_value = 5 before the type.
                    w.string(if place == "path" { 5 } else { 6 }, text(parameter, "type"));
                    w.bool(if place == "path" { 19 } else { 20 }, flag(parameter, "uniqueItems"));
                });
            });
        }
    });
}

// The depth of recursion is that of a structural schema, which is bounded.
fn write_schema(w: &mut Writer, schema: &Value) {
    w.string(1, text(schema, "$ref"));
    w.string(2, text(schema, "format"));
    w.string(3, text(schema, "title"));
    w.string(4, text(schema, "description"));
    if let Some(default) = schema.get("default") {
        w.message(5, |w| any(w, default));
    }
    w.double(6, schema.get("multipleOf"));
    w.double(7, schema.get("maximum"));
    w.bool(8, flag(schema, "exclusiveMaximum"));
    w.double(9, schema.get("minimum"));
    w.bool(10, flag(schema, "exclusiveMinimum"));
    w.integer(11, schema.get("maxLength"));
    w.integer(12, schema.get("minLength"));
    w.string(13, text(schema, "pattern"));
    w.integer(14, schema.get("maxItems"));
    w.integer(15, schema.get("minItems"));
    w.bool(16, flag(schema, "uniqueItems"));
    w.integer(17, schema.get("maxProperties"));
    w.integer(18, schema.get("minProperties"));
    for name in items(schema, "required") {
        w.string(19, name.as_str().unwrap_or_default());
    }
    for value in items(schema, "enum") {
        w.message(20, |w| any(w, value));
    }
    match schema.get("additionalProperties") {
        Some(Value::Bool(flag)) => w.message(21, |w| w.bool_always(2, *flag)),
        Some(schema) => w.message(21, |w| w.message(1, |w| write_schema(w, schema))),
        None => {}
    }
    if let Some(ty) = schema.get("type").and_then(Value::as_str) {
        w.message(22, |w| w.string(1, ty));
    }
    if let Some(of) = schema.get("items") {
        w.message(23, |w| w.message(1, |w| write_schema(w, of)));
    }
    for part in items(schema, "allOf") {
        w.message(24, |w| write_schema(w, part));
    }
    if schema.get("properties").is_some() {
        w.message(25, |w| {
            for (name, schema) in fields(schema, "properties") {
                w.named(1, name, |w| write_schema(w, schema));
            }
        });
    }
    extensions(w, 31, schema);
}

fn extensions(w: &mut Writer, number: u32, object: &Value) {
    for (name, value) in object.as_object().into_iter().flatten().filter(|(name, _)| name.starts_with("x-")) {
        w.named(number, name, |w| any(w, value));
    }
}

/// Any{value = 1, yaml = 2}: JSON is YAML.
fn any(w: &mut Writer, value: &Value) {
    w.string(2, &format!("{value}\n"));
}

fn text<'a>(object: &'a Value, field: &str) -> &'a str {
    object.get(field).and_then(Value::as_str).unwrap_or_default()
}

fn flag(object: &Value, field: &str) -> bool {
    object.get(field) == Some(&Value::Bool(true))
}

fn items<'a>(object: &'a Value, field: &str) -> &'a [Value] {
    object.get(field).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn fields<'a>(object: &'a Value, field: &str) -> impl Iterator<Item = (&'a String, &'a Value)> {
    object.get(field).and_then(Value::as_object).into_iter().flat_map(Map::iter)
}

#[derive(Default)]
struct Writer(Vec<u8>);

impl Writer {
    fn varint(&mut self, mut value: u64) {
        loop {
            let [low, ..] = (value & 0x7f).to_le_bytes();
            value >>= 7;
            if value == 0 {
                return self.0.push(low);
            }
            self.0.push(low | 0x80);
        }
    }

    fn tag(&mut self, number: u32, wire: u32) {
        self.varint(u64::from(number << 3 | wire));
    }

    fn delimited(&mut self, number: u32, bytes: &[u8]) {
        self.tag(number, 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn string(&mut self, number: u32, text: &str) {
        if !text.is_empty() {
            self.delimited(number, text.as_bytes());
        }
    }

    fn bool(&mut self, number: u32, flag: bool) {
        if flag {
            self.bool_always(number, flag);
        }
    }

    fn bool_always(&mut self, number: u32, flag: bool) {
        self.tag(number, 0);
        self.0.push(u8::from(flag));
    }

    fn integer(&mut self, number: u32, value: Option<&Value>) {
        if let Some(value) = value.and_then(Value::as_u64).filter(|v| *v != 0) {
            self.tag(number, 0);
            self.varint(value);
        }
    }

    fn double(&mut self, number: u32, value: Option<&Value>) {
        // As proto3 does, zero is left out.
        if let Some(value) = value.and_then(Value::as_f64).filter(|v| *v != 0.0) {
            self.tag(number, 1);
            self.0.extend_from_slice(&value.to_le_bytes());
        }
    }

    fn message(&mut self, number: u32, write: impl FnOnce(&mut Writer)) {
        let mut inner = Writer::default();
        write(&mut inner);
        self.delimited(number, &inner.0);
    }

    /// `Named...{name = 1, value = 2}`
    fn named(&mut self, number: u32, name: &str, write: impl FnOnce(&mut Writer)) {
        self.message(number, |w| {
            w.string(1, name);
            w.message(2, write);
        });
    }
}
