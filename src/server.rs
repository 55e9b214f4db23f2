//! The Kubernetes REST protocol over hyper: routes, discovery, OpenAPI, negotiation, identity, authorization, Status.
//!
//! | file | owns |
//! |---|---|
//! | `config`, `listen`, `tls` | where and with what certificate to listen, connections, shutdown |
//! | `service` | one request from head to access log: identity, deadline, bounds, the last resort |
//! | `request_info`, `query`, `negotiate`, `identity`, `body` | what a request says |
//! | `routes`, `access` | which part answers, whether the user may |
//! | `create`, `reviews`, `protobuf` | answers to POST |
//! | `read`, `watch`, `table`, `object` | answers to GET of objects |
//! | `published`, `discovery`, `openapi`, `documents` | what is served, told to clients |
//! | `probes` | what tells of the server itself |
//! | `reply`, `status` | bytes and words of answers and failures |
//!
//! Absent: what a create answers, where objects come from (storage).
pub mod access;
pub mod body;
pub mod config;
mod create;
pub mod discovery;
pub mod documents;
pub mod identity;
pub mod listen;
pub mod negotiate;
pub mod object;
pub mod openapi;
pub mod probes;
pub mod protobuf;
pub mod published;
pub mod query;
mod read;
pub mod reply;
pub mod request_info;
mod reviews;
mod routes;
pub mod service;
pub mod status;
pub mod table;
pub mod tls;
mod watch;

pub use config::{Config, Limits, TlsFiles};
pub use listen::{ServeError, Server, bind, serve};
pub use service::Service;
