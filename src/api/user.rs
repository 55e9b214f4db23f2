//! Who asks, in the words of Kubernetes' authentication API.
//!
//! Absent: how it is found out (server), what they may do (storage's authorizer).
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The group whose members may do everything.
pub const MASTERS: &str = "system:masters";
/// The group of everyone who was authenticated.
pub const AUTHENTICATED: &str = "system:authenticated";
/// The group of everyone who was not.
pub const UNAUTHENTICATED: &str = "system:unauthenticated";

/// The user of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct UserInfo {
    /// The name that identifies this user among all active users.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub username: String,
    /// A unique value that identifies this user across time.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub uid: String,
    /// The names of the groups this user is a part of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    /// Any additional information provided by the authenticator.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub extra: BTreeMap<String, Vec<String>>,
}

impl UserInfo {
    /// The embedded server's default user: `admin` of `system:masters`.
    pub fn admin() -> UserInfo {
        UserInfo { username: "admin".into(), groups: vec![MASTERS.into(), AUTHENTICATED.into()], ..UserInfo::default() }
    }

    /// The user that a service account is, by its name `system:serviceaccount:<namespace>:<name>`.
    pub fn service_account(username: &str) -> UserInfo {
        let namespace = username.split(':').nth(2).unwrap_or_default();
        UserInfo {
            username: username.into(),
            groups: vec![
                "system:serviceaccounts".into(),
                format!("system:serviceaccounts:{namespace}"),
                AUTHENTICATED.into(),
            ],
            ..UserInfo::default()
        }
    }

    /// Whether the user is in a group.
    pub fn in_group(&self, group: &str) -> bool {
        self.groups.iter().any(|g| g == group)
    }
}
