//! HTTP calls to the outside: everything between "this call is wanted" and "a body arrived", safe against hostile backends,
//! hosts and tenants.
//!
//! | file | owns |
//! |---|---|
//! | `gateway` | the door: [`Gateway`], and [`Egress`], the policies of one workspace |
//! | `call`, `error` | what is asked, what is answered, why not |
//! | `policy` | what an EgressPolicy allows |
//! | `target`, `host`, `path`, `headers` | URLs and header fields in one normal form |
//! | `resolve`, `address`, `network`, `dial` | names to addresses, which may be connected to, sockets |
//! | `channel` | one policy at work |
//! | `secrets`, `sensitive` | credentials |
//! | `pages` | answers of several pages |
//!
//! INVARIANTS: nothing leaves without a policy that allows it; every address of a name is judged and only judged ones are
//! dialled; credentials go to the policy's endpoints only; no error holds an address, a header, a body or a credential.
//! Absent: templates and what of a body is taken (engine), caches of whole answers.
pub mod address;
pub mod call;
mod channel;
pub mod dial;
pub mod error;
pub mod gateway;
pub mod headers;
pub mod host;
pub mod network;
pub mod pages;
mod path;
pub mod policy;
pub mod resolve;
pub mod secrets;
pub mod sensitive;
pub mod target;

pub use call::{Asker, CacheUse, Call, Format, Freshness, Literal, Reply, Timing};
pub use error::{EgressError, Fault};
pub use gateway::{Egress, Gateway, Surroundings};
