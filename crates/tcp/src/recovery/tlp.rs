//! Tail loss probes: RFC 8985 section 7. Where nothing is heard for two round trips, a segment leaves
//! whose acknowledgment shows what is lost, before the retransmission timer would expire.

use rtolab_time::{Duration, Instant};

use crate::config::RackRules;
use crate::event::Event;
use crate::flight::{AckFacts, Cause, Sent};
use crate::sender::{Chunk, Sender};
use crate::seq::Seq;
use crate::timer::Timer;

/// The probe timeout without a round-trip sample (section 7.2).
const INITIAL: Duration = Duration::from_secs(1);

/// What is known of tail loss probes (section 5.3).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TailLossProbe {
    /// SND.MAX behind the probe, until it is known what became of it (`TLP.end_seq`).
    end: Option<Seq>,
    /// Was the probe a retransmission (`TLP.is_retrans`)?
    is_retransmission: bool,
    /// Was a round trip measured since the last probe, or since the connection began?
    pub sampled: bool,
    /// A probe leaves next.
    due: bool,
    /// Does the acknowledgment under way only repeat the one before it?
    pub is_repeated: bool,
}

impl TailLossProbe {
    /// Does the probe under way, or what left before it, end at `end`?
    pub fn ends_at(&self, end: Seq) -> bool {
        self.end == Some(end)
    }

    /// Another recovery has begun: what became of the probe does not matter.
    pub const fn stop(&mut self) {
        (self.end, self.due) = (None, false);
    }
}

impl Sender {
    /// Section 7.4: what became of the probe. A probe that repaired a loss does what fast recovery
    /// would have done to the window.
    pub(super) fn end_probe(&mut self, facts: &AckFacts) {
        let Some(rack) = &mut self.rack else { return };
        let probe = &mut rack.probe;
        let Some(end) = probe.end.filter(|end| facts.ack >= *end) else { return };
        let arrived_twice = facts.dsack.is_some_and(|range| range.end == end);
        if !probe.is_retransmission || arrived_twice || probe.is_repeated {
            probe.end = None;
        } else if facts.ack > end {
            probe.end = None;
            if !self.recovery.is_fast() && !rack.timed_out {
                self.halve_at_loss(facts.max.since(facts.una_before), facts.at);
                self.window.cwnd = self.window.cwnd.min(self.window.ssthresh);
            }
        }
    }

    /// Section 7.2: new data leave, or are acknowledged, and are `outstanding` then, in bytes.
    pub(crate) fn arm_probe(&mut self, outstanding: u64, at: Instant) {
        self.arm_probe_before(outstanding, (at, self.timers.get(Timer::Retransmission)));
    }

    /// The same, but not for later than `latest`.
    pub(crate) fn arm_probe_before(
        &mut self,
        outstanding: u64,
        (at, latest): (Instant, Option<Instant>),
    ) {
        let timer = self.may_probe(outstanding).then(|| at + self.probe_timeout(outstanding));
        let timer = timer.map(|timer| timer.min(latest.unwrap_or(timer)));
        self.timers.arm(Timer::LossProbe, timer);
    }

    /// An acknowledgment of nothing new stops the timer where it shows a loss.
    pub(crate) fn disarm_probe(&mut self) {
        if !self.may_probe(self.flight.size()) {
            self.timers.stop(Timer::LossProbe);
        }
    }

    fn may_probe(&self, outstanding: u64) -> bool {
        let open = self.rack.as_ref().is_some_and(|rack| !rack.timed_out && !rack.probe.due);
        open && self.config.recovery.rack.tail_loss_probe
            && !self.timers.is_running(Timer::Reordering)
            && outstanding > 0
            && self.flight.una() > Seq::FIRST
            && self.flight.uses_sack()
            && self.flight.sacked() == 0
            && !self.recovery.is_fast()
    }

    /// `TLP_calc_PTO`.
    fn probe_timeout(&self, outstanding: u64) -> Duration {
        let Some(estimate) = self.rtt.estimate() else { return INITIAL };
        let rack = &self.config.recovery.rack;
        let leaves = usize::from(outstanding > self.flight.size());
        let one = self.flight.outstanding() + leaves == 1;
        estimate.srtt * 2 + if one { rack.max_ack_delay } else { rack.timer_slack }
    }

    /// `TLP_send_probe`: one probe is under way at a time, and one is sent a round trip. The
    /// retransmission timer begins anew.
    pub(crate) fn on_probe_timer(&mut self, at: Instant) {
        let Some(rack) = &mut self.rack else { return };
        self.timers.stop(Timer::LossProbe);
        // Linux does not ask for a round trip in between, and goes on with the timer of the head where
        // no probe leaves (`tcp_send_loss_probe`).
        let linux = self.config.recovery.rack.rules == RackRules::Linux;
        if rack.probe.end.is_some() || !(rack.probe.sampled || linux) {
            match linux {
                true => self.restart_timer_from_head(at),
                false => self.restart_retransmission_timer(at),
            }
            return;
        }
        rack.probe.due = true;
        rack.probe.sampled = false;
        if !self.can_send_new() {
            if let Some(tail) = self.flight.last_unsacked().map(|sent| sent.seq) {
                self.push_event(Event::Probe(self.retransmission(tail, at)));
            }
        }
        self.restart_retransmission_timer(at);
    }

    /// What a probe sent again and is not acknowledged.
    pub(crate) fn outstanding_probe(&self) -> Option<Sent> {
        self.rack.as_ref().and_then(|_| self.flight.probed()).copied()
    }

    /// Is that the probe that leaves? No other follows before it is heard of.
    pub(crate) fn is_probe(&self, chunk: &Chunk) -> bool {
        self.rack.as_ref().is_some_and(|rack| rack.probe.end == Some(chunk.end()))
    }

    /// The probe, if one is due: new data, else the last segment again.
    pub(crate) fn choose_probe(&mut self) -> Option<Chunk> {
        let rack = self.rack.as_mut()?;
        if !core::mem::take(&mut rack.probe.due) {
            return None;
        }
        let new = self.new_chunk();
        let again = || self.chunk_at(self.flight.last_unsacked()?.seq, Cause::Probe);
        let chunk = new.or_else(again)?;
        let end = self.flight.max().max(chunk.end());
        if let Some(rack) = &mut self.rack {
            rack.probe.end = Some(end);
            rack.probe.is_retransmission = chunk.cause == Cause::Probe;
        }
        Some(chunk)
    }
}
