//! Any bytes as a request body, an author's file and a selector: an object or an error, never a panic, always bounded.
#![no_main]

use celandine::{
    engine::diagnostic::{FieldPath, Place},
    storage::{
        decode,
        manifest::{self, Color},
        selector::{FieldSelector, LabelSelector},
    },
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|body: &[u8]| {
    for content_type in ["application/json", "application/yaml"] {
        let format = decode::format(Some(content_type)).expect("both are known");
        if let Ok(decoded) = decode::object(format, body, "Thing") {
            let text = serde_json::to_string(&decoded.value);
            let _ = text.map(|text| serde_json::from_str::<cel::Value>(&text).expect("what was written can be read"));
        }
    }
    let Ok(text) = std::str::from_utf8(body) else { return };
    let manifest = manifest::parse("file.yaml", text);
    for error in &manifest.errors {
        manifest::render_error(error, &manifest, Color::Never);
    }
    for document in &manifest.documents {
        let range = document.locate(&FieldPath::root(), &Place::Value).expect("the root is somewhere");
        assert!(text.get(range.clone()).is_some(), "{range:?} of {text:?}");
    }
    let _ = LabelSelector::parse(text);
    let _ = FieldSelector::parse(text, "", "Pod");
});
