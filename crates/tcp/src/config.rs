//! Every knob of a TCP endpoint: data, never a branch on a name.

mod growth;
mod receiver;
mod spurious;
mod timer;

use rtolab_time::Duration;

pub use crate::spurious::FrtoVariant;
pub use growth::{IdleRestart, PartialAck, Reduction, SackOnTimeout, SlowStart};
pub use receiver::{AckCounts, AckDelay, GapFill, ReceiverConfig};
pub use spurious::{Detectors, DsackForm, DualRttConfig, EifelForm, FirstAck, Response, Threshold};
pub use timer::{History, Parity, RestartOnDuplicate, TimerClock};

/// How an endpoint behaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The largest segment, in bytes of payload, announced and sent (RFC 9293 section 3.7.1).
    pub mss: u16,
    /// The window scale offered (RFC 7323 section 2); `None` offers no scaling.
    pub window_scale: Option<u8>,
    /// Timestamps are offered, or accepted when the peer offers them.
    pub timestamps: bool,
    /// How the timestamp clock ticks and what is echoed.
    pub timestamp: TimestampConfig,
    /// SACK is offered, or accepted when the peer offers it (RFC 2018).
    pub sack: bool,
    /// Duplicates are reported by D-SACK where SACK is in use (RFC 2883).
    pub dsack: bool,
    /// The retransmission timeout.
    pub rto: RtoConfig,
    /// How the congestion window starts and grows.
    pub window: WindowConfig,
    /// What duplicate acknowledgments do.
    pub recovery: RecoveryConfig,
    /// F-RTO after a timeout, and whose.
    pub frto: Option<FrtoVariant>,
    /// What becomes of `recover` (the report's `send_high`) once a timeout is found spurious.
    pub recover_on_undo: RecoverOnUndo,
    /// The receiving side.
    pub receiver: ReceiverConfig,
    /// The maximum segment lifetime; TIME-WAIT lasts twice as long (RFC 9293 section 3.4.2).
    pub msl: Duration,
    /// Does the segment that empties the send buffer carry PSH, as RFC 9293 section 3.9.1.2 has it
    /// where an application cannot push? Only a receiver that looks at PSH
    /// ([`ReceiverConfig::ack_pushed_at_once`]) behaves differently for it.
    pub push: bool,
    /// The other detectors of spurious retransmissions that the sender acts on.
    pub detectors: Detectors,
    /// Knobs of DualRTT.
    pub dualrtt: DualRttConfig,
    /// What a spurious timeout or fast retransmit restores; `None`: what the detector's own
    /// publication does.
    pub response: Option<Response>,
}

/// The timestamps option (RFC 7323).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimestampConfig {
    /// One tick of the timestamp clock.
    pub tick: Duration,
    /// Do the 12 bytes of the option come out of the MSS, so that the payload shrinks, or does the
    /// packet grow?
    pub in_mss: bool,
    /// Which segments' timestamps are echoed.
    pub echo: EchoRule,
}

/// When a receiver takes a segment's timestamp for its next echo.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EchoRule {
    /// RFC 1323 section 3.4: only a segment that spans the last acknowledgment number sent.
    Rfc1323,
    /// RFC 7323 section 4.3, behind the window test: a wholly duplicate segment is not echoed.
    #[default]
    Rfc7323,
    /// As RFC 7323, but a duplicate that ends at the last acknowledgment number is echoed.
    Linux,
    /// After trimming: a duplicate that ends at the last acknowledgment number is echoed.
    Bsd,
    /// The default of ns-2: any segment at or below the last acknowledgment number, duplicates too.
    Ns2bis,
    /// Always (footnote 3 of the F-RTO report).
    EchoAll,
}

/// The retransmission timeout (RFC 6298).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RtoConfig {
    /// The gain of SRTT is one in `srtt_gain` (RFC 6298: 8).
    pub srtt_gain: u32,
    /// The gain of RTTVAR is one in `rttvar_gain` (RFC 6298: 4).
    pub rttvar_gain: u32,
    /// How often RTTVAR counts in the timeout; zero leaves it out (RFC 6298: 4).
    pub k: u32,
    /// The clock's granularity; samples are whole ticks of it.
    pub granularity: Duration,
    /// What the floor is on.
    pub floor: RtoFloor,
    /// The ceiling.
    pub max: Duration,
    /// The timeout before the first sample.
    pub initial: Duration,
    /// In what numbers round trips are smoothed.
    pub arithmetic: Arithmetic,
    /// Which acknowledgments give a sample.
    pub sampling: Sampling,
    /// Does the handshake give one, too? The one-way agents of ns-2 have no handshake.
    pub sample_handshake: bool,
    /// Does a retransmission in fast recovery restart the timer (RFC 6675 section 6 allows it)?
    pub restart_on_retransmit: bool,
    /// Does a duplicate acknowledgment?
    pub restart_on_duplicate: RestartOnDuplicate,
    /// Over what round trips are smoothed.
    pub history: History,
    /// After more than so many back-offs in a row the round trip is measured from scratch (RFC 6298
    /// section 5.7 allows it); `None`: as the arithmetic has it, never but for ns-2's and BSD's,
    /// which do so after three.
    pub forget_after: Option<u32>,
    /// When the timer looks at the clock.
    pub timer: TimerClock,
}

/// The minimum of the retransmission timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RtoFloor {
    /// RFC 6298 section 2.4: the timeout is never below this.
    Total(Duration),
    /// Linux: the timeout is never below SRTT plus this; the deviation is the largest of a window
    /// and falls slowly (`tcp_rtt_estimator`).
    Variance(Duration),
    /// Old ns-2 (`rfc2988_` false): the timeout with its back-off is never below this, but what is
    /// backed off has no floor.
    BackedOff(Duration),
    /// The timeout is never below this while it runs for a segment whose acknowledgment the receiver
    /// delays, the last of an odd number; for any other it has no floor (Psaras and Tsaoussidis
    /// 2007, section 4: R, 500 ms).
    DelayedAck(Duration, Parity),
}

impl RtoFloor {
    /// The floor, whatever it is on.
    pub const fn duration(self) -> Duration {
        match self {
            Self::Total(floor)
            | Self::Variance(floor)
            | Self::BackedOff(floor)
            | Self::DelayedAck(floor, _) => floor,
        }
    }
}

/// In what numbers round trips are smoothed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arithmetic {
    /// Nanoseconds.
    #[default]
    Exact,
    /// Scaled whole ticks of the granularity, as in 4.4BSD and ns-2 (`TcpAgent::rtt_update`).
    Ns2,
    /// The same with two more bits, a first sample of one tick more, and a timeout of two ticks more
    /// than the last sample at least, as in FreeBSD and NetBSD (`tcp_xmit_timer`).
    Bsd,
}

/// Which acknowledgments give a round-trip sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sampling {
    /// Every acknowledgment of new data: by its timestamp echo where there are timestamps, else by
    /// the oldest segment that it acknowledges, unless one of them was retransmitted (Karn).
    #[default]
    EveryAck,
    /// One segment at a time is timed, as in BSD; any retransmission gives the sample up.
    OncePerWindow,
    /// Every segment is timed: an acknowledgment of several gives as many samples, unless one of
    /// them was retransmitted (Gurtov and Ludwig, report C-2001-53).
    EverySegment,
}

/// How the congestion window starts and grows (RFC 5681).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowConfig {
    /// The initial window.
    pub initial: InitialWindow,
    /// The initial slow-start threshold in segments; `None`: as high as possible.
    pub initial_ssthresh: Option<u32>,
    /// What is halved for `ssthresh`.
    pub halves: Halves,
    /// In what a halved window is counted.
    pub halving: Halving,
    /// What becomes of `ssthresh` when one segment times out again.
    pub repeated_timeout: RepeatedTimeout,
    /// How the window grows in congestion avoidance.
    pub avoidance: Avoidance,
    /// The window when fast recovery ends.
    pub full_ack: FullAck,
    /// The most segments that one acknowledgment may release; where a recovery or a spurious
    /// timeout ends, the window shrinks to what is outstanding and so many. `None`: no limit.
    pub max_burst: Option<u32>,
    /// How the window grows in slow start.
    pub slow_start: SlowStart,
    /// When the window begins anew after an idle time.
    pub idle_restart: IdleRestart,
    /// So many segments are sent beyond the offered window: a fault that Gurtov (2001, section 5.3)
    /// saw in Windows 98 and NT. RFC 9293: 0.
    pub overrun: u32,
}

/// The initial window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialWindow {
    /// So many segments.
    Segments(u32),
    /// RFC 3390: up to four segments, no more than 4380 bytes unless two segments need more.
    Rfc3390,
    /// RFC 6928: up to ten segments, no more than 14600 bytes unless two segments need more.
    Rfc6928,
    /// RFC 5681: two segments above 2190 bytes, three above 1095 bytes, four below.
    Rfc5681,
    /// So many bytes, rounded down to whole segments, one at least: the whole window, as FreeBSD 4.1
    /// to a peer on its network (Gurtov 2001, section 5.3).
    Bytes(u32),
}

/// What is halved for `ssthresh`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Halves {
    /// FlightSize: what is outstanding (RFC 5681 equation 4).
    #[default]
    FlightSize,
    /// The smaller of congestion window and offered window (RFC 2001 section 4), as in ns-2.
    Window,
}

/// What becomes of `ssthresh` when one segment times out again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RepeatedTimeout {
    /// It stays as the first timeout left it (RFC 5681 section 3.1).
    #[default]
    Keeps,
    /// It is halved anew, as in RFC 2001 and ns-2.
    Halves,
}

/// In what half of the flight is counted for `ssthresh`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Halving {
    /// Bytes (RFC 5681 equation 4).
    #[default]
    Bytes,
    /// Whole segments, rounded down, as in BSD, Linux and ns-2.
    Segments,
}

/// Growth in congestion avoidance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Avoidance {
    /// `SMSS * SMSS / cwnd` for every acknowledgment (RFC 5681 equation 3).
    #[default]
    Formula,
    /// One segment for every window acknowledged, counted in bytes (RFC 3465 section 2.1).
    ByteCounting,
}

/// The window when fast recovery ends (RFC 6582 section 3.2 step 3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FullAck {
    /// `min(ssthresh, max(FlightSize, SMSS) + SMSS)`; Reno, which has no such rule, takes
    /// `ssthresh`.
    #[default]
    FlightSize,
    /// `ssthresh`.
    Ssthresh,
    /// What the window was halved to, not rounded; and it grows for the acknowledgment that ends
    /// fast recovery as for any other, as in ns-2.
    Halved,
}

/// What duplicate acknowledgments do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecoveryConfig {
    /// Which algorithm.
    pub algorithm: Algorithm,
    /// How many duplicate acknowledgments mean a loss (RFC 5681: 3).
    pub dupthresh: u32,
    /// Limited transmit (RFC 3042).
    pub limited_transmit: bool,
    /// When a timeout forbids fast retransmits to Tahoe, Reno and NewReno.
    pub bugfix: Bugfix,
    /// Knobs of NewReno.
    pub newreno: NewRenoConfig,
    /// Knobs of SACK recovery.
    pub sack: SackConfig,
    /// Early retransmit (RFC 5827): with less than four segments outstanding and nothing new to
    /// send, one duplicate acknowledgment less than there are segments is enough.
    pub early_retransmit: bool,
    /// How the window comes down in fast recovery.
    pub reduction: Reduction,
    /// Does a fast retransmit leave SND.NXT where go-back-N had it, so that each further duplicate
    /// acknowledgment sends more of the window again? So it is in BSD (`tcp_input`: `onxt`), which
    /// Gurtov (2001, section 5.2) calls a fault of FreeBSD 4.1.
    pub go_back_n_on_duplicates: bool,
}

/// The loss recovery algorithm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Algorithm {
    /// Tahoe (Jacobson 1988): no fast recovery.
    Tahoe,
    /// Reno (RFC 5681 section 3.2).
    Reno,
    /// NewReno (RFC 2582, 6582).
    NewReno,
    /// SACK-based recovery (RFC 3517, 6675).
    #[default]
    Sack,
}

/// Knobs of NewReno.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NewRenoConfig {
    /// How the timer runs while partial acknowledgments come.
    pub timer: PartialAckTimer,
    /// What a partial acknowledgment lets out.
    pub partial_ack: PartialAck,
}

/// The "bugfix" of RFC 2582 section 3 against multiple fast retransmits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bugfix {
    /// None: duplicate acknowledgments always count.
    None,
    /// Fast retransmit when the acknowledgment covers `recover`, equality included.
    LessCareful,
    /// Fast retransmit only when it covers more than `recover`.
    #[default]
    Careful,
    /// As careful, but where the last new acknowledgment advanced by four segments at most, what was
    /// retransmitted was not all needless: fast retransmit (RFC 6582 section 4.1).
    AckHeuristic,
    /// As careful, but where the last new acknowledgment echoed the timestamp of the last sending of
    /// what it acknowledged, that retransmission was not needless: fast retransmit (RFC 6582 section
    /// 4.2).
    TimestampHeuristic,
}

/// RFC 6582 section 4: which partial acknowledgments restart the timer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PartialAckTimer {
    /// The first one of a recovery.
    #[default]
    Impatient,
    /// Every one.
    SlowButSteady,
}

/// Knobs of SACK recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackConfig {
    /// Which RFC's rules.
    pub rules: SackRules,
    /// What counts as outstanding against the window in recovery.
    pub outstanding: Outstanding,
    /// What a timeout does to the scoreboard.
    pub on_timeout: SackOnTimeout,
}

/// Which RFC's rules SACK recovery follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SackRules {
    /// RFC 3517.
    Rfc3517,
    /// RFC 6675: entry also by IsLost, stricter IsLost, rescue retransmission.
    #[default]
    Rfc6675,
}

/// What counts as outstanding against the window in SACK recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Outstanding {
    /// The pipe of the RFCs: neither SACKed nor lost, plus what was retransmitted.
    #[default]
    Pipe,
    /// All that is outstanding less what is SACKed: lost segments stay counted.
    Classic,
}

/// What becomes of `recover` once a timeout is found spurious.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RecoverOnUndo {
    /// It is ignored from then on: duplicate acknowledgments may start a fast retransmit.
    #[default]
    Reset,
    /// It stays: no fast retransmit until it is passed.
    Keep,
    /// It is ignored, but so is one duplicate acknowledgment for each retransmission that was made:
    /// the receiver answers each of them with one.
    Discount,
}

impl Default for Config {
    /// What the RFCs in force recommend.
    fn default() -> Self {
        Self {
            mss: 1460,
            window_scale: None,
            timestamps: false,
            timestamp: TimestampConfig {
                tick: Duration::from_millis(1),
                in_mss: true,
                echo: EchoRule::default(),
            },
            sack: true,
            dsack: false,
            rto: RtoConfig {
                srtt_gain: 8,
                rttvar_gain: 4,
                k: 4,
                granularity: Duration::ZERO,
                floor: RtoFloor::Total(Duration::from_secs(1)),
                max: Duration::from_secs(60),
                initial: Duration::from_secs(1),
                arithmetic: Arithmetic::default(),
                sampling: Sampling::default(),
                sample_handshake: true,
                restart_on_retransmit: false,
                restart_on_duplicate: RestartOnDuplicate::default(),
                history: History::default(),
                forget_after: None,
                timer: TimerClock::default(),
            },
            window: WindowConfig {
                initial: InitialWindow::Rfc6928,
                initial_ssthresh: None,
                halves: Halves::default(),
                halving: Halving::default(),
                repeated_timeout: RepeatedTimeout::default(),
                avoidance: Avoidance::default(),
                full_ack: FullAck::default(),
                max_burst: None,
                slow_start: SlowStart::default(),
                idle_restart: IdleRestart::default(),
                overrun: 0,
            },
            recovery: RecoveryConfig {
                algorithm: Algorithm::default(),
                dupthresh: 3,
                limited_transmit: true,
                bugfix: Bugfix::default(),
                newreno: NewRenoConfig::default(),
                sack: SackConfig::default(),
                early_retransmit: false,
                reduction: Reduction::default(),
                go_back_n_on_duplicates: false,
            },
            frto: None,
            recover_on_undo: RecoverOnUndo::default(),
            receiver: ReceiverConfig {
                buffer: 65_535,
                ack_every: 2,
                delayed_ack: Duration::from_millis(200),
                rxt_echo: true,
                ack_delay: AckDelay::default(),
                ack_counts: AckCounts::default(),
                quick_acks: 0,
                ack_pushed_at_once: false,
                gap_fill: GapFill::default(),
                max_sack_blocks: 4,
                delayed_dupacks: None,
                dsack_old: false,
            },
            msl: Duration::from_secs(120),
            push: false,
            detectors: Detectors::default(),
            dualrtt: DualRttConfig::default(),
            response: None,
        }
    }
}
