//! Packets that are in a capture twice, because of mirrored ports or several interfaces.

use std::collections::VecDeque;

use rtolab_capture::CapturedPacket;
use rtolab_tcp::wire::WireSegment;
use rtolab_time::{Duration, Instant};

/// The number of earlier packets of its direction with which a packet is compared.
const REMEMBERED: usize = 16;
/// The longest time to a copy with the same IP identification.
const COUNTED: Duration = Duration::from_millis(50);
/// The longest time to a copy if the sender does not number its packets.
const UNCOUNTED: Duration = Duration::from_micros(100);

/// The identity of a packet.
type Print = (u16, [u32; 8]);

/// The latest packets of one direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recent {
    packets: VecDeque<(Instant, Print)>,
}

impl Recent {
    /// Is it a copy of one of the latest packets?
    pub fn is_copy(&mut self, packet: &CapturedPacket, at: Instant) -> bool {
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

fn print(packet: &CapturedPacket) -> Print {
    let WireSegment { seq, ack, len, window, flags, timestamps, sack, .. } = &packet.segment;
    let stamps = timestamps.unwrap_or_default();
    let header = u32::from(*window) << 16 | u32::from(flags.bits());
    let block = sack.first().map_or([0; 2], |block| [block.start, block.end]);
    let words = [*seq, *ack, *len, header, stamps.value, stamps.echo, block[0], block[1]];
    (packet.identification, words)
}
