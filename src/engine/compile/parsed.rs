//! A definition with its templates split and its expressions parsed: what can be known before types.
//!
//! Absent: names and order (order), types (typing).
use std::sync::Arc;

use cel::{Ast, Env, Value, value::Key};

use crate::engine::{
    compile::diagnose,
    definition::{self, Definition, ExternalRef, Read, Validation},
    diagnostic::{Diagnostic, FieldPath, Place},
    kinds::{Kind, Kinds},
    language,
    limits::{MAX_SOURCES, MAX_TEMPLATE_DEPTH, MAX_TEMPLATE_NODES, MAX_VALIDATIONS, MAX_VARIABLES},
    need::{Operator, Resource},
    plan::{Namespace, PlannedRequirement, Source, Target, Template, Text, TextPart, Work},
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
    pub(crate) fn projection(mut self, definition: &Definition, kinds: &dyn Kinds) -> Projection {
        let root = FieldPath::root().field("projection");
        let mut nodes = Vec::new();
        for (i, source) in definition.sources.iter().enumerate().take(MAX_SOURCES) {
            let path = root.field("sources").index(i);
            let Read::ExternalRef(reference) = &source.read;
            let kind = kinds.kind(&reference.api_version, &reference.kind);
            if kind.is_none() {
                self.report(unknown_kind(reference, kinds, &path.field("externalRef")));
            }
            let work = self.source(definition, source, kind.as_deref(), &path).map(|s| Work::Source(Box::new(s)));
            nodes.push(ParsedNode { name: source.id.clone(), kind, work, path });
        }
        for (i, variable) in definition.variables.iter().enumerate().take(MAX_VARIABLES) {
            let path = root.field("variables").index(i);
            let work = Work::Variable(self.expression(&variable.expression, path.field("expression")));
            nodes.push(ParsedNode {
                name: format!("variables.{}", variable.name).into(),
                kind: None,
                work: Some(work),
                path,
            });
        }
        let validations = definition.validations.iter().enumerate().take(MAX_VALIDATIONS);
        let validations =
            validations.filter_map(|(i, v)| self.validation(v, root.field("validations").index(i))).collect();
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

    fn validation(&mut self, validation: &Validation, path: FieldPath) -> Option<ParsedValidation> {
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
                return None;
            }
        };
        let message = validation.message.clone();
        if message.as_ref().is_some_and(|m| m.trim().is_empty()) {
            self.report(Diagnostic::error(path.field("message"), "the message is empty"));
        }
        let field_path = validation.field_path.clone();
        Some(ParsedValidation { expression, message, message_expression, reason, field_path, path })
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
            return Parsed { ast: None, text: text.clone(), path, start: 0 };
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
    fn lone(&mut self, string: &str, path: FieldPath) -> Option<Parsed> {
        match self.split(string, &path)? {
            template::Template::Lone(fragment) => Some(self.fragment(fragment, path)),
            template::Template::Text(_) | template::Template::Mixed(_) => {
                self.report(
                    Diagnostic::error(path, "an expression is wanted here and nothing else")
                        .help("write all of it as one `${...}`"),
                );
                None
            }
        }
    }

    /// A template that gives a string.
    fn text(&mut self, string: &Arc<str>, path: &FieldPath) -> Option<Text<Parsed>> {
        Some(match self.split(string, path)? {
            template::Template::Text(text) => Text::Constant(text),
            template::Template::Lone(fragment) => {
                Text::Parts(vec![TextPart::Expression(self.fragment(fragment, path.clone()))])
            }
            template::Template::Mixed(parts) => Text::Parts(self.parts(parts, path)),
        })
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
                Some(Template::Map(fields))
            }
            Value::List(list) => {
                let element = |(i, value)| self.template(value, path.index(i), depth + 1);
                Some(Template::List(list.as_slice().iter().enumerate().filter_map(element).collect()))
            }
            constant => Some(Template::Constant(constant.clone())),
        }
    }

    /// A source: its kind decides whether it has a namespace.
    fn source(
        &mut self,
        definition: &Definition,
        source: &definition::Source,
        kind: Option<&Kind>,
        path: &FieldPath,
    ) -> Option<Source<Parsed>> {
        let when = path.field("includeWhen");
        let conditions = source.include_when.iter().enumerate();
        let include_when: Vec<_> = conditions.filter_map(|(i, text)| self.lone(text, when.index(i))).collect();
        let each = path.field("forEach");
        let dimensions = source.for_each.iter().enumerate();
        let for_each: Vec<_> = dimensions
            .filter_map(|(i, (name, text))| Some((name.clone(), self.lone(text, each.index(i).field(name))?)))
            .collect();
        let Read::ExternalRef(reference) = &source.read;
        let path = path.field("externalRef");
        let namespace = self.namespace(definition, reference, kind, &path);
        let target = self.target(reference, &path);
        Some(Source {
            resource: Resource { api_version: reference.api_version.clone(), kind: reference.kind.clone() },
            read_as: reference.read_as,
            include_when,
            for_each,
            optional: reference.optional,
            namespace: namespace?,
            target: target?,
        })
    }

    fn namespace(
        &mut self,
        definition: &Definition,
        reference: &ExternalRef,
        kind: Option<&Kind>,
        path: &FieldPath,
    ) -> Option<Namespace<Parsed>> {
        let metadata = path.field("metadata");
        let cluster_scoped = kind.is_some_and(|kind| !kind.namespaced);
        match &reference.namespace {
            Some(_) if cluster_scoped => {
                let message = format!("`{}` is cluster-scoped and has no namespace", reference.kind);
                self.report(Diagnostic::error(metadata.field("namespace"), message).help("leave the namespace out"));
                None
            }
            Some(namespace) => Some(Namespace::Template(self.text(namespace, &metadata.field("namespace"))?)),
            None if cluster_scoped => Some(Namespace::All),
            None if definition.namespaced => Some(Namespace::Own),
            None if reference.selector.is_some() || kind.is_none() => Some(Namespace::All),
            None => {
                let message = format!("`{}` is namespaced, and `{}` is not", reference.kind, definition.kind);
                let help = "say in which namespace the object is: `namespace: ...`";
                self.report(Diagnostic::error(metadata, message).help(help));
                None
            }
        }
    }

    fn target(&mut self, reference: &ExternalRef, path: &FieldPath) -> Option<Target<Parsed>> {
        match (&reference.name, &reference.selector) {
            (Some(name), None) => Some(Target::Name(self.text(name, &path.field("metadata").field("name"))?)),
            (None, Some(selector)) => {
                if reference.optional {
                    let message = "a list is empty where nothing is selected, and never absent";
                    self.report(Diagnostic::error(path.field("optional"), message).help("leave `optional` out"));
                }
                Some(Target::Selector(self.selector(selector, &path.field("selector"))?))
            }
            (Some(_), Some(_)) => {
                self.report(
                    Diagnostic::error(path.field("metadata"), "both a name and a selector")
                        .help("a name reads one object, a selector a list: leave one out"),
                );
                None
            }
            (None, None) => {
                self.report(
                    Diagnostic::error(path.field("metadata"), "neither a name nor a selector")
                        .help("`name: ...` reads one object, `selector: {}` a list of all"),
                );
                None
            }
        }
    }

    fn selector(&mut self, selector: &Value, path: &FieldPath) -> Option<Vec<PlannedRequirement<Parsed>>> {
        let Value::Map(selector) = selector else {
            self.report(Diagnostic::error(path.clone(), "a selector is a map"));
            return None;
        };
        let mut requirements = Vec::new();
        for (key, value) in selector.iter() {
            match (key, value) {
                (Key::String(key), Value::Map(labels)) if &**key == "matchLabels" => {
                    self.match_labels(labels, &path.field("matchLabels"), &mut requirements);
                }
                (Key::String(key), Value::List(list)) if &**key == "matchExpressions" => {
                    for (i, expression) in list.as_slice().iter().enumerate() {
                        let path = path.field("matchExpressions").index(i);
                        requirements.extend(self.match_expression(expression, &path));
                    }
                }
                (Key::String(key), _) => {
                    let at = path.field(key);
                    self.report(
                        Diagnostic::error(at, format!("`{key}` is no part of a selector"))
                            .at(Place::Key)
                            .help("a selector has `matchLabels` (a map) and `matchExpressions` (a list)"),
                    );
                }
                _ => {}
            }
        }
        Some(requirements)
    }

    fn match_labels(
        &mut self,
        labels: &cel::value::Map,
        path: &FieldPath,
        requirements: &mut Vec<PlannedRequirement<Parsed>>,
    ) {
        for (label, value) in labels.iter() {
            let Key::String(label) = label else { continue };
            let at = path.field(label);
            let Value::String(value) = value else {
                self.report(Diagnostic::error(at, "a label's value is a string").help("put it in quotes"));
                continue;
            };
            let values = self.text(value, &at).into_iter().collect();
            requirements.push(PlannedRequirement { key: label.clone(), operator: Operator::In, values });
        }
    }

    fn match_expression(&mut self, expression: &Value, path: &FieldPath) -> Option<PlannedRequirement<Parsed>> {
        let field = |name: &str| match expression {
            Value::Map(map) => map.get(name),
            _ => None,
        };
        let string = |name: &str| match field(name) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        };
        let (Some(key), Some(operator)) = (string("key"), string("operator")) else {
            self.report(
                Diagnostic::error(path.clone(), "a match expression has a `key` and an `operator`")
                    .help("`{key: app, operator: In, values: [web]}`"),
            );
            return None;
        };
        let values: &[Value] = match field("values") {
            Some(Value::List(list)) => list.as_slice(),
            _ => &[],
        };
        let operator = match (&**operator, values.is_empty()) {
            ("In", false) => Operator::In,
            ("NotIn", false) => Operator::NotIn,
            ("Exists", true) => Operator::Exists,
            ("DoesNotExist", true) => Operator::DoesNotExist,
            ("In" | "NotIn", true) => {
                let message = format!("`{operator}` wants at least one value");
                self.report(Diagnostic::error(path.clone(), message).help("add `values: [...]`"));
                return None;
            }
            ("Exists" | "DoesNotExist", false) => {
                let message = format!("`{operator}` takes no values");
                self.report(Diagnostic::error(path.field("values"), message));
                return None;
            }
            _ => {
                self.report(
                    Diagnostic::error(path.field("operator"), format!("unknown operator `{operator}`"))
                        .help("one of `In`, `NotIn`, `Exists`, `DoesNotExist`"),
                );
                return None;
            }
        };
        let mut texts = Vec::with_capacity(values.len());
        for (i, value) in values.iter().enumerate() {
            let at = path.field("values").index(i);
            match value {
                Value::String(text) => texts.extend(self.text(text, &at)),
                _ => self.report(Diagnostic::error(at, "a label's value is a string").help("put it in quotes")),
            }
        }
        Some(PlannedRequirement { key: key.clone(), operator, values: texts })
    }
}

/// A warning: what it reads is `dyn`, and its mistakes show at run time only.
fn unknown_kind(reference: &ExternalRef, kinds: &dyn Kinds, path: &FieldPath) -> Diagnostic {
    let wanted = format!("{} {}", reference.api_version, reference.kind);
    let message = format!("nothing here knows `{}` of `{}`", reference.kind, reference.api_version);
    let close = kinds
        .names()
        .into_iter()
        .map(|(version, kind)| (strsim::damerau_levenshtein(&wanted, &format!("{version} {kind}")), version, kind))
        .filter(|(distance, ..)| *distance <= 3)
        .min();
    let help = match close {
        Some((_, version, kind)) => format!("did you mean `{kind}` of `{version}`?"),
        None => "its fields are not checked; add its CustomResourceDefinition".to_owned(),
    };
    Diagnostic::warning(path.field("kind"), message).help(help)
}
