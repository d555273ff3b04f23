//! The settings of a TCP endpoint.

mod backoff;
mod congestion;
mod connection;
mod pacing;
mod rack;
mod receiver;
mod recovery;
mod rfc9002;
mod rto;
mod spurious;
mod window;

use rtolab_settings::{Choice, IntegerRange, Mss, Positive, Settings};
use rtolab_time::Duration;

use crate::response::CustomResponse;
use crate::segment::MAX_WINDOW_SHIFT;
use crate::spurious::{DetectorId, Requirement};

pub use crate::response::Response;
pub use crate::spurious::{
    DualRttConfig, FirstAck, FrtoVariant, KnownPath, Logarithm, PathParameter, Threshold,
};
pub use backoff::{BackoffConfig, BackoffEnd, LinearFor, OnPathChange, OnUnreachable};
pub use congestion::{
    CongestionAlgorithm, CongestionConfig, CubicConfig, CubicGrowth, CubicUndo, SlowStartExit,
};
pub use connection::{
    AfterClose, ChallengeConfig, ConnectionConfig, EcnFallback, GiveUp, Handshake, InWindow,
    KeepAlive, Limits, MaxWindow, Nagle, Secret, TimeWaitReset,
};
pub use pacing::{PacingConfig, PacingQuantum, PacingRate};
pub use rack::{RackConfig, RackRoundTrip, RackRules, RackThreshold, ReorderingWindow};
pub use receiver::{
    AckCounts, AckDelay, AckRules, FalseReport, GapFill, OldAcks, ReceiverConfig, RepeatedSyn,
    RxtAnswer, WindowIncrease,
};
pub use recovery::{
    Algorithm, Bugfix, NewRenoConfig, Outstanding, PartialAck, PartialAckTimer, PrrBound,
    RecoverOnUndo, RecoveryConfig, Reduction, SackConfig, SackOnTimeout, SackRules,
};
pub use rfc9002::{AdaptiveThresholds, Rfc9002Config, UndoRule};
pub use rto::{
    Arithmetic, History, Parity, RestartFrom, RestartOnDuplicate, Restarts, RtoConfig, RtoFloor,
    Sampling, TimerClock,
};
pub use spurious::{Detectors, WindowLimited};
pub use window::{
    AfterSyn, CongestionAvoidance, FullAck, HalvedQuantity, Halving, IdleRestart, InitialWindow,
    LossWindow, RepeatedTimeout, SlowStart, Validation, WindowConfig,
};

/// How an endpoint behaves. Defaults are what the RFCs in force recommend.
#[derive(Clone, Debug, PartialEq, Eq, Settings)]
pub struct Config {
    /// The largest segment, in bytes of payload, announced and sent (RFC 9293 section 3.7.1).
    #[setting(format = Mss, default = 1460, example = "256 B")]
    pub mss: u16,
    /// The window scale offered (RFC 7323 section 2); `None` offers no scaling.
    #[setting(format = IntegerRange<0, 14>)]
    pub window_scale: Option<u8>,
    /// Timestamps are offered, or accepted when the peer offers them.
    pub timestamps: bool,
    /// How the timestamp clock ticks and what is echoed.
    #[setting(table)]
    pub timestamp: TimestampConfig,
    /// SACK is offered, or accepted when the peer offers it (RFC 2018).
    #[setting(skip, default = true)]
    pub sack: bool,
    /// Duplicates are reported by D-SACK where SACK is in use (RFC 2883).
    #[setting(skip)]
    pub dsack: bool,
    /// Explicit congestion notification is offered, or accepted when the peer offers it (RFC 3168).
    pub ecn: bool,
    /// Does the window stay as it is at a fast retransmit if the duplicate acknowledgment says that
    /// the wireless link lost the segment (explicit loss notification, the scheme ELN of
    /// Balakrishnan, Padmanabhan, Seshan and Katz 1997)?
    pub eln: bool,
    /// The retransmission timeout.
    #[setting(table)]
    pub rto: RtoConfig,
    /// How the retransmission timeout grows while nothing is acknowledged.
    #[setting(table)]
    pub backoff: BackoffConfig,
    /// How the congestion window starts and grows.
    #[setting(table)]
    pub window: WindowConfig,
    /// Congestion control.
    #[setting(table, tables(cubic))]
    pub congestion: CongestionConfig,
    /// Pacing.
    #[setting(table)]
    pub pacing: PacingConfig,
    /// Loss recovery.
    #[setting(table, tables(newreno, sack_recovery = sack, rack, rfc9002))]
    pub recovery: RecoveryConfig,
    /// The variant of F-RTO after a timeout; `None`: no F-RTO.
    #[setting(skip)]
    pub frto: Option<FrtoVariant>,
    /// What F-RTO does without new segments to send.
    pub frto_window_limited: WindowLimited,
    /// The effect of a spurious timeout on `recover` (`send_high` of the report).
    pub recover_on_undo: RecoverOnUndo,
    /// The receiving side.
    #[setting(skip)]
    pub receiver: ReceiverConfig,
    /// Keep-alive, limits of retransmission, and protection of the connection.
    #[setting(tables(keep_alive, give_up = limits))]
    pub connection: ConnectionConfig,
    /// Is a small segment held back while data are outstanding?
    pub nagle: Nagle,
    /// The key of the initial sequence numbers, for a host that chooses them: see
    /// [`Side::chosen`](crate::wire::Side::chosen).
    #[setting(skip)]
    pub secret: Secret,
    /// The maximum segment lifetime; TIME-WAIT lasts twice as long (RFC 9293 section 3.4.2).
    #[setting(skip, default = Duration::from_secs(120))]
    pub msl: Duration,
    /// Does the segment that empties the send buffer carry PSH, as RFC 9293 section 3.9.1.2 has it
    /// where an application cannot push? Only a receiver that uses PSH
    /// ([`ReceiverConfig::ack_pushed_at_once`]) then behaves differently.
    pub push: bool,
    /// Does PSH also mark each half of the largest window in data that is written at once (Linux,
    /// `forced_push`)?
    #[setting(skip)]
    pub forced_push: bool,
    /// Does a last segment wait until the window has room for its FIN, too (Linux,
    /// `tcp_snd_wnd_test`)?
    #[setting(skip)]
    pub fin_waits_for_window: bool,
    /// Does the option that permits SACK take the place of the padding of timestamps in a SYN
    /// (Linux, `tcp_options_write`)?
    #[setting(skip)]
    pub compact_syn: bool,
    /// The other detectors of spurious retransmissions that the sender acts on.
    #[setting(skip)]
    pub detectors: Detectors,
    /// Knobs of DualRTT.
    #[setting(table)]
    pub dualrtt: DualRttConfig,
    /// What a spurious timeout or fast retransmit restores; `None`: as in the detector's own
    /// publication.
    #[setting(open, unset = "what the publication of the detector does")]
    pub response: Option<Response>,
    /// A user-defined response, which takes its place.
    #[setting(skip)]
    pub responder: Option<CustomResponse>,
}

/// The timestamps option (RFC 7323).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
pub struct TimestampConfig {
    /// One tick of the timestamp clock.
    #[setting(format = Positive, default = Duration::from_millis(1), example = "10 ms")]
    pub tick: Duration,
    /// The timestamp at the start of the run. Linux takes an echo of 0 for none.
    #[setting(format = IntegerRange<0, { u32::MAX }>, default = 0)]
    pub first: u32,
    /// Do the 12 bytes of the option come out of the MSS, so that the payload shrinks, or does the
    /// packet grow?
    #[setting(default = true)]
    pub in_mss: bool,
    /// Which segments' timestamps are echoed.
    pub echo: EchoRule,
}

impl TimestampConfig {
    /// The tick of the clock. Programs may set 0, which is taken for 1 ns.
    pub(crate) fn clock_tick(&self) -> Duration {
        self.tick.max(Duration::from_nanos(1))
    }
}

/// Which segments' timestamps a receiver echoes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum EchoRule {
    /// RFC 1323 section 3.4: only a segment that spans the last acknowledgment number sent.
    Rfc1323,
    /// RFC 7323 section 4.3, after the window test: a wholly duplicate segment is not echoed.
    #[default]
    Rfc7323,
    /// As RFC 7323, but a duplicate is echoed unless it ends below the last acknowledgment number
    /// sent (`tcp_sequence`, which uses `rcv_wup`).
    Linux,
    /// After trimming, and by the end, too: a duplicate is echoed if it ends at the last
    /// acknowledgment number, as in later FreeBSD. FreeBSD 4 ignores the end and echoes all
    /// duplicates below that number, as [`Self::Ns2bis`].
    Bsd,
    /// The default of ns-2: any segment at or below the last acknowledgment number, duplicates too.
    Ns2bis,
    /// Always (footnote 3 of the F-RTO report).
    EchoAll,
}

impl Config {
    /// The window scale to offer: [`window_scale`](Self::window_scale), or less where its unit
    /// would exceed the receive buffer, because all windows would then be 0.
    pub fn offered_window_scale(&self) -> Option<u8> {
        let whole_units = self.receiver.buffer.checked_ilog2().unwrap_or(0) as u8;
        self.window_scale.map(|shift| shift.min(MAX_WINDOW_SHIFT).min(whole_units))
    }

    /// The sender acts on this detector, if a sender can, and offers the timestamps that it needs.
    pub fn act_on(&mut self, id: DetectorId) {
        self.timestamps |=
            id.acting().is_some_and(|acting| acting.needs == Some(Requirement::Timestamps));
        self.dualrtt.threshold = id.threshold().unwrap_or(self.dualrtt.threshold);
        match id.variant() {
            Some(variant) => self.frto = Some(variant),
            None => self.detectors.add(id),
        }
    }

    /// Does loss recovery know how much each acknowledgment reports as delivered?
    pub(crate) fn counts_delivered(&self) -> bool {
        match self.recovery.algorithm {
            Algorithm::Rack | Algorithm::Rfc9002 => true,
            Algorithm::NewReno => self.recovery.rack.rules == RackRules::Linux,
            Algorithm::Sack => self.recovery.sack.rules != SackRules::Ns2,
            _ => false,
        }
    }
}
