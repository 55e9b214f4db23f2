//! Expressions made at random that are right by their types: every function of the libraries with arguments of its declared
//! types, every macro, fields of objects.
//!
//! Absent: what is expected of them.
use std::sync::Arc;

use cel::{
    Type,
    library::{self, Overload},
};

/// The same numbers each time.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % n as u64).unwrap()
    }

    pub(crate) fn one<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        of[self.below(of.len())]
    }
}

/// The fields of the object types, by name.
pub(crate) type Objects = Vec<(&'static str, Vec<(&'static str, Type)>)>;

pub(crate) struct Generator {
    pub(crate) random: Random,
    functions: Vec<(Arc<str>, Overload)>,
    objects: Objects,
    /// What may be named: variables, then the local ones.
    names: Vec<(String, Type)>,
    count: usize,
}

type Bindings = Vec<(Arc<str>, Type)>;

impl Generator {
    pub(crate) fn new(seed: u64, variables: &[(&str, Type)], objects: Objects) -> Generator {
        let libraries = library::all();
        let all = libraries.into_iter().flat_map(|library| library.functions).flat_map(|function| {
            let name = function.name;
            function.overloads.into_iter().map(move |overload| (name.clone(), overload))
        });
        let functions = all.filter(|(name, overload)| {
            let is_internal = (name.contains('@') && &**name != "@in") || name.starts_with("__") || &**name == "_?._";
            // What gives dyn may be anything at run time.
            !is_internal && !has_dyn(&overload.result)
        });
        let names = variables.iter().map(|(name, ty)| ((*name).to_owned(), ty.clone())).collect();
        Generator { random: Random(seed), functions: functions.collect(), objects, names, count: 0 }
    }

    /// A type that many things are of.
    pub(crate) fn any_type(&mut self, depth: usize) -> Type {
        match self.random.below(if depth == 0 { 8 } else { 13 }) {
            0 => Type::Bool,
            1 => Type::Int,
            2 => Type::Uint,
            3 => Type::Double,
            4 => Type::String,
            5 => Type::Bytes,
            6 => Type::Timestamp,
            7 => Type::Duration,
            8 | 9 => Type::list(self.any_type(depth - 1)),
            10 => Type::map(self.key_type(), self.any_type(depth - 1)),
            11 => Type::optional(self.any_type(depth - 1)),
            _ => Type::opaque(self.random.one(&[
                "kubernetes.Quantity",
                "net.IP",
                "net.CIDR",
                "kubernetes.URL",
                "kubernetes.Semver",
            ])),
        }
    }

    fn key_type(&mut self) -> Type {
        self.random.one(&[&Type::String, &Type::Int, &Type::Uint, &Type::Bool]).clone()
    }

    /// An expression of a type; none where nothing is found that gives it.
    pub(crate) fn expression(&mut self, ty: &Type, depth: usize) -> Option<String> {
        if *ty == Type::Dyn {
            let ty = self.any_type(1);
            return self.expression(&ty, depth);
        }
        if depth == 0 {
            return self.leaf(ty);
        }
        let depth = depth - 1;
        let made = match self.random.below(10) {
            0 | 1 => self.leaf(ty),
            2 => {
                let condition = self.expression(&Type::Bool, depth)?;
                Some(format!("({condition} ? {} : {})", self.expression(ty, depth)?, self.expression(ty, depth)?))
            }
            3 | 4 => self.macro_call(ty, depth),
            _ => self.call(ty, depth),
        };
        made.or_else(|| self.leaf(ty))
    }

    /// A name, a path, a literal.
    fn leaf(&mut self, ty: &Type) -> Option<String> {
        let named = self.paths(ty);
        if !named.is_empty() && self.random.below(3) > 0 {
            return Some(named[self.random.below(named.len())].clone());
        }
        self.literal(ty).or_else(|| named.first().cloned())
    }

    /// All names and paths of a type.
    fn paths(&self, ty: &Type) -> Vec<String> {
        let mut open = self.names.clone();
        let mut found = vec![];
        while let Some((path, of)) = open.pop() {
            if of == *ty {
                found.push(path.clone());
            }
            let Type::Object(name) = &of else { continue };
            if path.matches('.').count() > 3 {
                continue;
            }
            for (field, of) in
                self.objects.iter().find(|(object, _)| *object == &**name).map(|(_, f)| f).into_iter().flatten()
            {
                if let Type::Optional(inner) = ty
                    && **inner == *of
                {
                    found.push(format!("{path}.?{field}"));
                }
                open.push((format!("{path}.{field}"), of.clone()));
            }
        }
        found
    }

    fn literal(&mut self, ty: &Type) -> Option<String> {
        let text = match ty {
            Type::Dyn => {
                let ty = self.any_type(1);
                return self.leaf(&ty);
            }
            Type::Null => "null",
            Type::Bool => self.random.one(&["true", "false"]),
            Type::Int => self.random.one(&["0", "1", "-1", "2", "7", "9223372036854775807", "-9223372036854775808"]),
            Type::Uint => self.random.one(&["0u", "1u", "3u", "18446744073709551615u"]),
            Type::Double => self.random.one(&["0.0", "1.5", "-2.0", "1e300", "3.0"]),
            Type::String => self.random.one(&[
                "''",
                "'a'",
                "'abc'",
                "'zoë'",
                "'1'",
                "'10.0.0.1'",
                "'1.2.3'",
                "'a,b'",
                "'%s'",
                "'true'",
                "'^a+$'",
                "'2m'",
                "'2024-01-01T00:00:00Z'",
                "'https://a.example/b?c=d'",
                "'10Mi'",
                "'YQ=='",
                "'日本'",
                "'Europe/Berlin'",
            ]),
            Type::Bytes => self.random.one(&["b''", "b'abc'", "b'\\xff\\x00'"]),
            Type::Timestamp => self.random.one(&[
                "timestamp('2024-02-29T12:30:00Z')",
                "timestamp(0)",
                "timestamp('9999-12-31T23:59:59Z')",
            ]),
            Type::Duration => self.random.one(&["duration('1h')", "duration('-1.5s')", "duration('0s')"]),
            Type::Wrapper(inner) => return self.literal(inner),
            Type::List(of) => return self.several(of, |parts| format!("[{}]", parts.join(", "))),
            Type::Map(entry) => {
                let (key, value) = (self.leaf(&entry.0)?, self.leaf(&entry.1)?);
                return Some(if self.random.below(4) == 0 { "{}".into() } else { format!("{{{key}: {value}}}") });
            }
            Type::Optional(of) => {
                let value = self.leaf(of)?;
                return Some(if self.random.below(3) == 0 {
                    "optional.none()".into()
                } else {
                    format!("optional.of({value})")
                });
            }
            Type::Type(of) => return Some(format!("type({})", self.leaf(of)?)),
            Type::Opaque(name, _) => match &**name {
                "kubernetes.Quantity" => self.random.one(&["quantity('1')", "quantity('-1.5Gi')", "quantity('100m')"]),
                "net.IP" => self.random.one(&["ip('10.0.0.1')", "ip('::1')"]),
                "net.CIDR" => self.random.one(&["cidr('10.0.0.0/8')", "cidr('::/0')"]),
                "kubernetes.URL" => "url('https://a.example:8080/b?c=d&c=e')",
                "kubernetes.Semver" => self.random.one(&["semver('1.2.3')", "semver('0.1.0-alpha.1')"]),
                "kubernetes.NamedFormat" => "format.dns1123Label()",
                _ => return None,
            },
            _ => return None,
        };
        Some(text.to_owned())
    }

    fn several(&mut self, ty: &Type, write: impl FnOnce(Vec<String>) -> String) -> Option<String> {
        let parts = (0..self.random.below(4)).map(|_| self.leaf(ty)).collect::<Option<Vec<_>>>()?;
        Some(write(parts))
    }

    fn call(&mut self, ty: &Type, depth: usize) -> Option<String> {
        for _ in 0..40 {
            let (name, overload) = self.functions[self.random.below(self.functions.len())].clone();
            let mut bindings = vec![];
            if !unify(&overload.result, ty, &mut bindings) {
                continue;
            }
            let mut args = vec![];
            for param in &overload.params {
                let ty = self.bound(param, &mut bindings);
                match self.expression(&ty, depth) {
                    Some(arg) => args.push(arg),
                    None => break,
                }
            }
            if args.len() == overload.params.len() {
                return Some(written(&name, &overload, &args));
            }
        }
        None
    }

    /// A declared type with its parameters put in; those not known yet are chosen.
    fn bound(&mut self, ty: &Type, bindings: &mut Bindings) -> Type {
        match ty {
            Type::Param(name) => match bindings.iter().find(|(known, _)| known == name) {
                Some((_, ty)) => ty.clone(),
                None => {
                    let chosen = self.key_type();
                    bindings.push((name.clone(), chosen.clone()));
                    chosen
                }
            },
            Type::List(of) => Type::list(self.bound(of, bindings)),
            Type::Optional(of) => Type::optional(self.bound(of, bindings)),
            Type::Type(of) => Type::type_of(self.bound(of, bindings)),
            Type::Wrapper(of) => self.bound(of, bindings),
            Type::Map(entry) => {
                let key = self.bound(&entry.0, bindings);
                Type::map(key, self.bound(&entry.1, bindings))
            }
            Type::Dyn => self.key_type(),
            ty => ty.clone(),
        }
    }

    fn macro_call(&mut self, ty: &Type, depth: usize) -> Option<String> {
        if self.random.below(5) == 0 {
            let of = self.any_type(1);
            let value = self.expression(&of, depth)?;
            return self.with(&[of], |this, names| {
                Some(format!("cel.bind({}, {value}, {})", names[0], this.expression(ty, depth)?))
            });
        }
        let element = self.any_type(1);
        match ty {
            Type::Bool => {
                let range = self.expression(&Type::list(element.clone()), depth)?;
                if self.random.below(3) == 0 {
                    let method = self.random.one(&["all", "exists", "existsOne"]);
                    return self.with(&[Type::Int, element], |this, names| {
                        Some(format!(
                            "{range}.{method}({}, {}, {})",
                            names[0],
                            names[1],
                            this.expression(&Type::Bool, depth)?
                        ))
                    });
                }
                let method = self.random.one(&["all", "exists", "exists_one"]);
                self.with(&[element], |this, names| {
                    Some(format!("{range}.{method}({}, {})", names[0], this.expression(&Type::Bool, depth)?))
                })
            }
            Type::List(of) if self.random.below(2) == 0 => {
                let range = self.expression(ty, depth)?;
                if self.random.below(3) == 0 {
                    let key = self.random.one(&[&Type::Int, &Type::String, &Type::Double]).clone();
                    return self.with(&[Type::clone(of)], |this, names| {
                        Some(format!("{range}.sortBy({}, {})", names[0], this.expression(&key, depth)?))
                    });
                }
                self.with(&[Type::clone(of)], |this, names| {
                    Some(format!("{range}.filter({}, {})", names[0], this.expression(&Type::Bool, depth)?))
                })
            }
            Type::List(of) => {
                let (key, from_map) = (self.key_type(), self.random.below(3) == 0);
                let range_type =
                    if from_map { Type::map(key.clone(), element.clone()) } else { Type::list(element.clone()) };
                let range = self.expression(&range_type, depth)?;
                if self.random.below(2) == 0 {
                    let first = if from_map { key } else { Type::Int };
                    return self.with(&[first, element], |this, names| {
                        let filter = if this.random.below(2) == 0 {
                            format!("{}, ", this.expression(&Type::Bool, depth)?)
                        } else {
                            String::new()
                        };
                        Some(format!(
                            "{range}.transformList({}, {}, {filter}{})",
                            names[0],
                            names[1],
                            this.expression(of, depth)?
                        ))
                    });
                }
                self.with(&[if from_map { key } else { element }], |this, names| {
                    let filter = if this.random.below(2) == 0 {
                        format!("{}, ", this.expression(&Type::Bool, depth)?)
                    } else {
                        String::new()
                    };
                    Some(format!("{range}.map({}, {filter}{})", names[0], this.expression(of, depth)?))
                })
            }
            Type::Map(entry) => {
                let range = self.expression(&Type::map(entry.0.clone(), element.clone()), depth)?;
                self.with(&[entry.0.clone(), element], |this, names| {
                    Some(format!(
                        "{range}.transformMap({}, {}, {})",
                        names[0],
                        names[1],
                        this.expression(&entry.1, depth)?
                    ))
                })
            }
            Type::Optional(of) => {
                let method = self.random.one(&["optMap", "optFlatMap"]);
                let result = if method == "optMap" { Type::clone(of) } else { ty.clone() };
                let range = self.expression(&Type::optional(element.clone()), depth)?;
                self.with(&[element], |this, names| {
                    Some(format!("{range}.{method}({}, {})", names[0], this.expression(&result, depth)?))
                })
            }
            _ => None,
        }
    }

    /// Within the scope of new names.
    fn with(&mut self, types: &[Type], write: impl FnOnce(&mut Self, &[String]) -> Option<String>) -> Option<String> {
        let known = self.names.len();
        let mut names = vec![];
        for ty in types {
            self.count += 1;
            names.push(format!("v{}", self.count));
            self.names.push((format!("v{}", self.count), ty.clone()));
        }
        let written = write(self, &names);
        self.names.truncate(known);
        written
    }
}

/// Whether a declared type is the wanted one, parameters put in.
fn unify(declared: &Type, wanted: &Type, bindings: &mut Bindings) -> bool {
    match (declared, wanted) {
        (Type::Param(name), _) => match bindings.iter().find(|(known, _)| known == name) {
            Some((_, ty)) => ty == wanted,
            None => {
                bindings.push((name.clone(), wanted.clone()));
                true
            }
        },
        (Type::List(one), Type::List(two))
        | (Type::Optional(one), Type::Optional(two))
        | (Type::Type(one), Type::Type(two)) => unify(one, two, bindings),
        (Type::Map(one), Type::Map(two)) => unify(&one.0, &two.0, bindings) && unify(&one.1, &two.1, bindings),
        (one, two) => one == two,
    }
}

fn has_dyn(ty: &Type) -> bool {
    match ty {
        Type::Dyn => true,
        Type::List(of) | Type::Optional(of) | Type::Wrapper(of) | Type::Type(of) => has_dyn(of),
        Type::Map(entry) => has_dyn(&entry.0) || has_dyn(&entry.1),
        _ => false,
    }
}

fn written(name: &str, overload: &Overload, args: &[String]) -> String {
    match (name, args) {
        ("_[_]", [of, at]) => format!("{of}[{at}]"),
        ("_[?_]", [of, at]) => format!("{of}[?{at}]"),
        ("_?_:_", [condition, yes, no]) => format!("({condition} ? {yes} : {no})"),
        ("@in", [one, other]) => format!("({one} in {other})"),
        (operator, [of]) if operator.ends_with('_') => format!("{}({of})", operator.trim_end_matches('_')),
        (operator, [one, other]) if operator.starts_with('_') => {
            format!("({one} {} {other})", operator.trim_matches('_'))
        }
        (name, [receiver, rest @ ..]) if overload.member => format!("({receiver}).{name}({})", rest.join(", ")),
        (name, args) => format!("{name}({})", args.join(", ")),
    }
}
