//! ObjectMeta of what is created: its typed decoding, names that are generated, what the client may not set.
//!
//! Absent: which values are valid (validate), every other field (strategy).
mod typed;
mod validate;

use std::sync::{Arc, LazyLock};

use cel::value::{Map, MapBuilder};

pub use typed::decode;
pub use validate::validate;

/// Bytes of `metadata.name` as generated: Kubernetes' `maxNameLength`.
const MAX_GENERATED: usize = 63;

/// Random characters of a generated name.
const SUFFIX: usize = 5;

/// Kubernetes' alphabet of generated names: no vowels, so that no words come out.
const ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";

/// When the answer was computed.
pub const OBSERVED_AT: &str = "celandine.dev/observed-at";

/// What of an ObjectMeta a client decides. Everything else (uid, resourceVersion, managedFields, ownerReferences,
/// finalizers, timestamps) belongs to stored objects and is wiped.
#[derive(Clone, Debug, Default)]
pub struct Metadata {
    /// `name`, given or generated; a kind that is never stored needs none.
    pub name: Option<Arc<str>>,
    /// `generateName`
    pub generate_name: Option<Arc<str>>,
    /// `namespace`
    pub namespace: Option<Arc<str>>,
    /// `labels`, strings to strings
    pub labels: Map,
    /// `annotations`, strings to strings
    pub annotations: Map,
}

impl Metadata {
    /// A name is made of `generateName` where there is none: cut, then five characters drawn from `random`.
    pub fn generate(&mut self, random: [u8; SUFFIX]) {
        if self.name.is_some() {
            return;
        }
        let Some(base) = &self.generate_name else { return };
        let end = (0..=base.len().min(MAX_GENERATED - SUFFIX)).rev().find(|end| base.is_char_boundary(*end));
        let mut name = base.get(..end.unwrap_or(0)).unwrap_or_default().to_owned();
        for byte in random {
            let letter = ALPHABET.get(usize::from(byte) % ALPHABET.len()).copied().unwrap_or(b'b');
            name.push(char::from(letter));
        }
        self.name = Some(name.into());
    }

    /// As `object.metadata` is seen by expressions, and answered when the timestamps are added.
    pub fn to_map(&self, creation: Option<&Creation>) -> Map {
        // Made once: every object has them.
        static NAMES: LazyLock<[Arc<str>; 6]> = LazyLock::new(|| {
            ["annotations", "creationTimestamp", "generateName", "labels", "name", "namespace"].map(Arc::from)
        });
        let [of_annotations, of_timestamp, of_generate_name, of_labels, of_name, of_namespace] = &*NAMES;
        let mut fields = MapBuilder::with_capacity(NAMES.len());
        let annotations = match creation {
            Some(creation) => with_observed_at(&self.annotations, &creation.observed_at),
            None => self.annotations.clone(),
        };
        if !annotations.is_empty() {
            fields.push(of_annotations.clone(), annotations.into());
        }
        if let Some(creation) = creation {
            fields.push(of_timestamp.clone(), creation.timestamp.as_str().into());
        }
        if let Some(generate_name) = &self.generate_name {
            fields.push(of_generate_name.clone(), generate_name.clone().into());
        }
        if !self.labels.is_empty() {
            fields.push(of_labels.clone(), self.labels.clone().into());
        }
        if let Some(name) = &self.name {
            fields.push(of_name.clone(), name.clone().into());
        }
        if let Some(namespace) = &self.namespace {
            fields.push(of_namespace.clone(), namespace.clone().into());
        }
        fields.build()
    }
}

/// What the server adds to an answer.
#[derive(Clone, Debug)]
pub struct Creation {
    /// `creationTimestamp`, RFC 3339 in seconds.
    pub timestamp: String,
    /// The annotation [`OBSERVED_AT`].
    pub observed_at: String,
}

fn with_observed_at(annotations: &Map, observed_at: &str) -> Map {
    // Made once: every answer has it.
    static NAME: LazyLock<Arc<str>> = LazyLock::new(|| OBSERVED_AT.into());
    let mut builder = MapBuilder::with_capacity(annotations.len() + 1);
    for (key, value) in annotations.iter() {
        builder.push(key.clone(), value.clone());
    }
    builder.insert(NAME.clone(), observed_at.into());
    builder.build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(base: &str, random: [u8; 5], name: &str) {
        let mut metadata = Metadata { generate_name: Some(base.into()), ..Metadata::default() };
        metadata.generate(random);
        assert_eq!(metadata.name.as_deref(), Some(name));
    }

    #[test]
    fn generated_names() {
        check("q-", [0, 1, 26, 27, 255], "q-bc9bq");
        check(&"a".repeat(100), [0; 5], &format!("{}bbbbb", "a".repeat(58)));
        check(&"é".repeat(30), [0; 5], &format!("{}bbbbb", "é".repeat(29)));
        let mut named = Metadata { name: Some("x".into()), generate_name: Some("y".into()), ..Metadata::default() };
        named.generate([0; 5]);
        assert_eq!(named.name.as_deref(), Some("x"));
        let mut nothing = Metadata::default();
        nothing.generate([0; 5]);
        assert_eq!(nothing.name, None);
    }
}
