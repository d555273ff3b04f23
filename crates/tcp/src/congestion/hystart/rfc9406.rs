//! `HyStart++`: RFC 9406.

use rtolab_time::Duration;

use crate::congestion::Acked;
use crate::seq::Seq;

// The constants of section 4.3, for a sender without pacing.
const MIN_RTT_THRESH: Duration = Duration::from_millis(4);
const MAX_RTT_THRESH: Duration = Duration::from_millis(16);
const MIN_RTT_DIVISOR: u64 = 8;
pub(super) const N_RTT_SAMPLE: u32 = 8;
const CSS_GROWTH_DIVISOR: u64 = 4;
const CSS_ROUNDS: u32 = 5;
const L: u64 = 8;

/// The variables of RFC 9406 section 4.2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct HyStartPlusPlus {
    /// SND.MAX when the round began; `None` before the first.
    window_end: Option<Seq>,
    current_round_min_rtt: Option<Duration>,
    last_round_min_rtt: Option<Duration>,
    rtt_sample_count: u32,
    /// Conservative slow start (CSS), if it is under way.
    css: Option<Css>,
}

/// Conservative slow start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Css {
    css_baseline_min_rtt: Duration,
    /// The number of complete rounds of CSS.
    rounds: u32,
}

impl HyStartPlusPlus {
    /// The growth of cwnd for `acked` bytes: cwnd = cwnd + min (N, L * SMSS), in CSS divided by
    /// CSS_GROWTH_DIVISOR.
    pub fn growth(&self, acked: u64, smss: u64) -> u64 {
        acked.min(L * smss) / if self.css.is_some() { CSS_GROWTH_DIVISOR } else { 1 }
    }

    /// Processes an ACK, with its round-trip sample if there is one. Returns whether slow start
    /// ends.
    pub fn on_ack(&mut self, rtt: Option<Duration>, acked: &Acked) -> bool {
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
pub(super) fn rtt_thresh(last_round_min_rtt: Duration) -> Duration {
    (last_round_min_rtt / MIN_RTT_DIVISOR).clamp(MIN_RTT_THRESH, MAX_RTT_THRESH)
}
