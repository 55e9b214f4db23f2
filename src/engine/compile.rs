//! Definition -> [`Plan`]: every static error at once, by field.
//!
//! The road: the schema; names; templates split and expressions parsed (parsed); who reads whom (order); in that order
//! each source and variable gets its type, so that whoever reads it is checked against it (typing); validations and
//! status; the published schema.
//!
//! Absent: the author's lines and columns (storage), evaluation.
mod field_path;
mod free;
mod names;
mod order;
mod parsed;
mod publish;
mod sizes;
mod typing;

use std::{collections::BTreeMap, sync::Arc};

use cel::{Issues, source::Span};

use crate::engine::{
    budget,
    compile::{
        parsed::Parser,
        typing::{Typed, Typist},
    },
    definition::{Definition, Read, SchemaForm},
    diagnostic::{Diagnostic, FieldPath, Place, Severity},
    kinds::{Kinds, Policies},
    language, limits,
    plan::Plan,
    schema::{
        Structural, metadata,
        rules::{self, Rules},
        simple,
    },
};

/// Compiles one version. There is a plan unless one of the diagnostics is an error, or the definition has a part that is
/// wrong. Field paths are relative to the version.
pub fn compile(definition: &Definition, kinds: &dyn Kinds, policies: &dyn Policies) -> (Option<Plan>, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    let plan = plan(definition, kinds, policies, &mut diagnostics);
    let wrong = definition.sources.iter().any(|source| source.uncertain || matches!(source.read, Read::Wrong));
    let failed = wrong || diagnostics.iter().any(|d| d.severity == Severity::Error);
    (plan.filter(|_| !failed), diagnostics)
}

/// Whatever fails is reported and left out, so that everything else is still checked; the caller drops a plan with errors.
fn plan(
    definition: &Definition,
    kinds: &dyn Kinds,
    policies: &dyn Policies,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Plan> {
    let (schema, rules) = schema(definition, diagnostics).unzip();
    names::check(definition, diagnostics);
    let parsed = Parser::new(diagnostics).projection(definition, kinds, policies);

    let graph = names::graph(&parsed.nodes);
    let order::Order { order, cycles } = order::order(&graph);
    diagnostics.extend(cycles.iter().map(|cycle| names::cycle(cycle, &parsed.nodes)));
    let rank: BTreeMap<usize, usize> = order.iter().enumerate().map(|(rank, node)| (*node, rank)).collect();
    let early = names::early(&order, &graph, &parsed.nodes);

    // What is created in no namespace has none to name.
    let seen = schema.as_ref().map(|schema| match definition.namespaced {
        true => Arc::clone(schema),
        false => Arc::new(metadata::without_namespace(schema)),
    });
    let mut typist = Typist::new(seen.as_ref(), &parsed.nodes, diagnostics);
    let mut nodes: Vec<_> = parsed.nodes.into_iter().map(Some).collect();
    let mut typed = Vec::with_capacity(nodes.len());
    for index in order {
        let Some(node) = nodes.get_mut(index).and_then(Option::take) else { continue };
        let reads = graph.get(index).into_iter().flatten().filter_map(|read| rank.get(read).copied()).collect();
        typed.extend(typist.node(node, reads));
    }
    let validations = parsed.validations.into_iter().filter_map(|v| typist.validation(v, &early)).collect();
    let status = parsed.status.and_then(|status| typist.status(status));
    let Typed { inputs, answer_inputs, asks_authorizer, slots, registry, estimated_cost } = typist.finish();
    // Where one expression exceeds its own budget, that has been said.
    let said = diagnostics.iter().any(|d| d.severity == Severity::Warning && d.message.starts_with("estimated cost"));
    if let (Some(excess), false) = (budget::excess(estimated_cost, limits::COST_PER_REQUEST), said) {
        let path = FieldPath::root().field("projection");
        let message = format!("all expressions of a create together: {excess}");
        diagnostics.push(Diagnostic::warning(path, message).at(Place::Key).help(budget::REMEDY));
    }

    let (schema, rules) = (schema?, rules?);
    Some(Plan {
        published: Arc::new(publish::with_status(&schema, status.as_ref(), &registry)),
        schema,
        rules,
        slots,
        nodes: typed,
        validations,
        status,
        inputs,
        answer_inputs,
        asks_authorizer,
        estimated_cost,
    })
}

/// What a consumer may send, the author's schema as a whole object, and the schema's own rules. What is wrong is reported and
/// open, so that what stands on it is checked too.
fn schema(definition: &Definition, diagnostics: &mut Vec<Diagnostic>) -> Option<(Arc<Structural>, Rules)> {
    let parent = FieldPath::root().field("schema");
    let (path, (schema, found)) = match &definition.schema {
        SchemaForm::Simple(schema) => {
            let path = parent.field("simple");
            (path.clone(), simple::parse_partly(schema, &path))
        }
        SchemaForm::OpenApi(schema) => {
            let path = parent.field("openAPIV3Schema");
            (path.clone(), Structural::from_openapi_partly(schema, &path))
        }
        SchemaForm::Wrong => return None,
    };
    diagnostics.extend(found);
    let schema = schema?;
    if schema.properties.get("status").is_some() {
        diagnostics.push(
            Diagnostic::error(path.field("properties").field("status"), "`status` is not the author's to declare")
                .at(Place::Key)
                .help("leave it out: its schema is found from `projection.status`"),
        );
    }
    let (rules, found) = rules::compile(language::base(), &schema, &path);
    diagnostics.extend(found);
    Some((Arc::new(metadata::whole(&schema)), rules))
}

/// Maps the issues of an expression to its place within the field's string.
pub(crate) fn diagnose(issues: &Issues, path: &FieldPath, start: usize) -> Vec<Diagnostic> {
    let place = |span: Span| Place::Within(start + span.start as usize..start + span.end as usize);
    let listed = issues.list.iter().map(|issue| Diagnostic {
        help: issue.help.clone(),
        ..Diagnostic::error(path.clone(), issue.message.clone()).at(place(issue.span))
    });
    listed.chain(issues.omission().map(|omission| Diagnostic::error(path.clone(), omission))).collect()
}
