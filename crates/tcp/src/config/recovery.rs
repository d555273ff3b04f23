//! Knobs of loss recovery.

use rtolab_settings::{Choice, IntegerRange, PositiveCount, Settings};

use super::{RackConfig, Rfc9002Config};

/// What duplicate acknowledgments do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
pub struct RecoveryConfig {
    /// Which algorithm.
    #[setting(skip)]
    pub algorithm: Algorithm,
    /// The number of duplicate acknowledgments that indicate a loss (RFC 5681: 3).
    #[setting(format = PositiveCount, default = 3)]
    pub dupthresh: u32,
    /// By how much each fast retransmit that is found spurious raises `dupthresh`, until the timer
    /// expires (Blanton and Allman 2002). Not with RACK, which adapts its reordering window.
    #[setting(format = IntegerRange<0, 1000>)]
    pub dupthresh_increment: u32,
    /// Limited transmit (RFC 3042).
    #[setting(default = true)]
    pub limited_transmit: bool,
    /// When a timeout prevents fast retransmits (Tahoe, Reno, NewReno, and the SACK recovery of
    /// ns-2).
    pub bugfix: Bugfix,
    /// Knobs of NewReno.
    #[setting(skip)]
    pub newreno: NewRenoConfig,
    /// Knobs of SACK recovery.
    #[setting(skip)]
    pub sack: SackConfig,
    /// Knobs of RACK-TLP.
    #[setting(skip)]
    pub rack: RackConfig,
    /// Knobs of the loss recovery of QUIC.
    #[setting(skip)]
    pub rfc9002: Rfc9002Config,
    /// Early retransmit (RFC 5827): with fewer than four outstanding segments and no new data, one
    /// duplicate acknowledgment fewer than segments is enough.
    pub early_retransmit: bool,
    /// How the window is reduced in fast recovery.
    pub reduction: Reduction,
    /// Does a fast retransmit leave SND.NXT where go-back-N set it, so that each further duplicate
    /// acknowledgment retransmits more of the window? BSD does (`tcp_input`: `onxt`); Gurtov (2001,
    /// section 5.2) calls it a fault of FreeBSD 4.1.
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
    /// By time: RACK (RFC 8985), with SACK. It keeps the scoreboard at a timeout.
    Rack,
    /// By packets and time, with probe timeouts: QUIC (RFC 9002), with SACK.
    Rfc9002,
}

impl Algorithm {
    /// Does it need SACK?
    pub(crate) const fn needs_sack(self) -> bool {
        matches!(self, Self::Sack | Self::Rack | Self::Rfc9002)
    }

    /// Does it detect losses by time?
    pub(crate) const fn is_time_based(self) -> bool {
        matches!(self, Self::Rack | Self::Rfc9002)
    }
}

/// Knobs of NewReno.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
pub struct NewRenoConfig {
    /// How the timer runs while partial acknowledgments come.
    pub timer: PartialAckTimer,
    /// What the sender may send on a partial acknowledgment.
    pub partial_ack: PartialAck,
}

/// The "bugfix" of RFC 2582 section 3 against multiple fast retransmits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum Bugfix {
    /// Duplicate acknowledgments always count.
    None,
    /// Fast retransmit if the acknowledgment covers `recover`, equality included.
    LessCareful,
    /// Fast retransmit only if it covers more than `recover`.
    #[default]
    Careful,
    /// As careful; but if the last new acknowledgment advanced by at most four segments, not all
    /// retransmissions were unneeded: fast retransmit (RFC 6582 section 4.1).
    AckHeuristic,
    /// As careful; but if the last new acknowledgment echoed the timestamp of the last
    /// retransmission of its data, that one was needed: fast retransmit (RFC 6582 section 4.2).
    TimestampHeuristic,
}

/// RFC 6582 section 4: which partial acknowledgments restart the timer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum PartialAckTimer {
    /// The first one of a recovery.
    #[default]
    Impatient,
    /// Every one.
    SlowButSteady,
}

/// Knobs of SACK recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
pub struct SackConfig {
    /// Which rules.
    pub rules: SackRules,
    /// Which data counts against the window in recovery.
    pub outstanding: Outstanding,
    /// What a timeout does to the scoreboard (SACKed segments).
    pub on_timeout: SackOnTimeout,
}

/// The rules of SACK recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum SackRules {
    /// RFC 3517.
    Rfc3517,
    /// RFC 6675: entry also by IsLost, stricter IsLost, rescue retransmission.
    #[default]
    Rfc6675,
    /// Sack1 of ns-2: a pipe counted by acknowledgments, and no IsLost.
    Ns2,
}

/// Which data counts against the window in SACK recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum Outstanding {
    /// The pipe of the RFCs: data neither SACKed nor lost, plus retransmitted data.
    #[default]
    Pipe,
    /// All outstanding data except SACKed data; lost segments still count.
    Classic,
}

/// What happens to `recover` once a timeout is found spurious.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum RecoverOnUndo {
    /// It is ignored from then on: duplicate acknowledgments may start a fast retransmit.
    #[default]
    Reset,
    /// It stays: no fast retransmit until it is passed.
    Keep,
    /// It is ignored, and so is one duplicate acknowledgment for each retransmission, because the
    /// receiver answers each with one.
    Discount,
}

/// What the sender may send on a partial acknowledgment of NewReno.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum PartialAck {
    /// The next hole, and new segments if the window has room (RFC 6582 section 3.2 step 3).
    #[default]
    AlsoNew,
    /// The next hole alone (Gurtov 2001, footnote 2).
    RetransmissionOnly,
}

/// What a timeout does to the scoreboard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum SackOnTimeout {
    /// It is cleared (RFC 2018 section 8).
    #[default]
    Clear,
    /// It stays, unless the head itself was SACKed, which shows that the receiver reneged, as in
    /// Linux.
    Keep,
}

/// How the window is reduced to `ssthresh` in fast recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum Reduction {
    /// At once (RFC 5681 section 3.2).
    #[default]
    AtOnce,
    /// By one segment for every second acknowledgment, so that new segments are sent evenly (rate
    /// halving; Linux 2.4, `tcp_cwnd_down`).
    RateHalving,
    /// In proportion to the delivered data (PRR), which SACK reports: for SACK recovery except that
    /// of ns-2, and for RACK. For others at once.
    #[choice("prr", Self::Prr(PrrBound::Rfc9937))]
    #[choice("prr:crb", Self::Prr(PrrBound::Crb), "As `prr`, with RFC 6937's conservative bound.")]
    #[choice("prr:ssrb", Self::Prr(PrrBound::Ssrb), "As `prr`, with RFC 6937's slow-start bound.")]
    Prr(PrrBound),
}

/// The bound on the data sent while less than `ssthresh` is outstanding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PrrBound {
    /// As much as was delivered: the conservative reduction bound (RFC 6937 section 3).
    Crb,
    /// One segment more with every acknowledgment: the slow-start reduction bound (RFC 6937 section
    /// 3).
    Ssrb,
    /// The conservative bound, and the other one if an acknowledgment advances SND.UNA and shows no
    /// further loss (RFC 9937 section 6).
    #[default]
    Rfc9937,
    /// As RFC 9937, but relative to the whole window instead of the flight (`tcp_cwnd_reduction` of
    /// Linux: `prior_cwnd`).
    Linux,
}
