//! Discovery and OpenAPI: equal to what real servers send, each under its ETag.
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
use celandine::server::Service;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Empty};
use serde_json::Value;

const V2: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const V2BETA1: &str = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";

async fn get(service: &Service, path: &str, headers: &[(&str, &str)]) -> (Response<()>, Bytes) {
    let mut request = Request::get(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let (parts, body) = service.call(request.body(Empty::<Bytes>::new()).unwrap()).await.into_parts();
    (Response::from_parts(parts, ()), body.collect().await.unwrap().to_bytes())
}

async fn json(service: &Service, path: &str, accept: &str) -> Value {
    let (response, body) = get(service, path, &[("accept", accept)]).await;
    assert_eq!(response.status(), StatusCode::OK, "{path}");
    assert_eq!(response.headers()["content-type"], accept);
    serde_json::from_slice(&body).unwrap()
}

fn named(list: &Value, name: &str) -> Value {
    let is = |group: &&Value| group["metadata"]["name"] == name || group["name"] == name;
    list.as_array().unwrap().iter().find(is).cloned().unwrap()
}

#[tokio::test]
async fn discovery_is_what_kubernetes_sends() {
    let Some(shared) = support::shared() else { return };
    let sample = |name: &str| -> Value {
        let text = std::fs::read_to_string(shared.join("kubernetes/samples").join(name)).unwrap();
        serde_json::from_str(&text).unwrap()
    };
    let service = support::service();
    for (accept, name) in [(V2, "apis-aggregated-v2.json"), (V2BETA1, "apis-aggregated-v2beta1.json")] {
        let mut came = json(&service, "/clusters/root:samples/apis", accept).await;
        let expected = sample(name);
        came["items"] = vec![named(&came["items"], "query.example.io")].into();
        assert_eq!(came, expected, "{name}");
    }
    let plain = "application/json";
    let mut list = json(&service, "/clusters/root:samples/apis", plain).await;
    list["groups"] = vec![named(&list["groups"], "query.example.io")].into();
    assert_eq!(list, sample("apis-legacy.json"));
    let group = json(&service, "/clusters/root:samples/apis/query.example.io", plain).await;
    assert_eq!(group, sample("apis-group-legacy.json"));
    let version = json(&service, "/clusters/root:samples/apis/query.example.io/v1alpha1", plain).await;
    assert_eq!(version, sample("apis-gv-legacy.json"));
    assert_eq!(json(&service, "/api", plain).await, sample("api-legacy.json"));
}

#[tokio::test]
async fn core_is_there_without_anything_in_it() {
    let service = support::service();
    let core = json(&service, "/clusters/root:team/api", V2).await;
    assert_eq!(core["items"][0]["versions"][0]["version"], "v1");
    let (response, _) = get(&service, "/api", &[("accept", &format!("{V2},application/json"))]).await;
    assert_eq!(response.headers()["content-type"], V2, "a plain type makes kubectl panic");
}

#[tokio::test]
async fn aggregated_discovery_is_cached_by_its_etag() {
    let service = support::service();
    let (first, _) = get(&service, "/apis", &[("accept", V2)]).await;
    let tag = first.headers()["etag"].to_str().unwrap();
    let (second, body) = get(&service, "/apis", &[("accept", V2), ("if-none-match", tag)]).await;
    assert_eq!((second.status(), body.len()), (StatusCode::NOT_MODIFIED, 0));
    let (third, _) = get(&service, "/apis", &[("accept", V2), ("if-none-match", "\"other\"")]).await;
    assert_eq!(third.status(), StatusCode::OK);
}

#[tokio::test]
async fn openapi_v3_documents_are_named_by_their_hash() {
    let service = support::service();
    for prefix in ["", "/clusters/root:samples"] {
        let root = json(&service, &format!("{prefix}/openapi/v3"), "application/json").await;
        for path in root["paths"].as_object().unwrap().values() {
            let url = path["serverRelativeURL"].as_str().unwrap();
            assert!(url.starts_with(&format!("{prefix}/openapi/v3/")), "{url}");
            let (response, _) = get(&service, url, &[]).await;
            assert_eq!(response.status(), StatusCode::OK);
            assert_eq!(response.headers()["cache-control"], "public, immutable");
            let tag = response.headers()["etag"].to_str().unwrap();
            assert!(url.ends_with(tag.trim_matches('"')));
            let (again, _) = get(&service, url, &[("if-none-match", tag)]).await;
            assert_eq!(again.status(), StatusCode::NOT_MODIFIED);
        }
    }
    let (moved, _) = get(&service, "/openapi/v3/apis/storage.acme.example/v1?hash=OLD", &[]).await;
    assert_eq!(moved.status(), StatusCode::MOVED_PERMANENTLY);
    let location = moved.headers()["location"].to_str().unwrap();
    assert_eq!(get(&service, location, &[]).await.0.status(), StatusCode::OK);
    assert_eq!(get(&service, "/openapi/v3/apis/nothing/v1", &[]).await.0.status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn ephemeral_kinds_are_created_and_declare_field_validation() {
    let service = support::service();
    let document = json(&service, "/openapi/v3/apis/storage.acme.example/v1", "application/json").await;
    let collection = "/apis/storage.acme.example/v1/namespaces/{namespace}/bucketinfos";
    let operations = |path: &str| document["paths"][path].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(operations(collection), ["parameters", "post"]);
    assert_eq!(operations(&format!("{collection}/{{name}}")), ["parameters", "patch"]);
    assert_eq!(operations("/apis/storage.acme.example/v1/greetings"), ["post"]);
    let patch = &document["paths"][format!("{collection}/{{name}}")]["patch"];
    assert!(patch["parameters"].as_array().unwrap().iter().any(|p| p["name"] == "fieldValidation"));
    assert_eq!(patch["x-kubernetes-group-version-kind"]["kind"], "BucketInfo");
    let schema = &document["components"]["schemas"]["example.acme.storage.v1.BucketInfo"];
    assert_eq!(schema["properties"]["status"]["properties"]["size"]["type"], "integer");
    assert_eq!(schema["properties"]["spec"]["properties"]["bucket"]["description"], "The bucket to look at");
    assert_eq!(schema["x-kubernetes-group-version-kind"][0]["group"], "storage.acme.example");
    let stored = json(&service, "/openapi/v3/apis/s3.acme.example/v1", "application/json").await;
    let bucket = &stored["paths"]["/apis/s3.acme.example/v1/namespaces/{namespace}/buckets/{name}"];
    assert_eq!(bucket["get"]["x-kubernetes-action"], "get");
}

#[tokio::test]
async fn every_reference_of_openapi_leads_somewhere() {
    let service = support::service();
    let v2 = json(&service, "/openapi/v2", "application/json").await;
    let mut documents = vec![v2];
    let root = json(&service, "/openapi/v3", "application/json").await;
    for path in root["paths"].as_object().unwrap().values() {
        let (_, body) = get(&service, path["serverRelativeURL"].as_str().unwrap(), &[]).await;
        documents.push(serde_json::from_slice(&body).unwrap());
    }
    for document in &documents {
        let mut references = Vec::new();
        collect(document, &mut references);
        for reference in references {
            assert!(document.pointer(reference.trim_start_matches('#')).is_some(), "{reference}");
        }
    }
}

fn collect<'a>(value: &'a Value, references: &mut Vec<&'a str>) {
    match value {
        Value::Object(fields) => {
            references.extend(fields.get("$ref").and_then(Value::as_str));
            fields.values().for_each(|v| collect(v, references));
        }
        Value::Array(items) => items.iter().for_each(|v| collect(v, references)),
        _ => {}
    }
}

#[test]
fn openapi_v2_protobuf_is_what_gnostic_writes() {
    let Some(shared) = support::shared() else { return };
    let samples = shared.join("kubernetes/samples");
    let document = std::fs::read_to_string(samples.join("openapi-v2.json")).unwrap();
    let expected = std::fs::read(samples.join("openapi-v2.pb")).unwrap();
    let came = celandine::server::openapi::v2_protobuf::encode(&serde_json::from_str(&document).unwrap());
    // Of free-form values only the place is compared: gnostic writes block YAML, we write JSON.
    let (came, expected) = (leaves(&came), leaves(&expected));
    let places = |leaves: &[(String, Vec<u8>)]| leaves.iter().map(|(place, _)| place.clone()).collect::<Vec<_>>();
    assert_eq!(places(&came), places(&expected));
    let texts = |leaves: Vec<(String, Vec<u8>)>| -> Vec<_> {
        leaves.into_iter().filter(|(_, l)| !l.ends_with(b"\n")).collect()
    };
    assert_eq!(texts(came), texts(expected));
}

/// Every field of a protobuf message by the numbers that lead to it, sorted: maps have no order.
fn leaves(message: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut out = Vec::new();
    walk(message, "", &mut out).unwrap();
    out.sort();
    out
}

fn walk(mut bytes: &[u8], place: &str, out: &mut Vec<(String, Vec<u8>)>) -> Option<()> {
    while !bytes.is_empty() {
        let tag = varint(&mut bytes)?;
        let place = format!("{place}.{}", tag >> 3);
        match tag & 7 {
            0 => out.push((place, varint(&mut bytes)?.to_be_bytes().to_vec())),
            1 => out.push((place, bytes.split_off(..8)?.to_vec())),
            2 => {
                let length = varint(&mut bytes)?;
                let field = bytes.split_off(..length)?;
                // A text may look like a message. Free-form ones stand in extensions, enums and defaults.
                let free = [".13.2.2", ".31.2.2", ".20.2", ".5.2"].iter().any(|end| place.ends_with(end));
                let mut inner = Vec::new();
                if !field.is_empty() && !free && walk(field, &place, &mut inner).is_some() {
                    out.extend(inner);
                } else {
                    out.push((place, field.to_vec()));
                }
            }
            _ => return None,
        }
    }
    Some(())
}

fn varint(bytes: &mut &[u8]) -> Option<usize> {
    let mut value = 0;
    for shift in (0..35).step_by(7) {
        let byte = *bytes.split_off_first()?;
        value |= usize::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}
