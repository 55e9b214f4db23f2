//! Schemas as OpenAPI shows them.
use crate::engine::schema::Structural;

/// The schema as OpenAPI v3. With [`openapi_v2`], what v2 cannot say is left out.
pub fn openapi(_schema: &Structural) -> serde_json::Value {
    serde_json::json!({})
}

/// The subset that OpenAPI v2 can say.
pub fn openapi_v2(_schema: &Structural) -> serde_json::Value {
    serde_json::json!({})
}
