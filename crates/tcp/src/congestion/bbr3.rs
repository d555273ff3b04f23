//! BBR version 3: draft-ietf-ccwg-bbr-06 (Cardwell, Swett and Beshay, July 2026), under its names
//! and section numbers, in bytes and bytes per second. Gains are in hundredths.

mod control;
mod loss;
mod path;
mod probe_bw;
mod probe_rtt;
mod startup;
mod undo;

use alloc::boxed::Box;

use rtolab_time::{Duration, Instant};

use super::max_filter::MaxFilter;
use super::model::{ModelContext, ModelState, PathModel};
use super::rate::{LostSegment, RateSample};
use super::{Acked, CongestionControl, Window};
use crate::ca_state::CaState;
use crate::seq::Seq;

/// No bound.
const INFINITY: u64 = u64::MAX;
/// `BBR.LossThresh`: the tolerated loss rate of a round trip, 2 %: one in this many bytes.
const LOSS_THRESH: u64 = 50;
/// `BBR.Beta`: what remains after a round trip with losses, in hundredths.
const BETA: u64 = 70;
/// `BBR.MinPipeCwnd`, in segments.
const MIN_PIPE_CWND: u64 = 4;

/// The saved state (section 2.13).
#[derive(Clone, Copy, Debug, Default)]
struct Undo {
    /// The state that the losses ended, if they did (`undo_state`).
    state: Option<BbrState>,
    bw_shortterm: u64,
    inflight_shortterm: u64,
    inflight_longterm: u64,
}

/// The state of the state machine (section 5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BbrState {
    Startup,
    Drain,
    ProbeBwDown,
    ProbeBwCruise,
    ProbeBwRefill,
    ProbeBwUp,
    ProbeRtt,
}

/// What the ACKs mean for the probes for bandwidth (section 2.12).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AckPhase {
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

/// BBR version 3.
#[derive(Clone, Debug)]
pub(crate) struct Bbr3(Box<Model>);

/// The variables of the draft (sections 2.5 to 2.14), without their prefix `BBR.`.
#[derive(Clone, Debug)]
struct Model {
    state: BbrState,
    // Section 2.7: general
    round_count: u64,
    round_start: bool,
    next_round_delivered: u64,
    idle_restart: bool,
    drain_start_round: u64,
    /// `C.is_cwnd_limited`, and the same for the round trip so far.
    is_cwnd_limited: (bool, bool),
    prior_cwnd: u64,
    /// Is loss recovery under way?
    recovering: bool,
    has_seen_rtt: bool,
    // Section 2.9: the path
    /// The maxima of the previous and of the current cycle (`max_bw_filter`).
    max_bw_filter: [u64; 2],
    bw_shortterm: u64,
    bw: u64,
    min_rtt: Option<Duration>,
    min_rtt_stamp: Instant,
    extra_acked: u64,
    extra_acked_interval_start: Instant,
    extra_acked_delivered: u64,
    extra_acked_filter: MaxFilter,
    inflight_longterm: u64,
    inflight_shortterm: u64,
    // Section 2.10: congestion
    bw_latest: u64,
    inflight_latest: u64,
    is_loss_in_round: bool,
    loss_round_delivered: u64,
    loss_round_start: bool,
    /// The number of separate ranges lost in the round trip, and the end of the last.
    loss_events: (u32, Seq),
    // Section 2.11: Startup
    full_bw_reached: bool,
    full_bw_now: bool,
    full_bw: u64,
    full_bw_count: u32,
    // Section 2.12: ProbeBW
    ack_phase: AckPhase,
    is_bw_probe_sample: bool,
    bw_probe_up_acked: u64,
    probe_up_acked_per_inc: u64,
    bw_probe_up_rounds: u32,
    rounds_since_probe_up: u64,
    bw_probe_wait: Duration,
    cycle_stamp: Instant,
    prev_probe_too_high: bool,
    prev_probe_precautionary: bool,
    // Section 2.13: undo
    undo: Undo,
    // Section 2.14: ProbeRTT
    probe_rtt_min_delay: Option<Duration>,
    probe_rtt_min_stamp: Instant,
    probe_rtt_expired: bool,
    probe_rtt_done_stamp: Option<Instant>,
    probe_rtt_round_done: bool,
}

impl Bbr3 {
    /// `OnInit` (section 5.2.1), before the handshake.
    pub fn new() -> Self {
        Self(Box::new(Model {
            state: BbrState::Startup,
            round_count: 0,
            round_start: false,
            next_round_delivered: 0,
            idle_restart: false,
            drain_start_round: 0,
            is_cwnd_limited: (false, false),
            prior_cwnd: 0,
            recovering: false,
            has_seen_rtt: false,
            max_bw_filter: [0; 2],
            bw_shortterm: INFINITY,
            bw: 0,
            min_rtt: None,
            min_rtt_stamp: Instant::START,
            extra_acked: 0,
            extra_acked_interval_start: Instant::START,
            extra_acked_delivered: 0,
            extra_acked_filter: MaxFilter::default(),
            inflight_longterm: INFINITY,
            inflight_shortterm: INFINITY,
            bw_latest: 0,
            inflight_latest: 0,
            is_loss_in_round: false,
            loss_round_delivered: 0,
            loss_round_start: false,
            loss_events: (0, Seq::FIRST),
            full_bw_reached: false,
            full_bw_now: false,
            full_bw: 0,
            full_bw_count: 0,
            ack_phase: AckPhase::Init,
            is_bw_probe_sample: false,
            bw_probe_up_acked: 0,
            probe_up_acked_per_inc: INFINITY,
            bw_probe_up_rounds: 0,
            rounds_since_probe_up: 0,
            bw_probe_wait: Duration::ZERO,
            cycle_stamp: Instant::START,
            prev_probe_too_high: false,
            prev_probe_precautionary: false,
            undo: Undo::default(),
            probe_rtt_min_delay: None,
            probe_rtt_min_stamp: Instant::START,
            probe_rtt_expired: false,
            probe_rtt_done_stamp: None,
            probe_rtt_round_done: false,
        }))
    }
}

impl CongestionControl for Bbr3 {
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

impl PathModel for Model {
    /// The rest of `OnInit` (section 5.2.1), after the handshake.
    fn init(&mut self, cx: &mut ModelContext<'_>) {
        self.min_rtt = cx.srtt;
        self.min_rtt_stamp = cx.at;
        (self.probe_rtt_min_delay, self.probe_rtt_min_stamp) = (cx.srtt, cx.at);
        self.extra_acked_interval_start = cx.at;
        self.init_pacing_rate(cx);
    }

    /// `UpdateOnACK` (section 5.2.3)
    fn on_ack(&mut self, rs: &RateSample, cx: &mut ModelContext<'_>) {
        self.note_recovery(cx);
        self.update_latest_delivery_signals(rs, cx);
        self.update_congestion_signals(rs, cx);
        self.update_ack_aggregation(rs, cx);
        self.check_full_bw_reached(rs);
        self.check_startup_done(rs, cx);
        self.check_drain_done(cx);
        self.update_probe_bw_cycle_phase(rs, cx);
        self.update_min_rtt(rs, cx);
        self.check_probe_rtt(rs, cx);
        self.advance_latest_delivery_signals(rs);
        self.bound_bw_for_model();
        self.set_pacing_rate(cx);
        self.set_cwnd(rs, cx);
    }

    /// `HandleLostPacket` (section 5.5.10.2)
    fn on_lost(&mut self, lost: &LostSegment, cx: &mut ModelContext<'_>) {
        self.handle_lost_packet(lost, cx);
    }

    /// `HandleRestartFromIdle` (section 5.4.1)
    fn on_restart(&mut self, cx: &mut ModelContext<'_>) {
        if cx.rate.app_limited == 0 {
            return;
        }
        self.idle_restart = true;
        self.extra_acked_interval_start = cx.at;
        if self.is_in_a_probe_bw_state() {
            self.set_pacing_rate_with_gain(100, cx);
        } else if self.state == BbrState::ProbeRtt {
            self.check_probe_rtt_done(cx);
        }
    }

    /// `OnEnterFastRecovery` (section 5.6.4.4)
    fn on_congestion(&mut self, cwnd: u64) {
        self.save_cwnd(cwnd);
        self.save_state_upon_loss();
        self.recovering = true;
    }

    /// `OnEnterRTO` (section 5.6.4.4). The sender sets cwnd.
    fn on_timeout(&mut self, _: &mut ModelContext<'_>) {
        self.recovering = true;
    }

    /// `HandleSpuriousLossDetection` (section 5.5.11.2)
    fn undo(&mut self, cx: &mut ModelContext<'_>) {
        self.handle_spurious_loss_detection(cx);
    }

    fn checks_application_on_ack(&self) -> bool {
        true
    }

    fn state(&self, _: u64) -> ModelState {
        let finite = |bound: u64| (bound < INFINITY).then_some(bound);
        ModelState {
            mode: match self.state {
                BbrState::Startup => "startup",
                BbrState::Drain => "drain",
                BbrState::ProbeBwDown => "probe_down",
                BbrState::ProbeBwCruise => "probe_cruise",
                BbrState::ProbeBwRefill => "probe_refill",
                BbrState::ProbeBwUp => "probe_up",
                BbrState::ProbeRtt => "probe_rtt",
            },
            bw: self.bw,
            max_bw: self.max_bw(),
            bw_shortterm: finite(self.bw_shortterm),
            inflight_shortterm: finite(self.inflight_shortterm),
            inflight_longterm: finite(self.inflight_longterm),
            extra_acked: self.extra_acked,
            min_rtt: self.min_rtt,
            pacing_gain: self.pacing_gain(),
            cwnd_gain: self.cwnd_gain(),
            full_bw_reached: self.full_bw_reached,
            full_bw_count: self.full_bw_count,
            round_count: self.round_count,
            idle_restart: self.idle_restart,
        }
    }
}

impl Model {
    /// `IsInAProbeBWState` (section 5.3.3.6)
    const fn is_in_a_probe_bw_state(&self) -> bool {
        matches!(
            self.state,
            BbrState::ProbeBwDown
                | BbrState::ProbeBwCruise
                | BbrState::ProbeBwRefill
                | BbrState::ProbeBwUp
        )
    }

    /// `IsProbingBW` (section 5.3.3.6)
    const fn is_probing_bw(&self) -> bool {
        matches!(self.state, BbrState::Startup | BbrState::ProbeBwRefill | BbrState::ProbeBwUp)
    }

    /// Loss recovery may be over: then the window of before returns (section 5.6.4.4).
    fn note_recovery(&mut self, cx: &mut ModelContext<'_>) {
        let recovering = matches!(cx.ca_state, CaState::Recovery | CaState::Loss);
        if self.recovering && !recovering {
            self.restore_cwnd(cx);
        }
        self.recovering = recovering;
    }
}
