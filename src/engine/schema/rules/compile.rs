//! Rules to programs; every static problem at once.
//!
//! Absent: evaluating them.
use std::sync::Arc;

use cel::{
    Checked, Env, Issue, Issues, Program, Type,
    ast::Kind,
    estimate::{Declaration, Limits, Sizes},
};

use super::{COST_PER_OBJECT, Compiled, Node, Rules, Whole, path};
use crate::engine::{
    budget,
    diagnostic::{Diagnostic, FieldPath, Place, Severity},
    schema::{
        MAX_DEPTH, Structural,
        field_error::Reason,
        metadata,
        sizes::{self, MAX_REQUEST_BYTES, min_bytes},
        structural::{self, Additional, Rule},
        types::{Dialect, Registry},
    },
};

pub(super) fn whole(env: &Env, schema: &Structural, path: &FieldPath) -> (Rules, Vec<Diagnostic>) {
    let schema = metadata::restricted(schema);
    let mut compiler = Compiler { env, found: Vec::new() };
    let root = compiler.node(&schema, path, Some(1), 0);
    (Rules(root.map(|root| Whole { schema, root })), compiler.found)
}

struct Compiler<'a> {
    env: &'a Env,
    found: Vec<Diagnostic>,
}

/// Where an expression stands in the author's document.
struct Origin<'a> {
    path: FieldPath,
    /// Where the rule is no field of its own.
    written: Option<&'a structural::Origin>,
}

/// What the rules at a node are estimated by.
struct Estimates<'a> {
    sizes: &'a RuleSizes<'a>,
    times: u64,
}

/// `self` and `oldSelf`, and the types within them.
struct RuleSizes<'a> {
    schema: &'a Structural,
    registry: &'a Registry,
}

impl Sizes for RuleSizes<'_> {
    fn variable(&self, name: &str) -> Option<Declaration<'_>> {
        let schema = sizes::is_declared(self.schema).then_some(self.schema)?;
        matches!(name, "self" | "oldSelf").then_some(Declaration { schema, limits: Limits::Possible })
    }

    fn is_precise(&self) -> bool {
        true
    }

    fn object(&self, name: &str) -> Option<Declaration<'_>> {
        self.registry.schema(name).map(|schema| Declaration { schema: &**schema, limits: Limits::Possible })
    }
}

impl Compiler<'_> {
    /// `None` where there are no rules at or below the schema. `times` is how many values of it an object holds at most, if
    /// the schema bounds it.
    fn node(&mut self, schema: &Structural, path: &FieldPath, times: Option<u64>, depth: usize) -> Option<Node> {
        if depth > MAX_DEPTH {
            return None;
        }
        let properties: Vec<(Arc<str>, Node)> = schema
            .properties
            .iter()
            .filter_map(|(name, property)| {
                let path = path.field("properties").key(name);
                self.node(property, &path, times, depth + 1).map(|node| (name.clone(), node))
            })
            .collect();
        let within = |max: Option<u64>| Some(times?.saturating_mul(max?));
        let (in_map, in_list) = (within(schema.validation.max_properties), within(schema.validation.max_items));
        let values = match &schema.additional {
            Some(Additional::Schema(values)) => {
                self.node(values, &path.field("additionalProperties"), in_map, depth + 1)
            }
            _ => None,
        };
        let items = schema.items.as_ref().and_then(|items| self.node(items, &path.field("items"), in_list, depth + 1));
        let rules = self.rules(schema, path, times);
        let found = !(rules.is_empty() && properties.is_empty() && values.is_none() && items.is_none());
        let (values, items) = (values.map(Box::new), items.map(Box::new));
        found.then_some(Node { ty: schema.ty, rules, properties, values, items })
    }

    fn rules(&mut self, schema: &Structural, path: &FieldPath, times: Option<u64>) -> Vec<Compiled> {
        if schema.rules.is_empty() {
            return Vec::new();
        }
        let mut registry = Registry::builder(Dialect::Rules);
        let ty = registry.add("selfType", &Arc::new(schema.clone()));
        let registry = registry.build();
        // As many as fit into a request, each with its comma.
        let times = times.unwrap_or_else(|| MAX_REQUEST_BYTES / (min_bytes(schema, 0) + 1));
        let sizes = RuleSizes { schema, registry: &registry };
        let base = self
            .env
            .extend()
            .homogeneous_aggregates(true)
            .lenient(true)
            .provider(registry.clone())
            .variable("self", ty.clone());
        let plain = base.clone().variable("oldSelf", ty.clone()).build();
        let optional = base.variable("oldSelf", Type::optional(ty)).build();
        let rules = schema.rules.iter().enumerate();
        rules
            .filter_map(|(i, rule)| {
                let env = if rule.optional_old_self { &optional } else { &plain };
                let path = path.field("x-kubernetes-validations").index(i);
                self.rule(env, schema, rule, &path, &Estimates { sizes: &sizes, times })
            })
            .collect()
    }

    fn rule(
        &mut self,
        env: &Env,
        schema: &Structural,
        rule: &Rule,
        path: &FieldPath,
        estimates: &Estimates<'_>,
    ) -> Option<Compiled> {
        let origin = Origin { path: path.field("rule"), written: rule.origin.as_ref() };
        let field_path = match &rule.field_path {
            Some(text) => path::parse(text, schema).unwrap_or_else(|why| {
                self.found.push(Diagnostic::error(path.field("fieldPath"), why));
                FieldPath::root()
            }),
            None => FieldPath::root(),
        };
        let message_expression = rule.message_expression.as_ref().and_then(|text| {
            let origin = Origin { path: path.field("messageExpression"), written: None };
            let (checked, program) = self.expression(env, text, &Type::String, "a string", &origin)?;
            self.estimate(env, &checked, estimates, &origin);
            Some((text.clone(), program))
        });
        let (checked, program) = self.expression(env, &rule.rule, &Type::Bool, "a bool", &origin)?;
        self.estimate(env, &checked, estimates, &origin);
        let transition =
            checked.ast().nodes().iter().any(|node| matches!(&node.kind, Kind::Ident(name) if &**name == "oldSelf"));
        if transition && !rule.optional_old_self {
            return None;
        }
        let slot = |name: &str| env.slot(name).map(|slot| slot as usize);
        Some(Compiled {
            program,
            slots: (slot("self")?, slot("oldSelf")?),
            text: rule.rule.clone(),
            message: rule.message.clone(),
            message_expression,
            reason: match rule.reason.as_deref() {
                Some("FieldValueForbidden") => Reason::Forbidden,
                Some("FieldValueRequired") => Reason::Required,
                Some("FieldValueDuplicate") => Reason::Duplicate,
                _ => Reason::Invalid,
            },
            field_path,
        })
    }

    fn expression(
        &mut self,
        env: &Env,
        text: &str,
        expected: &Type,
        wanted: &str,
        origin: &Origin<'_>,
    ) -> Option<(Checked, Program)> {
        let checked = match env.compile(text) {
            Ok(checked) => checked,
            Err(issues) => return self.issues(&issues, origin),
        };
        if checked.result_type() != expected {
            let message = format!("must give {wanted}, not {}", checked.result_type());
            self.found.push(self.diagnostic(origin, 0..text.len(), message));
            return None;
        }
        match env.program(&checked) {
            Ok(program) => Some((checked, program)),
            Err(issues) => self.issues(&issues, origin),
        }
    }

    /// Warns of what Kubernetes would refuse: a rule that may cost too much for one object, over all values that it holds for.
    fn estimate(&mut self, env: &Env, checked: &Checked, estimates: &Estimates<'_>, origin: &Origin<'_>) {
        let cost = checked.estimate(env, estimates.sizes).cost.max.saturating_mul(estimates.times);
        if let Some(excess) = budget::excess(cost, COST_PER_OBJECT) {
            let whole = 0..checked.ast().source().len();
            let diagnostic = self.diagnostic(origin, whole, excess).help(budget::REMEDY);
            self.found.push(Diagnostic { severity: Severity::Warning, ..diagnostic });
        }
    }

    fn issues<T>(&mut self, issues: &Issues, origin: &Origin<'_>) -> Option<T> {
        for Issue { span, message, help, .. } in &issues.list {
            let diagnostic = self.diagnostic(origin, span.start as usize..span.end as usize, message.clone());
            self.found.push(Diagnostic { help: help.clone(), ..diagnostic });
        }
        None
    }

    fn diagnostic(&self, origin: &Origin<'_>, at: std::ops::Range<usize>, message: String) -> Diagnostic {
        let Some(written) = origin.written else {
            return Diagnostic::error(origin.path.clone(), message).at(Place::Within(at));
        };
        let place = match written.exact {
            true => written.bytes.start + at.start..written.bytes.start + at.end,
            false => written.bytes.clone(),
        };
        Diagnostic::error(written.path.clone(), message).at(Place::Within(place))
    }
}
