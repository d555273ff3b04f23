//! The causes of duplicate ACKs.

use std::sync::Arc;

use rtolab_link::CopyId;
use rtolab_net::Packet;
use rtolab_record::{DupackCause, DuplicateRow, Place};
use rtolab_tcp::Seq;
use rtolab_time::Instant;

use crate::endpoint::Endpoint;
use crate::per_end::PerEnd;

/// Records the cause of every ACK that a sender counts as a duplicate.
#[derive(Clone, Debug, Default)]
pub struct DupackTracker {
    /// For each segment of a sender, its first sequence number and the earliest transmission that
    /// has arrived, ordered.
    arrived: PerEnd<Vec<(Seq, CopyId)>>,
    /// The flow and the receiver of the last packet, and why that packet causes a duplicate ACK.
    pending: Option<(u32, Place, Trigger)>,
    /// Why each ACK was sent, if it may count as a duplicate, ordered.
    acks: Vec<(CopyId, Trigger)>,
    /// The ACKs that senders counted as duplicates.
    dupacks: Vec<(DuplicateRow, Option<Trigger>)>,
}

/// Why a receiver sends an ACK that does not advance SND.UNA.
#[derive(Clone, Copy, Debug)]
enum Trigger {
    /// A link delivered a packet twice.
    Network,
    /// All bytes of the segment had arrived before.
    Retransmission,
    /// The transmission `copy` by `from` arrived while the byte `missing` (RCV.NXT) had not.
    Gap { flow: u32, from: Place, missing: Seq, copy: CopyId },
}

impl DupackTracker {
    /// Notes a packet just before the endpoint `end` processes it.
    pub fn before_arrival(&mut self, packet: &Packet, end: &Endpoint) {
        let segment = &packet.segment;
        self.pending = None;
        let Some(connection) = end.connection.as_ref().filter(|_| segment.sequence_length() > 0)
        else {
            return;
        };
        let receiver = connection.receiver();
        let (flow, here, copy) = (packet.flow, packet.destination(), packet.copy);
        let from = here.other();
        let trigger = match receiver.rcv_nxt() {
            _ if packet.condition.is_duplicate() => Some(Trigger::Network),
            _ if receiver.holds(&(segment.seq..segment.end())) => Some(Trigger::Retransmission),
            missing if segment.seq > missing => Some(Trigger::Gap { flow, from, missing, copy }),
            _ => None,
        };
        self.pending = trigger.map(|trigger| (flow, here, trigger));
        let first = value_at(self.arrived.get_mut((flow, from)), segment.seq, copy);
        *first = copy.min(*first);
    }

    /// Notes a packet that a host sends. A pure ACK is the response to the pending packet.
    pub fn on_departure(&mut self, packet: &Packet) {
        let Some((flow, place, trigger)) = self.pending else { return };
        let here = (packet.flow, packet.destination().other()) == (flow, place);
        if here && packet.segment.sequence_length() == 0 {
            *value_at(&mut self.acks, packet.copy, trigger) = trigger;
        }
    }

    /// Records a packet that the sender counted as a duplicate ACK.
    pub fn on_duplicate(&mut self, packet: &Packet, at: Instant, flow: &Arc<str>) {
        let (flow, ack) = (flow.clone(), packet.segment.ack.relative());
        let sent = self.acks.binary_search_by_key(&packet.copy, |(copy, _)| *copy);
        let trigger = match packet.condition.is_duplicate() {
            true => Some(Trigger::Network),
            false => sent.ok().map(|at| self.acks[at].1),
        };
        self.dupacks.push((DuplicateRow { flow, at, ack, cause: None }, trigger));
    }

    /// One row for each duplicate ACK. Complete only after the run, because a later arrival can
    /// show that a segment was reordered and not lost.
    pub fn rows(&self) -> impl Iterator<Item = DuplicateRow> + '_ {
        self.dupacks.iter().map(|(row, trigger)| DuplicateRow {
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
        // The last segment that begins at or before `missing` contains it.
        let segments = self.arrived.get((flow, from)).map_or(&[][..], Vec::as_slice);
        let begun = segments.partition_point(|(seq, _)| *seq <= missing);
        match segments[..begun].last() {
            Some((_, first)) if *first < copy => DupackCause::Reordering,
            _ => DupackCause::Loss,
        }
    }
}

/// The value of a key in an ordered list, inserted if it is not there. Most keys are the last one
/// or come after it.
fn value_at<K: Copy + Ord, V>(list: &mut Vec<(K, V)>, key: K, value: V) -> &mut V {
    let at = match list.last() {
        Some((last, _)) if *last >= key => list.binary_search_by_key(&key, |(key, _)| *key),
        _ => Err(list.len()),
    };
    let at = at.unwrap_or_else(|at| {
        list.insert(at, (key, value));
        at
    });
    &mut list[at].1
}
