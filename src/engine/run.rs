//! Runs expressions and templates over the slots of one evaluation, within the request's budget.
//!
//! Absent: the order of things (evaluation).
use std::sync::Arc;

use cel::{
    Value,
    eval::{Activation, Bound, ErrorKind, EvalError, Halt},
    limits::COST_PER_EXPRESSION,
    program::Options,
    value::{List, MapBuilder},
};

use crate::engine::{
    allowance::Allowance,
    decisions::Decisions,
    diagnostic::FieldPath,
    limits::{COST_PER_REQUEST, MAX_FAILURE_BYTES, MAX_TEXT_BYTES, WORK_PER_REQUEST},
    outcome::ExpressionFailure,
    plan::{Expression, Template, Text, TextPart},
};

/// Runs expressions: their variables, what they ask, what they have cost.
#[derive(Debug)]
pub(crate) struct Runner {
    slots: Slots,
    pub(crate) decisions: Decisions,
    spent: Spent,
    /// Of that, what was spent before this step, and in it on what is finished.
    settled: Spent,
    /// What had been spent when what is under way began.
    begun: Spent,
    /// What is left for this step.
    allowed: Allowance,
    interrupted: bool,
}

/// What a request has used up.
#[derive(Clone, Copy, Debug, Default)]
struct Spent {
    cost: u64,
    work: u64,
    /// Bytes of texts that were put together.
    texts: usize,
}

/// The variables of all expressions by slot.
#[derive(Debug)]
struct Slots {
    values: Vec<Slot>,
    /// Iteration variables of the source that is being evaluated; their slots follow those of `values`.
    iteration: Vec<Value>,
}

/// Why an expression gives no value.
#[derive(Debug)]
pub(crate) enum Stop {
    /// It failed.
    Failed(ExpressionFailure),
    /// It asks what is not decided yet.
    Undecided,
}

impl From<ExpressionFailure> for Stop {
    fn from(failure: ExpressionFailure) -> Stop {
        Stop::Failed(failure)
    }
}

/// The content of a slot.
#[derive(Debug)]
pub(crate) enum Slot {
    /// Not there yet.
    Empty,
    /// A value.
    Value(Value),
    /// A variable whose expression failed: the error appears where it is read, as in Kubernetes' admission policies.
    Halt(Halt),
}

impl Activation for Slots {
    fn variable(&self, slot: u32) -> Bound<'_> {
        let index = slot as usize;
        match self.values.get(index) {
            Some(Slot::Value(value)) => Bound::Value(value),
            Some(Slot::Halt(halt)) => Bound::Halt(halt),
            Some(Slot::Empty) => Bound::Absent,
            None => self.iteration.get(index - self.values.len()).map_or(Bound::Absent, Bound::Value),
        }
    }
}

/// What is unknown of an expression that was interrupted: no question of the authorizer.
const INTERRUPTED: u32 = u32::MAX;

impl Runner {
    pub(crate) fn new(slots: usize) -> Runner {
        let values = std::iter::repeat_with(|| Slot::Empty).take(slots).collect();
        Runner {
            slots: Slots { values, iteration: Vec::new() },
            decisions: Decisions::default(),
            spent: Spent::default(),
            settled: Spent::default(),
            begun: Spent::default(),
            allowed: Allowance::WHOLE,
            interrupted: false,
        }
    }

    /// A step begins, whose expressions may cost so much together. One that costs more is interrupted, and so are all after
    /// it; then nothing is counted but what is finished, for the rest is to be done again.
    pub(crate) fn allow(&mut self, cost: u64) {
        self.settled = self.spent;
        self.begun = self.spent;
        self.allowed = Allowance::of(cost);
        self.interrupted = false;
    }

    /// Whether more is to be allowed.
    pub(crate) fn interrupted(&self) -> bool {
        self.interrupted
    }

    /// What was under way has ended: it need not be done again if it is `finished`.
    pub(crate) fn end(&mut self, finished: bool) {
        if finished {
            let Spent { cost, work, texts } = &mut self.settled;
            *cost += self.spent.cost - self.begun.cost;
            *work += self.spent.work - self.begun.work;
            *texts += self.spent.texts - self.begun.texts;
        }
        self.begun = self.spent;
    }

    pub(crate) fn set(&mut self, slot: u32, content: Slot) {
        if let Some(place) = self.slots.values.get_mut(slot as usize) {
            *place = content;
        }
    }

    pub(crate) fn value(&self, slot: u32) -> Option<&Value> {
        match self.slots.values.get(slot as usize) {
            Some(Slot::Value(value)) => Some(value),
            _ => None,
        }
    }

    /// The iteration variables of the reads that follow.
    pub(crate) fn iterate(&mut self, values: Vec<Value>) {
        self.slots.iteration = values;
    }

    pub(crate) fn cost(&self) -> u64 {
        self.spent.cost
    }

    /// The value of an expression, or why there is none. Charges the request.
    pub(crate) fn evaluate(&mut self, expression: &Expression) -> Result<Value, Halt> {
        if self.interrupted {
            return Err(Halt::unknown(INTERRUPTED));
        }
        let left = COST_PER_REQUEST.saturating_sub(self.spent.cost);
        let limits = (left.min(COST_PER_EXPRESSION), WORK_PER_REQUEST.saturating_sub(self.spent.work));
        let (budget, work) = self.allowed.of_limits(limits.0, limits.1);
        let options = Options { budget, work, host: Some(&mut self.decisions), ..Options::default() };
        let evaluation = expression.program.evaluate(&self.slots, options);
        if self.allowed.interrupted(limits.0, limits.1, &evaluation.result) {
            self.interrupted = true;
            self.spent = self.settled;
            self.begun = self.settled;
            return Err(Halt::unknown(INTERRUPTED));
        }
        self.allowed.spend(evaluation.cost, evaluation.work);
        self.spent.cost = self.spent.cost.saturating_add(evaluation.cost);
        self.spent.work = self.spent.work.saturating_add(evaluation.work);
        let exhausted = self.spent.cost >= COST_PER_REQUEST || self.spent.work >= WORK_PER_REQUEST;
        evaluation.result.map_err(|halt| match halt {
            Halt::Error(error) if error.kind == ErrorKind::CostExceeded => {
                let message = match exhausted || left < COST_PER_EXPRESSION {
                    true => format!("the expressions of one request may cost {COST_PER_REQUEST}, and cost more"),
                    false => format!("an expression may cost {COST_PER_EXPRESSION}, and this one costs more"),
                };
                Halt::Error(Box::new(EvalError { message, ..*error }))
            }
            halt => halt,
        })
    }

    /// As [`Runner::evaluate`], with the failure told by field.
    pub(crate) fn value_of(&mut self, expression: &Expression) -> Result<Value, Stop> {
        self.evaluate(expression).map_err(|halt| match halt {
            Halt::Error(error) => Stop::Failed(failure(expression, &error)),
            Halt::Unknown(_) => Stop::Undecided,
        })
    }

    /// A condition.
    pub(crate) fn holds(&mut self, expression: &Expression) -> Result<bool, Stop> {
        match self.value_of(expression)? {
            Value::Bool(holds) => Ok(holds),
            _ => Err(wrong_type(expression, "bool").into()),
        }
    }

    /// A text.
    pub(crate) fn text(&mut self, text: &Text) -> Result<Arc<str>, Stop> {
        let parts = match text {
            Text::Constant(text) => return Ok(text.clone()),
            Text::Parts(parts) => parts,
        };
        if let [TextPart::Expression(expression)] = parts.as_slice() {
            return self.string(expression);
        }
        let mut whole = String::new();
        for part in parts {
            match part {
                TextPart::Constant(text) => whole.push_str(text),
                TextPart::Expression(expression) => {
                    let text = self.string(expression)?;
                    self.lengthen(&mut whole, &text, expression)?;
                }
            }
        }
        Ok(whole.into())
    }

    /// A text whose expressions' values are encoded, and whose own parts are not.
    pub(crate) fn encoded(&mut self, text: &Text, encode: fn(&str) -> String) -> Result<String, Stop> {
        let parts = match text {
            Text::Constant(text) => return Ok(text.to_string()),
            Text::Parts(parts) => parts,
        };
        let mut whole = String::new();
        for part in parts {
            match part {
                TextPart::Constant(text) => whole.push_str(text),
                TextPart::Expression(expression) => {
                    let text = encode(&self.string(expression)?);
                    self.lengthen(&mut whole, &text, expression)?;
                }
            }
        }
        Ok(whole)
    }

    /// No expression pays for putting texts together.
    fn lengthen(&mut self, whole: &mut String, text: &str, expression: &Expression) -> Result<(), Stop> {
        self.made(text.len(), &expression.path)?;
        whole.push_str(text);
        Ok(())
    }

    /// Counts the bytes of a text that was put together for a field.
    pub(crate) fn made(&mut self, bytes: usize, path: &FieldPath) -> Result<(), Stop> {
        self.spent.texts = self.spent.texts.saturating_add(bytes);
        if self.spent.texts > MAX_TEXT_BYTES {
            let message = format!("the texts of one request may have {MAX_TEXT_BYTES} bytes, and have more");
            return Err(ExpressionFailure { path: path.clone(), message, at: None }.into());
        }
        Ok(())
    }

    fn string(&mut self, expression: &Expression) -> Result<Arc<str>, Stop> {
        let value = self.value_of(expression)?;
        scalar_text(&value).ok_or_else(|| wrong_type(expression, "string").into())
    }

    /// A template; `None` where an absent optional leaves it out. Recursion is bounded by the template's depth.
    pub(crate) fn template(&mut self, template: &Template) -> Result<Option<Value>, Stop> {
        Ok(Some(match template {
            Template::Constant(value) => value.clone(),
            Template::Text(text) => Value::String(self.text(text)?),
            Template::Expression(expression) => match self.value_of(expression)? {
                Value::Optional(None) => return Ok(None),
                Value::Optional(Some(value)) => Value::clone(&value),
                value => value,
            },
            Template::Map(fields) => {
                let mut map = MapBuilder::with_capacity(fields.len());
                let mut undecided = false;
                for (name, template) in fields {
                    match self.template(template) {
                        Ok(value) => value.map(|value| map.insert(name.clone(), value)),
                        // Go on: what the other fields ask can be asked at the same time.
                        Err(Stop::Undecided) => {
                            undecided = true;
                            None
                        }
                        Err(failed) => return Err(failed),
                    };
                }
                if undecided {
                    return Err(Stop::Undecided);
                }
                Value::Map(map.build())
            }
            Template::List(elements) => {
                let mut list = Vec::with_capacity(elements.len());
                let mut undecided = false;
                for template in elements {
                    match self.template(template) {
                        Ok(value) => list.extend(value),
                        Err(Stop::Undecided) => undecided = true,
                        Err(failed) => return Err(failed),
                    }
                }
                if undecided {
                    return Err(Stop::Undecided);
                }
                Value::List(List::from(list))
            }
        }))
    }
}

/// Tells a failure by the expression's field, and the failing part of its text.
fn failure(expression: &Expression, error: &EvalError) -> ExpressionFailure {
    let part = error.span.and_then(|span| expression.text.get(span.start as usize..span.end as usize));
    let at = part.filter(|part| *part != expression.text.trim()).map(Arc::from);
    let message = match error.message.len() > MAX_FAILURE_BYTES {
        true => format!(
            "{}...",
            error.message.get(..error.message.floor_char_boundary(MAX_FAILURE_BYTES)).unwrap_or_default()
        ),
        false => error.message.clone(),
    };
    ExpressionFailure { path: expression.path.clone(), message, at }
}

fn wrong_type(expression: &Expression, wanted: &str) -> ExpressionFailure {
    ExpressionFailure {
        path: expression.path.clone(),
        message: format!("the value must be of type {wanted}"),
        at: None,
    }
}

/// The text of a value that has one: a string's own, JSON's of numbers, bools, instants and spans of time. What the checker
/// wants is stricter; this is for values whose type is known only now.
pub(crate) fn scalar_text(value: &Value) -> Option<Arc<str>> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(_)
        | Value::Int(_)
        | Value::Uint(_)
        | Value::Double(_)
        | Value::Timestamp(_)
        | Value::Duration(_) => Some(match serde_json::to_value(value).ok()? {
            serde_json::Value::String(text) => text.into(),
            json => json.to_string().into(),
        }),
        _ => None,
    }
}
