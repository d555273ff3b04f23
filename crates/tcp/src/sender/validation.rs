//! Congestion window validation: a window that was not used says nothing of the path.
//!
//! RFC 2861, whose pseudo-code is that of `TcpAgent::process_qoption_after_send` of ns-2; and RFC
//! 7661, without the pacing that its section 4.4.2 asks for.

use alloc::boxed::Box;
use alloc::collections::VecDeque;

use rtolab_time::{Duration, Instant};

use super::Sender;
use super::cwnd_limited::Filled;
use crate::config::{Config, Validation};
use crate::flight::{AckFacts, Cause};
use crate::segment::Segment;
use crate::seq::Seq;

/// How long a window that is not used is kept: the non-validated period of RFC 7661 section 4.4.
const NON_VALIDATED_PERIOD: Duration = Duration::from_secs(300);
/// A pipeACK sampling period holds the largest samples of so many parts of it.
const PARTS: u64 = 4;

/// How much of the window is used.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(super) struct Usage {
    /// When data left last (`T_last` of RFC 2861).
    last: Option<Instant>,
    /// When the window was full last (`T_prev`), or last found valid (RFC 7661).
    valid: Option<Instant>,
    /// A fast recovery that found the window not validated.
    loss: Option<Loss>,
    /// The most that was outstanding since then without filling the window (`W_used`), in bytes.
    used: u64,
    /// Was the window full when data left last?
    full: bool,
    pub(super) filled: Filled,
    pipe_ack: PipeAck,
}

/// A fast recovery that began in the non-validated phase (RFC 7661 section 4.4.1).
#[derive(Clone, Copy, Debug)]
struct Loss {
    /// max(pipeACK, LossFlightSize), in bytes.
    used: u64,
    /// Bytes retransmitted in it (`R`).
    retransmitted: u64,
}

/// The most that was acknowledged within a round trip (pipeACK, RFC 7661 section 4.2), in bytes.
#[derive(Clone, Debug)]
struct PipeAck {
    /// Behind what was acknowledged when the sample under way began.
    from: Seq,
    /// SND.MAX then: its acknowledgment ends the round trip.
    until: Seq,
    /// The largest samples, each of a part of the sampling period.
    samples: VecDeque<(Instant, u64)>,
    /// Was there a sample? Without, the variable is undefined.
    defined: bool,
}

impl Default for PipeAck {
    fn default() -> Self {
        Self { from: Seq::FIRST, until: Seq::FIRST, samples: VecDeque::new(), defined: false }
    }
}

impl Usage {
    /// Of a sender that does as `config` says, if that asks for it, and whose data left last at
    /// `last`.
    pub fn since(last: Option<Instant>, config: &Config) -> Option<Box<Self>> {
        let validates = config.window.validation != Validation::Off;
        validates.then(|| Box::new(Self { last, valid: last, ..Self::default() }))
    }
}

impl PipeAck {
    /// All up to `una` is acknowledged.
    fn acked(&mut self, una: Seq, max: Seq, (at, period): (Instant, Duration)) {
        if una < self.until {
            return;
        }
        let sample = una.since(self.from);
        let first = self.from == Seq::FIRST;
        (self.from, self.until) = (una, max);
        if first {
            return;
        }
        self.defined = true;
        match self.samples.back_mut() {
            Some((since, largest)) if at - *since <= period / PARTS => {
                *largest = sample.max(*largest);
            }
            _ => self.samples.push_back((at, sample)),
        }
        while self.samples.front().is_some_and(|(since, _)| at - *since > period) {
            self.samples.pop_front();
        }
    }

    /// The largest sample of the period; `None`: undefined.
    fn value(&self, at: Instant, period: Duration) -> Option<u64> {
        let recent = self.samples.iter().filter(|(since, _)| at - *since <= period);
        self.defined.then(|| recent.map(|(_, sample)| *sample).max().unwrap_or(0))
    }

    /// After a loss there is no sample yet.
    fn restart(&mut self, una: Seq, max: Seq) {
        *self = Self { from: una, until: max, ..Self::default() };
    }
}

impl Sender {
    /// A segment has left, and why.
    #[inline(always)]
    pub(super) fn validate_sent(&mut self, segment: &Segment, at: Instant, cause: Cause) {
        if segment.len == 0 {
            return;
        }
        if let Some(mut usage) = self.usage.take() {
            self.validate_data(&mut usage, (segment, cause), at);
            self.usage = Some(usage);
        }
    }

    /// Data have left.
    #[inline(never)]
    fn validate_data(
        &mut self,
        usage: &mut Usage,
        (segment, cause): (&Segment, Cause),
        at: Instant,
    ) {
        let last = usage.last.replace(at).unwrap_or(at);
        usage.valid.get_or_insert(at);
        if let (Some(loss), true) = (&mut usage.loss, cause != Cause::New) {
            // What is sent a third time counts once.
            let sent = self.flight.segment_at(segment.seq);
            if sent.is_none_or(|sent| sent.transmissions == 2) {
                loss.retransmitted += u64::from(segment.len);
            }
        }
        match self.config.window.validation {
            Validation::Linux => {
                if cause == Cause::New {
                    self.note_filled(&mut usage.filled);
                }
                return;
            }
            // Loss recovery has the window in its own hands.
            _ if self.recovery.is_fast() || cause != Cause::New => {
                (usage.valid, usage.used) = (Some(at), 0);
                return;
            }
            Validation::Rfc2861 => self.decay_after_idle(usage, at, last),
            Validation::Rfc7661 if self.flight.size() == u64::from(segment.len) => {
                self.close_down(usage, at);
            }
            Validation::Rfc7661 | Validation::Off => {}
        }
        usage.full = self.flight.size() + self.window.smss > self.usable_window();
        if self.config.window.validation == Validation::Rfc2861 {
            self.decay_where_unused(usage, at);
        }
    }

    /// RFC 2861: the window is halved for each timeout that nothing was sent since `last`.
    fn decay_after_idle(&mut self, usage: &mut Usage, at: Instant, last: Instant) {
        let (rto, smss) = (self.rto().max(Duration::from_nanos(1)), self.window.smss);
        let timeouts = (at - last).nanos() / rto.nanos();
        if timeouts == 0 {
            return;
        }
        self.keep_in_ssthresh();
        // More halvings than it has bits change nothing.
        for _ in 0..timeouts.min(64) {
            self.window.cwnd = (self.usable_window() / 2).max(smss);
        }
        (usage.valid, usage.used) = (Some(at), 0);
    }

    /// RFC 2861: where the application had no more to send for a timeout, the window comes half the
    /// way down to what was used of it.
    fn decay_where_unused(&mut self, usage: &mut Usage, at: Instant) {
        if usage.full {
            (usage.valid, usage.used) = (Some(at), 0);
            return;
        }
        if self.flight.max() < self.limit {
            return;
        }
        let used = usage.used.max(self.flight.size());
        usage.used = used;
        if usage.valid.is_some_and(|valid| at - valid >= self.rto()) {
            self.keep_in_ssthresh();
            self.window.cwnd = u64::midpoint(self.usable_window(), used).max(self.window.smss);
            (usage.valid, usage.used) = (Some(at), 0);
        }
    }

    /// RFC 7661 section 4.4.3: after five minutes unused the window is halved.
    fn close_down(&mut self, usage: &mut Usage, at: Instant) {
        let initial = self.initial_window();
        let valid = usage.valid.get_or_insert(at);
        let mut periods = (at - *valid).nanos() / NON_VALIDATED_PERIOD.nanos();
        *valid += NON_VALIDATED_PERIOD * periods;
        if periods > 0 {
            self.keep_in_ssthresh();
        }
        while periods > 0 && self.window.cwnd > initial {
            self.window.cwnd = (self.window.cwnd / 2).max(initial);
            periods -= 1;
        }
    }

    /// `ssthresh` remembers three quarters of the window that is given up (both RFCs).
    fn keep_in_ssthresh(&mut self) {
        self.window.ssthresh = self.window.ssthresh.max(self.window.cwnd * 3 / 4);
    }

    /// The smaller of the congestion window and the offered one.
    fn usable_window(&self) -> u64 {
        self.window.cwnd.min(self.wnd_edge.since(self.flight.una()))
    }

    /// New data are acknowledged: may the window grow? Not, where it was not used: always by RFC
    /// 2861, in the non-validated phase by RFC 7661.
    pub(super) fn validate_ack(&mut self, facts: &AckFacts) -> bool {
        let Some(mut usage) = self.usage.take() else { return true };
        let valid = self.validate_growth(&mut usage, facts);
        self.usage = Some(usage);
        valid
    }

    fn validate_growth(&mut self, usage: &mut Usage, facts: &AckFacts) -> bool {
        match self.config.window.validation {
            Validation::Off => true,
            Validation::Rfc2861 => usage.full,
            Validation::Linux => self.is_cwnd_limited(&usage.filled),
            // In fast recovery nothing is measured.
            Validation::Rfc7661 if self.recovery.is_fast() => true,
            Validation::Rfc7661 => {
                let period = (facts.at, self.sampling_period());
                usage.pipe_ack.acked(facts.ack, facts.max, period);
                if self.not_validated(usage, facts.at).is_none() {
                    usage.valid = Some(facts.at);
                    return true;
                }
                self.close_down(usage, facts.at);
                usage.full
            }
        }
    }

    /// pipeACK, where less than half the window is used (RFC 7661 section 4.3).
    fn not_validated(&self, usage: &Usage, at: Instant) -> Option<u64> {
        let used = usage.pipe_ack.value(at, self.sampling_period())?;
        (used * 2 < self.window.cwnd).then_some(used)
    }

    /// Three round trips, a second at least (RFC 7661 section 4.2).
    fn sampling_period(&self) -> Duration {
        let srtt = self.rtt.estimate().map_or(Duration::ZERO, |estimate| estimate.srtt);
        (srtt * 3).max(Duration::from_secs(1))
    }

    /// Fast recovery begins with `flight_size` bytes outstanding: `ssthresh` becomes half of what was
    /// used, where that says the window was not (RFC 7661 section 4.4.1). Returns that half, not
    /// rounded.
    pub(crate) fn halve_at_loss(&mut self, flight_size: u64, at: Instant) -> u64 {
        if self.is_answering_echo() {
            return self.window.ssthresh;
        }
        self.save_control();
        let pipe_ack = match (self.config.window.validation, &self.usage) {
            (Validation::Rfc7661, Some(usage)) => self.not_validated(usage, at),
            _ => None,
        };
        let (Some(pipe_ack), Some(usage)) = (pipe_ack, &mut self.usage) else {
            return self.halve(flight_size);
        };
        let used = pipe_ack.max(flight_size);
        usage.loss = Some(Loss { used, retransmitted: 0 });
        self.on_loss(used)
    }

    /// Fast recovery is over: what had to be sent again was too much (RFC 7661 section 4.4.1).
    pub(super) fn validate_recovered(&mut self) {
        let Some(usage) = &mut self.usage else { return };
        if let Some(Loss { used, retransmitted }) = usage.loss.take() {
            let smss = self.window.smss;
            self.window.cwnd = (used.saturating_sub(retransmitted) / 2).max(smss);
            self.window.ssthresh = self.window.cwnd.max(2 * smss);
        }
        usage.pipe_ack.restart(self.flight.una(), self.flight.max());
    }

    /// The retransmission timer expired: nothing is known of the path.
    pub(super) fn invalidate(&mut self) {
        if let Some(usage) = &mut self.usage {
            usage.loss = None;
            usage.pipe_ack.restart(self.flight.una(), self.flight.max());
        }
    }

    /// What was waited for was only late: the sender was neither idle nor short of data. RFC 4015
    /// section 3.2 step 10 sets `T_last` for that, without which the first segment would halve the
    /// window; `T_prev`, which it does not name, would have the same effect with the last.
    pub(crate) fn validate_anew(&mut self, at: Instant) {
        if let Some(usage) = &mut self.usage {
            (usage.last, usage.valid) = (Some(at), Some(at));
        }
    }
}
