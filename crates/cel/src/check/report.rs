//! Check errors in cel-go's words, and what to do about them.
//!
//! Absent: when they occur (walk, calls).
use super::{
    Checker,
    unify::{Shape, Ty},
};
use crate::{
    ast::{Kind, NodeId},
    library::{Function, Overload},
    source::{Issue, Span},
    types::Type,
};

/// Errors for which a likely name is looked for: comparing a name with hundreds takes longer than checking it.
const MAX_HELPED: usize = 20;

/// Signatures shown when none fits.
const MAX_SIGNATURES: usize = 4;

impl Checker<'_> {
    pub(super) fn report(&mut self, span: Span, at: u32, message: String, help: Option<String>) {
        self.issues.push(Issue { span, at: Some(at), message, help });
    }

    pub(super) fn report_at(&mut self, id: NodeId, message: String, help: Option<String>) {
        let (span, at) = self.ast.node(id).map_or((Span::default(), 0), |node| (node.span, node.at));
        self.report(span, at, message, help);
    }

    /// Whether an issue would only be counted. It is, and its words need not be found.
    fn is_enough(&mut self) -> bool {
        let full = self.issues.is_full();
        if full {
            self.issues.omit();
        }
        full
    }

    pub(super) fn shown(&mut self, ty: Ty) -> String {
        self.types.finish(ty).to_string()
    }

    /// `span` is the name's own text.
    pub(super) fn undeclared(&mut self, id: NodeId, span: Span, name: &str, help: Option<String>) {
        if self.is_enough() {
            return;
        }
        let at = self.ast.node(id).map_or(span.start, |node| node.at);
        let message = format!("undeclared reference to '{name}' (in container '{}')", self.env.container());
        self.report(span, at, message, help);
    }

    pub(super) fn mismatch(&mut self, id: NodeId, expected: Ty, found: Ty) {
        if self.is_enough() {
            return;
        }
        let message = format!("expected type '{}' but found '{}'", self.shown(expected), self.shown(found));
        let help = (expected == Ty::BOOL).then(|| "a condition is wanted: compare it with something".to_owned());
        self.report_at(id, message, help);
    }

    pub(super) fn undefined_field(&mut self, id: NodeId, span: Span, at: Option<u32>, object: &str, field: &str) {
        if self.is_enough() {
            return;
        }
        let names = self.env.provider().map(|provider| provider.field_names(object)).unwrap_or_default();
        let help = nearest(field, names.iter().map(|name| &**name)).map(|near| format!("did you mean `{near}`?"));
        let at = at.or_else(|| self.ast.node(id).map(|node| node.at)).unwrap_or(span.start);
        self.report(span, at, format!("undefined field '{field}'"), help);
    }

    pub(super) fn no_overload(&mut self, id: NodeId, function: &Function, args: &[Ty], member: bool) {
        if self.is_enough() {
            return;
        }
        let mut shown: Vec<String> = args.iter().map(|ty| self.shown(*ty)).collect();
        let receiver = if member && !shown.is_empty() { format!("{}.", shown.remove(0)) } else { String::new() };
        let message =
            format!("found no matching overload for '{}' applied to '{receiver}({})'", function.name, shown.join(", "));
        let help = self.help_for_call(id, function, args, member);
        self.report_at(id, message, help);
    }

    fn help_for_call(&self, id: NodeId, function: &Function, args: &[Ty], member: bool) -> Option<String> {
        if args.contains(&Ty::ERROR) {
            return None;
        }
        let is_optional = |ty: &Ty| matches!(self.types.shape(*ty), Shape::Optional(_));
        let of_optionals = |overload: &Overload| overload.params.iter().any(|ty| matches!(ty, Type::Optional(_)));
        if args.iter().any(is_optional) && !function.overloads.iter().any(of_optionals) {
            let help = "a value that may be absent: say what it is then, `(...).orValue(...)`, or ask `.hasValue()`";
            return Some(help.to_owned());
        }
        let help = self.help_for_operator(&function.name, args).or_else(|| self.help_for_contains(function, args));
        if let Some(help) = help {
            return Some(help.to_owned());
        }
        let of_form = function.overloads.iter().filter(|overload| overload.member == member);
        let signatures: Vec<String> = of_form.map(|overload| signature(function, overload)).collect();
        if signatures.is_empty() {
            let form = if member { "function, not a method" } else { "method, not a function" };
            return Some(format!("`{}` is a {form}", function.name));
        }
        let is_operator = matches!(
            self.ast.node(id).map(|node| &node.kind),
            Some(Kind::Call { function, .. }) if function.starts_with(['_', '@', '!', '-'])
        );
        (!is_operator && signatures.len() <= MAX_SIGNATURES).then(|| format!("it is {}", signatures.join(" or ")))
    }

    /// What is most often meant where an operator fits nothing.
    fn help_for_operator(&self, operator: &str, args: &[Ty]) -> Option<&'static str> {
        match operator {
            "!_" => return Some("`!` is for conditions: compare it with something"),
            "-_" => return Some("only an int, a double or a duration can be negative"),
            "_?_:_" => return Some("what is before the `?` must be a condition, and both halves of one type"),
            _ => {}
        }
        let [left, right] = <[Ty; 2]>::try_from(args).ok()?.map(|ty| self.types.shape(ty));
        if let (Shape::Opaque(left, _), Shape::Opaque(right, _)) = (left, right)
            && left == right
        {
            return self.help_for_methods(operator, left);
        }
        let is_number = |shape: &Shape| matches!(shape, Shape::Int | Shape::Uint | Shape::Double);
        let is_convertible = |shape: &Shape| is_number(shape) || matches!(shape, Shape::Bool);
        match (operator, left, right) {
            ("_+_", Shape::String, other) | ("_+_", other, Shape::String) if is_convertible(other) => {
                Some("convert it: `string(...)`")
            }
            ("_+_" | "_-_" | "_*_" | "_/_" | "_%_", left, right) if is_number(left) && is_number(right) => {
                Some("convert one of them: `int(...)`, `double(...)`")
            }
            ("_+_" | "_-_", Shape::Timestamp | Shape::Duration, other) if is_number(other) => {
                Some("a time is moved by a duration: `duration('1h')`")
            }
            ("_<_" | "_<=_" | "_>_" | "_>=_" | "_==_" | "_!=_", Shape::Bool, other) if is_number(other) => {
                Some("comparisons are not chained: `a < b && b < c`")
            }
            ("_==_" | "_!=_" | "_<_" | "_<=_" | "_>_" | "_>=_", Shape::String, other)
            | ("_==_" | "_!=_" | "_<_" | "_<=_" | "_>_" | "_>=_", other, Shape::String)
                if is_convertible(other) =>
            {
                Some("convert one of them: `string(...)`, `int(...)`")
            }
            ("_==_" | "_!=_", Shape::List(_), _) => Some("does the list contain it? `x in list`"),
            ("@in", Shape::String, Shape::String) => Some("a part of a text is looked for by `text.contains(part)`"),
            ("@in", _, Shape::List(_) | Shape::Map(..)) => {
                Some("what is looked for must be of the type of the elements, or keys")
            }
            ("@in", ..) => Some("what is on the right of `in` must be a list or a map"),
            ("_[_]", Shape::String, _) => Some("a character is `text.charAt(i)`, a part `text.substring(i, j)`"),
            ("_[_]", Shape::Map(..), _) => Some("the key must be of the type of the map's keys"),
            ("_[_]", Shape::List(_), _) => {
                Some("an element of a list is named by its index, from 0 on; or look for one: `.filter(x, ...)`")
            }
            ("_&&_" | "_||_", ..) => Some("both sides are conditions: compare them with something"),
            _ => None,
        }
    }

    /// `list.contains(x)`, of a method that texts have.
    fn help_for_contains(&self, function: &Function, args: &[Ty]) -> Option<&'static str> {
        match (&*function.name, args.first().map(|ty| self.types.shape(*ty))?) {
            ("contains", Shape::List(_)) => Some("does the list contain it? `x in list`"),
            ("contains", Shape::Map(..)) => Some("does the map have the key? `key in map`"),
            _ => None,
        }
    }

    /// Operators on what has methods instead: quantities, versions.
    fn help_for_methods(&self, operator: &str, name: &str) -> Option<&'static str> {
        let (method, help) = match operator {
            "_<_" | "_<=_" => ("isLessThan", "it has methods: `a.isLessThan(b)`, `a.compareTo(b) <= 0`"),
            "_>_" | "_>=_" => ("isGreaterThan", "it has methods: `a.isGreaterThan(b)`, `a.compareTo(b) >= 0`"),
            "_+_" => ("add", "it has methods: `a.add(b)`"),
            "_-_" => ("sub", "it has methods: `a.sub(b)`"),
            _ => return None,
        };
        let of_type = |ty: &Type| matches!(ty, Type::Opaque(of, _) if &**of == name);
        let overloads = &self.env.function(method)?.overloads;
        overloads.iter().any(|overload| overload.params.first().is_some_and(of_type)).then_some(help)
    }

    /// Help for a function of an unknown name in what is no variable: one of both is mistyped.
    pub(super) fn help_for_namespace(&self, namespace: &str, function: &str) -> Option<String> {
        if self.issues.len() >= MAX_HELPED {
            return None;
        }
        let known: Vec<(&str, &str)> = self.env.dotted_functions().filter_map(|name| name.rsplit_once('.')).collect();
        if known.contains(&(namespace, function)) {
            return None;
        }
        let functions = known.iter().filter(|(of, _)| *of == namespace).map(|(_, name)| *name);
        let namespaces = known.iter().filter(|(_, name)| *name == function).map(|(of, _)| *of);
        let near = match nearest(function, functions) {
            Some(function) => (namespace, function),
            None => (nearest(namespace, namespaces)?, function),
        };
        Some(format!("did you mean `{}.{}`?", near.0, near.1))
    }

    pub(super) fn help_for_name(&self, name: &str, span: Span) -> Option<String> {
        if self.issues.len() >= MAX_HELPED {
            return None;
        }
        let (before, after) =
            (self.ast.source().get(..span.start as usize), self.ast.source().get(span.end as usize..));
        if before.is_some_and(|text| text.trim_end().ends_with(['{', ',']))
            && after.is_some_and(|text| text.trim_start().starts_with(':'))
        {
            return Some(format!("a key that is a text is written `'{name}'`"));
        }
        if let Some(ours) = foreign_constant(name) {
            return Some(format!("did you mean `{ours}`?"));
        }
        let locals = self.locals.iter().filter(|(_, types)| !types.is_empty()).map(|(name, _)| &**name);
        let variables = self.env.variables().map(|(name, _)| name);
        let visible = locals.chain(variables).filter(|known| !known.starts_with(['@', '#']));
        nearest(name, visible).map(|near| format!("did you mean `{near}`?"))
    }

    /// Help for an unknown function or method, which may be a macro with too few or too many arguments.
    pub(super) fn help_for_function(&self, name: &str, member: bool, arguments: usize) -> Option<String> {
        if self.issues.len() >= MAX_HELPED {
            return None;
        }
        let taken = self.env.macro_arguments(name, member);
        if !taken.is_empty() {
            let taken: Vec<String> = taken.iter().map(usize::to_string).collect();
            let plural = if taken == ["1"] { "" } else { "s" };
            return Some(format!("the macro `{name}` takes {} argument{plural}, not {arguments}", taken.join(" or ")));
        }
        match name {
            "keys" => return Some("a map is gone over by its keys: `m.map(key, key)`".to_owned()),
            "values" => return Some("a map is gone over by its keys: `m.map(key, m[key])`".to_owned()),
            _ => {}
        }
        if let Some(ours) = foreign(name) {
            return Some(format!("did you mean `{ours}`?"));
        }
        let functions = self.env.functions().filter(|f| f.overloads.iter().any(|o| o.member == member));
        let functions = functions.map(|f| &*f.name).filter(|name| name.starts_with(|c: char| c.is_ascii_alphabetic()));
        let macros: Vec<&str> = self.env.macro_names(member).collect();
        let near = nearest(name, functions.chain(macros)).or_else(|| foreign(nearest(name, FOREIGN.into_iter())?));
        near.map(|near| format!("did you mean `{near}`?"))
    }
}

/// What other languages call CEL's constants.
fn foreign_constant(name: &str) -> Option<&'static str> {
    Some(match name {
        "nil" | "None" | "NULL" | "Null" | "undefined" => "null",
        "True" | "TRUE" | "yes" => "true",
        "False" | "FALSE" | "no" => "false",
        _ => return None,
    })
}

/// Foreign names that are mistyped themselves.
const FOREIGN: [&str; 5] = ["length", "includes", "toLowerCase", "toUpperCase", "toString"];

/// What other languages call CEL's functions.
fn foreign(name: &str) -> Option<&'static str> {
    Some(match name {
        "len" | "length" | "count" => "size",
        "toLowerCase" | "lower" | "toLower" => "lowerAscii",
        "toUpperCase" | "upper" | "toUpper" => "upperAscii",
        "includes" | "has" => "contains",
        "any" | "some" => "exists",
        "every" => "all",
        "toString" | "str" => "string",
        "substr" => "substring",
        "not" => "!",
        _ => return None,
    })
}

fn signature(function: &Function, overload: &Overload) -> String {
    let mut params: Vec<String> = overload.params.iter().map(ToString::to_string).collect();
    let receiver = if overload.member && !params.is_empty() { format!("{}.", params.remove(0)) } else { String::new() };
    format!("`{receiver}{}({}) -> {}`", function.name, params.join(", "), overload.result)
}

/// The name that was probably meant: at most a third of it is mistyped. Ties go to the first in the alphabet.
fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let longest = name.chars().count();
    if longest > 64 {
        return None;
    }
    let allowed = (longest / 3).max(1);
    known
        .filter(|known| known.len().abs_diff(name.len()) <= allowed * 4 && *known != name)
        .map(|known| {
            let same_letters = known.eq_ignore_ascii_case(name);
            (if same_letters { 0 } else { strsim::damerau_levenshtein(name, known) }, known)
        })
        .filter(|(distance, _)| *distance <= allowed && *distance < longest)
        .min()
        .map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn the_nearest_name_is_a_likely_one() {
        let known = ["size", "spec", "status", "metadata"];
        let near = |name| nearest(name, known.into_iter());
        assert_eq!(near("sizze"), Some("size"));
        assert_eq!(near("Spec"), Some("spec"));
        assert_eq!(near("metdata"), Some("metadata"));
        assert_eq!(near("x"), None);
        assert_eq!(near("replicas"), None);
    }
}
