//! Packets that a capture contains twice, because of mirrored ports or several interfaces.

#[cfg(test)]
mod tests;

use rtolab_capture::{Captured, CapturedPacket};
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

/// What a capture shows of the place at which it saw a packet. The interface alone does not show
/// it, because a packet may pass one interface before and after a router.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Location {
    pub interface: u32,
    /// TTL or hop limit.
    pub hops: u8,
}

impl Location {
    pub const fn of(captured: &Captured) -> Self {
        Self { interface: captured.interface, hops: captured.hops }
    }
}

/// A copy of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Copy {
    /// The time since the earlier copy.
    pub lag: Duration,
    /// The location of the earlier copy: that of this one, if that location saw one already.
    pub first: Location,
    /// The number of other locations that saw copies.
    pub others: usize,
}

/// The latest packets of one direction: their fingerprints in two halves, and their times and
/// locations apart from these, so that the search is fast.
#[derive(Clone, Debug)]
struct Ring {
    lower: [u32; REMEMBERED],
    upper: [u32; REMEMBERED],
    times: [Instant; REMEMBERED],
    locations: [Location; REMEMBERED],
    /// The number of packets remembered so far. The newest replaces the oldest.
    count: usize,
}

impl Ring {
    const EMPTY: Self = Self {
        lower: [0; REMEMBERED],
        upper: [0; REMEMBERED],
        times: [Instant::START; REMEMBERED],
        locations: [Location { interface: 0, hops: 0 }; REMEMBERED],
        count: 0,
    };

    /// May a packet with this fingerprint be a copy?
    #[inline]
    fn may_know(&self, fingerprint: Fingerprint) -> bool {
        let (lower, _) = halves(fingerprint);
        // Comparing all takes no branch for each, unlike a search.
        let is_known = |found: u32, one: &u32| found | u32::from(*one == lower);
        self.lower.iter().fold(0, is_known) != 0
    }

    /// The copy that a packet with this fingerprint is of one that passed up to `within` before.
    fn copy(
        &self,
        (fingerprint, location): (Fingerprint, Location),
        at: Instant,
        within: Within,
    ) -> Option<Copy> {
        let (lower, upper) = halves(fingerprint);
        let known = (0..self.count.min(REMEMBERED))
            .filter(|&index| (self.lower[index], self.upper[index]) == (lower, upper))
            .map(|index| (at.since(self.times[index]), self.locations[index]));
        let here = known.clone().filter(|&(lag, of)| of == location && lag <= within.here);
        let elsewhere = known.filter(|&(lag, of)| of != location && lag <= within.elsewhere);
        let others = elsewhere.clone().count();
        let (lag, first) =
            here.min_by_key(|(lag, _)| *lag).or_else(|| elsewhere.min_by_key(|(lag, _)| *lag))?;
        Some(Copy { lag, first, others })
    }

    #[inline]
    fn remember(&mut self, (fingerprint, location): (Fingerprint, Location), at: Instant) {
        let index = self.count % REMEMBERED;
        (self.lower[index], self.upper[index]) = halves(fingerprint);
        (self.times[index], self.locations[index]) = (at, location);
        self.count += 1;
    }
}

const fn halves(fingerprint: Fingerprint) -> (u32, u32) {
    (fingerprint as u32, (fingerprint >> 32) as u32)
}

/// The longest times to a copy, at the same location and at another one.
#[derive(Clone, Copy, Debug)]
struct Within {
    here: Duration,
    elsewhere: Duration,
}

/// The latest packets of one direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct RecentPackets {
    /// `None` before the first packet.
    ring: Option<Box<Ring>>,
    syn: Option<(Instant, Fingerprint, Location)>,
    /// The number of SYNs that the other end sent, without copies.
    peer_syns: u32,
}

impl RecentPackets {
    /// The copy that this packet is; `None` if it is none.
    ///
    /// `copies` is the number of copies in the capture so far. Hosts set no IP identification in a
    /// SYN-ACK, and a retransmitted SYN and an expired timer cause equal SYN-ACKs at almost the
    /// same time; such a pair is evidence of copies only if the capture has others, or if the two
    /// passed at different locations. So are equal RSTs, by which a host answers several segments.
    /// If the peer sent a single SYN, only a timer of a second or more causes another SYN-ACK.
    #[inline]
    pub fn copied(&mut self, captured: &Captured, at: Instant, copies: u64) -> Option<Copy> {
        let key = (fingerprint(&captured.packet), Location::of(captured));
        let ring = self.ring.get_or_insert_with(|| Box::new(Ring::EMPTY));
        if captured.packet.segment.flags.has(Flags::SYN) || ring.may_know(key.0) {
            return self.copied_slowly(key, (captured, at), copies);
        }
        ring.remember(key, at);
        None
    }

    /// As [`Self::copied`], for a SYN or a packet that may be a copy.
    #[inline(never)]
    fn copied_slowly(
        &mut self,
        (fingerprint, location): (Fingerprint, Location),
        (captured, at): (&Captured, Instant),
        copies: u64,
    ) -> Option<Copy> {
        let packet = &captured.packet;
        let flags = packet.segment.flags;
        let is_numbered = packet.identification != 0;
        let ring = self.ring.get_or_insert_with(|| Box::new(Ring::EMPTY));
        if flags.has(Flags::SYN) {
            let known = self.syn.filter(|(_, known, _)| *known == fingerprint);
            let is_stamped = packet.segment.timestamps.is_some();
            let is_only_answer = flags.has(Flags::ACK) && self.peer_syns == 1;
            let is_copy = |&(lag, first): &(Duration, Location)| match is_numbered {
                true => is_stamped || lag <= MAX_LAG_OF_SYN,
                false if first != location || is_only_answer => is_stamped || lag <= MAX_LAG_OF_SYN,
                false => is_stamped && lag > TICK,
            };
            let copy = known.map(|(then, _, first)| (at.since(then), first)).filter(is_copy);
            if let Some((lag, first)) = copy {
                let within = Within { here: MAX_LAG_OF_SYN, elsewhere: MAX_LAG_OF_SYN };
                let nearby = ring.copy((fingerprint, location), at, within);
                ring.remember((fingerprint, location), at);
                return nearby.or(Some(Copy { lag, first, others: 1 }));
            }
            self.syn = Some((at, fingerprint, location));
            if flags.has(Flags::ACK) && !is_numbered && copies == 0 {
                ring.remember((fingerprint, location), at);
                return None;
            }
        }
        let here = if is_numbered { MAX_LAG } else { MAX_LAG_WITHOUT_ID };
        let key = (fingerprint, location);
        let is_doubtful = flags.has(Flags::RST) && !is_numbered && copies == 0;
        let copy = ring.copy(key, at, Within { here, elsewhere: MAX_LAG });
        let copy = copy.filter(|copy| copy.first != location || !is_doubtful);
        if copy.is_none_or(|copy| copy.first != location) {
            ring.remember(key, at);
        }
        copy
    }

    /// Counts a SYN of the other end.
    pub const fn on_peer_syn(&mut self) {
        self.peer_syns = self.peer_syns.saturating_add(1);
    }

    /// The location of the newest packet.
    pub fn location(&self) -> Option<Location> {
        let ring = self.ring.as_ref().filter(|ring| ring.count > 0)?;
        Some(ring.locations[(ring.count - 1) % REMEMBERED])
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
