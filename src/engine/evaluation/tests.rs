//! The state machine driven by hand: what it asks for and when, and that the order of answers does not matter.
mod allowance;

use std::sync::Arc;

use cel::{Value, value::MapBuilder};

use super::*;
use crate::engine::{
    compile,
    definition::{
        Definition, ExternalRef, Format, Http, Read, ReadAs, SchemaForm, Select, Source as Defined, Validation,
        Variable,
    },
    kinds::NoPolicies,
    kinds::{Kind, Kinds, Literal, Policies, Refusal},
    need::{self, Operator, Requirement},
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

struct AllPolicies;

impl Policies for AllPolicies {
    fn check(&self, _: &Literal<'_>) -> Result<(), Refusal> {
        Ok(())
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
        uncertain: false,
    }
}

fn list(id: &str, label: &str) -> Defined {
    let Read::ExternalRef(reference) = source(id, "").read else { unreachable!() };
    let selector = Some(map(&[("matchLabels", strings(&[("app", label)]))]));
    Defined { read: Read::ExternalRef(ExternalRef { name: None, selector, ..reference }), ..source(id, "") }
}

#[track_caller]
fn plan(definition: &Definition) -> Arc<Plan> {
    let (plan, diagnostics) = compile(definition, &NoKinds, &AllPolicies);
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
    needs.iter().map(|(id, need)| (*id, line(need))).collect()
}

fn line(need: &Need) -> String {
    match need {
        Need::Get { namespace, name, .. } => format!("get {namespace}/{name}"),
        Need::List { namespace, selector, .. } => {
            let one = |r: &Requirement| format!("{} {:?} {}", r.key, r.operator, r.values.join(","));
            format!("list {namespace} {}", selector.0.iter().map(one).collect::<Vec<_>>().join("; "))
        }
        Need::Decide(question) => format!("may {} {}/{}", question.verb, question.resource, question.name),
        Need::Call(call) => format!("{} {}", call.method, call.url),
    }
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
    let Read::ExternalRef(reference) = &mut source.read else { unreachable!() };
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

/// What values of names, namespaces and labels come out as: what is asked for, or why nothing is.
fn asked_with(value: &str, place: &str) -> Result<String, String> {
    let template = format!("${{{}}}", serde_json::to_string(value).unwrap());
    let (mut by_name, mut by_label) = (source("s", "n"), list("s", "web"));
    let source = match place {
        "name" => source("s", &template),
        "label" => list("s", &template),
        _ => {
            let defined = if place == "namespace of one" { &mut by_name } else { &mut by_label };
            let Read::ExternalRef(reference) = &mut defined.read else { unreachable!() };
            reference.namespace = Some(template.as_str().into());
            reference.read_as = ReadAs::Provider;
            defined.clone()
        }
    };
    let mut evaluation = start(&definition(vec![source], &[]));
    match evaluation.next() {
        Step::Need(needs) => Ok(line(&needs[0].1)),
        Step::Done(Outcome { result: Err(Failure::Expression(failure)), .. }) => {
            Err(format!("{}: {}", failure.path, failure.message))
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn no_value_makes_another_read_of_a_read() {
    let long = "a".repeat(254);
    let nobodys = ["", ".", "..", "a/b", "/", "../x", "a%2Fb", "%2e%2e", "a\0b", "a\nb", &long];
    for place in ["name", "namespace of one", "namespace of many"] {
        for value in nobodys {
            let found = asked_with(value, place);
            let what = place.split(' ').next().unwrap();
            assert!(
                found.as_ref().is_err_and(|text| text.contains(&format!("metadata.{what}: the {what} "))),
                "{place} {value:?}: {found:?}"
            );
            assert!(found.is_err_and(|text| text.len() < 400));
        }
    }
    for value in ["A", "a.b", "a_b", "-a", &"a".repeat(64)] {
        assert!(asked_with(value, "namespace of many").is_err(), "{value}");
    }
    assert_eq!(asked_with("a-1", "namespace of many").as_deref(), Ok("list a-1 app In web"));
    // Names of roles are not bound to DNS.
    assert_eq!(asked_with("system:a B_c..d", "name").as_deref(), Ok("get default/system:a B_c..d"));
    for value in [" ", "a b", "a,b", "a=b", "é", "-a", "a/b", &"a".repeat(64)] {
        let found = asked_with(value, "label");
        assert!(found.as_ref().is_err_and(|text| text.contains("app: the label's value ")), "{value:?}: {found:?}");
    }
    assert!(asked_with("", "label").is_ok() && asked_with("A.b_c-9", "label").is_ok());
}

fn http(url: &str) -> Http {
    Http {
        egress_policy: "p".into(),
        method: "GET".into(),
        url: url.into(),
        query: Vec::new(),
        headers: Vec::new(),
        body: None,
        format: Format::Json,
        select: None,
        schema: None,
        optional: false,
        pagination: None,
        ttl_seconds: None,
    }
}

fn calling(http: Http) -> Defined {
    Defined { read: Read::Http(http), ..source("a", "") }
}

#[track_caller]
fn call(evaluation: &mut Evaluation) -> (NeedId, need::Call) {
    let step = evaluation.next();
    let Step::Need(needs) = step else { panic!("it asks for nothing: {step:?}") };
    let [(id, Need::Call(call))] = needs.as_slice() else { panic!("{needs:?}") };
    (*id, need::Call::clone(call))
}

#[test]
fn values_in_a_url_are_encoded_for_their_place() {
    let mut http = http("https://m.example/a/${'x/../y?z'}/b-${string(object.spec.n)}/");
    http.query = vec![
        ("q".into(), "sum(x{b=\"${object.spec.name}\"}) & more".into()),
        ("n".into(), "${object.spec.n}".into()),
        ("gone".into(), "${object.?metadata.labels.?x}".into()),
    ];
    http.headers = vec![("X-Name".into(), "${object.spec.name}".into())];
    let (_, call) = call(&mut start(&definition(vec![calling(http)], &[])));
    assert_eq!(
        &*call.url,
        "https://m.example/a/x%2F..%2Fy%3Fz/b-3/?q=sum%28x%7Bb%3D%22photos%22%7D%29%20%26%20more&n=3"
    );
    assert_eq!(call.headers, [("x-name".into(), "photos".into())]);
}

#[test]
fn a_value_cannot_change_the_shape_of_a_path_or_add_a_header_field() {
    let failure = |http: Http| match done(&mut start(&definition(vec![calling(http)], &[]))) {
        Err(Failure::Expression(failure)) => format!("{}: {}", failure.path, failure.message),
        other => panic!("{other:?}"),
    };
    for value in ["''", "'.'", "'..'"] {
        let path = failure(http(&format!("https://m.example/a/${{{value}}}/b")));
        assert_eq!(path, "projection.sources[0].http.url: a path segment is empty, `.` or `..`");
    }
    let headers = vec![("x-a".into(), r"${'v\r\nx-b: w'}".into())];
    assert_eq!(
        failure(Http { headers, ..http("https://m.example/") }),
        "projection.sources[0].http.headers.x-a: the value of a header field is visible ASCII"
    );
    for value in ["' v'", "'v '", r"'\tv'", r"'v\t'", "' '"] {
        let headers = vec![("x-a".into(), format!("${{{value}}}").as_str().into())];
        let message = failure(Http { headers, ..http("https://m.example/") });
        assert!(message.ends_with("neither begins nor ends with a space"), "{value}: {message}");
    }
}

#[test]
fn what_calls_send_is_bounded() {
    let many = |http: Http| Defined {
        for_each: vec![("x".into(), format!("${{[{}]}}", vec!["1"; 900].join(",")).into())],
        ..calling(http)
    };
    let failure = |http: Http, name: &str| {
        let metadata = strings(&[("name", "x"), ("namespace", "default")]);
        let object = map(&[("metadata", metadata), ("spec", map(&[("name", name.into()), ("n", Value::Int(3))]))]);
        let evaluation = plan(&definition(vec![many(http)], &[])).start(Inputs { object, request: Value::Null });
        match done(&mut { evaluation }) {
            Err(Failure::Expression(failure)) => format!("{}: {}", failure.path, failure.message),
            other => panic!("{other:?}"),
        }
    };
    let big = "b".repeat(1 << 20);
    let url = "projection.sources[0].http.url: a URL has at most 8192 bytes";
    assert_eq!(failure(http("https://m.example/${object.spec.name}"), &big), url);
    let query = vec![("q".into(), "${object.spec.name}".into())];
    assert_eq!(failure(Http { query, ..http("https://m.example/") }, &big), url);
    let headers = vec![("x-a".into(), "${object.spec.name}".into())];
    assert!(failure(Http { headers, ..http("https://m.example/") }, &big).ends_with("has at most 8192 bytes"));
    let body = Some(map(&[("name", "${object.spec.name}".into())]));
    let body = Http { method: "POST".into(), body, ..http("https://m.example/") };
    let texts = "projection.sources[0].http.body: the texts of one request may have 8388608 bytes, and have more";
    assert_eq!(failure(body, &big), texts);
}

#[test]
fn defaults_of_an_answer_are_bounded() {
    let fields: Vec<(String, Value)> =
        (0..100).map(|n| (format!("f{n}"), strings(&[("type", "string"), ("default", "x")]))).collect();
    let fields: Vec<(&str, Value)> = fields.iter().map(|(name, schema)| (name.as_str(), schema.clone())).collect();
    let item = map(&[("type", "object".into()), ("properties", map(&fields))]);
    let schema = map(&[("type", "array".into()), ("items", item)]);
    let definition = definition(vec![calling(Http { schema: Some(schema), ..http("https://m.example/") })], &[]);
    let answer = |items: usize| {
        let mut evaluation = start(&definition);
        let (id, _) = call(&mut evaluation);
        let items = vec![Value::Map(MapBuilder::default().build()); items];
        evaluation.supply(id, Supply::Body(Value::List(List::from(items))));
        done(&mut evaluation)
    };
    assert!(answer(1000).is_ok());
    let Err(Failure::Source { message, .. }) = answer(1001) else { panic!("100,100 fields") };
    assert_eq!(message, "the answer does not fit the schema: defaults would add more than 100000 fields");
}

#[test]
fn the_calls_of_one_request_are_bounded() {
    let many = |id: &str, items: &str| Defined {
        id: id.into(),
        for_each: vec![("x".into(), format!("${{{items}}}").into())],
        ..calling(http("https://m.example/${string(x)}"))
    };
    let items = |n: usize| format!("[{}].map(n, n)", vec!["1"; n].join(","));
    let mut evaluation = start(&definition(vec![many("a", &items(600)), many("b", &items(401))], &[]));
    let Step::Need(needs) = evaluation.next() else { panic!("it asks for nothing") };
    assert_eq!(needs.len(), 600);
    needs.iter().for_each(|(id, _)| evaluation.supply(*id, Supply::Body(Value::Null)));
    let Err(Failure::Expression(failure)) = done(&mut evaluation) else { panic!("1,001 calls") };
    assert!(failure.message.contains("may make 1000 calls"), "{failure:?}");
}

#[test]
fn what_is_selected_is_typed_and_a_misfit_is_the_services_fault() {
    let schema = map(&[("type", "array".into()), ("items", strings(&[("type", "number")]))]);
    let selecting =
        Http { select: Some(Select::One("$.data.values".into())), schema: Some(schema), ..http("https://m.example/") };
    let answer = |values: Value| {
        let mut evaluation = start(&definition(vec![calling(selecting.clone())], &[("x", "${a.map(v, v * 2.0)}")]));
        let (id, _) = call(&mut evaluation);
        evaluation.supply(id, Supply::Body(map(&[("data", map(&[("values", values)]))])));
        done(&mut evaluation)
    };
    let list = |values: &[Value]| Value::List(List::from(values.to_vec()));
    let status = answer(list(&[Value::Int(1), Value::Double(1.5)])).unwrap();
    assert_eq!(field(&status, "x"), "Some([2.0, 3.0])");
    let Err(Failure::Source { message, .. }) = answer(list(&[Value::Int(1), "secret".into()])) else { panic!() };
    assert_eq!(message, "the answer does not fit the schema: answer[1]: FieldValueTypeInvalid");
    let mut evaluation = start(&definition(vec![calling(selecting.clone())], &[("x", "${a.size()}")]));
    let (id, _) = call(&mut evaluation);
    evaluation.supply(id, Supply::Body(map(&[])));
    let Err(Failure::Source { message, .. }) = done(&mut evaluation) else { panic!() };
    assert_eq!(message, "`select` finds nothing in the answer");
}

#[test]
fn a_call_without_a_policy_or_with_a_templated_host_is_no_plan() {
    let messages = |http: Http| {
        let (plan, diagnostics) = compile(&definition(vec![calling(http)], &[]), &NoKinds, &NoPolicies);
        assert!(plan.is_none());
        diagnostics.into_iter().map(|d| format!("{}: {}", d.path, d.message)).collect::<Vec<_>>()
    };
    assert_eq!(
        messages(http("https://m.example/")),
        ["projection.sources[0].http.egressPolicy: there is no EgressPolicy `p`"]
    );
    assert_eq!(
        messages(http("https://${object.spec.name}/")),
        ["projection.sources[0].http.url: scheme, host and port of a URL are literals"]
    );
    let headers = vec![("Authorization".into(), "Bearer x".into())];
    let found = messages(Http { headers, method: "DELETE".into(), ..http("https://m.example/") });
    assert_eq!(
        found[0],
        "projection.sources[0].http.headers.Authorization: `Authorization` is not the author's to set"
    );
    assert_eq!(found[1], "projection.sources[0].http.method: a source cannot use `DELETE`");
}

fn decide(evaluation: &mut Evaluation, asked: &[(NeedId, String)], allowed: impl Fn(&str) -> bool) {
    for (id, line) in asked {
        let decision = Supply::Decision { allowed: allowed(line), reason: String::new(), error: String::new() };
        evaluation.supply(*id, decision);
    }
}

#[test]
fn one_pass_over_a_list_asks_about_all_its_elements_at_once() {
    let filter = "${lists.range(1000).filter(i, \
                  authorizer.group('').resource('pods').name(string(i)).check('get').allowed()).size()}";
    let other = "${authorizer.group('').resource('nodes').check('list').allowed()}";
    let mut evaluation = start(&definition(vec![], &[("n", filter)]));
    let asked = needs(&mut evaluation);
    assert_eq!(asked.len(), 1000);
    assert!(matches!(evaluation.next(), Step::Wait));
    decide(&mut evaluation, &asked, |line| line.ends_with('7'));
    assert_eq!(field(&done(&mut evaluation).unwrap(), "n"), "Some(100)");

    let mut evaluation = start(&definition(vec![], &[("n", filter), ("o", other)]));
    let Err(Failure::Expression(failure)) = done(&mut evaluation) else { panic!("1,001 questions") };
    assert_eq!(failure.message, "a request may ask the authorizer 1000 questions, and this asks more");
}

#[test]
fn what_is_undecided_is_decided_before_anything_is_fetched() {
    let mut definition = definition(vec![source("a", "${variables.name}")], &[("x", "${a.metadata.name}")]);
    definition.variables = vec![Variable {
        name: "name".into(),
        expression: "authorizer.group('').resource('secrets').check('get').allowed() ? 'open' : 'shut'".into(),
    }];
    definition.validations = vec![Validation {
        expression: "authorizer.requestResource.check('approve').allowed()".into(),
        message: Some("must be an approver".into()),
        message_expression: None,
        reason: None,
        field_path: None,
    }];
    let mut evaluation = start(&definition);
    let asked = needs(&mut evaluation);
    assert_eq!(lines(&asked), ["may get secrets/", "may approve /x"]);
    decide(&mut evaluation, &asked, |_| true);
    let read = needs(&mut evaluation);
    assert_eq!(lines(&read), ["get default/open"]);

    let mut evaluation = start(&definition);
    let asked = needs(&mut evaluation);
    decide(&mut evaluation, &asked, |line| !line.contains("approve"));
    let Err(Failure::Invalid(errors)) = done(&mut evaluation) else { panic!("an approver") };
    assert_eq!(errors[0].message, "Invalid value: must be an approver");
}

#[test]
fn the_same_question_is_asked_once_and_an_undecidable_one_is_its_askers_error() {
    let check = "authorizer.group('').resource('pods').check('get')";
    let status = [("a", &*format!("${{{check}.errored()}}")), ("b", &*format!("${{{check}.allowed()}}"))];
    let mut evaluation = start(&definition(vec![], &status));
    let asked = needs(&mut evaluation);
    assert_eq!(lines(&asked), ["may get pods/"]);
    evaluation.supply(asked[0].0, Supply::Failed(SourceFailure::Failed("no answer".into())));
    let status = done(&mut evaluation).unwrap();
    assert_eq!(field(&status, "a"), "Some(true)");
    assert_eq!(field(&status, "b"), "Some(false)");
}

#[test]
fn the_answer_depends_on_what_is_read_after_the_early_validations() {
    let mut definition = definition(vec![source("a", "${object.spec.name}")], &[("n", "${string(object.spec.n)}")]);
    definition.validations = vec![Validation {
        expression: "request.time > timestamp('2026-01-01T00:00:00Z')".into(),
        message: None,
        message_expression: None,
        reason: None,
        field_path: None,
    }];
    let compiled = plan;
    let plan = compiled(&definition);
    let paths = |inputs: &[cel::check::AttributePath]| -> Vec<String> {
        inputs.iter().map(|path| format!("{}.{}", path.variable, path.fields.join("."))).collect()
    };
    // The namespace, because the source is read in the object's own.
    let answer = ["object.metadata.namespace", "object.spec.n", "object.spec.name"];
    assert_eq!(paths(plan.answer_inputs()), answer);
    assert_eq!(paths(plan.inputs()), [&answer[..], &["request.time"]].concat());
    assert!(!plan.asks_authorizer());
    assert!(plan.validates_early());
    definition.validations[0].expression = "authorizer.requestResource.check('approve').allowed()".into();
    assert!(compiled(&definition).asks_authorizer());
}

#[test]
fn of_the_request_is_made_what_expressions_can_tell() {
    #[track_caller]
    fn check(expression: &str, expected: &[&str]) {
        let plan = plan(&definition(vec![], &[("a", &format!("${{{expression}}}"))]));
        let fields =
            ["uid", "kind", "resource", "name", "namespace", "operation", "dryRun", "userInfo", "time", "workspace"];
        let read: Vec<_> = fields.into_iter().filter(|field| plan.reads_of_request(field)).collect();
        assert_eq!(read, expected, "{expression}");
        assert!(!plan.validates_early());
    }
    check("'a'", &[]);
    check("request.userInfo.groups[0] + request.name", &["name", "userInfo"]);
    check("has(request.uid) ? 'a' : 'b'", &["uid"]);
    check(
        "[request].map(r, r.name)[0]",
        &["uid", "kind", "resource", "name", "namespace", "operation", "dryRun", "userInfo", "time", "workspace"],
    );
    let asked = "string(authorizer.requestResource.check('approve').allowed())";
    check(asked, &["resource", "name", "namespace"]);
}
