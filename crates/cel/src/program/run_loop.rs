//! Loops: what the folds of the standard macros become.
//!
//! A loop charges what the fold would (COST.md, A6); the comments name the expression that is charged.
//!
//! Absent: recognising loops (plan_fold), other folds (run_fold).
use super::{
    node::{Loop, LoopKind, Node, Op},
    price,
    probe::Probe,
    run::{Accumulator, Outcome, Run, Scope, Val, merge},
    run_short::{LEVELS, Short},
};
use crate::{
    ast::NodeId,
    eval::{ErrorKind, Halt},
    value::{Key, Map, MapBuilder, Value, push_clone},
};

/// Elements for which `map` makes room at once; a longer list grows as it is charged for.
const MOST_RESERVED: usize = 1024;

/// Whether the rounds go on.
enum Round {
    Next,
    Stop,
}

/// What a loop gathers.
struct Gathered {
    list: Vec<Value>,
    map: MapBuilder,
    count: u64,
    decided: bool,
    halted: Option<Halt>,
}

impl<'r, P: Probe> Run<'r, '_, P> {
    #[inline(never)]
    pub(super) fn run_loop<'s>(&mut self, id: NodeId, l: &'s Loop, scope: &'s Scope<'s>) -> Outcome<'s>
    where
        'r: 's,
    {
        let mut gathered =
            Gathered { list: vec![], map: MapBuilder::default(), count: 0, decided: false, halted: None };
        if let Op::Bind(bind) = &l.range.op
            && let Some((Value::List(list), positions)) = self.sort_by(bind, scope)?
        {
            let values = positions.iter().filter_map(|position| list.as_slice().get(*position));
            if l.two {
                self.over_indexed(id, l, values, &mut gathered, scope)?;
            } else {
                self.over_list(id, l, list.len(), values, &mut gathered, scope)?;
            }
            return self.finish(l, gathered);
        }
        let range = self.eval(&l.range, scope)?;
        match range.get() {
            Value::List(list) if l.two => self.over_indexed(id, l, list.iter(), &mut gathered, scope)?,
            Value::List(list) => self.over_list(id, l, list.len(), list.iter(), &mut gathered, scope)?,
            Value::Map(map) => self.over_map(id, l, map, &mut gathered, scope)?,
            other => return Err(self.no_range(l.range.id, l.two, other)),
        }
        self.finish(l, gathered)
    }

    fn over_list<'s, 'v>(
        &mut self,
        id: NodeId,
        l: &'s Loop,
        length: usize,
        values: impl Iterator<Item = &'v Value>,
        gathered: &mut Gathered,
        scope: &'s Scope<'s>,
    ) -> Result<(), Halt>
    where
        'r: 's,
    {
        if let (LoopKind::List { element }, None) = (&l.kind, &l.predicate) {
            gathered.list.reserve(length.min(MOST_RESERVED));
            for value in values {
                self.context.spend(price::ROUND_WORK)?;
                self.append(element, gathered, &inner(scope, value, None))?;
            }
            return Ok(());
        }
        for value in values {
            if let Round::Stop = self.round(id, l, gathered, &inner(scope, value, None))? {
                break;
            }
        }
        Ok(())
    }

    #[inline(never)]
    fn over_indexed<'s, 'v>(
        &mut self,
        id: NodeId,
        l: &'s Loop,
        values: impl Iterator<Item = &'v Value>,
        gathered: &mut Gathered,
        scope: &'s Scope<'s>,
    ) -> Result<(), Halt>
    where
        'r: 's,
    {
        for (index, value) in values.enumerate() {
            let index = Value::Int(i64::try_from(index).unwrap_or(i64::MAX));
            if let Round::Stop = self.round(id, l, gathered, &inner(scope, &index, Some(value)))? {
                break;
            }
        }
        Ok(())
    }

    #[inline(never)]
    fn over_map<'s>(
        &mut self,
        id: NodeId,
        l: &'s Loop,
        map: &Map,
        gathered: &mut Gathered,
        scope: &'s Scope<'s>,
    ) -> Result<(), Halt>
    where
        'r: 's,
    {
        for (key, value) in map.iter() {
            if let Round::Stop = self.round(id, l, gathered, &inner(scope, &key.into(), l.two.then_some(value)))? {
                break;
            }
        }
        Ok(())
    }

    fn finish<'s>(&mut self, l: &Loop, gathered: Gathered) -> Outcome<'s> {
        // `@result`, or `@result == 1`
        self.context.charge(if matches!(l.kind, LoopKind::One) { 2 } else { 1 })?;
        let value = match l.kind {
            LoopKind::Quantify { decisive } if gathered.decided => return Ok(decisive.into()),
            LoopKind::Quantify { decisive } => Value::Bool(!decisive),
            LoopKind::One => Value::Bool(gathered.count == 1),
            LoopKind::List { .. } => gathered.list.into(),
            LoopKind::Map { .. } | LoopKind::Entries { .. } => Value::Map(gathered.map.build()),
        };
        match gathered.halted {
            None => Ok(Val::Own(value)),
            Some(halt) => Err(halt),
        }
    }

    fn round<'s>(
        &mut self,
        id: NodeId,
        l: &'s Loop,
        gathered: &mut Gathered,
        scope: &'s Scope<'s>,
    ) -> Result<Round, Halt>
    where
        'r: 's,
    {
        self.context.spend(price::ROUND_WORK)?;
        match (&l.kind, &l.predicate) {
            (LoopKind::Quantify { decisive }, Some(predicate)) => {
                return self.quantify(predicate, *decisive, gathered, scope);
            }
            (_, Some(predicate)) if !self.predicate(predicate, gathered, scope)? => return Ok(Round::Next),
            _ => {}
        }
        match &l.kind {
            LoopKind::List { element } => self.append(element, gathered, scope)?,
            LoopKind::One => {
                // `@result + 1`
                self.context.charge(2)?;
                gathered.count += 1;
            }
            LoopKind::Map { key, value } => self.insert(id, key, value, gathered, scope)?,
            LoopKind::Entries { map } => self.insert_all(id, map, gathered, scope)?,
            LoopKind::Quantify { .. } => {}
        }
        Ok(Round::Next)
    }

    /// `@not_strictly_false(@result)` or `@not_strictly_false(!@result)`, then `@result && p` or `@result || p`.
    fn quantify<'s>(
        &mut self,
        predicate: &'s Node,
        decisive: bool,
        gathered: &mut Gathered,
        scope: &'s Scope<'s>,
    ) -> Result<Round, Halt>
    where
        'r: 's,
    {
        self.context.charge(if decisive { 3 } else { 2 })?;
        if gathered.decided {
            return Ok(Round::Stop);
        }
        self.context.charge(1)?;
        if let Some(truth) = self.truth(predicate, scope) {
            gathered.decided = truth == decisive;
            return Ok(Round::Next);
        }
        match self.eval(predicate, scope) {
            Ok(value) => match *value.get() {
                Value::Bool(b) => {
                    self.decided(predicate, b);
                    gathered.decided = b == decisive;
                }
                _ => merge(&mut gathered.halted, self.place(predicate.id, Halt::no_such_overload())),
            },
            Err(halt) if halt.is_fatal() => return Err(halt),
            Err(halt) => merge(&mut gathered.halted, halt),
        }
        Ok(Round::Next)
    }

    /// The `p` of `p ? ... : @result`. Where it fails the accumulator becomes that error; unknowns stay.
    fn predicate<'s>(
        &mut self,
        predicate: &'s Node,
        gathered: &mut Gathered,
        scope: &'s Scope<'s>,
    ) -> Result<bool, Halt>
    where
        'r: 's,
    {
        if let Some(truth) = self.truth(predicate, scope) {
            return Ok(truth);
        }
        let halt = match self.eval(predicate, scope) {
            Ok(value) => match *value.get() {
                Value::Bool(b) => {
                    self.decided(predicate, b);
                    return Ok(b);
                }
                _ => self.place(predicate.id, Halt::no_such_overload()),
            },
            Err(halt) if halt.is_fatal() => return Err(halt),
            Err(halt) => halt,
        };
        match (&gathered.halted, &halt) {
            (Some(Halt::Error(_)), Halt::Error(_)) => gathered.halted = Some(halt),
            _ => merge(&mut gathered.halted, halt),
        }
        Ok(false)
    }

    /// `@result + [f]`
    #[inline]
    fn append<'s>(&mut self, element: &'s Node, gathered: &mut Gathered, scope: &'s Scope<'s>) -> Result<(), Halt>
    where
        'r: 's,
    {
        self.context.charge(1)?;
        let list = if matches!(element.op, Op::Const(_)) { 0 } else { price::LIST };
        let before = self.context.cost();
        if let Some(value) = self.operand(element, scope, LEVELS + 1) {
            self.context.charge(list + 1)?;
            if gathered.halted.is_none() {
                match value {
                    Short::Ref(value) => push_clone(&mut gathered.list, value),
                    // Not pushed: see `push_clone`.
                    Short::Int(i) => gathered.list.extend([Value::Int(i)]),
                    Short::Double(d) => gathered.list.extend([Value::Double(d)]),
                }
            }
            return Ok(());
        }
        self.context.forget_back_to(before);
        self.evaluate_and_append(element, list, gathered, scope)
    }

    #[inline(never)]
    fn evaluate_and_append<'s>(
        &mut self,
        element: &'s Node,
        list: u64,
        gathered: &mut Gathered,
        scope: &'s Scope<'s>,
    ) -> Result<(), Halt>
    where
        'r: 's,
    {
        let value = match &element.op {
            // Its short way was tried.
            Op::Binary(binary) if binary.of_numbers && !P::ON => self.long_binary(element.id, binary, scope),
            _ => self.eval(element, scope),
        };
        if let Err(halt) = &value
            && halt.is_fatal()
        {
            return value.map(drop);
        }
        self.context.charge(list + 1)?;
        match value {
            Err(halt) => merge(&mut gathered.halted, halt),
            Ok(_) if gathered.halted.is_some() => {}
            Ok(Val::Own(value)) if !matches!(value, Value::Int(_) | Value::Double(_)) => gathered.list.push(value),
            Ok(value) => push_clone(&mut gathered.list, value.get()),
        }
        Ok(())
    }

    /// `cel.@mapInsert(@result, k, f)`: three arguments, so that evaluation stops at the first that fails.
    fn insert<'s>(
        &mut self,
        id: NodeId,
        key: &'s Node,
        value: &'s Node,
        gathered: &mut Gathered,
        scope: &'s Scope<'s>,
    ) -> Result<(), Halt>
    where
        'r: 's,
    {
        self.context.charge(1)?;
        if matches!(gathered.halted, Some(Halt::Error(_))) {
            return Ok(());
        }
        let key = match self.eval(key, scope) {
            Ok(key) => key,
            Err(halt) if halt.is_fatal() => return Err(halt),
            Err(halt) => {
                merge(&mut gathered.halted, halt);
                return Ok(());
            }
        };
        let value = self.eval(value, scope);
        if let Err(halt) = &value
            && halt.is_fatal()
        {
            return value.map(drop);
        }
        self.context.charge(1)?;
        match (value, Key::from_value(key.get())) {
            (Err(halt), _) => merge(&mut gathered.halted, halt),
            (Ok(_), None) => merge(&mut gathered.halted, self.place(id, Halt::no_such_overload())),
            (Ok(value), Some(key)) => self.insert_new(id, key, value.own(), gathered),
        }
        Ok(())
    }

    /// `cel.@mapInsert(@result, m)`
    fn insert_all<'s>(
        &mut self,
        id: NodeId,
        map: &'s Node,
        gathered: &mut Gathered,
        scope: &'s Scope<'s>,
    ) -> Result<(), Halt>
    where
        'r: 's,
    {
        self.context.charge(1)?;
        let map = self.eval(map, scope);
        if let Err(halt) = &map
            && halt.is_fatal()
        {
            return map.map(drop);
        }
        self.context.charge(1)?;
        match map {
            Err(halt) => merge(&mut gathered.halted, halt),
            Ok(map) => match map.get() {
                Value::Map(map) => {
                    for (key, value) in map.iter() {
                        let read = if let Key::String(key) = key { key.len() as u64 / 8 } else { 0 };
                        self.context.spend(price::ROUND_WORK + size_of::<(Key, Value)>() as u64 + read)?;
                        self.insert_new(id, key.clone(), value.clone(), gathered);
                    }
                }
                _ => merge(&mut gathered.halted, self.place(id, Halt::no_such_overload())),
            },
        }
        Ok(())
    }

    fn insert_new(&mut self, id: NodeId, key: Key, value: Value, gathered: &mut Gathered) {
        if gathered.halted.is_some() {
            return;
        }
        if gathered.map.contains(&key) {
            let message = format!("insert failed: key {key} already exists");
            merge(&mut gathered.halted, self.fail(id, ErrorKind::InvalidArgument, message));
            return;
        }
        gathered.map.insert(key, value);
    }
}

fn inner<'s>(outer: &'s Scope<'s>, first: &'s Value, second: Option<&'s Value>) -> Scope<'s> {
    Scope { outer: Some(outer), first: Some(first), second, accumulator: Accumulator::None }
}
