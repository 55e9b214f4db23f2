//! Any text as a manifest: documents or errors, and every place of every string within the text.
#![no_main]

use cel::Value;
use celandine::{
    engine::diagnostic::{FieldPath, Place},
    storage::manifest::{Color, Document, parse, render_error},
};
use libfuzzer_sys::fuzz_target;

fn places(document: &Document, path: &FieldPath, value: &Value) {
    match value {
        Value::Map(map) => {
            map.iter().for_each(|(key, value)| places(document, &path.field(&key.to_string()), value));
        }
        Value::List(list) => {
            list.iter().enumerate().for_each(|(i, value)| places(document, &path.index(i), value));
        }
        Value::String(text) => {
            let place = Place::Within(0..text.len().min(1));
            assert!(document.text.get(document.nearest(path, &place)).is_some());
        }
        _ => {}
    }
}

fuzz_target!(|text: &str| {
    let manifest = parse("fuzz.yaml", text);
    for error in &manifest.errors {
        render_error(error, &manifest, Color::Never);
    }
    for document in &manifest.documents {
        places(document, &FieldPath::root(), &document.value);
    }
});
