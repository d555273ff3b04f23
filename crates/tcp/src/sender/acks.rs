//! What an acknowledgment changes.

use alloc::vec::Vec;

use rtolab_time::Instant;

use super::Sender;
use crate::config::{FullAck, Reduction, Sampling};
use crate::flight::{AckFacts, Sent};
use crate::rtt::Trains;
use crate::segment::{Flags, Segment};

impl Sender {
    /// Takes an acknowledgment, whose number is from SND.UNA to SND.MAX.
    pub fn on_ack(&mut self, segment: &Segment, at: Instant) {
        match self.needs_slow_path(segment) {
            true => self.on_ack_slow_path(segment, at),
            false => self.on_pure_ack(segment, at),
        }
    }

    /// Can the segment change anything here? Nothing is outstanding at an end that only receives, and
    /// most of what arrives there acknowledges nothing.
    #[inline]
    fn needs_slow_path(&self, segment: &Segment) -> bool {
        self.flight.size() > 0
            || segment.sack_count() > 0
            || self.recovery.is_fast()
            || self.config.recovery.reduction == Reduction::RateHalving
            || self.discount.is_under_way()
            || self.is_judging()
            || self.rack.is_some()
    }

    /// Takes an acknowledgment of nothing, while nothing is outstanding.
    #[inline]
    pub(crate) fn on_pure_ack(&mut self, segment: &Segment, at: Instant) {
        self.flight.note_header(segment);
        self.burst = self.config.window.max_burst.unwrap_or(u32::MAX);
        self.last_activity.received = Some(at);
        if segment.flags.has(Flags::ECE) {
            self.note_congestion_echo();
        }
        self.tell_trains(|trains| trains.begin(false));
    }

    fn on_ack_slow_path(&mut self, segment: &Segment, at: Instant) {
        let timed = self.timed_segments(segment);
        let waited = self.early_timer().is_some();
        let facts = self.take_ack(segment, at);
        let credits = self.credits(&facts);
        self.burst = self.config.window.max_burst.unwrap_or(u32::MAX);
        if facts.is_new() {
            self.nxt = self.nxt.max(facts.ack);
            self.timed_out_at = None;
            self.without_retransmission = false;
            self.tell_trains(|trains| trains.acked(facts.ack));
            self.sample(&facts, &timed);
        } else if facts.sacked_sent.is_some() && self.config.rto.sampling == Sampling::EveryReport {
            self.sample(&facts, &timed);
        }
        if !facts.acks_syn() {
            self.watch_slow_start(at);
        }
        self.last_activity.received = Some(at);
        if segment.flags.has(Flags::ECE) {
            self.note_congestion_echo();
        }
        if facts.acks_syn() && self.syn_timed_out() {
            self.judge_syn(&facts);
        }
        let settled = self.judge(&facts);
        let recovering = self.recovery.is_fast();
        self.recover_or_begin(&facts, settled);
        let echoed = self.takes_echo(segment);
        if echoed {
            self.answer_echo(&facts);
        }
        let reducing = self.reduce_window(&facts) || echoed || self.is_reducing_for_echo();
        if facts.is_new() {
            let ended = recovering && !self.recovery.is_fast();
            let full = ended && self.config.window.full_ack == FullAck::Halved;
            let full = full || (ended && self.grows_where_recovered());
            let grows = !recovering || (full && !self.recovery.is_sack1());
            let valid = self.validate_ack(&facts);
            let frozen = settled.freezes() && !self.grows_where_restored(settled);
            if grows && valid && !reducing && !frozen && !facts.acks_syn() {
                self.grow_window(&facts, credits);
            }
            if settled.ends() || ended {
                self.moderate();
            }
            if ended {
                self.validate_recovered();
                self.tell_trains(Trains::resume);
            }
            let counts = !self.recovery.is_fast();
            self.tell_trains(|trains| trains.begin(counts));
            self.restart_timer(at);
        } else {
            let grows = !recovering && !self.recovery.is_fast() && self.grows_out_of_order(&facts);
            if grows && !reducing && !settled.freezes() && self.validate_ack(&facts) {
                self.grow_window(&facts, credits);
            }
            self.tell_trains(|trains| trains.begin(false));
            self.restart_timer_on_duplicate(&facts);
        }
        if self.rack.is_some() {
            self.restart_early_timers(&facts, waited);
        }
        self.open_window();
        self.on_fast_path = facts.is_new() && self.can_enter_fast_path();
        if self.on_fast_path {
            self.flight.give_back_room();
        }
    }

    /// What the acknowledgment says, to the scoreboard and to RACK.
    fn take_ack(&mut self, segment: &Segment, at: Instant) -> AckFacts {
        let Self { flight, rack, recovery, config, window, .. } = self;
        let knobs = &config.recovery.rack;
        let mut facts = flight.expected(segment, at);
        if let Some(rack) = rack {
            rack.begin_ack();
        }
        let on_delivered = |sent: &Sent, facts: &AckFacts| {
            if let Some(rack) = rack {
                rack.on_delivered(sent, facts, (recovery, knobs));
            }
        };
        match segment.sack_count() > 0 && !config.sack {
            false => flight.note_acked(segment, &mut facts, on_delivered),
            true => flight.note_acked(&segment.without_sack(), &mut facts, on_delivered),
        }
        if let Some(rack) = rack {
            facts.doubted = rack.end_ack(&facts, knobs, window.smss);
        }
        facts
    }

    /// Where every segment is timed: when those left that `segment` acknowledges and that were
    /// neither retransmitted nor selectively acknowledged.
    fn timed_segments(&self, segment: &Segment) -> Vec<Instant> {
        if self.config.rto.sampling != Sampling::EverySegment {
            return Vec::new();
        }
        let acked = self.flight.segments_from(self.flight.una());
        let acked = acked.take_while(|sent| sent.end() <= segment.ack);
        let clean = acked.filter(|sent| !sent.was_retransmitted() && !sent.is_sacked());
        clean.map(|sent| sent.first_sent).collect()
    }

    /// Takes a round-trip sample (RFC 6298 section 3, RFC 7323 section 4), or several where every
    /// segment is `timed`.
    fn sample(&mut self, facts: &AckFacts, timed: &[Instant]) {
        let sent = match (self.config.rto.sampling, facts.echo) {
            (Sampling::EverySegment, _) => {
                timed.last().copied().filter(|_| !facts.acks_retransmission)
            }
            (Sampling::EveryAck, Some(echo)) => Some(self.instant_of(echo, facts.at)),
            (Sampling::EveryAck, None) if facts.acks_retransmission => None,
            (Sampling::EveryAck, None) => facts.oldest_acked.map(|segment| segment.first_sent),
            (Sampling::EveryReport, echo) => self.reported(facts, echo),
            (Sampling::OncePerWindow, _) => self
                .timed
                .filter(|(seq, _)| *seq < facts.ack)
                .inspect(|_| self.timed = None)
                .map(|(_, sent)| sent),
        };
        if facts.acks_syn() && !self.config.rto.sample_handshake {
            return;
        }
        let Some(sent) = sent else { return };
        if let Some(rack) = &mut self.rack {
            rack.probe.on_rtt_sample();
        }
        self.rtt.expect_samples(facts.max.since(facts.una_before), self.window.smss);
        let earlier = timed.len().saturating_sub(1);
        for sent in timed[..earlier].iter().chain([&sent]) {
            let rtt = self.rtt.measure(*sent, facts.at);
            self.rtt.sample(rtt, self.flight.una(), self.flight.max());
            self.note_round_trip(rtt, facts);
        }
        let new = |from| facts.oldest_acked.is_some_and(|oldest| oldest.seq >= from);
        if let Some(adapting) = self.adapting.take_if(|adapting| new(adapting.from)) {
            self.rtt.adapt(adapting.before, self.rtt.measure(sent, facts.at));
        }
    }

    /// When that left whose round trip a report gives (`tcp_ack_update_rtt`): the report of nothing
    /// new in order has no echo of its own.
    fn reported(&self, facts: &AckFacts, echo: Option<u32>) -> Option<Instant> {
        let oldest = facts.oldest_acked.filter(|_| !facts.acks_retransmission);
        let sent = oldest.map(|segment| segment.first_sent).or(facts.sacked_sent);
        let echoed = || echo.filter(|_| facts.is_new());
        sent.or_else(|| echoed().map(|echo| self.instant_of(echo, facts.at)))
    }

    /// The timestamp clock of this end (RFC 7323 section 5.4).
    pub fn timestamp(&self, at: Instant) -> u32 {
        (at.nanos() / self.config.timestamp.tick.nanos()) as u32
    }

    /// When the timestamp `echo` was taken, seen from `at`.
    pub(super) fn instant_of(&self, echo: u32, at: Instant) -> Instant {
        let age = self.timestamp(at).wrapping_sub(echo);
        let tick = self.config.timestamp.tick.nanos();
        let now = at.nanos() / tick * tick;
        Instant::from_nanos(now.saturating_sub(u64::from(age) * tick))
    }

    /// A recovery or a spurious timeout ends, and much may have been acknowledged at once: the window
    /// shrinks to what is outstanding and one burst (report C-2002-07 section 3, as Linux does).
    fn moderate(&mut self) {
        if let Some(most) = self.config.window.max_burst {
            let burst = u64::from(most) * self.window.smss;
            self.window.cwnd = self.window.cwnd.min(self.outstanding() + burst);
        }
    }
}
