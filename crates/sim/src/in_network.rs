//! The copies of segments that are in the network.

use std::collections::BTreeMap;

use rtolab_net::Packet;
use rtolab_record::Place;
use rtolab_tcp::Seq;

/// The number of copies in the network for each segment with data, SYN or FIN.
///
/// The key is the flow, the sending end, and the first sequence number and the end of the segment.
#[derive(Clone, Debug, Default)]
pub struct SegmentsInNetwork(BTreeMap<(u32, Place, Seq, Seq), u32>);

impl SegmentsInNetwork {
    /// A copy enters the network.
    pub fn enter(&mut self, packet: &Packet) {
        if let Some(key) = key(packet) {
            *self.0.entry(key).or_default() += 1;
        }
    }

    /// A copy arrives or is lost.
    pub fn leave(&mut self, packet: &Packet) {
        let Some(key) = key(packet) else { return };
        if let Some(copies) = self.0.get_mut(&key) {
            *copies -= 1;
            if *copies == 0 {
                self.0.remove(&key);
            }
        }
    }

    /// Does the network hold a copy of the byte `seq` that this end of the flow sent?
    pub fn contains(&self, (flow, place): (usize, Place), seq: Seq) -> bool {
        let flow = flow as u32;
        let until_seq = (flow, place, Seq::FIRST, Seq::FIRST)..(flow, place, seq + 1, Seq::FIRST);
        self.0.range(until_seq).any(|((.., end), _)| *end > seq)
    }

    /// The number of copies of all segments.
    #[cfg(test)]
    pub fn copies(&self) -> u32 {
        self.0.values().sum()
    }
}

fn key(packet: &Packet) -> Option<(u32, Place, Seq, Seq)> {
    let segment = &packet.segment;
    let has_bytes = segment.sequence_length() > 0 && !packet.is_datagram();
    has_bytes.then(|| (packet.flow, packet.destination().other(), segment.seq, segment.end()))
}
