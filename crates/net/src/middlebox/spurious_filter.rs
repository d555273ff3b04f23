//! Spurious-retransmission filter, a proxy between the wireless network and the Internet: Kim and
//! Cho, "Considering Spurious Timeout in Proxy for Improving TCP Performance in Wireless Networks",
//! IEEE Communications Letters 8(1), 2004.
//!
//! Our source is not the paper but its summary by Fu and Atiquzzaman (`DualRTT`, section I): the
//! proxy "tracks the data and acknowledge sequence number for each TCP connection"; by "filtering
//! unnecessarily retransmitted segments and removing duplicate ACKs, the spurious fast
//! retransmissions at the TCP sender can be avoided". The details are our interpretation:
//!
//! - The proxy drops a retransmission of data whose ACK has passed. That ACK may have been lost
//!   after the proxy, so the proxy replies with the newest ACK, once for each run of such
//!   retransmissions. If the ACK was merely late, the sender receives at most one duplicate.
//! - The proxy forwards a retransmission of data that is not yet acknowledged. The retransmission
//!   was spurious, by the rule of F-RTO, if the next ACK is not a duplicate and covers data that
//!   was not retransmitted. Each retransmission of such an episode causes one duplicate ACK. The
//!   proxy drops these until an ACK covers more than all data sent before the episode.
//! - The proxy also drops a duplicate if all data that passed is acknowledged, because such a
//!   duplicate cannot signal a loss. It forwards duplicates with SACK blocks above the ACK number,
//!   which signal a loss.
//!
//! The proxy filters both directions, independently of each other.

use rtolab_tcp::{Flags, Segment, Seq};

use super::outgoing::{OutgoingPacket, is_pure_ack, is_relevant, state_of};
use crate::packet::Packet;

/// Drops spurious retransmissions and the duplicate ACKs that they cause.
#[derive(Clone, Debug, Default)]
pub struct SpuriousFilter {
    /// The data to the receiver and to the sender of each flow.
    flows: Vec<[DataDirection; 2]>,
}

/// The state of one direction's data.
#[derive(Clone, Debug, Default)]
struct DataDirection {
    /// The end of the highest data seen.
    highest: Seq,
    /// The highest ACK number seen.
    acked: Seq,
    /// The newest packet with that ACK number.
    newest: Option<Packet>,
    /// The end of the highest data seen when a duplicate signalled a loss; `None` after it is
    /// acknowledged. Retransmissions below it may be needed.
    recover: Option<Seq>,
    episode: Option<Episode>,
    /// The last retransmission that was dropped since new data passed.
    absorbed: Option<Seq>,
}

/// Forwarded retransmissions that may be spurious.
#[derive(Clone, Copy, Debug)]
struct Episode {
    /// The end of the highest data seen before the first of them.
    high: Seq,
    /// The end of the highest of them.
    retransmitted: Seq,
    /// The number of duplicate ACKs that they may still cause.
    passed: u32,
    verdict: Verdict,
}

/// The verdict on the retransmissions of an episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Open,
    Spurious,
}

/// The action on a packet, because of its data or of its ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    /// Forward it.
    Pass,
    /// Drop it.
    Absorb,
    /// Drop it, and reply with the newest ACK.
    Reply,
}

impl SpuriousFilter {
    /// See [`Middlebox::on_packet`](super::Middlebox::on_packet).
    pub fn on_packet(&mut self, packet: Packet, outgoing: &mut Vec<OutgoingPacket>) {
        let segment = &packet.segment;
        if !is_relevant(&packet) || segment.flags.has(Flags::RST) {
            outgoing.push(OutgoingPacket::forwarded(packet));
            return;
        }
        let [to_receiver, to_sender] = state_of(&mut self.flows, packet.flow);
        let (data, acks) = match packet.to_receiver {
            true => (to_receiver, to_sender),
            false => (to_sender, to_receiver),
        };
        let has_news = acks.has_news(segment);
        let duplicate = acks.on_ack(&packet);
        match data.on_data(segment) {
            _ if has_news => outgoing.push(OutgoingPacket::forwarded(packet)),
            Action::Reply => outgoing.extend(data.reply().map(OutgoingPacket::generated)),
            Action::Absorb => {}
            Action::Pass if duplicate == Action::Absorb => {}
            Action::Pass => outgoing.push(OutgoingPacket::forwarded(packet)),
        }
    }
}

impl DataDirection {
    /// Processes a segment of this direction, with or without data.
    fn on_data(&mut self, segment: &Segment) -> Action {
        let (seq, end) = (segment.seq, segment.end());
        if segment.sequence_length() == 0 || segment.flags.has(Flags::SYN) {
            return Action::Pass;
        }
        if seq >= self.highest {
            self.highest = end;
            self.absorbed = None;
            return Action::Pass;
        }
        if end <= self.acked {
            let is_first_of_run = self.absorbed.is_none_or(|last| seq <= last);
            self.absorbed = Some(seq);
            return if is_first_of_run { Action::Reply } else { Action::Absorb };
        }
        if self.recover.is_none() {
            self.note_retransmission(seq, end);
        }
        self.highest = self.highest.max(end);
        Action::Pass
    }

    fn note_retransmission(&mut self, seq: Seq, end: Seq) {
        let high = self.highest;
        let begun = Episode { high, retransmitted: end, passed: 0, verdict: Verdict::Open };
        let episode = self.episode.insert(match self.episode {
            Some(episode) if seq < episode.high => episode,
            Some(_) | None => begun,
        });
        episode.passed += 1;
        episode.retransmitted = episode.retransmitted.max(end);
    }

    /// Does the segment carry a higher ACK number or a new window?
    fn has_news(&self, segment: &Segment) -> bool {
        let repeats =
            |newest: &Packet| segment.ack <= self.acked && segment.window == newest.segment.window;
        segment.flags.has(Flags::ACK) && !self.newest.as_ref().is_some_and(repeats)
    }

    /// Processes a packet of the other direction, which may acknowledge this direction's data.
    fn on_ack(&mut self, packet: &Packet) -> Action {
        let segment = &packet.segment;
        if !segment.flags.has(Flags::ACK) || segment.ack < self.acked {
            return Action::Pass;
        }
        let changes = self.has_news(segment);
        self.newest = Some(*packet);
        if segment.ack > self.acked {
            self.on_new_ack(segment.ack);
            return Action::Pass;
        }
        match is_pure_ack(segment) && !changes {
            true => self.on_duplicate(segment),
            false => Action::Pass,
        }
    }

    fn on_new_ack(&mut self, ack: Seq) {
        self.acked = ack;
        self.recover = self.recover.filter(|recover| ack < *recover);
        self.episode = self.episode.filter(|episode| ack <= episode.high);
        if let Some(episode) = self.episode.as_mut().filter(|episode| ack > episode.retransmitted) {
            episode.verdict = Verdict::Spurious;
        }
    }

    fn on_duplicate(&mut self, segment: &Segment) -> Action {
        let all_is_acked = self.acked >= self.highest;
        let beyond = segment.sack_blocks().any(|block| block.end > segment.ack);
        let is_caused = |episode: &&mut Episode| {
            episode.passed > 0 && (all_is_acked || episode.verdict == Verdict::Spurious)
        };
        if let Some(episode) = self.episode.as_mut().filter(is_caused).filter(|_| !beyond) {
            episode.passed -= 1;
            return Action::Absorb;
        }
        if !all_is_acked {
            self.recover = Some(self.highest);
            self.episode = self.episode.filter(|episode| episode.verdict == Verdict::Spurious);
        }
        Action::Pass
    }

    /// The newest ACK, without data.
    fn reply(&self) -> Option<Packet> {
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
