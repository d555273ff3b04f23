//! Conversion between the packets of a connection in a capture and segments of the engine.

use rtolab_tcp::wire::{Addresses, Ports, SeqReference, Side, WireMapping, WireSegment};
use rtolab_tcp::{Flags, Segment, Seq, SynOptions};

use crate::{CapturedPacket, RUN_START};

/// An end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The end that opens the connection.
    Client,
    /// The other end.
    Server,
}

impl End {
    /// The peer.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }
}

/// A connection between two ends, with their sequence numbers and options in the packets so far.
/// Packets must be in the order of the capture.
#[derive(Clone, Debug)]
pub struct Conversation {
    addresses: Addresses,
    ports: Ports,
    ends: [EndState; 2],
    /// The mapping of the segments of each end, which only a SYN changes; `None` until both
    /// initial sequence numbers are known.
    mappings: Option<[WireMapping; 2]>,
}

/// The state of one end.
#[derive(Clone, Copy, Debug)]
struct EndState {
    isn: Option<u32>,
    offer: Option<SynOptions>,
    newest: Seq,
}

impl Conversation {
    /// A connection to be written. `addresses` and `ports` are those of packets from the client,
    /// `isn` are the initial sequence numbers of client and server. SYNs set the window scales.
    pub fn new(addresses: Addresses, ports: Ports, isn: [u32; 2]) -> Self {
        let ends = isn.map(|isn| EndState::new(Some(isn)));
        Self { addresses, ports, ends, mappings: None }
    }

    /// The connection of its first packet in a capture. The client has sent it, unless it is a
    /// SYN-ACK. If the capture begins within a connection, its first byte counts as the first after
    /// the SYN, and windows are not scaled.
    pub fn from_first_packet(packet: &CapturedPacket) -> Self {
        let CapturedPacket { addresses, segment: WireSegment { ports, flags, .. }, .. } = packet;
        let (addresses, ports) = match flags.has(Flags::SYN | Flags::ACK) {
            true => (addresses.reversed(), ports.reversed()),
            false => (*addresses, *ports),
        };
        Self { addresses, ports, ends: [EndState::new(None); 2], mappings: None }
    }

    /// The packet of a segment, with the time [`RUN_START`], identification 0 and no comment.
    pub fn packet(&mut self, from: End, segment: &Segment) -> CapturedPacket {
        let (addresses, ports) = match from {
            End::Client => (self.addresses, self.ports),
            End::Server => (self.addresses.reversed(), self.ports.reversed()),
        };
        let codepoint = segment.codepoint();
        let segment = WireSegment::from_segment(segment, &self.mapping(from), ports);
        self.record_syn(from, &segment);
        CapturedPacket {
            at: RUN_START,
            addresses,
            identification: 0,
            codepoint,
            segment,
            comment: None,
        }
    }

    /// The sender of a packet, and its segment; `None` for a packet of another connection.
    pub fn segment(&mut self, packet: &CapturedPacket) -> Option<(End, Segment)> {
        let mut segment = Segment::new(Seq::FIRST, 0, Flags::NONE);
        let from = self.segment_into(&mut segment, packet)?;
        Some((from, segment))
    }

    /// As [`Self::segment`], in place, which is faster.
    #[inline]
    pub fn segment_into(&mut self, segment: &mut Segment, packet: &CapturedPacket) -> Option<End> {
        let CapturedPacket { addresses, segment: wire, .. } = packet;
        let from = match (*addresses, wire.ports) {
            ends if ends == (self.addresses, self.ports) => End::Client,
            ends if ends == (self.addresses.reversed(), self.ports.reversed()) => End::Server,
            _ => return None,
        };
        if self.mappings.is_none() || wire.flags.has(Flags::SYN) {
            self.record_syn(from, wire);
        }
        let mapping = match &self.mappings {
            Some(mappings) => mappings[from as usize],
            None => self.mapping(from),
        };
        let near = SeqReference { seq: self.end(from).newest, ack: self.end(from.other()).newest };
        wire.to_segment_in(segment, &mapping, near);
        segment.set_codepoint(packet.codepoint);
        if !segment.flags.has(Flags::RST) {
            self.end_mut(from).advance(segment.end());
            if segment.flags.has(Flags::ACK) {
                self.end_mut(from.other()).advance(segment.ack);
            }
        }
        Some(from)
    }

    fn mapping(&self, from: End) -> WireMapping {
        let [from, to] = [self.end(from), self.end(from.other())];
        let side = |end: &EndState| Side { isn: end.isn.unwrap_or_default(), shift: 0 };
        let mut mapping = WireMapping { from: side(from), to: side(to) };
        mapping.negotiate(from.offer.unwrap_or_default(), to.offer.unwrap_or_default());
        mapping
    }

    /// Records the initial sequence numbers and the options of a SYN. Once both numbers are known,
    /// other segments change nothing.
    fn record_syn(&mut self, from: End, wire: &WireSegment) {
        let is_syn = wire.flags.has(Flags::SYN);
        let end = self.end_mut(from);
        let first = wire.seq.wrapping_sub(u32::from(!is_syn));
        end.isn.get_or_insert(first);
        if is_syn {
            end.offer = Some(wire.syn);
        }
        if wire.flags.has(Flags::ACK) {
            self.end_mut(from.other()).isn.get_or_insert(wire.ack.wrapping_sub(1));
        }
        let are_known = self.ends.iter().all(|end| end.isn.is_some());
        self.mappings = are_known.then(|| [End::Client, End::Server].map(|end| self.mapping(end)));
    }

    const fn end(&self, end: End) -> &EndState {
        &self.ends[end as usize]
    }

    const fn end_mut(&mut self, end: End) -> &mut EndState {
        &mut self.ends[end as usize]
    }
}

impl EndState {
    const fn new(isn: Option<u32>) -> Self {
        Self { isn, offer: None, newest: Seq::FIRST }
    }

    fn advance(&mut self, seq: Seq) {
        self.newest = self.newest.max(seq);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADDRESSES: Addresses = Addresses::V4 {
        from: std::net::Ipv4Addr::new(10, 0, 0, 1),
        to: std::net::Ipv4Addr::new(10, 0, 0, 2),
    };
    const PORTS: Ports = Ports { from: 49_152, to: 5001 };
    const ISN: [u32; 2] = [0xffff_fff0, 0xffff_ffff];

    fn syn(from: End, window_scale: Option<u8>) -> Segment {
        let mut segment = Segment::new(Seq::FIRST, 0, Flags::SYN);
        segment.set_syn_options(SynOptions { window_scale, ..SynOptions::default() });
        segment.window = 60_000;
        if from == End::Server {
            segment.flags |= Flags::ACK;
            segment.ack = Seq::FIRST + 1;
        }
        segment
    }

    fn data(seq: Seq, len: u32, ack: Seq) -> Segment {
        let mut segment = Segment::new(seq, len, Flags::ACK);
        segment.ack = ack;
        segment.window = 128_000;
        segment
    }

    #[test]
    fn segments_are_equal_after_conversion_to_packets_and_back() {
        let one = Seq::FIRST + 1;
        let script = [
            (End::Client, syn(End::Client, Some(7))),
            (End::Server, syn(End::Server, Some(2))),
            (End::Client, data(one, 1000, one)),
            (End::Client, data(one + 2000, 1000, one)),
            (End::Server, {
                let mut ack = data(one, 0, one + 1000);
                ack.push_sack(one + 2000..one + 3000);
                ack
            }),
            (End::Client, data(one + 1000, 1000, one)),
            (End::Server, data(one, 0, one + 3000)),
        ];
        let mut written = Conversation::new(ADDRESSES, PORTS, ISN);
        let packets = script.map(|(from, segment)| written.packet(from, &segment));
        let mut read = Conversation::from_first_packet(&packets[0]);
        let back = packets.map(|packet| read.segment(&packet));
        assert_eq!(back, script.map(Some));
    }

    #[test]
    fn t_b_8_windows_are_scaled_only_if_both_syns_have_the_option() {
        for (client, server, written) in [
            (Some(7), Some(2), [1000, 32_000]),
            (Some(7), None, [65_535, 65_535]),
            (None, Some(2), [65_535, 65_535]),
        ] {
            let mut conversation = Conversation::new(ADDRESSES, PORTS, ISN);
            assert_eq!(window(&mut conversation, End::Client, syn(End::Client, client)), 60_000);
            assert_eq!(window(&mut conversation, End::Server, syn(End::Server, server)), 60_000);
            let segment = data(Seq::FIRST + 1, 0, Seq::FIRST + 1);
            let ends = [End::Client, End::Server];
            assert_eq!(ends.map(|end| window(&mut conversation, end, segment)), written);
        }
    }

    fn window(conversation: &mut Conversation, from: End, segment: Segment) -> u16 {
        conversation.packet(from, &segment).segment.window
    }

    #[test]
    fn a_capture_that_begins_within_a_connection_counts_from_its_first_byte() {
        let mut written = Conversation::new(ADDRESSES, PORTS, ISN);
        let far = Seq::new(5 << 32);
        let first = written.packet(End::Server, &data(far, 1000, far + 77));
        let second = written.packet(End::Client, &data(far + 77, 10, far + 1000));
        let older = written.packet(End::Server, &data(far - 1000, 1000, far + 77));

        let mut read = Conversation::from_first_packet(&first);
        let one = Seq::FIRST + 1;
        let mut numbers =
            |packet| read.segment(packet).map(|(end, segment)| (end, segment.seq, segment.ack));
        assert_eq!(numbers(&first), Some((End::Client, one, one)));
        assert_eq!(numbers(&second), Some((End::Server, one, one + 1000)));
        assert_eq!(numbers(&older), Some((End::Client, one - 1000, one)));
    }

    #[test]
    fn a_syn_ack_comes_from_the_server() {
        let mut written = Conversation::new(ADDRESSES, PORTS, ISN);
        let packet = written.packet(End::Server, &syn(End::Server, None));
        let mut read = Conversation::from_first_packet(&packet);
        assert_eq!(read.segment(&packet), Some((End::Server, syn(End::Server, None))));
    }

    #[test]
    fn packets_of_other_connections_are_ignored() {
        let mut conversation = Conversation::new(ADDRESSES, PORTS, ISN);
        let packet = conversation.packet(End::Client, &syn(End::Client, None));
        let mut other = packet.clone();
        other.segment.ports.from += 1;
        assert_eq!(conversation.segment(&other), None);
        assert!(conversation.segment(&packet).is_some());
    }
}
