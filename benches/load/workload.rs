//! What the server serves: the BucketInfo of `examples/`, and objects for it, or schemas of a line each; what is asked, and
//! what a right answer holds.
//!
//! Absent: how it is sent.
use std::{fmt::Write as _, fs, path::Path};

/// Objects of the workspace, and those of them in the bucket.
pub const OBJECTS: usize = 300;
pub const SELECTED: usize = 100;

/// kubectl's headers, without what it accepts.
const HEADERS: [(&str, &str); 5] = [
    ("user-agent", "kubectl/v1.32.4 (linux/amd64) kubernetes/59526cd"),
    ("accept-encoding", "gzip"),
    ("content-type", "application/json"),
    ("kubectl-command", "kubectl create"),
    ("kubectl-session", "0f6f1f0c-9f0b-4b7e-8f43-6f0f3f4bb1a1"),
];

/// What one client asks for, again and again.
#[derive(Clone, Copy)]
pub struct Asks {
    /// Who; somebody who has to be allowed everything by roles.
    pub user: &'static str,
    pub kind: &'static str,
    pub spec: &'static str,
    /// The media type of the answer.
    pub accept: &'static str,
    /// Parameters besides kubectl's, each after an `&`.
    pub query: &'static str,
    /// The status of a right answer.
    pub code: usize,
    /// A right answer holds this.
    pub answer: &'static str,
    /// Whether being told that there is no room is an answer too.
    pub may_be_refused: bool,
}

/// The measured create.
pub const BUCKET_INFO: Asks = Asks {
    user: "jane",
    kind: "BucketInfo",
    spec: "{\"bucket\":\"photos\"}",
    accept: "application/json",
    query: "",
    code: 201,
    answer: "\"objects\":100,",
    may_be_refused: false,
};

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

/// A role that allows everything to everybody.
pub const RIGHTS: &str = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: all}\n\
                          rules: [{apiGroups: [\"*\"], resources: [\"*\"], verbs: [\"*\"]}]\n---\n\
                          apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: all}\n\
                          roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: all}\n\
                          subjects: [{kind: Group, name: \"system:authenticated\"}]\n---\n";

/// An EphemeralSchema, and the end of its document.
pub fn schema(kind: &str, spec: &str, projection: &str) -> String {
    let plural = format!("{}s", kind.to_lowercase());
    format!(
        "apiVersion: celandine.dev/v1alpha1\nkind: EphemeralSchema\n\
         metadata: {{name: {plural}.storage.acme.example}}\nspec:\n  group: storage.acme.example\n\
         \x20 scope: Namespaced\n  names: {{kind: {kind}, plural: {plural}}}\n  versions:\n  - name: v1\n\
         \x20   served: true\n    schema: {{simple: {{spec: {spec}}}}}\n\
         \x20   projection: {projection}\n---\n"
    )
}

impl Asks {
    /// Where creates go, as kubectl sends them.
    pub fn path(&self) -> String {
        format!(
            "/apis/storage.acme.example/v1/namespaces/default/{}s?fieldManager=kubectl-create&fieldValidation=Strict{}",
            self.kind.to_lowercase(),
            self.query
        )
    }

    pub fn headers(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        HEADERS.into_iter().chain([("accept", self.accept), ("impersonate-user", self.user)])
    }

    /// The body of the `n`th create, always of one length.
    pub fn body(&self, n: u32) -> String {
        let Asks { kind, spec, .. } = self;
        format!(
            "{{\"apiVersion\":\"storage.acme.example/v1\",\"kind\":\"{kind}\",\
             \"metadata\":{{\"name\":\"load-{n:010}\",\"namespace\":\"default\"}},\"spec\":{spec}}}\n"
        )
    }

    /// Whether a body is the answer to the `n`th create.
    pub fn is_right(&self, body: &[u8], n: u32) -> bool {
        let holds = |part: &str| memchr::memmem::find(body, part.as_bytes()).is_some();
        // What is no object has no name.
        (self.code == 400 || holds(&format!("load-{n:010}"))) && holds(self.kind) && holds(self.answer)
    }
}
