//! BBR version 1: Cardwell, Cheng, Gunn, Yeganeh and Jacobson, "BBR: Congestion-Based Congestion
//! Control", ACM Queue 14(5), 2016, as Linux 6.12 has it (`net/ipv4/tcp_bbr.c`), under its names.
//!
//! Rates are in segments per microsecond, times 2^24; gains are in 256ths; windows are in segments.

mod aggregation;
mod cwnd;
mod policer;
mod probe_rtt;

use alloc::boxed::Box;

use rtolab_time::{Duration, Instant};

use super::max_filter::MaxFilter;
use super::model::{ModelContext, ModelState, PathModel, spread};
use super::rate::RateSample;
use super::{Acked, CongestionControl, Window};
use crate::ca_state::CaState;

/// One segment per microsecond.
const BW_UNIT: u64 = 1 << 24;
/// A gain of 1.
const BBR_UNIT: u64 = 1 << 8;
/// The number of phases of a gain cycle.
const CYCLE_LEN: u64 = 8;
/// The window of the bandwidth filter, in round trips.
const BW_RTTS: u64 = CYCLE_LEN + 2;
/// The bandwidth is paced at 1 % less (`bbr_pacing_margin_percent`).
const PACING_MARGIN_PERCENT: u64 = 1;
/// 2/ln(2): the sending rate doubles each round trip.
const HIGH_GAIN: u64 = BBR_UNIT * 2885 / 1000 + 1;
/// Drains in one round trip the queue that `HIGH_GAIN` built.
const DRAIN_GAIN: u64 = BBR_UNIT * 1000 / 2885;
const CWND_GAIN: u64 = BBR_UNIT * 2;
/// The gains of `BBR_PROBE_BW`: a probe for more bandwidth, its drain, and cruising.
const PACING_GAIN: [u64; CYCLE_LEN as usize] = {
    let mut gains = [BBR_UNIT; CYCLE_LEN as usize];
    (gains[0], gains[1]) = (BBR_UNIT * 5 / 4, BBR_UNIT * 3 / 4);
    gains
};
/// The cycle begins at one of this many phases at random.
const CYCLE_RAND: u64 = 7;
/// The smallest window in segments.
const CWND_MIN_TARGET: u64 = 4;
/// The growth of the bandwidth in a round trip that shows that the pipe is not full.
const FULL_BW_THRESH: u64 = BBR_UNIT * 5 / 4;
/// The number of round trips without such growth after which the pipe is full.
const FULL_BW_CNT: u32 = 3;

/// The state of the estimate of ACK aggregation; numbers are of segments.
#[derive(Clone, Copy, Debug, Default)]
struct AckAggregation {
    ack_epoch_mstamp: Instant,
    ack_epoch_acked: u64,
    /// The maxima of this window and of the one before.
    extra_acked: [u64; 2],
    extra_acked_win_rtts: u32,
    extra_acked_win_idx: usize,
}

/// The long-term bandwidth, and the interval of its current sample.
#[derive(Clone, Copy, Debug, Default)]
struct LongTermBandwidth {
    lt_is_sampling: bool,
    lt_rtt_cnt: u32,
    lt_use_bw: bool,
    lt_bw: u64,
    lt_last_delivered: u64,
    lt_last_stamp: Instant,
    lt_last_lost: u64,
}

/// `enum bbr_mode`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// The rate grows fast to fill the pipe.
    Startup,
    /// The queue drains that this built.
    Drain,
    /// The rate alternates around the estimated bandwidth.
    ProbeBw,
    /// Little data is in flight, to measure the smallest round trip.
    ProbeRtt,
}

/// BBR version 1.
#[derive(Clone, Debug)]
pub(crate) struct Bbr(Box<State>);

/// `struct bbr`
#[derive(Clone, Debug)]
struct State {
    /// The smallest round trip of the last ten seconds.
    min_rtt: Option<Duration>,
    /// When it was measured.
    min_rtt_stamp: Instant,
    /// The end of `Mode::ProbeRtt`, once little data is in flight.
    probe_rtt_done_stamp: Option<Instant>,
    /// The maximum of the recent delivery rates.
    bw: MaxFilter,
    /// The number of round trips.
    rtt_cnt: u64,
    /// The data delivered at the end of the current round trip, in bytes.
    next_rtt_delivered: u64,
    /// When the phase of the gain cycle began.
    cycle_mstamp: Instant,
    mode: Mode,
    prev_ca_state: CaState,
    packet_conservation: bool,
    round_start: bool,
    /// Did the sender just restart after an idle time?
    idle_restart: bool,
    probe_rtt_round_done: bool,
    lt: LongTermBandwidth,
    pacing_gain: u64,
    cwnd_gain: u64,
    full_bw_reached: bool,
    full_bw_cnt: u32,
    /// The bandwidth that the next round trip is compared with.
    full_bw: u64,
    cycle_idx: u64,
    has_seen_rtt: bool,
    /// The window before loss recovery or `Mode::ProbeRtt`, in bytes.
    prior_cwnd: u64,
    aggregation: AckAggregation,
}

impl Bbr {
    pub fn new() -> Self {
        Self(Box::new(State {
            min_rtt: None,
            min_rtt_stamp: Instant::START,
            probe_rtt_done_stamp: None,
            bw: MaxFilter::default(),
            rtt_cnt: 0,
            next_rtt_delivered: 0,
            cycle_mstamp: Instant::START,
            mode: Mode::Startup,
            prev_ca_state: CaState::Open,
            packet_conservation: false,
            round_start: false,
            idle_restart: false,
            probe_rtt_round_done: false,
            lt: LongTermBandwidth::default(),
            pacing_gain: HIGH_GAIN,
            cwnd_gain: HIGH_GAIN,
            full_bw_reached: false,
            full_bw_cnt: 0,
            full_bw: 0,
            cycle_idx: 0,
            has_seen_rtt: false,
            prior_cwnd: 0,
            aggregation: AckAggregation::default(),
        }))
    }
}

impl CongestionControl for Bbr {
    /// The window follows the model.
    fn congestion_avoidance(&mut self, _: &mut Window, _: &Acked) {}

    fn on_loss(&mut self, _: u64, cwnd: u64, _: &Window) -> u64 {
        cwnd
    }

    fn model(&mut self) -> Option<&mut dyn PathModel> {
        Some(&mut *self.0)
    }

    fn model_state(&self, smss: u64) -> Option<ModelState> {
        Some(self.0.state(smss))
    }
}

impl PathModel for State {
    /// `bbr_init`
    fn init(&mut self, cx: &mut ModelContext<'_>) {
        self.next_rtt_delivered = cx.rate.delivered;
        (self.min_rtt, self.min_rtt_stamp) = (cx.rate.min_rtt(), cx.at);
        self.init_pacing_rate_from_rtt(cx);
        self.lt.reset(cx.rate);
        self.aggregation.begin_epoch(cx.at);
    }

    /// `bbr_main`
    fn on_ack(&mut self, rs: &RateSample, cx: &mut ModelContext<'_>) {
        self.update_bw(rs, cx);
        if let (Some(_), true) = (rs.delivered, rs.acked_sacked > 0) {
            self.update_ack_aggregation(rs, cx);
        }
        if self.mode == Mode::ProbeBw && self.is_next_cycle_phase(rs, cx) {
            self.advance_cycle_phase(cx);
        }
        self.check_full_bw_reached(rs);
        self.check_drain(cx);
        self.update_min_rtt(rs, cx);
        self.update_gains();
        let (bw, gain) = (self.bw(), self.pacing_gain);
        self.set_pacing_rate(bw, gain, cx);
        self.set_cwnd(rs, cx);
    }

    /// `bbr_cwnd_event` with `CA_EVENT_TX_START`
    fn on_restart(&mut self, cx: &mut ModelContext<'_>) {
        if cx.rate.app_limited == 0 {
            return;
        }
        self.idle_restart = true;
        self.aggregation.begin_epoch(cx.at);
        match self.mode {
            Mode::ProbeBw => self.set_pacing_rate(self.bw(), BBR_UNIT, cx),
            Mode::ProbeRtt => self.check_probe_rtt_done(cx),
            Mode::Startup | Mode::Drain => {}
        }
    }

    /// `bbr_ssthresh`, which is `bbr_save_cwnd`
    fn on_congestion(&mut self, cwnd: u64) {
        self.save_cwnd(cwnd);
    }

    /// `bbr_set_state` with `TCP_CA_Loss`
    fn on_timeout(&mut self, cx: &mut ModelContext<'_>) {
        self.prev_ca_state = CaState::Loss;
        self.full_bw = 0;
        // Ends the round trip.
        self.round_start = true;
        let lossy = RateSample { losses: 1, ..RateSample::default() };
        self.lt_bw_sampling(&lossy, cx);
    }

    /// `bbr_undo_cwnd`. The window returns with the next acknowledgment
    /// (`bbr_set_cwnd_to_recover_or_restore`).
    fn undo(&mut self, cx: &mut ModelContext<'_>) {
        (self.full_bw, self.full_bw_cnt) = (0, 0);
        self.lt.reset(cx.rate);
    }

    fn state(&self, smss: u64) -> ModelState {
        let rate = |bw: u64| u128::from(bw) * u128::from(smss) * 1_000_000 / u128::from(BW_UNIT);
        let rate = |bw| u64::try_from(rate(bw)).unwrap_or(u64::MAX);
        ModelState {
            mode: match self.mode {
                Mode::Startup => "startup",
                Mode::Drain => "drain",
                Mode::ProbeBw => "probe_bw",
                Mode::ProbeRtt => "probe_rtt",
            },
            bw: rate(self.bw()),
            max_bw: rate(self.bw.get()),
            bw_shortterm: self.lt.in_use().map(rate),
            inflight_shortterm: None,
            inflight_longterm: None,
            extra_acked: self.ack_aggregation_cwnd() * smss,
            min_rtt: self.min_rtt,
            pacing_gain: self.pacing_gain * 100 / BBR_UNIT,
            cwnd_gain: self.cwnd_gain * 100 / BBR_UNIT,
            full_bw_reached: self.full_bw_reached,
            full_bw_count: self.full_bw_cnt,
            round_count: self.rtt_cnt,
            idle_restart: self.idle_restart,
        }
    }
}

impl State {
    /// `bbr_bw`: the estimated bandwidth of the path.
    fn bw(&self) -> u64 {
        self.lt.in_use().unwrap_or(self.bw.get())
    }

    /// `bbr_rate_bytes_per_sec`
    fn rate_bytes_per_sec(bw: u64, gain: u64, smss: u64) -> u64 {
        let rate = (u128::from(bw) * u128::from(smss) * u128::from(gain)) >> 8;
        let margin = u128::from(1_000_000 / 100 * (100 - PACING_MARGIN_PERCENT));
        u64::try_from(rate * margin / u128::from(BW_UNIT)).unwrap_or(u64::MAX)
    }

    /// `bbr_init_pacing_rate_from_rtt`: the initial window in the first round trip, with a gain.
    fn init_pacing_rate_from_rtt(&mut self, cx: &mut ModelContext<'_>) {
        self.has_seen_rtt |= cx.srtt.is_some();
        let micros = cx.srtt.map_or(1_000, |srtt| (srtt.nanos() / 1_000).max(1));
        let bw = packets(cx.window.cwnd(), cx) * BW_UNIT / micros;
        cx.pacer.set_rate(Self::rate_bytes_per_sec(bw, HIGH_GAIN, cx.window.smss()));
    }

    /// `bbr_set_pacing_rate`
    fn set_pacing_rate(&mut self, bw: u64, gain: u64, cx: &mut ModelContext<'_>) {
        let rate = Self::rate_bytes_per_sec(bw, gain, cx.window.smss());
        if !self.has_seen_rtt && cx.srtt.is_some() {
            self.init_pacing_rate_from_rtt(cx);
        }
        if self.full_bw_reached || cx.pacer.rate().is_none_or(|before| rate > before) {
            cx.pacer.set_rate(rate);
        }
    }

    /// `bbr_update_bw`: takes a sample of the bandwidth, and finds the begin of a round trip.
    fn update_bw(&mut self, rs: &RateSample, cx: &ModelContext<'_>) {
        self.round_start = false;
        let Some((delivered, interval)) = rs.delivered else { return };
        if rs.prior_delivered.is_some_and(|prior| prior >= self.next_rtt_delivered) {
            self.next_rtt_delivered = cx.rate.delivered;
            self.rtt_cnt += 1;
            self.round_start = true;
            self.packet_conservation = false;
        }
        self.lt_bw_sampling(rs, cx);
        let bw = bandwidth(delivered, interval, cx);
        if !rs.is_app_limited || bw >= self.bw.get() {
            self.bw.update(BW_RTTS, (self.rtt_cnt, bw));
        }
    }

    /// `bbr_is_next_cycle_phase`
    fn is_next_cycle_phase(&self, rs: &RateSample, cx: &ModelContext<'_>) -> bool {
        let since = cx.rate.delivered_at - self.cycle_mstamp;
        let is_full_length = self.min_rtt.is_some_and(|min_rtt| since > min_rtt);
        if self.pacing_gain == BBR_UNIT {
            return is_full_length;
        }
        let inflight = self.packets_in_net_at_edt(packets(rs.prior_in_flight, cx), cx);
        let bw = self.bw.get();
        if self.pacing_gain > BBR_UNIT {
            // Lost packets show that the buffer does not hold what the probe wants in flight.
            let filled = inflight >= self.inflight(bw, self.pacing_gain, cx);
            return is_full_length && (rs.losses > 0 || filled);
        }
        is_full_length || inflight <= self.inflight(bw, BBR_UNIT, cx)
    }

    /// `bbr_advance_cycle_phase`
    fn advance_cycle_phase(&mut self, cx: &ModelContext<'_>) {
        self.cycle_idx = (self.cycle_idx + 1) % CYCLE_LEN;
        self.cycle_mstamp = cx.rate.delivered_at;
    }

    /// `bbr_reset_mode`
    fn reset_mode(&mut self, cx: &ModelContext<'_>) {
        match self.full_bw_reached {
            true => self.reset_probe_bw_mode(cx),
            false => self.mode = Mode::Startup,
        }
    }

    /// `bbr_reset_probe_bw_mode`
    fn reset_probe_bw_mode(&mut self, cx: &ModelContext<'_>) {
        self.mode = Mode::ProbeBw;
        self.cycle_idx = CYCLE_LEN - 1 - spread(cx, CYCLE_RAND);
        self.advance_cycle_phase(cx);
    }

    /// `bbr_check_full_bw_reached`
    fn check_full_bw_reached(&mut self, rs: &RateSample) {
        if self.full_bw_reached || !self.round_start || rs.is_app_limited {
            return;
        }
        if self.bw.get() >= (self.full_bw * FULL_BW_THRESH) >> 8 {
            (self.full_bw, self.full_bw_cnt) = (self.bw.get(), 0);
            return;
        }
        self.full_bw_cnt += 1;
        self.full_bw_reached = self.full_bw_cnt >= FULL_BW_CNT;
    }

    /// `bbr_check_drain`
    fn check_drain(&mut self, cx: &mut ModelContext<'_>) {
        let target = self.inflight(self.bw.get(), BBR_UNIT, cx);
        if self.mode == Mode::Startup && self.full_bw_reached {
            self.mode = Mode::Drain;
            cx.window.set_ssthresh(target * cx.window.smss());
        }
        let in_net = || self.packets_in_net_at_edt(packets(cx.pipe, cx), cx);
        if self.mode == Mode::Drain && in_net() <= target {
            self.reset_probe_bw_mode(cx);
        }
    }

    /// `bbr_update_gains`
    fn update_gains(&mut self) {
        (self.pacing_gain, self.cwnd_gain) = match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            Mode::ProbeBw if self.lt.in_use().is_some() => (BBR_UNIT, CWND_GAIN),
            Mode::ProbeBw => (PACING_GAIN[self.cycle_idx as usize], CWND_GAIN),
            Mode::ProbeRtt => (BBR_UNIT, BBR_UNIT),
        };
    }
}

/// A number of bytes in segments, rounded up.
fn packets(bytes: u64, cx: &ModelContext<'_>) -> u64 {
    bytes.div_ceil(cx.window.smss())
}

/// A rate of `delivered` bytes per `interval`, in segments per microsecond, times 2^24.
fn bandwidth(delivered: u64, interval: Duration, cx: &ModelContext<'_>) -> u64 {
    let micros = (interval.nanos() / 1_000).max(1);
    delivered * BW_UNIT / (cx.window.smss() * micros)
}
