//! Why duplicate acknowledgments were sent.

use std::collections::BTreeMap;
use std::sync::Arc;

use rtolab_link::CopyId;
use rtolab_net::Packet;
use rtolab_record::{DuplicateCause, DuplicateRow, Place};
use rtolab_tcp::{Segment, Seq};
use rtolab_time::Instant;

use crate::end::End;

/// Follows every acknowledgment from what called for it to the sender that takes it for a duplicate.
#[derive(Clone, Debug, Default)]
pub struct Duplicates {
    /// By whose data it is and the first sequence number of a segment: the copy of it that left
    /// earliest, of those that arrived.
    arrived: BTreeMap<(u32, Place, Seq), CopyId>,
    /// What the segment that arrived last calls for.
    occasion: Option<Occasion>,
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

impl Duplicates {
    /// A packet is about to be taken by `end`.
    pub fn arrives(&mut self, packet: &Packet, end: &End) {
        let segment = &packet.segment;
        self.occasion = None;
        let Some(connection) = end.connection.as_ref().filter(|_| segment.sequence_length() > 0)
        else {
            return;
        };
        let receiver = connection.receiver();
        let (flow, from, copy) = (packet.flow, packet.destination().other(), packet.copy);
        self.occasion = match receiver.nxt() {
            _ if packet.duplicate => Some(Occasion::Network),
            _ if receiver.holds(&(segment.seq..segment.end())) => Some(Occasion::Again),
            missing if segment.seq > missing => Some(Occasion::Gap { flow, from, missing, copy }),
            _ => None,
        };
        let first = self.arrived.entry((flow, from, segment.seq)).or_insert(copy);
        *first = copy.min(*first);
    }

    /// A segment leaves as `copy`.
    pub fn departs(&mut self, segment: &Segment, copy: CopyId) {
        if let (0, Some(occasion)) = (segment.sequence_length(), self.occasion) {
            self.acks.insert(copy, occasion);
        }
    }

    /// The packet was a duplicate acknowledgment where it arrived.
    pub fn saw(&mut self, packet: &Packet, at: Instant, flow: &Arc<str>) {
        let (flow, ack) = (flow.clone(), packet.segment.ack.relative());
        let occasion = match packet.duplicate {
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

    fn cause(&self, occasion: Occasion) -> DuplicateCause {
        let (flow, from, missing, copy) = match occasion {
            Occasion::Network => return DuplicateCause::Network,
            Occasion::Again => return DuplicateCause::Retransmission,
            Occasion::Gap { flow, from, missing, copy } => (flow, from, missing, copy),
        };
        // The segment that `missing` lies in.
        let segments = self.arrived.range((flow, from, Seq::FIRST)..=(flow, from, missing));
        match segments.last() {
            Some((_, first)) if *first < copy => DuplicateCause::Reordering,
            _ => DuplicateCause::Loss,
        }
    }
}
