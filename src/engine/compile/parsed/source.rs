//! Sources: references to workspace objects with their templates split.
//!
//! Absent: the rest of a projection.
use cel::{
    Value,
    value::{Key, Map},
};

use crate::engine::{
    compile::parsed::{Parsed, Parser},
    definition::{self, Definition, ExternalRef, Read},
    diagnostic::{Diagnostic, FieldPath, Place},
    kinds::{Kind, Kinds, Policies},
    names,
    need::{Operator, Resource},
    plan::{self, Namespace, Objects, PlannedRequirement, Source, Target, Text},
};

impl Parser<'_> {
    /// A source: its kind decides whether it has a namespace.
    pub(super) fn source(
        &mut self,
        definition: &Definition,
        source: &definition::Source,
        kind: Option<&Kind>,
        policies: &dyn Policies,
        path: &FieldPath,
    ) -> Option<Source<Parsed>> {
        let when = path.field("includeWhen");
        let conditions = source.include_when.iter().enumerate();
        let include_when: Vec<_> = conditions.map(|(i, text)| self.lone(text, when.index(i))).collect();
        let each = path.field("forEach");
        let dimensions = source.for_each.iter().enumerate();
        let for_each: Vec<_> =
            dimensions.map(|(i, (name, text))| (name.clone(), self.lone(text, each.index(i).field(name)))).collect();
        let (read, optional) = match &source.read {
            Read::ExternalRef(reference) => {
                let path = path.field("externalRef");
                (self.objects(definition, reference, kind, &path).map(plan::Read::Objects), reference.optional)
            }
            Read::Http(http) => {
                let call = self.call(http, &path.field("http"), policies);
                (call.map(|call| plan::Read::Call(Box::new(call))), http.optional)
            }
            Read::Wrong => (None, false),
        };
        Some(Source { include_when, for_each, optional, read: read? })
    }

    fn objects(
        &mut self,
        definition: &Definition,
        reference: &ExternalRef,
        kind: Option<&Kind>,
        path: &FieldPath,
    ) -> Option<Objects<Parsed>> {
        let namespace = self.namespace(definition, reference, kind, path);
        let target = self.target(reference, path);
        Some(Objects {
            resource: Resource { api_version: reference.api_version.clone(), kind: reference.kind.clone() },
            read_as: reference.read_as,
            namespace,
            target: target?,
        })
    }

    fn namespace(
        &mut self,
        definition: &Definition,
        reference: &ExternalRef,
        kind: Option<&Kind>,
        path: &FieldPath,
    ) -> Namespace<Parsed> {
        let metadata = path.field("metadata");
        let cluster_scoped = kind.is_some_and(|kind| !kind.namespaced);
        match &reference.namespace {
            Some(_) if cluster_scoped => {
                let message = format!("`{}` is cluster-scoped and has no namespace", reference.kind);
                self.report(Diagnostic::error(metadata.field("namespace"), message).help("leave the namespace out"));
                Namespace::All
            }
            Some(namespace) => {
                let at = metadata.field("namespace");
                let text = self.text(namespace, &at);
                // `""` is all namespaces, of a list.
                if !(reference.selector.is_some() && matches!(&text, Text::Constant(text) if text.is_empty())) {
                    self.fit(&text, at, "namespace", names::dns1123_label);
                }
                Namespace::Template(text)
            }
            None if cluster_scoped => Namespace::All,
            None if definition.namespaced => Namespace::Own,
            None if reference.selector.is_some() || kind.is_none() => Namespace::All,
            None => {
                let message = format!("`{}` is namespaced, and `{}` is not", reference.kind, definition.kind);
                let help = "say in which namespace the object is: `namespace: ...`";
                self.report(Diagnostic::error(metadata, message).help(help));
                Namespace::All
            }
        }
    }

    fn target(&mut self, reference: &ExternalRef, path: &FieldPath) -> Option<Target<Parsed>> {
        match (&reference.name, &reference.selector) {
            (Some(name), None) => {
                let at = path.field("metadata").field("name");
                let text = self.text(name, &at);
                self.fit(&text, at, "name", |text| match text {
                    "" => vec!["it is empty".to_owned()],
                    text => names::path_segment(text),
                });
                Some(Target::Name(text))
            }
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

    /// Reports a constant that is not what it is to be; what templates give is looked at when they have given it.
    fn fit(&mut self, text: &Text<Parsed>, at: FieldPath, what: &str, problems: impl Fn(&str) -> Vec<String>) {
        let Text::Constant(text) = text else { return };
        if let Some(problem) = problems(text).into_iter().next() {
            self.report(Diagnostic::error(at, format!("this is no {what}")).help(problem));
        }
    }

    /// Reports a label that cannot be one. It is written out: which labels there are is no value's to say.
    fn label(&mut self, label: &str, at: FieldPath, place: Place) {
        if let Some(problem) = names::qualified_name(label).into_iter().next() {
            self.report(Diagnostic::error(at, "this is no label").at(place).help(problem));
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

    fn match_labels(&mut self, labels: &Map, path: &FieldPath, requirements: &mut Vec<PlannedRequirement<Parsed>>) {
        for (label, value) in labels.iter() {
            let Key::String(label) = label else { continue };
            let at = path.field(label);
            self.label(label, at.clone(), Place::Key);
            let Value::String(value) = value else {
                self.report(Diagnostic::error(at, "a label's value is a string").help("put it in quotes"));
                continue;
            };
            let text = self.text(value, &at);
            self.fit(&text, at, "label's value", names::label_value);
            let values = vec![text];
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
            let missing = if string("key").is_none() { "key" } else { "operator" };
            self.report(
                Diagnostic::error(path.field(missing), "a match expression has a `key` and an `operator`")
                    .help("`{key: app, operator: In, values: [web]}`"),
            );
            return None;
        };
        self.label(key, path.field("key"), Place::Value);
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
                Value::String(text) => {
                    let text = self.text(text, &at);
                    self.fit(&text, at, "label's value", names::label_value);
                    texts.push(text);
                }
                _ => self.report(Diagnostic::error(at, "a label's value is a string").help("put it in quotes")),
            }
        }
        Some(PlannedRequirement { key: key.clone(), operator, values: texts })
    }
}

/// A warning: what it reads is `dyn`, and its mistakes show at run time only.
pub(super) fn unknown_kind(reference: &ExternalRef, kinds: &dyn Kinds, path: &FieldPath) -> Diagnostic {
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
