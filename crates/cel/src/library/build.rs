//! How libraries write down their functions: short constructors, and the errors that every function shares.
//!
//! Absent: what a call costs beyond 1 (cost), the functions.
use crate::{
    eval::{ErrorKind, Halt},
    library::{
        Function, Implementation, Overload,
        cost::{ONE, Price},
    },
    types::Type,
    value::Value,
};

/// A function with its overloads.
pub(crate) fn function(name: &str, overloads: Vec<Overload>) -> Function {
    Function { name: name.into(), overloads }
}

/// A function whose cost goes by its name: the same for every overload.
pub(crate) fn priced(name: &str, price: Price, overloads: Vec<Overload>) -> Function {
    function(name, overloads.into_iter().map(|o| at(price, o)).collect())
}

/// `f(x, y)`, at cost 1.
pub(crate) fn global(
    id: &'static str,
    params: Vec<Type>,
    result: Type,
    implementation: Implementation,
    doc: &'static str,
    example: &'static str,
) -> Overload {
    Overload {
        id,
        member: false,
        params,
        result,
        implementation,
        specialize: None,
        cost: ONE.cost,
        estimate: ONE.estimate,
        price: ONE.words,
        doc,
        example,
    }
}

/// `x.f(y)`, at cost 1.
pub(crate) fn method(
    id: &'static str,
    params: Vec<Type>,
    result: Type,
    implementation: Implementation,
    doc: &'static str,
    example: &'static str,
) -> Overload {
    Overload { member: true, ..global(id, params, result, implementation, doc, example) }
}

/// The overload at another cost, which holds where the checker decided for this overload.
pub(crate) fn at(price: Price, overload: Overload) -> Overload {
    Overload { cost: price.cost, estimate: price.estimate, price: price.words, ..overload }
}

/// The parameter of signatures that have one.
pub(crate) fn any() -> Type {
    Type::param("T")
}

/// `list(T)`
pub(crate) fn any_list() -> Type {
    Type::list(any())
}

/// What operators say to operands that they do not take.
pub(crate) fn no_overload() -> Halt {
    Halt::error(ErrorKind::NoSuchOverload, "no such overload")
}

/// What functions say to arguments that they do not take: `no such overload: charAt(int, int)`.
pub(crate) fn no_overload_of(function: &str, args: &[Value]) -> Halt {
    let types = args.iter().map(type_name).collect::<Vec<_>>().join(", ");
    Halt::error(ErrorKind::NoSuchOverload, format!("no such overload: {function}({types})"))
}

/// The name of a value's type, as run-time errors print it.
pub(crate) fn type_name(value: &Value) -> String {
    runtime_name(&value.type_of())
}

/// A type as values carry it, without parameters.
pub(crate) fn runtime_name(ty: &Type) -> String {
    match ty {
        Type::Null => "null_type".to_string(),
        Type::Timestamp => "google.protobuf.Timestamp".to_string(),
        Type::Duration => "google.protobuf.Duration".to_string(),
        Type::List(_) => "list".to_string(),
        Type::Map(_) => "map".to_string(),
        Type::Optional(_) => "optional_type".to_string(),
        Type::Type(_) => "type".to_string(),
        Type::Opaque(name, _) | Type::Object(name) => name.to_string(),
        other => other.to_string(),
    }
}

/// An argument that has the right type but not a value that the function takes.
pub(crate) fn invalid(message: impl Into<String>) -> Halt {
    Halt::error(ErrorKind::InvalidArgument, message)
}

/// A result that its type does not hold.
pub(crate) fn overflow(message: &str) -> Halt {
    Halt::error(ErrorKind::Overflow, message)
}
