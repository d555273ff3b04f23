//! Snoop: Balakrishnan, Seshan, Amir and Katz, "Improving TCP/IP Performance over Wireless
//! Networks", `MobiCom` 1995.
//!
//! An agent in the base station caches what the mobile host has not acknowledged. A duplicate ACK
//! for a cached segment means that the wireless link lost it: the agent retransmits it and drops
//! the duplicates, so that the sender does not take the loss for congestion. A local timer, finer
//! than the sender's, covers losses without duplicates.
//!
//! It serves data to the receiver of a flow. It knows nothing of links, so it must see only the
//! flows whose data leave its node over the wireless link.
//!
//! Where the paper leaves a choice, ns-2's `snoop.cc` made it (the bound on local retransmissions,
//! the floor of the timer, the gain of its average), with three exceptions. The segment is
//! retransmitted at the `dupthresh`-th duplicate itself, where ns-2 lets one more pass. A round
//! trip is measured only over segments sent once (Karn). A duplicate beyond those expected shows
//! that the local retransmission was lost too, and causes another, where ns-2 leaves it to the
//! sender.

use std::collections::VecDeque;

use rtolab_tcp::{Flags, Segment, Seq};
use rtolab_time::{Duration, Instant};

use super::onward::{Onward, is_pure_ack, is_relevant, state_of};
use crate::packet::Packet;

/// How often a segment is retransmitted locally before it is left to the sender
/// (ns-2: `SNOOP_MAX_RXMIT`).
const MOST_RETRANSMISSIONS: u32 = 10;

/// The local timer is never shorter (ns-2: `SNOOP_MIN_TIMO`).
const SHORTEST_TIMER: Duration = Duration::from_millis(100);

/// The local timer in smoothed local round trips.
const TIMER_ROUND_TRIPS: u64 = 2;

/// A sample moves the smoothed local round trip by 1 / `GAIN` of the difference.
const GAIN: u64 = 4;

/// Local retransmissions at the node before the wireless link.
#[derive(Clone, Debug)]
pub struct Snoop {
    rules: Rules,
    flows: Vec<Local>,
    /// No timer of a flow expires before this.
    wake: Instant,
}

#[derive(Clone, Copy, Debug)]
struct Rules {
    dupthresh: u32,
    cache: usize,
}

/// The state of a flow.
#[derive(Clone, Debug, Default)]
struct Local {
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
    /// Duplicates still to come from segments sent before the local retransmission.
    expected: u64,
    /// The sender retransmitted acknowledged data: it did not get the ACK.
    ack_lost: bool,
    /// The smoothed round trip from here to the receiver and back.
    srtt: Option<Duration>,
    timer: Option<Instant>,
}

#[derive(Clone, Debug)]
struct Cached {
    packet: Packet,
    /// [`Local::transmissions`] when it was last sent.
    transmission: u64,
    at: Instant,
    /// Local retransmissions since it last came from the sender.
    retransmissions: u32,
    origin: Origin,
}

/// How a cached segment came here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// In order.
    InOrder,
    /// After higher data, or once more: the sender retransmitted it, or the network reordered it.
    Late,
}

/// The reaction to an ACK.
enum Reaction {
    /// Forward it.
    Pass,
    /// Drop it: the local retransmission for it is under way.
    Drop,
    /// Drop it and retransmit this.
    Retransmit(Packet),
}

impl Snoop {
    /// Retransmits at the `dupthresh`-th duplicate and caches up to `cache` segments per flow.
    pub const fn new(dupthresh: u32, cache: u32) -> Self {
        let rules = Rules { dupthresh, cache: cache as usize };
        Self { rules, flows: Vec::new(), wake: Instant::NEVER }
    }

    /// See [`Middlebox::on_packet`](super::Middlebox::on_packet).
    pub fn on_packet(&mut self, packet: Packet, at: Instant, onward: &mut Vec<Onward>) {
        if !is_relevant(&packet) {
            onward.push(Onward::passing(packet));
            return;
        }
        let local = state_of(&mut self.flows, packet.flow);
        if packet.segment.flags.has(Flags::RST) {
            *local = Local::default();
            onward.push(Onward::passing(packet));
        } else if packet.to_receiver {
            local.on_data(&packet, at, self.rules);
            onward.push(Onward::passing(packet));
        } else {
            onward.push(match local.on_ack(&packet.segment, at, self.rules) {
                Reaction::Pass => Onward::passing(packet),
                Reaction::Retransmit(lost) => Onward::made_here(lost),
                Reaction::Drop => return,
            });
        }
        self.wake = self.wake.min(local.timer.unwrap_or(Instant::NEVER));
    }

    /// See [`Middlebox::on_timer`](super::Middlebox::on_timer).
    pub fn on_timer(&mut self, at: Instant, onward: &mut Vec<Onward>) {
        self.wake = Instant::NEVER;
        for local in &mut self.flows {
            if local.timer.is_some_and(|timer| timer <= at) {
                onward.extend(local.on_timer(at).map(Onward::made_here));
            }
            self.wake = self.wake.min(local.timer.unwrap_or(Instant::NEVER));
        }
    }

    /// See [`Middlebox::next_timer`](super::Middlebox::next_timer).
    pub const fn next_timer(&self) -> Option<Instant> {
        match self.wake {
            Instant::NEVER => None,
            wake => Some(wake),
        }
    }
}

impl Local {
    fn on_data(&mut self, packet: &Packet, at: Instant, rules: Rules) {
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
        self.keep(packet, at, rules);
        self.highest = self.highest.max(segment.end());
        if self.timer.is_none() {
            self.restart_timer(at);
        }
    }

    /// A full cache takes no more segments, as in ns-2 by default.
    fn keep(&mut self, packet: &Packet, at: Instant, rules: Rules) {
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
            Err(index) if self.cache.len() < rules.cache => self.cache.insert(index, cached),
            Err(_) => {}
        }
    }

    fn on_ack(&mut self, segment: &Segment, at: Instant, rules: Rules) -> Reaction {
        match self.acked {
            Some((acked, _)) if segment.ack < acked => return Reaction::Pass,
            Some(last) if last == (segment.ack, segment.window) && is_pure_ack(segment) => {
                return self.on_duplicate(segment.ack, at, rules);
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

    fn on_duplicate(&mut self, ack: Seq, at: Instant, rules: Rules) -> Reaction {
        if std::mem::take(&mut self.ack_lost) {
            return Reaction::Pass;
        }
        // The sender needs the duplicates for a segment that it retransmitted itself.
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
        if self.duplicates < rules.dupthresh {
            return Reaction::Pass;
        }
        let expected = sent_after.saturating_sub(u64::from(self.duplicates));
        let Some(lost) = self.retransmit(at) else { return Reaction::Pass };
        self.expected = expected;
        Reaction::Retransmit(lost)
    }

    /// The cached segment that the receiver waits for.
    fn missing(&self, ack: Seq) -> Option<&Cached> {
        self.cache.front().filter(|oldest| oldest.packet.segment.seq <= ack)
    }

    /// Retransmits the oldest cached segment, up to the limit.
    fn retransmit(&mut self, at: Instant) -> Option<Packet> {
        self.timer = None;
        let oldest = self.cache.front_mut()?;
        if oldest.retransmissions == MOST_RETRANSMISSIONS {
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

    /// The local timer expired.
    fn on_timer(&mut self, at: Instant) -> Option<Packet> {
        self.timer = None;
        self.missing(self.acked?.0)?;
        self.retransmit(at)
    }

    /// There is no timer before the first sample of the round trip.
    fn restart_timer(&mut self, at: Instant) {
        let timer = |srtt: Duration| at + (srtt * TIMER_ROUND_TRIPS).max(SHORTEST_TIMER);
        self.timer = match self.cache.is_empty() {
            true => None,
            false => self.srtt.map(timer),
        };
    }
}

#[cfg(test)]
mod tests;
