//! Ground truth by counterfactual: a fork of the run goes on without the retransmission in
//! question, or with another sender.

use std::sync::Arc;

use rtolab_record::{Place, Rest, Truth};
use rtolab_tcp::{Config, Connection, Seq};
use rtolab_time::Instant;

use super::Sim;
use crate::endpoint::{Checkpoint, Stimulus};
use crate::timeouts::Finding;

/// How far a fork runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Horizon {
    /// Until the ground truth is known.
    Truth,
    /// To the end of the transfer, if the retransmission is spurious and the transfer has an end.
    Transfer,
}

impl Sim {
    /// The run in which this end does not retransmit the segment at `seq`: its timer does not
    /// expire and no recovery begins until the next cumulative ACK. The fork stops when an ACK
    /// covers the segment or no packet of the flow is in flight, and at `end` at the latest.
    pub(super) fn without_retransmission(
        &mut self,
        (flow, place, seq): (usize, Place, Seq),
        checkpoint: Checkpoint,
        (horizon, end): (Horizon, Instant),
    ) -> Finding {
        let Checkpoint { mut connection, stimulus } = checkpoint;
        connection.suppress_retransmission();
        let mut fork = self.fork((flow, place), connection, stimulus);
        while !fork.is_quiescent(flow) && !fork.flows[flow].acknowledged(place, seq) {
            if !fork.step(end) {
                break;
            }
        }
        let both = &fork.flows[flow];
        let truth = match both.end(place.other()).connection.as_ref() {
            _ if both.acknowledged(place, seq) => Truth::Spurious,
            Some(peer) if peer.receiver().holds(&(seq..seq + 1)) => Truth::AckLost,
            _ => Truth::Genuine,
        };
        let ends = !both.plan.is_endless();
        let goes_on = truth == Truth::Spurious && horizon == Horizon::Transfer && ends;
        Finding { truth, rest: goes_on.then(|| fork.finish((flow, place), end)) }
    }

    /// How the transfer ends if this end continues with another configuration from the checkpoint
    /// on; `None` if it cannot, because the handshake is not complete.
    pub(super) fn with_sender(
        &mut self,
        (flow, place): (usize, Place),
        (checkpoint, config): (Checkpoint, Arc<Config>),
        end: Instant,
    ) -> Option<Rest> {
        let Checkpoint { mut connection, stimulus } = checkpoint;
        connection.reconfigure(config).ok()?;
        let fork = self.fork((flow, place), connection, stimulus);
        Some(fork.finish((flow, place), end))
    }

    /// A fork that records and scores nothing, in which `connection` processes the last stimulus of
    /// this end.
    fn fork(
        &mut self,
        (flow, place): (usize, Place),
        connection: Connection,
        stimulus: Stimulus,
    ) -> Self {
        // The records are long, and the fork needs none.
        let (trace, scoring) = (std::mem::take(&mut self.trace), self.scoring.take());
        let mut fork = self.clone();
        (self.trace, self.scoring) = (trace, scoring);
        fork.stop_observing();
        fork.flows[flow].end_mut(place).replay(connection, stimulus, self.now());
        fork.drain(flow, place);
        fork
    }

    /// Runs on until the transfer of this end's data ends.
    fn finish(mut self, (flow, place): (usize, Place), end: Instant) -> Rest {
        while self.flows[flow].end(place).close_acknowledged.is_none() && self.step(end) {}
        self.flows[flow].rest(place)
    }

    /// Will none of the flow's packets arrive any more?
    fn is_quiescent(&self, flow: usize) -> bool {
        self.flows[flow].is_idle() && !self.has_middlebox_timer()
    }
}
