//! The truth about a timeout or fast retransmit: a copy of the run goes on without it.

use std::sync::Arc;

use rtolab_record::{Place, Rest, Truth};
use rtolab_tcp::{Config, Connection, Segment, Seq};
use rtolab_time::Instant;

use crate::sim::Sim;

/// A connection as it was before what happened to it.
#[derive(Clone, Debug)]
pub struct Before {
    pub connection: Connection,
    pub stimulus: Stimulus,
}

/// What happened to a connection.
#[derive(Clone, Copy, Debug)]
pub enum Stimulus {
    /// A timer expired.
    Timer,
    /// A segment arrived.
    Arrival(Segment),
}

/// What a copy of the run shows that goes on without a retransmission.
#[derive(Clone, Copy, Debug)]
pub struct Finding {
    pub truth: Truth,
    /// How the transfer ends in the copy; of a spurious one, if somebody asked.
    pub rest: Option<Rest>,
}

/// How far a copy goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Until the answer is known.
    Answer,
    /// Of a spurious one to the end of the transfer, if it has one.
    Transfer,
}

impl Sim {
    /// What happens if this end of a flow does not retransmit the segment at `seq`: its timer does
    /// not expire and no recovery begins until an acknowledgment comes that covers more than any
    /// before. The copy stops when one covers the segment or nothing of the flow is under way any
    /// more, and at `end` at the latest.
    pub(crate) fn without(
        &mut self,
        (flow, place, seq): (usize, Place, Seq),
        before: Before,
        (reach, end): (Reach, Instant),
    ) -> Finding {
        let Before { mut connection, stimulus } = before;
        connection.suppress_retransmission();
        let mut copy = self.fork((flow, place), connection, stimulus);
        while !copy.is_settled(flow) && !copy.flows[flow].acknowledged(place, seq) {
            if !copy.step(end) {
                break;
            }
        }
        let both = &copy.flows[flow];
        let truth = match both.end(place.other()).connection.as_ref() {
            _ if both.acknowledged(place, seq) => Truth::Spurious,
            Some(peer) if peer.receiver().holds(&(seq..seq + 1)) => Truth::AckLost,
            _ => Truth::Genuine,
        };
        let ends = !both.plan.is_endless();
        let goes_on = truth == Truth::Spurious && reach == Reach::Transfer && ends;
        Finding { truth, rest: goes_on.then(|| copy.finish((flow, place), end)) }
    }

    /// How the transfer ends if this end goes on by another configuration, from what happened to
    /// it; `None` if it cannot: the handshake is not complete.
    pub(crate) fn instead(
        &mut self,
        (flow, place): (usize, Place),
        (before, config): (Before, Arc<Config>),
        end: Instant,
    ) -> Option<Rest> {
        let Before { mut connection, stimulus } = before;
        connection.reconfigure(config).ok()?;
        let copy = self.fork((flow, place), connection, stimulus);
        Some(copy.finish((flow, place), end))
    }

    /// A copy of the run that leaves no record and judges nothing, in which what happened to this
    /// end happens to `connection` instead.
    fn fork(
        &mut self,
        (flow, place): (usize, Place),
        connection: Connection,
        stimulus: Stimulus,
    ) -> Self {
        // The records are long, and the copy needs none.
        let (trace, judging) = (std::mem::take(&mut self.trace), self.judging.take());
        let mut copy = self.clone();
        (self.trace, self.judging) = (trace, judging);
        copy.go_unseen();
        copy.flows[flow].end_mut(place).redo(connection, stimulus, self.now());
        copy.drain(flow, place);
        copy
    }

    /// Runs on until the transfer of this end's data ends.
    fn finish(mut self, (flow, place): (usize, Place), end: Instant) -> Rest {
        while self.flows[flow].end(place).close_acknowledged.is_none() && self.step(end) {}
        self.flows[flow].rest(place)
    }

    /// Will nothing more of what was sent arrive?
    fn is_settled(&self, flow: usize) -> bool {
        self.flows[flow].is_idle() && !self.agents_wait()
    }
}
