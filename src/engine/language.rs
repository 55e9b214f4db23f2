//! The CEL that authors write: the libraries of every expression, and the type of `request`.
//!
//! Absent: what a plan adds (object, sources, variables).
use std::sync::{Arc, OnceLock};

use cel::{
    Env,
    library::{self, Cost, Library},
};

use crate::engine::limits::COST_PER_DECISION;
use crate::engine::schema::{Structural, structural::SchemaType};

/// The environment that all plans extend; built once.
pub(crate) fn base() -> &'static Env {
    static BASE: OnceLock<Env> = OnceLock::new();
    BASE.get_or_init(|| {
        // Kubernetes' own come first: of two versions of a function the first counts.
        let beyond = [library::math(), library::encoders(), library::bindings(), library::regex()];
        let libraries = library::kubernetes().into_iter().map(gathering).chain(beyond).chain(library::kro());
        libraries.fold(Env::builder().lenient(true), cel::EnvBuilder::library).build()
    })
}

/// Checks of the authorizer are gathered here, and cost accordingly.
fn gathering(mut library: Library) -> Library {
    for function in library.functions.iter_mut().filter(|function| &*function.name == "check") {
        for overload in &mut function.overloads {
            overload.cost = Cost::Fixed(COST_PER_DECISION);
        }
    }
    library
}

/// `request`, as in Kubernetes' admission requests, plus `time` and `workspace`.
pub(crate) fn request() -> Structural {
    let string = || Arc::new(Structural::of(SchemaType::String));
    let strings = |names: &[&str]| Arc::new(Structural::object(names.iter().map(|name| (Arc::from(*name), string()))));
    let user = Structural::object([
        ("username".into(), string()),
        ("uid".into(), string()),
        ("groups".into(), Arc::new(Structural::array(Structural::of(SchemaType::String)))),
        ("extra".into(), Arc::new(Structural::map(Structural::array(Structural::of(SchemaType::String))))),
    ]);
    Structural::object([
        ("uid".into(), string()),
        ("kind".into(), strings(&["group", "version", "kind"])),
        ("resource".into(), strings(&["group", "version", "resource"])),
        ("name".into(), string()),
        ("namespace".into(), string()),
        ("operation".into(), string()),
        ("dryRun".into(), Arc::new(Structural::of(SchemaType::Boolean))),
        ("userInfo".into(), Arc::new(user)),
        ("time".into(), Arc::new(Structural::formatted("date-time"))),
        ("workspace".into(), string()),
    ])
}

#[cfg(test)]
mod tests {
    use cel::{Value, program::Options};

    use super::*;

    #[track_caller]
    fn holds(expression: &str) {
        let program = base().compile(expression).and_then(|checked| base().program(&checked));
        let program = program.unwrap_or_else(|issues| panic!("{expression}: {issues}"));
        assert_eq!(program.evaluate(&[][..], Options::default()).result, Ok(Value::Bool(true)), "{expression}");
    }

    #[test]
    fn authors_have_what_kro_adds() {
        holds(r#"json.unmarshal('{"a": 1}').a == 1 && json.marshal({'b': 2, 'a': 1}) == '{"a":1,"b":2}'"#);
        holds("base64.encode(hash.sha256('')).startsWith('47DEQpj8')");
        holds("{'a': 1}.merge({'b': 2}) == {'a': 1, 'b': 2}");
        holds("lists.insertAtIndex([1], 1, 2) == [1, 2]");
    }
}
