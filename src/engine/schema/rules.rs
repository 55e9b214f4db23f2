//! `x-kubernetes-validations`: compiled once, evaluated at every node within Kubernetes' budgets.
//!
//! Absent: whether the object fits its schema otherwise (validate, which goes first).
mod compile;
mod path;

use std::sync::Arc;

use cel::{
    Env, Program, Value,
    eval::{ErrorKind, EvalError, Halt},
    limits::{COST_PER_EXPRESSION, WORK_PER_EXPRESSION},
    program::Options,
    value::{Key, Map},
};

use crate::engine::{
    allowance::Allowance,
    diagnostic::{Diagnostic, FieldPath},
    schema::{
        FieldError, MAX_DEPTH, Structural,
        field_error::{self, Reason},
        structural::SchemaType,
        to_cel::to_rules,
        trail::Trail,
        validate::MAX_ERRORS,
    },
};

/// Run-time cost of all rules of one object. Kubernetes' `RuntimeCELCostBudget`.
const COST_PER_OBJECT: u64 = 10_000_000;

/// Bytes of an evaluated `messageExpression`. Kubernetes' `MaxEvaluatedMessageExpressionSizeBytes`.
const MAX_MESSAGE: usize = 5 * 1024;

/// The compiled rules of a schema. Empty for most.
#[derive(Debug, Default)]
pub struct Rules(Option<Whole>);

#[derive(Debug)]
struct Whole {
    /// As rules see the object.
    schema: Structural,
    root: Node,
}

/// A node of the schema at or below which there are rules.
#[derive(Debug)]
struct Node {
    ty: Option<SchemaType>,
    rules: Vec<Compiled>,
    properties: Vec<(Arc<str>, Node)>,
    values: Option<Box<Node>>,
    items: Option<Box<Node>>,
}

#[derive(Debug)]
struct Compiled {
    program: Program,
    /// Of `self` and `oldSelf` in the environment.
    slots: (usize, usize),
    text: Arc<str>,
    message: Option<Arc<str>>,
    message_expression: Option<(Arc<str>, Program)>,
    reason: Reason,
    /// Below the node.
    field_path: FieldPath,
}

/// Compiles the rules of an object's whole schema (`apiVersion`, `kind`, `metadata` need not be in it). `env` has the
/// libraries; diagnostics are below `path`. Rules of a transition, which use `oldSelf`, have nothing to say on create and are
/// only checked.
pub fn compile(env: &Env, schema: &Structural, path: &FieldPath) -> (Rules, Vec<Diagnostic>) {
    compile::whole(env, schema, path)
}

impl Rules {
    /// Whether there is nothing to evaluate.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// What does not hold of a defaulted, valid object; `None` where finding out costs more than is allowed.
    pub fn evaluate(&self, object: &Value, path: &FieldPath, allowed: u64) -> Option<Vec<FieldError>> {
        let Some(whole) = &self.0 else { return Some(Vec::new()) };
        let allowed = Allowance::of(allowed);
        let mut run = Run { budget: COST_PER_OBJECT, allowed, errors: Vec::new(), stopped: false, interrupted: false };
        let seen = to_rules(&whole.schema, object);
        run.node(&whole.root, object, &seen, &Trail::Root(path), 0);
        (!run.interrupted).then_some(run.errors)
    }
}

struct Run {
    budget: u64,
    allowed: Allowance,
    errors: Vec<FieldError>,
    stopped: bool,
    /// It stopped because more is to be allowed.
    interrupted: bool,
}

impl Run {
    /// `raw` is what the object holds, `seen` the same as expressions see it.
    fn node(&mut self, node: &Node, raw: &Value, seen: &Value, at: &Trail<'_>, depth: usize) {
        if self.stopped || depth > MAX_DEPTH || matches!(seen, Value::Null) {
            return;
        }
        for rule in &node.rules {
            self.rule(node, rule, raw, seen, at);
            self.stopped |= self.errors.len() >= MAX_ERRORS;
            if self.stopped {
                return;
            }
        }
        match (raw, seen) {
            (Value::Map(raw), Value::Map(seen)) => self.entries(node, raw, seen, at, depth),
            (Value::List(raw), Value::List(seen)) => {
                let Some(items) = &node.items else { return };
                for (i, (raw, seen)) in raw.as_slice().iter().zip(seen.as_slice()).enumerate() {
                    self.node(items, raw, seen, &Trail::Index(at, i), depth + 1);
                }
            }
            _ => {}
        }
    }

    fn entries(&mut self, node: &Node, raw: &Map, seen: &Map, at: &Trail<'_>, depth: usize) {
        for (name, property) in &node.properties {
            if let (Some(raw), Some(seen)) = (raw.get(name), seen.get(name)) {
                self.node(property, raw, seen, &Trail::Field(at, name), depth + 1);
            }
        }
        let Some(values) = &node.values else { return };
        for (key, seen) in seen.iter() {
            if let (Key::String(name), Some(raw)) = (key, raw.get_key(key)) {
                self.node(values, raw, seen, &Trail::Key(at, name), depth + 1);
            }
        }
    }

    fn rule(&mut self, node: &Node, rule: &Compiled, raw: &Value, seen: &Value, at: &Trail<'_>) {
        let mut variables = vec![None; rule.slots.0.max(rule.slots.1) + 1];
        // On create there is no old value; only rules with `optionalOldSelf` get here and name it.
        for (slot, value) in [(rule.slots.1, Value::Optional(None)), (rule.slots.0, seen.clone())] {
            if let Some(variable) = variables.get_mut(slot) {
                *variable = Some(value);
            }
        }
        let Some(result) = self.evaluate(&rule.program, &variables) else {
            return self.stop(at, OUT_OF_BUDGET);
        };
        match result {
            Ok(Value::Bool(true)) => {}
            Ok(_) => {
                let path = at.path().join(&rule.field_path);
                let Some(message) = self.message(rule, &variables, &path) else { return };
                self.errors.push(failed(node, rule, raw, &path, &message));
            }
            Err(Halt::Error(error)) if error.kind == ErrorKind::CostExceeded => {
                let text = "no further validation rules will be run due to call cost exceeds limit for rule";
                self.stop(at, &format!("'{error}': {text}: {}", rule.named()));
            }
            Err(Halt::Error(error)) => {
                self.errors.push(field_error::invalid_omitted(&at.path(), &broken(rule, &error)))
            }
            Err(Halt::Unknown(_)) => {
                self.errors.push(field_error::internal(&at.path(), "the rule needs what is not known"))
            }
        }
    }

    /// `None` where the object's budget, or what is allowed of it, is used up.
    fn evaluate(&mut self, program: &Program, variables: &[Option<Value>]) -> Option<Result<Value, Halt>> {
        if self.budget == 0 {
            return None;
        }
        let (budget, work) = self.allowed.of_limits(COST_PER_EXPRESSION, WORK_PER_EXPRESSION);
        let evaluation = program.evaluate(variables, Options { budget, work, ..Options::default() });
        if self.allowed.interrupted(COST_PER_EXPRESSION, WORK_PER_EXPRESSION, &evaluation.result) {
            self.interrupted = true;
            return None;
        }
        self.allowed.spend(evaluation.cost, evaluation.work);
        self.budget = self.budget.checked_sub(evaluation.cost)?;
        Some(evaluation.result)
    }

    fn stop(&mut self, at: &Trail<'_>, detail: &str) {
        self.errors.push(field_error::invalid_omitted(&at.path(), detail));
        self.stopped = true;
    }

    /// What the author says of a failed rule; a message expression that fails gives way to the message. `None` where the
    /// budget ended the run.
    fn message(&mut self, rule: &Compiled, variables: &[Option<Value>], path: &FieldPath) -> Option<String> {
        let plain = || match rule.message.as_deref().map(str::trim) {
            Some(message) if !message.is_empty() => message.to_owned(),
            _ => format!("failed rule: {}", rule.text.trim()),
        };
        let Some((text, program)) = &rule.message_expression else { return Some(plain()) };
        let Some(result) = self.evaluate(program, variables) else {
            let detail = "messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run";
            self.stop(&Trail::Root(path), detail);
            return None;
        };
        match result {
            Ok(Value::String(message)) => {
                let message = message.trim();
                let fine = !message.is_empty() && message.len() <= MAX_MESSAGE && !message.contains('\n');
                Some(if fine { message.to_owned() } else { plain() })
            }
            Err(Halt::Error(error)) if error.kind == ErrorKind::CostExceeded => {
                let what =
                    "no further validation rules will be run due to call cost exceeds limit for messageExpression";
                self.stop(&Trail::Root(path), &format!("{what}: {}", field_error::quote(text)));
                None
            }
            _ => Some(plain()),
        }
    }
}

const OUT_OF_BUDGET: &str =
    "validation failed due to running out of cost budget, no further validation rules will be run";

impl Compiled {
    /// What a message calls the rule.
    fn named(&self) -> &str {
        self.message.as_deref().filter(|m| !m.is_empty()).unwrap_or(&self.text).trim()
    }
}

/// The value of a scalar is shown, an object is not.
fn failed(node: &Node, rule: &Compiled, raw: &Value, path: &FieldPath, message: &str) -> FieldError {
    let shown = !matches!(node.ty, Some(SchemaType::Object | SchemaType::Array));
    match (rule.reason, shown) {
        (Reason::Forbidden, _) => field_error::forbidden(path, message),
        (Reason::Required, _) => field_error::required(path, message),
        (Reason::Duplicate, true) => field_error::duplicate(path, raw),
        (Reason::Duplicate, false) => field_error::duplicate_omitted(path),
        (_, true) => field_error::invalid(path, raw, message),
        (_, false) => field_error::invalid_omitted(path, message),
    }
}

fn broken(rule: &Compiled, error: &EvalError) -> String {
    if error.message.starts_with("no such overload") {
        let what = "call arguments did not match a supported operator, function or macro signature for rule";
        return format!("'{error}': {what}: {}", rule.named());
    }
    format!("{error} evaluating rule: {}", rule.named())
}
