//! What the server serves: the BucketInfo of `examples/`, and objects for it; what is asked, and what a right answer holds.
//!
//! Absent: how it is sent.
use std::{fmt::Write as _, fs, path::Path};

/// Objects of the workspace, and those of them in the bucket.
pub const OBJECTS: usize = 300;
pub const SELECTED: usize = 100;

/// Where creates go, as kubectl sends them.
pub const PATH: &str = "/apis/storage.acme.example/v1/namespaces/default/bucketinfos\
                        ?fieldManager=kubectl-create&fieldValidation=Strict";

/// kubectl's headers, and a user who has to be allowed everything by roles.
pub const HEADERS: [(&str, &str); 7] = [
    ("user-agent", "kubectl/v1.32.4 (linux/amd64) kubernetes/59526cd"),
    ("accept", "application/json"),
    ("accept-encoding", "gzip"),
    ("content-type", "application/json"),
    ("kubectl-command", "kubectl create"),
    ("kubectl-session", "0f6f1f0c-9f0b-4b7e-8f43-6f0f3f4bb1a1"),
    ("impersonate-user", "jane"),
];

/// Where answers come from.
#[derive(Clone, Copy, PartialEq)]
pub enum Answers {
    /// The schema as it is: equal questions within a minute.
    FromMemory,
    /// Without `cache`, and with the name of the object, another in each request, in the status: no two are equal.
    Evaluated,
}

impl Answers {
    pub fn name(self) -> &'static str {
        match self {
            Answers::FromMemory => "from memory",
            Answers::Evaluated => "evaluated",
        }
    }
}

/// Fills a directory to serve.
pub fn write(folder: &Path, answers: Answers) {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    for file in ["bucket-crds.yaml", "rbac.yaml"] {
        fs::copy(examples.join(file), folder.join(file)).unwrap();
    }
    let schema = fs::read_to_string(examples.join("bucketinfo.yaml")).unwrap();
    let replace = |text: String, from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    };
    let schema = match answers {
        Answers::FromMemory => schema,
        Answers::Evaluated => {
            let schema = replace(schema, "    cache: {ttlSeconds: 60}\n", "");
            replace(
                schema,
                "summary: \"${object.spec.bucket}",
                "summary: \"${object.metadata.name}: ${object.spec.bucket}",
            )
        }
    };
    fs::write(folder.join("bucketinfo.yaml"), schema).unwrap();
    fs::write(folder.join("objects.yaml"), objects()).unwrap();
}

fn objects() -> String {
    let mut text = String::from(
        "apiVersion: s3.acme.example/v1\nkind: Bucket\nmetadata: {name: photos, namespace: default}\n\
         spec: {region: eu-1, versioned: true}\nstatus: {phase: Ready}\n",
    );
    for i in 0..OBJECTS {
        let bucket = ["photos", "logs", "backups"][i * 3 / OBJECTS];
        let _ = write!(
            text,
            "---\napiVersion: s3.acme.example/v1\nkind: StoredObject\n\
             metadata: {{name: {bucket}-{i}, namespace: default, labels: {{bucket: {bucket}}}}}\n\
             spec: {{key: 2025/{i}.jpg, size: {i}, stored: \"2025-07-14T09:30:00Z\"}}\n"
        );
    }
    text
}

/// The body of the `n`th create, always of one length.
pub fn body(n: u32) -> String {
    format!(
        "{{\"apiVersion\":\"storage.acme.example/v1\",\"kind\":\"BucketInfo\",\
         \"metadata\":{{\"name\":\"load-{n:010}\",\"namespace\":\"default\"}},\"spec\":{{\"bucket\":\"photos\"}}}}\n"
    )
}

/// Whether a body is the answer to the `n`th create.
pub fn is_right(body: &[u8], n: u32) -> bool {
    let holds = |part: &str| memchr::memmem::find(body, part.as_bytes()).is_some();
    holds(&format!("\"name\":\"load-{n:010}\"")) && holds("\"kind\":\"BucketInfo\"") && holds("\"objects\":100,")
}
