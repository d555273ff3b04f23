//! The processing of an acknowledgment, step by step.

use alloc::vec::Vec;

use rtolab_time::{Duration, Instant};

use super::Sender;
use super::ecn::is_ece;
use super::outcome::DetectionOutcome;
use super::recovering::Phase;
use crate::config::{FullAck, PrrBound, Reduction, Sampling};
use crate::flight::{AckFacts, Sent};
use crate::recovery::LossRecovery;
use crate::rtt::DelayedAckTracker;
use crate::segment::{Flags, Segment};

impl Sender {
    /// Processes an acknowledgment whose number is from SND.UNA to SND.MAX.
    pub fn on_ack(&mut self, segment: &Segment, at: Instant) {
        match self.needs_slow_path(segment) {
            true => self.on_ack_slow_path(segment, at),
            false => self.on_pure_ack(segment, at),
        }
    }

    /// Does the acknowledgment need the slow path? It does not at an end that only receives,
    /// because nothing is outstanding there.
    #[inline]
    fn needs_slow_path(&self, segment: &Segment) -> bool {
        self.flight.size() > 0
            || segment.sack_count() > 0
            || self.recovery.is_in_fast_recovery()
            || self.config.recovery.reduction == Reduction::RateHalving
            || self.spurious_dupacks.are_pending()
            || self.is_awaiting_verdict()
            || self.loss_recovery.is_time_based()
    }

    /// Processes an acknowledgment while nothing is outstanding.
    #[inline]
    pub(crate) fn on_pure_ack(&mut self, segment: &Segment, at: Instant) {
        self.flight.note_header(segment);
        self.note_received(segment, at);
        self.track_delayed_acks(|tracker| tracker.begin_train(false));
    }

    /// Processes an acknowledgment in the order of RFC 5681, 6675 and 8985.
    fn on_ack_slow_path(&mut self, segment: &Segment, at: Instant) {
        let rack_timer_ran = self.rack_timer().is_some();
        self.link_lost = self.config.eln && segment.flags.has(Flags::ELN);
        // Scoreboard (RFC 9293, RFC 2018, RFC 8985 section 6.2 steps 1 to 3)
        self.begin_rate_sample();
        let (ack, timed) = self.scoreboard_on_ack(segment, at);
        let credits = self.credits(&ack);
        self.note_received(segment, at);
        self.note_progress(&ack);
        // Round-trip sample (RFC 6298, RFC 7323 section 4, RFC 9406)
        self.sample_rtt(&ack, &timed);
        // Detection of spurious retransmissions, and the response (spurious/, response/)
        let outcome = self.detect(&ack);
        // Loss detection and recovery (recovery/)
        let phase = self.recover_on_ack(&ack, outcome);
        // Window reduction and growth (RFC 3168, reduction/, congestion/)
        let reducing = self.reduce_on_ack(segment, &ack);
        if self.has_model() {
            self.run_model(&ack);
        } else if self.can_grow(&ack, (phase, outcome), reducing) {
            self.grow_window(&ack, self.loss_recovery.delivered().unwrap_or(credits));
        }
        if ack.is_new() {
            self.end_episode(phase, outcome);
        }
        // Timers (RFC 6298 section 5, RFC 8985 section 7.2)
        self.restart_timers(&ack, rack_timer_ran);
        self.keep_own_cwnd();
        self.follow_window();
        self.enter_fast_path(&ack);
    }

    /// Records the arrival of an acknowledgment, whether or not it advances SND.UNA.
    #[inline]
    fn note_received(&mut self, segment: &Segment, at: Instant) {
        self.burst = self.config.window.max_burst.unwrap_or(u32::MAX);
        self.last_activity.received = Some(at);
        if segment.flags.has(Flags::ECE) {
            self.note_ece();
        }
    }

    /// Clears the state of the last timeout when SND.UNA advances.
    fn note_progress(&mut self, ack: &AckFacts) {
        if !ack.is_new() {
            return;
        }
        self.nxt = self.nxt.max(ack.ack);
        self.timed_out_at = None;
        self.note_backoff_progress();
        self.without_retransmission = false;
        self.track_delayed_acks(|tracker| tracker.on_ack(ack.ack));
        if ack.acks_syn() && self.syn_timed_out() {
            self.try_undo_spurious_syn(ack);
        }
    }

    /// Updates the scoreboard and the loss detection. Returns the facts about the acknowledgment
    /// and, with [`Sampling::EverySegment`], the send times of the acknowledged segments that were
    /// not retransmitted.
    fn scoreboard_on_ack(&mut self, segment: &Segment, at: Instant) -> (AckFacts, Vec<Instant>) {
        let Self { flight, loss_recovery, recovery, config, window, controller, .. } = self;
        let mut sampler = controller.as_mut().and_then(|controller| controller.sampler());
        let times_all = config.rto.sampling == Sampling::EverySegment;
        let mut timed = Vec::new();
        let mut ack = flight.expected(segment, at);
        loss_recovery.begin_ack();
        let on_delivered = |sent: &Sent, ack: &AckFacts| {
            loss_recovery.on_delivered(sent, ack, (recovery, &config.recovery));
            if let Some(sampler) = &mut sampler {
                sampler.on_delivered(sent, ack);
            }
            if times_all && sent.end() <= ack.ack && !sent.was_retransmitted() {
                timed.push(sent.first_sent);
            }
        };
        match segment.sack_count() > 0 && !config.sack {
            false => flight.note_acked(segment, &mut ack, on_delivered),
            true => flight.note_acked(&segment.without_sack(), &mut ack, on_delivered),
        }
        ack.dsack_ignored = loss_recovery.end_ack(&ack, &config.recovery, window.smss());
        ack.retrans_out = loss_recovery.is_time_based().then(|| flight.retrans_out());
        (ack, timed)
    }

    /// Reduces cwnd on ECE, or continues a reduction. Returns whether a reduction prevents growth.
    fn reduce_on_ack(&mut self, segment: &Segment, ack: &AckFacts) -> bool {
        let echoed = self.ecn.is_some() && is_ece(segment);
        if echoed {
            self.on_ece(ack);
        }
        self.reduce_in_cwr(ack) || echoed || self.is_in_prr_for_ece()
    }

    /// May the acknowledgment increase cwnd? It may if it acknowledges new data outside of fast
    /// recovery, unless a response or a reduction has set cwnd.
    fn can_grow(
        &mut self,
        ack: &AckFacts,
        (phase, outcome): (Phase, DetectionOutcome),
        reducing: bool,
    ) -> bool {
        if !ack.is_new() {
            let grows = phase == Phase::Outside && self.grows_out_of_order(ack);
            let frozen = outcome.freezes_cwnd() && !self.grows_after_undo(outcome);
            return grows && !reducing && !frozen && self.validate_ack(ack);
        }
        let allowed = match phase {
            Phase::Outside => true,
            // In Linux the window is reduced or grows (`tcp_cong_control`).
            Phase::Entered => self.config.recovery.reduction != Reduction::Prr(PrrBound::Linux),
            Phase::Stayed => false,
            Phase::Left => {
                let is_halved = self.config.window.full_ack == FullAck::Halved;
                (is_halved || self.grows_after_recovery())
                    && self.loss_recovery.can_grow_on_leaving()
            }
        };
        let valid = self.validate_ack(ack);
        let frozen = outcome.freezes_cwnd() && !self.grows_after_undo(outcome);
        allowed && valid && !reducing && !frozen && !ack.acks_syn()
    }

    /// Processes the end of a loss recovery or of a spurious timeout, if the acknowledgment ends
    /// one.
    fn end_episode(&mut self, phase: Phase, outcome: DetectionOutcome) {
        if outcome.ends_episode() || phase == Phase::Left {
            self.moderate_cwnd();
        }
        if phase == Phase::Left {
            self.validate_recovered();
            self.track_delayed_acks(DelayedAckTracker::reset_parity);
        }
    }

    fn sample_rtt(&mut self, ack: &AckFacts, timed: &[Instant]) {
        let is_sack_sample =
            ack.sacked_sent.is_some() && self.config.rto.sampling == Sampling::Linux;
        if ack.is_new() || is_sack_sample {
            self.sample(ack, timed);
        }
        if !ack.acks_syn() {
            self.update_hystart(ack.at);
        }
    }

    /// Takes an RTT sample (RFC 6298 section 3, RFC 7323 section 4). With
    /// [`Sampling::EverySegment`] it takes one for each send time in `timed`.
    fn sample(&mut self, facts: &AckFacts, timed: &[Instant]) {
        if self.config.rto.sampling == Sampling::Linux {
            return self.sample_as_linux(facts);
        }
        let sent = match (self.config.rto.sampling, facts.echo) {
            (Sampling::EverySegment, _) => {
                timed.last().copied().filter(|_| !facts.acks_retransmission)
            }
            (Sampling::EveryAck | Sampling::Linux, Some(echo)) => {
                Some(self.instant_of(echo, facts.at))
            }
            (Sampling::EveryAck | Sampling::Linux, None) if facts.acks_retransmission => None,
            (Sampling::EveryAck | Sampling::Linux, None) => {
                facts.oldest_acked.map(|segment| segment.first_sent)
            }
            (Sampling::OncePerWindow, _) => self
                .timed
                .filter(|(seq, _)| *seq < facts.ack)
                .inspect(|_| self.timed = None)
                .map(|(_, sent)| sent),
        };
        let Some(sent) = sent.filter(|_| self.may_sample(facts)) else { return };
        self.rtt.expect_samples(facts.max.since(facts.una_before), self.window.smss());
        let earlier = timed.len().saturating_sub(1);
        for sent in timed[..earlier].iter().chain([&sent]) {
            let rtt = self.rtt.measure(*sent, facts.at);
            self.rtt.sample(rtt, self.flight.una(), self.flight.max());
            self.note_round_trip(rtt, facts);
        }
        self.adapt_rto(self.rtt.measure(sent, facts.at), facts);
    }

    /// Takes the RTT sample of Linux (`tcp_ack_update_rtt`): of the first segment that is
    /// acknowledged, else of the first SACKed, else of the echo. Congestion control and RACK
    /// receive that of the last one (`ca_rtt_us`).
    fn sample_as_linux(&mut self, facts: &AckFacts) {
        let acked = facts.acked_sent.filter(|_| !facts.covers_retransmission);
        let sacked = facts.sacked_sent.zip(facts.last_sacked_sent);
        let sent = match (acked, sacked) {
            (Some((first, last)), None) => Some((first, last)),
            (Some((first, _)), Some((_, last))) | (None, Some((first, last))) => {
                Some((first, last))
            }
            (None, None) => None,
        };
        let measured =
            sent.map(|(first, last)| [first, last].map(|sent| self.rtt.measure(sent, facts.at)));
        // If an ACK does not advance SND.UNA, its echo belongs to an earlier segment. A SYN-ACK
        // echoes the SYN.
        let echo = facts.echo.filter(|echo| (*echo != 0 || facts.acks_syn()) && facts.is_new());
        let rtts = measured.or_else(|| echo.map(|echo| [self.echoed_rtt(echo, facts.at); 2]));
        let Some([first, last]) = rtts.filter(|_| self.may_sample(facts)) else { return };
        self.rtt.expect_samples(facts.max.since(facts.una_before), self.window.smss());
        self.rtt.sample(first, self.flight.una(), self.flight.max());
        self.note_round_trip(last, facts);
        self.adapt_rto(first, facts);
    }

    /// The age of an echoed TSval: whole ticks, at least one (Linux: `tcp_rtt_tsopt_us`).
    pub(super) fn echoed_rtt(&self, echo: u32, at: Instant) -> Duration {
        let age = self.timestamp(at).wrapping_sub(echo).max(1);
        self.config.timestamp.clock_tick().saturating_mul(u64::from(age))
    }

    /// May the acknowledgment give an RTT sample? That of the SYN may not in some stacks.
    fn may_sample(&mut self, facts: &AckFacts) -> bool {
        let may = !facts.acks_syn() || self.config.rto.sample_handshake;
        if let Some(probe) = self.loss_recovery.probe().filter(|_| may) {
            probe.on_rtt_sample();
        }
        may
    }

    /// Adapts the estimate after a spurious timeout to the first round trip of new data.
    fn adapt_rto(&mut self, rtt: Duration, facts: &AckFacts) {
        let new = |from| facts.oldest_acked.is_some_and(|oldest| oldest.seq >= from);
        if let Some(adaptation) = self.rto_adaptation.take_if(|adaptation| new(adaptation.from)) {
            self.rtt.adapt(adaptation.before, rtt);
        }
    }

    /// TSval at this time, from the timestamp clock of this end (RFC 7323 section 5.4).
    pub fn timestamp(&self, at: Instant) -> u32 {
        let timestamp = &self.config.timestamp;
        timestamp.first.wrapping_add((at.nanos() / timestamp.clock_tick().nanos()) as u32)
    }

    /// The time at which this end sent the TSval that `echo` returns, as seen at `at`.
    pub(super) fn instant_of(&self, echo: u32, at: Instant) -> Instant {
        let age = self.timestamp(at).wrapping_sub(echo);
        let tick = self.config.timestamp.clock_tick().nanos();
        let now = at.nanos() / tick * tick;
        Instant::from_nanos(now.saturating_sub(u64::from(age) * tick))
    }

    /// Limits cwnd to the outstanding data plus `max_burst` segments (Linux: `tcp_moderate_cwnd`;
    /// report C-2002-07 section 3). The ACK that ends a recovery or a spurious timeout may
    /// acknowledge much data at once, and would allow a large burst.
    fn moderate_cwnd(&mut self) {
        if let Some(most) = self.config.window.max_burst {
            let burst = u64::from(most) * self.window.smss();
            self.window.limit_cwnd(self.outstanding() + burst);
        }
    }
}
