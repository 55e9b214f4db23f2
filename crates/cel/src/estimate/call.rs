//! Calls: the union over the overloads that are meant (COST, B1), and the operators whose estimate looks at more than sizes.
//!
//! Absent: the rules of functions (library).
use super::{
    Bounds, Guess, Operand,
    sizes::{Place, Step},
    walk::{Entries, Walk},
};
use crate::{
    Type,
    ast::{Kind, NodeId},
    check::Reference,
};

impl<'a> Walk<'a> {
    /// The cost of a call whose arguments are done.
    pub(super) fn call(&mut self, id: NodeId) -> Bounds {
        let checked = self.checked;
        let Some(Kind::Call { target, function, args, .. }) = checked.ast().node(id).map(|node| &node.kind) else {
            return Bounds::exactly(0);
        };
        if let ("dyn", [arg]) = (&**function, args.as_slice()) {
            return self.same(id, *arg) + Bounds::exactly(1);
        }
        let overloads = match checked.reference(id) {
            Some(Reference::Overloads(overloads)) => &**overloads,
            // `object.?field`
            Some(Reference::Field(_)) => &["select_optional_field"],
            _ => return Bounds::exactly(0),
        };
        let nodes: Vec<NodeId> = target.iter().chain(args).copied().collect();
        let (cost, size) = match (&**function, nodes.as_slice()) {
            // The right side may not be evaluated.
            ("_&&_" | "_||_", &[left, right]) => {
                let (left, right) = (self.cost(left), self.cost(right));
                (Bounds::new(left.min, left.max.saturating_add(right.max)), self.size(id))
            }
            ("_?_:_", &[condition, yes, no]) => {
                self.entries_of_either(id, yes, no);
                let size = self.size_or_unknown(yes).union(self.size_or_unknown(no));
                (self.cost(condition) + self.cost(yes).union(self.cost(no)), Some(size))
            }
            _ => {
                let (cost, size) = self.any_of(id, overloads, &nodes);
                (cost + self.sum(nodes), size)
            }
        };
        if let Some(size) = size {
            self.size_is(id, size);
        }
        cost
    }

    /// Makes of `id` what `of` is. The cost of `of`.
    fn same(&mut self, id: NodeId, of: NodeId) -> Bounds {
        if let Some(size) = self.size(of) {
            self.size_is(id, size);
        }
        if let Some(entries) = self.entries(of) {
            self.entries_are(id, entries);
        }
        self.cost(of)
    }

    /// What any of the overloads costs, and the size of its result.
    fn any_of(&mut self, id: NodeId, overloads: &[&str], nodes: &[NodeId]) -> (Bounds, Option<Bounds>) {
        let operands: Vec<Operand<'_>> = nodes.iter().map(|node| self.operand(*node)).collect();
        let mut cost = Bounds::NOTHING;
        let mut size: Option<Bounds> = None;
        for &overload in overloads {
            let guess = self.env.overload(overload).map_or(Guess::exactly(1), |found| (found.estimate)(&operands));
            cost = cost.union(guess.cost);
            if let Some(guessed) = guess.size {
                size = Some(size.map_or(guessed, |size| size.union(guessed)));
            }
            match (overload, nodes) {
                ("index_list" | "index_map", &[of, _]) => {
                    size = self.entries(of).map(|entries| entries.values);
                    self.place_at(id, self.step(of, Step::Element));
                }
                ("add_string" | "add_bytes" | "add_list", &[left, right]) => self.entries_of_either(id, left, right),
                _ => {}
            }
            if size.is_none() {
                size = self.size(id);
            }
        }
        (cost, size)
    }

    fn operand(&mut self, id: NodeId) -> Operand<'a> {
        let ty = self.checked.type_of(id).unwrap_or(&Type::Dyn);
        let literal = match self.checked.ast().node(id).map(|node| &node.kind) {
            Some(Kind::Literal(literal)) => Some(literal),
            _ => None,
        };
        let element = first_parameter(ty).map(|parameter| (parameter, self.element_size(id)));
        Operand { ty, size: self.size(id), element, literal }
    }

    /// The size of what is in a list: where it has a place, by its schema; else, if more than Kubernetes knows is wanted, of what
    /// it was made of.
    fn element_size(&mut self, id: NodeId) -> Bounds {
        let size = match self.place(id) {
            Place::Nameless if self.sizes.is_precise() => self.entries(id).map(|entries| entries.values),
            Place::Nameless => None,
            _ => self.size_at(self.step(id, Step::Element)),
        };
        size.unwrap_or(Bounds::UNKNOWN)
    }

    fn entries_of_either(&mut self, id: NodeId, one: NodeId, two: NodeId) {
        if let (Some(one), Some(two)) = (self.entries(one), self.entries(two)) {
            self.entries_are(id, Entries::union(one, two));
        }
    }
}

/// `T` of `list(T)`, `K` of `map(K, V)`.
fn first_parameter(ty: &Type) -> Option<&Type> {
    match ty {
        Type::List(inner) | Type::Optional(inner) | Type::Type(inner) => Some(inner),
        Type::Map(pair) => Some(&pair.0),
        Type::Opaque(_, parameters) => parameters.first(),
        _ => None,
    }
}
