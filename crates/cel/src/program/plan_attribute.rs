//! Planning attributes: a chain of selects and indexes becomes one node, a root and its qualifiers.
//!
//! Absent: names (plan).
use super::{
    node::{Attribute, Node, Op, Qualifier, QualifierKey, Root},
    plan::broken,
    plan::{Build, Planner},
};
use crate::{
    ast::{Kind, NodeId},
    check::Reference,
    source::Issues,
    value::{FieldKey, Value},
};

/// An attribute whose root and keys are still to be planned.
pub(super) struct AttributePlan {
    /// A name; otherwise the root is the first part.
    root: Option<Node>,
    /// From the root on.
    steps: Vec<Step>,
    test: bool,
}

struct Step {
    id: NodeId,
    optional: bool,
    /// Otherwise its key is a part.
    field: Option<FieldKey>,
}

impl Planner<'_> {
    /// A select or an index (`_[_]`, `_?._`, `_[?_]`). The chain is walked down to its root.
    pub(super) fn visit_attribute(&mut self, id: NodeId) -> Result<(), Issues> {
        let (mut steps, mut keys) = (vec![], vec![]);
        let mut test = false;
        let mut at = id;
        let root = loop {
            if let Some(op) = self.qualified_name(at) {
                break Some(Node { id: at, op });
            }
            match &self.ast_node(at)?.kind {
                Kind::Select { operand, field, test_only, .. } if at == id || !*test_only => {
                    test |= *test_only;
                    let key = match self.reference(at) {
                        Some(Reference::Field(key)) => key.clone(),
                        _ => field.clone(),
                    };
                    steps.push(Step { id: at, optional: false, field: Some(FieldKey::new(key)) });
                    at = *operand;
                }
                Kind::Call { function, args, target: None, .. } => match (&**function, args.as_slice()) {
                    ("_[_]" | "_?._" | "_[?_]", [operand, key]) => {
                        let field = match self.reference(at) {
                            Some(Reference::Field(key)) => Some(FieldKey::new(key.clone())),
                            _ => None,
                        };
                        if field.is_none() {
                            keys.push(*key);
                        }
                        steps.push(Step { id: at, optional: &**function != "_[_]", field });
                        at = *operand;
                    }
                    _ => break None,
                },
                _ => break None,
            }
        };
        let operand = root.is_none().then_some(at);
        steps.reverse();
        let plan = AttributePlan { root, steps, test };
        let parts: Vec<NodeId> = operand.into_iter().chain(keys.into_iter().rev()).collect();
        self.parts(id, Build::Attribute(Box::new(plan)), parts.into_iter());
        Ok(())
    }

    pub(super) fn attribute(&mut self, plan: AttributePlan) -> Result<Op, Issues> {
        let keys = plan.steps.iter().filter(|step| step.field.is_none()).count();
        let mut keys = self.take(keys)?.into_iter();
        let root = match plan.root {
            Some(root) => root,
            None => self.take_one()?,
        };
        let mut qualifiers = Vec::with_capacity(plan.steps.len());
        for Step { id, optional, field } in plan.steps {
            let key = match (field, keys.as_slice().first()) {
                (Some(field), _) => QualifierKey::Field(field),
                (None, Some(_)) => keys.next().map_or(QualifierKey::Const(Value::Null), index_key),
                (None, None) => return Err(broken()),
            };
            qualifiers.push(Qualifier { id, optional, key });
        }
        Ok(attach(root, qualifiers, plan.test, self.env.options().lenient))
    }

    /// A select chain that names a variable or a constant: `a.b.c`.
    fn qualified_name(&self, id: NodeId) -> Option<Op> {
        // An object literal refers to a constant too: its type.
        if !matches!(self.ast.node(id)?.kind, Kind::Select { .. } | Kind::Ident(_)) {
            return None;
        }
        match self.reference(id) {
            Some(Reference::Variable(_) | Reference::Constant(_)) => return self.global(id, ""),
            Some(_) => return None,
            None if self.checked() => return None,
            None => {}
        }
        match &self.ast.node(id)?.kind {
            Kind::Select { .. } => self.global(id, &self.dotted(id)?),
            _ => None,
        }
    }
}

fn index_key(node: Node) -> QualifierKey {
    match node.op {
        Op::Const(Value::String(s)) => QualifierKey::Field(FieldKey::new(s)),
        Op::Const(value) => QualifierKey::Const(value),
        _ => QualifierKey::Node(node),
    }
}

/// Whether a key is there without evaluation.
fn is_at_hand(key: &QualifierKey) -> bool {
    match key {
        QualifierKey::Field(_) | QualifierKey::Const(_) => true,
        QualifierKey::Node(node) => matches!(node.op, Op::Variable(_) | Op::Local(_)),
    }
}

/// Puts qualifiers on what they start from.
fn attach(root: Node, mut qualifiers: Vec<Qualifier>, test: bool, lenient: bool) -> Op {
    if qualifiers.is_empty() {
        return root.op;
    }
    let (root, conditional) = match root.op {
        Op::Variable(slot) => (Root::Variable(root.id, slot), false),
        Op::Local(local) => (Root::Local(root.id, local), false),
        Op::Attribute(inner) if !inner.test => {
            let mut all = inner.qualifiers.into_vec();
            all.append(&mut qualifiers);
            qualifiers = all;
            (inner.root, false)
        }
        op => {
            let conditional = matches!(op, Op::Conditional(_));
            (Root::Node(Node { id: root.id, op }), conditional)
        }
    };
    let plain = qualifiers.iter().all(|q| !q.optional && is_at_hand(&q.key));
    let own_cost = u64::from(!test && !conditional);
    Op::Attribute(Box::new(Attribute { root, qualifiers: qualifiers.into(), test, lenient, plain, own_cost }))
}
