//! A fork of the run that differs from one timeout on.

use std::sync::Arc;

use rtolab_record::{Place, TimeoutKind, TimeoutRow};
use rtolab_tcp::Config;
use rtolab_time::Instant;

use super::{Entity, Sim};
use crate::endpoint::Checkpoint;

/// One timeout of a flow's sender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// The flow.
    pub flow: String,
    /// When the timer expired.
    pub at: Instant,
    /// The sequence number of the segment that timed out, relative to the SYN.
    pub seq: i64,
}

impl Branch {
    fn is_at(&self, row: &TimeoutRow) -> bool {
        let Self { flow, at, seq } = self;
        row.kind == TimeoutKind::Timeout
            && row.end == Place::Sender
            && (*row.flow == **flow && row.at == *at && row.seq == *seq)
    }
}

/// The search for the timeout at which a run branches.
#[derive(Clone)]
pub struct Branching {
    branch: Branch,
    /// The configurations of both ends of each leg from the timeout on; `None` if the
    /// timeout is suppressed instead.
    configs: Option<Arc<[[Arc<Config>; 2]]>>,
    /// The fork, after the timeout was found.
    pub found: Option<Box<Sim>>,
}

impl Branching {
    pub fn new(branch: Branch, configs: Option<Arc<[[Arc<Config>; 2]]>>) -> Self {
        Self { branch, configs, found: None }
    }

    /// Is the timeout in `row` the one at which the run branches?
    pub fn is_at(&self, row: &TimeoutRow) -> bool {
        self.found.is_none() && self.branch.is_at(row)
    }
}

impl Sim {
    /// The fork that differs from this timeout of an end on, with the same recording as this run;
    /// `None` if the handshake is not complete.
    pub(super) fn branch_off(
        &mut self,
        (flow, place, number): (usize, Place, usize),
        branching: &Branching,
        checkpoint: Checkpoint,
    ) -> Option<Box<Self>> {
        let Checkpoint { mut connection, stimulus } = checkpoint;
        match &branching.configs {
            None => connection.suppress_retransmission(),
            Some(configs) => connection.reconfigure(configs[flow][place.index()].clone()).ok()?,
        }
        let mut fork = Box::new(self.clone());
        let end = fork.flows[flow].end_mut(place);
        end.forget_timeouts_from(number);
        end.replay(connection, stimulus, self.now);
        fork.drain(flow, place);
        let host = fork.number(Entity::Host(flow, place));
        fork.queue.settle(host);
        Some(fork)
    }
}
