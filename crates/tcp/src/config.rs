//! Every knob of a TCP endpoint: data, never a branch on a name.

mod congestion;
mod connection;
mod rack;
mod receiver;
mod recovery;
mod rto;
mod spurious;
mod window;

use rtolab_time::Duration;

use crate::response;

pub use crate::spurious::FrtoVariant;
pub use congestion::{
    CongestionConfig, Control, CubicConfig, CubicGrowth, CubicUndo, SlowStartExit,
};
pub use connection::{
    AfterClose, ChallengeConfig, ConnectionConfig, GiveUp, Handshake, KeepAlive, Limits, Nagle,
    OldAcks, Secret, TimeWaitReset,
};
pub use rack::{RackConfig, RackRoundTrip, RackRules, RackThreshold, ReorderingWindow};
pub use receiver::{AckCounts, AckDelay, GapFill, Lie, ReceiverConfig, RepeatedSyn, RxtAnswer};
pub use recovery::{
    Algorithm, Bugfix, NewRenoConfig, Outstanding, PartialAck, PartialAckTimer, PrrBound,
    RecoverOnUndo, RecoveryConfig, Reduction, SackConfig, SackOnTimeout, SackRules,
};
pub use rto::{
    Arithmetic, History, Parity, RestartFrom, RestartOnDuplicate, Restarts, RtoConfig, RtoFloor,
    Sampling, TimerClock,
};
pub use spurious::{
    Detectors, DsackForm, DualRttConfig, EifelForm, FirstAck, KnownPath, Logarithm, PathFact,
    Response, Threshold, WindowLimited,
};
pub use window::{
    AfterSyn, Avoidance, FullAck, Halves, Halving, IdleRestart, InitialWindow, RepeatedTimeout,
    SlowStart, Validation, WindowConfig,
};

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
    /// Explicit congestion notification is offered, or accepted when the peer offers it (RFC 3168).
    pub ecn: bool,
    /// The retransmission timeout.
    pub rto: RtoConfig,
    /// How the congestion window starts and grows.
    pub window: WindowConfig,
    /// Which congestion control.
    pub congestion: CongestionConfig,
    /// What duplicate acknowledgments do.
    pub recovery: RecoveryConfig,
    /// F-RTO after a timeout, and whose.
    pub frto: Option<FrtoVariant>,
    /// What F-RTO does where it has no new segments to send.
    pub frto_window_limited: WindowLimited,
    /// What becomes of `recover` (the report's `send_high`) once a timeout is found spurious.
    pub recover_on_undo: RecoverOnUndo,
    /// The receiving side.
    pub receiver: ReceiverConfig,
    /// How a connection is kept, given up and guarded.
    pub connection: ConnectionConfig,
    /// Is a small segment held back while data are outstanding?
    pub nagle: Nagle,
    /// The key of the initial sequence numbers, for a host that chooses them: see
    /// [`Side::chosen`](crate::wire::Side::chosen).
    pub secret: Secret,
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
    /// What stands in its place: a response that no table lists.
    pub responder: Option<response::Prototype>,
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
    /// As RFC 7323, but of duplicates only those are left out that end below the last
    /// acknowledgment number sent (`tcp_sequence`, which goes by `rcv_wup`).
    Linux,
    /// After trimming, and by the end, too: of duplicates that is echoed which ends at the last
    /// acknowledgment number. So it is in later FreeBSD; FreeBSD 4 does not ask for the end, and
    /// echoes all duplicates below that number, as [`Self::Ns2bis`].
    Bsd,
    /// The default of ns-2: any segment at or below the last acknowledgment number, duplicates too.
    Ns2bis,
    /// Always (footnote 3 of the F-RTO report).
    EchoAll,
}

impl Config {
    /// Does loss recovery know of every acknowledgment how much it reports as delivered?
    pub(crate) fn tells_delivered(&self) -> bool {
        match self.recovery.algorithm {
            Algorithm::Rack => true,
            Algorithm::Sack => self.recovery.sack.rules != SackRules::Ns2,
            Algorithm::Tahoe | Algorithm::Reno | Algorithm::NewReno => false,
        }
    }
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
            ecn: false,
            rto: RtoConfig {
                srtt_gain: 8,
                rttvar_gain: 4,
                k: 4,
                granularity: Duration::ZERO,
                floor: RtoFloor::Total(Duration::from_secs(1)),
                max: Duration::from_secs(60),
                slop: Duration::ZERO,
                initial: Duration::from_secs(1),
                arithmetic: Arithmetic::default(),
                sampling: Sampling::default(),
                sample_handshake: true,
                restart_on_retransmit: false,
                restart_on_duplicate: RestartOnDuplicate::default(),
                restart_from: RestartFrom::default(),
                restarts: Restarts::default(),
                history: History::default(),
                forget_after: None,
                timer: TimerClock::default(),
            },
            window: WindowConfig {
                initial: InitialWindow::Rfc6928,
                after_syn: AfterSyn::default(),
                initial_ssthresh: None,
                halves: Halves::default(),
                halving: Halving::default(),
                repeated_timeout: RepeatedTimeout::default(),
                avoidance: Avoidance::default(),
                full_ack: FullAck::default(),
                max_burst: None,
                slow_start: SlowStart::default(),
                idle_restart: IdleRestart::default(),
                validation: Validation::default(),
                overrun: 0,
            },
            congestion: CongestionConfig::default(),
            recovery: RecoveryConfig {
                algorithm: Algorithm::default(),
                dupthresh: 3,
                limited_transmit: true,
                bugfix: Bugfix::default(),
                newreno: NewRenoConfig::default(),
                sack: SackConfig::default(),
                rack: RackConfig::default(),
                early_retransmit: false,
                reduction: Reduction::default(),
                go_back_n_on_duplicates: false,
            },
            frto: None,
            frto_window_limited: WindowLimited::default(),
            recover_on_undo: RecoverOnUndo::default(),
            receiver: ReceiverConfig {
                buffer: 65_535,
                ack_every: 2,
                delayed_ack: Duration::from_millis(200),
                rxt_echo: true,
                rxt_answer: RxtAnswer::default(),
                ack_delay: AckDelay::default(),
                ack_counts: AckCounts::default(),
                quick_acks: 0,
                ack_pushed_at_once: false,
                gap_fill: GapFill::default(),
                max_sack_blocks: 4,
                delayed_dupacks: None,
                dsack_old: false,
                repeated_syn: RepeatedSyn::default(),
                lie: None,
            },
            connection: ConnectionConfig::default(),
            nagle: Nagle::default(),
            secret: Secret::default(),
            msl: Duration::from_secs(120),
            push: false,
            detectors: Detectors::default(),
            dualrtt: DualRttConfig::default(),
            response: None,
            responder: None,
        }
    }
}
