//! Plan x inputs -> [`Outcome`], as a state machine that asks for what it needs and is handed it.
//!
//! It runs in two stages: what depends on the request alone (early validations), then everything else. In each, nodes
//! start as soon as what they read is there, so that independent sources are asked for at once. The outcome does not
//! depend on the order of supplies: a failure counts once every node before it has its value.
//!
//! Absent: I/O, clocks, who answers (storage drives it; a test or a fuzzer can), running expressions (run).
mod call;
mod objects;

use std::{collections::BTreeMap, sync::Arc};

use cel::{Value, eval::Halt, library, value::List};

use crate::engine::{
    limits::{MAX_CALLS, MAX_FOR_EACH_ITEMS, MAX_MESSAGE_BYTES},
    need::{Need, NeedId, SourceFailure, Supply},
    outcome::{Answer, ExpressionFailure, Failure, Outcome},
    plan::{AUTHORIZER, Node, OBJECT, Plan, REQUEST, REQUEST_RESOURCE, Read, Source, Validation, Work},
    run::{Runner, Slot, Stop},
    schema::{
        field_error::{self, FieldError, Reason},
        to_cel,
    },
};

/// What an evaluation starts from.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// The object as defaulted and validated: apiVersion, kind, metadata, spec.
    pub object: Value,
    /// `request`; `request.time` is a timestamp.
    pub request: Value,
}

/// What an evaluation wants next.
#[derive(Debug)]
pub enum Step {
    /// These can be asked for now, concurrently; none was given out before. Supply each.
    Need(Vec<(NeedId, Need)>),
    /// Nothing new until more of what was asked for is supplied.
    Wait,
    /// It costs more than was allowed at once: allow more, and go on.
    Unfinished,
    /// The end. Calling `next` again gives the same.
    Done(Outcome),
}

/// One evaluation of a plan.
#[derive(Debug)]
pub struct Evaluation {
    plan: Arc<Plan>,
    runner: Runner,
    /// By node.
    states: Vec<State>,
    asked: BTreeMap<NeedId, Asked>,
    next_need: u32,
    /// Calls that were asked for.
    calls: usize,
    early: bool,
    done: Option<Outcome>,
}

/// The progress of a node.
#[derive(Debug)]
enum State {
    Waiting,
    /// It asks the authorizer what is not decided yet.
    Undecided,
    /// Its reads, in the order of forEach's product.
    Asked(Vec<Option<Value>>),
    Ready,
    Failed(Failure),
}

/// Which read of which node a need is, and the object that it names.
#[derive(Debug)]
struct Asked {
    node: usize,
    read: usize,
    /// Namespace and name.
    object: (Arc<str>, Arc<str>),
}

impl Evaluation {
    pub(crate) fn new(plan: Arc<Plan>, inputs: Inputs) -> Evaluation {
        let mut runner = Runner::new(plan.slots);
        runner.set(OBJECT, Slot::Value(to_cel(&plan.schema, &inputs.object)));
        if plan.asks_authorizer {
            runner.set(AUTHORIZER, Slot::Value(library::authorizer()));
            runner.set(REQUEST_RESOURCE, Slot::Value(request_resource(&inputs.request)));
        }
        runner.set(REQUEST, Slot::Value(inputs.request));
        Evaluation {
            states: plan.nodes.iter().map(|_| State::Waiting).collect(),
            plan,
            runner,
            asked: BTreeMap::new(),
            next_need: 0,
            calls: 0,
            early: true,
            done: None,
        }
    }

    /// What the steps from now on may cost, each as far as one needs no more to be of use. What is not finished then is done
    /// again from its beginning, and charged once.
    pub fn allow(&mut self, cost: u64) {
        self.runner.allow(cost);
    }

    /// Goes on as far as the early validations: what depends on the request alone, and is decided before anything is read.
    /// Asks only the authorizer. `Wait` with all questions answered: they hold. Calling it is optional.
    pub fn begin(&mut self) -> Step {
        if let Some(outcome) = &self.done {
            return Step::Done(outcome.clone());
        }
        let plan = Arc::clone(&self.plan);
        if let Err(failure) = self.early_stage(&plan) {
            return self.finish(Err(failure));
        }
        let questions = self.questions();
        if questions.is_empty() { self.pause() } else { Step::Need(questions) }
    }

    /// Whether early validations are still undecided.
    pub fn is_early(&self) -> bool {
        self.early
    }

    /// Goes on as far as it can.
    #[expect(
        clippy::should_implement_trait,
        reason = "the design's word; an iterator would end and borrow for its items"
    )]
    pub fn next(&mut self) -> Step {
        if let Some(outcome) = &self.done {
            return Step::Done(outcome.clone());
        }
        loop {
            match self.advance() {
                Ok(Some(answer)) => return self.finish(Ok(answer)),
                Err(failure) => return self.finish(Err(failure)),
                Ok(None) => {}
            }
            let (mut needs, progress) = self.ask();
            needs.extend(self.questions());
            if !needs.is_empty() {
                return Step::Need(needs);
            }
            if !progress || self.runner.interrupted() {
                return self.pause();
            }
        }
    }

    /// Why there is nothing to ask for.
    fn pause(&self) -> Step {
        if self.runner.interrupted() { Step::Unfinished } else { Step::Wait }
    }

    /// What the authorizer was not asked yet. A pass that was interrupted is made again, and asks then.
    fn questions(&mut self) -> Vec<(NeedId, Need)> {
        if self.runner.interrupted() {
            return Vec::new();
        }
        let next_need = &mut self.next_need;
        let questions = self.runner.decisions.unasked(|| new_id(next_need));
        questions.into_iter().map(|(id, question)| (id, Need::Decide(Box::new(question)))).collect()
    }

    /// Hands over the answer to a need. One that was not asked for, or was answered already, is ignored.
    pub fn supply(&mut self, id: NeedId, supply: Supply) {
        let plan = Arc::clone(&self.plan);
        if self.decide(id, &supply) {
            return;
        }
        let Some(asked) = self.asked.remove(&id) else { return };
        let Some(node) = plan.nodes.get(asked.node) else { return };
        let Work::Source(source) = &node.work else { return };
        let value = match (supply, source.optional) {
            (Supply::Object(object), optional) => present_if(optional, object),
            (Supply::Objects(objects), optional) => present_if(optional, Value::List(objects)),
            (Supply::Missing, true) => Value::Optional(None),
            (Supply::Missing, false) => return self.fail(asked.node, missing(&node.name, source, asked.object)),
            (Supply::Body(body), optional) => match call::answer(source, body) {
                Ok(value) => present_if(optional, value),
                Err(message) => {
                    return self.fail(asked.node, Failure::Source { source: node.name.clone(), message });
                }
            },
            (Supply::Decision { .. }, _) => return,
            (Supply::Failed(failure), _) => return self.fail(asked.node, source_failure(&node.name, source, failure)),
        };
        let Some(State::Asked(reads)) = self.states.get_mut(asked.node) else { return };
        if let Some(read) = reads.get_mut(asked.read) {
            *read = Some(value);
        }
        if reads.iter().all(Option::is_some) {
            let reads = std::mem::take(reads).into_iter().flatten().collect();
            self.source_ready(asked.node, node, source, reads);
        }
    }

    /// Takes the answer to a question. One that could not be decided is an error to the expression that asked.
    fn decide(&mut self, id: NeedId, supply: &Supply) -> bool {
        let decisions = &mut self.runner.decisions;
        match supply {
            Supply::Decision { allowed, reason, error } => decisions.answer(id, *allowed, reason, error),
            Supply::Failed(
                SourceFailure::Forbidden(message)
                | SourceFailure::Failed(message)
                | SourceFailure::Unfit(message)
                | SourceFailure::Busy { message, .. },
            ) => decisions.answer(id, false, "", message),
            Supply::Failed(SourceFailure::Timeout) => decisions.answer(id, false, "", "the deadline passed"),
            _ => false,
        }
    }

    /// The source that a need is of, as long as it is not supplied.
    pub fn source(&self, id: NeedId) -> Option<&Arc<str>> {
        self.plan.nodes.get(self.asked.get(&id)?.node).map(|node| &node.name)
    }

    /// The sources that were asked for and are not answered.
    pub fn pending(&self) -> Vec<Arc<str>> {
        let nodes = self.plan.nodes.iter().zip(&self.states);
        nodes.filter(|(_, state)| matches!(state, State::Asked(_))).map(|(node, _)| node.name.clone()).collect()
    }

    /// Ends it because the deadline passed.
    pub fn time_out(&mut self) -> Outcome {
        let failure = Failure::Timeout { pending: self.pending() };
        match self.finish(Err(failure)) {
            Step::Done(outcome) => outcome,
            Step::Need(_) | Step::Wait | Step::Unfinished => Outcome { result: Ok(Answer { status: None }), cost: 0 },
        }
    }

    fn finish(&mut self, result: Result<Answer, Failure>) -> Step {
        let outcome = Outcome { result, cost: self.runner.cost() };
        Step::Done(self.done.insert(outcome).clone())
    }

    /// Computes what can be computed without asking. `None`: something must be asked for or waited for.
    fn advance(&mut self) -> Result<Option<Answer>, Failure> {
        let plan = Arc::clone(&self.plan);
        if !self.early_stage(&plan)? {
            return Ok(None);
        }
        for state in &self.states {
            match state {
                State::Ready => {}
                State::Failed(failure) => return Err(failure.clone()),
                State::Waiting | State::Undecided | State::Asked(_) => return Ok(None),
            }
        }
        if !self.validate(&plan, false)? {
            return Ok(None);
        }
        match plan.status.as_ref().map(|template| self.runner.template(template)) {
            None => Ok(Some(Answer { status: None })),
            Some(Ok(status)) => Ok(Some(Answer { status })),
            Some(Err(Stop::Undecided)) => Ok(None),
            Some(Err(Stop::Failed(failure))) => Err(Failure::Expression(failure)),
        }
    }

    /// Variables, and the early validations if they are still to be decided. False: something is undecided.
    fn early_stage(&mut self, plan: &Plan) -> Result<bool, Failure> {
        // Each pass asks all that it can; another before all is answered would only repeat it.
        if self.runner.decisions.outstanding() {
            return Ok(false);
        }
        self.variables(plan);
        if self.early {
            if !self.validate(plan, true)? {
                return Ok(false);
            }
            self.early = false;
            self.runner.end(true);
        }
        Ok(true)
    }

    /// Evaluates the variables whose inputs are there. A failing one is an error only to those who read it.
    fn variables(&mut self, plan: &Plan) {
        for (index, node) in plan.nodes.iter().enumerate() {
            let Work::Variable(expression) = &node.work else { continue };
            if !self.can_start(index, node) {
                continue;
            }
            let slot = match self.runner.evaluate(expression) {
                Ok(value) => Slot::Value(value),
                Err(Halt::Unknown(_)) => {
                    self.set(index, State::Undecided);
                    continue;
                }
                Err(error) => Slot::Halt(error),
            };
            self.runner.set(node.slot, slot);
            self.set(index, State::Ready);
        }
    }

    fn can_start(&self, index: usize, node: &Node) -> bool {
        let state = |i: &usize| self.states.get(*i);
        matches!(state(&index), Some(State::Waiting | State::Undecided))
            && node.reads.iter().all(|read| matches!(state(read), Some(State::Ready)))
    }

    /// The needs of all sources whose inputs are there, and whether any node got further. What stands after a failure is
    /// not begun.
    fn ask(&mut self) -> (Vec<(NeedId, Need)>, bool) {
        let plan = Arc::clone(&self.plan);
        let mut needs = Vec::new();
        let mut progress = false;
        if self.early {
            return (needs, progress);
        }
        for (index, node) in plan.nodes.iter().enumerate() {
            if matches!(self.states.get(index), Some(State::Failed(_))) {
                break;
            }
            let Work::Source(source) = &node.work else { continue };
            if !self.can_start(index, node) {
                continue;
            }
            // Undecided sources are tried again when all that is out is decided.
            if self.runner.decisions.outstanding() && matches!(self.states.get(index), Some(State::Undecided)) {
                continue;
            }
            match self.reads(source) {
                Err(Stop::Undecided) => {
                    self.set(index, State::Undecided);
                    continue;
                }
                Err(Stop::Failed(failure)) => self.fail(index, Failure::Expression(failure)),
                Ok(None) => self.ready(index, node, Value::Optional(None)),
                Ok(Some(reads)) if reads.is_empty() => self.source_ready(index, node, source, Vec::new()),
                Ok(Some(reads)) => {
                    self.set(index, State::Asked(vec![None; reads.len()]));
                    for (read, need) in reads.into_iter().enumerate() {
                        let id = new_id(&mut self.next_need);
                        self.asked.insert(id, Asked { node: index, read, object: object_of(&need) });
                        needs.push((id, need));
                    }
                }
            }
            progress = true;
        }
        (needs, progress)
    }

    /// What a source reads: `None` when it is not included, one need per item of forEach's product otherwise.
    fn reads(&mut self, source: &Source) -> Result<Option<Vec<Need>>, Stop> {
        for condition in &source.include_when {
            if !self.runner.holds(condition)? {
                return Ok(None);
            }
        }
        let mut needs = Vec::new();
        for item in self.product(source)? {
            if let Read::Call(call) = &source.read
                && self.calls + needs.len() >= MAX_CALLS
            {
                let message = format!("the sources of one request may make {MAX_CALLS} calls, and make more");
                return Err(ExpressionFailure { path: call.path.clone(), message, at: None }.into());
            }
            self.runner.iterate(item);
            let need = self.need(source);
            self.runner.iterate(Vec::new());
            needs.push(need?);
        }
        if let Read::Call(_) = &source.read {
            self.calls += needs.len();
        }
        Ok(Some(needs))
    }

    /// The items of forEach: every combination, the first dimension varying slowest.
    fn product(&mut self, source: &Source) -> Result<Vec<Vec<Value>>, Stop> {
        let mut items = vec![Vec::new()];
        for (_, dimension) in &source.for_each {
            let failure = |message| Stop::Failed(ExpressionFailure { path: dimension.path.clone(), message, at: None });
            let Value::List(values) = self.runner.value_of(dimension)? else {
                return Err(failure("the value must be a list".to_owned()));
            };
            let size = items.len().saturating_mul(values.len());
            if size > MAX_FOR_EACH_ITEMS {
                return Err(failure(format!("forEach gives {size} items, and may give {MAX_FOR_EACH_ITEMS}")));
            }
            items = items
                .iter()
                .flat_map(|item| {
                    values.as_slice().iter().map(move |v| [item.as_slice(), std::slice::from_ref(v)].concat())
                })
                .collect();
        }
        Ok(items)
    }

    fn need(&mut self, source: &Source) -> Result<Need, Stop> {
        match &source.read {
            Read::Objects(objects) => objects::need(&mut self.runner, objects),
            Read::Call(call) => call::need(&mut self.runner, call),
        }
    }

    /// All validations of a stage; those that fail come back together. False: some are undecided.
    fn validate(&mut self, plan: &Plan, early: bool) -> Result<bool, Failure> {
        let mut failed = Vec::new();
        let mut decided = true;
        for validation in plan.validations.iter().filter(|v| v.early == early) {
            match self.runner.holds(&validation.expression) {
                Ok(true) => {}
                Ok(false) => {
                    let message = self.message(validation);
                    failed.push(violation(validation, &message));
                }
                Err(Stop::Undecided) => decided = false,
                Err(Stop::Failed(failure)) => return Err(Failure::Expression(failure)),
            }
        }
        // A message that was not finished is not the author's.
        match (decided && !self.runner.interrupted(), failed.is_empty()) {
            (false, _) => Ok(false),
            (true, true) => Ok(true),
            (true, false) => Err(Failure::Invalid(failed)),
        }
    }

    /// As Kubernetes has it: the message expression's value if it is a decent line, else the message, else the rule.
    fn message(&mut self, validation: &Validation) -> String {
        let computed = validation.message_expression.as_ref().and_then(|e| self.runner.evaluate(e).ok());
        if let Some(Value::String(message)) = computed {
            let message = message.trim();
            if !message.is_empty() && message.len() <= MAX_MESSAGE_BYTES && !message.contains('\n') {
                return message.to_owned();
            }
        }
        match &validation.message {
            Some(message) => message.to_string(),
            None => format!("failed expression: {}", validation.expression.text.trim()),
        }
    }

    fn source_ready(&mut self, index: usize, node: &Node, source: &Source, mut reads: Vec<Value>) {
        let value = match source.for_each.is_empty() {
            true => reads.pop().unwrap_or(Value::Optional(None)),
            false => Value::List(List::from(reads)),
        };
        self.ready(index, node, present_if(source.is_conditional(), value));
    }

    fn ready(&mut self, index: usize, node: &Node, value: Value) {
        self.runner.set(node.slot, Slot::Value(value));
        self.set(index, State::Ready);
    }

    fn fail(&mut self, index: usize, failure: Failure) {
        self.set(index, State::Failed(failure));
    }

    fn set(&mut self, index: usize, state: State) {
        self.runner.end(!matches!(state, State::Undecided));
        if let Some(place) = self.states.get_mut(index) {
            *place = state;
        }
    }
}

fn violation(validation: &Validation, message: &str) -> FieldError {
    let field = &validation.field;
    match validation.reason {
        Reason::Forbidden => field_error::forbidden(field, message),
        Reason::Required => field_error::required(field, message),
        Reason::Duplicate => {
            FieldError { message: format!("Duplicate value: {message}"), ..field_error::duplicate_omitted(field) }
        }
        _ => field_error::invalid_omitted(field, message),
    }
}

fn new_id(next: &mut u32) -> NeedId {
    let id = NeedId(*next);
    *next += 1;
    id
}

/// `authorizer.requestResource`: what the request itself is about.
fn request_resource(request: &Value) -> Value {
    let field = |of: Option<&Value>, name: &str| match of {
        Some(Value::Map(map)) => map.get(name).cloned(),
        _ => None,
    };
    let text = |value: Option<Value>| match value {
        Some(Value::String(text)) => text,
        _ => "".into(),
    };
    let resource = field(Some(request), "resource");
    let of_resource = |name| text(field(resource.as_ref(), name));
    let of_request = |name| text(field(Some(request), name));
    library::request_resource(
        &of_resource("group"),
        &of_resource("resource"),
        "",
        &of_request("namespace"),
        &of_request("name"),
    )
}

fn object_of(need: &Need) -> (Arc<str>, Arc<str>) {
    match need {
        Need::Get { namespace, name, .. } => (namespace.clone(), name.clone()),
        Need::List { namespace, .. } => (namespace.clone(), Arc::default()),
        Need::Call(_) | Need::Decide(_) => Default::default(),
    }
}

fn present_if(optional: bool, value: Value) -> Value {
    if optional { Value::Optional(Some(Arc::new(value))) } else { value }
}

fn missing(name: &Arc<str>, source: &Source, (namespace, object): (Arc<str>, Arc<str>)) -> Failure {
    match &source.read {
        Read::Objects(objects) => {
            Failure::Missing { source: name.clone(), resource: objects.resource.clone(), namespace, name: object }
        }
        Read::Call(_) => {
            Failure::Source { source: name.clone(), message: "the service answered 404 Not Found".to_owned() }
        }
    }
}

fn source_failure(name: &Arc<str>, of: &Source, failure: SourceFailure) -> Failure {
    let source = name.clone();
    match (failure, &of.read) {
        (SourceFailure::Unfit(message), Read::Call(call)) => {
            Failure::Expression(ExpressionFailure { path: call.path.clone(), message, at: None })
        }
        (failure, _) => passed_on(source, failure),
    }
}

fn passed_on(source: Arc<str>, failure: SourceFailure) -> Failure {
    match failure {
        SourceFailure::Forbidden(message) => Failure::Forbidden { source, message },
        SourceFailure::Failed(message) | SourceFailure::Unfit(message) => Failure::Source { source, message },
        SourceFailure::Busy { message, retry_after_seconds } => Failure::Busy { source, message, retry_after_seconds },
        SourceFailure::Timeout => Failure::Timeout { pending: vec![source] },
    }
}

#[cfg(test)]
mod tests;
