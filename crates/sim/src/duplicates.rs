//! The causes of duplicate ACKs.

use std::collections::BTreeMap;
use std::sync::Arc;

use rtolab_link::CopyId;
use rtolab_net::Packet;
use rtolab_record::{DupackCause, DuplicateRow, Place};
use rtolab_tcp::Seq;
use rtolab_time::Instant;

use crate::endpoint::Endpoint;

/// Records the cause of every ACK that a sender counts as a duplicate.
#[derive(Clone, Debug, Default)]
pub struct DupackTracker {
    /// The earliest transmission of each segment among the copies that arrived, by flow, sending
    /// end and first sequence number.
    arrived: BTreeMap<(u32, Place, Seq), CopyId>,
    /// The flow and the end that received the last packet, and the reason why it owes an ACK.
    trigger: Option<(u32, Place, Trigger)>,
    /// The reasons for the ACKs sent.
    acks: BTreeMap<CopyId, Trigger>,
    seen: Vec<(DuplicateRow, Option<Trigger>)>,
}

/// The reason why a receiver sends an ACK that does not advance.
#[derive(Clone, Copy, Debug)]
enum Trigger {
    /// A link delivered a packet twice.
    Network,
    /// All of the segment had arrived before.
    Retransmission,
    /// This copy of `from`'s data arrived while `missing` had not.
    Gap { flow: u32, from: Place, missing: Seq, copy: CopyId },
}

impl DupackTracker {
    /// Processes a packet before `end` does.
    pub fn before_arrival(&mut self, packet: &Packet, end: &Endpoint) {
        let segment = &packet.segment;
        self.trigger = None;
        let Some(connection) = end.connection.as_ref().filter(|_| segment.sequence_length() > 0)
        else {
            return;
        };
        let receiver = connection.receiver();
        let (flow, here, copy) = (packet.flow, packet.destination(), packet.copy);
        let from = here.other();
        let trigger = match receiver.nxt() {
            _ if packet.condition.is_duplicate() => Some(Trigger::Network),
            _ if receiver.holds(&(segment.seq..segment.end())) => Some(Trigger::Retransmission),
            missing if segment.seq > missing => Some(Trigger::Gap { flow, from, missing, copy }),
            _ => None,
        };
        self.trigger = trigger.map(|trigger| (flow, here, trigger));
        let first = self.arrived.entry((flow, from, segment.seq)).or_insert(copy);
        *first = copy.min(*first);
    }

    /// Processes a packet that leaves its host.
    pub fn on_departure(&mut self, packet: &Packet) {
        let Some((flow, place, trigger)) = self.trigger else { return };
        let here = (packet.flow, packet.destination().other()) == (flow, place);
        if here && packet.segment.sequence_length() == 0 {
            self.acks.insert(packet.copy, trigger);
        }
    }

    /// Records a packet that the sender counted as a duplicate ACK.
    pub fn on_duplicate(&mut self, packet: &Packet, at: Instant, flow: &Arc<str>) {
        let (flow, ack) = (flow.clone(), packet.segment.ack.relative());
        let trigger = match packet.condition.is_duplicate() {
            true => Some(Trigger::Network),
            false => self.acks.get(&packet.copy).copied(),
        };
        self.seen.push((DuplicateRow { flow, at, ack, cause: None }, trigger));
    }

    /// The rows. The causes are known only after the run.
    pub fn rows(&self) -> impl Iterator<Item = DuplicateRow> + '_ {
        self.seen.iter().map(|(row, trigger)| DuplicateRow {
            cause: trigger.map(|trigger| self.cause(trigger)),
            ..row.clone()
        })
    }

    fn cause(&self, trigger: Trigger) -> DupackCause {
        let (flow, from, missing, copy) = match trigger {
            Trigger::Network => return DupackCause::Network,
            Trigger::Retransmission => return DupackCause::Retransmission,
            Trigger::Gap { flow, from, missing, copy } => (flow, from, missing, copy),
        };
        // The segment that contains `missing`.
        let segments = self.arrived.range((flow, from, Seq::FIRST)..=(flow, from, missing));
        match segments.last() {
            Some((_, first)) if *first < copy => DupackCause::Reordering,
            _ => DupackCause::Loss,
        }
    }
}
