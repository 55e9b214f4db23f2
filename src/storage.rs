//! REST storage of ephemeral kinds: create, catalog of plans, workspaces. The only layer that performs I/O.
//!
//! Absent: HTTP requests and responses of clients (server), what expressions mean (engine).
pub mod authorizer;
pub mod catalog;
pub mod decode;
pub mod names;
pub mod objects;
pub mod selector;
mod standin;
pub mod workspace;
