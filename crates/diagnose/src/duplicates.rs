//! Packets that a capture holds twice: mirrored ports and capturing on several interfaces do that.

use std::collections::VecDeque;

use rtolab_capture::Packet;
use rtolab_tcp::wire::WireSegment;
use rtolab_time::{Duration, Instant};

/// A packet is compared with this many before it in its direction.
const REMEMBERED: usize = 16;
/// A copy with the same identification comes within this time.
const COUNTED: Duration = Duration::from_millis(50);
/// One of a sender that does not count its packets.
const UNCOUNTED: Duration = Duration::from_micros(100);

/// What tells a packet from others.
type Print = (u16, [u32; 8]);

/// The last packets of one direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recent {
    packets: VecDeque<(Instant, Print)>,
}

impl Recent {
    /// Is it one of the last packets once more?
    pub fn is_copy(&mut self, packet: &Packet, at: Instant) -> bool {
        let within = if packet.identification == 0 { UNCOUNTED } else { COUNTED };
        let print = print(packet);
        let same = |(then, other): &(Instant, Print)| *other == print && at.since(*then) <= within;
        if self.packets.iter().rev().any(same) {
            return true;
        }
        if self.packets.len() == REMEMBERED {
            self.packets.pop_front();
        }
        self.packets.push_back((at, print));
        false
    }
}

fn print(packet: &Packet) -> Print {
    let WireSegment { seq, ack, len, window, flags, timestamps, sack, .. } = &packet.segment;
    let stamps = timestamps.unwrap_or_default();
    let header = u32::from(*window) << 16 | u32::from(flags.bits());
    let block = sack.first().map_or([0; 2], |block| [block.start, block.end]);
    let words = [*seq, *ack, *len, header, stamps.value, stamps.echo, block[0], block[1]];
    (packet.identification, words)
}
