//! Planning attributes: a chain of selects and indexes becomes one node, a root and its qualifiers.
//!
//! Absent: names (plan).
use super::{
    node::{Attribute, Node, Op, Qualifier, QualifierKey, Root},
    plan::Planner,
};
use crate::{
    ast::{Kind, NodeId},
    check::Reference,
    source::Issues,
    value::{FieldKey, Value},
};

impl Planner<'_> {
    /// A select or an index (`_[_]`, `_?._`, `_[?_]`). The chain is walked down, not recursed into.
    #[inline(never)]
    pub(super) fn attribute(&mut self, id: NodeId) -> Result<Node, Issues> {
        let mut qualifiers = vec![];
        let mut test = false;
        let mut at = id;
        let root = loop {
            if let Some(op) = self.qualified_name(at) {
                break Node { id: at, op };
            }
            match &self.ast_node(at)?.kind {
                Kind::Select { operand, field, test_only, .. } => {
                    if *test_only && at != id {
                        break self.expression(at)?;
                    }
                    test |= *test_only;
                    let key = match self.reference(at) {
                        Some(Reference::Field(key)) => key.clone(),
                        _ => field.clone(),
                    };
                    qualifiers.push(Qualifier {
                        id: at,
                        optional: false,
                        key: QualifierKey::Field(FieldKey::new(key)),
                    });
                    at = *operand;
                }
                Kind::Call { function, args, target: None, .. } => match (&**function, args.as_slice()) {
                    ("_[_]", [operand, key]) => {
                        let key = self.index_key(*key)?;
                        qualifiers.push(Qualifier { id: at, optional: false, key });
                        at = *operand;
                    }
                    ("_?._" | "_[?_]", [operand, key]) => {
                        let key = match (self.reference(at), self.index_key(*key)?) {
                            (Some(Reference::Field(key)), _) => QualifierKey::Field(FieldKey::new(key.clone())),
                            (_, key) => key,
                        };
                        qualifiers.push(Qualifier { id: at, optional: true, key });
                        at = *operand;
                    }
                    _ => break self.expression(at)?,
                },
                _ => break self.expression(at)?,
            }
        };
        qualifiers.reverse();
        Ok(attach(id, root, qualifiers, test, self.env.options().lenient))
    }

    /// A select chain that names a variable or a constant: `a.b.c`.
    fn qualified_name(&self, id: NodeId) -> Option<Op> {
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

    fn index_key(&mut self, id: NodeId) -> Result<QualifierKey, Issues> {
        let node = self.expression(id)?;
        Ok(match node.op {
            Op::Const(Value::String(s)) => QualifierKey::Field(FieldKey::new(s)),
            Op::Const(value) => QualifierKey::Const(value),
            _ => QualifierKey::Node(node),
        })
    }
}

/// Puts qualifiers on what they start from.
fn attach(id: NodeId, root: Node, mut qualifiers: Vec<Qualifier>, test: bool, lenient: bool) -> Node {
    if qualifiers.is_empty() {
        return root;
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
    let fields_only = qualifiers.iter().all(|q| !q.optional && matches!(q.key, QualifierKey::Field(_)));
    let own_cost = u64::from(!test && !conditional);
    Node {
        id,
        op: Op::Attribute(Box::new(Attribute {
            root,
            qualifiers: qualifiers.into(),
            test,
            lenient,
            fields_only,
            own_cost,
        })),
    }
}
