//! The trigger of a retransmission, inferred from its time.
//!
//! A retransmission right after an ACK answers the ACK. A timer triggers any other retransmission.

#[cfg(test)]
mod tests;

use rtolab_tcp::{AckFacts, Flags, Flight, Segment, Seq};
use rtolab_time::{Duration, Instant};
use serde::Serialize;

use crate::rtt::RttStatistics;

/// The trigger of a retransmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Trigger {
    /// The retransmission timer (RFC 6298), after this number of backoffs.
    Timeout(u32),
    /// A tail loss probe (RFC 8985 section 7).
    TailLossProbe,
    /// Duplicate ACKs or SACK blocks that reported a loss.
    FastRetransmit,
    /// Fast recovery, after its first retransmission.
    Recovery,
    /// Loss recovery after a timeout of an earlier segment.
    AfterTimeout,
    /// The retransmission timer of a SYN or SYN-ACK, after this number of backoffs.
    Syn(u32),
    /// A retransmitted SYN: this is the SYN-ACK that answers it.
    SynAnswer,
    /// The keep-alive timer (RFC 9293 section 3.8.4), for a probe with one byte.
    KeepAlive,
    /// The persist timer: a zero-window probe (RFC 9293 section 3.8.6.1).
    ZeroWindowProbe,
    /// Unknown, because the capture was not made near the sender.
    Unknown,
}

impl Trigger {
    /// The name in documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Timeout(_) => "timeout",
            Self::TailLossProbe => "tlp",
            Self::FastRetransmit => "fast",
            Self::Recovery => "recovery",
            Self::AfterTimeout => "after-timeout",
            Self::Syn(_) => "syn",
            Self::SynAnswer => "syn-answer",
            Self::KeepAlive => "keep-alive",
            Self::ZeroWindowProbe => "zero-window-probe",
            Self::Unknown => "unknown",
        }
    }

    /// For a timeout, the number of backoffs before it.
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

/// The longest time that a sender takes to answer an ACK, in addition to the path's delay.
const PROCESSING_TIME: Duration = Duration::from_millis(3);
/// The longest time that a sender takes to send all segments that answer one ACK.
const BURST: Duration = Duration::from_micros(500);
/// The smallest interval that we expect between keep-alive probes.
pub(crate) const MIN_KEEP_ALIVE: Duration = Duration::from_secs(1);
/// The smallest RTO that we expect. Retransmissions at shorter intervals belong to a recovery.
const MIN_RTO: Duration = Duration::from_millis(100);

/// The time by which Linux rounds up its RACK reordering timer: two ticks of at most 10 ms.
const REO_TIMER_SLACK: Duration = Duration::from_millis(20);

/// The number of duplicate ACKs that triggers a fast retransmit (RFC 5681 section 3.2).
pub(crate) const DUPLICATE_THRESHOLD: u32 = 3;

/// The maximum number of new segments that F-RTO sends before it decides: two (RFC 5682 section
/// 2.1), or occasionally more in Linux.
const MAX_FRTO_SEGMENTS: u32 = 3;

/// The sender's state of recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Recovery {
    #[default]
    None,
    /// Fast recovery, until everything below this recovery point is acknowledged.
    Fast(Seq),
    /// Recovery after a timeout, until everything below this is acknowledged.
    Timeout(Seq),
    /// F-RTO: recovery after a timeout, in which the sender has sent this number of new segments.
    Frto(Seq, u32),
}

/// The state of a sender, as far as the trigger of a retransmission depends on it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SenderState {
    last_ack: Option<Instant>,
    /// When the retransmission timer was restarted last.
    restarted: Instant,
    last_sent: Instant,
    duplicates: u32,
    /// When an ACK last reported a gap.
    gap: Option<Instant>,
    /// When an ACK last may have reported a gap. Without SACK, a duplicate ACK with another window
    /// looks like a window update.
    possible_gap: Option<Instant>,
    /// When an ACK last had new SACK information.
    newly_sacked: Option<Instant>,
    recovery: Recovery,
    /// The sequence number of the segment that timed out last, and the number of its timeouts.
    expired: Option<(Seq, u32)>,
    /// When an ACK last repeated the last one, whose SACK blocks the capture may have cut off.
    cut_duplicate: Option<Instant>,
    /// Was a tail loss probe sent since the last ACK of new data?
    probed: bool,
    /// When the peer began to advertise a zero window; `None` if the last window was not zero.
    zero_window: Option<Instant>,
    /// Has the sender retransmitted more since the last timeout?
    has_retransmitted_more: bool,
    /// Has the sender ever answered the first ACK after a timeout with new data, as F-RTO does (RFC
    /// 5682 section 2.1)?
    has_frto: bool,
    /// The first and the last probe of the zero window since the last packet of the peer.
    window_probes: Option<[Instant; 2]>,
    /// The number of retransmissions since the last packet of the peer.
    unanswered: u32,
    /// The number of keep-alive probes since then.
    unanswered_probes: u32,
}

impl SenderState {
    /// The number of duplicate ACKs since the last ACK of new data.
    pub const fn duplicates(&self) -> u32 {
        self.duplicates
    }

    /// When the last ACK or SYN from the other end passed.
    pub const fn last_ack(&self) -> Option<Instant> {
        self.last_ack
    }

    /// Since when the peer has advertised a zero window; `None` if the last window was not zero.
    pub const fn zero_window(&self) -> Option<Instant> {
        self.zero_window
    }

    /// The times of the first and the last probe of the zero window that no packet of the peer has
    /// followed.
    pub const fn window_probes(&self) -> Option<[Instant; 2]> {
        self.window_probes
    }

    /// Has the sender shown that it uses F-RTO?
    pub const fn has_frto(&self) -> bool {
        self.has_frto
    }

    /// The number of retransmissions since the last packet of the peer, without probes.
    pub const fn unanswered(&self) -> u32 {
        self.unanswered
    }

    /// The number of keep-alive probes since the last packet of the peer.
    pub const fn unanswered_probes(&self) -> u32 {
        self.unanswered_probes
    }

    /// Counts a retransmission that no packet of the peer has followed yet.
    pub const fn count_unanswered(&mut self) {
        self.unanswered = self.unanswered.saturating_add(1);
    }

    /// How often the timer expired for the segment that begins here, since the last progress.
    pub fn backoffs(&self, seq: Seq) -> u32 {
        self.expired.filter(|(expired, _)| *expired == seq).map_or(0, |(_, count)| count)
    }

    /// When an ACK last reported a gap.
    pub const fn gap(&self) -> Option<Instant> {
        self.gap
    }

    /// When an ACK last reported a gap, or may have done so.
    pub fn possible_gap(&self) -> Option<Instant> {
        self.gap.max(self.possible_gap)
    }

    /// May the sender send a tail loss probe: no recovery, and no probe since the last progress?
    pub fn may_probe(&self) -> bool {
        !self.probed && self.recovery == Recovery::None
    }

    /// Processes a SYN from the other end.
    pub const fn on_syn(&mut self, at: Instant) {
        self.last_ack = Some(at);
    }

    /// The time since the retransmission timer was last restarted.
    pub const fn since_restart(&self, at: Instant) -> Duration {
        at.since(self.restarted)
    }

    /// Processes the time and the window of an ACK.
    pub fn on_packet_received(&mut self, segment: &Segment, at: Instant) {
        self.last_ack = Some(at);
        (self.unanswered, self.unanswered_probes) = (0, 0);
        if self.zero_window.is_some() {
            self.window_probes = None;
        }
        let is_closed = segment.window == 0 && !segment.flags.any(Flags::SYN | Flags::RST);
        self.zero_window = is_closed.then(|| self.zero_window.unwrap_or(at));
    }

    /// Processes an ACK that repeats the last one, and whose SACK blocks the capture may have cut
    /// off.
    pub const fn on_cut_duplicate(&mut self, at: Instant) {
        self.cut_duplicate = Some(at);
    }

    /// May the capture have cut off SACK blocks?
    pub const fn is_sack_cut(&self) -> bool {
        self.cut_duplicate.is_some()
    }

    /// Processes the acknowledgment of new data.
    pub fn on_progress(&mut self, ack: Seq, at: Instant) {
        (self.restarted, self.duplicates, self.expired, self.probed) = (at, 0, None, false);
        self.recovery = match self.recovery {
            Recovery::Fast(until) | Recovery::Timeout(until) | Recovery::Frto(until, _)
                if ack >= until =>
            {
                Recovery::None
            }
            recovery => recovery,
        };
    }

    /// Processes an ACK.
    pub fn on_ack(&mut self, segment: &Segment, facts: Option<&AckFacts>, at: Instant) {
        self.on_packet_received(segment, at);
        let Some(facts) = facts else { return };
        if facts.is_new() {
            self.on_progress(facts.ack, at);
        } else {
            let repeats = facts.duplicate || facts.newly_sacked > 0;
            self.duplicates += u32::from(repeats && facts.dsack.is_none());
        }
        if facts.newly_sacked > 0 || facts.duplicate && facts.dsack.is_none() {
            self.gap = Some(at);
        }
        if facts.newly_sacked > 0 {
            self.newly_sacked = Some(at);
        }
        let is_bare = segment.len == 0 && segment.sack_count() == 0 && facts.dsack.is_none();
        if is_bare && segment.ack == facts.una_before && facts.max > segment.ack && !facts.repeats {
            self.possible_gap = Some(at);
        }
    }

    /// Processes new data.
    pub const fn on_sent(&mut self, at: Instant, outstanding: u64) {
        if outstanding == 0 {
            self.restarted = at;
        }
        if matches!(self.recovery, Recovery::Timeout(_)) {
            // An ACK of new data has come since the timeout.
            self.has_frto |= self.expired.is_none() && !self.has_retransmitted_more;
        }
        self.recovery = match self.recovery {
            Recovery::Timeout(until) => Recovery::Frto(until, 1),
            // F-RTO sends no more before it decides. A further segment means that it found the
            // timeout spurious.
            Recovery::Frto(_, MAX_FRTO_SEGMENTS..) => Recovery::None,
            Recovery::Frto(until, count) => Recovery::Frto(until, count + 1),
            recovery => recovery,
        };
        self.last_sent = at;
    }

    /// Processes a retransmission, and returns its trigger. `turnaround` is the round-trip time
    /// between the capture point and the sender.
    pub fn on_retransmission(
        &mut self,
        segment: &Segment,
        at: Instant,
        (flight, rtt): (&Flight, &RttStatistics),
        turnaround: Duration,
    ) -> Trigger {
        let trigger = self.trigger(segment, at, (flight, rtt), turnaround);
        let trigger = match self.may_be_fast(trigger, at, rtt) {
            true => Trigger::Unknown,
            false => trigger,
        };
        if trigger == Trigger::KeepAlive && at.since(self.last_sent) >= MIN_KEEP_ALIVE {
            self.unanswered_probes += 1;
        }
        match trigger {
            Trigger::Timeout(backoff) | Trigger::Syn(backoff) => {
                self.expired = Some((segment.seq, backoff + 1));
                self.has_retransmitted_more = false;
                self.recovery = Recovery::Timeout(flight.max());
                self.restarted = at;
            }
            Trigger::FastRetransmit => self.recovery = Recovery::Fast(flight.max()),
            Trigger::AfterTimeout => {
                self.has_retransmitted_more = true;
                if let Recovery::Frto(until, _) = self.recovery {
                    self.recovery = Recovery::Timeout(until);
                }
            }
            Trigger::TailLossProbe => {
                self.probed = true;
                self.restarted = at;
            }
            Trigger::ZeroWindowProbe => {
                let first = self.window_probes.map_or(at, |[first, _]| first);
                self.window_probes = Some([first, at]);
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
        (flight, rtt): (&Flight, &RttStatistics),
        turnaround: Duration,
    ) -> Trigger {
        let backoffs = match self.expired {
            Some((seq, count)) if seq == segment.seq => count,
            _ => 0,
        };
        let since_ack = self.last_ack.map(|last| at.since(last));
        let slack = turnaround + turnaround / 2 + PROCESSING_TIME;
        let answers = since_ack.is_some_and(|since| since <= slack);
        if segment.flags.has(Flags::SYN) {
            return match answers && segment.flags.has(Flags::ACK) {
                true => Trigger::SynAnswer,
                false => Trigger::Syn(backoffs),
            };
        }
        if segment.len <= 1 && !segment.flags.has(Flags::FIN) {
            if self.zero_window.is_some() {
                return Trigger::ZeroWindowProbe;
            }
            if segment.end() <= flight.una() {
                return Trigger::KeepAlive;
            }
        }
        if self.zero_window.is_some() && segment.seq <= flight.una() {
            return Trigger::ZeroWindowProbe;
        }
        let is_head = segment.seq <= flight.una();
        let not_ack_clocked = self.has_answered(at)
            || (backoffs > 0 || self.is_retransmission_overdue(at, flight, rtt)) && !answers
            || !flight.uses_sack()
                && !self.is_sack_cut()
                && self.has_fast_retransmitted(flight, since_ack);
        if is_head && not_ack_clocked && self.is_rto_due(at, rtt) {
            return Trigger::Timeout(backoffs);
        }
        if answers || (!is_head && self.is_recovering(since_ack)) {
            return self.trigger_by_ack(flight);
        }
        if is_head {
            let only = segment.end() >= flight.max();
            let early = rtt.samples > 0 && !self.is_rto_due(at, rtt);
            // The RACK reordering timer (RFC 8985 section 6.3), or pacing.
            let reported = self.gap.zip(rtt.srtt);
            let is_recent =
                reported.is_some_and(|(gap, rtt)| at.since(gap) <= rtt / 4 + REO_TIMER_SLACK);
            let is_reported =
                flight.sacked() > 0 || self.may_pace_fast_retransmit(at, (flight, rtt));
            if early && is_recent && is_reported && backoffs == 0 {
                return self.trigger_by_ack(flight);
            }
            return match only && early && !self.probed && backoffs == 0 {
                true => Trigger::TailLossProbe,
                false if self.recovery != Recovery::None && self.is_recovering(since_ack) => {
                    self.trigger_by_ack(flight)
                }
                false => Trigger::Timeout(backoffs),
            };
        }
        match self.recovery {
            Recovery::Timeout(_) | Recovery::Frto(..) => Trigger::AfterTimeout,
            Recovery::None if segment.end() >= flight.max() => Trigger::TailLossProbe,
            Recovery::Fast(_) => Trigger::Recovery,
            Recovery::None if flight.sacked() > 0 => Trigger::FastRetransmit,
            Recovery::None => Trigger::Unknown,
        }
    }

    /// Has the sender already answered the last ACK?
    fn has_answered(&self, at: Instant) -> bool {
        self.last_ack.is_some_and(|last| last <= self.last_sent) && at.since(self.last_sent) > BURST
    }

    /// Is the fast retransmit of the first segment over? Without SACK, duplicate ACKs then trigger
    /// no further retransmission of it. That holds if this recovery has retransmitted it, or if the
    /// threshold has been exceeded.
    fn has_fast_retransmitted(&self, flight: &Flight, since_ack: Option<Duration>) -> bool {
        let retransmitted = flight.head().is_some_and(rtolab_tcp::Sent::was_retransmitted);
        let late = since_ack.is_some_and(|since| since > BURST);
        matches!(self.recovery, Recovery::Fast(_)) && retransmitted
            || self.duplicates > DUPLICATE_THRESHOLD && late
    }

    /// With SACK: was the first segment retransmitted an RTO or longer ago, without new SACK
    /// information since then? Loss recovery retransmits a segment once (RFC 6675), or again if
    /// later transmissions are SACKed (RFC 8985). Only the timer retransmits it otherwise.
    fn is_retransmission_overdue(&self, at: Instant, flight: &Flight, rtt: &RttStatistics) -> bool {
        let (Some(head), Some(timeout)) = (flight.head(), rtt.timeout()) else { return false };
        let is_due = at.since(head.last_sent) * 10 >= timeout * 9;
        let is_reported = self.newly_sacked.is_some_and(|sacked| sacked > head.last_sent);
        let knows_sack = flight.uses_sack() && !self.is_sack_cut();
        knows_sack && head.was_retransmitted() && is_due && !is_reported
    }

    /// Without SACK: may this be a fast retransmit that pacing delays, after enough duplicate ACKs?
    fn may_pace_fast_retransmit(
        &self,
        at: Instant,
        (flight, rtt): (&Flight, &RttStatistics),
    ) -> bool {
        let shortest = rtt.shortest_timeout();
        let is_due = shortest.is_some_and(|shortest| self.since_restart(at) * 10 >= shortest * 9);
        let is_over = self.recovery != Recovery::None;
        !flight.uses_sack() && !is_over && !is_due && self.duplicates >= DUPLICATE_THRESHOLD
    }

    /// Is this a timeout that may be a fast retransmit, because ACKs came whose SACK blocks the
    /// capture cut off?
    fn may_be_fast(&self, trigger: Trigger, at: Instant, rtt: &RttStatistics) -> bool {
        let since = self.last_ack.map_or(Duration::ZERO, |last| at.since(last));
        let is_silent = rtt.timeout().is_some_and(|timeout| since * 10 >= timeout * 9);
        let is_by_timer = matches!(trigger, Trigger::Timeout(0) | Trigger::TailLossProbe);
        let is_reported = self.cut_duplicate.is_some_and(|cut| cut >= self.restarted);
        is_by_timer && is_reported && !is_silent
    }

    /// Is the retransmission timer due, without backoff?
    fn is_rto_due(&self, at: Instant, rtt: &RttStatistics) -> bool {
        rtt.timeout().is_some_and(|timeout| self.since_restart(at) * 10 >= timeout * 9)
    }

    /// Is the sender in a recovery that a recent ACK clocks?
    fn is_recovering(&self, since_ack: Option<Duration>) -> bool {
        self.recovery != Recovery::None && since_ack.is_some_and(|since| since < MIN_RTO)
    }

    /// The trigger of a retransmission that answers an ACK.
    fn trigger_by_ack(&self, flight: &Flight) -> Trigger {
        match self.recovery {
            // If F-RTO finds the timeout spurious, it leaves loss recovery, and duplicate ACKs
            // trigger a fast retransmit. Otherwise the first duplicate ACK continues loss recovery.
            Recovery::Frto(..) if self.duplicates >= DUPLICATE_THRESHOLD => Trigger::FastRetransmit,
            Recovery::Timeout(_) | Recovery::Frto(..) => Trigger::AfterTimeout,
            Recovery::Fast(_) => Trigger::Recovery,
            Recovery::None if self.duplicates > 0 || flight.sacked() > 0 => Trigger::FastRetransmit,
            Recovery::None => Trigger::Unknown,
        }
    }
}
