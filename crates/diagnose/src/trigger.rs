//! Why a sender retransmitted, as far as the moment tells.
//!
//! A retransmission right after an ACK answers it; any other one is a timer's.

use rtolab_tcp::{AckFacts, Flags, Flight, Segment, Seq};
use rtolab_time::{Duration, Instant};
use serde::Serialize;

use crate::rtt::RoundTrips;

/// What made the sender retransmit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Trigger {
    /// The retransmission timer expired, after this many back-offs.
    Timeout(u32),
    /// A tail loss probe (RFC 8985 section 7).
    TailLossProbe,
    /// Duplicate ACKs or SACK reported the loss.
    Fast,
    /// Fast recovery fills a hole.
    Recovery,
    /// It was outstanding when the timer of another expired.
    AfterTimeout,
    /// A SYN or SYN-ACK is retransmitted, after this many back-offs.
    Syn(u32),
    /// A SYN-ACK answers a SYN that came once more.
    SynAnswer,
    /// A keep-alive that carries a byte.
    KeepAlive,
    /// A probe of a closed window.
    ZeroWindowProbe,
    /// The capture does not say: it was not made near the sender.
    Unknown,
}

impl Trigger {
    /// As documents say it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Timeout(_) => "timeout",
            Self::TailLossProbe => "tlp",
            Self::Fast => "fast",
            Self::Recovery => "recovery",
            Self::AfterTimeout => "after-timeout",
            Self::Syn(_) => "syn",
            Self::SynAnswer => "syn-answer",
            Self::KeepAlive => "keep-alive",
            Self::ZeroWindowProbe => "zero-window-probe",
            Self::Unknown => "unknown",
        }
    }

    /// Of a timeout, how often the timer had been backed off before.
    pub const fn backoff(self) -> Option<u32> {
        match self {
            Self::Timeout(backoff) | Self::Syn(backoff) => Some(backoff),
            _ => None,
        }
    }
}

impl Serialize for Trigger {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// A sender answers an ACK within this time, apart from the path's delay.
const AT_ONCE: Duration = Duration::from_millis(3);
/// All answers to one ACK leave within this time.
const AT_THE_SAME_TIME: Duration = Duration::from_micros(500);
/// No timer of a sender runs shorter than this; recovery may pace what it sends.
const SHORTEST_TIMER: Duration = Duration::from_millis(100);

/// Linux rounds its reordering timer up by two ticks, of 10 ms at most.
const TICKS: Duration = Duration::from_millis(20);

/// This many duplicate ACKs lead to a fast retransmit (RFC 5681 section 3.2).
pub(crate) const DUPLICATE_THRESHOLD: u32 = 3;

/// New segments that F-RTO sends before it knows: two (RFC 5682 section 2.1), Linux now and then
/// more.
const FORWARD: u32 = 3;

/// What the sender is repairing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Repair {
    #[default]
    Nothing,
    /// Fast recovery, until this is acknowledged.
    Fast(Seq),
    /// What was outstanding at a timeout, until this is acknowledged.
    Timeout(Seq),
    /// As before, but the sender has sent this many new segments since, as F-RTO does.
    Forward(Seq, u32),
}

/// What of the past tells why something is sent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pace {
    last_ack: Option<Instant>,
    /// When the retransmission timer was restarted last.
    restarted: Instant,
    last_sent: Instant,
    duplicates: u32,
    gap: Option<Instant>,
    /// When an ACK last may have reported a gap: without SACK, a duplicate with another window
    /// looks like an update of the window.
    possible_gap: Option<Instant>,
    repair: Repair,
    /// The first sequence number that timed out last, and how often.
    expired: Option<(Seq, u32)>,
    probed: bool,
    /// The peer's window was last seen closed.
    closed: bool,
}

impl Pace {
    /// Duplicate ACKs since the last new one.
    pub const fn duplicates(&self) -> u32 {
        self.duplicates
    }

    /// When something last came from the other end.
    pub const fn last_ack(&self) -> Option<Instant> {
        self.last_ack
    }

    /// Was the peer's window last seen closed?
    pub const fn is_closed(&self) -> bool {
        self.closed
    }

    /// When an ACK last reported a gap.
    pub const fn gap(&self) -> Option<Instant> {
        self.gap
    }

    /// When an ACK last reported a gap, or may have done so.
    pub fn possible_gap(&self) -> Option<Instant> {
        self.gap.max(self.possible_gap)
    }

    /// A SYN came once more from the other end.
    pub const fn heard_syn(&mut self, at: Instant) {
        self.last_ack = Some(at);
    }

    /// Since the retransmission timer was restarted.
    pub const fn idle(&self, at: Instant) -> Duration {
        at.since(self.restarted)
    }

    /// An ACK came.
    pub fn acked(&mut self, segment: &Segment, facts: Option<&AckFacts>, at: Instant) {
        self.last_ack = Some(at);
        self.closed = segment.window == 0 && !segment.flags.any(Flags::SYN | Flags::RST);
        let Some(facts) = facts else { return };
        if facts.is_new() {
            (self.restarted, self.duplicates, self.expired, self.probed) = (at, 0, None, false);
            self.repair = match self.repair {
                Repair::Fast(until) | Repair::Timeout(until) | Repair::Forward(until, _)
                    if facts.ack >= until =>
                {
                    Repair::Nothing
                }
                repair => repair,
            };
        } else {
            let repeats = facts.duplicate || facts.newly_sacked > 0;
            self.duplicates += u32::from(repeats && facts.dsack.is_none());
        }
        if facts.newly_sacked > 0 || facts.duplicate && facts.dsack.is_none() {
            self.gap = Some(at);
        }
        let is_bare = segment.len == 0 && segment.sack_count() == 0 && facts.dsack.is_none();
        if is_bare && segment.ack == facts.una_before && facts.max > segment.ack && !facts.repeats {
            self.possible_gap = Some(at);
        }
    }

    /// Something was sent for the first time.
    pub const fn sent(&mut self, at: Instant, outstanding: u64) {
        if outstanding == 0 {
            self.restarted = at;
        }
        self.repair = match self.repair {
            Repair::Timeout(until) => Repair::Forward(until, 1),
            // More than F-RTO sends to find out: it has found the timeout spurious.
            Repair::Forward(_, FORWARD..) => Repair::Nothing,
            Repair::Forward(until, count) => Repair::Forward(until, count + 1),
            repair => repair,
        };
        self.last_sent = at;
    }

    /// Why a segment is retransmitted. `turnaround` is how long the way from the capture to the
    /// sender and back takes.
    pub fn retransmitted(
        &mut self,
        segment: &Segment,
        at: Instant,
        (flight, trips): (&Flight, &RoundTrips),
        turnaround: Duration,
    ) -> Trigger {
        let trigger = self.trigger(segment, at, (flight, trips), turnaround);
        match trigger {
            Trigger::Timeout(backoff) | Trigger::Syn(backoff) => {
                self.expired = Some((segment.seq, backoff + 1));
                self.repair = Repair::Timeout(flight.max());
                self.restarted = at;
            }
            Trigger::Fast => self.repair = Repair::Fast(flight.max()),
            Trigger::AfterTimeout => {
                if let Repair::Forward(until, _) = self.repair {
                    self.repair = Repair::Timeout(until);
                }
            }
            Trigger::TailLossProbe => {
                self.probed = true;
                self.restarted = at;
            }
            _ => {}
        }
        self.last_sent = at;
        trigger
    }

    fn trigger(
        &self,
        segment: &Segment,
        at: Instant,
        (flight, trips): (&Flight, &RoundTrips),
        turnaround: Duration,
    ) -> Trigger {
        let before = match self.expired {
            Some((seq, count)) if seq == segment.seq => count,
            _ => 0,
        };
        let since_ack = self.last_ack.map(|last| at.since(last));
        let slack = turnaround + turnaround / 2 + AT_ONCE;
        let answers = since_ack.is_some_and(|since| since <= slack);
        if segment.flags.has(Flags::SYN) {
            return match answers && segment.flags.has(Flags::ACK) {
                true => Trigger::SynAnswer,
                false => Trigger::Syn(before),
            };
        }
        if segment.len <= 1 && !segment.flags.has(Flags::FIN) {
            if self.closed {
                return Trigger::ZeroWindowProbe;
            }
            if segment.end() <= flight.una() {
                return Trigger::KeepAlive;
            }
        }
        if self.closed && segment.seq <= flight.una() {
            return Trigger::ZeroWindowProbe;
        }
        let is_head = segment.seq <= flight.una();
        let is_over = self.has_answered(at) || before > 0 && !answers;
        let is_over = is_over || !flight.uses_sack() && self.is_repaired(flight, since_ack);
        if is_head && is_over && self.expires(at, trips) {
            return Trigger::Timeout(before);
        }
        if answers || (!is_head && self.repairs_on(since_ack)) {
            return self.answer(flight);
        }
        if is_head {
            let only = segment.end() >= flight.max();
            let early = trips.samples > 0 && !self.expires(at, trips);
            // The reordering timer (RFC 8985 section 6.3).
            let reported = self.gap.zip(trips.smoothed);
            let lately = reported.is_some_and(|(gap, rtt)| at.since(gap) <= rtt / 4 + TICKS);
            if early && lately && flight.sacked() > 0 && before == 0 {
                return self.answer(flight);
            }
            return match only && early && !self.probed && before == 0 {
                true => Trigger::TailLossProbe,
                false if self.repair != Repair::Nothing && self.repairs_on(since_ack) => {
                    self.answer(flight)
                }
                false => Trigger::Timeout(before),
            };
        }
        match self.repair {
            Repair::Timeout(_) | Repair::Forward(..) => Trigger::AfterTimeout,
            Repair::Nothing if segment.end() >= flight.max() => Trigger::TailLossProbe,
            Repair::Fast(_) => Trigger::Recovery,
            Repair::Nothing if flight.sacked() > 0 => Trigger::Fast,
            Repair::Nothing => Trigger::Unknown,
        }
    }

    /// Has the sender already answered the last ACK?
    fn has_answered(&self, at: Instant) -> bool {
        self.last_ack.is_some_and(|last| last <= self.last_sent)
            && at.since(self.last_sent) > AT_THE_SAME_TIME
    }

    /// Without SACK, do duplicate ACKs cause no more retransmissions? The segment was retransmitted
    /// in this recovery, or more came than lead to one.
    fn is_repaired(&self, flight: &Flight, since_ack: Option<Duration>) -> bool {
        let repeated = flight.head().is_some_and(rtolab_tcp::Sent::was_retransmitted);
        let late = since_ack.is_some_and(|since| since > AT_THE_SAME_TIME);
        matches!(self.repair, Repair::Fast(_)) && repeated
            || self.duplicates > DUPLICATE_THRESHOLD && late
    }

    /// Is a retransmission timer due, without back-off?
    fn expires(&self, at: Instant, trips: &RoundTrips) -> bool {
        trips.timeout().is_some_and(|timeout| self.idle(at) * 10 >= timeout * 9)
    }

    /// Is a repair under way that something recent keeps going?
    fn repairs_on(&self, since_ack: Option<Duration>) -> bool {
        self.repair != Repair::Nothing && since_ack.is_some_and(|since| since < SHORTEST_TIMER)
    }

    /// What an ACK made the sender send.
    fn answer(&self, flight: &Flight) -> Trigger {
        match self.repair {
            // Found spurious, the timeout is over: duplicates then lead to a fast retransmit. Found
            // genuine, the first of them leads on.
            Repair::Forward(..) if self.duplicates >= DUPLICATE_THRESHOLD => Trigger::Fast,
            Repair::Timeout(_) | Repair::Forward(..) => Trigger::AfterTimeout,
            Repair::Fast(_) => Trigger::Recovery,
            Repair::Nothing if self.duplicates > 0 || flight.sacked() > 0 => Trigger::Fast,
            Repair::Nothing => Trigger::Unknown,
        }
    }
}
