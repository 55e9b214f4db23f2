//! HTTP calls to the outside: everything between "this call is wanted" and "a body arrived", safe against hostile backends,
//! hosts and tenants.
//!
//! | file | owns |
//! |---|---|
//! | `gateway` | the door: [`Gateway`], and [`Egress`], the policies of one workspace |
//! | `call`, `error` | what is asked, what is answered, why not |
//! | `policy` | what an EgressPolicy allows |
//! | `target`, `host`, `path`, `headers` | URLs and header fields in one normal form |
//! | `resolve`, `address`, `network`, `own`, `dial` | names to addresses, which may be connected to, sockets |
//! | `connector`, `tls`, `exchange` | connections, and one request over them |
//! | `decode`, `body`, `pages` | bodies to values |
//! | `channel` | one policy at work: it calls all of the following |
//! | `throttle`, `breaker`, `retry`, `flight`, `cache`, `memory` | protection of backends and of us |
//! | `stand_in` | tests in the place of backends |
//! | `auth`, `oauth2`, `secrets`, `sensitive`, `echo` | credentials |
//!
//! INVARIANTS: nothing leaves without a policy that allows it; every address of a name is judged and only judged ones are
//! dialled; credentials go to the policy's endpoints only, and what repeats them is no answer; no error holds an address, a header, a body or a credential.
//! Absent: templates and what of a body is taken (engine), caches of whole answers.
pub mod address;
mod auth;
mod body;
mod breaker;
mod cache;
pub mod call;
mod channel;
mod connector;
mod decode;
pub mod dial;
mod echo;
pub mod error;
mod exchange;
mod flight;
pub mod gateway;
pub mod headers;
pub mod host;
pub mod memory;
pub mod network;
mod oauth2;
mod own;
pub mod pages;
mod path;
pub mod policy;
pub mod resolve;
mod retry;
pub mod secrets;
pub mod sensitive;
pub mod stand_in;
pub mod target;
mod throttle;
mod tls;

pub use call::{Asker, CacheUse, Call, Format, Freshness, Literal, Reply, Timing};
pub use error::{EgressError, Fault};
pub use gateway::{Egress, Gateway, Surroundings};
