//! A run that goes another way from one timeout on.

use std::sync::Arc;

use rtolab_record::{Place, TimeoutKind, TimeoutRow};
use rtolab_tcp::Config;
use rtolab_time::Instant;

use super::{Entity, Sim};
use crate::truth::Before;

/// One timeout of a flow's sender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// The flow.
    pub flow: String,
    /// When the timer expired.
    pub at: Instant,
    /// For which segment, counted from the SYN.
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

/// A branch that is looked for.
#[derive(Clone)]
pub struct Branching {
    branch: Branch,
    /// How either end of each leg goes on; `None`: the timeout does not happen.
    configs: Option<Arc<[[Arc<Config>; 2]]>>,
    /// The run that goes on there, once it is found and can.
    pub found: Option<Box<Sim>>,
}

impl Branching {
    pub fn new(branch: Branch, configs: Option<Arc<[[Arc<Config>; 2]]>>) -> Self {
        Self { branch, configs, found: None }
    }

    /// Is this timeout, the end's `row`, where it begins?
    pub fn begins(&self, row: &TimeoutRow) -> bool {
        self.found.is_none() && self.branch.is_at(row)
    }
}

impl Sim {
    /// A copy that goes another way from the timeout of this number of an end on, and is recorded as
    /// this run is; `None`: it cannot, for the handshake is not complete.
    pub(crate) fn branch_off(
        &mut self,
        (flow, place, number): (usize, Place, usize),
        branching: &Branching,
        before: Before,
    ) -> Option<Box<Self>> {
        let Before { mut connection, stimulus } = before;
        match &branching.configs {
            None => connection.suppress_retransmission(),
            Some(configs) => connection.reconfigure(configs[flow][place.index()].clone()).ok()?,
        }
        let mut copy = Box::new(self.clone());
        let end = copy.flows[flow].end_mut(place);
        end.forget_timeouts_from(number);
        end.redo(connection, stimulus, self.now);
        copy.drain(flow, place);
        let host = copy.number(Entity::Host(flow, place));
        copy.queue.look_again(host);
        Some(copy)
    }
}
