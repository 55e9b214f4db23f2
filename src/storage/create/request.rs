//! `request`: what expressions know of the request besides its object.
//!
//! Absent: its type (engine).
use std::sync::{Arc, LazyLock};

use cel::{
    Value,
    value::{List, MapBuilder},
};

use super::{CreateRequest, Target};
use crate::{api::UserInfo, storage::strategy::Admitted};

/// The names of an object's fields, made once: every request has them.
type Names<const N: usize> = LazyLock<[Arc<str>; N]>;

static REQUEST: Names<10> = LazyLock::new(|| {
    ["uid", "kind", "resource", "name", "namespace", "operation", "dryRun", "userInfo", "time", "workspace"]
        .map(Arc::from)
});
static KIND: Names<3> = LazyLock::new(|| ["group", "version", "kind"].map(Arc::from));
static RESOURCE: Names<3> = LazyLock::new(|| ["group", "version", "resource"].map(Arc::from));
static USER_INFO: Names<4> = LazyLock::new(|| ["username", "uid", "groups", "extra"].map(Arc::from));
static OPERATION: LazyLock<Arc<str>> = LazyLock::new(|| "CREATE".into());

/// The value of `request`, as in Kubernetes' admission requests, plus `time` and `workspace`: of its fields those that the plan
/// reads, which are few.
pub(super) fn value(target: &Target<'_>, request: &CreateRequest<'_>, admitted: &Admitted) -> Value {
    let Target { workspace, kind, version, .. } = target;
    let of = |what: &Arc<str>| [kind.group.clone().into(), version.name.clone().into(), what.clone().into()];
    let [uid, of_kind, resource, name, namespace, operation, dry_run, user, time, path] = &*REQUEST;
    let mut fields = MapBuilder::default();
    let mut field = |name: &Arc<str>, value: &dyn Fn() -> Value| {
        if version.plan.reads_of_request(name) {
            fields.push(name.clone(), value());
        }
    };
    field(uid, &|| request.moment.entropy.uid().into());
    field(of_kind, &|| object(&KIND, of(&kind.names.kind)));
    field(resource, &|| object(&RESOURCE, of(&kind.names.plural)));
    field(name, &|| admitted.name().into());
    field(namespace, &|| admitted.namespace().into());
    field(operation, &|| OPERATION.clone().into());
    field(dry_run, &|| request.dry_run.into());
    field(user, &|| user_info(request.user));
    field(time, &|| Value::Timestamp(request.moment.to_cel()));
    field(path, &|| workspace.path().clone().into());
    fields.build().into()
}

fn user_info(user: &UserInfo) -> Value {
    let strings =
        |texts: &[String]| Value::List(List::from(texts.iter().map(|text| text.as_str().into()).collect::<Vec<_>>()));
    let mut extra = MapBuilder::with_capacity(user.extra.len());
    for (key, values) in &user.extra {
        extra.push(key.as_str(), strings(values));
    }
    let fields = [user.username.as_str().into(), user.uid.as_str().into(), strings(&user.groups), extra.build().into()];
    object(&USER_INFO, fields)
}

fn object<const N: usize>(names: &Names<N>, fields: [Value; N]) -> Value {
    let mut map = MapBuilder::with_capacity(N);
    for (name, value) in names.iter().zip(fields) {
        map.push(name.clone(), value);
    }
    map.build().into()
}
