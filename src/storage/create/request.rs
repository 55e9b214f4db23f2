//! `request`: what expressions know of the request besides its object.
//!
//! Absent: its type (engine).
use cel::{
    Value,
    value::{List, MapBuilder},
};

use super::{CreateRequest, Target};
use crate::{api::UserInfo, storage::strategy::Admitted};

/// The value of `request`, as in Kubernetes' admission requests, plus `time` and `workspace`.
pub(super) fn value(target: &Target<'_>, request: &CreateRequest<'_>, admitted: &Admitted) -> Value {
    let Target { workspace, kind, version, .. } = target;
    object([
        ("uid", request.moment.entropy.uid().into()),
        (
            "kind",
            object([
                ("group", kind.group.clone().into()),
                ("version", version.name.clone().into()),
                ("kind", kind.names.kind.clone().into()),
            ]),
        ),
        (
            "resource",
            object([
                ("group", kind.group.clone().into()),
                ("version", version.name.clone().into()),
                ("resource", kind.names.plural.clone().into()),
            ]),
        ),
        ("name", admitted.name().into()),
        ("namespace", admitted.namespace().into()),
        ("operation", "CREATE".into()),
        ("dryRun", request.dry_run.into()),
        ("userInfo", user_info(request.user)),
        ("time", Value::Timestamp(request.moment.to_cel())),
        ("workspace", workspace.path().clone().into()),
    ])
}

fn user_info(user: &UserInfo) -> Value {
    let strings =
        |texts: &[String]| Value::List(List::from(texts.iter().map(|text| text.as_str().into()).collect::<Vec<_>>()));
    let mut extra = MapBuilder::with_capacity(user.extra.len());
    for (key, values) in &user.extra {
        extra.insert(key.as_str(), strings(values));
    }
    object([
        ("username", user.username.as_str().into()),
        ("uid", user.uid.as_str().into()),
        ("groups", strings(&user.groups)),
        ("extra", extra.build().into()),
    ])
}

fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    let mut map = MapBuilder::with_capacity(N);
    for (name, value) in fields {
        map.insert(name, value);
    }
    map.build().into()
}
