//! Counterfactuals: a fork of the run continues without a retransmission, which shows the ground
//! truth, or with another sender.

use std::sync::Arc;

use rtolab_record::{Place, TransferOutcome, Truth};
use rtolab_tcp::{Config, Connection, Seq};
use rtolab_time::Instant;

use super::Sim;
use crate::endpoint::{Checkpoint, Stimulus};
use crate::retransmission_log::Counterfactual;

/// The time until which a fork runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Horizon {
    /// Until the ground truth is known.
    Truth,
    /// To the end of the transfer, if the retransmission is spurious and the transfer has an end.
    Transfer,
}

impl Sim {
    /// The result of the run without this retransmission.
    pub(super) fn counterfactual(
        &mut self,
        decision: (usize, Place, Seq),
        checkpoint: Checkpoint,
        until: (Horizon, Instant),
    ) -> Counterfactual {
        let is_certain = self.cannot_be_acknowledged(decision, &checkpoint);
        if is_certain && !cfg!(debug_assertions) {
            return Counterfactual { truth: Truth::Genuine, outcome: None };
        }
        let found = self.without_retransmission(decision, checkpoint, until);
        debug_assert!(!is_certain || found.truth == Truth::Genuine, "no copy of it could arrive");
        found
    }

    /// Is it certain without a fork that the segment at `seq` is lost? It is if neither the
    /// receiver nor the network has a copy of it, and if SND.UNA cannot advance either, because
    /// then nothing is retransmitted.
    ///
    /// A middlebox may hold copies. An ACK that advances SND.UNA ends the suppression at once, and
    /// a SYN is also retransmitted in answer to the peer's.
    fn cannot_be_acknowledged(
        &self,
        (flow, place, seq): (usize, Place, Seq),
        checkpoint: &Checkpoint,
    ) -> bool {
        let ends = (self.scoring.as_ref(), self.flows[flow].end(place.other()).connection.as_ref());
        let (Some(scoring), Some(peer)) = ends else { return false };
        let una = self.flows[flow].end(place).una();
        let can_arrive = |seq| {
            peer.receiver().holds(&(seq..seq + 1))
                || scoring.in_network.contains((flow, place), seq)
        };
        una > Seq::FIRST
            && una == checkpoint.connection.sender().flight().una()
            && self.middleboxes.is_empty()
            && !can_arrive(una)
            && !can_arrive(seq)
    }

    /// The result of a fork in which this end does not retransmit the segment at `seq`: its timer
    /// does not expire, and no recovery begins until the next cumulative ACK. The fork stops when
    /// an ACK covers the segment or no packet of the flow is in the network, and at `end` at the
    /// latest.
    fn without_retransmission(
        &mut self,
        (flow, place, seq): (usize, Place, Seq),
        checkpoint: Checkpoint,
        (horizon, end): (Horizon, Instant),
    ) -> Counterfactual {
        let Checkpoint { mut connection, stimulus } = checkpoint;
        connection.suppress_retransmission();
        let mut fork = self.fork((flow, place), connection, stimulus);
        while !fork.is_quiescent(flow) && !fork.flows[flow].acknowledged(place, seq) {
            if !fork.step(end) {
                break;
            }
        }
        let simulated = &fork.flows[flow];
        let truth = match simulated.end(place.other()).connection.as_ref() {
            _ if simulated.acknowledged(place, seq) => Truth::Spurious,
            Some(peer) if peer.receiver().holds(&(seq..seq + 1)) => Truth::AckLost,
            _ => Truth::Genuine,
        };
        let is_finite = !simulated.plan.is_endless();
        let continues = truth == Truth::Spurious && horizon == Horizon::Transfer && is_finite;
        Counterfactual { truth, outcome: continues.then(|| fork.finish((flow, place), end)) }
    }

    /// The end of the transfer if this end continues with another configuration from the checkpoint
    /// on; `None` if the handshake is not complete, so that it cannot.
    pub(super) fn with_sender(
        &mut self,
        (flow, place): (usize, Place),
        (checkpoint, config): (Checkpoint, Arc<Config>),
        end: Instant,
    ) -> Option<TransferOutcome> {
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
        // The fork needs no copy of the records, which are long.
        let (trace, scoring) = (std::mem::take(&mut self.trace), self.scoring.take());
        let mut fork = self.clone();
        (self.trace, self.scoring) = (trace, scoring);
        fork.stop_observing();
        fork.flows[flow].end_mut(place).replay(connection, stimulus, self.now());
        fork.drain(flow, place);
        fork
    }

    /// Continues until the transfer of this end's data ends.
    fn finish(mut self, (flow, place): (usize, Place), end: Instant) -> TransferOutcome {
        while self.flows[flow].end(place).close_acknowledged.is_none() && self.step(end) {}
        self.flows[flow].outcome(place)
    }

    /// Is it certain that no further packet of the flow arrives?
    fn is_quiescent(&self, flow: usize) -> bool {
        self.flows[flow].is_idle() && !self.has_middlebox_timer()
    }
}
