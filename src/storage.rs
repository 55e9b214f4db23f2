//! REST storage of ephemeral kinds: create, catalog of plans, workspaces. The only layer that performs I/O.
//!
//! Absent: HTTP requests and responses of clients (server), what expressions mean (engine).
pub mod answers;
pub mod authorizer;
pub mod builtin;
pub mod catalog;
pub mod computing;
pub mod create;
pub mod decode;
pub mod directory;
pub mod egress;
pub mod encode;
pub mod failure;
pub mod fair;
pub mod lower;
pub mod manifest;
pub mod metadata;
pub mod objects;
pub mod selector;
pub mod strategy;
pub mod throttle;
pub mod workspace;
