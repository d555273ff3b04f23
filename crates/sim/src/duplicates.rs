//! Why duplicate acknowledgments were sent.

use std::collections::BTreeMap;
use std::sync::Arc;

use rtolab_link::CopyId;
use rtolab_net::Packet;
use rtolab_record::{DupackCause, DuplicateRow, Place};
use rtolab_tcp::Seq;
use rtolab_time::Instant;

use crate::end::End;

/// Tracks every acknowledgment from its cause to the sender that counts it as a duplicate.
#[derive(Clone, Debug, Default)]
pub struct DupackTracker {
    /// By whose data it is and the first sequence number of a segment: the copy of it that left
    /// earliest, of those that arrived.
    arrived: BTreeMap<(u32, Place, Seq), CopyId>,
    /// What the packet that arrived last calls for, of the end that took it.
    occasion: Option<(u32, Place, Occasion)>,
    /// The acknowledgments under way, or lost.
    acks: BTreeMap<CopyId, Occasion>,
    seen: Vec<(DuplicateRow, Option<Occasion>)>,
}

/// What calls for an acknowledgment that does not advance.
#[derive(Clone, Copy, Debug)]
enum Occasion {
    /// A link delivered a packet twice.
    Network,
    /// All of the segment had arrived before.
    Again,
    /// This one of `from`'s data arrived, and `missing` had not.
    Gap { flow: u32, from: Place, missing: Seq, copy: CopyId },
}

impl DupackTracker {
    /// A packet is about to be taken by `end`.
    pub fn arrives(&mut self, packet: &Packet, end: &End) {
        let segment = &packet.segment;
        self.occasion = None;
        let Some(connection) = end.connection.as_ref().filter(|_| segment.sequence_length() > 0)
        else {
            return;
        };
        let receiver = connection.receiver();
        let (flow, here, copy) = (packet.flow, packet.destination(), packet.copy);
        let from = here.other();
        let occasion = match receiver.nxt() {
            _ if packet.condition.is_second() => Some(Occasion::Network),
            _ if receiver.holds(&(segment.seq..segment.end())) => Some(Occasion::Again),
            missing if segment.seq > missing => Some(Occasion::Gap { flow, from, missing, copy }),
            _ => None,
        };
        self.occasion = occasion.map(|occasion| (flow, here, occasion));
        let first = self.arrived.entry((flow, from, segment.seq)).or_insert(copy);
        *first = copy.min(*first);
    }

    /// The packet leaves its host.
    pub fn departs(&mut self, packet: &Packet) {
        let Some((flow, place, occasion)) = self.occasion else { return };
        let here = (packet.flow, packet.destination().other()) == (flow, place);
        if here && packet.segment.sequence_length() == 0 {
            self.acks.insert(packet.copy, occasion);
        }
    }

    /// The packet was a duplicate acknowledgment where it arrived.
    pub fn saw(&mut self, packet: &Packet, at: Instant, flow: &Arc<str>) {
        let (flow, ack) = (flow.clone(), packet.segment.ack.relative());
        let occasion = match packet.condition.is_second() {
            true => Some(Occasion::Network),
            false => self.acks.get(&packet.copy).copied(),
        };
        self.seen.push((DuplicateRow { flow, at, ack, cause: None }, occasion));
    }

    /// The rows, now that it is known what arrived.
    pub fn rows(&self) -> impl Iterator<Item = DuplicateRow> + '_ {
        self.seen.iter().map(|(row, occasion)| DuplicateRow {
            cause: occasion.map(|occasion| self.cause(occasion)),
            ..row.clone()
        })
    }

    fn cause(&self, occasion: Occasion) -> DupackCause {
        let (flow, from, missing, copy) = match occasion {
            Occasion::Network => return DupackCause::Network,
            Occasion::Again => return DupackCause::Retransmission,
            Occasion::Gap { flow, from, missing, copy } => (flow, from, missing, copy),
        };
        // The segment that `missing` lies in.
        let segments = self.arrived.range((flow, from, Seq::FIRST)..=(flow, from, missing));
        match segments.last() {
            Some((_, first)) if *first < copy => DupackCause::Reordering,
            _ => DupackCause::Loss,
        }
    }
}
