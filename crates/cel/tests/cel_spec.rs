//! The conformance tests of the CEL specification (google/cel-spec), as JSON.
//!
//! `CEL_SPEC_SHOW=<file>` prints what fails in a file (`all`: in every file).
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::result_large_err,
    unreachable_pub,
    reason = "tests fail by panicking"
)]
mod common;

use std::{collections::BTreeMap, sync::Arc};

use cel::{
    Env, EnvBuilder, Type, Value,
    estimate::Guess,
    library::{self, Cost, Function, Library, Overload},
    program::Options,
    value::{Key, MapBuilder},
};
use serde_json::Value as Json;

#[derive(Default)]
struct Row {
    passed: usize,
    failed: usize,
    /// By what they need.
    skipped: BTreeMap<&'static str, usize>,
}

impl Row {
    fn print(&self, file: &str) -> String {
        let skipped: usize = self.skipped.values().sum();
        let why: Vec<String> = self.skipped.iter().map(|(what, count)| format!("{count} {what}")).collect();
        format!("| {file} | {} | {} | {skipped} | {} |\n", self.passed + self.failed, self.passed, why.join(", "))
    }
}

/// What a test that is left out needs.
fn needed(test: &Json) -> &'static str {
    let text = test.to_string();
    if ["GlobalEnum", "NestedEnum"].iter().any(|name| test["expr"].as_str().unwrap().contains(name)) {
        "protobuf enums"
    } else if ["TestAllTypes", "TestRequired", "cel.expr.conformance"].iter().any(|name| text.contains(name)) {
        "messages of the tests' own"
    } else {
        "messages of `google.protobuf`"
    }
}

#[test]
fn conforms_to_the_specification() {
    common::on_small_stack(run);
}

fn run() {
    let Some(dir) = common::shared("cel-spec") else { return };
    let show = std::env::var("CEL_SPEC_SHOW").unwrap_or_default();
    let (mut bad, mut total) = (vec![], Row::default());
    let mut table = "| file | tests | passed | left out | because they need |\n|---|---|---|---|---|\n".to_owned();
    for (file, data) in common::json_files(&dir) {
        let mut row = Row::default();
        for section in data["sections"].as_array().unwrap() {
            for test in section["tests"].as_array().unwrap() {
                if test["needs_proto"] == true {
                    *row.skipped.entry(needed(test)).or_default() += 1;
                    *total.skipped.entry(needed(test)).or_default() += 1;
                    continue;
                }
                match check(test) {
                    Ok(()) => row.passed += 1,
                    Err(got) => {
                        row.failed += 1;
                        if show == file || show == "all" {
                            let want = format!("{} {} {}", test["matcher"], test["value"], test["deduced_type"]);
                            let name = format!("{file}/{}/{}", section["name"], test["name"]).replace('"', "");
                            println!("{name}\n  expr {}\n  want {want}\n  got  {got}", test["expr"]);
                        }
                    }
                }
            }
        }
        table += &row.print(&file);
        total.passed += row.passed;
        total.failed += row.failed;
        if row.failed > 0 {
            bad.push(file);
        }
    }
    table += &total.print("all");
    println!("{table}");
    assert!(bad.is_empty(), "not all tests pass in {bad:?}; CEL_SPEC_SHOW=<file> shows them");
    common::conformance("## The specification", &table);
}

fn base(macros: bool) -> EnvBuilder {
    let libraries = [
        library::standard(),
        library::optionals(),
        library::strings(),
        library::lists(),
        library::math(),
        library::encoders(),
        library::sets(),
        library::network(),
        library::comprehensions(),
        library::bindings(),
        library::blocks(),
    ];
    libraries.into_iter().fold(Env::builder().escaped_identifiers(true), |env, library| {
        env.library(if macros { library } else { Library { macros: vec![], ..library } })
    })
}

fn check(test: &Json) -> Result<(), String> {
    let mut env = base(test["disable_macros"] != true).container(test["container"].as_str().unwrap());
    for declaration in test["type_env"].as_array().unwrap() {
        let name = declaration["name"].as_str().unwrap();
        env = match declaration.get("function") {
            Some(function) => env.library(declared(name, function)),
            None => env.variable(name, ty(&declaration["ident"]["type"])),
        };
    }
    let bindings = test["bindings"].as_object().unwrap();
    let unchecked = test["disable_check"] == true;
    for name in bindings.keys() {
        if env.clone().build().slot(name).is_none() {
            env = env.variable(name, Type::Dyn);
        }
    }
    let env = env.build();
    let error_wanted = test["matcher"] == "eval_error";
    let ast = match env.parse(test["expr"].as_str().unwrap()) {
        Ok(ast) => ast,
        Err(_) if error_wanted => return Ok(()),
        Err(issues) => return Err(format!("parse error: {issues}")),
    };
    let program = if unchecked {
        env.program_unchecked(ast)
    } else {
        let checked = env.check(ast).map_err(|issues| format!("check error: {issues}"));
        let checked = match checked {
            Err(_) if error_wanted => return Ok(()),
            other => other?,
        };
        if test["matcher"] == "typed_result" && *checked.result_type() != ty(&test["deduced_type"]) {
            return Err(format!("type {}", checked.result_type()));
        }
        env.program(&checked)
    };
    if test["check_only"] == true {
        return Ok(());
    }
    let program = match program {
        Ok(program) => program,
        Err(_) if error_wanted => return Ok(()),
        Err(issues) => return Err(format!("program error: {issues}")),
    };
    let mut variables: Vec<Option<Value>> = vec![None; env.variables().len()];
    for (name, binding) in bindings {
        variables[env.slot(name).unwrap() as usize] = Some(value(&binding["value"]));
    }
    let result = program.evaluate(variables.as_slice(), Options { budget: 10_000_000, ..Options::default() }).result;
    match (result, test["matcher"].as_str().unwrap()) {
        (Err(_), "eval_error") => Ok(()),
        (Err(halt), _) => Err(format!("{halt:?}")),
        (Ok(got), "eval_error") => Err(format!("{got:?}")),
        (Ok(Value::Bool(true)), "default_true") => Ok(()),
        (Ok(got), "default_true") => Err(format!("{got:?}")),
        (Ok(_), "typed_result") if test["value"].is_null() => Ok(()),
        (Ok(got), _) => {
            let want = value(&test["value"]);
            if same(&got, &want) { Ok(()) } else { Err(format!("{got:?}")) }
        }
    }
}

fn declared(name: &str, function: &Json) -> Library {
    let overload = |o: &Json| Overload {
        estimate: |_| Guess::exactly(1),
        id: Box::leak(o["overload_id"].as_str().unwrap().to_string().into_boxed_str()),
        member: o["is_instance_function"] == true,
        params: o["params"].as_array().unwrap().iter().map(ty).collect(),
        result: ty(&o["result_type"]),
        implementation: |_, _| Ok(Value::Null),
        specialize: None,
        cost: Cost::Fixed(1),
        price: "1",
        doc: "",
        example: "",
    };
    let overloads = function["overloads"].as_array().unwrap().iter().map(overload).collect();
    Library { name: "declared", functions: vec![Function { name: name.into(), overloads }], ..Library::default() }
}

fn primitive(name: &str) -> Type {
    match name {
        "BOOL" => Type::Bool,
        "INT64" => Type::Int,
        "UINT64" => Type::Uint,
        "DOUBLE" => Type::Double,
        "STRING" => Type::String,
        "BYTES" => Type::Bytes,
        other => panic!("unknown primitive {other}"),
    }
}

fn ty(json: &Json) -> Type {
    let (kind, what) = json.as_object().unwrap().iter().next().unwrap();
    match kind.as_str() {
        "dyn" => Type::Dyn,
        "null" => Type::Null,
        "primitive" => primitive(what.as_str().unwrap()),
        "wrapper" => Type::Wrapper(Arc::new(primitive(what.as_str().unwrap()))),
        "well_known" => match what.as_str().unwrap() {
            "TIMESTAMP" => Type::Timestamp,
            "DURATION" => Type::Duration,
            _ => Type::Dyn,
        },
        "list_type" => Type::list(ty(&what["elem_type"])),
        "map_type" => Type::map(ty(&what["key_type"]), ty(&what["value_type"])),
        "type" => Type::type_of(ty(what)),
        "type_param" => Type::param(what.as_str().unwrap()),
        "message_type" => match what.as_str().unwrap() {
            "google.protobuf.Timestamp" => Type::Timestamp,
            "google.protobuf.Duration" => Type::Duration,
            name => Type::Object(name.into()),
        },
        "abstract_type" => {
            let parameters: Vec<Type> =
                what["parameter_types"].as_array().map(|p| p.iter().map(ty).collect()).unwrap_or_default();
            match what["name"].as_str().unwrap() {
                "optional_type" => Type::optional(parameters[0].clone()),
                name => Type::Opaque(name.into(), parameters.into()),
            }
        }
        other => panic!("unknown type {other}: {what}"),
    }
}

fn named_type(name: &str) -> Type {
    match name {
        "bool" => Type::Bool,
        "int" => Type::Int,
        "uint" => Type::Uint,
        "double" => Type::Double,
        "string" => Type::String,
        "bytes" => Type::Bytes,
        "null_type" => Type::Null,
        "type" => Type::type_of(Type::Dyn),
        "list" => Type::list(Type::Dyn),
        "map" => Type::map(Type::Dyn, Type::Dyn),
        "optional_type" => Type::optional(Type::Dyn),
        "google.protobuf.Timestamp" => Type::Timestamp,
        "google.protobuf.Duration" => Type::Duration,
        other => Type::opaque(other),
    }
}

fn value(json: &Json) -> Value {
    let (kind, what) = json.as_object().unwrap().iter().next().unwrap();
    let text = || what.as_str().unwrap();
    match kind.as_str() {
        "null_value" => Value::Null,
        "bool_value" => Value::Bool(what.as_bool().unwrap()),
        "int64_value" => Value::Int(text().parse().unwrap()),
        "uint64_value" => Value::Uint(text().parse().unwrap()),
        "double_value" => Value::Double(what.as_f64().unwrap_or_else(|| text().parse().unwrap())),
        "string_value" => text().into(),
        "bytes_value" => Value::Bytes(common::base64(text()).into()),
        "type_value" => Value::Type(named_type(text()).into()),
        "list_value" => {
            let values: Vec<Value> =
                what["values"].as_array().map(|v| v.iter().map(value).collect()).unwrap_or_default();
            Value::from(values)
        }
        "map_value" => {
            let mut map = MapBuilder::default();
            for entry in what["entries"].as_array().into_iter().flatten() {
                let key = match value(&entry["key"]) {
                    Value::Bool(b) => Key::Bool(b),
                    Value::Int(i) => Key::Int(i),
                    Value::Uint(u) => Key::Uint(u),
                    Value::String(s) => Key::String(s),
                    other => panic!("no key: {other:?}"),
                };
                map.insert(key, value(&entry["value"]));
            }
            Value::Map(map.build())
        }
        "object_value" => {
            let name = what["@type"].as_str().unwrap();
            let text = what["value"].as_str().unwrap();
            let function = if name.ends_with(".Timestamp") { "timestamp" } else { "duration" };
            let env = Env::standard().build();
            let ast = env.parse(&format!("{function}('{text}')")).unwrap();
            let program = env.program(&env.check(ast).unwrap()).unwrap();
            let none: &[Option<Value>] = &[];
            program.evaluate(none, Options { budget: 100, ..Options::default() }).result.unwrap()
        }
        other => panic!("unknown value {other}"),
    }
}

/// Equality that tells `1` from `1.0`.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Double(a), Value::Double(b)) => a == b || a.is_nan() && b.is_nan(),
        (Value::List(a), Value::List(b)) => {
            a.len() == b.len() && a.as_slice().iter().zip(b.as_slice()).all(|(a, b)| same(a, b))
        }
        (Value::Map(a), Value::Map(b)) => {
            let same_entry =
                |(k, v): (&Key, &Value)| b.iter().any(|(l, w)| same(&Value::from(k), &Value::from(l)) && same(v, w));
            a.len() == b.len() && a.iter().all(same_entry)
        }
        (Value::Optional(Some(a)), Value::Optional(Some(b))) => same(a, b),
        _ => std::mem::discriminant(a) == std::mem::discriminant(b) && a == b,
    }
}
