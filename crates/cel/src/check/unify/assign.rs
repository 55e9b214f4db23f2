//! Which types fit which, and what that tells of variables: the rules of cel-go's `checker/types.go`.
//!
//! Absent: how types are kept (unify).
use std::collections::HashSet;

use foldhash::fast::RandomState;

use super::{Shape, Ty, Types};

impl Types {
    /// Whether `from` fits `to`, and then what that tells of variables is kept.
    pub(in crate::check) fn assignable(&mut self, to: Ty, from: Ty) -> bool {
        self.all_assignable(&[to], &[from])
    }

    /// The same for lists of types, all or none.
    pub(in crate::check) fn all_assignable(&mut self, to: &[Ty], from: &[Ty]) -> bool {
        self.trail.clear();
        let fit = to.len() == from.len() && to.iter().zip(from).all(|(to, from)| self.fits(*to, *from, 0));
        if !fit {
            while let Some((var, before)) = self.trail.pop() {
                if let Some(binding) = self.bindings.get_mut(var as usize) {
                    *binding = before;
                }
            }
        }
        fit
    }

    fn fits(&mut self, one: Ty, two: Ty, depth: usize) -> bool {
        if one == two {
            return true;
        }
        if !self.step(depth) {
            return false;
        }
        let depth = depth + 1;
        if let Shape::Var(var) = *self.shape(two)
            && let Some(decided) = self.fits_var(one, two, var, depth)
        {
            return decided;
        }
        if let Shape::Var(var) = *self.shape(one)
            && let Some(decided) = self.fits_var(two, one, var, depth)
        {
            return decided;
        }
        if one.is_dyn_or_error() || two.is_dyn_or_error() {
            return true;
        }
        match (self.shape(one).clone(), self.shape(two).clone()) {
            (Shape::Null, other) | (other, Shape::Null) => matches!(
                other,
                Shape::Null
                    | Shape::Wrapper(_)
                    | Shape::Object(_)
                    | Shape::Opaque(..)
                    | Shape::Optional(_)
                    | Shape::Timestamp
                    | Shape::Duration
            ),
            (Shape::Wrapper(one), Shape::Wrapper(two)) => self.fits(one, two, depth),
            (Shape::Wrapper(one), _) => self.fits(one, two, depth),
            (_, Shape::Wrapper(two)) => self.fits(one, two, depth),
            (Shape::Type(_), Shape::Type(_)) => true,
            (Shape::List(one), Shape::List(two)) | (Shape::Optional(one), Shape::Optional(two)) => {
                self.fits(one, two, depth)
            }
            (Shape::Map(key, value), Shape::Map(other_key, other_value)) => {
                self.fits(key, other_key, depth) && self.fits(value, other_value, depth)
            }
            (Shape::Opaque(name, params), Shape::Opaque(other_name, other_params)) => {
                name == other_name
                    && params.len() == other_params.len()
                    && params.iter().zip(other_params.iter()).all(|(one, two)| self.fits(*one, *two, depth))
            }
            _ => false,
        }
    }

    /// Whether `ty` fits the variable `var` (which is `var_ty`); `None` if neither of the two can tell.
    fn fits_var(&mut self, ty: Ty, var_ty: Ty, var: u32, depth: usize) -> Option<bool> {
        match self.binding(var) {
            Some(bound) => {
                if ty == bound {
                    return Some(true);
                }
                if !self.fits(ty, bound, depth) {
                    return Some(false);
                }
                let general = self.most_general(ty, bound);
                if !self.occurs(var, var_ty, general) {
                    self.bind(var, general);
                }
                Some(true)
            }
            None if self.occurs(var, var_ty, ty) => None,
            None => {
                self.bind(var, ty);
                Some(true)
            }
        }
    }

    fn bind(&mut self, var: u32, ty: Ty) {
        if (var as usize) < self.mark.bindings && ty.0 as usize >= self.mark.entries {
            self.mark.escaped = true;
        }
        if let Some(binding) = self.bindings.get_mut(var as usize) {
            self.trail.push((var, *binding));
            *binding = Some(ty);
        }
    }

    /// Whether the variable `var`, whose type is `var_ty`, is in `ty`, bindings followed.
    fn occurs(&mut self, var: u32, var_ty: Ty, ty: Ty) -> bool {
        let mut seen: HashSet<Ty, RandomState> = HashSet::default();
        let mut open = vec![ty];
        while let Some(ty) = open.pop() {
            if ty == var_ty {
                return true;
            }
            let vars = self.vars(ty);
            let few = vars.few();
            if few.is_some_and(<[u32]>::is_empty) || !seen.insert(ty) {
                continue;
            }
            if !self.step(0) {
                return true;
            }
            // The layers around few variables need no look.
            if let Some(few) = few {
                if few.contains(&var) {
                    return true;
                }
                open.extend(few.iter().filter_map(|var| self.binding(*var)));
                continue;
            }
            match self.shape(ty) {
                Shape::Wrapper(inner) | Shape::List(inner) | Shape::Optional(inner) | Shape::Type(inner) => {
                    open.push(*inner);
                }
                Shape::Map(key, value) => open.extend([*key, *value]),
                Shape::Opaque(_, params) => open.extend(params.iter()),
                _ => {}
            }
        }
        false
    }

    /// The less specific of two types that fit each other.
    pub(in crate::check) fn most_general(&mut self, one: Ty, two: Ty) -> Ty {
        if self.is_equal_or_less_specific(one, two, 0) { one } else { two }
    }

    fn is_equal_or_less_specific(&mut self, one: Ty, two: Ty, depth: usize) -> bool {
        if one == two {
            return true;
        }
        if !self.step(depth) {
            return true;
        }
        let depth = depth + 1;
        match (self.shape(one).clone(), self.shape(two).clone()) {
            (Shape::Dyn | Shape::Var(_), _) => true,
            (_, Shape::Dyn | Shape::Var(_)) => false,
            // What fits null takes null and more.
            (Shape::Null, _) => false,
            (_, Shape::Null) => true,
            (Shape::Wrapper(one), Shape::Wrapper(two)) => self.is_equal_or_less_specific(one, two, depth),
            (Shape::Wrapper(one), _) => one == two,
            (_, Shape::Wrapper(two)) => one == two,
            (Shape::List(one), Shape::List(two)) | (Shape::Optional(one), Shape::Optional(two)) => {
                self.is_equal_or_less_specific(one, two, depth)
            }
            (Shape::Map(key, value), Shape::Map(other_key, other_value)) => {
                self.is_equal_or_less_specific(key, other_key, depth)
                    && self.is_equal_or_less_specific(value, other_value, depth)
            }
            (Shape::Opaque(name, params), Shape::Opaque(other_name, other_params)) => {
                name == other_name
                    && params.len() == other_params.len()
                    && params
                        .iter()
                        .zip(other_params.iter())
                        .all(|(one, two)| self.is_equal_or_less_specific(*one, *two, depth))
            }
            (Shape::Type(_), Shape::Type(_)) => true,
            _ => false,
        }
    }
}
