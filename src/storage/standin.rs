//! What stands in for the compiler until it is there.
use std::sync::Arc;

use crate::engine::{definition::Definition, diagnostic::Diagnostic, kinds::Kinds, schema::Structural};

/// Stands in for the engine's plan.
#[derive(Debug, Default)]
pub struct Plan {
    schema: Arc<Structural>,
}

impl Plan {
    /// What a consumer may send.
    pub fn schema(&self) -> &Arc<Structural> {
        &self.schema
    }

    /// What is published.
    pub fn published(&self) -> &Arc<Structural> {
        &self.schema
    }
}

/// Stands in for the engine's compiler.
pub fn compile(_definition: &Definition, _kinds: &dyn Kinds) -> (Option<Plan>, Vec<Diagnostic>) {
    (Some(Plan::default()), vec![])
}
