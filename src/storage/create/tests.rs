//! Answers that are reused are those that would have been made.
use std::{
    fmt::Write as _,
    sync::{Arc, LazyLock},
};

use futures_util::{FutureExt as _, future::join_all};

use super::*;
use crate::storage::{
    answers::Answers,
    directory::Directory,
    fair::Bounds,
    objects::{GroupVersionKind, Incoming, ObjectKey},
};

const SCHEMAS: &str = r#"
apiVersion: celandine.dev/v1alpha1
kind: EphemeralSchema
metadata: {name: infos.acme.example}
spec:
  group: acme.example
  scope: Namespaced
  names: {kind: Info, plural: infos}
  versions:
  - name: v1
    served: true
    schema:
      simple:
        spec: {box: string | required=true, unread: string, since: string | format=date-time, most: integer | default=2}
    projection:
      sources:
      - {id: box, externalRef: {apiVersion: v1, kind: Box, metadata: {name: "${object.spec.box}"}}}
      - id: things
        externalRef:
          apiVersion: v1
          kind: Thing
          metadata: {namespace: "${object.metadata.namespace}"}
          selector: {matchLabels: {box: "${object.spec.box}"}}
      validations:
      - {expression: "!has(object.spec.since) || object.spec.since < request.time", message: must lie in the past}
      - {expression: "things.size() <= object.spec.most", message: too many}
      status:
        colour: ${box.spec.colour}
        sum: "${things.map(t, int(t.spec.size)).sum()}"
    cache: {ttlSeconds: 3600}
---
apiVersion: celandine.dev/v1alpha1
kind: EphemeralSchema
metadata: {name: totals.acme.example}
spec:
  group: acme.example
  scope: Namespaced
  names: {kind: Total, plural: totals}
  versions:
  - name: v1
    served: true
    schema: {simple: {spec: {label: string}}}
    projection:
      sources:
      - {id: things, externalRef: {apiVersion: v1, kind: Thing, metadata: {namespace: ""}, selector: {}, readAs: Provider}}
      status:
        all: ${things.size()}
        asked: "${request.userInfo.username} of ${object.metadata.namespace}"
    cache: {ttlSeconds: 10}
---
apiVersion: celandine.dev/v1alpha1
kind: EphemeralSchema
metadata: {name: rights.acme.example}
spec:
  group: acme.example
  scope: Namespaced
  names: {kind: Right, plural: rights}
  versions:
  - name: v1
    served: true
    schema: {simple: {spec: {resource: string | required=true}}}
    projection:
      variables:
      - name: check
        expression: >-
          authorizer.group('').resource(object.spec.resource).namespace(object.metadata.namespace).check('get')
      status: {may: "${variables.check.allowed()}", why: "${variables.check.reason()}"}
    cache: {ttlSeconds: 3600}
---
apiVersion: celandine.dev/v1alpha1
kind: EphemeralSchema
metadata: {name: clocks.acme.example}
spec:
  group: acme.example
  scope: Namespaced
  names: {kind: Clock, plural: clocks}
  versions:
  - name: v1
    served: true
    schema: {simple: {spec: {x: string}}}
    projection: {status: {time: "${request.time}"}}
    cache: {ttlSeconds: 3600}
    limits: {rate: {requests: 1, perSeconds: 60, burst: 2}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: asker}
rules: [{apiGroups: [acme.example], resources: ["*"], verbs: [create]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: reader}
rules: [{apiGroups: [""], resources: [boxes, things, "boxs"], verbs: [get, list]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: askers}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: asker}
subjects: [{kind: Group, apiGroup: rbac.authorization.k8s.io, name: "system:authenticated"}]
"#;

/// A workspace and what its creates share.
struct World {
    folder: tempfile::TempDir,
    directory: Directory,
    shared: Shared,
}

impl World {
    fn new(shared: Shared) -> World {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("all.yaml"), SCHEMAS).unwrap();
        let (directory, report) = Directory::load(folder.path()).unwrap();
        assert!(!report.has_errors(), "{}", report.render(crate::storage::manifest::Color::Never));
        World { folder, directory, shared }
    }

    fn with_answers() -> World {
        World::new(Shared { answers: Some(Answers::default()), ..Shared::default() })
    }

    fn workspace(&self) -> Arc<Workspace> {
        self.directory.workspaces().root().unwrap()
    }

    /// `kind namespace/name {json of the object's fields}`
    fn put(&self, kind: &str, namespace: &str, name: &str, fields: &str) {
        let group = if kind == "RoleBinding" { "rbac.authorization.k8s.io" } else { "" };
        self.workspace().objects().apply(Incoming {
            kind: GroupVersionKind::new(group, "v1", kind),
            namespace: namespace.into(),
            name: name.into(),
            value: serde_json::from_str(fields).unwrap(),
            schema: None,
            arrived: "2026-01-01T00:00:00Z".into(),
        });
    }

    fn delete(&self, kind: &str, namespace: &str, name: &str) {
        let group = if kind == "RoleBinding" { "rbac.authorization.k8s.io" } else { "" };
        let kind = GroupVersionKind::new(group, "v1", kind);
        self.workspace().objects().delete(&ObjectKey { kind, namespace: namespace.into(), name: name.into() });
    }

    fn thing(&self, namespace: &str, name: &str, of: &str, size: u64) {
        self.put(
            "Thing",
            namespace,
            name,
            &format!(r#"{{"metadata":{{"labels":{{"box":"{of}"}}}},"spec":{{"size":{size}}}}}"#),
        );
    }

    fn allow(&self, namespace: &str, user: &str) {
        self.put(
            "RoleBinding",
            namespace,
            user,
            &format!(
                r#"{{"roleRef":{{"kind":"ClusterRole","name":"reader"}},"subjects":[{{"kind":"User","name":"{user}"}}]}}"#
            ),
        );
    }

    /// What one is answered, and where that came from.
    async fn ask(&self, shared: &Shared, ask: &Ask<'_>) -> (String, Option<CacheUse>) {
        let workspace = self.workspace();
        let catalog = workspace.catalog();
        let plural = format!("{}s", ask.kind.to_lowercase());
        let (kind, version) = catalog.ephemeral_version("acme.example", "v1", &plural).unwrap();
        let target = Target { workspace: &workspace, catalog: &catalog, kind, version };
        let body = format!(
            r#"{{"apiVersion":"acme.example/v1","kind":"{}","metadata":{{"name":"{}"}},"spec":{}}}"#,
            ask.kind, ask.name, ask.spec
        );
        let request = CreateRequest {
            namespace: ask.namespace,
            body: body.as_bytes(),
            content_type: None,
            field_validation: FieldValidation::Strict,
            dry_run: ask.dry_run,
            user: &UserInfo {
                username: ask.user.into(),
                groups: vec!["system:authenticated".into()],
                ..UserInfo::default()
            },
            moment: *NOON,
            timeout: None,
        };
        authorize(&target, request.user, request.namespace).await.unwrap();
        match create(shared, target, &request).await {
            Ok(created) => (serde_json::to_string(&created.object).unwrap(), Some(created.timing.cache)),
            Err(status) => (serde_json::to_string(&status).unwrap(), None),
        }
    }

    /// Asks; the answer must be one that was evaluated for this request.
    #[track_caller]
    fn check(&self, ask: &Ask<'_>) -> Option<CacheUse> {
        let (answer, cache) = block_on(self.ask(&self.shared, ask));
        let (own, _) = block_on(self.ask(&Shared::default(), ask));
        assert_eq!(answer, own, "{ask:?}");
        cache
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
}

static NOON: LazyLock<Moment> =
    LazyLock::new(|| Moment { time: "2026-06-01T12:00:00Z".parse().unwrap(), entropy: Entropy::default() });

#[derive(Clone, Debug)]
struct Ask<'a> {
    kind: &'a str,
    namespace: &'a str,
    name: &'a str,
    user: &'a str,
    spec: &'a str,
    dry_run: bool,
}

const INFO: Ask<'_> =
    Ask { kind: "Info", namespace: "a", name: "x", user: "jane", spec: r#"{"box":"one"}"#, dry_run: false };

/// A world in which jane may read the box `one` with two things.
fn furnished() -> World {
    let world = World::with_answers();
    for namespace in ["a", "b"] {
        world.put("Box", namespace, "one", r#"{"spec":{"colour":"red"}}"#);
        world.thing(namespace, "t1", "one", 1);
        world.thing(namespace, "t2", "one", 2);
    }
    world.allow("a", "jane");
    world.allow("b", "jane");
    world
}

#[test]
fn equal_requests_are_answered_from_memory() {
    let world = furnished();
    assert_eq!(world.check(&INFO), Some(CacheUse::Miss));
    for same in [
        INFO,
        Ask { name: "y", ..INFO },
        Ask { dry_run: true, ..INFO },
        Ask { spec: r#"{"box":"one","unread":"this"}"#, ..INFO },
        // What early validations read is looked at for each request, and does not make answers differ.
        Ask { spec: r#"{"box":"one","since":"2026-01-01T00:00:00Z"}"#, ..INFO },
    ] {
        assert_eq!(world.check(&same), Some(CacheUse::Hit), "{same:?}");
    }
    for other in [
        Ask { namespace: "b", ..INFO },
        Ask { spec: r#"{"box":"one","most":3}"#, ..INFO },
        Ask { kind: "Total", spec: "{}", ..INFO },
    ] {
        assert_eq!(world.check(&other), Some(CacheUse::Miss), "{other:?}");
        assert_eq!(world.check(&other), Some(CacheUse::Hit), "{other:?}");
    }
    assert_eq!(world.check(&Ask { spec: r#"{"box":"one","since":"2027-01-01T00:00:00Z"}"#, ..INFO }), None);
    let clock = Ask { kind: "Clock", spec: "{}", ..INFO };
    assert_eq!((world.check(&clock), world.check(&clock)), (Some(CacheUse::Bypass), Some(CacheUse::Bypass)));
}

#[test]
fn a_change_of_what_was_read_ends_an_answer() {
    let world = furnished();
    type Change = fn(&World);
    let changes: [(&str, Change, CacheUse); 8] = [
        ("another namespace", |w| w.thing("b", "t3", "one", 9), CacheUse::Hit),
        ("another box's thing", |w| w.thing("a", "t3", "two", 9), CacheUse::Hit),
        ("another box", |w| w.put("Box", "a", "two", r#"{"spec":{"colour":"blue"}}"#), CacheUse::Hit),
        ("the box", |w| w.put("Box", "a", "one", r#"{"spec":{"colour":"blue"}}"#), CacheUse::Miss),
        ("a thing", |w| w.thing("a", "t1", "one", 7), CacheUse::Miss),
        ("one thing less", |w| w.delete("Thing", "a", "t2"), CacheUse::Miss),
        ("one thing is another box's", |w| w.thing("a", "t1", "two", 7), CacheUse::Miss),
        ("one thing more", |w| w.thing("a", "t9", "one", 7), CacheUse::Miss),
    ];
    world.check(&INFO);
    for (what, change, expected) in changes {
        change(&world);
        assert_eq!(world.check(&INFO), Some(expected), "{what}");
        assert_eq!(world.check(&INFO), Some(CacheUse::Hit), "{what}");
    }
    // Failures are kept too, and end as soon.
    world.delete("Box", "a", "one");
    assert_eq!(world.check(&INFO), None);
    assert_eq!(world.check(&INFO), None);
    world.put("Box", "a", "one", r#"{"spec":{"colour":"red"}}"#);
    assert_eq!(world.check(&INFO), Some(CacheUse::Miss));
}

#[test]
fn nobody_is_answered_what_they_may_not_read() {
    let world = furnished();
    assert_eq!(world.check(&INFO), Some(CacheUse::Miss));
    let sam = Ask { user: "sam", ..INFO };
    assert_eq!(world.check(&sam), None);
    assert!(block_on(world.ask(&world.shared, &sam)).0.contains("forbidden"));
    world.allow("a", "sam");
    assert_eq!(world.check(&sam), Some(CacheUse::Hit));
    world.delete("RoleBinding", "a", "sam");
    assert_eq!(world.check(&sam), None);
    assert_eq!(world.check(&INFO), Some(CacheUse::Hit));
    // What is read with the provider's rights is for all, but here it says who asks.
    for (user, expected) in [("jane", CacheUse::Miss), ("jane", CacheUse::Hit), ("sam", CacheUse::Miss)] {
        assert_eq!(world.check(&Ask { kind: "Total", user, spec: "{}", ..INFO }), Some(expected));
    }
}

#[test]
fn what_the_authorizer_said_is_asked_again() {
    let world = furnished();
    let right = Ask { kind: "Right", spec: r#"{"resource":"things"}"#, ..INFO };
    let sam = Ask { user: "sam", ..right.clone() };
    let uses = |ask: &Ask<'_>| (world.check(ask), world.check(ask));
    assert_eq!(uses(&right), (Some(CacheUse::Miss), Some(CacheUse::Hit)));
    assert_eq!(uses(&sam), (Some(CacheUse::Miss), Some(CacheUse::Hit)));
    world.allow("a", "sam");
    assert_eq!(world.check(&right), Some(CacheUse::Hit));
    assert_eq!(world.check(&sam), Some(CacheUse::Miss));
}

#[test]
fn a_new_plan_answers_anew() {
    let mut world = furnished();
    assert_eq!(world.check(&INFO), Some(CacheUse::Miss));
    let changed = SCHEMAS.replace("${box.spec.colour}", "${box.spec.colour + '!'}");
    std::fs::write(world.folder.path().join("all.yaml"), changed).unwrap();
    world.directory.reload().unwrap();
    // Loading removes what the directory does not have.
    world.put("Box", "a", "one", r#"{"spec":{"colour":"red"}}"#);
    world.allow("a", "jane");
    assert_eq!(world.check(&INFO), Some(CacheUse::Miss));
    assert!(block_on(world.ask(&world.shared, &INFO)).0.contains("red!"));
}

#[tokio::test(start_paused = true)]
async fn answers_end() {
    let world = furnished();
    let total = Ask { kind: "Total", spec: "{}", ..INFO };
    let mut uses = vec![];
    for seconds in [0, 9, 2, 0] {
        tokio::time::advance(Duration::from_secs(seconds)).await;
        uses.push(world.ask(&world.shared, &total).await.1.unwrap());
    }
    assert_eq!(uses, [CacheUse::Miss, CacheUse::Hit, CacheUse::Miss, CacheUse::Hit]);
}

#[tokio::test]
async fn equal_requests_in_flight_share_one_evaluation() {
    let world = furnished();
    let answers = join_all((0..20).map(|_| world.ask(&world.shared, &INFO))).await;
    let count = |wanted| answers.iter().filter(|(_, cache)| *cache == Some(wanted)).count();
    assert_eq!((count(CacheUse::Miss), count(CacheUse::Coalesced)), (1, 19));
    assert!(answers.iter().all(|(answer, _)| *answer == answers[0].0));
}

#[tokio::test]
async fn a_leader_that_goes_away_fails_nobody() {
    let world = furnished();
    let mut leader = Box::pin(world.ask(&world.shared, &INFO));
    assert!(leader.as_mut().now_or_never().is_none());
    let followers = join_all((0..5).map(|_| world.ask(&world.shared, &INFO)));
    let mut followers = Box::pin(followers);
    assert!(followers.as_mut().now_or_never().is_none());
    drop(leader);
    let answers = followers.await;
    let count = |wanted| answers.iter().filter(|(_, cache)| *cache == Some(wanted)).count();
    assert_eq!((count(CacheUse::Miss), count(CacheUse::Coalesced)), (1, 4));
}

#[tokio::test]
async fn followers_see_what_changed_before_they_came() {
    let world = furnished();
    let mut leader = Box::pin(world.ask(&world.shared, &INFO));
    assert!(leader.as_mut().now_or_never().is_none(), "it has read, and waits for its turn");
    world.put("Box", "a", "one", r#"{"spec":{"colour":"green"}}"#);
    let (old, (new, _)) = tokio::join!(leader, world.ask(&world.shared, &INFO));
    assert!(old.0.contains("red"), "{old:?}");
    assert!(new.contains("green"), "{new}");
    assert!(world.ask(&world.shared, &INFO).await.0.contains("green"));
}

#[tokio::test]
async fn followers_may_only_have_what_they_may_read() {
    let world = furnished();
    let sam = Ask { user: "sam", ..INFO };
    let ((jane, _), (sam, _)) = tokio::join!(world.ask(&world.shared, &INFO), world.ask(&world.shared, &sam));
    assert!(jane.contains("red"), "{jane}");
    assert!(sam.contains("forbidden") && !sam.contains("red"), "{sam}");
}

#[tokio::test(start_paused = true)]
async fn too_many_creates_are_refused_with_the_wait() {
    let bounds = Bounds { seats: 2, queue_per_flow: 1, queue: 10, wait: Duration::from_secs(5) };
    let shared = Shared { throttles: Some(Throttles::default()), seats: Some(Fair::new(bounds)), ..Shared::default() };
    let world = World::new(shared);
    let clock = Ask { kind: "Clock", spec: "{}", ..INFO };
    let mut codes = String::new();
    for _ in 0..3 {
        let (answer, cache) = world.ask(&world.shared, &clock).await;
        let _ = write!(codes, "{} ", cache.is_some());
        if cache.is_none() {
            assert!(answer.contains(r#""retryAfterSeconds":60"#) && answer.contains("RateLimited"), "{answer}");
        }
    }
    assert_eq!(codes, "true true false ");
    let totals = (0..4).map(|_| Ask { kind: "Total", spec: "{}", ..INFO });
    let totals: Vec<_> = totals.collect();
    let answers = join_all(totals.iter().map(|ask| world.ask(&world.shared, ask))).await;
    let refused: Vec<_> = answers.iter().filter(|(_, cache)| cache.is_none()).collect();
    // One of two seats, one in the queue.
    assert_eq!(refused.len(), 2, "{answers:?}");
    assert!(refused.iter().all(|(answer, _)| answer.contains(r#""retryAfterSeconds":1"#)), "{refused:?}");
}

/// The law: over any sequence of changes, users and requests, answers are those that would be made anew.
#[test]
fn answers_with_and_without_memory_are_equal() {
    let mut hits = 0;
    let mut asked = 0;
    for seed in 1..=6_u64 {
        let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut draw = |n: u64| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random % n
        };
        let mut pick = |from: &[&'static str]| from[draw(from.len() as u64) as usize];
        let world = World::with_answers();
        for _ in 0..300 {
            let (namespace, user, of) = (pick(&["a", "b"]), pick(&["jane", "sam", "kim"]), pick(&["one", "two"]));
            match pick(&["ask", "ask", "ask", "ask", "ask", "ask", "thing", "box", "remove", "rights"]) {
                "thing" => {
                    let size = pick(&["1", "2", "3"]).parse().unwrap();
                    world.thing(namespace, pick(&["t1", "t2", "t3"]), of, size);
                }
                "box" => match pick(&["put", "remove"]) {
                    "put" => {
                        let colour = pick(&["red", "blue"]);
                        world.put("Box", namespace, of, &format!(r#"{{"spec":{{"colour":"{colour}"}}}}"#));
                    }
                    _ => world.delete("Box", namespace, of),
                },
                "remove" => world.delete("Thing", namespace, pick(&["t1", "t2", "t3"])),
                "rights" => match pick(&["allow", "allow", "remove"]) {
                    "allow" => world.allow(namespace, user),
                    _ => world.delete("RoleBinding", namespace, user),
                },
                _ => {
                    let kind = pick(&["Info", "Info", "Info", "Total", "Right", "Clock"]);
                    let spec = match kind {
                        "Info" => {
                            let since =
                                pick(&["", r#","since":"2026-01-01T00:00:00Z""#, r#","since":"2027-01-01T00:00:00Z""#]);
                            format!(r#"{{"box":"{of}","most":{}{since}}}"#, pick(&["1", "2"]))
                        }
                        "Right" => format!(r#"{{"resource":"{}"}}"#, pick(&["things", "pods"])),
                        _ => "{}".to_owned(),
                    };
                    let dry_run = pick(&["yes", "no"]) == "yes";
                    let ask = Ask { kind, namespace, name: pick(&["x", "y"]), user, spec: &spec, dry_run };
                    asked += 1;
                    hits += usize::from(world.check(&ask) == Some(CacheUse::Hit));
                }
            }
        }
    }
    assert!(hits > 50, "{hits} of {asked} answers came from memory: too few to show anything");
}
