//! The Kubernetes REST protocol: routes, discovery, OpenAPI, negotiation, authn, authz, Status.
//!
//! Absent: what a create answers (storage).
