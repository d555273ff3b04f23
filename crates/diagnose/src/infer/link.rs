//! The inferred link, and the times at which it would deliver the ACKs of packets.

use rtolab_link::{DirectionConfig, Interval, RateChange, Stalls, Transmitter};
use rtolab_time::{Duration, Instant, Rate};

/// IP and TCP headers without options, in bytes.
pub(crate) const BARE_ACK: u32 = 40;
/// The resolution of sizes and rates, in parts of a byte and of a bit/s. It is fine because the
/// error of a rate adds up over all queued packets.
const PARTS: u32 = 10_000;

/// Indices of the directions.
pub(crate) const DATA: usize = 0;
pub(crate) const ACKS: usize = 1;

/// A data packet of the sender; times are in seconds since the connection began.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sent {
    pub(crate) t: f64,
    pub(crate) seq: i64,
    /// The sequence number after its last byte.
    pub(crate) end: i64,
    /// Its number in the capture; negative if the capture lacks it.
    pub(crate) frame: i64,
    pub(crate) lost: bool,
    /// Its number among all packets of the sender, pure ACKs included, from 1.
    pub(crate) number: u32,
    /// Did the queue drop it?
    pub(crate) tail_dropped: bool,
    /// The cumulative ACK that its arrival causes; see [`acknowledge`].
    pub(crate) ack: i64,
}

/// An ACK of new data, at the sender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Acked {
    pub(crate) t: f64,
    pub(crate) ack: i64,
}

/// The data packets, and the ACKs of new data.
#[derive(Clone, Copy)]
pub(crate) struct Seen<'a> {
    pub(crate) sent: &'a [Sent],
    pub(crate) new_acks: &'a [Acked],
}

/// A FIFO link with the same rate and delay in both directions.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Link {
    /// The first rate; all rates are in [`PARTS`].
    pub(crate) rate: Option<Rate>,
    /// Changes of the rate, in order.
    pub(crate) changes: Vec<RateChange>,
    /// The one-way propagation delay.
    pub(crate) delay: Duration,
    /// The headers of a data packet, in bytes.
    pub(crate) overhead: u32,
    /// The limit of the queue in bytes; `None` if it never overflowed.
    pub(crate) queue: Option<u32>,
    /// The stalls of data and of ACKs.
    pub(crate) stalls: [Vec<Interval>; 2],
    /// The outages of data and of ACKs.
    pub(crate) outages: [Vec<Interval>; 2],
    /// The numbers of other lost packets, without those that the queue dropped.
    pub(crate) drops: Vec<u32>,
}

/// The span between two times in seconds; empty if `to` is not after `from`.
pub(crate) fn window(from: f64, to: f64) -> Interval {
    let at = Instant::from_secs_f64(from);
    Interval { at, length: Instant::from_secs_f64(to).since(at) }
}

/// Sets the cumulative ACK that each packet causes if packets arrive in this order.
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
    /// A link without delay. `rates` are times in seconds and the rates in bit/s from then on; the
    /// first time is 0.
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

    /// When the rate changes, in seconds; [`f64::INFINITY`] after the last change.
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

    /// The size of a packet in bytes, headers included.
    pub(crate) fn size(&self, packet: &Sent) -> u32 {
        (packet.end - packet.seq) as u32 + self.overhead
    }

    /// The link with one more stall of these directions.
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

    /// The end of each packet's transmission. A packet that the queue drops has none and gets its
    /// time of arrival.
    pub(crate) fn departures(&self, sent: &[Sent]) -> Vec<Instant> {
        let mut data = self.transmitter(DATA);
        let depart = |packet: &Sent| match (Instant::from_secs_f64(packet.t), packet.tail_dropped) {
            (at, true) => at,
            (at, false) => data.transmit(self.size(packet) * PARTS, at),
        };
        sent.iter().map(depart).collect()
    }

    /// The ACKs of a receiver that acknowledges each packet at once.
    pub(crate) fn predicted_acks(&self, sent: &[Sent]) -> Vec<Acked> {
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

/// The rate in bit/s; 0 for none.
pub(crate) fn bits_per_second(rate: Option<Rate>) -> f64 {
    rate.map_or(0.0, |rate| rate.bits_per_second() as f64 / f64::from(PARTS))
}
