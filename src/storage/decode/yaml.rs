//! YAML bodies: values as Kubernetes' YAML-to-JSON conversion gives them, with repeated keys by their lines.
//!
//! They are read as manifests are: on a stack of the reader's own, because the nesting is the sender's and the thread's stack is
//! ours. Absent: JSON, the parser (manifest).
use cel::Value;

use super::Decoded;
use crate::{
    api::shown,
    storage::manifest::{self, ManifestError},
};

/// One YAML document.
///
/// # Errors
/// What is wrong with it, as `yaml: line N: ...`.
pub(super) fn parse(text: &str) -> Result<Decoded, String> {
    let manifest = manifest::parse("", text);
    if let Some(error) = manifest.errors.iter().find(|error| error.repeated.is_none()) {
        return Err(format!("yaml: {}", line(error, &shown(&error.message))));
    }
    let mut documents = manifest.documents.into_iter();
    let (value, more) = (documents.next().map_or(Value::Null, |document| document.value), documents.next());
    if more.is_some() {
        return Err("yaml: more than one document".to_owned());
    }
    let repeated: Vec<_> = manifest.errors.iter().filter_map(|error| Some((error, error.repeated.as_ref()?))).collect();
    let strict = match repeated.is_empty() {
        true => Vec::new(),
        false => {
            let already = |key: &str| format!("key {:?} already set in map", shown(key));
            let lines: Vec<_> =
                repeated.iter().map(|(error, key)| format!("  {}", line(error, &already(key)))).collect();
            vec![format!("yaml: unmarshal errors:\n{}", lines.join("\n"))]
        }
    };
    Ok(Decoded { value, strict })
}

fn line(error: &ManifestError, text: &str) -> String {
    format!("line {}: {text}", error.position.line)
}
