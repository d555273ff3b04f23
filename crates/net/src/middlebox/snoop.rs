//! Snoop: Balakrishnan, Seshan, Amir and Katz, "Improving TCP/IP Performance over Wireless
//! Networks", `MobiCom` 1995.
//!
//! An agent in the base station caches the segments that the mobile host has not acknowledged. A
//! duplicate ACK for a cached segment means that the wireless link lost the segment. The agent then
//! retransmits it and drops the duplicates, so that the sender does not reduce cwnd. A local timer,
//! finer than the sender's, covers losses without duplicates.
//!
//! The agent handles data to the receiver of a flow. It must see only the flows whose data leave
//! its node over the wireless link.
//!
//! Details that the paper leaves open follow ns-2's `snoop.cc`: the limit of local retransmissions,
//! the minimum of the timer and the gain of its average. There are three exceptions. The agent
//! retransmits the segment at the `dupthresh`-th duplicate, while ns-2 forwards one more. It
//! measures round trips by Karn's algorithm. It retransmits the segment again if there are more
//! duplicates than expected, which show that the local retransmission was lost, while ns-2 leaves
//! that to the sender.

use std::collections::VecDeque;

use rtolab_tcp::{Flags, Segment, Seq};
use rtolab_time::{Duration, Instant};

use super::outgoing::{OutgoingPacket, is_pure_ack, is_relevant, state_of};
use crate::packet::Packet;

/// The maximum number of local retransmissions of a segment (ns-2: `SNOOP_MAX_RXMIT`).
const MAX_RETRANSMISSIONS: u32 = 10;

/// The minimum of the local timer (ns-2: `SNOOP_MIN_TIMO`).
const MIN_TIMER: Duration = Duration::from_millis(100);

/// The local timer, as a multiple of the smoothed local round-trip time.
const TIMER_ROUND_TRIPS: u64 = 2;

/// The divisor of a sample's weight in the smoothed local round-trip time.
const GAIN: u64 = 4;

/// Local retransmissions at the node before the wireless link.
#[derive(Clone, Debug)]
pub struct Snoop {
    parameters: Parameters,
    flows: Vec<FlowState>,
    /// A lower bound of the timers of all flows.
    next_expiry: Instant,
}

#[derive(Clone, Copy, Debug)]
struct Parameters {
    dupthresh: u32,
    cache: usize,
}

/// The state of a flow.
#[derive(Clone, Debug, Default)]
struct FlowState {
    /// The unacknowledged segments, in order.
    cache: VecDeque<Cached>,
    /// The end of the highest data seen.
    highest: Seq,
    /// The highest ACK number, and the window of the last ACK.
    acked: Option<(Seq, u32)>,
    /// Data packets forwarded to the receiver, local retransmissions included.
    transmissions: u64,
    /// Duplicates since the last new ACK or local retransmission, without expected ones.
    duplicates: u32,
    /// The number of duplicates that segments sent before the local retransmission may still cause.
    expected: u64,
    /// Has the sender retransmitted acknowledged data, because it did not receive the ACK?
    ack_lost: bool,
    /// The smoothed local round-trip time, from here to the receiver and back.
    srtt: Option<Duration>,
    timer: Option<Instant>,
}

#[derive(Clone, Debug)]
struct Cached {
    packet: Packet,
    /// [`FlowState::transmissions`] when it was last sent.
    transmission: u64,
    at: Instant,
    /// Local retransmissions since it last arrived from the sender.
    retransmissions: u32,
    origin: Origin,
}

/// The order in which a cached segment arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// In order.
    InOrder,
    /// After higher data, because the sender retransmitted it or the network reordered it.
    Late,
}

/// The reaction to an ACK.
enum Reaction {
    /// Forward it.
    Pass,
    /// Drop it, because the local retransmission is in flight.
    Drop,
    /// Drop it and retransmit this packet.
    Retransmit(Packet),
}

impl Snoop {
    /// Retransmits at the `dupthresh`-th duplicate and caches up to `cache` segments per flow.
    pub const fn new(dupthresh: u32, cache: u32) -> Self {
        let parameters = Parameters { dupthresh, cache: cache as usize };
        Self { parameters, flows: Vec::new(), next_expiry: Instant::NEVER }
    }

    /// See [`Middlebox::on_packet`](super::Middlebox::on_packet).
    pub fn on_packet(&mut self, packet: Packet, at: Instant, outgoing: &mut Vec<OutgoingPacket>) {
        if !is_relevant(&packet) {
            outgoing.push(OutgoingPacket::forwarded(packet));
            return;
        }
        let state = state_of(&mut self.flows, packet.flow);
        if packet.segment.flags.has(Flags::RST) {
            *state = FlowState::default();
            outgoing.push(OutgoingPacket::forwarded(packet));
        } else if packet.to_receiver {
            state.on_data(&packet, at, self.parameters);
            outgoing.push(OutgoingPacket::forwarded(packet));
        } else {
            outgoing.push(match state.on_ack(&packet.segment, at, self.parameters) {
                Reaction::Pass => OutgoingPacket::forwarded(packet),
                Reaction::Retransmit(lost) => OutgoingPacket::generated(lost),
                Reaction::Drop => return,
            });
        }
        self.next_expiry = self.next_expiry.min(state.timer.unwrap_or(Instant::NEVER));
    }

    /// See [`Middlebox::on_timer`](super::Middlebox::on_timer).
    pub fn on_timer(&mut self, at: Instant, outgoing: &mut Vec<OutgoingPacket>) {
        self.next_expiry = Instant::NEVER;
        for state in &mut self.flows {
            if state.timer.is_some_and(|timer| timer <= at) {
                outgoing.extend(state.on_timer(at).map(OutgoingPacket::generated));
            }
            self.next_expiry = self.next_expiry.min(state.timer.unwrap_or(Instant::NEVER));
        }
    }

    /// See [`Middlebox::next_timer`](super::Middlebox::next_timer).
    pub const fn next_timer(&self) -> Option<Instant> {
        match self.next_expiry {
            Instant::NEVER => None,
            next_expiry => Some(next_expiry),
        }
    }
}

impl FlowState {
    fn on_data(&mut self, packet: &Packet, at: Instant, parameters: Parameters) {
        let segment = &packet.segment;
        let acked = self.acked.map_or(Seq::default(), |(acked, _)| acked);
        if segment.seq < acked && segment.end() <= acked {
            self.ack_lost = true;
            return;
        }
        if segment.sequence_length() == 0 || segment.flags.has(Flags::SYN) {
            return;
        }
        self.transmissions += 1;
        self.cache_segment(packet, at, parameters);
        self.highest = self.highest.max(segment.end());
        if self.timer.is_none() {
            self.restart_timer(at);
        }
    }

    /// Caches a segment, unless the cache is full, as in ns-2 by default.
    fn cache_segment(&mut self, packet: &Packet, at: Instant, parameters: Parameters) {
        let seq = packet.segment.seq;
        let origin = if seq < self.highest { Origin::Late } else { Origin::InOrder };
        let cached = Cached {
            packet: *packet,
            transmission: self.transmissions,
            at,
            retransmissions: 0,
            origin,
        };
        match self.cache.binary_search_by_key(&seq, |cached| cached.packet.segment.seq) {
            Ok(index) => {
                self.cache[index] = cached;
                if index == 0 {
                    (self.duplicates, self.expected) = (0, 0);
                    self.restart_timer(at);
                }
            }
            Err(index) if self.cache.len() < parameters.cache => self.cache.insert(index, cached),
            Err(_) => {}
        }
    }

    fn on_ack(&mut self, segment: &Segment, at: Instant, parameters: Parameters) -> Reaction {
        match self.acked {
            Some((acked, _)) if segment.ack < acked => return Reaction::Pass,
            Some(last) if last == (segment.ack, segment.window) && is_pure_ack(segment) => {
                return self.on_duplicate(segment.ack, at, parameters);
            }
            Some((acked, _)) if segment.ack == acked => {}
            Some(_) | None => self.on_new_ack(segment.ack, at),
        }
        self.acked = Some((segment.ack, segment.window));
        self.ack_lost = false;
        Reaction::Pass
    }

    fn on_new_ack(&mut self, ack: Seq, at: Instant) {
        let covered = self.cache.partition_point(|cached| cached.packet.segment.end() <= ack);
        let once =
            |cached: &Cached| cached.retransmissions == 0 && cached.origin == Origin::InOrder;
        let timed = self.cache.iter().take(covered).all(once);
        if let Some(newest) = covered.checked_sub(1).filter(|_| timed) {
            self.sample(at - self.cache[newest].at);
        }
        self.cache.drain(..covered);
        (self.duplicates, self.expected) = (0, 0);
        self.restart_timer(at);
    }

    fn sample(&mut self, rtt: Duration) {
        self.srtt = Some(match self.srtt {
            None => rtt,
            Some(srtt) => (srtt * (GAIN - 1) + rtt) / GAIN,
        });
    }

    fn on_duplicate(&mut self, ack: Seq, at: Instant, parameters: Parameters) -> Reaction {
        if std::mem::take(&mut self.ack_lost) {
            return Reaction::Pass;
        }
        // If the sender has retransmitted the segment, it needs the duplicates.
        let Some(missing) = self.missing(ack).filter(|missing| missing.origin == Origin::InOrder)
        else {
            return Reaction::Pass;
        };
        let sent_after = self.transmissions - missing.transmission;
        if self.expected > 0 {
            self.expected -= 1;
            return Reaction::Drop;
        }
        self.duplicates += 1;
        if self.duplicates < parameters.dupthresh {
            return Reaction::Pass;
        }
        let expected = sent_after.saturating_sub(u64::from(self.duplicates));
        let Some(lost) = self.retransmit(at) else { return Reaction::Pass };
        self.expected = expected;
        Reaction::Retransmit(lost)
    }

    /// The cached segment for which the receiver waits.
    fn missing(&self, ack: Seq) -> Option<&Cached> {
        self.cache.front().filter(|oldest| oldest.packet.segment.seq <= ack)
    }

    /// Retransmits the oldest cached segment; `None` if the limit is reached.
    fn retransmit(&mut self, at: Instant) -> Option<Packet> {
        self.timer = None;
        let oldest = self.cache.front_mut()?;
        if oldest.retransmissions == MAX_RETRANSMISSIONS {
            return None;
        }
        self.transmissions += 1;
        self.duplicates = 0;
        (oldest.transmission, oldest.at) = (self.transmissions, at);
        oldest.retransmissions += 1;
        let packet = oldest.packet;
        self.restart_timer(at);
        Some(packet)
    }

    /// Processes the expiry of the local timer.
    fn on_timer(&mut self, at: Instant) -> Option<Packet> {
        self.timer = None;
        self.missing(self.acked?.0)?;
        self.retransmit(at)
    }

    /// Restarts the timer, if there is a sample of the round-trip time and the cache is not empty.
    fn restart_timer(&mut self, at: Instant) {
        let timer = |srtt: Duration| at + (srtt * TIMER_ROUND_TRIPS).max(MIN_TIMER);
        self.timer = match self.cache.is_empty() {
            true => None,
            false => self.srtt.map(timer),
        };
    }
}

#[cfg(test)]
mod tests;
