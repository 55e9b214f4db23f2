//! Wire types: EphemeralSchema, EgressPolicy, EphemeralReview, Status.
//!
//! Absent: behaviour.
