//! RACK: RFC 8985 sections 5 and 6. A segment is lost when one that left later has arrived, and it
//! has not although it had time to: the round trip of that one and the reordering window.

mod linux;

use rtolab_time::{Duration, Instant};

use super::Fast;
use super::tlp::TailLossProbe;
use crate::config::{
    Algorithm, Config, RackConfig, RackRoundTrip, RackRules, RackThreshold, ReorderingWindow,
};
use crate::flight::{AckFacts, Cause, Sending, Sent, duplicate_range};
use crate::segment::Segment;
use crate::sender::{Chunk, Sender};
use crate::seq::Seq;
use crate::timer::{Timer, TimerTable};
use linux::{Copies, Pending};

/// After so many recoveries without D-SACK the reordering window is as at first (`reo_wnd_persist`).
const PERSISTENCE: u32 = 16;

/// What RACK knows of a connection (RFC 8985 section 5.3).
#[derive(Clone, Debug)]
pub(crate) struct Rack {
    /// Of what has arrived, when the last that left did so (`RACK.xmit_ts`, `RACK.end_seq`).
    newest: Option<Sending>,
    /// The round trip of what arrived last (`RACK.rtt`).
    rtt: Duration,
    /// The smallest round trip, and when it was measured (`RACK.min_RTT`).
    min_rtt: Option<(Duration, Instant)>,
    /// Behind the highest that has arrived (`RACK.fack`).
    fack: Seq,
    /// Did an original arrive after one that left later (`RACK.reordering_seen`)?
    reordering_seen: bool,
    /// By how many segments one was overtaken at most (Linux, `reordering`), where that is more than
    /// `dupthresh`.
    degree: u64,
    /// Quarters of the smallest round trip in the reordering window (`RACK.reo_wnd_mult`).
    quarters: u64,
    /// Recoveries for which that holds (`RACK.reo_wnd_persist`).
    persists: u32,
    /// Until this is acknowledged, D-SACKs are of a round that has counted (`RACK.dsack_round`).
    dsack_round: Option<Seq>,
    pending: Pending,
    copies: Copies,
    /// The reordering window (`RACK.reo_wnd`).
    window: Duration,
    /// Is what a timeout took for lost being repaired?
    pub(super) timed_out: bool,
    /// All below that is lost has been retransmitted.
    repaired_up_to: Seq,
    pub(super) probe: TailLossProbe,
}

impl Default for Rack {
    fn default() -> Self {
        Self {
            newest: None,
            rtt: Duration::ZERO,
            min_rtt: None,
            fack: Seq::FIRST,
            reordering_seen: false,
            degree: 0,
            quarters: 1,
            persists: PERSISTENCE,
            dsack_round: None,
            pending: Pending::default(),
            copies: Copies::default(),
            window: Duration::ZERO,
            timed_out: false,
            repaired_up_to: Seq::FIRST,
            probe: TailLossProbe::default(),
        }
    }
}

impl Rack {
    /// The state of a sender that does as `config` says, if it goes by RACK.
    pub fn of(config: &Config) -> Option<alloc::boxed::Box<Self>> {
        (config.recovery.algorithm == Algorithm::Rack).then(alloc::boxed::Box::default)
    }

    /// Forgets which losses there were to repair.
    pub fn forget_losses(&mut self, timers: &mut TimerTable) {
        self.timed_out = false;
        self.repaired_up_to = Seq::FIRST;
        timers.stop(Timer::Reordering);
        timers.stop(Timer::LossProbe);
        self.probe.stop();
    }

    /// A round trip was measured.
    pub fn note_sample(&mut self) {
        self.probe.sampled = true;
    }

    fn measure(&mut self, rtt: Duration, at: Instant, config: &RackConfig) {
        let outdated = |since| config.min_rtt_window.is_some_and(|window| at - since > window);
        match self.min_rtt {
            Some((least, since)) if least < rtt && !outdated(since) => {}
            _ => self.min_rtt = Some((rtt, at)),
        }
    }

    /// Step 4 of section 6.2, its first half: D-SACKs widen the reordering window.
    fn adapt(&mut self, facts: &AckFacts, recovered: bool) {
        if self.dsack_round.is_some_and(|round| facts.ack >= round) {
            self.dsack_round = None;
        }
        if facts.dsack.is_some() && self.dsack_round.is_none() {
            self.dsack_round = Some(facts.max);
            self.quarters += 1;
            self.persists = PERSISTENCE;
        } else if recovered {
            self.persists = self.persists.saturating_sub(1);
            if self.persists == 0 {
                self.quarters = 1;
            }
        }
    }
}

impl Sender {
    /// Steps 1 to 3 of section 6.2, before the acknowledgment `segment` is taken: what arrived, and
    /// in which order.
    pub(crate) fn rack_hears(&mut self, segment: &Segment, at: Instant) {
        let partial = self.recovery.is_fast() && segment.ack < self.recovery.recover;
        let smss = self.window.smss;
        let Self { rack: Some(rack), flight, config, .. } = self else { return };
        let linux = config.recovery.rack.rules == RackRules::Linux;
        // Without reordering seen, D-SACKs say nothing to Linux, nor does one of a probe
        // (`tcp_dsack_seen`).
        let duplicate = duplicate_range(segment);
        rack.pending.doubted =
            linux && duplicate.as_ref().is_some_and(|range| !rack.believes(range, smss));
        let duplicate = duplicate.filter(|_| !rack.pending.doubted);
        let dsack = duplicate.is_some_and(|range| !rack.probe.ends_at(range.end));
        rack.pending.dsack |= dsack && rack.reordering_seen;
        rack.pending.delivered = None;
        let mut overtaken: Option<Seq> = None;
        let echo = segment.timestamps().map(|timestamps| timestamps.echo);
        let mut latest: Option<Sending> = None;
        let mut looked_at: [Option<(Seq, Instant)>; 2] = [None; 2];
        // Of what is reported at once, in blocks of any order, none has overtaken another.
        let fack = rack.fack;
        // Linux takes the samples last (`tcp_ack_update_rtt`). To RFC 8985, which takes them first, it
        // is the same: what has a smaller one left later than what would have been left out.
        let least = rack.min_rtt;
        for sent in flight.delivered_by(segment) {
            let rtt = at - sent.last_sent;
            rack.pending.delivered = rack.pending.delivered.max(Some(sent.last_sent));
            if !sent.was_retransmitted() {
                rack.measure(rtt, at, &config.recovery.rack);
                if sent.end() < fack {
                    overtaken = Some(overtaken.map_or(sent.seq, |low| low.min(sent.seq)));
                }
            }
            rack.fack = rack.fack.max(sent.end());
            // It may be the original that arrived.
            let echo = match config.recovery.rack.rules {
                RackRules::Linux if sent.end() > segment.ack => None,
                RackRules::Linux | RackRules::Rfc8985 => echo,
            };
            let before = |echo: u32| (echo.wrapping_sub(sent.timestamp) as i32) < 0;
            // The hole was filled by what was only late (`tcp_try_undo_partial`).
            let late = sent.was_retransmitted() && sent.seq < fack && echo.is_some_and(before);
            if linux && partial && late {
                overtaken = Some(flight.una());
            }
            let too_soon = least.is_some_and(|(least, _)| rtt < least);
            if !sent.was_retransmitted() || !(echo.is_some_and(before) || too_soon) {
                latest = latest.max(Some(sent.sending()));
                // Blocks are looked at in the order of their numbers, whichever comes first.
                let last = &mut looked_at[usize::from(sent.end() > segment.ack)];
                *last = (*last).max(Some((sent.end(), sent.last_sent)));
            }
        }
        let [acked, sacked] = looked_at;
        let left = match config.recovery.rack.round_trip {
            RackRoundTrip::SentLast => latest.map(|(left, _)| left),
            RackRoundTrip::LookedAtLast => acked.or(sacked).map(|(_, left)| left),
        };
        if let Some(left) = left {
            rack.rtt = at - left;
            rack.pending.advanced = true;
        }
        if let Some(low) = overtaken {
            rack.note_reordering(low, smss);
        }
        rack.newest = rack.newest.max(latest);
        rack.probe.is_repeated = flight.is_repeated_by(segment);
    }

    /// Loss recovery's part of an acknowledgment: sections 6.2 and 7.4.
    pub(super) fn rack_recovers(&mut self, facts: &AckFacts) {
        self.end_probe(facts);
        let recovered = self.end_rack_recovery(facts);
        let Some(rack) = &mut self.rack else { return };
        match self.config.recovery.rack.rules {
            RackRules::Rfc8985 => rack.adapt(facts, recovered),
            RackRules::Linux => {
                rack.adapt_as_linux(facts.at, recovered);
                if !core::mem::take(&mut rack.pending.advanced) {
                    // The timer is another's now (`tcp_set_xmit_timer`).
                    if facts.is_new() {
                        self.timers.stop(Timer::Reordering);
                    }
                    return;
                }
            }
        }
        self.detect_by_time(facts.at);
    }

    /// Does the acknowledgment end a recovery, be it fast or from a timeout?
    fn end_rack_recovery(&mut self, facts: &AckFacts) -> bool {
        let Some(rack) = &mut self.rack else { return false };
        let recovering = rack.timed_out || self.recovery.is_fast();
        let ends = recovering && facts.ack >= self.recovery.recover;
        if ends {
            rack.timed_out = false;
            self.recovery.leave();
        }
        ends
    }

    /// Step 5 of section 6.2. What is lost outside a recovery begins one.
    pub(super) fn detect_by_time(&mut self, at: Instant) {
        let window = self.reordering_window();
        let Self {
            rack: Some(rack), flight, config, timers, without_retransmission: false, ..
        } = self
        else {
            return;
        };
        rack.window = window;
        timers.stop(Timer::Reordering);
        let Some(newest) = rack.newest else { return };
        let settle = rack.rtt + window;
        let overtaken = flight.mark_overtaken(newest, settle, at);
        if let Some(lost) = overtaken.lost {
            rack.repaired_up_to = rack.repaired_up_to.min(lost);
        }
        let slack = config.recovery.rack.timer_slack;
        timers.arm(Timer::Reordering, overtaken.awaited.map(|left| left + settle + slack));
        let by_linux = config.recovery.rack.rules == RackRules::Linux;
        if by_linux && overtaken.again && rack.timed_out {
            rack.timed_out = false;
            self.timed_out_at = None;
            self.stop_frto();
            rack_begins(self, at);
            return;
        }
        let begins = flight.lost() > 0 && !rack.timed_out && !self.recovery.is_fast();
        if begins && self.may_recover() {
            rack_begins(self, at);
        }
    }

    /// Step 4 of section 6.2, its second half.
    fn reordering_window(&self) -> Duration {
        let Some(rack) = &self.rack else { return Duration::ZERO };
        let RackConfig { reordering_window, threshold, .. } = self.config.recovery.rack;
        let counts = threshold == RackThreshold::Dupthresh;
        let recovers = || self.recovery.is_fast() || rack.timed_out;
        if !rack.reordering_seen && (recovers() || (counts && self.has_sacked_enough())) {
            return Duration::ZERO;
        }
        let quarters = match reordering_window {
            ReorderingWindow::Adaptive => rack.quarters,
            ReorderingWindow::Static => 1,
        };
        let least = rack.min_rtt.map_or(Duration::ZERO, |(least, _)| least);
        let window = least.saturating_mul(quarters) / 4;
        self.rtt.estimate().map_or(window, |estimate| window.min(estimate.srtt))
    }

    /// Are as many segments SACKed, of whatever length, as show a loss without time
    /// (`RACK.segs_sacked`)?
    fn has_sacked_enough(&self) -> bool {
        let enough = self.config.recovery.dupthresh as usize;
        let sacked = self.flight.segments_from(self.flight.una()).filter(|sent| sent.is_sacked());
        self.flight.sacked() > 0 && sacked.take(enough).count() == enough
    }

    /// The reordering timer expired.
    pub(crate) fn on_reordering_timer(&mut self, at: Instant) {
        let recovering = self.recovery.is_fast();
        self.detect_by_time(at);
        if !recovering {
            self.reduce_in_proportion_at_timer();
        }
        self.restart_timer_from_head(at);
    }

    /// The retransmission timer expired (section 6.3). The scoreboard stays, unless the head was
    /// selectively acknowledged: the receiver reneged.
    pub(crate) fn rack_times_out(&mut self, at: Instant) {
        self.nxt = self.flight.max();
        let Self { rack: Some(rack), flight, config, timers, .. } = self else { return };
        if flight.head().is_some_and(Sent::is_sacked) {
            flight.clear_scoreboard();
        }
        let window = match config.recovery.rack.rules {
            RackRules::Rfc8985 => rack.window,
            RackRules::Linux => Duration::ZERO,
        };
        flight.mark_lost_on_timeout(rack.rtt + window, at);
        rack.forget_losses(timers);
        rack.timed_out = true;
    }

    /// Nothing that was taken for lost is.
    pub(crate) fn forget_rack_losses(&mut self) {
        if let Some(rack) = &mut self.rack {
            rack.forget_losses(&mut self.timers);
            self.flight.clear_losses();
        }
    }

    /// From now on the sender does as `config` says. What go-back-N had to send again is lost, and
    /// the other way round.
    pub(crate) fn adopt_rack(&mut self, config: &Config) {
        match (Rack::of(config), &self.rack) {
            (None, None) | (Some(_), Some(_)) => {}
            (Some(mut rack), None) => {
                if self.rtt.estimate().is_some() {
                    rack.note_sample();
                }
                self.rack = Some(rack);
                self.flight.clear_losses();
                self.flight.mark_lost_from(self.nxt);
                self.nxt = self.flight.max();
            }
            (None, Some(_)) => {
                self.nxt = self.first_unrepaired().unwrap_or(self.flight.max());
                self.rack = None;
                self.timers.stop(Timer::Reordering);
                self.timers.stop(Timer::LossProbe);
                self.flight.clear_losses();
            }
        }
        self.prr = None;
    }

    /// What a fast retransmit or timeout sends again: the head, or the first that is lost by time.
    pub(crate) fn first_repair(&self) -> Seq {
        self.first_unrepaired().unwrap_or(self.flight.una())
    }

    /// The first segment that is lost and was not retransmitted since.
    pub(crate) fn first_unrepaired(&self) -> Option<Seq> {
        let rack = self.rack.as_ref()?;
        self.flight.unrepaired_from(rack.repaired_up_to).map(|sent| sent.seq)
    }

    /// What leaves, as long as the windows have room for a whole segment: what is lost, then new
    /// data.
    pub(crate) fn choose_by_time(&mut self) -> Option<Chunk> {
        let Some(lost) = self.first_unrepaired() else { return self.choose_new() };
        if self.outstanding() + self.window.smss > self.window.cwnd {
            return None;
        }
        let cause = match self.recovery.is_fast() {
            true => Cause::Recovery,
            false => Cause::GoBackN,
        };
        self.chunk_at(lost, cause)
    }

    /// The segment at `seq` leaves again.
    pub(crate) fn rack_repairs(&mut self, seq: Seq) {
        let Self { rack: Some(rack), flight, .. } = self else { return };
        rack.note_resent();
        let lost = flight.segment_at(seq).filter(|sent| sent.is_lost()).map(Sent::end);
        if let Some(end) = lost {
            flight.mark_repaired(seq);
            if flight.unrepaired_from(rack.repaired_up_to).is_none_or(|sent| sent.seq >= end) {
                rack.repaired_up_to = end;
            }
        }
    }

    /// What counts against the window: neither SACKed nor lost, plus what was retransmitted. Without
    /// limited transmit what is SACKed counts until recovery begins.
    pub(crate) fn rack_outstanding(&self) -> u64 {
        let flight = &self.flight;
        let recovers = self.recovery.is_fast() || self.rack.as_ref().is_some_and(|r| r.timed_out);
        let sacked = match recovers || self.config.recovery.limited_transmit {
            true => flight.sacked(),
            false => 0,
        };
        flight.size() - sacked - flight.lost() + flight.repaired()
    }
}

fn rack_begins(sender: &mut Sender, at: Instant) {
    let waits = sender.first_unrepaired().is_some();
    sender.enter(Fast::Rack, at);
    // Where all that is lost is under way again, nothing is retransmitted for it.
    if !waits {
        sender.resend_head = None;
    }
}
