//! Explicit loss notification, ELN (Balakrishnan, Padmanabhan, Seshan and Katz, "A Comparison of
//! Mechanisms for Improving TCP Performance over Wireless Links", IEEE/ACM Transactions on
//! Networking 5(6), 1997).
//!
//! The base station knows which segments it has sent over the wireless link. A duplicate ACK for
//! one of them means that the wireless link lost it, so the base station marks the ACK. A sender
//! that understands the mark retransmits without reducing its window. A segment that never reached
//! the base station was lost before it, by congestion: its duplicate ACKs stay as they are.
//!
//! The middlebox handles data to the receiver of a flow. It does not see the queue of the wireless
//! link, so a segment that this queue drops counts as lost by the link.

use core::ops::Range;

use rtolab_tcp::{Flags, Segment, Seq};

use super::outgoing::{OutgoingPacket, is_pure_ack, is_relevant, state_of};
use crate::packet::Packet;

/// A base station that marks duplicate ACKs for segments that it has sent over the wireless link.
#[derive(Clone, Debug, Default)]
pub struct Eln {
    flows: Vec<FlowState>,
}

/// The state of a flow.
#[derive(Clone, Debug, Default)]
struct FlowState {
    /// The end of the highest data seen.
    highest: Option<Seq>,
    /// The data below it that has not passed, in order.
    holes: Vec<Range<Seq>>,
    /// The highest ACK number, and the window of the last ACK.
    acked: Option<(Seq, u32)>,
}

impl Eln {
    /// See [`Middlebox::on_packet`](super::Middlebox::on_packet).
    pub fn on_packet(&mut self, mut packet: Packet, outgoing: &mut Vec<OutgoingPacket>) {
        if is_relevant(&packet) {
            let state = state_of(&mut self.flows, packet.flow);
            if packet.segment.flags.has(Flags::RST) {
                *state = FlowState::default();
            } else if packet.to_receiver {
                state.on_data(&packet.segment);
            } else if state.is_lost_by_link(&packet.segment) {
                packet.segment.flags |= Flags::ELN;
            }
        }
        outgoing.push(OutgoingPacket::forwarded(packet));
    }
}

impl FlowState {
    fn on_data(&mut self, segment: &Segment) {
        let sent = segment.seq..segment.end();
        match self.highest {
            Some(highest) if sent.start > highest => self.holes.push(highest..sent.start),
            _ => self.fill(&sent),
        }
        self.highest = Some(self.highest.map_or(sent.end, |highest| highest.max(sent.end)));
    }

    /// The range `sent` passes: no hole is there any more.
    fn fill(&mut self, sent: &Range<Seq>) {
        let remains = |hole: &Range<Seq>| {
            let before = hole.start..hole.end.min(sent.start);
            let after = hole.start.max(sent.end)..hole.end;
            [before, after].into_iter().filter(|range| range.start < range.end)
        };
        self.holes = self.holes.iter().flat_map(remains).collect();
    }

    /// Processes an ACK. Is it a duplicate for a segment that has passed?
    fn is_lost_by_link(&mut self, segment: &Segment) -> bool {
        let number = (segment.ack, segment.window);
        let is_duplicate = self.acked == Some(number) && is_pure_ack(segment);
        if self.acked.is_none_or(|(acked, _)| acked <= segment.ack) {
            self.acked = Some(number);
            self.holes.retain(|hole| hole.end > segment.ack);
        }
        let has_passed = self.highest.is_some_and(|highest| segment.ack < highest);
        is_duplicate && has_passed && !self.holes.iter().any(|hole| hole.contains(&segment.ack))
    }
}

#[cfg(test)]
mod tests;
