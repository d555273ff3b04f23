//! The truth about a timeout or fast retransmit: a copy of the run goes on without it.

use rtolab_record::Truth;
use rtolab_tcp::Seq;
use rtolab_time::Instant;

use crate::sim::Sim;
use crate::trace::Trace;

impl Sim {
    /// What happens if the sender of `flow` never again sends the segment at `seq`: does an
    /// acknowledgment come that covers it? The copy stops when that is known or nothing of the flow
    /// is under way any more, and at `end` at the latest.
    pub(crate) fn truth_of(&mut self, flow: usize, seq: Seq, end: Instant) -> Truth {
        // The record is long, and the copy needs none.
        let trace = std::mem::take(&mut self.trace);
        let mut copy = self.clone();
        self.trace = trace;
        copy.judging = None;
        copy.trace = Trace::default();
        copy.flows[flow].sender.withhold(seq);
        copy.drain_sender(flow);
        while !copy.flows[flow].is_idle() && !copy.flows[flow].acknowledged(seq) && copy.step(end) {
        }
        let flow = &copy.flows[flow];
        match flow.receiver.as_ref() {
            _ if flow.acknowledged(seq) => Truth::Spurious,
            Some(receiver) if receiver.receiver().holds(&(seq..seq + 1)) => Truth::AckLost,
            _ => Truth::Genuine,
        }
    }
}
