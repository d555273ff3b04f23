//! The statistics of a flow, counted packet by packet in order of time.

use rtolab_record::{Delays, Fate, Losses, Measured, Place};
use rtolab_tcp::{Flags, Seq};
use rtolab_time::Instant;

use super::observed_packet::{ObservedPacket, Ranges};

/// The IPv4 header, in bytes.
const IP: u32 = 20;

/// The statistics of a flow's data and of its ACKs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    /// When its first packet was sent.
    pub start: Option<Instant>,
    /// When the ACK of its FIN arrived.
    pub end: Option<Instant>,
    /// The counts that are also measured in an interval.
    pub counts: Measured,
    pub header_bytes: u64,
    pub retransmissions: u64,
    pub unneeded: u64,
    pub lost: Losses,
    pub acks: u64,
    /// The duplicate ACKs that reached the sender: times and relative acknowledgment numbers.
    pub dupacks: Vec<(Instant, i64)>,
    pub delay: Delays,
    /// The ends of new data segments that no ACK has covered.
    outstanding: std::collections::BTreeSet<u64>,
    una: u64,
    max: u64,
    /// The end of the data, if a FIN was sent.
    fin: Option<u64>,
    window: u32,
    arrived: Ranges,
}

#[derive(Clone, Copy, Debug)]
enum FlowEvent {
    Sent,
    Received,
}

/// The statistics at the end, and the counts at the two instants `interval`.
pub(crate) fn tally(
    seen: &[ObservedPacket],
    interval: (Instant, Instant),
) -> (Tally, [Measured; 2]) {
    let sent = seen.iter().map(|one| (one.sent, FlowEvent::Sent, one));
    let arrived = seen.iter().filter_map(|one| Some((one.arrived()?, FlowEvent::Received, one)));
    let mut all: Vec<_> = sent.chain(arrived).collect();
    all.sort_by_key(|(at, ..)| *at);
    let mut tally = Tally::default();
    let mut snapshots = [None; 2];
    for (at, event, one) in all {
        for (snapshot, part) in snapshots.iter_mut().zip([interval.0, interval.1]) {
            if at > part {
                snapshot.get_or_insert(tally.counts);
            }
        }
        match event {
            FlowEvent::Sent => tally.on_sent(one),
            FlowEvent::Received => tally.on_received(one, at),
        }
    }
    let counts = tally.counts;
    (tally, snapshots.map(|snapshot| snapshot.unwrap_or(counts)))
}

impl Tally {
    fn on_sent(&mut self, one: &ObservedPacket) {
        match one.fate {
            Fate::Dropped(cause) => self.lost.count(cause),
            Fate::Corrupt => self.lost.corrupt += 1,
            _ => {}
        }
        let (segment, range) = (&one.segment, one.range());
        if one.from == Place::Receiver {
            self.acks += u64::from(segment.len == 0);
            return;
        }
        self.start.get_or_insert(one.sent);
        if one.retransmission {
            self.retransmissions += 1;
            self.counts.retransmissions += 1;
            self.unneeded += u64::from(one.unneeded);
        }
        self.max = self.max.max(range.end);
        if segment.flags.has(Flags::FIN) {
            self.fin = Some(range.end);
        }
        if segment.len > 0 {
            self.counts.segments += 1;
            self.header_bytes += u64::from(one.bytes - segment.len.min(one.bytes) - IP);
            if !one.retransmission {
                self.outstanding.insert(range.end);
            }
        }
    }

    fn on_received(&mut self, one: &ObservedPacket, at: Instant) {
        match one.from {
            Place::Sender if one.segment.len > 0 => self.data(one, at),
            Place::Sender => {}
            Place::Receiver => self.ack(one, at),
        }
    }

    fn data(&mut self, one: &ObservedPacket, at: Instant) {
        let delay = at.since(one.sent);
        self.delay.count(delay);
        self.counts.delay.count(delay);
        let first = (Seq::FIRST + 1).value();
        let start = one.segment.seq.value();
        if !one.dropped_as_old {
            self.arrived.add(start..start + u64::from(one.segment.len));
        }
        self.counts.bytes = match one.segment.flags == Flags::NONE {
            true => self.counts.bytes + u64::from(one.segment.len),
            false => self.arrived.contiguous_end(first) - first,
        };
    }

    fn ack(&mut self, one: &ObservedPacket, at: Instant) {
        let segment = &one.segment;
        if !segment.flags.has(Flags::ACK) {
            return;
        }
        let (ack, window) = (segment.ack.value(), segment.window);
        let control = segment.flags.any(Flags::SYN | Flags::FIN);
        if ack > self.una {
            self.una = ack;
            let beyond = self.outstanding.split_off(&(ack + 1));
            self.counts.acked_segments += self.outstanding.len() as u64;
            self.outstanding = beyond;
            if self.fin.is_some_and(|fin| ack >= fin) {
                self.end.get_or_insert(at);
            }
        } else if ack == self.una
            && segment.len == 0
            && !control
            && window == self.window
            && self.max > self.una
        {
            self.dupacks.push((at, segment.ack.relative()));
        }
        self.window = window;
    }
}
