//! Packets that a capture holds twice: mirrored ports and capturing on several interfaces do that.

use std::collections::VecDeque;

use rtolab_capture::Packet;
use rtolab_tcp::wire::WireSegment;
use rtolab_time::{Duration, Instant};

/// So many packets of a direction are compared with.
const REMEMBERED: usize = 8;
/// A copy with the same identification comes within this time.
const COUNTED: Duration = Duration::from_millis(50);
/// One of a sender that does not count its packets.
const UNCOUNTED: Duration = Duration::from_micros(500);

/// The last packets of one direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recent {
    packets: VecDeque<(Instant, u16, WireSegment)>,
}

impl Recent {
    /// Is it one of the last packets once more?
    pub fn is_copy(&mut self, packet: &Packet, at: Instant) -> bool {
        let identification = packet.identification;
        let within = if identification == 0 { UNCOUNTED } else { COUNTED };
        let same = |(then, id, segment): &(Instant, u16, WireSegment)| {
            *id == identification && at.since(*then) <= within && *segment == packet.segment
        };
        if self.packets.iter().rev().any(same) {
            return true;
        }
        if self.packets.len() == REMEMBERED {
            self.packets.pop_front();
        }
        self.packets.push_back((at, identification, packet.segment.clone()));
        false
    }
}
