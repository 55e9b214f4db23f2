//! The state machine driven by hand: what it asks for and when, and that the order of answers does not matter.
use std::sync::Arc;

use cel::{Value, value::MapBuilder};

use super::*;
use crate::engine::{
    compile,
    definition::{Definition, ExternalRef, Read, ReadAs, SchemaForm, Source as Defined, Validation, Variable},
    kinds::{Kind, Kinds},
    need::Operator,
};

/// Nothing is known: everything read is dyn.
struct NoKinds;

impl Kinds for NoKinds {
    fn kind(&self, _: &str, _: &str) -> Option<Arc<Kind>> {
        None
    }

    fn names(&self) -> Vec<(String, Arc<str>)> {
        Vec::new()
    }
}

fn map(entries: &[(&str, Value)]) -> Value {
    let mut map = MapBuilder::default();
    for (key, value) in entries {
        map.insert(*key, value.clone());
    }
    Value::Map(map.build())
}

fn strings(entries: &[(&str, &str)]) -> Value {
    map(&entries.iter().map(|(k, v)| (*k, Value::from(*v))).collect::<Vec<_>>())
}

fn definition(sources: Vec<Defined>, status: &[(&str, &str)]) -> Definition {
    Definition {
        group: "g.example".into(),
        version: "v1".into(),
        kind: "Thing".into(),
        namespaced: true,
        schema: SchemaForm::Simple(map(&[("spec", strings(&[("name", "string"), ("n", "integer")]))])),
        sources,
        variables: Vec::new(),
        validations: Vec::new(),
        status: Some(strings(status)),
    }
}

fn source(id: &str, name: &str) -> Defined {
    Defined {
        id: id.into(),
        include_when: Vec::new(),
        for_each: Vec::new(),
        read: Read::ExternalRef(ExternalRef {
            api_version: "v1".into(),
            kind: "Thing".into(),
            name: Some(name.into()),
            namespace: None,
            selector: None,
            optional: false,
            read_as: ReadAs::Consumer,
        }),
    }
}

fn list(id: &str, label: &str) -> Defined {
    let Read::ExternalRef(reference) = source(id, "").read;
    let selector = Some(map(&[("matchLabels", strings(&[("app", label)]))]));
    Defined { read: Read::ExternalRef(ExternalRef { name: None, selector, ..reference }), ..source(id, "") }
}

#[track_caller]
fn plan(definition: &Definition) -> Arc<Plan> {
    let (plan, diagnostics) = compile(definition, &NoKinds);
    Arc::new(plan.unwrap_or_else(|| panic!("{diagnostics:#?}")))
}

fn start(definition: &Definition) -> Evaluation {
    let metadata = strings(&[("name", "x"), ("namespace", "default")]);
    let spec = map(&[("name", "photos".into()), ("n", Value::Int(3))]);
    let object = map(&[("metadata", metadata), ("spec", spec)]);
    plan(definition).start(Inputs { object, request: map(&[("name", "x".into())]) })
}

fn object(name: &str) -> Supply {
    Supply::Object(map(&[("metadata", strings(&[("name", name)])), ("data", strings(&[("next", "second")]))]))
}

#[track_caller]
fn needs(evaluation: &mut Evaluation) -> Vec<(NeedId, String)> {
    let Step::Need(needs) = evaluation.next() else { panic!("it asks for nothing") };
    let line = |need: Need| match need {
        Need::Get { namespace, name, .. } => format!("get {namespace}/{name}"),
        Need::List { namespace, selector, .. } => {
            let one = |r: &Requirement| format!("{} {:?} {}", r.key, r.operator, r.values.join(","));
            format!("list {namespace} {}", selector.0.iter().map(one).collect::<Vec<_>>().join("; "))
        }
    };
    needs.into_iter().map(|(id, need)| (id, line(need))).collect()
}

fn lines(needs: &[(NeedId, String)]) -> Vec<&str> {
    needs.iter().map(|(_, line)| &**line).collect()
}

#[track_caller]
fn done(evaluation: &mut Evaluation) -> Result<Value, Failure> {
    match evaluation.next() {
        Step::Done(outcome) => outcome.result.map(|answer| answer.status.unwrap_or(Value::Null)),
        step => panic!("not done: {step:?}"),
    }
}

#[track_caller]
fn field(status: &Value, name: &str) -> String {
    let Value::Map(status) = status else { panic!("{status:?}") };
    format!("{:?}", status.get(name))
}

#[test]
fn independent_sources_are_asked_for_at_once_and_dependent_ones_later() {
    let sources =
        vec![source("c", "${a.data.next}"), source("a", "${object.spec.name}"), list("b", "${object.spec.name}")];
    let mut evaluation = start(&definition(sources, &[("n", "${b.size()}"), ("name", "${c.metadata.name}")]));
    let first = needs(&mut evaluation);
    assert_eq!(lines(&first), ["get default/photos", "list default app In photos"]);
    assert!(matches!(evaluation.next(), Step::Wait));
    assert_eq!(evaluation.pending().len(), 2);
    evaluation.supply(first[0].0, object("photos"));
    // The list is still out: what needs only `a` goes on.
    let second = needs(&mut evaluation);
    assert_eq!(lines(&second), ["get default/second"]);
    evaluation.supply(first[1].0, Supply::Objects(List::from(vec![Value::Null, Value::Null])));
    evaluation.supply(second[0].0, object("second"));
    let status = done(&mut evaluation).unwrap();
    assert_eq!(field(&status, "n"), "Some(2)");
    assert_eq!(field(&status, "name"), r#"Some("second")"#);
}

#[test]
fn the_outcome_does_not_depend_on_the_order_of_supplies() {
    let sources = || vec![source("a", "a"), source("b", "b")];
    for order in [[0, 1], [1, 0]] {
        let mut evaluation = start(&definition(sources(), &[("x", "${a.metadata.name + b.metadata.name}")]));
        let asked = needs(&mut evaluation);
        for i in order {
            assert!(!matches!(evaluation.next(), Step::Done(_)));
            evaluation.supply(asked[i].0, Supply::Missing);
            if i == 0 {
                break;
            }
        }
        let failure = done(&mut evaluation).unwrap_err();
        assert!(matches!(&failure, Failure::Missing { source, .. } if &**source == "a"), "{failure:?}");
    }
}

#[test]
fn early_validations_run_before_anything_is_fetched_and_all_come_back() {
    let validation = |expression: &str, message: &str| Validation {
        expression: expression.into(),
        message: Some(message.into()),
        message_expression: None,
        reason: None,
        field_path: Some(".spec.n".into()),
    };
    let mut definition = definition(vec![source("a", "a")], &[("x", "${a.metadata.name}")]);
    definition.variables = vec![Variable { name: "big".into(), expression: "object.spec.n > 10".into() }];
    definition.validations = vec![
        validation("variables.big", "must be big"),
        validation("a.metadata.name == 'z'", "must be z"),
        validation("object.spec.name == 'logs'", "must be logs"),
    ];
    let failure = done(&mut start(&definition)).unwrap_err();
    let Failure::Invalid(errors) = failure else { panic!("{failure:?}") };
    let messages: Vec<_> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(messages, ["spec.n: Invalid value: must be big", "spec.n: Invalid value: must be logs"]);
}

#[test]
fn what_is_not_included_is_absent_and_never_asked_for() {
    let excluded = Defined { include_when: vec!["${object.spec.n > 5}".into()], ..source("a", "a") };
    let mut evaluation = start(&definition(vec![excluded], &[("x", "${a}"), ("y", "${a.hasValue()}")]));
    let status = done(&mut evaluation).unwrap();
    assert_eq!(field(&status, "x"), "None");
    assert_eq!(field(&status, "y"), "Some(false)");
}

#[test]
fn for_each_reads_the_product_in_order() {
    let each = |name: &str, list: &str| (Arc::from(name), Arc::from(list));
    let product = Defined {
        for_each: vec![each("x", "${['a', 'b']}"), each("y", "${[1, 2]}")],
        ..source("all", "${x}-${string(y)}")
    };
    let mut evaluation = start(&definition(vec![product], &[("names", "${all.map(o, o.metadata.name)}")]));
    let asked = needs(&mut evaluation);
    assert_eq!(lines(&asked), ["get default/a-1", "get default/a-2", "get default/b-1", "get default/b-2"]);
    for (i, (id, _)) in asked.iter().enumerate().rev() {
        evaluation.supply(*id, object(&i.to_string()));
    }
    let status = done(&mut evaluation).unwrap();
    let expected = r#"Some(["0", "1", "2", "3"])"#;
    assert_eq!(field(&status, "names"), expected);
}

#[test]
fn for_each_over_nothing_is_an_empty_list_and_over_too_much_an_error() {
    let over = |list: &str| Defined { for_each: vec![("x".into(), list.into())], ..source("all", "${string(x)}") };
    let status = done(&mut start(&definition(vec![over("${[].map(i, 1)}")], &[("n", "${all.size()}")]))).unwrap();
    assert_eq!(field(&status, "n"), "Some(0)");
    let many = over("${lists.range(1001)}");
    let failure = done(&mut start(&definition(vec![many], &[("n", "${all.size()}")]))).unwrap_err();
    let Failure::Expression(failure) = failure else { panic!("{failure:?}") };
    assert_eq!(failure.path.to_string(), "projection.sources[0].forEach[0].x");
    assert_eq!(failure.message, "forEach gives 1001 items, and may give 1000");
}

#[test]
fn a_failing_variable_is_an_error_only_to_those_who_read_it() {
    let mut definition = definition(vec![], &[("x", "${object.spec.n == 3 ? 1 : variables.bad}")]);
    definition.variables = vec![Variable { name: "bad".into(), expression: "1 / (object.spec.n - 3)".into() }];
    assert_eq!(field(&done(&mut start(&definition)).unwrap(), "x"), "Some(1)");
    definition.status = Some(strings(&[("x", "${variables.bad}")]));
    let Err(Failure::Expression(failure)) = done(&mut start(&definition)) else { panic!("no failure") };
    assert_eq!(failure.path.to_string(), "projection.status.x");
    assert_eq!(failure.message, "division by zero");
}

#[test]
fn a_runaway_expression_stops_at_its_budget() {
    let big = "lists.range(1000).map(a, lists.range(1000).map(b, a * b).size()).size()";
    let Err(Failure::Expression(failure)) = done(&mut start(&definition(vec![], &[("x", &format!("${{{big}}}"))])))
    else {
        panic!("no failure")
    };
    assert_eq!(failure.message, "an expression may cost 1000000, and this one costs more");
}

#[test]
fn what_is_supplied_twice_or_unasked_is_ignored() {
    let mut evaluation = start(&definition(vec![source("a", "a")], &[("x", "${a.metadata.name}")]));
    evaluation.supply(NeedId(77), Supply::Missing);
    let asked = needs(&mut evaluation);
    evaluation.supply(asked[0].0, object("first"));
    evaluation.supply(asked[0].0, object("second"));
    assert_eq!(field(&done(&mut evaluation).unwrap(), "x"), r#"Some("first")"#);
    assert_eq!(field(&done(&mut evaluation).unwrap(), "x"), r#"Some("first")"#, "the end stays the end");
}

#[test]
fn a_deadline_names_what_was_pending() {
    let mut evaluation = start(&definition(vec![source("a", "a"), source("b", "b")], &[]));
    let asked = needs(&mut evaluation);
    evaluation.supply(asked[1].0, object("b"));
    let outcome = evaluation.time_out();
    assert_eq!(outcome.result.unwrap_err(), Failure::Timeout { pending: vec!["a".into()] });
}

#[test]
fn selectors_are_evaluated() {
    let mut source = list("l", "web");
    let Read::ExternalRef(reference) = &mut source.read;
    let expression = map(&[
        ("key", "tier".into()),
        ("operator", "NotIn".into()),
        ("values", Value::List(List::from(vec!["${object.spec.name}".into(), "x".into()]))),
    ]);
    let exists = map(&[("key", "live".into()), ("operator", "Exists".into())]);
    reference.selector = Some(map(&[("matchExpressions", Value::List(List::from(vec![expression, exists])))]));
    let mut evaluation = start(&definition(vec![source], &[]));
    let Step::Need(needs) = evaluation.next() else { panic!("it asks for nothing") };
    let Need::List { selector, .. } = &needs[0].1 else { panic!("{needs:?}") };
    let operators: Vec<Operator> = selector.0.iter().map(|r| r.operator).collect();
    assert_eq!(operators, [Operator::NotIn, Operator::Exists]);
    assert_eq!(selector.0[0].values, ["photos".into(), "x".into()]);
}
