//! The copies of segments that are in the network.

use std::collections::VecDeque;

use rtolab_net::Packet;
use rtolab_record::Place;
use rtolab_tcp::Seq;

use crate::per_end::PerEnd;

/// The number of copies in the network for each segment with data, SYN or FIN, by sending end.
///
/// Most segments enter in order, and leave in the same order, so they join at the back of a queue
/// and leave at its front.
#[derive(Clone, Debug, Default)]
pub struct SegmentsInNetwork(PerEnd<VecDeque<Copies>>);

/// The copies of a segment. Their queue is ordered by its first sequence number and its end.
#[derive(Clone, Copy, Debug)]
struct Copies {
    segment: (Seq, Seq),
    number: u32,
}

impl SegmentsInNetwork {
    /// A copy enters the network.
    pub fn enter(&mut self, packet: &Packet) {
        let Some((sender, segment)) = key(packet) else { return };
        let queue = self.0.get_mut(sender);
        if queue.back().is_none_or(|last| last.segment < segment) {
            queue.push_back(Copies { segment, number: 1 });
            return;
        }
        match place(queue, segment) {
            Ok(at) => queue[at].number += 1,
            Err(at) => queue.insert(at, Copies { segment, number: 1 }),
        }
    }

    /// A copy arrives or is lost.
    pub fn leave(&mut self, packet: &Packet) {
        let Some((sender, segment)) = key(packet) else { return };
        let queue = self.0.get_mut(sender);
        let is_first = queue.front().is_some_and(|first| first.segment == segment);
        let found = if is_first { Ok(0) } else { place(queue, segment) };
        let Ok(at) = found else { return };
        queue[at].number -= 1;
        if queue[at].number == 0 {
            queue.remove(at);
        }
    }

    /// Does the network hold a copy of the byte `seq` that this end of the flow sent?
    pub fn contains(&self, (flow, place): (usize, Place), seq: Seq) -> bool {
        let queue = self.0.get((flow as u32, place));
        let begun = queue.into_iter().flatten().map(|copies| copies.segment);
        begun.take_while(|(begin, _)| *begin <= seq).any(|(_, end)| end > seq)
    }

    /// The number of copies of all segments.
    #[cfg(test)]
    pub fn copies(&self) -> u32 {
        self.0.values().flatten().map(|copies| copies.number).sum()
    }
}

/// The place of a segment in a queue, or the one that it would have.
fn place(queue: &VecDeque<Copies>, segment: (Seq, Seq)) -> Result<usize, usize> {
    queue.binary_search_by(|copies| copies.segment.cmp(&segment))
}

/// The sending end of a packet, and its segment.
fn key(packet: &Packet) -> Option<((u32, Place), (Seq, Seq))> {
    let segment = &packet.segment;
    let has_bytes = segment.sequence_length() > 0 && !packet.is_datagram();
    let sender = (packet.flow, packet.destination().other());
    has_bytes.then(|| (sender, (segment.seq, segment.end())))
}
