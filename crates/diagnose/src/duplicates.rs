//! Packets that a capture contains twice, because of mirrored ports or several interfaces.

use rtolab_capture::CapturedPacket;
use rtolab_tcp::Flags;
use rtolab_tcp::wire::WireSegment;
use rtolab_time::{Duration, Instant};

/// The number of earlier packets of the same direction with which a packet is compared.
const REMEMBERED: usize = 16;
/// The longest time to a copy with the same IP identification.
const MAX_LAG: Duration = Duration::from_millis(50);
/// The longest time to a copy if the sender sets no IP identification.
const MAX_LAG_WITHOUT_ID: Duration = Duration::from_micros(100);

/// A hash of the header fields that copies of a packet share.
pub(crate) type Fingerprint = u64;

/// A constant of wyhash: odd, with half of its bits set.
const MULTIPLIER: u64 = 0xa076_1d64_78bd_642f;
const SEED: u64 = 0xe703_7ed1_a0b4_28db;

/// The longest time to a copy of a SYN without timestamps. A retransmitted SYN comes later.
const MAX_LAG_OF_SYN: Duration = Duration::from_millis(500);

/// The longest tick of a timestamp clock: timestamps taken further apart differ.
const TICK: Duration = Duration::from_millis(10);

/// The latest packets of one direction: their fingerprints, and their times apart from these, so
/// that the search is fast.
#[derive(Clone, Debug)]
struct Ring {
    fingerprints: [Fingerprint; REMEMBERED],
    times: [Instant; REMEMBERED],
    /// The number of packets remembered so far. The newest replaces the oldest.
    count: usize,
}

impl Ring {
    /// The time since the newest packet with this fingerprint.
    fn lag(&self, fingerprint: Fingerprint, at: Instant) -> Option<Duration> {
        // Counting all takes no branch for each, unlike a search.
        if self.fingerprints.iter().filter(|one| **one == fingerprint).count() == 0 {
            return None;
        }
        let known = self.fingerprints.iter().zip(&self.times).take(self.count);
        known.filter(|(one, _)| **one == fingerprint).map(|(_, then)| at.since(*then)).min()
    }

    fn remember(&mut self, fingerprint: Fingerprint, at: Instant) {
        let index = self.count % REMEMBERED;
        (self.fingerprints[index], self.times[index]) = (fingerprint, at);
        self.count += 1;
    }
}

/// The latest packets of one direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct RecentPackets {
    /// `None` before the first packet.
    ring: Option<Box<Ring>>,
    syn: Option<(Instant, Fingerprint)>,
}

impl RecentPackets {
    /// The time since the packet of which this is a copy; `None` if it is no copy.
    ///
    /// `copies` is the number of copies in the capture so far. Hosts set no IP identification in a
    /// SYN-ACK, and a retransmitted SYN and an expired timer cause equal SYN-ACKs at almost the
    /// same time; such a pair is evidence of copies only if the capture has others.
    pub fn copied(
        &mut self,
        packet: &CapturedPacket,
        at: Instant,
        copies: u64,
    ) -> Option<Duration> {
        let fingerprint = fingerprint(packet);
        let flags = packet.segment.flags;
        if flags.has(Flags::SYN) {
            let lag =
                self.syn.filter(|(_, known)| *known == fingerprint).map(|(then, _)| at.since(then));
            let is_stamped = packet.segment.timestamps.is_some();
            let is_numbered = packet.identification != 0;
            let is_copy = |lag: Duration| match is_numbered {
                true => is_stamped || lag < MAX_LAG_OF_SYN,
                false => is_stamped && lag > TICK,
            };
            if lag.is_some_and(is_copy) {
                return lag;
            }
            self.syn = Some((at, fingerprint));
            if flags.has(Flags::ACK) && !is_numbered && copies == 0 {
                return None;
            }
        }
        let within = match packet.identification {
            0 => MAX_LAG_WITHOUT_ID,
            _ => MAX_LAG,
        };
        let ring = self.ring.get_or_insert_with(|| {
            let (fingerprints, times) = ([0; REMEMBERED], [Instant::START; REMEMBERED]);
            Box::new(Ring { fingerprints, times, count: 0 })
        });
        let lag = ring.lag(fingerprint, at).filter(|lag| *lag <= within);
        if lag.is_none() {
            ring.remember(fingerprint, at);
        }
        lag
    }
}

/// The fingerprint of a packet.
pub(crate) fn fingerprint(packet: &CapturedPacket) -> Fingerprint {
    let WireSegment { seq, ack, len, window, flags, timestamps, sack, .. } = &packet.segment;
    let stamps = timestamps.unwrap_or_default();
    let header = u32::from(*window) << 16 | u32::from(flags.bits());
    let block = sack.first().map_or([0; 2], |block| [block.start, block.end]);
    let pairs = [[*seq, *ack], [*len, header], [stamps.value, stamps.echo], block];
    let mix = |fingerprint: u64, word: u64| {
        let product = u128::from(fingerprint ^ word) * u128::from(MULTIPLIER);
        (product >> 64) as u64 ^ product as u64
    };
    let words = pairs.map(|[high, low]| u64::from(high) << 32 | u64::from(low));
    words.into_iter().fold(mix(SEED, u64::from(packet.identification)), mix)
}
