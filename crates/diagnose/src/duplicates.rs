//! Packets that are in a capture twice, because of mirrored ports or several interfaces.

use std::collections::VecDeque;

use rtolab_capture::CapturedPacket;
use rtolab_tcp::Flags;
use rtolab_tcp::wire::WireSegment;
use rtolab_time::{Duration, Instant};

/// The number of earlier packets of its direction with which a packet is compared.
const REMEMBERED: usize = 16;
/// The longest time to a copy with the same IP identification.
const COUNTED: Duration = Duration::from_millis(50);
/// The longest time to a copy if the sender does not number its packets.
const UNCOUNTED: Duration = Duration::from_micros(100);

/// The identity of a packet: a hash of what its copies share.
pub(crate) type Print = u64;

/// Of wyhash: odd, with half of its bits set.
const MULTIPLIER: u64 = 0xa076_1d64_78bd_642f;
const SEED: u64 = 0xe703_7ed1_a0b4_28db;

/// The longest time to a copy of a SYN without timestamps: a retransmitted one comes later.
const SOON: Duration = Duration::from_millis(500);

/// Timestamps that were made farther apart differ.
const TICK: Duration = Duration::from_millis(10);

/// The latest packets of one direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recent {
    packets: VecDeque<(Instant, Print)>,
    syn: Option<(Instant, Print)>,
}

impl Recent {
    /// How long before one of the latest packets passed of which this is a copy. `copies` is how
    /// many the capture has so far: hosts number no SYN-ACK, and answer a SYN and its timer with
    /// equal ones at almost the same time.
    pub fn copied(
        &mut self,
        packet: &CapturedPacket,
        at: Instant,
        copies: u64,
    ) -> Option<Duration> {
        let print = print(packet);
        let flags = packet.segment.flags;
        if flags.has(Flags::SYN) {
            let lag = self.syn.filter(|(_, known)| *known == print).map(|(then, _)| at.since(then));
            let is_stamped = packet.segment.timestamps.is_some();
            let is_numbered = packet.identification != 0;
            let is_copy = |lag: Duration| match is_numbered {
                true => is_stamped || lag < SOON,
                false => is_stamped && lag > TICK,
            };
            if lag.is_some_and(is_copy) {
                return lag;
            }
            self.syn = Some((at, print));
            if flags.has(Flags::ACK) && !is_numbered && copies == 0 {
                return None;
            }
        }
        let within = if packet.identification == 0 { UNCOUNTED } else { COUNTED };
        let lag = |(then, other): &(Instant, Print)| {
            (*other == print).then(|| at.since(*then)).filter(|lag| *lag <= within)
        };
        if let Some(lag) = self.packets.iter().rev().find_map(lag) {
            return Some(lag);
        }
        if self.packets.len() == REMEMBERED {
            self.packets.pop_front();
        }
        self.packets.push_back((at, print));
        None
    }
}

/// The identity of a packet.
pub(crate) fn print(packet: &CapturedPacket) -> Print {
    let WireSegment { seq, ack, len, window, flags, timestamps, sack, .. } = &packet.segment;
    let stamps = timestamps.unwrap_or_default();
    let header = u32::from(*window) << 16 | u32::from(flags.bits());
    let block = sack.first().map_or([0; 2], |block| [block.start, block.end]);
    let pairs = [[*seq, *ack], [*len, header], [stamps.value, stamps.echo], block];
    let mix = |print: u64, word: u64| {
        let product = u128::from(print ^ word) * u128::from(MULTIPLIER);
        (product >> 64) as u64 ^ product as u64
    };
    let words = pairs.map(|[high, low]| u64::from(high) << 32 | u64::from(low));
    words.into_iter().fold(mix(SEED, u64::from(packet.identification)), mix)
}
