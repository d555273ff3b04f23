//! The truth about a timeout or fast retransmit: a copy of the run goes on without it.

use rtolab_record::{Place, Truth};
use rtolab_tcp::Seq;
use rtolab_time::Instant;

use crate::sim::Sim;

impl Sim {
    /// What happens if this end of a flow never again sends the segment at `seq`: does an
    /// acknowledgment come that covers it? The copy stops when that is known or nothing of the flow
    /// is under way any more, and at `end` at the latest.
    pub(crate) fn truth_of(
        &mut self,
        (flow, place): (usize, Place),
        seq: Seq,
        end: Instant,
    ) -> Truth {
        let mut copy = self.fork();
        if let Some(connection) = &mut copy.flows[flow].end_mut(place).connection {
            connection.withhold(seq);
        }
        copy.drain(flow, place);
        while !copy.is_settled(flow) && !copy.flows[flow].acknowledged(place, seq) {
            if !copy.step(end) {
                break;
            }
        }
        let flow = &copy.flows[flow];
        match flow.end(place.other()).connection.as_ref() {
            _ if flow.acknowledged(place, seq) => Truth::Spurious,
            Some(peer) if peer.receiver().holds(&(seq..seq + 1)) => Truth::AckLost,
            _ => Truth::Genuine,
        }
    }

    /// A copy of the run that leaves no record and judges nothing.
    fn fork(&mut self) -> Self {
        // The record is long, and the copy needs none.
        let trace = std::mem::take(&mut self.trace);
        let mut copy = self.clone();
        self.trace = trace;
        copy.judging = None;
        copy
    }

    /// Will nothing more of what was sent arrive?
    fn is_settled(&self, flow: usize) -> bool {
        self.flows[flow].is_idle() && !self.agents_wait()
    }
}
