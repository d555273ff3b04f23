//! Slow start ends before it overshoots: `HyStart++` (RFC 9406), and the `HyStart` before it that
//! Linux has, in `linux.rs`.

mod linux;

use rtolab_time::Duration;

use super::{Acked, Window};
use crate::config::SlowStartExit;
use crate::seq::Seq;
use linux::LinuxHyStart;

/// Section 4.3, where nothing is paced.
const MIN_RTT_THRESH: Duration = Duration::from_millis(4);
const MAX_RTT_THRESH: Duration = Duration::from_millis(16);
const MIN_RTT_DIVISOR: u64 = 8;
const N_RTT_SAMPLE: u32 = 8;
const CSS_GROWTH_DIVISOR: u64 = 4;
const CSS_ROUNDS: u32 = 5;
const L: u64 = 8;

/// What may end slow start, beside a loss. [`Form`] is the table of the ways out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HyStart {
    form: Form,
    /// The round trip of the current ACK.
    rtt: Option<Duration>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    PlusPlus(HyStartPlusPlus),
    Linux(LinuxHyStart),
    /// Slow start is over.
    Done,
}

/// RFC 9406 section 4.2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct HyStartPlusPlus {
    /// SND.MAX when the round began; `None` before the first.
    window_end: Option<Seq>,
    current_round_min_rtt: Option<Duration>,
    last_round_min_rtt: Option<Duration>,
    rtt_sample_count: u32,
    /// Conservative slow start, while it lasts.
    css: Option<Css>,
}

/// Conservative slow start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Css {
    css_baseline_min_rtt: Duration,
    /// Rounds of it that are complete.
    rounds: u32,
}

impl HyStart {
    /// Slow start begins.
    pub fn new(exit: SlowStartExit) -> Option<Self> {
        let form = match exit {
            SlowStartExit::Loss => return None,
            SlowStartExit::HyStartPlusPlus => Form::PlusPlus(HyStartPlusPlus::default()),
            SlowStartExit::HyStart => Form::Linux(LinuxHyStart::default()),
        };
        Some(Self { form, rtt: None })
    }

    /// A round trip was measured.
    pub fn on_rtt(&mut self, rtt: Duration) {
        self.rtt = Some(rtt);
    }

    /// A loss or a congestion mark: RFC 9406 is for the first slow start only.
    pub fn on_loss(&mut self) {
        if let Form::PlusPlus(_) = self.form {
            self.form = Form::Done;
        }
    }

    /// The retransmission timer expired: Linux ends the slow start that follows, too, and has
    /// forgotten all round trips (`bictcp_reset`).
    pub fn on_timeout(&mut self) {
        if let Form::Linux(linux) = &mut self.form {
            *linux = LinuxHyStart::default();
        }
    }

    /// An acknowledgment arrived: Linux uses its round trip first (`cubictcp_acked`), whether the
    /// window grows or not.
    pub fn on_arrival(&mut self, window: &mut Window, acked: &Acked) {
        let Form::Linux(linux) = &mut self.form else {
            return;
        };
        if self.rtt.take().is_some_and(|rtt| linux.update(rtt, window, acked)) {
            window.ssthresh = window.cwnd;
        }
    }

    /// The window grows in slow start; returns the bytes that are left for congestion avoidance.
    pub fn slow_start(&mut self, window: &mut Window, acked: &Acked) -> u64 {
        let rtt = self.rtt.take();
        let Form::PlusPlus(hystart) = &mut self.form else {
            return window.slow_start(acked.bytes);
        };
        window.cwnd += hystart.growth(acked.bytes, window.smss);
        if hystart.on_ack(rtt, acked) {
            window.ssthresh = window.cwnd;
            self.form = Form::Done;
        }
        0
    }
}

impl HyStartPlusPlus {
    /// cwnd = cwnd + (min (N, L * SMSS) / CSS_GROWTH_DIVISOR), where the divisor is for
    /// conservative slow start.
    fn growth(&self, acked: u64, smss: u64) -> u64 {
        acked.min(L * smss) / if self.css.is_some() { CSS_GROWTH_DIVISOR } else { 1 }
    }

    /// Returns whether slow start ends.
    fn on_ack(&mut self, rtt: Option<Duration>, acked: &Acked) -> bool {
        // currentRoundMinRTT = min (currentRoundMinRTT, currRTT); rttSampleCount += 1
        if let Some(rtt) = rtt {
            let least = self.current_round_min_rtt.map_or(rtt, |least| least.min(rtt));
            self.current_round_min_rtt = Some(least);
            self.rtt_sample_count = self.rtt_sample_count.saturating_add(1);
        }
        let enough = self.rtt_sample_count >= N_RTT_SAMPLE;
        if let Some(current) = self.current_round_min_rtt.filter(|_| enough) {
            self.css = match (self.css, self.last_round_min_rtt) {
                // If currentRoundMinRTT >= lastRoundMinRTT + RttThresh, enter CSS.
                (None, Some(last)) if current >= last + rtt_thresh(last) => {
                    Some(Css { css_baseline_min_rtt: current, rounds: 0 })
                }
                // If currentRoundMinRTT < cssBaselineMinRtt, resume slow start.
                (Some(css), _) if current < css.css_baseline_min_rtt => None,
                (css, _) => css,
            };
        }
        if acked.una < *self.window_end.get_or_insert(acked.max) {
            return false;
        }
        // A round ends, and the next one begins.
        self.window_end = Some(acked.max);
        self.last_round_min_rtt = self.current_round_min_rtt.take();
        self.rtt_sample_count = 0;
        self.css.as_mut().is_some_and(|css| {
            css.rounds += 1;
            css.rounds == CSS_ROUNDS
        })
    }
}

/// RttThresh = max (MIN_RTT_THRESH, min (lastRoundMinRTT / MIN_RTT_DIVISOR, MAX_RTT_THRESH)).
fn rtt_thresh(last_round_min_rtt: Duration) -> Duration {
    (last_round_min_rtt / MIN_RTT_DIVISOR).clamp(MIN_RTT_THRESH, MAX_RTT_THRESH)
}

#[cfg(test)]
mod tests;
