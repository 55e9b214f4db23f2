//! What Kubernetes answers to some 4,800 expressions (the shared vectors): check result and type, value or error, cost,
//! static estimate.
//!
//! `VECTORS_SHOW=<area>[:<aspect>]` prints what differs.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::result_large_err,
    unreachable_pub,
    reason = "tests fail by panicking"
)]
#[path = "common/mod.rs"]
mod common;
#[path = "vectors/divergences.rs"]
mod divergences;
#[path = "vectors/mutation.rs"]
mod mutation;
#[path = "vectors/schema.rs"]
mod schema;
#[path = "vectors/sizes.rs"]
mod sizes;
#[path = "vectors/values.rs"]
mod values;

use std::{collections::BTreeMap, sync::Arc};

use cel::{
    Env, Issues, Type, Value,
    estimate::Bounds,
    eval::{Halt, Host},
    library,
    program::Options,
    source::position,
    types::TypeProvider,
};
use serde_json::Value as Json;

/// Data that does not fit its schema is the engine's business; here only what is known without the data is compared.
const TYPED_ONLY: &[&str] = &["schema-data"];

#[derive(Default, Clone, Copy)]
struct Count {
    agree: usize,
    differ: usize,
    /// Listed in `DIVERGENCES.md`.
    diverge: usize,
}

/// What is compared, in the order of the table.
const ASPECTS: [(&str, &str); 9] = [
    ("parse", "parses"),
    ("place", "syntax error"),
    ("check", "type-checks"),
    ("words", "type errors"),
    ("type", "type"),
    ("estimate", "estimate"),
    ("value", "value"),
    ("error", "run-time error"),
    ("cost", "cost"),
];

/// Of each aspect, how many cases agree; how many diverge for a reason that is listed.
fn row(area: &str, cases: usize, counts: &BTreeMap<&str, Count>) -> String {
    let of = |(aspect, _): &(&str, &str)| match counts.get(aspect) {
        None => String::new(),
        Some(Count { agree, differ, diverge }) => {
            let unlisted = if *differ > 0 { format!(" (**{differ} differ**)") } else { String::new() };
            let listed = if *diverge > 0 { format!(" (+{diverge})") } else { String::new() };
            format!("{agree}{listed}{unlisted}")
        }
    };
    format!("| {area} | {cases} | {} |\n", ASPECTS.iter().map(of).collect::<Vec<_>>().join(" | "))
}

#[test]
fn answers_as_kubernetes_does() {
    common::on_small_stack(run);
}

#[test]
fn divergences_are_documented() {
    let text = include_str!("../DIVERGENCES.md");
    for (reason, _) in divergences::DIVERGENCES {
        assert!(text.contains(reason), "DIVERGENCES.md does not say: {reason}");
    }
}

fn run() {
    let Some(dir) = common::shared("cel-vectors") else { return };
    let show = std::env::var("VECTORS_SHOW").unwrap_or_default();
    let environments = Environments::new();
    let (mut bad, mut stale) = (vec![], vec![]);
    let mut totals: BTreeMap<&str, Count> = BTreeMap::new();
    let mut cases = 0;
    let heads: Vec<&str> = ASPECTS.iter().map(|(_, head)| *head).collect();
    let mut table = format!("| area | cases | {} |\n|---|---|{}\n", heads.join(" | "), "---|".repeat(heads.len()));
    for (area, data) in common::json_files(&dir) {
        let mut counts: BTreeMap<&str, Count> = BTreeMap::new();
        for case in data["cases"].as_array().unwrap() {
            let fixture = &data["fixtures"][case["fixture"].as_str().unwrap_or("")];
            let part = |name: &str| if case[name].is_null() { &fixture[name] } else { &case[name] };
            let id = case["id"].as_str().unwrap();
            for (aspect, outcome) in compare(&environments, case, &part) {
                if TYPED_ONLY.contains(&area.as_str()) && aspect != "estimate" {
                    continue;
                }
                let full = format!("{id}:{aspect}");
                if divergences::DIVERGENCES.iter().any(|(_, cases)| cases.contains(&full.as_str())) {
                    counts.entry(aspect).or_default().diverge += 1;
                    if outcome.is_ok() {
                        stale.push(full);
                    }
                    continue;
                }
                let count = counts.entry(aspect).or_default();
                match outcome {
                    Ok(()) => count.agree += 1,
                    Err(difference) => {
                        count.differ += 1;
                        if show == "all"
                            || show == area
                            || show == format!("{area}:{aspect}")
                            || show == format!("all:{aspect}")
                        {
                            println!("{full} {}\n    {difference}", case["expr"]);
                        }
                    }
                }
            }
        }
        for (aspect, count) in &counts {
            let total = totals.entry(aspect).or_default();
            total.agree += count.agree;
            total.differ += count.differ;
            total.diverge += count.diverge;
            if count.differ > 0 {
                bad.push(format!("{area}:{aspect}"));
            }
        }
        let here = data["cases"].as_array().unwrap().len();
        cases += here;
        table += &row(&area, here, &counts);
    }
    table += &row("all", cases, &totals);
    table += "\n| where Kubernetes' answer is not taken | comparisons |\n|---|---|\n";
    for (reason, cases) in divergences::DIVERGENCES {
        table += &format!("| {} | {} |\n", reason.replace('|', "\\|"), cases.len());
    }
    println!("{table}");
    assert!(stale.is_empty(), "these agree, so they are no divergences: {stale:?}");
    assert!(bad.is_empty(), "these must agree: {bad:?}; VECTORS_SHOW=<area>:<aspect> shows the differences");
    common::conformance("## Kubernetes", &table);
}

/// The environments without variables, built once.
struct Environments {
    kubernetes: Env,
    mutating: Env,
    extended: Env,
    every: Env,
}

impl Environments {
    fn new() -> Environments {
        let kubernetes = library::kubernetes()
            .into_iter()
            .fold(Env::builder().lenient(true).homogeneous_aggregates(true), cel::EnvBuilder::library)
            .build();
        let extended = [library::math(), library::encoders(), library::bindings(), library::regex()]
            .into_iter()
            .fold(kubernetes.extend(), cel::EnvBuilder::library)
            .build();
        let every = [
            library::standard(),
            library::optionals(),
            library::strings(),
            library::lists(),
            library::math(),
            library::encoders(),
            library::sets(),
            library::comprehensions(),
            library::bindings(),
            library::regex(),
        ]
        .into_iter()
        .fold(Env::builder().lenient(true), cel::EnvBuilder::library)
        .build();
        let mutating = kubernetes.extend().library(library::jsonpatch()).build();
        Environments { kubernetes, mutating, extended, every }
    }
}

type Outcome = (&'static str, Result<(), String>);

fn compare<'a>(environments: &Environments, case: &'a Json, part: &impl Fn(&str) -> &'a Json) -> Vec<Outcome> {
    let base = match part("env").as_str() {
        None | Some("vap") => &environments.kubernetes,
        Some("mutate") => &environments.mutating,
        Some("k8s+ext") => &environments.extended,
        Some("celgo") => &environments.every,
        Some(other) => panic!("unknown environment {other}"),
    };
    let mut env = base.extend();
    let mut schemas = schema::Schemas::default();
    let mut bound: Vec<(String, Value)> = vec![];
    let empty = serde_json::Map::new();
    for (name, data) in part("vars").as_object().unwrap_or(&empty) {
        let schema = &part("schema")[name];
        let optional = part("optional_vars").as_array().is_some_and(|names| names.iter().any(|n| n == name));
        let (mut ty, mut value) = if schema.is_null() {
            (Type::Dyn, Some(values::from_json(data)))
        } else {
            // Both versions of an object have one type.
            let root = if name == "oldSelf" { "selfType".to_string() } else { format!("{name}Type") };
            (schemas.declare(&root, schema), schema::value(schema, data, true))
        };
        if optional {
            ty = Type::optional(ty);
            value = Some(if data.is_null() { Value::NONE } else { Value::Optional(value.map(Arc::new)) });
        }
        env = env.variable(name, ty);
        bound.extend(value.map(|value| (name.clone(), value)));
    }
    let authorizer = part("authorizer");
    if !authorizer.is_null() {
        env = env.variable("authorizer", library::authorizer_type());
        env = env.variable("authorizer.requestResource", library::request_resource_type());
        bound.push(("authorizer".to_string(), library::authorizer()));
        let request = |field: &str| authorizer["request"][field].as_str().unwrap_or("");
        bound.push((
            "authorizer.requestResource".to_string(),
            library::request_resource(
                request("Group"),
                request("Resource"),
                request("Subresource"),
                request("Namespace"),
                request("Name"),
            ),
        ));
    }
    let schemas: Arc<dyn TypeProvider> = match part("env").as_str() {
        Some("mutate") => Arc::new(mutation::Mutation(schemas)),
        _ => Arc::new(schemas),
    };
    let env = env.provider(schemas).build();
    let text = case["expr"].as_str().unwrap();
    let expect = &case["expect"];
    let mut outcomes = vec![];

    let parsed = env.parse(text);
    if let Some(parse_error) = expect.get("parse_error") {
        match parsed {
            Ok(_) => outcomes.push(("parse", Err("parses".to_string()))),
            Err(issues) => {
                outcomes.push(("parse", Ok(())));
                outcomes.push(("place", first_place(text, &issues, parse_error)));
            }
        }
        return outcomes;
    }
    let ast = match parsed {
        Ok(ast) => ast,
        Err(issues) => return vec![("parse", Err(format!("{issues}")))],
    };
    outcomes.push(("parse", Ok(())));

    let checked = match (env.check(ast), expect["check"]["ok"] == true) {
        (Ok(checked), true) => {
            outcomes.push(("check", Ok(())));
            let got = values::type_text(checked.result_type());
            let want = expect["check_type"].as_str().unwrap_or("");
            outcomes.push(("type", equal(&got, want)));
            checked
        }
        (Err(issues), true) => {
            outcomes.push(("check", Err(format!("{issues}"))));
            return outcomes;
        }
        (Ok(checked), false) => {
            outcomes.push((
                "check",
                Err(format!("accepts as {}, not {}", checked.result_type(), expect["check"]["errors"])),
            ));
            return outcomes;
        }
        (Err(issues), false) => {
            outcomes.push(("check", Ok(())));
            outcomes.push(("words", equal(&places(text, &issues), &wanted_places(&expect["check"]["errors"]))));
            return outcomes;
        }
    };

    if let Some(estimate) = expect.get("estimate").filter(|estimate| !estimate.is_null()) {
        // The shortest name is that of the newer version.
        let schemas = part("schema").as_object().unwrap_or(&empty);
        let root = schemas.iter().min_by_key(|(name, _)| (name.len(), *name));
        let root = root.map_or_else(sizes::Root::default, |(_, schema)| sizes::Root::of(schema));
        let Bounds { min, max } = checked.estimate(&env, &root).cost;
        outcomes
            .push(("estimate", equal(&format!("{min} {max}"), &format!("{} {}", estimate["min"], estimate["max"]))));
    }

    let program = match env.program(&checked) {
        Ok(program) => program,
        Err(issues) => {
            outcomes.push(match expect["error"].as_str() {
                Some(want) if expect["error_phase"] == "program" => ("error", equal(&issues.to_string(), want)),
                _ => ("value", Err(format!("no program: {issues}"))),
            });
            return outcomes;
        }
    };
    let mut variables: Vec<Option<Value>> = vec![None; env.variables().len()];
    for (name, value) in bound {
        variables[env.slot(&name).unwrap() as usize] = Some(value);
    }
    let budget = case["cost_limit"].as_u64().or(part("cost_limit").as_u64()).unwrap_or(1_000_000);
    let mut host = Authorizer(authorizer);
    let evaluation =
        program.evaluate(variables.as_slice(), Options { budget, host: Some(&mut host), ..Options::default() });
    match (evaluation.result, expect["error"].as_str()) {
        _ if expect["upstream_panic"] == true => {}
        (Ok(got), None) => outcomes.push(("value", values::equal(&got, &expect["value"]))),
        (Err(halt), None) => outcomes.push(("value", Err(format!("error {halt:?}, want {}", expect["value"])))),
        (Ok(got), Some(want)) => outcomes.push(("value", Err(format!("value {got:?}, want error {want}")))),
        (Err(Halt::Error(error)), Some(want)) if expect["error_phase"] == "eval" => {
            outcomes.push(("error", equal(&error.message, want)))
        }
        (Err(halt), Some(want)) => {
            outcomes.push(("error", Err(format!("{halt:?} at run time, want {want} at plan time"))))
        }
    }
    let unstable = expect["unstable"].as_array().is_some_and(|fields| fields.iter().any(|f| f == "cost"));
    if let (Some(want), false) = (expect["cost"].as_u64(), unstable) {
        outcomes.push(("cost", equal(&evaluation.cost.to_string(), &want.to_string())));
    }
    outcomes
}

fn equal(got: &str, want: &str) -> Result<(), String> {
    if got == want { Ok(()) } else { Err(format!("got  {got}\n    want {want}")) }
}

fn places(text: &str, issues: &Issues) -> String {
    let place = |at: Option<u32>| {
        at.map_or("-1:0".to_string(), |at| {
            let position = position(text, at);
            format!("{}:{}", position.line, position.column)
        })
    };
    issues.list.iter().map(|issue| format!("{} {}", place(issue.at), issue.message)).collect::<Vec<_>>().join(" | ")
}

fn wanted_places(errors: &Json) -> String {
    let text = |e: &Json| format!("{}:{} {}", e["line"], e["col"], e["msg"].as_str().unwrap());
    errors.as_array().unwrap().iter().map(text).collect::<Vec<_>>().join(" | ")
}

/// The first issue's place and words; of the words of a generated parser only the first ones.
fn first_place(text: &str, issues: &Issues, parse_error: &Json) -> Result<(), String> {
    let first = |list: String| {
        let one = list.split(" | ").next().unwrap_or("").to_string();
        if one.contains("Syntax error") { one.split(' ').take(4).collect::<Vec<_>>().join(" ") } else { one }
    };
    equal(&first(places(text, issues)), &first(wanted_places(&parse_error["errors"])))
}

/// Answers authorization questions by a case's rules.
struct Authorizer<'a>(&'a Json);

impl Host for Authorizer<'_> {
    fn ask(&mut self, question: &Value) -> Result<Value, Halt> {
        let Value::Map(question) = question else { panic!("a question is a map") };
        let asked = |field: &str| match question.get(field) {
            Some(Value::String(s)) => s.to_string(),
            _ => String::new(),
        };
        let user =
            if asked("user").is_empty() { self.0["user"].as_str().unwrap_or("").to_string() } else { asked("user") };
        let fits = |rule: &Json, field: &str, got: &str| rule[field].as_str().unwrap_or("") == got;
        let rule = self.0["rules"].as_array().into_iter().flatten().find(|rule| {
            let verb = rule["verb"].as_str().unwrap_or("");
            let user_fits = rule["user"].is_null() || rule["user"] == user;
            let what =
                ["group", "resource", "subresource", "namespace", "name", "path", "labelSelector", "fieldSelector"];
            user_fits
                && (verb == "*" || verb == asked("verb"))
                && what.iter().all(|field| fits(rule, field, &asked(field)))
        });
        let text = |field: &str| rule.and_then(|r| r[field].as_str()).unwrap_or("");
        let decision = if rule.is_none() {
            "noopinion"
        } else if text("decision").is_empty() {
            "allow"
        } else {
            text("decision")
        };
        Ok(library::decision(decision == "allow", text("reason"), text("error")))
    }
}
