//! The packets of a flow as the engine's segments, with what became of each.

use std::collections::BTreeMap;
use std::ops::Range;

use rtolab_capture::{Conversation, Packet, RUN_START};
use rtolab_packet::{IPV4_HEADER, UDP_HEADER};
use rtolab_record::{Fate, Place};
use rtolab_tcp::wire::WireSegment;
use rtolab_tcp::{Flags, Segment, Seq};
use rtolab_time::{Duration, Instant};

use super::log::{Log, Sent};
use super::paws;

/// IPv4's and UDP's headers, in bytes.
pub(crate) const DATAGRAM_HEADERS: u32 = (IPV4_HEADER + UDP_HEADER) as u32;

/// A packet of a flow.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// The number of its copy in the log.
    pub copy: u64,
    /// The end at which it was sent.
    pub from: Place,
    /// Without flags: a datagram.
    pub segment: Segment,
    pub sent: Instant,
    /// With IP and TCP or UDP headers.
    pub bytes: u32,
    pub fate: Fate,
    pub fate_at: Option<Instant>,
    pub held: Duration,
    /// It arrived, and its receiver dropped its data for its timestamp.
    pub dropped_as_old: bool,
    /// Was (part of) it sent before?
    pub retransmission: bool,
    /// Of a retransmission: earlier copies delivered every byte of it.
    pub unneeded: bool,
}

impl Seen {
    /// When it arrived; `None`: it did not.
    pub(crate) fn arrived(&self) -> Option<Instant> {
        self.fate_at.filter(|_| self.fate == Fate::Delivered)
    }

    /// When it brought its receiver its data, if these had not come before; `None`: it did not.
    pub(crate) fn delivered(&self) -> Option<Instant> {
        self.arrived().filter(|_| !self.dropped_as_old)
    }

    /// What it takes of the sequence space of its sender.
    pub(crate) fn range(&self) -> Range<u64> {
        self.segment.seq.value()..self.segment.end().value()
    }
}

/// The packets of each of so many flows, in the order in which they left.
pub(crate) fn all(log: &Log, flows: usize) -> Vec<Vec<Seen>> {
    let mut readers: Vec<_> = (0..flows).map(|_| Reader::default()).collect();
    for (copy, sent) in log.sent.iter().enumerate() {
        if let Some((flow, place)) = sent.flow {
            readers[flow].read(copy as u64, sent, place);
        }
    }
    readers.into_iter().map(|reader| judged(reader.seen)).collect()
}

/// The same, with what was sent again, and whether it had to be.
fn judged(mut seen: Vec<Seen>) -> Vec<Seen> {
    paws::mark(&mut seen);
    // Of either end: behind the highest sequence number sent, and what was delivered of what was
    // sent so far, whenever that is.
    let mut ends: [(u64, Ranges); 2] = Default::default();
    for one in &mut seen {
        let (range, (max, delivered)) = (one.range(), &mut ends[one.from.index()]);
        if range.is_empty() {
            continue;
        }
        one.retransmission = range.start < *max;
        one.unneeded = one.retransmission && delivered.hold(&range);
        *max = range.end.max(*max);
        if one.delivered().is_some() {
            delivered.add(range);
        }
    }
    seen
}

/// Reads the packets of one flow.
#[derive(Default)]
struct Reader {
    seen: Vec<Seen>,
    conversation: Option<Conversation>,
    datagrams: u64,
}

impl Reader {
    fn read(&mut self, copy: u64, sent: &Sent, from: Place) {
        let Some(segment) = self.segment(sent) else { return };
        self.seen.push(Seen {
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

    fn segment(&mut self, sent: &Sent) -> Option<Segment> {
        let packet = match read(sent)? {
            Read::Tcp(packet) => packet,
            Read::Datagram => {
                let payload = sent.length - DATAGRAM_HEADERS.min(sent.length);
                let seq = Seq::new((Seq::FIRST + 1).value() + self.datagrams);
                self.datagrams += u64::from(payload);
                return Some(Segment::new(seq, payload, Flags::NONE));
            }
        };
        let begun = || Conversation::begun_by(&packet);
        let conversation = self.conversation.get_or_insert_with(begun);
        conversation.segment(&packet).map(|(_, segment)| segment)
    }
}

enum Read {
    Tcp(Packet),
    Datagram,
}

fn read(sent: &Sent) -> Option<Read> {
    let ip = sent.ip()?;
    if !ip.is_tcp() {
        return Some(Read::Datagram);
    }
    let segment = WireSegment::parse(ip.payload, ip.length).ok()?;
    Some(Read::Tcp(Packet {
        at: RUN_START + sent.at.since(Instant::START),
        addresses: ip.header.addresses,
        identification: ip.header.identification,
        codepoint: ip.header.codepoint,
        segment,
        comment: None,
    }))
}

/// Parts of a sequence space.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges(BTreeMap<u64, u64>);

impl Ranges {
    /// Adds a part.
    pub(crate) fn add(&mut self, range: Range<u64>) {
        let Range { mut start, mut end } = range;
        while let Some((from, to)) = self.0.range(..=end).next_back().map(|(f, t)| (*f, *t)) {
            if to < start {
                break;
            }
            self.0.remove(&from);
            (start, end) = (start.min(from), end.max(to));
        }
        self.0.insert(start, end);
    }

    /// Is all of it there?
    pub(crate) fn hold(&self, range: &Range<u64>) -> bool {
        self.0.range(..=range.start).next_back().is_some_and(|(_, end)| *end >= range.end)
    }

    /// Behind the part that begins at or before `start`; `start` if there is none.
    pub(crate) fn reach(&self, start: u64) -> u64 {
        self.0.range(..=start).next_back().map_or(start, |(_, end)| start.max(*end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_touch_become_one() {
        let mut ranges = Ranges::default();
        for (start, end) in [(10, 20), (30, 40), (50, 60), (20, 30)] {
            ranges.add(start..end);
        }
        assert!(ranges.hold(&(10..40)) && ranges.hold(&(55..60)));
        assert!(!ranges.hold(&(10..41)) && !ranges.hold(&(45..55)));
        ranges.add(35..55);
        assert!(ranges.hold(&(10..60)));
        assert_eq!((ranges.reach(10), ranges.reach(5)), (60, 5));
        ranges.add(1..100);
        assert_eq!(ranges.0.len(), 1);
    }
}
