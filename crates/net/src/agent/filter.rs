//! A proxy between the wireless network and the Internet that keeps spurious timeouts from doing
//! more harm: Kim and Cho, "Considering Spurious Timeout in Proxy for Improving TCP Performance in
//! Wireless Networks", IEEE Communications Letters 8(1), 2004.
//!
//! Of the paper this much is known, from what Fu and Atiquzzaman write of it (`DualRTT`, section
//! I): the proxy "tracks the data and acknowledge sequence number for each TCP connection"; by
//! "filtering unnecessarily retransmitted segments and removing duplicate ACKs, the spurious fast
//! retransmissions at the TCP sender can be avoided". The rest is our reading:
//!
//! - A retransmission of data whose acknowledgment has passed is taken out. That acknowledgment may
//!   have been lost behind the proxy, and then its sender waits for it: the proxy answers with the
//!   newest acknowledgment, once for a run of such retransmissions, and again whenever the sender
//!   begins anew. So one duplicate at most reaches a sender whose acknowledgment was merely late.
//! - A retransmission of data not yet acknowledged passes. Whether it was needed the proxy decides
//!   as F-RTO would: it was not if the next acknowledgment is no duplicate and covers data that
//!   was not retransmitted. From then on, until an acknowledgment covers more than what had passed
//!   before the retransmission, so many duplicates are taken out as retransmissions passed; for
//!   all came behind the originals.
//! - A duplicate is also one of these if nothing that passed is unacknowledged: it cannot tell of a
//!   loss. One that brings SACK blocks for data beyond it tells of a loss and always passes.
//!
//! Data of both directions are looked at, each by itself.

use rtolab_tcp::{Flags, Segment, Seq};

use super::{Onward, concerns, only_acknowledges, state_of};
use crate::packet::Packet;

/// Takes out needless retransmissions and the duplicate acknowledgments that they cause.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Of each flow the data towards its receiver, and towards its sender.
    flows: Vec<[Way; 2]>,
}

/// What is known of one direction's data.
#[derive(Clone, Debug, Default)]
struct Way {
    /// Behind the highest data seen.
    highest: Seq,
    /// The highest acknowledgment seen.
    acked: Seq,
    /// The newest packet with that acknowledgment.
    newest: Option<Packet>,
    /// Behind the highest data seen when a duplicate told of a loss, until that is acknowledged:
    /// what is retransmitted before may well be needed.
    recover: Option<Seq>,
    episode: Option<Episode>,
    /// The last retransmission that was taken out, since new data passed.
    absorbed: Option<Seq>,
}

/// Retransmissions have passed that may be needless.
#[derive(Clone, Copy, Debug)]
struct Episode {
    /// Behind the highest data seen before the first of them.
    high: Seq,
    /// Behind the highest of them.
    resent: Seq,
    /// How many duplicates they may still cause.
    passed: u32,
    verdict: Verdict,
}

/// Were they needed?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Open,
    Needless,
}

/// What becomes of a packet, as far as its data or its acknowledgment go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Pass,
    Absorb,
    /// Nor does it pass, but its sender is told what has been acknowledged.
    Answer,
}

impl Filter {
    /// See [`Agent::on_packet`](super::Agent::on_packet).
    pub fn on_packet(&mut self, packet: Packet, onward: &mut Vec<Onward>) {
        let segment = &packet.segment;
        if !concerns(&packet) || segment.flags.has(Flags::RST) {
            onward.push(Onward::passing(packet));
            return;
        }
        let [to_receiver, to_sender] = state_of(&mut self.flows, packet.flow);
        let (data, acks) = match packet.to_receiver {
            true => (to_receiver, to_sender),
            false => (to_sender, to_receiver),
        };
        let tells = acks.tells_something(segment);
        let duplicate = acks.on_ack(&packet);
        match data.on_data(segment) {
            _ if tells => onward.push(Onward::passing(packet)),
            Fate::Answer => onward.extend(data.answer().map(Onward::made_here)),
            Fate::Absorb => {}
            Fate::Pass if duplicate == Fate::Absorb => {}
            Fate::Pass => onward.push(Onward::passing(packet)),
        }
    }
}

impl Way {
    /// A segment with data of this direction.
    fn on_data(&mut self, segment: &Segment) -> Fate {
        let (seq, end) = (segment.seq, segment.end());
        if segment.sequence_length() == 0 || segment.flags.has(Flags::SYN) {
            return Fate::Pass;
        }
        if seq >= self.highest {
            self.highest = end;
            self.absorbed = None;
            return Fate::Pass;
        }
        if end <= self.acked {
            let begins_anew = self.absorbed.is_none_or(|last| seq <= last);
            self.absorbed = Some(seq);
            return if begins_anew { Fate::Answer } else { Fate::Absorb };
        }
        if self.recover.is_none() {
            self.note_retransmission(seq, end);
        }
        self.highest = self.highest.max(end);
        Fate::Pass
    }

    fn note_retransmission(&mut self, seq: Seq, end: Seq) {
        let high = self.highest;
        let begun = Episode { high, resent: end, passed: 0, verdict: Verdict::Open };
        let episode = self.episode.insert(match self.episode {
            Some(episode) if seq < episode.high => episode,
            Some(_) | None => begun,
        });
        episode.passed += 1;
        episode.resent = episode.resent.max(end);
    }

    /// Does the segment say anything about this direction's data that has not been said?
    fn tells_something(&self, segment: &Segment) -> bool {
        let said =
            |newest: &Packet| segment.ack <= self.acked && segment.window == newest.segment.window;
        segment.flags.has(Flags::ACK) && !self.newest.as_ref().is_some_and(said)
    }

    /// A packet that acknowledges this direction's data.
    fn on_ack(&mut self, packet: &Packet) -> Fate {
        let segment = &packet.segment;
        if !segment.flags.has(Flags::ACK) || segment.ack < self.acked {
            return Fate::Pass;
        }
        let changes = self.tells_something(segment);
        self.newest = Some(*packet);
        if segment.ack > self.acked {
            self.on_new_ack(segment.ack);
            return Fate::Pass;
        }
        match only_acknowledges(segment) && !changes {
            true => self.on_duplicate(segment),
            false => Fate::Pass,
        }
    }

    fn on_new_ack(&mut self, ack: Seq) {
        self.acked = ack;
        self.recover = self.recover.filter(|recover| ack < *recover);
        self.episode = self.episode.filter(|episode| ack <= episode.high);
        if let Some(episode) = self.episode.as_mut().filter(|episode| ack > episode.resent) {
            episode.verdict = Verdict::Needless;
        }
    }

    fn on_duplicate(&mut self, segment: &Segment) -> Fate {
        let all_is_acked = self.acked >= self.highest;
        let beyond = segment.sack_blocks().any(|block| block.end > segment.ack);
        let explained = |episode: &&mut Episode| {
            episode.passed > 0 && (all_is_acked || episode.verdict == Verdict::Needless)
        };
        if let Some(episode) = self.episode.as_mut().filter(explained).filter(|_| !beyond) {
            episode.passed -= 1;
            return Fate::Absorb;
        }
        if !all_is_acked {
            self.recover = Some(self.highest);
            self.episode = self.episode.filter(|episode| episode.verdict == Verdict::Needless);
        }
        Fate::Pass
    }

    /// What has been acknowledged, once more, by itself.
    fn answer(&self) -> Option<Packet> {
        let mut packet = self.newest?;
        let segment = &mut packet.segment;
        segment.seq = segment.end();
        segment.len = 0;
        segment.flags = Flags::ACK;
        packet.bytes = Packet::size_of(segment);
        packet.order = 0;
        Some(packet)
    }
}

#[cfg(test)]
mod tests;
