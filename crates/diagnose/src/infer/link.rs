//! The inferred link: when packets that left at given times would be acknowledged over it.

use rtolab_link::{DirectionConfig, Interval, RateChange, Stalls, Transmitter};
use rtolab_time::{Duration, Instant, Rate};

/// IP and TCP headers without options, in bytes.
pub(crate) const BARE_ACK: u32 = 40;
/// Sizes and rates of the link count in such parts of a byte and of a bit/s: what a rate is off by adds
/// up over all packets that wait.
const PARTS: u32 = 10_000;

/// The directions of a link.
pub(crate) const DATA: usize = 0;
pub(crate) const ACKS: usize = 1;

/// A packet with data that the sender sent; times are in seconds since the connection began.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sent {
    /// When it left the sender.
    pub(crate) t: f64,
    pub(crate) seq: i64,
    /// The sequence number after its last.
    pub(crate) end: i64,
    /// Its number in the capture; negative if the capture lacks it.
    pub(crate) frame: i64,
    /// It never arrived.
    pub(crate) lost: bool,
    /// Among all that the sender sent, pure ACKs included, counted from 1.
    pub(crate) number: u32,
    /// A full queue dropped it.
    pub(crate) refused: bool,
    /// What the receiver acknowledges when it arrives; see [`acknowledge`].
    pub(crate) ack: i64,
}

/// An ACK at the sender, with its acknowledgment number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Acked {
    pub(crate) t: f64,
    pub(crate) ack: i64,
}

/// What a capture shows: the data packets, and the ACKs that advance.
#[derive(Clone, Copy)]
pub(crate) struct Seen<'a> {
    pub(crate) sent: &'a [Sent],
    pub(crate) answers: &'a [Acked],
}

/// A FIFO link, alike in both directions but for what happened to each.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Link {
    /// At the beginning; in [`PARTS`], as all rates here.
    pub(crate) rate: Option<Rate>,
    /// Of the rate, in order.
    pub(crate) changes: Vec<RateChange>,
    /// Of propagation, one way.
    pub(crate) delay: Duration,
    /// Headers of a data packet, in bytes.
    pub(crate) overhead: u32,
    /// Room for data that waits, in bytes; `None` if nothing overflowed.
    pub(crate) queue: Option<u32>,
    /// When no data was sent, and when no ACK was.
    pub(crate) stalls: [Vec<Interval>; 2],
    /// When all data was lost, and when all ACKs were.
    pub(crate) outages: [Vec<Interval>; 2],
    /// The sender's packets that are lost besides, without those that the queue refused.
    pub(crate) drops: Vec<u32>,
}

/// The span between two times in seconds; of no length if `to` is not later than `from`.
pub(crate) fn window(from: f64, to: f64) -> Interval {
    let at = Instant::from_secs_f64(from);
    Interval { at, length: Instant::from_secs_f64(to).since(at) }
}

/// The cumulative ACK that each packet would cause: data arrives in this order, lost packets do not.
pub(crate) fn acknowledge(sent: &mut [Sent]) {
    let mut waiting = std::collections::BTreeSet::new();
    let mut next = None;
    for packet in sent.iter_mut().filter(|packet| !packet.lost) {
        let next = next.get_or_insert(packet.seq);
        waiting.insert((packet.seq, packet.end));
        while let Some(&(seq, end)) = waiting.first().filter(|(seq, _)| *seq <= *next) {
            *next = end.max(*next);
            waiting.remove(&(seq, end));
        }
        packet.ack = *next;
    }
}

impl Link {
    /// A link without delay that sends `rates` in bit/s, each from a time in seconds on; the first
    /// from the start.
    pub(crate) fn new(rates: &[(f64, f64)], overhead: u32) -> Self {
        let parts = |rate: f64| (rate * f64::from(PARTS)).round().max(1.0) as u64;
        let change = |&(at, rate): &(f64, f64)| RateChange {
            at: Instant::from_secs_f64(at),
            rate: Rate::from_bits_per_second(parts(rate)),
        };
        let mut changes: Vec<RateChange> = rates.iter().map(change).collect();
        let rate = changes.remove(0).rate;
        Self { rate, changes, overhead, ..Self::default() }
    }

    /// When a change of the rate comes, in seconds: [`f64::INFINITY`] after the last.
    pub(crate) fn change_at(&self, index: usize) -> f64 {
        self.changes.get(index).map_or(f64::INFINITY, |change| change.at.secs_f64())
    }

    /// The transmission time of these bytes at the rate of time `t`, in seconds.
    pub(crate) fn transmission(&self, bytes: u32, t: f64) -> f64 {
        let at = Instant::from_secs_f64(t);
        let change = self.changes.iter().rev().find(|change| change.at <= at);
        let rate = change.map_or(self.rate, |change| change.rate);
        rate.map_or(0.0, |rate| rate.time_for(bytes * PARTS).secs_f64())
    }

    /// How many bytes a packet takes, headers included.
    pub(crate) fn size(&self, packet: &Sent) -> u32 {
        (packet.end - packet.seq) as u32 + self.overhead
    }

    /// The same with one more span in which these directions send nothing.
    pub(crate) fn stalled(&self, span: Interval, directions: &[usize]) -> Self {
        let mut link = self.clone();
        for &direction in directions {
            link.stalls[direction].push(span);
        }
        link
    }

    fn transmitter(&self, direction: usize) -> Transmitter {
        Transmitter::scripted(&DirectionConfig {
            rate: self.rate,
            rate_changes: self.changes.clone(),
            stalls: Stalls { scripted: self.stalls[direction].clone(), ..Stalls::default() },
            ..DirectionConfig::default()
        })
    }

    /// When each packet's transmission ends; one that a queue refused is gone as it comes.
    pub(crate) fn departures(&self, sent: &[Sent]) -> Vec<Instant> {
        let mut data = self.transmitter(DATA);
        let depart = |packet: &Sent| match (Instant::from_secs_f64(packet.t), packet.refused) {
            (at, true) => at,
            (at, false) => data.transmit(self.size(packet) * PARTS, at),
        };
        sent.iter().map(depart).collect()
    }

    /// The ACKs, were there one for each packet that arrives, at once.
    pub(crate) fn answers(&self, sent: &[Sent]) -> Vec<Acked> {
        let mut acks = self.transmitter(ACKS);
        let arrive = sent.iter().zip(self.departures(sent)).filter(|(packet, _)| !packet.lost);
        let leave = arrive
            .map(|(packet, done)| (acks.transmit(BARE_ACK * PARTS, done + self.delay), packet.ack));
        let covers = |span: &Interval, at| span.at <= at && at < span.at + span.length;
        leave
            .filter(|&(left, _)| !self.outages[ACKS].iter().any(|span| covers(span, left)))
            .map(|(left, ack)| Acked { t: (left + self.delay).secs_f64(), ack })
            .collect()
    }
}

/// Of the link or of a change of it, in bit/s.
pub(crate) fn bits_per_second(rate: Option<Rate>) -> f64 {
    rate.map_or(0.0, |rate| rate.bits_per_second() as f64 / f64::from(PARTS))
}
