//! A compiled EphemeralSchema version: typed, ordered, immutable.
//!
//! INVARIANTS, upheld by `compile`, which alone builds one: `nodes` are in dependency order (a node reads only slots of
//! nodes before it); every slot is below `slots`; every expression has the type that its place wants.
//!
//! Absent: how it is built (compile), how it is evaluated (evaluation).
use std::sync::Arc;

use cel::{Program, Type, Value, check::AttributePath};

use crate::engine::{
    definition::{Format, Pagination, ReadAs},
    diagnostic::FieldPath,
    evaluation::{Evaluation, Inputs},
    need::{Operator, Resource},
    schema::{Structural, field_error::Reason, rules::Rules},
    select::Selection,
    url::Origin,
};

/// The slot of `object` in every expression.
pub(crate) const OBJECT: u32 = 0;
/// The slot of `request`.
pub(crate) const REQUEST: u32 = 1;
/// The slot of `authorizer`.
pub(crate) const AUTHORIZER: u32 = 2;
/// The slot of `authorizer.requestResource`.
pub(crate) const REQUEST_RESOURCE: u32 = 3;

/// A version after compilation. Shared by all requests to it.
#[derive(Debug)]
pub struct Plan {
    pub(crate) schema: Arc<Structural>,
    pub(crate) published: Arc<Structural>,
    pub(crate) rules: Rules,
    pub(crate) slots: usize,
    pub(crate) nodes: Vec<Node>,
    pub(crate) validations: Vec<Validation>,
    pub(crate) status: Option<Template>,
    pub(crate) inputs: Vec<AttributePath>,
    pub(crate) answer_inputs: Vec<AttributePath>,
    pub(crate) asks_authorizer: bool,
    pub(crate) estimated_cost: u64,
}

impl Plan {
    /// What a consumer may send: apiVersion, kind, metadata, spec.
    pub fn schema(&self) -> &Arc<Structural> {
        &self.schema
    }

    /// What is published in OpenAPI: [`Plan::schema`] and the inferred `status`.
    pub fn published(&self) -> &Arc<Structural> {
        &self.published
    }

    /// The schema's own `x-kubernetes-validations`.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Exactly what the answer depends on besides the workspace's objects: paths of `object` and `request`.
    pub fn inputs(&self) -> &[AttributePath] {
        &self.inputs
    }

    /// Those of [`Plan::inputs`] on which the answer depends once the early validations hold. A rule that compares
    /// something with `request.time` before anything is read does not make the answer depend on the time.
    pub fn answer_inputs(&self) -> &[AttributePath] {
        &self.answer_inputs
    }

    /// Whether an expression asks `authorizer`: then the answer depends on who asks, and on what they may do.
    pub fn asks_authorizer(&self) -> bool {
        self.asks_authorizer
    }

    /// Whether an expression can tell if a field of `request` is there, or what it is.
    pub fn reads_of_request(&self, field: &str) -> bool {
        let reads = |path: &AttributePath| path.fields.first().is_none_or(|first| &**first == field);
        // `authorizer.requestResource` is made of these.
        self.asks_authorizer && matches!(field, "resource" | "namespace" | "name")
            || self.inputs.iter().any(|path| &*path.variable == "request" && reads(path))
    }

    /// Whether anything is decided before something is read.
    pub fn validates_early(&self) -> bool {
        self.validations.iter().any(|validation| validation.early)
    }

    /// What one create is estimated to cost at most, in units of CEL cost: the sum over all expressions, as often as each is
    /// evaluated. Objects of the workspace are taken to have usual sizes where nothing bounds them.
    pub fn estimated_cost(&self) -> u64 {
        self.estimated_cost
    }

    /// The kinds that it reads, and with whose rights.
    pub fn reads(&self) -> impl Iterator<Item = (&Resource, ReadAs)> {
        self.nodes.iter().filter_map(|node| match &node.work {
            Work::Source(source) => match &source.read {
                Read::Objects(objects) => Some((&objects.resource, objects.read_as)),
                Read::Call(_) => None,
            },
            Work::Variable(_) => None,
        })
    }

    /// Begins an evaluation for one request.
    pub fn start(self: &Arc<Plan>, inputs: Inputs) -> Evaluation {
        Evaluation::new(Arc::clone(self), inputs)
    }
}

/// A program and where its text stands.
#[derive(Debug)]
pub(crate) struct Expression {
    pub(crate) program: Program,
    pub(crate) text: Arc<str>,
    /// Relative to the version: `projection.status.phase`.
    pub(crate) path: FieldPath,
    pub(crate) ty: Type,
}

/// A source or a variable.
#[derive(Debug)]
pub(crate) struct Node {
    /// `bucket`, `variables.bytes`
    pub(crate) name: Arc<str>,
    /// Where its value goes.
    pub(crate) slot: u32,
    /// Indexes of the nodes that it reads; all are smaller than its own.
    pub(crate) reads: Vec<usize>,
    pub(crate) work: Work,
}

/// What a node does to get its value. `E` is the phase of its expressions: parsed, then typed and planned.
#[derive(Debug)]
pub(crate) enum Work<E = Expression> {
    Variable(E),
    Source(Box<Source<E>>),
}

/// A source.
#[derive(Debug)]
pub(crate) struct Source<E = Expression> {
    /// All must hold, else the source is absent. Not empty: the source's type is optional.
    pub(crate) include_when: Vec<E>,
    /// The dimensions of the product, the first varies slowest. Empty: one read.
    pub(crate) for_each: Vec<(Arc<str>, E)>,
    /// What is missing is an absent value.
    pub(crate) optional: bool,
    pub(crate) read: Read<E>,
}

/// What a source reads.
#[derive(Debug)]
pub(crate) enum Read<E = Expression> {
    Objects(Objects<E>),
    Call(Box<Call<E>>),
}

/// Objects of the workspace.
#[derive(Debug)]
pub(crate) struct Objects<E = Expression> {
    pub(crate) resource: Resource,
    pub(crate) read_as: ReadAs,
    pub(crate) namespace: Namespace<E>,
    pub(crate) target: Target<E>,
}

/// A call of an HTTP service, and what is taken of its answer.
#[derive(Debug)]
pub(crate) struct Call<E = Expression> {
    pub(crate) policy: Arc<str>,
    pub(crate) method: Arc<str>,
    pub(crate) origin: Origin,
    pub(crate) segments: Vec<Text<E>>,
    /// An absent optional leaves the parameter out.
    pub(crate) query: Vec<(Arc<str>, Template<E>)>,
    /// An absent optional leaves the field out.
    pub(crate) headers: Vec<(Arc<str>, Template<E>)>,
    pub(crate) body: Option<Template<E>>,
    pub(crate) format: Format,
    pub(crate) pagination: Option<Pagination>,
    pub(crate) ttl_seconds: Option<u32>,
    pub(crate) select: Option<Selection>,
    /// Of what is taken.
    pub(crate) schema: Option<Arc<Structural>>,
    /// Of the source: `projection.sources[0].http`.
    pub(crate) path: FieldPath,
}

/// Where a source reads.
#[derive(Debug)]
pub(crate) enum Namespace<E = Expression> {
    /// All namespaces, or none for cluster-scoped kinds.
    All,
    /// The namespace of the object that is created.
    Own,
    /// What the author wrote.
    Template(Text<E>),
}

/// Which objects a source reads.
#[derive(Debug)]
pub(crate) enum Target<E = Expression> {
    Name(Text<E>),
    Selector(Vec<PlannedRequirement<E>>),
}

/// A requirement of a selector before its values are evaluated.
#[derive(Debug)]
pub(crate) struct PlannedRequirement<E = Expression> {
    pub(crate) key: Arc<str>,
    pub(crate) operator: Operator,
    pub(crate) values: Vec<Text<E>>,
}

/// A template that gives a string.
#[derive(Debug)]
pub(crate) enum Text<E = Expression> {
    Constant(Arc<str>),
    /// Each part is a string, or an expression that gives one.
    Parts(Vec<TextPart<E>>),
}

/// A part of a [`Text`].
#[derive(Debug)]
pub(crate) enum TextPart<E = Expression> {
    Constant(Arc<str>),
    Expression(E),
}

/// A template that gives any value.
#[derive(Debug)]
pub(crate) enum Template<E = Expression> {
    Constant(Value),
    /// An absent optional leaves the field or element out.
    Expression(E),
    Text(Text<E>),
    Map(Vec<(Arc<str>, Template<E>)>),
    List(Vec<Template<E>>),
}

/// A planned validation.
#[derive(Debug)]
pub(crate) struct Validation {
    pub(crate) expression: Expression,
    pub(crate) message: Option<Arc<str>>,
    pub(crate) message_expression: Option<Expression>,
    pub(crate) reason: Reason,
    /// `spec.since`; the root when the author gives none.
    pub(crate) field: FieldPath,
    /// Runs before anything is fetched.
    pub(crate) early: bool,
}

impl<E> Work<E> {
    /// All its expressions, in the author's order.
    pub(crate) fn expressions(&self) -> Vec<&E> {
        match self {
            Work::Variable(expression) => vec![expression],
            Work::Source(source) => {
                let mut all: Vec<&E> = source.include_when.iter().collect();
                all.extend(source.for_each.iter().map(|(_, e)| e));
                match &source.read {
                    Read::Objects(objects) => objects.expressions(&mut all),
                    Read::Call(call) => call.expressions(&mut all),
                }
                all
            }
        }
    }
}

impl<E> Objects<E> {
    fn expressions<'a>(&'a self, all: &mut Vec<&'a E>) {
        if let Namespace::Template(text) = &self.namespace {
            all.extend(text.expressions());
        }
        match &self.target {
            Target::Name(text) => all.extend(text.expressions()),
            Target::Selector(requirements) => {
                all.extend(requirements.iter().flat_map(|r| &r.values).flat_map(Text::expressions));
            }
        }
    }
}

impl<E> Call<E> {
    fn expressions<'a>(&'a self, all: &mut Vec<&'a E>) {
        all.extend(self.segments.iter().flat_map(Text::expressions));
        for template in self.query.iter().chain(&self.headers).map(|(_, t)| t).chain(&self.body) {
            template.expressions(all);
        }
    }
}

impl<E> Source<E> {
    pub(crate) fn is_list(&self) -> bool {
        matches!(&self.read, Read::Objects(Objects { target: Target::Selector(_), .. }))
    }

    /// Whether conditions make its value optional; a single optional read is optional already.
    pub(crate) fn is_conditional(&self) -> bool {
        !self.include_when.is_empty() && (!self.optional || !self.for_each.is_empty())
    }
}

impl<E> Text<E> {
    pub(crate) fn expressions(&self) -> impl Iterator<Item = &E> {
        let parts = match self {
            Text::Constant(_) => &[],
            Text::Parts(parts) => parts.as_slice(),
        };
        parts.iter().filter_map(|part| match part {
            TextPart::Constant(_) => None,
            TextPart::Expression(expression) => Some(expression),
        })
    }

    /// The same text in another phase. `f` sees every expression, also after one that fails.
    pub(crate) fn map<F>(self, f: &mut impl FnMut(E) -> Option<F>) -> Option<Text<F>> {
        Some(match self {
            Text::Constant(text) => Text::Constant(text),
            Text::Parts(parts) => Text::Parts(all(parts, |part| match part {
                TextPart::Constant(text) => Some(TextPart::Constant(text)),
                TextPart::Expression(expression) => f(expression).map(TextPart::Expression),
            })?),
        })
    }
}

impl<E> Target<E> {
    /// The same target in another phase.
    pub(crate) fn map<F>(self, f: &mut impl FnMut(E) -> Option<F>) -> Option<Target<F>> {
        Some(match self {
            Target::Name(name) => Target::Name(name.map(f)?),
            Target::Selector(requirements) => Target::Selector(all(requirements, |requirement| {
                let PlannedRequirement { key, operator, values } = requirement;
                Some(PlannedRequirement { key, operator, values: all(values, |text| text.map(f))? })
            })?),
        })
    }
}

impl<E> Template<E> {
    /// All its expressions. Recursion is bounded by the template's depth.
    fn expressions<'a>(&'a self, all: &mut Vec<&'a E>) {
        match self {
            Template::Constant(_) => {}
            Template::Expression(expression) => all.push(expression),
            Template::Text(text) => all.extend(text.expressions()),
            Template::Map(fields) => fields.iter().for_each(|(_, template)| template.expressions(all)),
            Template::List(elements) => elements.iter().for_each(|template| template.expressions(all)),
        }
    }

    /// The same template in another phase: `whole` maps the expressions that give a value, `text` those within texts.
    /// Recursion is bounded by the template's depth.
    pub(crate) fn map<F>(
        self,
        whole: &mut impl FnMut(E) -> Option<F>,
        text: &mut impl FnMut(E) -> Option<F>,
    ) -> Option<Template<F>> {
        Some(match self {
            Template::Constant(value) => Template::Constant(value),
            Template::Expression(expression) => Template::Expression(whole(expression)?),
            Template::Text(template) => Template::Text(template.map(text)?),
            Template::Map(fields) => Template::Map(all(fields, |(key, t)| Some((key, t.map(whole, text)?)))?),
            Template::List(elements) => Template::List(all(elements, |t| t.map(whole, text))?),
        })
    }
}

/// Maps all items; nothing if one fails, but only after the last is mapped.
pub(crate) fn all<T, U>(items: Vec<T>, f: impl FnMut(T) -> Option<U>) -> Option<Vec<U>> {
    let mapped: Vec<Option<U>> = items.into_iter().map(f).collect();
    mapped.into_iter().collect()
}
