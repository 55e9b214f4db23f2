//! Celandine: a Kubernetes API server for ephemeral resources, created, answered in the create response, never stored.
//!
//! The code map, from the outside in; arrows point inward only (a test holds them):
//!
//! | room | owns |
//! |---|---|
//! | `cli` | the commands: serve, create, check, test, crds |
//! | `server` | the Kubernetes REST protocol: routes, discovery, OpenAPI, negotiation, authn, authz, Status |
//! | `storage` | REST storage of ephemeral kinds: create, catalog, workspaces, caches. The only layer that performs I/O |
//! | `engine` | EphemeralSchema version -> Plan; Plan x inputs -> Outcome. No I/O, async or clocks |
//! | `api` | wire types |
//! | `cel` (crate) | the language |
//!
//! Invariants: an answer is never stored; what is static is reported at once with file, line and column; no input aborts
//! the process; no message carries an address, a body, a header or a credential.
pub mod api;
pub mod cli;
pub mod engine;
pub mod server;
pub mod storage;
