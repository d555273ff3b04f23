//! Snoop: Balakrishnan, Seshan, Amir and Katz, "Improving TCP/IP Performance over Wireless
//! Networks", `MobiCom` 1995.
//!
//! An agent in the base station keeps what the mobile host has not acknowledged. A duplicate
//! acknowledgment for a kept segment means that the wireless link lost it: the agent sends it
//! again and hides the duplicates, so that the sender does not take the loss for congestion. A
//! local timer, finer than the sender's, covers what no duplicate tells.
//!
//! It serves data towards the receiver of a flow. It is told nothing of links: show it the flows
//! whose data leave its node over the wireless link, and no others.
//!
//! Where the paper leaves a choice, ns-2's `snoop.cc` made it (the bound on local retransmissions,
//! the floor of the timer, the gain of its average), but for three: the segment is sent again at
//! the `dupthresh`-th duplicate itself, where ns-2 lets one more pass; a round trip is measured
//! only over segments sent once (Karn); and a duplicate beyond those expected, which shows that the
//! local retransmission was lost too, brings another, where ns-2 leaves it to the sender.

use std::collections::VecDeque;

use rtolab_tcp::{Flags, Segment, Seq};
use rtolab_time::{Duration, Instant};

use super::{Onward, concerns, only_acknowledges, state_of};
use crate::packet::Packet;

/// How often a segment is sent again locally before it is left to the sender
/// (ns-2: `SNOOP_MAX_RXMIT`).
const MOST_RETRANSMISSIONS: u32 = 10;

/// The local timer is never shorter (ns-2: `SNOOP_MIN_TIMO`).
const SHORTEST_TIMER: Duration = Duration::from_millis(100);

/// The local timer in smoothed local round trips.
const TIMER_ROUND_TRIPS: u64 = 2;

/// A sample moves the smoothed local round trip by one in so many of the distance.
const GAIN: u64 = 4;

/// Local retransmissions at the node before the wireless link.
#[derive(Clone, Debug)]
pub struct Snoop {
    rules: Rules,
    flows: Vec<Local>,
    /// No timer of a flow expires before.
    wake: Instant,
}

#[derive(Clone, Copy, Debug)]
struct Rules {
    dupthresh: u32,
    cache: usize,
}

/// What is known of a flow.
#[derive(Clone, Debug, Default)]
struct Local {
    /// What the receiver has not acknowledged, ascending.
    cache: VecDeque<Cached>,
    /// Behind the highest data seen.
    highest: Seq,
    /// The highest acknowledgment, and the window that came with the last one.
    acked: Option<(Seq, u32)>,
    /// Data packets sent on towards the receiver so far, local retransmissions included.
    sendings: u64,
    /// Duplicates since the last new acknowledgment or local retransmission, but for expected ones.
    duplicates: u32,
    /// Duplicates still to come from segments that were sent before the local retransmission.
    expected: u64,
    /// The sender retransmits what is acknowledged: the acknowledgment did not reach it.
    owed: bool,
    /// The smoothed round trip from here to the receiver and back.
    srtt: Option<Duration>,
    timer: Option<Instant>,
}

#[derive(Clone, Debug)]
struct Cached {
    packet: Packet,
    /// [`Local::sendings`] when it was last sent.
    sending: u64,
    at: Instant,
    /// Local ones since it last came from the sender.
    retransmissions: u32,
    origin: Origin,
}

/// How a cached segment came here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// In its turn.
    InOrder,
    /// After data beyond it or once more: the sender retransmitted it, or the network is late.
    Late,
}

/// What is to be done about a duplicate acknowledgment.
enum Answer {
    /// The sender shall see it.
    Pass,
    /// It is explained by a loss that is being repaired.
    Hide,
    /// It tells of a loss: this goes again, in its stead.
    Repair(Packet),
}

impl Snoop {
    /// Sends again at the `dupthresh`-th duplicate and keeps up to `cache` segments a flow.
    pub const fn new(dupthresh: u32, cache: u32) -> Self {
        let rules = Rules { dupthresh, cache: cache as usize };
        Self { rules, flows: Vec::new(), wake: Instant::NEVER }
    }

    /// See [`Agent::on_packet`](super::Agent::on_packet).
    pub fn on_packet(&mut self, packet: Packet, at: Instant, onward: &mut Vec<Onward>) {
        if !concerns(&packet) {
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
                Answer::Pass => Onward::passing(packet),
                Answer::Repair(lost) => Onward::made_here(lost),
                Answer::Hide => return,
            });
        }
        self.wake = self.wake.min(local.timer.unwrap_or(Instant::NEVER));
    }

    /// See [`Agent::on_timer`](super::Agent::on_timer).
    pub fn on_timer(&mut self, at: Instant, onward: &mut Vec<Onward>) {
        self.wake = Instant::NEVER;
        for local in &mut self.flows {
            if local.timer.is_some_and(|timer| timer <= at) {
                onward.extend(local.on_timer(at).map(Onward::made_here));
            }
            self.wake = self.wake.min(local.timer.unwrap_or(Instant::NEVER));
        }
    }

    /// See [`Agent::next_timer`](super::Agent::next_timer).
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
            self.owed = true;
            return;
        }
        if segment.sequence_length() == 0 || segment.flags.has(Flags::SYN) {
            return;
        }
        self.sendings += 1;
        self.keep(packet, at, rules);
        self.highest = self.highest.max(segment.end());
        if self.timer.is_none() {
            self.restart_timer(at);
        }
    }

    /// A full cache takes nothing more, as in ns-2 by default.
    fn keep(&mut self, packet: &Packet, at: Instant, rules: Rules) {
        let seq = packet.segment.seq;
        let origin = if seq < self.highest { Origin::Late } else { Origin::InOrder };
        let cached =
            Cached { packet: *packet, sending: self.sendings, at, retransmissions: 0, origin };
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

    fn on_ack(&mut self, segment: &Segment, at: Instant, rules: Rules) -> Answer {
        match self.acked {
            Some((acked, _)) if segment.ack < acked => return Answer::Pass,
            Some(last) if last == (segment.ack, segment.window) && only_acknowledges(segment) => {
                return self.on_duplicate(segment.ack, at, rules);
            }
            Some((acked, _)) if segment.ack == acked => {}
            Some(_) | None => self.on_new_ack(segment.ack, at),
        }
        self.acked = Some((segment.ack, segment.window));
        self.owed = false;
        Answer::Pass
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

    fn on_duplicate(&mut self, ack: Seq, at: Instant, rules: Rules) -> Answer {
        if std::mem::take(&mut self.owed) {
            return Answer::Pass;
        }
        // The sender counts the duplicates of what it retransmitted itself.
        let Some(missing) = self.missing(ack).filter(|missing| missing.origin == Origin::InOrder)
        else {
            return Answer::Pass;
        };
        let behind = self.sendings - missing.sending;
        if self.expected > 0 {
            self.expected -= 1;
            return Answer::Hide;
        }
        self.duplicates += 1;
        if self.duplicates < rules.dupthresh {
            return Answer::Pass;
        }
        let expected = behind.saturating_sub(u64::from(self.duplicates));
        let Some(lost) = self.retransmit(at) else { return Answer::Pass };
        self.expected = expected;
        Answer::Repair(lost)
    }

    /// The cached segment that the receiver waits for.
    fn missing(&self, ack: Seq) -> Option<&Cached> {
        self.cache.front().filter(|oldest| oldest.packet.segment.seq <= ack)
    }

    /// Sends the oldest cached segment again, unless that has been done often enough.
    fn retransmit(&mut self, at: Instant) -> Option<Packet> {
        self.timer = None;
        let oldest = self.cache.front_mut()?;
        if oldest.retransmissions == MOST_RETRANSMISSIONS {
            return None;
        }
        self.sendings += 1;
        self.duplicates = 0;
        (oldest.sending, oldest.at) = (self.sendings, at);
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

    /// Without a measured round trip there is no timer; the first acknowledgment brings it.
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
