//! The interface of a congestion control that models the path, such as BBR: it sets cwnd and the
//! pacing rate itself at every acknowledgment (Linux: `cong_control`).

use rtolab_time::{Duration, Instant};

use super::Window;
use super::pacing::Pacer;
use super::rate::{LostSegment, RateSample, RateSampler};
use crate::ca_state::CaState;
use crate::seq::Seq;

/// A model of the path.
pub(crate) trait PathModel {
    /// The handshake is complete.
    fn init(&mut self, cx: &mut ModelContext<'_>);

    /// Processes an acknowledgment that arrives while data is outstanding.
    fn on_ack(&mut self, rs: &RateSample, cx: &mut ModelContext<'_>);

    /// A segment is marked lost.
    fn on_lost(&mut self, lost: &LostSegment, cx: &mut ModelContext<'_>) {
        let _ = (lost, cx);
    }

    /// Data leaves after nothing was in flight.
    fn on_restart(&mut self, cx: &mut ModelContext<'_>);

    /// Loss recovery begins, or a congestion mark arrives.
    fn on_congestion(&mut self, cwnd: u64);

    /// The retransmission timer expired.
    fn on_timeout(&mut self, cx: &mut ModelContext<'_>);

    /// The last loss recovery was spurious.
    fn undo(&mut self, cx: &mut ModelContext<'_>);

    /// Does it look for an application that limits the sender at every acknowledgment, too, and not
    /// only when that writes?
    fn checks_application_on_ack(&self) -> bool {
        false
    }

    /// What it knows; `smss` is the length of a segment.
    fn state(&self, smss: u64) -> ModelState;
}

/// What a congestion control that models the path knows. Data is in bytes, rates are in bytes per
/// second, and gains in hundredths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelState {
    /// Its state: `startup`, `drain`, `probe_rtt`, `probe_bw`, or with BBR version 3 `probe_down`,
    /// `probe_cruise`, `probe_refill` or `probe_up` in place of the last.
    pub mode: &'static str,
    /// The estimated bandwidth of the path, within the bounds below.
    pub bw: u64,
    /// The maximum of the measured rates.
    pub max_bw: u64,
    /// The rate of a policer (version 1), or the rate that is safe since the last loss (version 3),
    /// while it is used.
    pub bw_shortterm: Option<u64>,
    /// The data in flight that is safe since the last loss (version 3).
    pub inflight_shortterm: Option<u64>,
    /// The data in flight at which a probe lost too much (version 3).
    pub inflight_longterm: Option<u64>,
    /// The estimated excess of aggregated ACKs.
    pub extra_acked: u64,
    /// The smallest round trip.
    pub min_rtt: Option<Duration>,
    /// The pacing gain.
    pub pacing_gain: u64,
    /// The gain of the window.
    pub cwnd_gain: u64,
    /// Was the pipe ever full?
    pub full_bw_reached: bool,
    /// The number of round trips in which the rate did not grow.
    pub full_bw_count: u32,
    /// The number of round trips.
    pub round_count: u64,
    /// Does the sender restart after an idle time?
    pub idle_restart: bool,
}

/// What a model sees of the sender, and may change.
#[derive(Debug)]
pub(crate) struct ModelContext<'a> {
    pub at: Instant,
    pub window: &'a mut Window,
    pub pacer: &'a mut Pacer,
    pub rate: &'a mut RateSampler,
    /// SRTT; `None` before the first sample.
    pub srtt: Option<Duration>,
    /// The bytes in flight (`tcp_packets_in_flight`).
    pub pipe: u64,
    /// The initial window, in bytes.
    pub initial_window: u64,
    pub ca_state: CaState,
    /// Did the data in flight fill cwnd when the acknowledgment arrived?
    pub is_cwnd_limited: bool,
    /// Does the peer report each segment, so that several losses in a round trip are found?
    pub has_selective_acks: bool,
}

/// The inputs of a model, and the window that it sets.
#[derive(Clone, Debug)]
pub(crate) struct Modelled {
    pub rate: RateSampler,
    /// The window that the model has set, in bytes. Nothing else changes it.
    pub cwnd: u64,
    /// After a timeout: the recovery from it ends once this is acknowledged, or with an undo.
    pub loss_until: Option<Seq>,
    /// Did the data in flight fill the window when the last acknowledgment arrived?
    pub is_cwnd_limited: bool,
}

impl Modelled {
    pub const fn new(rate: RateSampler, cwnd: u64) -> Self {
        Self { rate, cwnd, loss_until: None, is_cwnd_limited: false }
    }
}

/// A number from 0 to `count - 1` for a decision that the algorithm leaves to chance. The engine
/// draws no random number, so the time and the data delivered determine it.
pub(crate) fn spread(cx: &ModelContext<'_>, count: u64) -> u64 {
    split_mix_64(cx.at.nanos() ^ cx.rate.delivered.rotate_left(32)) % count
}

/// The first number that SplitMix64 (Steele, Lea and Flood 2014) generates from a seed.
const fn split_mix_64(seed: u64) -> u64 {
    let mut mixed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::split_mix_64;

    /// The numbers that the authors' implementation generates.
    #[test]
    fn the_generator_is_split_mix_64() {
        assert_eq!(split_mix_64(0), 0xE220_A839_7B1D_CDAF);
        assert_eq!(split_mix_64(1_234_567), 6_457_827_717_110_365_317);
    }
}
