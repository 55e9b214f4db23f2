//! The `kube` crate as a client: creating, being refused, discovering, reading, watching.
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

use std::sync::Arc;

use celandine::storage::{
    objects::{GroupVersionKind, Incoming},
    workspace::Workspaces,
};
use futures_util::{StreamExt, TryStreamExt};
use kube::{
    Api, Client, Config, ResourceExt,
    api::{ApiResource, DynamicObject, ListParams, PostParams},
    core::GroupVersionKind as Gvk,
    discovery::{Discovery, Scope, verbs},
    runtime::watcher,
};
use serde_json::json;

async fn start() -> (String, Arc<Workspaces>) {
    let workspaces = support::workspaces();
    let config = celandine::server::Config { listen: "127.0.0.1:0".parse().unwrap(), ..Default::default() };
    let server = celandine::server::bind(config, Arc::clone(&workspaces)).await.unwrap();
    let url = server.url();
    tokio::spawn(server.run(std::future::pending()));
    (url, workspaces)
}

fn client(url: &str) -> Client {
    Client::try_from(Config::new(url.parse().unwrap())).unwrap()
}

fn resource(group: &str, kind: &str) -> ApiResource {
    ApiResource::from_gvk(&Gvk::gvk(group, "v1", kind))
}

fn ask(name: &str) -> DynamicObject {
    DynamicObject::new(name, &resource("storage.acme.example", "BucketInfo"))
        .data(json!({"spec": {"bucket": "photos", "factor": 2}}))
}

#[tokio::test]
async fn creates_and_is_refused() {
    let (url, _) = start().await;
    let info = resource("storage.acme.example", "BucketInfo");
    let api: Api<DynamicObject> = Api::namespaced_with(client(&url), "default", &info);
    let answer = api.create(&PostParams::default(), &ask("q")).await.unwrap();
    assert_eq!(answer.data["status"]["size"], 84);
    assert_eq!(answer.name_any(), "q");
    assert!(answer.metadata.creation_timestamp.is_some());
    let dry = PostParams { dry_run: true, ..PostParams::default() };
    assert_eq!(api.create(&dry, &ask("q")).await.unwrap().data["status"]["dry"], true);
    let mut wrong = ask("q");
    wrong.data["spec"]["factor"] = 11.into();
    for (error, code, reason) in [
        (api.create(&PostParams::default(), &wrong).await.unwrap_err(), 422, "Invalid"),
        (api.get("q").await.unwrap_err(), 405, "MethodNotAllowed"),
        (api.list(&ListParams::default()).await.unwrap_err(), 405, "MethodNotAllowed"),
        (api.delete("q", &Default::default()).await.unwrap_err(), 405, "MethodNotAllowed"),
    ] {
        let kube::Error::Api(status) = error else { panic!("{error}") };
        assert_eq!((status.code, &*status.reason), (code, reason));
    }
}

#[tokio::test]
async fn workspaces_are_apart() {
    let (url, _) = start().await;
    let sums = resource("math.acme.example", "Sum");
    let sum = DynamicObject::new("s", &sums).data(json!({"spec": {"numbers": [1, 2]}}));
    let in_team: Api<DynamicObject> = Api::default_namespaced_with(client(&format!("{url}/clusters/root:team")), &sums);
    let answer = in_team.create(&PostParams::default(), &sum).await.unwrap();
    assert_eq!(answer.data["status"], json!({"count": 2, "workspace": "root:team"}));
    let in_root: Api<DynamicObject> = Api::default_namespaced_with(client(&url), &sums);
    assert!(in_root.create(&PostParams::default(), &sum).await.is_err());
}

#[tokio::test]
async fn discovers() {
    let (url, _) = start().await;
    for discovery in [
        Discovery::new(client(&url)).run().await.unwrap(),
        Discovery::new(client(&url)).run_aggregated().await.unwrap(),
    ] {
        let (resource, capabilities) =
            discovery.resolve_gvk(&Gvk::gvk("storage.acme.example", "v1", "BucketInfo")).unwrap();
        assert_eq!(resource.plural, "bucketinfos");
        assert_eq!(capabilities.scope, Scope::Namespaced);
        assert!(capabilities.supports_operation(verbs::CREATE));
        assert!(!capabilities.supports_operation(verbs::LIST));
        let (_, stored) = discovery.resolve_gvk(&Gvk::gvk("s3.acme.example", "v1", "Bucket")).unwrap();
        assert!(stored.supports_operation(verbs::WATCH));
    }
}

#[tokio::test]
async fn lists_in_chunks() {
    let (url, _) = start().await;
    let api: Api<DynamicObject> = Api::all_with(client(&url), &resource("s3.acme.example", "Bucket"));
    let mut names = Vec::new();
    let mut page = ListParams::default().limit(1);
    loop {
        let list = api.list(&page).await.unwrap();
        names.extend(list.items.iter().map(ResourceExt::name_any));
        match list.metadata.continue_ {
            Some(token) => page = ListParams::default().limit(1).continue_token(&token),
            None => break,
        }
    }
    assert_eq!(names, ["backups", "photos", "logs"]);
    let gold = api.list(&ListParams::default().labels("tier=gold")).await.unwrap();
    assert_eq!(gold.items.len(), 1);
}

#[tokio::test]
async fn watches() {
    let (url, workspaces) = start().await;
    let objects = Arc::clone(workspaces.root().unwrap().objects());
    for config in [watcher::Config::default(), watcher::Config::default().streaming_lists()] {
        let api: Api<DynamicObject> = Api::all_with(client(&url), &resource("s3.acme.example", "Bucket"));
        let mut events = std::pin::pin!(watcher(api, config));
        let mut initial = Vec::new();
        loop {
            match events.try_next().await.unwrap().unwrap() {
                watcher::Event::InitApply(object) => initial.push(object.name_any()),
                watcher::Event::InitDone => break,
                _ => {}
            }
        }
        initial.sort();
        assert_eq!(initial, ["backups", "logs", "photos"]);
        let added = objects.apply(Incoming {
            kind: GroupVersionKind::new("s3.acme.example", "v1", "Bucket"),
            namespace: "default".into(),
            name: "new".into(),
            value: serde_json::from_value(json!({
                "apiVersion": "s3.acme.example/v1", "kind": "Bucket", "metadata": {"name": "new", "namespace": "default"},
            }))
            .unwrap(),
            schema: None,
            arrived: "2026-01-01T00:00:00Z".into(),
        });
        match events.next().await.unwrap().unwrap() {
            watcher::Event::Apply(object) => assert_eq!(object.name_any(), "new"),
            other => panic!("{other:?}"),
        }
        objects.delete(&added.key());
        match events.next().await.unwrap().unwrap() {
            watcher::Event::Delete(object) => {
                assert_eq!(object.name_any(), "new");
                assert_ne!(object.resource_version().unwrap(), added.revision().to_string(), "that of the deletion");
            }
            other => panic!("{other:?}"),
        }
    }
}
