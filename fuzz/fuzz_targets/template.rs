//! Any text as a template, an expression, a field path, a selector's value and a SimpleSchema type of one definition: a plan,
//! or diagnostics whose places are within the text.
#![no_main]

use std::sync::Arc;

use cel::{Value, value::MapBuilder};
use celandine::engine::{
    compile,
    definition::{Definition, ExternalRef, Read, ReadAs, SchemaForm, Source, Validation, Variable},
    diagnostic::Place,
    kinds::{Kind, Kinds, NoPolicies},
};
use libfuzzer_sys::fuzz_target;

struct NoKinds;

impl Kinds for NoKinds {
    fn kind(&self, _: &str, _: &str) -> Option<Arc<Kind>> {
        None
    }

    fn names(&self) -> Vec<(String, Arc<str>)> {
        vec![("v1".to_owned(), "Pod".into())]
    }
}

fn map(key: &str, value: Value) -> Value {
    let mut map = MapBuilder::default();
    map.insert(key, value);
    Value::Map(map.build())
}

fuzz_target!(|text: &str| {
    let text: Arc<str> = text.into();
    let value = || Value::String(text.clone());
    let source = |id: &str, name: Option<Arc<str>>, selector: Option<Value>| Source {
        id: id.into(),
        include_when: vec![text.clone()],
        for_each: vec![("each".into(), text.clone())],
        read: Read::ExternalRef(ExternalRef {
            api_version: "v1".into(),
            kind: text.clone(),
            name,
            namespace: Some(text.clone()),
            selector,
            optional: false,
            read_as: ReadAs::Consumer,
        }),
        uncertain: false,
    };
    let definition = Definition {
        group: "g.example".into(),
        version: "v1".into(),
        kind: "Thing".into(),
        namespaced: true,
        schema: SchemaForm::Simple(map("spec", map("field", value()))),
        sources: vec![
            source("named", Some(text.clone()), None),
            source("selected", None, Some(map("matchLabels", map("app", value())))),
        ],
        variables: vec![Variable { name: "v".into(), expression: text.clone() }],
        validations: vec![Validation {
            expression: text.clone(),
            message: None,
            message_expression: Some(text.clone()),
            reason: None,
            field_path: Some(text.clone()),
        }],
        status: Some(map("field", value())),
    };
    let (_, diagnostics) = compile(&definition, &NoKinds, &NoPolicies);
    for diagnostic in diagnostics {
        if let Place::Within(range) = &diagnostic.place {
            assert!(text.get(range.clone()).is_some(), "{diagnostic:?} of {text:?}");
        }
    }
});
