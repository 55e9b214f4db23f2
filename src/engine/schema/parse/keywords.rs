//! The keywords, one by one.
use std::sync::Arc;

use cel::{
    Value,
    value::{Key, Map},
};

use super::{Level, Reader, Spot, describe, suggestion};
use crate::engine::{
    diagnostic::{Diagnostic, FieldPath, Place},
    schema::{
        Structural, format,
        pattern::Pattern,
        structural::{Additional, ListType, MapType, Rule, SchemaType},
    },
};

/// Every keyword of a structural schema, for suggestions.
const KEYWORDS: [&str; 36] = [
    "type",
    "properties",
    "additionalProperties",
    "items",
    "required",
    "nullable",
    "default",
    "enum",
    "format",
    "pattern",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "title",
    "description",
    "example",
    "externalDocs",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-int-or-string",
    "x-kubernetes-embedded-resource",
    "x-kubernetes-list-type",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-map-type",
    "x-kubernetes-validations",
];

/// What JSON Schema and OpenAPI have and structural schemas have not, and what to do instead.
const FORBIDDEN: [(&str, &str); 16] = [
    ("$ref", "write the schema out in place"),
    ("definitions", "write the schema out in place"),
    ("$defs", "write the schema out in place"),
    ("$schema", "leave it out"),
    ("id", "leave it out"),
    ("$id", "leave it out"),
    ("dependencies", "use `x-kubernetes-validations`"),
    ("patternProperties", "use `additionalProperties`"),
    ("additionalItems", "use `items`"),
    ("const", "use `enum` with one value"),
    ("uniqueItems", "use `x-kubernetes-list-type: set`"),
    ("deprecated", "say so in `description`"),
    ("discriminator", "use `oneOf`"),
    ("readOnly", "leave it out"),
    ("writeOnly", "leave it out"),
    ("xml", "leave it out"),
];

impl Reader {
    pub(super) fn keyword(&mut self, out: &mut Structural, map: &Map, name: &str, value: &Value, at: &Spot<'_>) {
        let path = &at.path.field(name);
        if at.level == Level::Nested && self.forbid_nested(name, value, path) {
            return;
        }
        let validation = &mut out.validation;
        match name {
            "type" => out.ty = self.schema_type(value, path),
            "title" => out.title = self.text(value, path),
            "description" => out.description = self.text(value, path),
            "default" => out.default = Some(value.clone()),
            "example" => out.example = Some(value.clone()),
            "externalDocs" => drop(self.map(value, path)),
            "nullable" => out.nullable = self.flag(value, path),
            "properties" => out.properties = self.properties(value, at),
            "additionalProperties" => out.additional = self.additional(value, path, at),
            "items" => match value {
                Value::List(_) => self.error(path, "must be one schema, not a list of schemas"),
                _ => out.items = self.child(value, path, Level::Item, at),
            },
            "x-kubernetes-preserve-unknown-fields" => match value {
                Value::Bool(true) => out.preserve_unknown_fields = true,
                other => drop(self.wrong::<()>(path, "true or undefined", other)),
            },
            "x-kubernetes-int-or-string" => out.int_or_string = self.flag(value, path),
            "x-kubernetes-embedded-resource" => out.embedded_resource = self.flag(value, path),
            "x-kubernetes-list-type" => {
                let words = [("atomic", ListType::Atomic), ("set", ListType::Set), ("map", ListType::Map)];
                out.list_type = self.word(value, path, &words);
            }
            "x-kubernetes-list-map-keys" => out.list_map_keys = self.texts(value, path),
            "x-kubernetes-map-type" => {
                out.map_type = self.word(value, path, &[("atomic", MapType::Atomic), ("granular", MapType::Granular)]);
            }
            "x-kubernetes-validations" => out.rules = self.rules(value, path),
            "format" => validation.format = self.format(value, path),
            "maximum" => validation.maximum = self.number(value, path),
            "exclusiveMaximum" => validation.exclusive_maximum = self.exclusive(value, path, "maximum"),
            "minimum" => validation.minimum = self.number(value, path),
            "exclusiveMinimum" => validation.exclusive_minimum = self.exclusive(value, path, "minimum"),
            "multipleOf" => match self.number(value, path) {
                Some(factor) if factor <= 0.0 => self.error(path, "must be greater than 0"),
                factor => validation.multiple_of = factor,
            },
            "maxLength" => validation.max_length = self.count(value, path),
            "minLength" => validation.min_length = self.count(value, path),
            "maxItems" => validation.max_items = self.count(value, path),
            "minItems" => validation.min_items = self.count(value, path),
            "maxProperties" => validation.max_properties = self.count(value, path),
            "minProperties" => validation.min_properties = self.count(value, path),
            "pattern" => validation.pattern = self.pattern(value, path),
            "required" => validation.required = self.texts(value, path),
            "enum" => match self.list(value, path) {
                Some([]) => self.error(path, "must hold at least one value"),
                Some(list) => validation.enumeration = list.to_vec(),
                None => {}
            },
            "anyOf" if is_int_or_string(map, value) => {}
            "allOf" if int_or_string(map) => {
                let skip = first_any_of(value).is_some_and(is_integer_or_string);
                validation.all_of = self.schemas(&without_first_any_of(value, skip), name, at);
            }
            "allOf" => validation.all_of = self.schemas(value, name, at),
            "anyOf" => validation.any_of = self.schemas(value, name, at),
            "oneOf" => validation.one_of = self.schemas(value, name, at),
            "not" => {
                let nested = Spot { level: Level::Nested, ..*at };
                validation.not = self.child(value, path, Level::Nested, &nested);
            }
            "uniqueItems" if matches!(value, Value::Bool(false)) => {}
            other => self.unknown(other, path),
        }
    }

    fn unknown(&mut self, name: &str, path: &FieldPath) {
        match FORBIDDEN.iter().find(|(forbidden, _)| *forbidden == name) {
            Some((_, instead)) => {
                self.key_error(
                    path,
                    format!("`{name}` is not supported in structural schemas"),
                    Some((*instead).to_owned()),
                );
            }
            None => self.key_error(path, format!("unknown keyword `{name}`"), suggestion(name, KEYWORDS)),
        }
    }

    /// What may not stand within `allOf` and its kin, as it would change the structure.
    fn forbid_nested(&mut self, name: &str, value: &Value, path: &FieldPath) -> bool {
        let structural = matches!(
            name,
            "type"
                | "title"
                | "description"
                | "default"
                | "additionalProperties"
                | "nullable"
                | "externalDocs"
                | "x-kubernetes-validations"
        ) || name.starts_with("x-kubernetes-");
        if structural && !matches!(value, Value::Bool(false)) {
            let message = format!("`{name}` must not be within allOf, anyOf, oneOf or not: only value validations may");
            self.key_error(path, message, Some("move it to the schema around".to_owned()));
        }
        structural
    }

    fn schema_type(&mut self, value: &Value, path: &FieldPath) -> Option<SchemaType> {
        let words = SchemaType::ALL.map(|ty| (ty.as_str(), ty));
        self.word(value, path, &words)
    }

    fn word<T: Copy>(&mut self, value: &Value, path: &FieldPath, words: &[(&str, T)]) -> Option<T> {
        let text = self.text(value, path)?;
        let found = words.iter().find(|(word, _)| **word == *text).map(|(_, meaning)| *meaning);
        if found.is_none() {
            let all: Vec<String> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
            let error = Diagnostic::error(path.clone(), format!("must be one of {}, not `{text}`", all.join(", ")));
            let help = suggestion(&text, words.iter().map(|(word, _)| *word));
            self.found.push(Diagnostic { help, ..error });
        }
        found
    }

    fn additional(&mut self, value: &Value, path: &FieldPath, at: &Spot<'_>) -> Option<Additional> {
        match value {
            Value::Bool(true) => Some(Additional::Anything),
            Value::Bool(false) => {
                self.error(path, "must not be false: what is not specified is pruned anyway");
                None
            }
            schema => self.child(schema, path, Level::Field, at).map(Additional::Schema),
        }
    }

    /// OpenAPI 3.0's boolean; JSON Schema's later form is a number.
    fn exclusive(&mut self, value: &Value, path: &FieldPath, limit: &str) -> bool {
        if let Value::Int(_) | Value::Double(_) = value {
            let message = format!("must be true or false, not {}", describe(value));
            let help = format!("write `{limit}: {}` beside `true`", super::super::json::to_json(value));
            self.found.push(Diagnostic::error(path.clone(), message).help(help));
            return false;
        }
        self.flag(value, path)
    }

    fn format(&mut self, value: &Value, path: &FieldPath) -> Option<Arc<str>> {
        let text = self.text(value, path)?;
        if !format::KNOWN.contains(&&*text) {
            let help = suggestion(&text, format::KNOWN);
            let warning =
                Diagnostic::warning(path.clone(), format!("unrecognized format `{text}`, which is not checked"));
            self.found.push(Diagnostic { help, ..warning });
        }
        Some(text)
    }

    fn pattern(&mut self, value: &Value, path: &FieldPath) -> Option<Pattern> {
        let text = self.text(value, path)?;
        Pattern::new(&text).map_err(|why| self.error(path, format!("must be a regular expression of RE2: {why}"))).ok()
    }

    fn rules(&mut self, value: &Value, path: &FieldPath) -> Vec<Rule> {
        let list = self.list(value, path).unwrap_or_default();
        list.iter().enumerate().filter_map(|(i, rule)| self.rule(rule, &path.index(i))).collect()
    }

    fn rule(&mut self, value: &Value, path: &FieldPath) -> Option<Rule> {
        const KEYS: [&str; 6] = ["rule", "message", "messageExpression", "reason", "fieldPath", "optionalOldSelf"];
        let map = self.map(value, path)?;
        let mut rule = Rule::default();
        let before = self.found.len();
        for (key, value) in map.iter() {
            let Key::String(name) = key else { continue };
            let path = &path.field(name);
            match &**name {
                "rule" => rule.rule = self.text(value, path).unwrap_or_default(),
                "message" => rule.message = self.text(value, path),
                "messageExpression" => rule.message_expression = self.text(value, path),
                "fieldPath" => rule.field_path = self.text(value, path),
                "optionalOldSelf" => rule.optional_old_self = self.flag(value, path),
                "reason" => {
                    let words =
                        ["FieldValueInvalid", "FieldValueForbidden", "FieldValueRequired", "FieldValueDuplicate"];
                    rule.reason = self.word(value, path, &words.map(|word| (word, word))).map(Arc::from);
                }
                other => self.key_error(path, format!("unknown field `{other}`"), suggestion(other, KEYS)),
            }
        }
        if rule.rule.trim().is_empty() {
            // It may be there under a misspelt name.
            if self.found.len() == before {
                let path = path.field("rule");
                self.found.push(Diagnostic::error(path, "required: an expression giving a bool").at(Place::Value));
            }
            // The others keep their places.
            rule.rule = "true".into();
        }
        if rule.message.as_deref().is_some_and(|message| message.trim().is_empty() || message.contains('\n')) {
            self.error(&path.field("message"), "must be one line, and not empty");
        }
        Some(rule)
    }
}

fn int_or_string(map: &Map) -> bool {
    matches!(map.get("x-kubernetes-int-or-string"), Some(Value::Bool(true)))
}

/// `anyOf: [{type: integer}, {type: string}]`, which may stand beside `x-kubernetes-int-or-string` and says the same.
fn is_int_or_string(map: &Map, value: &Value) -> bool {
    int_or_string(map) && is_integer_or_string(value)
}

fn is_integer_or_string(value: &Value) -> bool {
    let is_type = |value: &Value, ty: &str| match value {
        Value::Map(map) => map.len() == 1 && matches!(map.get("type"), Some(Value::String(text)) if &**text == ty),
        _ => false,
    };
    match value {
        Value::List(list) => match list.as_slice() {
            [a, b] => is_type(a, "integer") && is_type(b, "string"),
            _ => false,
        },
        _ => false,
    }
}

fn first_any_of(all_of: &Value) -> Option<&Value> {
    match all_of {
        Value::List(list) => match list.as_slice().first()? {
            Value::Map(map) => map.get("anyOf"),
            _ => None,
        },
        _ => None,
    }
}

fn without_first_any_of(all_of: &Value, skip: bool) -> Value {
    let (true, Value::List(list)) = (skip, all_of) else { return all_of.clone() };
    let mut items = list.as_slice().to_vec();
    if let Some(Value::Map(first)) = items.first_mut() {
        let mut rest = cel::value::MapBuilder::default();
        for (key, value) in first.iter().filter(|(key, _)| !matches!(key, Key::String(name) if &**name == "anyOf")) {
            rest.insert(key.clone(), value.clone());
        }
        *first = rest.build();
    }
    Value::List(items.into())
}
