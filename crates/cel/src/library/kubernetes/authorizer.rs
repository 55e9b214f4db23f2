//! Kubernetes' authorizer: `authorizer.group('').resource('pods').check('get').allowed()`.
//!
//! A check is a question to [`crate::eval::Host`]: a map of the strings `user` (empty: who made the request), `verb`, and
//! either `path` or `group`, `resource`, `subresource`, `namespace`, `name`, `fieldSelector`, `labelSelector`; what was not
//! said is not in it. The answer is a [`decision`], or an unknown.
//!
//! Absent: deciding.
use std::{any::Any, sync::Arc};

use super::format;
use crate::{
    estimate::{Bounds, Guess, rule::size},
    eval::{Context, Halt},
    library::{
        Cost, Function, Implementation, Library,
        build::{function, invalid, method, no_overload_of, priced},
        cost::{self, Price},
    },
    types::Type,
    value::{Key, Map, MapBuilder, Opaque, Value},
};

const AUTHORIZER: &str = "kubernetes.authorization.Authorizer";
const PATH: &str = "kubernetes.authorization.PathCheck";
const GROUP: &str = "kubernetes.authorization.GroupCheck";
const RESOURCE: &str = "kubernetes.authorization.ResourceCheck";
const DECISION: &str = "kubernetes.authorization.Decision";

/// The type of the variable `authorizer`.
pub fn authorizer_type() -> Type {
    Type::opaque(AUTHORIZER)
}

/// The type of the variable `authorizer.requestResource`.
pub fn request_resource_type() -> Type {
    Type::opaque(RESOURCE)
}

/// The value of the variable `authorizer`: asks for whoever made the request.
pub fn authorizer() -> Value {
    made(AUTHORIZER, Map::default())
}

/// The value of the variable `authorizer.requestResource`; empty strings are left out of questions.
pub fn request_resource(group: &str, resource: &str, subresource: &str, namespace: &str, name: &str) -> Value {
    let mut fields = MapBuilder::default();
    fields.insert("group", group.into());
    for (field, value) in
        [("resource", resource), ("subresource", subresource), ("namespace", namespace), ("name", name)]
    {
        if !value.is_empty() {
            fields.insert(field, value.into());
        }
    }
    made(RESOURCE, fields.build())
}

/// What a host answers to a question.
pub fn decision(allowed: bool, reason: &str, error: &str) -> Value {
    let mut fields = MapBuilder::default();
    fields.insert("allowed", allowed.into());
    fields.insert("reason", reason.into());
    fields.insert("error", error.into());
    made(DECISION, fields.build())
}

/// A step on the way to a decision: what was said so far.
#[derive(Debug)]
struct Step {
    ty: &'static str,
    said: Map,
}

impl Opaque for Step {
    fn type_of(&self) -> Type {
        Type::opaque(self.ty)
    }
    fn equals(&self, other: &dyn Opaque) -> bool {
        let other = other.as_any().downcast_ref::<Step>();
        other
            .is_some_and(|other| self.ty == other.ty && Value::Map(self.said.clone()) == Value::Map(other.said.clone()))
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn made(ty: &'static str, said: Map) -> Value {
    Value::Opaque(Arc::new(Step { ty, said }))
}

/// Whether `==` refuses values of this type, as upstream does.
pub(in crate::library) fn has_no_equality(value: &dyn Opaque) -> bool {
    value.as_any().is::<Step>()
}

/// The library.
pub(crate) fn library() -> Library {
    let functions = steps().into_iter().chain(selectors()).chain(decisions()).collect();
    Library { name: "kubernetes.authorizer", functions, ..Library::default() }
}

fn steps() -> Vec<Function> {
    use Type::String;
    let step = |name: &str, id, from: &str, to: &str, code: Implementation, doc, example| {
        function(name, vec![method(id, vec![Type::opaque(from), String], Type::opaque(to), code, doc, example)])
    };
    vec![
        step(
            "path",
            "authorizer_path",
            AUTHORIZER,
            PATH,
            |_, args| path(args),
            "Asks about a URL path that is no resource.",
            "authorizer.path('/healthz').check('get').allowed()",
        ),
        step(
            "group",
            "authorizer_group",
            AUTHORIZER,
            GROUP,
            |_, args| said("group", AUTHORIZER, GROUP, args),
            "Asks about an API group.",
            "authorizer.group('apps').resource('deployments').check('list').allowed()",
        ),
        function(
            "serviceAccount",
            vec![method(
                "authorizer_serviceaccount",
                vec![authorizer_type(), String, String],
                authorizer_type(),
                service_account,
                "Asks for a service account, by namespace and name.",
                "authorizer.serviceAccount('prod', 'bot').path('/').check('get').allowed()",
            )],
        ),
        step(
            "resource",
            "groupcheck_resource",
            GROUP,
            RESOURCE,
            |_, args| resource(args),
            "Asks about a resource: `pods`.",
            "authorizer.group('').resource('pods').check('list').allowed()",
        ),
        step(
            "subresource",
            "resourcecheck_subresource",
            RESOURCE,
            RESOURCE,
            |_, args| said("subresource", RESOURCE, RESOURCE, args),
            "Asks about a subresource: `status`.",
            "authorizer.group('').resource('pods').subresource('status').check('get').allowed()",
        ),
        step(
            "namespace",
            "resourcecheck_namespace",
            RESOURCE,
            RESOURCE,
            |_, args| said("namespace", RESOURCE, RESOURCE, args),
            "Asks in a namespace.",
            "authorizer.group('').resource('pods').namespace('prod').check('list').allowed()",
        ),
        step(
            "name",
            "resourcecheck_name",
            RESOURCE,
            RESOURCE,
            |_, args| said("name", RESOURCE, RESOURCE, args),
            "Asks about one object.",
            "authorizer.group('').resource('pods').name('web').check('get').allowed()",
        ),
    ]
}

fn selectors() -> Vec<Function> {
    // Reading a selector and then asking about each of its requirements.
    let price = Price::new(
        Cost::Args(|args| {
            let size = cost::size(args.get(1));
            10 + cost::tenth(size) + size.div_ceil(2) * 50
        }),
        |args| {
            let text = size(args, 1);
            Guess::cost(Bounds::exactly(10) + text.scaled(0.1) + text.scaled(0.5).scaled(50.0))
        },
        "10 and some 25 for each character of the selector",
    );
    let of = |name: &str, id, code: Implementation, doc, example| {
        priced(
            name,
            price,
            vec![method(id, vec![Type::opaque(RESOURCE), Type::String], Type::opaque(RESOURCE), code, doc, example)],
        )
    };
    vec![
        of(
            "fieldSelector",
            "authorizer_fieldselector",
            |_, args| said("fieldSelector", RESOURCE, RESOURCE, args),
            "Asks about the objects that a field selector selects.",
            "authorizer.group('').resource('pods').fieldSelector('spec.nodeName=n').check('list').allowed()",
        ),
        of(
            "labelSelector",
            "authorizer_labelselector",
            |_, args| said("labelSelector", RESOURCE, RESOURCE, args),
            "Asks about the objects that a label selector selects.",
            "authorizer.group('').resource('pods').labelSelector('app=web').check('list').allowed()",
        ),
    ]
}

fn decisions() -> Vec<Function> {
    use Type::{Bool, String};
    let of = |name: &str, id, result, code: Implementation, doc, example| {
        function(name, vec![method(id, vec![Type::opaque(DECISION)], result, code, doc, example)])
    };
    vec![
        priced(
            "check",
            Price::new(Cost::Fixed(350_000), |_| Guess::exactly(350_000), "350,000"),
            vec![
                method(
                    "pathcheck_check",
                    vec![Type::opaque(PATH), String],
                    Type::opaque(DECISION),
                    check,
                    "Decides about a verb.",
                    "authorizer.path('/').check('get').allowed()",
                ),
                method(
                    "resourcecheck_check",
                    vec![Type::opaque(RESOURCE), String],
                    Type::opaque(DECISION),
                    check,
                    "Decides about a verb.",
                    "authorizer.group('').resource('pods').check('get').allowed()",
                ),
            ],
        ),
        of(
            "errored",
            "decision_errored",
            Bool,
            |_, args| Ok(Value::Bool(text(args, "errored", "error")?.is_some_and(|e| !e.is_empty()))),
            "Whether deciding failed.",
            "!authorizer.path('/').check('get').errored()",
        ),
        of(
            "error",
            "decision_error",
            String,
            |_, args| Ok(text(args, "error", "error")?.unwrap_or_default().into()),
            "Why deciding failed, or the empty text.",
            "authorizer.path('/').check('get').error() == ''",
        ),
        of(
            "allowed",
            "decision_allowed",
            Bool,
            allowed,
            "Whether it is allowed.",
            "authorizer.path('/').check('get').allowed()",
        ),
        of(
            "reason",
            "decision_reason",
            String,
            |_, args| Ok(text(args, "reason", "reason")?.unwrap_or_default().into()),
            "Why it is allowed or not.",
            "authorizer.path('/').check('get').reason() == ''",
        ),
    ]
}

fn step_of<'a>(value: Option<&'a Value>, ty: &str) -> Option<&'a Step> {
    match value {
        Some(Value::Opaque(opaque)) => opaque.as_any().downcast_ref::<Step>().filter(|step| step.ty == ty),
        _ => None,
    }
}

fn with(said: &Map, field: &str, value: Value) -> Map {
    let mut fields = MapBuilder::with_capacity(said.len() + 1);
    for (key, value) in said.iter() {
        fields.insert(key.clone(), value.clone());
    }
    fields.insert(Key::from(field), value);
    fields.build()
}

fn said(field: &str, from: &'static str, to: &'static str, args: &[Value]) -> Result<Value, Halt> {
    match (step_of(args.first(), from), args) {
        (Some(step), [_, Value::String(text)]) => Ok(made(to, with(&step.said, field, Value::String(text.clone())))),
        _ => Err(no_overload_of(field, args)),
    }
}

fn path(args: &[Value]) -> Result<Value, Halt> {
    match args {
        [_, Value::String(text)] if text.trim().is_empty() => Err(invalid("path must not be empty")),
        _ => said("path", AUTHORIZER, PATH, args),
    }
}

fn resource(args: &[Value]) -> Result<Value, Halt> {
    match args {
        [_, Value::String(text)] if text.trim().is_empty() => Err(invalid("resource must not be empty")),
        _ => said("resource", GROUP, RESOURCE, args),
    }
}

fn service_account(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    let (Some(step), [_, Value::String(namespace), Value::String(name)]) = (step_of(args.first(), AUTHORIZER), args)
    else {
        return Err(no_overload_of("serviceAccount", args));
    };
    if !format::dns1123_subdomain(name).is_empty() {
        return Err(invalid("Invalid service account name"));
    }
    if !format::dns1123_label(namespace).is_empty() {
        return Err(invalid("Invalid service account namespace"));
    }
    let user = format!("system:serviceaccount:{namespace}:{name}");
    Ok(made(AUTHORIZER, with(&step.said, "user", user.into())))
}

fn check(context: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    let refused = || no_overload_of("check", args);
    let [_, Value::String(verb)] = args else { return Err(refused()) };
    let step = step_of(args.first(), PATH).or_else(|| step_of(args.first(), RESOURCE)).ok_or_else(refused)?;
    context.ask(&Value::Map(with(&step.said, "verb", Value::String(verb.clone()))))
}

fn text(args: &[Value], function: &str, field: &str) -> Result<Option<String>, Halt> {
    let step = step_of(args.first(), DECISION).ok_or_else(|| no_overload_of(function, args))?;
    Ok(match step.said.get(field) {
        Some(Value::String(text)) => Some(text.to_string()),
        _ => None,
    })
}

fn allowed(_: &mut Context<'_>, args: &[Value]) -> Result<Value, Halt> {
    let step = step_of(args.first(), DECISION).ok_or_else(|| no_overload_of("allowed", args))?;
    Ok(Value::Bool(matches!(step.said.get("allowed"), Some(Value::Bool(true)))))
}
