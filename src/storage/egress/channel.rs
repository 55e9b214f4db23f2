//! One policy at work.
//!
//! Absent: which policies there are (gateway).
use std::sync::Arc;

use tokio::time::Instant;

use crate::{
    api::egress_policy::EgressPolicySpec,
    storage::egress::{
        call::{Call, Reply},
        error::EgressError,
        gateway::Surroundings,
        policy::{PolicyError, Rules},
        target::Target,
    },
};

/// A policy with the state of its calls.
#[derive(Debug)]
pub(super) struct Channel {
    policy: Arc<str>,
    rules: Rules,
}

impl Channel {
    /// A policy at which nothing was called yet.
    pub(super) fn new(
        _surroundings: &Arc<Surroundings>,
        _workspace: &Arc<str>,
        policy: &Arc<str>,
        spec: &EgressPolicySpec,
    ) -> Result<Channel, Vec<PolicyError>> {
        Ok(Channel { policy: Arc::clone(policy), rules: Rules::read(spec)? })
    }

    /// What it allows.
    pub(super) fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Whether a schema may use it, and in a workspace where that is known.
    pub(super) fn admit_asker(&self, schema: &str, workspace: Option<&str>) -> Result<(), EgressError> {
        if !self.rules.admits_schema(schema) {
            return Err(EgressError::Schema { policy: Arc::clone(&self.policy), schema: schema.into() });
        }
        match workspace {
            Some(workspace) if !self.rules.admits_workspace(workspace) => {
                Err(EgressError::Workspace { policy: Arc::clone(&self.policy), workspace: workspace.into() })
            }
            _ => Ok(()),
        }
    }

    /// Makes a call that its asker may make.
    pub(super) async fn call(&self, call: &Call, _deadline: Instant) -> Result<Reply, EgressError> {
        let target = Target::parse(&call.url)?;
        self.rules
            .admit(&target, call.method)
            .map_err(|part| EgressError::NotAllowed { policy: Arc::clone(&self.policy), part })?;
        Err(EgressError::Connect)
    }
}
