//! RFC 7661, without the pacing of its section 4.4.2.

use alloc::collections::VecDeque;

use rtolab_time::{Duration, Instant};

use super::usage::{DataAcked, DataSent, raise_ssthresh};
use crate::congestion::Window;
use crate::seq::Seq;

/// The non-validated period, after which an unused window is reduced (section 4.4).
const NON_VALIDATED_PERIOD: Duration = Duration::from_secs(300);
/// The number of parts of a pipeACK sampling period, each with its largest sample.
const PARTS: u64 = 4;

#[derive(Clone, Debug)]
pub(crate) struct Rfc7661 {
    /// When the window was last validated.
    pub valid: Option<Instant>,
    /// The fast recovery under way, if the window was not validated when it began.
    loss: Option<Loss>,
    /// Was the window full when data was last sent?
    is_full: bool,
    pipe_ack: PipeAck,
}

/// A fast recovery that began in the non-validated phase (section 4.4.1).
#[derive(Clone, Copy, Debug)]
struct Loss {
    /// max(pipeACK, LossFlightSize), in bytes.
    used: u64,
    /// The bytes retransmitted in it (`R`).
    retransmitted: u64,
}

/// The largest amount of data acknowledged within a round trip (pipeACK, section 4.2), in bytes.
#[derive(Clone, Debug)]
struct PipeAck {
    /// SND.UNA when the current sample began.
    from: Seq,
    /// SND.MAX when it began, whose acknowledgment ends the round trip.
    until: Seq,
    /// The largest sample of each part of the sampling period.
    samples: VecDeque<(Instant, u64)>,
    /// Was there a sample? Otherwise pipeACK is undefined.
    defined: bool,
}

impl Default for PipeAck {
    fn default() -> Self {
        Self { from: Seq::FIRST, until: Seq::FIRST, samples: VecDeque::new(), defined: false }
    }
}

impl Rfc7661 {
    pub fn new(last: Option<Instant>) -> Self {
        Self { valid: last, loss: None, is_full: false, pipe_ack: PipeAck::default() }
    }

    /// `len` bytes were retransmitted for the first time.
    pub const fn on_retransmission(&mut self, len: u64) {
        if let Some(loss) = &mut self.loss {
            loss.retransmitted += len;
        }
    }

    /// Data was sent: reduces the window if it was not used for the non-validated period.
    pub fn on_sent(&mut self, window: &mut Window, sent: &DataSent) {
        self.valid.get_or_insert(sent.at);
        // In recovery the application does not determine the use of the window.
        if sent.in_recovery || !sent.is_new {
            self.valid = Some(sent.at);
            return;
        }
        if sent.flight_size == sent.len {
            self.close_down(window, sent.at, sent.initial_window);
        }
        self.is_full = sent.is_window_full(window);
    }

    /// New data is acknowledged outside fast recovery: may the window grow? In the non-validated
    /// phase it may only if it is full.
    pub fn on_ack(&mut self, window: &mut Window, ack: &DataAcked) -> bool {
        let DataAcked { at, una, max, srtt, initial_window } = *ack;
        self.pipe_ack.acked(una, max, (at, sampling_period(srtt)));
        if self.not_validated(window, at, srtt).is_none() {
            self.valid = Some(at);
            return true;
        }
        self.close_down(window, at, initial_window);
        self.is_full
    }

    /// Section 4.4.3: halves the window for each non-validated period.
    fn close_down(&mut self, window: &mut Window, at: Instant, initial_window: u64) {
        let valid = self.valid.get_or_insert(at);
        let mut periods = (at - *valid).nanos() / NON_VALIDATED_PERIOD.nanos();
        *valid += NON_VALIDATED_PERIOD * periods;
        if periods > 0 {
            raise_ssthresh(window);
        }
        while periods > 0 && window.cwnd() > initial_window {
            window.set_cwnd((window.cwnd() / 2).max(initial_window));
            periods -= 1;
        }
    }

    /// pipeACK, if it is less than half of cwnd: then the window is not validated (section 4.3).
    fn not_validated(&self, window: &Window, at: Instant, srtt: Duration) -> Option<u64> {
        let pipe_ack = self.pipe_ack.value(at, sampling_period(srtt))?;
        (pipe_ack * 2 < window.cwnd()).then_some(pipe_ack)
    }

    /// Fast recovery begins: the value to use in place of FlightSize for `ssthresh`, if the window
    /// is not validated (section 4.4.1).
    pub fn on_loss(
        &mut self,
        window: &Window,
        loss_flight_size: u64,
        (at, srtt): (Instant, Duration),
    ) -> Option<u64> {
        // max(pipeACK, LossFlightSize)
        let used = self.not_validated(window, at, srtt)?.max(loss_flight_size);
        self.loss = Some(Loss { used, retransmitted: 0 });
        Some(used)
    }

    /// Fast recovery ends: reduces the window by the retransmitted data (section 4.4.1).
    pub fn on_recovered(&mut self, window: &mut Window, una: Seq, max: Seq) {
        if let Some(Loss { used, retransmitted }) = self.loss.take() {
            // cwnd = ((max(pipeACK, LossFlightSize) - R) / 2)
            window.set_cwnd(used.saturating_sub(retransmitted) / 2);
            window.set_ssthresh(window.cwnd());
        }
        self.pipe_ack.restart(una, max);
    }

    /// The retransmission timer expired: resets pipeACK.
    pub fn on_timeout(&mut self, una: Seq, max: Seq) {
        self.loss = None;
        self.pipe_ack.restart(una, max);
    }
}

/// The pipeACK sampling period: three round trips, at least 1 s (section 4.2).
fn sampling_period(srtt: Duration) -> Duration {
    (srtt * 3).max(Duration::from_secs(1))
}

impl PipeAck {
    /// Everything below `una` is acknowledged: takes a sample once a round trip.
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

    /// pipeACK: the largest sample of the period; `None`: undefined.
    fn value(&self, at: Instant, period: Duration) -> Option<u64> {
        let recent = self.samples.iter().filter(|(since, _)| at - *since <= period);
        self.defined.then(|| recent.map(|(_, sample)| *sample).max().unwrap_or(0))
    }

    /// Discards all samples after a loss.
    fn restart(&mut self, una: Seq, max: Seq) {
        *self = Self { from: una, until: max, ..Self::default() };
    }
}
