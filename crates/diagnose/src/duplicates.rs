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

/// Constants of wyhash: odd, with half of their bits set.
const SECRETS: [u64; 5] = [
    0xa076_1d64_78bd_642f,
    0xe703_7ed1_a0b4_28db,
    0x8ebc_6af0_9c88_c6e3,
    0x5899_65cc_7537_4cc3,
    0x1d8e_4e27_c47d_124f,
];

/// The longest time to a copy of a SYN without timestamps. A retransmitted SYN comes later.
const MAX_LAG_OF_SYN: Duration = Duration::from_millis(500);

/// The longest tick of a timestamp clock: timestamps taken further apart differ.
const TICK: Duration = Duration::from_millis(10);

/// The latest packets of one direction: their fingerprints in two halves, and their times apart
/// from these, so that the search is fast.
#[derive(Clone, Debug)]
struct Ring {
    lower: [u32; REMEMBERED],
    upper: [u32; REMEMBERED],
    times: [Instant; REMEMBERED],
    /// The number of packets remembered so far. The newest replaces the oldest.
    count: usize,
}

impl Ring {
    const EMPTY: Self = Self {
        lower: [0; REMEMBERED],
        upper: [0; REMEMBERED],
        times: [Instant::START; REMEMBERED],
        count: 0,
    };

    /// The time since the newest packet with this fingerprint.
    #[inline]
    fn lag(&self, fingerprint: Fingerprint, at: Instant) -> Option<Duration> {
        let (lower, upper) = halves(fingerprint);
        // Comparing all takes no branch for each, unlike a search.
        let is_known = |found: u32, one: &u32| found | u32::from(*one == lower);
        if self.lower.iter().fold(0, is_known) == 0 {
            return None;
        }
        let known = (0..self.count.min(REMEMBERED))
            .filter(|&index| (self.lower[index], self.upper[index]) == (lower, upper));
        known.map(|index| at.since(self.times[index])).min()
    }

    #[inline]
    fn remember(&mut self, fingerprint: Fingerprint, at: Instant) {
        let index = self.count % REMEMBERED;
        (self.lower[index], self.upper[index]) = halves(fingerprint);
        self.times[index] = at;
        self.count += 1;
    }
}

const fn halves(fingerprint: Fingerprint) -> (u32, u32) {
    (fingerprint as u32, (fingerprint >> 32) as u32)
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
        let ring = self.ring.get_or_insert_with(|| Box::new(Ring::EMPTY));
        let lag = ring.lag(fingerprint, at).filter(|lag| *lag <= within);
        if lag.is_none() {
            ring.remember(fingerprint, at);
        }
        lag
    }
}

/// The fingerprint of a packet.
#[inline]
pub(crate) fn fingerprint(packet: &CapturedPacket) -> Fingerprint {
    let WireSegment { seq, ack, len, window, flags, timestamps, sack, .. } = &packet.segment;
    let stamps = timestamps.unwrap_or_default();
    let header = u32::from(*window) << 16 | u32::from(flags.bits());
    let block = sack.first().map_or([0; 2], |block| [block.start, block.end]);
    let word = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
    let numbers = mix(word(*seq, *ack) ^ SECRETS[0], word(*len, header) ^ SECRETS[1]);
    let [start, end] = block;
    let options = mix(word(stamps.value, stamps.echo) ^ SECRETS[2], word(start, end) ^ SECRETS[3]);
    mix(numbers ^ SECRETS[4], options ^ u64::from(packet.identification))
}

const fn mix(one: u64, other: u64) -> u64 {
    let product = one as u128 * other as u128;
    (product >> 64) as u64 ^ product as u64
}
