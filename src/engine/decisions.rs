//! What expressions ask `authorizer`, gathered: an undecided check is an unknown, evaluation goes on, and one pass over a list
//! of a thousand objects yields a thousand questions, which are answered at once.
//!
//! Absent: deciding (storage), when expressions are evaluated again (evaluation).
use std::{collections::BTreeMap, sync::Arc};

use cel::{
    Value,
    eval::{ErrorKind, Halt, Host},
    library,
    value::Map,
};

use crate::engine::{
    limits::MAX_DECISIONS,
    need::{NeedId, Question},
};

/// The questions of one evaluation.
#[derive(Debug, Default)]
pub(crate) struct Decisions {
    ids: BTreeMap<Question, u32>,
    entries: Vec<Entry>,
    waiting: BTreeMap<NeedId, usize>,
}

#[derive(Debug)]
struct Entry {
    question: Question,
    answer: Option<Value>,
    asked: bool,
}

impl Host for Decisions {
    fn ask(&mut self, question: &Value) -> Result<Value, Halt> {
        let Value::Map(said) = question else {
            return Err(Halt::error(ErrorKind::Host, "a question is a map"));
        };
        let question = read(said);
        let next = u32::try_from(self.entries.len()).unwrap_or(u32::MAX);
        if !self.ids.contains_key(&question) && self.entries.len() >= MAX_DECISIONS {
            let message = format!("a request may ask the authorizer {MAX_DECISIONS} questions, and this asks more");
            return Err(Halt::error(ErrorKind::Host, message));
        }
        let id = *self.ids.entry(question.clone()).or_insert(next);
        if id == next {
            self.entries.push(Entry { question, answer: None, asked: false });
        }
        match self.entries.get(id as usize).and_then(|entry| entry.answer.clone()) {
            Some(answer) => Ok(answer),
            None => Err(Halt::unknown(id)),
        }
    }
}

impl Decisions {
    /// The questions that nobody was asked yet; they count as asked from now on.
    pub(crate) fn unasked(&mut self, mut next_id: impl FnMut() -> NeedId) -> Vec<(NeedId, Question)> {
        let mut questions = Vec::new();
        for (index, entry) in self.entries.iter_mut().enumerate().filter(|(_, entry)| !entry.asked) {
            entry.asked = true;
            let id = next_id();
            self.waiting.insert(id, index);
            questions.push((id, entry.question.clone()));
        }
        questions
    }

    /// Takes an answer; false if the need is no question of these.
    pub(crate) fn answer(&mut self, id: NeedId, allowed: bool, reason: &str, error: &str) -> bool {
        let Some(entry) = self.waiting.remove(&id).and_then(|index| self.entries.get_mut(index)) else { return false };
        entry.answer = Some(library::decision(allowed, reason, error));
        true
    }

    /// Whether answers are still out.
    pub(crate) fn outstanding(&self) -> bool {
        !self.waiting.is_empty()
    }
}

fn read(said: &Map) -> Question {
    let text = |field: &str| match said.get(field) {
        Some(Value::String(text)) => text.clone(),
        _ => Arc::from(""),
    };
    Question {
        user: text("user"),
        verb: text("verb"),
        path: said.get("path").map(|_| text("path")),
        group: text("group"),
        resource: text("resource"),
        subresource: text("subresource"),
        namespace: text("namespace"),
        name: text("name"),
        field_selector: text("fieldSelector"),
        label_selector: text("labelSelector"),
    }
}
