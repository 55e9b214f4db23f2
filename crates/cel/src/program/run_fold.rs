//! Folds that no loop stands for: whatever a macro of somebody's own makes.
//!
//! Absent: loops (run_loop).
use std::cell::OnceCell;

use super::{
    node::Fold,
    price,
    probe::Probe,
    run::{Accumulator, Outcome, Run, Scope, Val, go_type, merge},
};
use crate::{
    ast::NodeId,
    eval::{ErrorKind, Halt},
    value::{List, Map, Value},
};

/// A list or map under iteration.
enum Range {
    List(List),
    Map(Map),
}

impl<'r, P: Probe> Run<'r, '_, P> {
    #[inline(never)]
    pub(super) fn fold<'s>(&mut self, fold: &'s Fold, scope: &'s Scope<'s>) -> Outcome<'s>
    where
        'r: 's,
    {
        let range = self.eval(&fold.range, scope)?;
        let range = match range.get() {
            Value::List(list) => Range::List(list.clone()),
            Value::Map(map) => Range::Map(map.clone()),
            other => return Err(self.no_range(fold.range.id, fold.two, other)),
        };
        let mut accumulated = None;
        let cell = OnceCell::new();
        let mut position = 0;
        while let Some((first, second)) = range.at(position, fold.two) {
            position += 1;
            self.context.spend(price::ROUND_WORK)?;
            let accumulator = match &accumulated {
                Some(result) => Accumulator::Is(result),
                None => Accumulator::Lazy { init: &fold.init, cell: &cell },
            };
            let inner = Scope { outer: Some(scope), first: Some(&first), second: second.as_ref(), accumulator };
            match self.eval(&fold.condition, &inner) {
                Ok(value) if matches!(value.get(), Value::Bool(false)) => break,
                Err(halt) if halt.is_fatal() => return Err(halt),
                _ => {}
            }
            let step = match self.eval(&fold.step, &inner) {
                Err(halt) if halt.is_fatal() => return Err(halt),
                step => step.map(Val::own),
            };
            accumulated = Some(keep_unknowns(accumulated, step));
        }
        let accumulator = match &accumulated {
            Some(result) => Accumulator::Is(result),
            None => Accumulator::Lazy { init: &fold.init, cell: &cell },
        };
        let inner = Scope { outer: Some(scope), first: None, second: None, accumulator };
        Ok(Val::Own(self.eval(&fold.result, &inner)?.own()))
    }

    #[cold]
    pub(super) fn no_range(&self, id: NodeId, two: bool, range: &Value) -> Halt {
        let message = if two {
            format!("unsupported comprehension range type: {}", go_type(range))
        } else {
            format!("got '{}', expected iterable type", go_type(range))
        };
        self.fail(id, ErrorKind::NoSuchOverload, message)
    }
}

/// A step that failed does not forget what the accumulator already waits for.
fn keep_unknowns(before: Option<Result<Value, Halt>>, step: Result<Value, Halt>) -> Result<Value, Halt> {
    match (before, step) {
        (Some(Err(before @ Halt::Unknown(_))), Err(halt)) => {
            let mut all = Some(before);
            merge(&mut all, halt);
            Err(all.unwrap_or_else(Halt::no_such_overload))
        }
        (_, step) => step,
    }
}

impl Range {
    fn at(&self, position: usize, two: bool) -> Option<(Value, Option<Value>)> {
        match self {
            Range::List(list) => {
                let value = list.as_slice().get(position)?.clone();
                let index = || Value::Int(i64::try_from(position).unwrap_or(i64::MAX));
                Some(if two { (index(), Some(value)) } else { (value, None) })
            }
            Range::Map(map) => {
                let (key, value) = map.entry_at(position)?;
                Some((key.into(), two.then(|| value.clone())))
            }
        }
    }
}
