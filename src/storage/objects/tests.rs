//! Tests of the module above.
use cel::{Value, value::MapBuilder};

use super::*;

fn map(entries: Vec<(&str, Value)>) -> Value {
    let mut builder = MapBuilder::default();
    for (key, value) in entries {
        builder.insert(key, value);
    }
    Value::Map(builder.build())
}

fn pods() -> GroupVersionKind {
    GroupVersionKind::new("", "v1", "Pod")
}

fn pod(namespace: &str, name: &str, app: &str, phase: &str) -> Incoming {
    Incoming {
        kind: pods(),
        namespace: namespace.into(),
        name: name.into(),
        value: map(vec![
            ("metadata", map(vec![("labels", map(vec![("app", Value::from(app))]))])),
            ("spec", map(vec![("phase", Value::from(phase))])),
        ]),
        schema: None,
        arrived: "2026-01-01T00:00:00Z".into(),
    }
}

fn names(listing: &Listing) -> Vec<String> {
    listing.items.iter().map(|o| format!("{}/{}", o.namespace(), o.name())).collect()
}

fn everything(objects: &Objects) -> Listing {
    objects.list(&pods(), None, &LabelSelector::everything(), &FieldSelector::everything())
}

fn print(event: Event) -> String {
    match event {
        Event::Added(o) => format!("added {}", o.name()),
        Event::Modified(o) => format!("modified {}", o.name()),
        Event::Deleted { object, .. } => format!("deleted {}", object.name()),
    }
}

fn drain(watch: &mut Watch) -> Vec<String> {
    std::iter::from_fn(|| watch.try_next().unwrap().map(print)).collect()
}

#[test]
fn lists_are_sorted_and_selected() {
    let objects = Objects::new(0);
    for (namespace, name, app) in [("b", "z", "x"), ("b", "a", "y"), ("a", "m", "x")] {
        objects.apply(pod(namespace, name, app, ""));
    }
    assert_eq!(names(&everything(&objects)), ["a/m", "b/a", "b/z"]);
    let labels = LabelSelector::parse("app=x").unwrap();
    assert_eq!(names(&objects.list(&pods(), Some("b"), &labels, &FieldSelector::everything())), ["b/z"]);
    let fields = FieldSelector::parse("metadata.name=m", "", "Pod").unwrap();
    assert_eq!(names(&objects.list(&pods(), None, &LabelSelector::everything(), &fields)), ["a/m"]);
    assert!(objects.get(&pods(), "b", "m").is_none());
}

#[test]
fn objects_are_stamped_and_equal_arrivals_change_nothing() {
    let objects = Objects::new(41);
    let first = objects.apply(pod("a", "m", "x", "1"));
    assert_eq!((first.revision(), first.generation()), (42, 1));
    assert!(Arc::ptr_eq(&first, &objects.apply(pod("a", "m", "x", "1"))));
    assert_eq!(objects.revision(), 42);
    let relabelled = objects.apply(pod("a", "m", "y", "1"));
    assert_eq!((relabelled.revision(), relabelled.generation()), (43, 1));
    let changed = objects.apply(pod("a", "m", "y", "2"));
    assert_eq!((changed.revision(), changed.generation()), (44, 2));
    let text = |field: &str| {
        let Value::Map(object) = changed.value() else { panic!() };
        let Some(Value::Map(metadata)) = object.get("metadata") else { panic!() };
        match metadata.get(field) {
            Some(Value::String(text)) => text.to_string(),
            other => panic!("{field}: {other:?}"),
        }
    };
    assert_eq!(
        (text("name"), text("namespace"), text("resourceVersion"), text("creationTimestamp")),
        ("m".into(), "a".into(), "44".into(), "2026-01-01T00:00:00Z".into())
    );
    assert_eq!(text("uid").len(), 36);
}

#[test]
fn watches_see_what_their_selector_sees() {
    let objects = Arc::new(Objects::new(0));
    objects.apply(pod("a", "before", "x", ""));
    let labels = LabelSelector::parse("app=x").unwrap();
    let mut watch = objects.watch(&pods(), Some("a"), labels, FieldSelector::everything(), None).unwrap();
    assert_eq!(drain(&mut watch), Vec::<String>::new());
    objects.apply(pod("a", "m", "x", "1"));
    objects.apply(pod("a", "m", "x", "2"));
    objects.apply(pod("b", "elsewhere", "x", ""));
    objects.apply(pod("a", "m", "y", "2"));
    objects.apply(pod("a", "m", "x", "2"));
    objects.delete(&pod("a", "m", "", "").key());
    assert_eq!(drain(&mut watch), ["added m", "modified m", "deleted m", "added m", "deleted m"]);
    assert_eq!(watch.position(), Some(objects.revision()));
}

#[test]
fn replacing_all_is_seen_as_the_difference() {
    let objects = Arc::new(Objects::new(0));
    objects.replace_all(vec![pod("a", "stays", "x", ""), pod("a", "goes", "x", ""), pod("a", "changes", "x", "1")]);
    let at = objects.revision();
    objects.replace_all(vec![pod("a", "changes", "x", "2"), pod("a", "stays", "x", ""), pod("a", "comes", "x", "")]);
    let mut watch =
        objects.watch(&pods(), None, LabelSelector::everything(), FieldSelector::everything(), Some(at)).unwrap();
    assert_eq!(drain(&mut watch), ["deleted goes", "modified changes", "added comes"]);
    assert_eq!(names(&everything(&objects)), ["a/changes", "a/comes", "a/stays"]);
}

#[test]
fn what_is_too_old_or_from_another_life_is_refused() {
    let objects = Arc::new(Objects::new(1_000));
    let watch = |after| {
        objects
            .watch(&pods(), None, LabelSelector::everything(), FieldSelector::everything(), Some(after))
            .map(|_| ())
            .map_err(|e| e.to_string())
    };
    assert_eq!(watch(999), Err("too old resource version: 999 (1000)".into()));
    assert_eq!(watch(1_000), Ok(()));
    assert_eq!(watch(1_001), Err("too old resource version: 1001 (1000)".into()));
    let mut slow =
        objects.watch(&pods(), None, LabelSelector::everything(), FieldSelector::everything(), None).unwrap();
    for i in 0..5_000 {
        objects.apply(pod("a", "m", "x", &i.to_string()));
    }
    assert!(slow.try_next().is_err());
    assert!(watch(1_001).is_err());
    assert_eq!(watch(5_999), Ok(()));
}

#[tokio::test]
async fn a_waiting_watch_wakes() {
    let objects = Arc::new(Objects::new(0));
    let mut watch =
        objects.watch(&pods(), None, LabelSelector::everything(), FieldSelector::everything(), None).unwrap();
    let waiting = tokio::spawn(async move { watch.next().await.map(print) });
    tokio::task::yield_now().await;
    objects.apply(pod("a", "m", "x", ""));
    assert_eq!(waiting.await.unwrap(), Ok("added m".into()));
}

#[test]
fn a_collections_revision_changes_with_its_objects_alone() {
    let objects = Objects::new(100);
    let of = |namespace| objects.collection_revision(&pods(), namespace);
    assert_eq!((of(None), of(Some("a"))), (0, 0));
    objects.apply(pod("a", "x", "web", "Running"));
    let before = (of(None), of(Some("a")));
    objects.apply(pod("a", "x", "web", "Running"));
    assert_eq!((of(None), of(Some("a"))), before);
    objects.apply(pod("b", "x", "web", "Running"));
    assert_ne!(of(None), before.0);
    assert_eq!(of(Some("a")), before.1);
    objects.apply(pod("a", "y", "web", "Running"));
    let two = of(Some("a"));
    assert_ne!(two, before.1);
    let key = |name: &str| ObjectKey { kind: pods(), namespace: "a".into(), name: name.into() };
    objects.delete(&key("y"));
    assert!(![two, before.1].contains(&of(Some("a"))), "one fewer is not what was before");
    objects.delete(&key("x"));
    assert_eq!(of(Some("a")), 0);
    objects.apply(pod("a", "x", "web", "Running"));
    assert!(of(Some("a")) > two, "revisions never come again");
    assert_eq!(everything(&objects).collection_revision, of(None));
}

/// Whatever changes, a list is what a look at every object finds, and so is what expressions get of it.
#[test]
fn the_index_of_labels_finds_what_a_look_at_all_finds() {
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut draw = |n: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random % n
    };
    let selectors: Vec<_> =
        ["", "app=a", "app=b,tier=x", "app in (a,b)", "app!=a", "app", "!app", "tier=x,app!=b", "no=no"]
            .map(|text| LabelSelector::parse(text).unwrap())
            .into();
    let objects = Objects::new(0);
    for step in 0..600 {
        let (namespace, name) = (["m", "n"][draw(2) as usize], format!("o{}", draw(8)));
        let mut object = pod(namespace, &name, "", ["1", "2"][draw(2) as usize]);
        let labels =
            [("app", draw(4)), ("tier", draw(4))].map(|(key, value)| (key, ["a", "b", "x", ""][value as usize]));
        let labels = labels.into_iter().filter(|(_, value)| !value.is_empty());
        let labels = map(labels.map(|(key, value)| (key, Value::from(value))).collect());
        object.value = map(vec![("metadata", map(vec![("labels", labels)]))]);
        match draw(3) {
            0 => drop(objects.delete(&object.key())),
            _ => drop(objects.apply(object)),
        }
        let all = everything(&objects).items;
        for (selector, namespace) in selectors.iter().flat_map(|s| [(s, None), (s, Some("m")), (s, Some("none"))]) {
            let is_there = |o: &&Arc<Object>| namespace.is_none_or(|namespace| namespace == &**o.namespace());
            let expected: Vec<_> =
                all.iter().filter(is_there).filter(|o| selector.matches(o.labels())).map(|o| o.revision()).collect();
            let listing = objects.list(&pods(), namespace, selector, &FieldSelector::everything());
            let listed: Vec<_> = listing.items.iter().map(|o| o.revision()).collect();
            assert_eq!(listed, expected, "{step} {selector:?} {namespace:?}");
            let (selection, revision) = objects.select(&pods(), namespace, selector);
            assert_eq!(
                (&*selection.revisions, revision),
                (&*expected, listing.collection_revision),
                "{step} {selector:?}"
            );
            assert!(selection.typed.iter().zip(&listing.items).all(|(typed, object)| typed == object.typed()));
            assert_eq!(selection.typed.len(), expected.len());
        }
    }
    for key in everything(&objects).items.iter().map(|o| o.key()) {
        objects.delete(&key);
    }
    objects.read(|state| assert!(state.kinds.values().all(|table| table.namespaces.is_empty())));
}
