//! Libraries: functions with their overloads (signature, implementation, cost), variables, types and macros.
//!
//! Each library is one file under `library/` that builds one [`Library`]; an [`crate::Env`] is a list of them. An overload's
//! declaration, its code and its cost stand together, so that they cannot drift apart.
//!
//! Absent: which overload is meant (check, program), parsing.
use std::sync::Arc;

use crate::{
    eval::{Context, Halt},
    types::Type,
    value::Value,
};

pub(crate) mod build;
mod comparison;
mod comprehensions;
pub(crate) mod conversions;
pub(crate) mod cost;
mod encoders;
mod kro;
mod kubernetes;
pub(crate) mod lists;
mod math;
mod network;
pub(crate) mod operators;
mod optional;
mod reference;
pub(crate) mod regex;
mod regex_functions;
mod sets;
pub(crate) mod standard;
mod strings;
mod time;

/// The standard library: operators, conversions, `size`, `matches`, time.
pub fn standard() -> Library {
    standard::library()
}

pub use kubernetes::authorizer::{authorizer, authorizer_type, decision, request_resource, request_resource_type};
pub use reference::{Entry, all, reference};

/// The libraries of Kubernetes' base environment, as API servers configure it.
pub fn kubernetes() -> Vec<Library> {
    kubernetes::libraries()
}

/// `jsonpatch.escapeKey`, where expressions make JSON patches.
pub fn jsonpatch() -> Library {
    kubernetes::jsonpatch::library()
}

/// What kro adds, as far as it is useful in projections: `json.marshal`, `hash.sha256`, `merge`, `lists.setAtIndex`, ...
pub fn kro() -> Vec<Library> {
    kro::libraries()
}

/// cel-go's pattern functions: `regex.replace`, `regex.extract`, `regex.extractAll`.
pub fn regex() -> Library {
    regex_functions::library()
}

/// `optional.of(x)` and its kin.
pub fn optionals() -> Library {
    optional::library()
}

/// cel-go's list functions: `slice`, `flatten`, `sort`, `distinct`, `reverse`, `lists.range`.
pub fn lists() -> Library {
    lists::library()
}

/// cel-go's string functions in their newest version: `split`, `replace`, `format`, ...
pub fn strings() -> Library {
    strings::library()
}

/// `math.greatest`, `math.round`, `math.bitAnd`, ...
pub fn math() -> Library {
    math::library()
}

/// `ip('10.0.0.1')`, `cidr('10.0.0.0/8')`, as the specification has them.
pub fn network() -> Library {
    network::library()
}

/// `sets.contains`, `sets.equivalent`, `sets.intersects`.
pub fn sets() -> Library {
    sets::library()
}

/// `base64.encode`, `base64.decode`.
pub fn encoders() -> Library {
    encoders::library()
}

/// What the macros of comprehensions with two variables need.
pub fn comprehensions() -> Library {
    comprehensions::library()
}

/// `cel.bind(name, value, expression)`.
pub fn bindings() -> Library {
    Library { name: "bindings", macros: crate::macros::bind(), ..Library::default() }
}

/// `cel.block([...], expression)`, for what optimizers write.
pub fn blocks() -> Library {
    Library { name: "blocks", macros: crate::macros::block(), ..Library::default() }
}

/// A set of functions, constants and macros under one name.
#[derive(Clone, Default)]
pub struct Library {
    /// Its name, as in the function reference: `strings`, `kubernetes.lists`.
    pub name: &'static str,
    /// Its functions.
    pub functions: Vec<Function>,
    /// Named constants and type names.
    pub constants: Vec<(Arc<str>, Type, Value)>,
    /// Its macros.
    pub macros: Vec<crate::macros::Macro>,
    /// Checks of literal arguments beyond their types, by the function whose calls they look at.
    pub validators: Vec<(&'static str, Validator)>,
}

/// Looks at one call of an expression whose types are right, and says what is wrong with its literals (a malformed
/// regular expression, a format string that its arguments do not fit).
pub type Validator = fn(&crate::Checked, crate::ast::NodeId, &mut Vec<crate::Issue>);

/// A function or method by name, with its overloads.
#[derive(Clone)]
pub struct Function {
    /// `size`, `_+_`, `math.greatest`.
    pub name: Arc<str>,
    /// The signatures; none collides with another.
    pub overloads: Vec<Overload>,
}

/// One signature of a function.
#[derive(Clone)]
pub struct Overload {
    /// cel-go's overload id, unique in an environment: `size_string`, `string_to_int`.
    pub id: &'static str,
    /// Whether the first parameter is the receiver: `x.f(y)`.
    pub member: bool,
    /// The parameters' types, the receiver first; may hold [`Type::Param`].
    pub params: Vec<Type>,
    /// The result's type.
    pub result: Type,
    /// The code.
    pub implementation: Implementation,
    /// Makes better code from constant arguments at plan time.
    pub specialize: Option<Specialize>,
    /// What a call costs beyond its arguments (COST model).
    pub cost: Cost,
    /// What a call is estimated to cost beyond its arguments, and how large its result is.
    pub estimate: crate::estimate::Rule,
    /// What it costs in words, for the function reference.
    pub price: &'static str,
    /// One line for the function reference.
    pub doc: &'static str,
    /// An expression that shows it, true when evaluated: `'abc'.size() == 3`.
    pub example: &'static str,
}

/// An overload's code. It is only called with arguments of the declared types (`dyn` arguments are dispatched by value).
pub type Implementation = fn(&mut Context<'_>, &[Value]) -> Result<Value, Halt>;

/// Code made for one call, from its constant arguments.
pub type Specialized = Arc<dyn Fn(&mut Context<'_>, &[Value]) -> Result<Value, Halt> + Send + Sync>;

/// Called at plan time with the constant arguments (`None`: not constant). Gives code that replaces the implementation (a
/// compiled regular expression), nothing, or why the call can only fail: then there is no program.
pub type Specialize = fn(&[Option<&Value>], &mut Effort) -> Result<Option<Specialized>, String>;

/// What may still be done for one expression at plan time.
#[derive(Debug)]
pub struct Effort(u64);

impl Default for Effort {
    fn default() -> Effort {
        Effort(2 * crate::limits::PATTERN_WEIGHT)
    }
}

impl Effort {
    /// Takes `weight` away, before it is spent.
    pub(crate) fn spend(&mut self, weight: u64) -> Result<(), ()> {
        self.0 = self.0.checked_sub(weight).ok_or(())?;
        Ok(())
    }
}

/// What one call costs at run time beyond its arguments (COST model, A7). A failed argument is shown as null, which has the
/// size that the model gives to errors.
///
/// A call of 3 or more arguments or of several candidate overloads is dispatched by its values; if none fits, the first
/// overload of the function prices it, so overloads that share a price by name (`Args`, `Result`) share the function.
#[derive(Clone, Copy, Debug)]
pub enum Cost {
    /// A constant, mostly 1.
    Fixed(u64),
    /// Computed from the arguments, charged before the call runs, whether or not the checker knew the overload.
    Args(fn(&[Value]) -> u64),
    /// As `Args` if the checker resolved the call to a single overload, else 1.
    ResolvedArgs(fn(&[Value]) -> u64),
    /// Computed from the arguments and the result (`None`: an error), and charged when the result is known. The call itself
    /// must be bounded by its arguments' sizes, or ask [`Context::afford`] before it makes what is larger.
    Result(fn(&[Value], Option<&Value>) -> u64),
    /// As `Result` if the checker resolved the call to a single overload, else 1.
    ResolvedResult(fn(&[Value], Option<&Value>) -> u64),
}
