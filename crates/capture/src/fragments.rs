//! Reassembly of IP fragments (RFC 791 section 3.2, RFC 8200 section 4.5).

use std::collections::{BTreeMap, VecDeque};

use rtolab_packet::protocol::IpNumber;
use rtolab_packet::{Fragment, Ip, IpHeader};
use rtolab_tcp::wire::Addresses;
use rtolab_time::{Duration, Instant};

/// The reassembly timeout (RFC 8200 section 4.5).
const TIMEOUT: Duration = Duration::from_secs(60);
/// The maximum number of packets being reassembled, and of their bytes. At the limits the oldest
/// packet is discarded.
const MAX_PACKETS: usize = 1024;
const MAX_BYTES: usize = 16 << 20;
/// The memory of a fragment in addition to its payload, in bytes.
const FRAGMENT_OVERHEAD: usize = 64;
/// The longest payload of an IP packet.
const MAX_PAYLOAD: usize = 65_535;

/// The identity of a fragmented packet: its addresses as octets, which have an order, the protocol
/// for IPv4, and the identification.
type Key = ([[u8; 16]; 2], u8, u32);

/// The result of adding a fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reassembly {
    /// The packet is not complete, or the fragment was discarded.
    Incomplete,
    /// The packet is complete: see [`Fragments::complete_packet`].
    Complete,
}

/// The packets being reassembled.
#[derive(Debug, Default)]
pub(crate) struct Fragments {
    open: BTreeMap<Key, PartialPacket>,
    /// The packets in the order of their first fragments; some may be complete or discarded by now.
    order: VecDeque<(Instant, Key)>,
    bytes: usize,
    /// The payload of the packet that was completed last.
    complete_packet: Vec<u8>,
    /// Fragments of packets that were never completed.
    pub incomplete: u64,
    /// Fragments of packets that were discarded because some overlap (RFC 5722).
    pub overlapping: u64,
}

/// The fragments of one packet so far.
#[derive(Debug)]
struct PartialPacket {
    since: Instant,
    /// The header of the first fragment.
    head: Option<(IpHeader, IpNumber)>,
    /// The captured bytes and the length of each fragment, by offset.
    parts: BTreeMap<usize, (Vec<u8>, usize)>,
    /// The length of the whole payload, if the last fragment was seen.
    length: Option<usize>,
    /// The number of payload bytes seen.
    seen: usize,
    /// The memory that the parts use.
    bytes: usize,
    /// Fragments seen, duplicates included.
    count: u64,
    /// The number of fragments discarded because two contradict each other.
    overlapping: u64,
}

impl Fragments {
    /// Adds a fragment that was captured at this time.
    pub fn add(&mut self, ip: &Ip<'_>, fragment: Fragment, at: Instant) -> Reassembly {
        self.expire(at);
        self.evict(ip.payload.len() + FRAGMENT_OVERHEAD);
        let key = key(ip, fragment);
        if !self.open.contains_key(&key) {
            self.order.push_back((at, key));
        }
        let packet = self.open.entry(key).or_insert_with(|| PartialPacket::new(at));
        let before = (packet.bytes, packet.overlapping);
        let taken = packet.add(ip, fragment);
        self.bytes = self.bytes + packet.bytes - before.0;
        self.overlapping += packet.overlapping - before.1;
        taken
    }

    /// The packet that this fragment completed, up to the first byte that was not captured.
    pub fn complete_packet(&mut self, ip: &Ip<'_>, fragment: Fragment) -> Option<Ip<'_>> {
        let packet = self.remove(&key(ip, fragment))?;
        let ((header, protocol), length) = (packet.head?, packet.length?);
        self.complete_packet.clear();
        for (start, (bytes, _)) in &packet.parts {
            if *start != self.complete_packet.len() {
                break;
            }
            self.complete_packet.extend(bytes);
        }
        Some(Ip { header, protocol, fragment: None, payload: &self.complete_packet, length })
    }

    /// Discards all incomplete packets at the end of the capture.
    pub fn finish(&mut self) {
        for (_, packet) in std::mem::take(&mut self.open) {
            self.incomplete += packet.incomplete_count();
        }
        self.order.clear();
        self.bytes = 0;
    }

    fn expire(&mut self, at: Instant) {
        while self.order.front().is_some_and(|(since, _)| at.since(*since) > TIMEOUT) {
            self.discard_oldest();
        }
    }

    fn evict(&mut self, bytes: usize) {
        while self.open.len() >= MAX_PACKETS || self.bytes + bytes > MAX_BYTES {
            self.discard_oldest();
        }
        if self.order.len() >= 2 * MAX_PACKETS {
            let Self { open, order, .. } = self;
            order.retain(|(since, key)| open.get(key).is_some_and(|one| one.since == *since));
        }
    }

    fn discard_oldest(&mut self) {
        let Some((since, key)) = self.order.pop_front() else { return };
        if self.open.get(&key).is_some_and(|packet| packet.since == since) {
            let packet = self.remove(&key);
            self.incomplete += packet.map_or(0, |packet| packet.incomplete_count());
        }
    }

    fn remove(&mut self, key: &Key) -> Option<PartialPacket> {
        let packet = self.open.remove(key)?;
        self.bytes -= packet.bytes;
        Some(packet)
    }
}

impl PartialPacket {
    const fn new(since: Instant) -> Self {
        Self {
            since,
            head: None,
            parts: BTreeMap::new(),
            length: None,
            seen: 0,
            bytes: 0,
            count: 0,
            overlapping: 0,
        }
    }

    /// The number of fragments that count as incomplete if the packet stays so: all but the
    /// overlapping ones.
    const fn incomplete_count(&self) -> u64 {
        self.count - self.overlapping
    }

    fn add(&mut self, ip: &Ip<'_>, fragment: Fragment) -> Reassembly {
        let (start, end) = (fragment.offset, fragment.offset + ip.length);
        self.count += 1;
        let known = self.parts.get(&start);
        if known.is_some_and(|(bytes, length)| *length == ip.length && bytes == ip.payload) {
            // A duplicate, because a capture may contain packets twice.
            return Reassembly::Incomplete;
        }
        if self.overlapping > 0 || !self.fits(start, end, fragment.is_last) {
            self.overlapping = self.count;
            self.parts.clear();
            self.bytes = 0;
            return Reassembly::Incomplete;
        }
        if fragment.is_last {
            self.length = Some(end);
        }
        if start == 0 {
            self.head = Some((ip.header, ip.protocol));
        }
        self.seen += ip.length;
        self.bytes += ip.payload.len() + FRAGMENT_OVERHEAD;
        self.parts.insert(start, (ip.payload.to_vec(), ip.length));
        let is_whole = self.head.is_some() && self.length == Some(self.seen);
        if is_whole { Reassembly::Complete } else { Reassembly::Incomplete }
    }

    /// Is the fragment consistent with the others?
    fn fits(&self, start: usize, end: usize, is_last: bool) -> bool {
        let previous = self.parts.range(..=start).next_back();
        let starts_after_previous =
            previous.is_none_or(|(at, (_, length))| at + length <= start && *at != start);
        let next = self.parts.range(start..).next();
        let ends_before_next = next.is_none_or(|(at, _)| end <= *at);
        let highest = self.parts.iter().next_back().map_or(0, |(at, (_, length))| at + length);
        let in_bounds = match (self.length, is_last) {
            (Some(length), true) => length == end,
            (Some(length), false) => end <= length,
            (None, true) => highest <= end,
            (None, false) => (end - start) % 8 == 0,
        };
        starts_after_previous && ends_before_next && in_bounds && start < end && end <= MAX_PAYLOAD
    }
}

/// The identity of the fragment's packet. That of IPv6 has no protocol.
fn key(ip: &Ip<'_>, fragment: Fragment) -> Key {
    let (addresses, protocol) = match ip.header.addresses {
        Addresses::V4 { from, to } => {
            ([from, to].map(|one| one.to_ipv6_mapped().octets()), ip.protocol.0)
        }
        Addresses::V6 { from, to } => ([from, to].map(|one| one.octets()), 0),
    };
    (addresses, protocol, fragment.identification)
}

#[cfg(test)]
mod tests;
