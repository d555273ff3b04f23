//! The packets in flight (RFC 9002 appendix A.1), and the packet that an acknowledgment names.
//!
//! A QUIC packet number is used once, so an ACK frame names a transmission. A TCP acknowledgment
//! names bytes, whichever copy of them arrived. Every transmission has a number here, too. If there
//! are several copies, this stands in for the number in the ACK frame:
//!
//! - an acknowledgment that comes sooner than the smallest round trip after a copy was sent is for
//!   an earlier copy (RFC 8985 section 6.2 step 2);
//! - an acknowledgment in order echoes the timestamp of the copy that arrived (RFC 7323 section
//!   4.3). One that SACKs a segment echoes that of an earlier segment;
//! - otherwise it is for the last copy;
//! - a later D-SACK says that another copy arrived, too, without saying which.

#[cfg(test)]
mod tests;

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

use rtolab_time::{Duration, Instant};

use crate::flight::{AckFacts, Flight, Sent};
use crate::seq::Seq;

/// The largest number of late copies that a D-SACK can still report.
const MAX_AWAITED: usize = 64;

/// The fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    InFlight,
    Lost,
    Acked,
    /// Its data is acknowledged, by an acknowledgment for another copy of it.
    Superseded,
}

/// A transmission of a segment.
#[derive(Clone, Copy, Debug)]
struct SentPacket {
    /// The sequence number after the segment.
    end: Seq,
    len: u64,
    time_sent: Instant,
    /// TSval, zero without timestamps.
    timestamp: u32,
    state: State,
    /// The number of the copy before, if it is one.
    earlier: Option<u64>,
}

/// A segment that is sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transmission {
    /// The sequence number after it.
    pub end: Seq,
    /// Its length in sequence numbers.
    pub len: u64,
    pub at: Instant,
    /// TSval, zero without timestamps.
    pub timestamp: u32,
}

/// A packet that an acknowledgment names.
#[derive(Clone, Copy, Debug)]
pub(super) struct AckedPacket {
    pub number: u64,
    pub time_sent: Instant,
    /// Is it certain that the acknowledgment is for this copy?
    pub certain: bool,
    /// Had it been declared lost?
    pub late: bool,
}

/// The criteria of section 6.1, at one time.
#[derive(Clone, Copy, Debug)]
pub(super) struct LossCriteria {
    pub largest_acked: u64,
    /// kPacketThreshold, if packets are counted.
    pub packet_threshold: Option<u64>,
    pub loss_delay: Duration,
    pub now: Instant,
    /// Losses of packets that were sent later may show persistent congestion.
    pub first_rtt_sample: Option<Instant>,
}

/// The result of DetectAndRemoveLostPackets (appendix A.10).
#[derive(Clone, Debug, Default)]
pub(super) struct Losses {
    /// The numbers of the lost packets, in order.
    pub numbers: Vec<u64>,
    /// The lowest sequence number of a segment of which all copies are lost now.
    pub lowest: Option<Seq>,
    /// The longest time between the transmissions of two lost packets with no acknowledged packet
    /// between them (section 7.6.2).
    pub period: Duration,
    /// When the next packet exceeds the time threshold.
    pub loss_time: Option<Instant>,
}

/// The packets by number, from the first one that is in flight or may be acknowledged late.
#[derive(Clone, Debug, Default)]
pub(super) struct SentPackets {
    packets: VecDeque<SentPacket>,
    /// The number of the first of them.
    first: u64,
    /// No packet below this number is in flight.
    in_flight_from: u64,
    /// The number of the newest copy of each outstanding segment, by its end.
    newest: BTreeMap<Seq, u64>,
    /// Copies that were declared lost and not named when their segment was acknowledged.
    awaited: VecDeque<(Seq, u64, Instant)>,
    /// The bytes of copies in flight besides one of each segment.
    extra: u64,
}

impl SentPackets {
    /// The number of the next packet.
    pub fn next(&self) -> u64 {
        self.first + self.packets.len() as u64
    }

    /// The bytes in flight besides one copy of each segment.
    pub const fn extra(&self) -> u64 {
        self.extra
    }

    fn get(&self, number: u64) -> Option<&SentPacket> {
        self.packets.get(number.checked_sub(self.first)? as usize)
    }

    fn get_mut(&mut self, number: u64) -> Option<&mut SentPacket> {
        self.packets.get_mut(number.checked_sub(self.first)? as usize)
    }

    /// The copies of a segment with their numbers, from the newest on.
    fn copies(&self, newest: Option<u64>) -> impl Iterator<Item = (u64, &SentPacket)> {
        let found = |number: u64| Some((number, self.get(number)?));
        core::iter::successors(newest.and_then(found), move |(_, packet)| {
            packet.earlier.and_then(found)
        })
    }

    fn has_copy_in_flight(&self, newest: Option<u64>) -> bool {
        self.copies(newest).any(|(_, packet)| packet.state == State::InFlight)
    }

    /// OnPacketSent (appendix A.5).
    pub fn on_sent(&mut self, sent: &Transmission) {
        let &Transmission { end, len, at: time_sent, timestamp } = sent;
        let earlier = self.newest.insert(end, self.next());
        if self.has_copy_in_flight(earlier) {
            self.extra += len;
        }
        let state = State::InFlight;
        self.packets.push_back(SentPacket { end, len, time_sent, timestamp, state, earlier });
    }

    /// An acknowledgment is the first to report the delivery of `sent`. Returns the packet that it
    /// names; `None` if the segment was not sent by this loss recovery.
    pub fn on_acked(
        &mut self,
        sent: &Sent,
        ack: &AckFacts,
        min_rtt: Duration,
    ) -> Option<AckedPacket> {
        let newest = self.newest.remove(&sent.end())?;
        let in_order = ack.echo.filter(|_| sent.end() <= ack.ack);
        let (number, certain) = self.named(newest, in_order, (ack.at, min_rtt))?;
        let mut copy = Some(newest);
        let mut in_flight = 0;
        let mut named = None;
        while let Some(at) = copy {
            let Some(packet) = self.get_mut(at) else { break };
            let before = packet.state;
            copy = packet.earlier;
            in_flight += if before == State::InFlight { packet.len } else { 0 };
            packet.state = if at == number { State::Acked } else { State::Superseded };
            let (end, time_sent) = (packet.end, packet.time_sent);
            if at == number {
                let late = before == State::Lost;
                named = Some((AckedPacket { number, time_sent, certain, late }, packet.len));
            } else if before == State::Lost {
                self.await_report((end, at, time_sent));
            }
        }
        let (packet, len) = named?;
        self.extra = self.extra.saturating_sub(in_flight.saturating_sub(len));
        self.forget_decided();
        Some(packet)
    }

    /// The number of the copy that an acknowledgment names (see the module), and whether that is
    /// certain. `echo` is that of an acknowledgment in order.
    fn named(
        &self,
        newest: u64,
        echo: Option<u32>,
        (now, min_rtt): (Instant, Duration),
    ) -> Option<(u64, bool)> {
        let possible = |packet: &SentPacket| now - packet.time_sent >= min_rtt;
        let all = || self.copies(Some(newest));
        let oldest = all().last()?.0;
        let mut candidates = all().filter(|(number, packet)| *number == oldest || possible(packet));
        if let Some(echo) = echo.filter(|echo| *echo != 0) {
            let not_after = |packet: &SentPacket| (echo.wrapping_sub(packet.timestamp) as i32) >= 0;
            let Some((number, packet)) = candidates.find(|(_, packet)| not_after(packet)) else {
                return Some((oldest, number_is_only(all())));
            };
            let same = all().filter(|(_, other)| other.timestamp == packet.timestamp).count();
            return Some((number, same == 1 && (packet.timestamp == echo || number == oldest)));
        }
        let (number, _) = candidates.next()?;
        Some((number, candidates.next().is_none()))
    }

    fn await_report(&mut self, copy: (Seq, u64, Instant)) {
        if self.awaited.len() == MAX_AWAITED {
            self.awaited.pop_front();
        }
        self.awaited.push_back(copy);
    }

    /// A D-SACK reports that data from `start` to `end` arrived twice. Returns a copy of it that
    /// was declared lost and has arrived, after all.
    pub fn on_dsack(&mut self, start: Seq, end: Seq) -> Option<AckedPacket> {
        let index = self.awaited.iter().position(|copy| start < copy.0 && copy.0 <= end)?;
        let (_, number, time_sent) = self.awaited.remove(index)?;
        Some(AckedPacket { number, time_sent, certain: false, late: true })
    }

    /// DetectAndRemoveLostPackets (appendix A.10). Marks the lost segments in the flight.
    pub fn detect_and_remove_lost(&mut self, by: &LossCriteria, flight: &mut Flight) -> Losses {
        let mut losses = Losses::default();
        let mut since = None;
        let mut number = self.in_flight_from.max(self.first);
        while number < by.largest_acked {
            let Some(packet) = self.get(number).copied() else { break };
            match packet.state {
                State::InFlight if by.is_lost(number, &packet) => {
                    if let Some(seq) = self.mark_lost(number, flight) {
                        losses.lowest = Some(losses.lowest.map_or(seq, |lowest| lowest.min(seq)));
                    }
                    losses.numbers.push(number);
                    // Only packets that were sent after the first sample count (section 7.6.2).
                    if by.first_rtt_sample.is_some_and(|sampled| packet.time_sent > sampled) {
                        let began = *since.get_or_insert(packet.time_sent);
                        losses.period = losses.period.max(packet.time_sent - began);
                    }
                }
                State::InFlight => {
                    losses.loss_time = Some(packet.time_sent + by.loss_delay);
                    break;
                }
                State::Acked => since = None,
                State::Lost | State::Superseded => {}
            }
            number += 1;
        }
        self.in_flight_from = self.in_flight_from.max(number);
        losses
    }

    /// Declares a packet lost. Returns the first sequence number of its segment if no other copy is
    /// in flight.
    fn mark_lost(&mut self, number: u64, flight: &mut Flight) -> Option<Seq> {
        let packet = self.get_mut(number)?;
        packet.state = State::Lost;
        let (end, len) = (packet.end, packet.len);
        let other_in_flight = self.has_copy_in_flight(self.newest.get(&end).copied());
        if other_in_flight {
            self.extra = self.extra.saturating_sub(len);
        }
        flight.mark_copy_lost(end, other_in_flight).filter(|_| !other_in_flight)
    }

    /// Drops the first packets while they are decided. A lost one may still be acknowledged.
    fn forget_decided(&mut self) {
        let decided =
            |packet: &SentPacket| matches!(packet.state, State::Acked | State::Superseded);
        while self.packets.front().is_some_and(decided) {
            self.packets.pop_front();
            self.first += 1;
        }
    }

    /// No packet is lost: the newest copy of every segment is in flight again.
    pub fn forget_losses(&mut self) {
        self.extra = 0;
        for packet in &mut self.packets {
            if packet.state == State::InFlight {
                packet.state = State::Superseded;
            }
        }
        let newest: Vec<u64> = self.newest.values().copied().collect();
        for number in newest {
            if let Some(packet) = self.get_mut(number) {
                packet.state = State::InFlight;
            }
        }
        self.in_flight_from = self.first;
    }

    /// Takes over the segments of a flight, in the order in which they were sent last. Returns the
    /// largest number that is acknowledged.
    pub fn adopt(&mut self, flight: &Flight) -> Option<u64> {
        let mut segments: Vec<Sent> = flight.segments_from(flight.una()).copied().collect();
        segments.sort_by_key(Sent::xmit_key);
        *self = Self { first: self.next(), ..Self::default() };
        self.in_flight_from = self.first;
        let mut largest_acked = None;
        for sent in segments {
            let number = self.next();
            let (end, len, timestamp) = (sent.end(), sent.len.into(), sent.timestamp);
            self.on_sent(&Transmission { end, len, at: sent.last_sent, timestamp });
            let state = match (sent.is_sacked(), sent.is_lost() && !sent.is_retrans_out()) {
                (true, _) => State::Acked,
                (false, true) => State::Lost,
                (false, false) => State::InFlight,
            };
            if let Some(packet) = self.get_mut(number) {
                packet.state = state;
            }
            if state == State::Acked {
                self.newest.remove(&end);
                largest_acked = Some(number);
            }
        }
        largest_acked
    }
}

/// Is there only one copy?
fn number_is_only<'a>(mut copies: impl Iterator<Item = (u64, &'a SentPacket)>) -> bool {
    copies.next().is_some() && copies.next().is_none()
}

impl LossCriteria {
    fn is_lost(&self, number: u64, packet: &SentPacket) -> bool {
        // sent_packets[pn].time_sent <= now() - loss_delay
        // || largest_acked_packet >= pn + kPacketThreshold
        packet.time_sent + self.loss_delay <= self.now
            || self.packet_threshold.is_some_and(|count| self.largest_acked >= number + count)
    }
}
