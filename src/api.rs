//! Wire types: EphemeralSchema, EgressPolicy, EphemeralReview, Status, UserInfo, and the CRDs generated from them.
//!
//! Absent: behaviour. Documents are validated against the generated schemas and lowered by `storage`.
pub mod crds;
pub mod egress_policy;
pub mod ephemeral_schema;
pub mod http;
pub mod review;
pub mod status;
pub mod user;

pub use crds::crds;
pub use egress_policy::{EgressPolicy, EgressPolicySpec};
pub use ephemeral_schema::{EphemeralSchema, EphemeralSchemaSpec, EphemeralSchemaStatus};
pub use review::EphemeralReview;
pub use status::{ErrorCode, Status, StatusCause, StatusDetails, shown};
pub use user::UserInfo;

/// The API group of Celandine's own kinds.
pub const GROUP: &str = "celandine.dev";
/// Its version.
pub const VERSION: &str = "v1alpha1";
