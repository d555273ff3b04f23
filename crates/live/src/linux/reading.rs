//! The packets of each flow, read from the forwarder's log.

use rtolab_capture::{CapturedPacket, Conversation, RUN_START};
use rtolab_packet::protocol::IpNumber;
use rtolab_packet::{IPV4_HEADER, UDP_HEADER};
use rtolab_record::Place;
use rtolab_tcp::wire::WireSegment;
use rtolab_tcp::{Flags, Segment, Seq};
use rtolab_time::Instant;

use super::log::{Log, Sent};
use super::observed_packet::{ObservedPacket, Ranges};
use super::paws;
use super::sctp::Chunks;

/// The headers of IPv4 and UDP, in bytes.
pub(crate) const DATAGRAM_HEADERS: u32 = (IPV4_HEADER + UDP_HEADER) as u32;

/// The packets of each flow, in the order in which they were sent.
pub(crate) fn read_flows(log: &Log, flows: usize) -> Vec<Vec<ObservedPacket>> {
    let mut readers: Vec<_> = (0..flows).map(|_| Reader::default()).collect();
    for (copy, sent) in log.sent.iter().enumerate() {
        if let Some((flow, place)) = sent.flow {
            readers[flow].read(copy as u64, sent, place);
        }
    }
    readers.into_iter().map(|reader| mark_retransmissions(reader.seen)).collect()
}

/// Marks retransmissions, and whether they were unneeded.
fn mark_retransmissions(mut seen: Vec<ObservedPacket>) -> Vec<ObservedPacket> {
    paws::mark(&mut seen);
    // For each end: the sequence number after the highest sent so far, and the data that the copies
    // sent so far deliver, sooner or later.
    let mut ends: [(u64, Ranges); 2] = Default::default();
    for packet in &mut seen {
        let (range, (max, delivered)) = (packet.range(), &mut ends[packet.from.index()]);
        if range.is_empty() {
            continue;
        }
        packet.retransmission = range.start < *max;
        packet.unneeded = packet.retransmission && delivered.contains(&range);
        *max = range.end.max(*max);
        if packet.delivered().is_some() {
            delivered.add(range);
        }
    }
    seen
}

/// Reads the packets of one flow.
#[derive(Default)]
struct Reader {
    seen: Vec<ObservedPacket>,
    conversation: Option<Conversation>,
    datagrams: u64,
    /// The SCTP data of each end.
    chunks: [Chunks; 2],
}

impl Reader {
    fn read(&mut self, copy: u64, sent: &Sent, from: Place) {
        let Some(segment) = self.segment(sent, from) else { return };
        self.seen.push(ObservedPacket {
            copy,
            from,
            segment,
            sent: sent.at,
            bytes: sent.length,
            fate: sent.fate,
            fate_at: sent.fate_at,
            held: sent.held,
            dropped_as_old: false,
            retransmission: false,
            unneeded: false,
        });
    }

    fn segment(&mut self, sent: &Sent, from: Place) -> Option<Segment> {
        let packet = match read(sent)? {
            Read::Tcp(packet) => packet,
            Read::Sctp(head) => {
                let (start, length) = self.chunks[from.index()].data(head).unwrap_or_default();
                let seq = Seq::new((Seq::FIRST + 1).value() + start);
                // Without flags it would be a datagram, whose copies are unknown.
                let flags = if length > 0 { Flags::PSH } else { Flags::NONE };
                return Some(Segment::new(seq, length, flags));
            }
            Read::Datagram => {
                let payload = sent.length - DATAGRAM_HEADERS.min(sent.length);
                let seq = Seq::new((Seq::FIRST + 1).value() + self.datagrams);
                self.datagrams += u64::from(payload);
                return Some(Segment::new(seq, payload, Flags::NONE));
            }
        };
        let new = || Conversation::from_first_packet(&packet);
        let conversation = self.conversation.get_or_insert_with(new);
        conversation.segment(&packet).map(|(_, segment)| segment)
    }
}

/// A packet of the log.
enum Read<'a> {
    Tcp(CapturedPacket),
    /// Its first bytes.
    Sctp(&'a [u8]),
    Datagram,
}

fn read(sent: &Sent) -> Option<Read<'_>> {
    let ip = sent.ip()?;
    match ip.protocol {
        IpNumber::TCP => {}
        IpNumber::SCTP => return Some(Read::Sctp(ip.payload)),
        _ => return Some(Read::Datagram),
    }
    let segment = WireSegment::parse(ip.payload, ip.length).ok()?;
    Some(Read::Tcp(CapturedPacket {
        at: RUN_START + sent.at.since(Instant::START),
        addresses: ip.header.addresses,
        identification: ip.header.identification,
        codepoint: ip.header.codepoint,
        segment,
        comment: None,
    }))
}
