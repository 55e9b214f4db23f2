//! A definition with its templates split and its expressions parsed: what can be known before types.
//!
//! Absent: names and order (order), types (typing).
mod call;
mod source;

use std::sync::Arc;

use cel::{
    Ast, Env, Value,
    value::{Key, List, MapBuilder},
};

use crate::engine::{
    compile::diagnose,
    definition::{Definition, Read, Validation},
    diagnostic::{Diagnostic, FieldPath, Place},
    kinds::{Kind, Kinds, Policies},
    language,
    limits::{MAX_SOURCES, MAX_TEMPLATE_DEPTH, MAX_TEMPLATE_NODES, MAX_VALIDATIONS, MAX_VARIABLES},
    plan::{Template, Text, TextPart, Work},
    schema::field_error::Reason,
    template::{self, Fragment, Part},
};

/// An expression that is parsed, or whose syntax errors are reported.
#[derive(Debug)]
pub(crate) struct Parsed {
    pub(crate) ast: Option<Ast>,
    pub(crate) text: Arc<str>,
    pub(crate) path: FieldPath,
    /// Byte offset of the text within the field's string.
    pub(crate) start: usize,
}

impl Parsed {
    /// One whose mistakes are reported: what stands beside it is checked all the same.
    fn wrong(path: FieldPath) -> Parsed {
        Parsed { ast: None, text: Arc::default(), path, start: 0 }
    }
}

/// A projection of parsed expressions. What failed is reported and left out.
pub(crate) struct Projection {
    pub(crate) nodes: Vec<ParsedNode>,
    pub(crate) validations: Vec<ParsedValidation>,
    pub(crate) status: Option<Template<Parsed>>,
}

/// A source or a variable.
pub(crate) struct ParsedNode {
    /// `bucket`, `variables.bytes`
    pub(crate) name: Arc<str>,
    /// The kind that a source reads, where it is known.
    pub(crate) kind: Option<Arc<Kind>>,
    /// `None`: it failed, and its type is not known.
    pub(crate) work: Option<Work<Parsed>>,
    pub(crate) path: FieldPath,
    /// Its type is not to be relied on.
    pub(crate) uncertain: bool,
}

/// A validation before its types are known.
pub(crate) struct ParsedValidation {
    pub(crate) expression: Parsed,
    pub(crate) message: Option<Arc<str>>,
    pub(crate) message_expression: Option<Parsed>,
    pub(crate) reason: Reason,
    pub(crate) field_path: Option<Arc<str>>,
    pub(crate) path: FieldPath,
}

/// Parses, and collects what is wrong.
pub(crate) struct Parser<'a> {
    env: &'static Env,
    diagnostics: &'a mut Vec<Diagnostic>,
    template_nodes: usize,
}

impl<'a> Parser<'a> {
    pub(crate) fn new(diagnostics: &'a mut Vec<Diagnostic>) -> Parser<'a> {
        Parser { env: language::base(), diagnostics, template_nodes: 0 }
    }

    /// The whole projection.
    pub(crate) fn projection(
        mut self,
        definition: &Definition,
        kinds: &dyn Kinds,
        policies: &dyn Policies,
    ) -> Projection {
        let root = FieldPath::root().field("projection");
        let mut nodes = Vec::new();
        for (i, source) in definition.sources.iter().enumerate().take(MAX_SOURCES) {
            let path = root.field("sources").index(i);
            let kind = match &source.read {
                Read::Http(_) | Read::Wrong => None,
                Read::ExternalRef(reference) => {
                    let kind = kinds.kind(&reference.api_version, &reference.kind);
                    if kind.is_none() {
                        self.report(source::unknown_kind(reference, kinds, &path.field("externalRef")));
                    }
                    kind
                }
            };
            let work =
                self.source(definition, source, kind.as_deref(), policies, &path).map(|s| Work::Source(Box::new(s)));
            nodes.push(ParsedNode { name: source.id.clone(), kind, work, path, uncertain: source.uncertain });
        }
        for (i, variable) in definition.variables.iter().enumerate().take(MAX_VARIABLES) {
            let path = root.field("variables").index(i);
            let work = Work::Variable(self.expression(&variable.expression, path.field("expression")));
            nodes.push(ParsedNode {
                name: format!("variables.{}", variable.name).into(),
                kind: None,
                work: Some(work),
                path,
                uncertain: false,
            });
        }
        let validations = definition.validations.iter().enumerate().take(MAX_VALIDATIONS);
        let validations = validations.map(|(i, v)| self.validation(v, root.field("validations").index(i))).collect();
        let status = definition.status.as_ref().and_then(|status| self.status(status, root.field("status")));
        Projection { nodes, validations, status }
    }

    fn status(&mut self, status: &Value, path: FieldPath) -> Option<Template<Parsed>> {
        let Value::Map(_) = status else {
            self.report(Diagnostic::error(path, "`status` is a map").help("name its fields: `phase: ${...}`"));
            return None;
        };
        self.template(status, path, 0)
    }

    fn validation(&mut self, validation: &Validation, path: FieldPath) -> ParsedValidation {
        let expression = self.expression(&validation.expression, path.field("expression"));
        let message_expression =
            validation.message_expression.as_ref().map(|e| self.expression(e, path.field("messageExpression")));
        let reason = match validation.reason.as_deref() {
            None | Some("FieldValueInvalid") => Reason::Invalid,
            Some("FieldValueForbidden") => Reason::Forbidden,
            Some("FieldValueRequired") => Reason::Required,
            Some("FieldValueDuplicate") => Reason::Duplicate,
            Some(other) => {
                self.report(Diagnostic::error(path.field("reason"), format!("unknown reason `{other}`")).help(
                    "one of `FieldValueInvalid`, `FieldValueForbidden`, `FieldValueRequired`, `FieldValueDuplicate`",
                ));
                Reason::Invalid
            }
        };
        let message = validation.message.clone();
        if message.as_ref().is_some_and(|m| m.trim().is_empty()) {
            self.report(Diagnostic::error(path.field("message"), "the message is empty"));
        }
        let field_path = validation.field_path.clone();
        ParsedValidation { expression, message, message_expression, reason, field_path, path }
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// CEL without `${}`.
    fn expression(&mut self, text: &Arc<str>, path: FieldPath) -> Parsed {
        let whole = text.trim();
        if whole.starts_with("${") && whole.ends_with('}') {
            self.report(
                Diagnostic::error(path.clone(), "this field is an expression already")
                    .help("write the CEL without `${` and `}`"),
            );
            return Parsed::wrong(path);
        }
        if whole.is_empty() {
            self.report(Diagnostic::error(path.clone(), "must not be empty").help("write CEL"));
            return Parsed::wrong(path);
        }
        self.fragment(Fragment { text: text.clone(), start: 0 }, path)
    }

    fn fragment(&mut self, Fragment { text, start }: Fragment, path: FieldPath) -> Parsed {
        let ast = match self.env.parse(&text) {
            Ok(ast) => Some(ast),
            Err(issues) => {
                self.diagnostics.extend(diagnose(&issues, &path, start));
                None
            }
        };
        Parsed { ast, text, path, start }
    }

    fn split(&mut self, string: &str, path: &FieldPath) -> Option<template::Template> {
        template::parse(string)
            .map_err(|error| {
                self.report(
                    Diagnostic::error(path.clone(), error.message).at(Place::Within(error.place)).help(error.help),
                );
            })
            .ok()
    }

    /// A string that is nothing but one `${...}`.
    fn lone(&mut self, string: &str, path: FieldPath) -> Parsed {
        match self.split(string, &path) {
            None => Parsed::wrong(path),
            Some(template::Template::Lone(fragment)) => self.fragment(fragment, path),
            Some(template::Template::Text(_) | template::Template::Mixed(_)) => {
                self.report(
                    Diagnostic::error(path.clone(), "an expression is wanted here and nothing else")
                        .help("write all of it as one `${...}`"),
                );
                Parsed::wrong(path)
            }
        }
    }

    /// A template that gives a string.
    fn text(&mut self, string: &Arc<str>, path: &FieldPath) -> Text<Parsed> {
        match self.split(string, path) {
            None => Text::Parts(vec![TextPart::Expression(Parsed::wrong(path.clone()))]),
            Some(template::Template::Text(text)) => Text::Constant(text),
            Some(template::Template::Lone(fragment)) => {
                Text::Parts(vec![TextPart::Expression(self.fragment(fragment, path.clone()))])
            }
            Some(template::Template::Mixed(parts)) => Text::Parts(self.parts(parts, path)),
        }
    }

    fn parts(&mut self, parts: Vec<Part>, path: &FieldPath) -> Vec<TextPart<Parsed>> {
        let part = |part| match part {
            Part::Text(text) => TextPart::Constant(text),
            Part::Expression(fragment) => TextPart::Expression(self.fragment(fragment, path.clone())),
        };
        parts.into_iter().map(part).collect()
    }

    /// A template that gives any value.
    fn template(&mut self, value: &Value, path: FieldPath, depth: usize) -> Option<Template<Parsed>> {
        self.template_nodes += 1;
        if depth > MAX_TEMPLATE_DEPTH || self.template_nodes > MAX_TEMPLATE_NODES {
            // Told once: everything after it is too much as well.
            if self.template_nodes <= MAX_TEMPLATE_NODES + 1 {
                let message = format!(
                    "the template may have {MAX_TEMPLATE_NODES} fields and elements, {MAX_TEMPLATE_DEPTH} levels deep"
                );
                self.report(Diagnostic::error(path, message));
                self.template_nodes = MAX_TEMPLATE_NODES + 1;
            }
            return None;
        }
        match value {
            Value::String(string) => Some(match self.split(string, &path)? {
                template::Template::Text(text) => Template::Constant(Value::String(text)),
                template::Template::Lone(fragment) => Template::Expression(self.fragment(fragment, path)),
                template::Template::Mixed(parts) => Template::Text(Text::Parts(self.parts(parts, &path))),
            }),
            Value::Map(map) => {
                let mut fields = Vec::with_capacity(map.len());
                for (key, value) in map.iter() {
                    let Key::String(key) = key else { continue };
                    let field = path.field(key);
                    if key.contains("${") {
                        self.report(
                            Diagnostic::error(field, "field names are fixed")
                                .at(Place::Key)
                                .help("give the whole map as one expression: `${{key: value}}`"),
                        );
                    } else if let Some(template) = self.template(value, field, depth + 1) {
                        fields.push((key.clone(), template));
                    }
                }
                Some(fold_map(fields))
            }
            Value::List(list) => {
                let element = |(i, value)| self.template(value, path.index(i), depth + 1);
                Some(fold_list(list.as_slice().iter().enumerate().filter_map(element).collect()))
            }
            constant => Some(Template::Constant(constant.clone())),
        }
    }
}

/// A map of constants is a constant: it is made once and shared by all answers.
fn fold_map(fields: Vec<(Arc<str>, Template<Parsed>)>) -> Template<Parsed> {
    if !fields.iter().all(|(_, template)| matches!(template, Template::Constant(_))) {
        return Template::Map(fields);
    }
    let mut map = MapBuilder::with_capacity(fields.len());
    for (key, template) in fields {
        if let Template::Constant(value) = template {
            map.insert(key, value);
        }
    }
    Template::Constant(Value::Map(map.build()))
}

/// The same for a list.
fn fold_list(elements: Vec<Template<Parsed>>) -> Template<Parsed> {
    if !elements.iter().all(|template| matches!(template, Template::Constant(_))) {
        return Template::List(elements);
    }
    let values = elements.into_iter().filter_map(|template| match template {
        Template::Constant(value) => Some(value),
        _ => None,
    });
    Template::Constant(Value::List(List::from(values.collect::<Vec<_>>())))
}
