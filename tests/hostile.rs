//! No request makes the server panic: what is meaningless is refused, as a Status or as Go's plain 404.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::result_large_err,
    unreachable_pub,
    reason = "tests fail by panicking"
)]
mod support;

use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Full};

/// A small generator (SplitMix64), so that every run asks the same.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[usize::try_from(self.next() % from.len() as u64).unwrap()]
    }
}

const SEGMENTS: &[&str] = &[
    "api",
    "apis",
    "v1",
    "storage.acme.example",
    "s3.acme.example",
    "namespaces",
    "default",
    "bucketinfos",
    "buckets",
    "photos",
    "greetings",
    "clusters",
    "root",
    "root:team",
    "watch",
    "proxy",
    "openapi",
    "v2",
    "v3",
    "livez",
    "version",
    "authorization.k8s.io",
    "selfsubjectaccessreviews",
    "selfsubjectrulesreviews",
    "subjectaccessreviews",
    "status",
    "",
    "%2F",
    "%00",
    "%ff",
    "..",
    "pods",
    "é",
    "%E2%80%AE",
    "a%20b",
    "secrets",
    "authentication.k8s.io",
    "selfsubjectreviews",
];
const QUERIES: &[&str] = &[
    "",
    "watch=true&timeoutSeconds=0&resourceVersion=1",
    "limit=-1",
    "limit=1",
    "limit=99999999999999999999",
    "continue=",
    "continue=2f2f2f",
    "continue=312f2f",
    "labelSelector=a%20in%20(",
    "labelSelector=%00",
    "fieldSelector=metadata.name=",
    "fieldSelector=,=,",
    "timeout=1h",
    "timeout=-1s",
    "timeout=1e99h",
    "dryRun=All&dryRun=None",
    "fieldValidation=%ff",
    "fieldManager=%0a",
    "pretty=true",
    "resourceVersion=18446744073709551616",
    "resourceVersionMatch=Exact&resourceVersion=0",
    "hash=x",
    "includeObject=All",
    "&&&=&=",
    "sendInitialEvents=x",
    "timeoutSeconds=-1",
];
const ACCEPTS: &[&str] = &[
    "*/*",
    "application/json",
    "application/yaml",
    "application/json;as=Table;g=meta.k8s.io;v=v1",
    ";",
    ",,",
    "a/b;q=x",
    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
    "application/vnd.kubernetes.protobuf",
    "application/json;q=\"",
    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
];
const BODIES: &[&str] = &[
    "",
    "{}",
    "[]",
    "null",
    "{\"apiVersion\":1}",
    "k8s\0",
    "k8s\0\u{a}\u{7f}",
    "{\"apiVersion\":\"storage.acme.example/v1\",\"kind\":\"BucketInfo\"}",
    "{\"apiVersion\":\"authorization.k8s.io/v1\",\"kind\":\"SelfSubjectAccessReview\",\"spec\":{\"resourceAttributes\":[]}}",
    "{\"apiVersion\":\"authorization.k8s.io/v1\",\"kind\":\"SelfSubjectRulesReview\",\"spec\":{\"namespace\":\"x\"}}",
    "{\"apiVersion\":\"authorization.k8s.io/v1\",\"kind\":\"SubjectAccessReview\",\"spec\":{\"user\":\"x\",\"resourceAttributes\":{\"verb\":\"get\"}}}",
    "a: &a [*a]",
    "a: b: c",
    "{\"a\":",
    "\u{feff}{}",
];

#[tokio::test]
async fn nothing_panics() {
    let service = support::service();
    let mut random = Random(1);
    for round in 0..4_000 {
        let method = random.pick(&["GET", "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "BREW"]);
        let depth = random.next() % 8;
        let path: String = (0..depth).map(|_| format!("/{}", random.pick(SEGMENTS))).collect();
        let uri = format!("/{}?{}", path.trim_start_matches('/'), random.pick(QUERIES));
        // `é` cannot stand in a URI as it is; clients escape it.
        let Ok(uri) = uri.replace('é', "%C3%A9").parse::<http::Uri>() else { continue };
        let request = Request::builder()
            .method(method)
            .uri(uri.clone())
            .header("accept", random.pick(ACCEPTS))
            .header(
                "content-type",
                random.pick(&["application/json", "application/yaml", "application/vnd.kubernetes.protobuf", "x"]),
            )
            .header("impersonate-user", random.pick(&["", "jane", "system:anonymous", "system:serviceaccount:a:b"]))
            .body(Full::new(Bytes::from_static(random.pick(BODIES).as_bytes())))
            .unwrap();
        let response = service.call(request).await;
        let status = response.status();
        assert_ne!(status, StatusCode::INTERNAL_SERVER_ERROR, "round {round}: {method} {uri}");
        // A watch without an end is not read.
        if !uri.query().unwrap().contains("Seconds=-1")
            && !uri.path().contains("watch")
            && !uri.query().unwrap().contains("watch")
        {
            let body = response.into_body().collect().await.unwrap().to_bytes();
            assert!(status.is_success() || body.len() < 4_096, "round {round}: a failure of {} bytes", body.len());
        }
    }
}

#[tokio::test]
async fn messages_do_not_repeat_endless_texts() {
    let service = support::service();
    let long = "x".repeat(5_000);
    for uri in [
        format!("/clusters/{long}/api"),
        format!("/api/v1/namespaces/default/pods/{long}"),
        format!("/api/v1/namespaces/{long}/pods?fieldSelector={long}=1"),
        format!("/apis/storage.acme.example/v1/namespaces/default/bucketinfos/{long}"),
        format!("/api/v1/pods?labelSelector={long}%20in%20("),
        format!("/api/v1/pods?timeout={long}"),
        format!("/{long}"),
    ] {
        let request = Request::get(&uri).header("impersonate-user", &long).body(Full::<Bytes>::default()).unwrap();
        let body = service.call(request).await.into_body().collect().await.unwrap().to_bytes();
        assert!(body.len() < 2_048, "{} bytes: {}", body.len(), String::from_utf8_lossy(&body));
        let request = Request::get(&uri).body(Full::<Bytes>::default()).unwrap();
        let body = service.call(request).await.into_body().collect().await.unwrap().to_bytes();
        assert!(body.len() < 2_048, "{} bytes: {}", body.len(), String::from_utf8_lossy(&body));
    }
}
