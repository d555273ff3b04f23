//! Knobs of loss recovery.

use rtolab_settings::{Choice, PositiveCount, Settings};

use super::RackConfig;

/// What duplicate acknowledgments do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
pub struct RecoveryConfig {
    /// Which algorithm.
    #[setting(skip)]
    pub algorithm: Algorithm,
    /// How many duplicate acknowledgments mean a loss (RFC 5681: 3).
    #[setting(format = PositiveCount, default = 3)]
    pub dupthresh: u32,
    /// Limited transmit (RFC 3042).
    #[setting(default = true)]
    pub limited_transmit: bool,
    /// When a timeout forbids fast retransmits to Tahoe, Reno, NewReno and the SACK recovery of ns-2.
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
    /// By time: RACK (RFC 8985), with SACK. It keeps the scoreboard at a timeout.
    Rack,
}

/// Knobs of NewReno.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
pub struct NewRenoConfig {
    /// How the timer runs while partial acknowledgments come.
    pub timer: PartialAckTimer,
    /// What a partial acknowledgment lets out.
    pub partial_ack: PartialAck,
}

/// The "bugfix" of RFC 2582 section 3 against multiple fast retransmits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
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
    /// Whose rules.
    pub rules: SackRules,
    /// What counts as outstanding against the window in recovery.
    pub outstanding: Outstanding,
    /// What a timeout does to the scoreboard.
    pub on_timeout: SackOnTimeout,
}

/// Whose rules SACK recovery follows.
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

/// What counts as outstanding against the window in SACK recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum Outstanding {
    /// The pipe of the RFCs: neither SACKed nor lost, plus what was retransmitted.
    #[default]
    Pipe,
    /// All that is outstanding less what is SACKed: lost segments stay counted.
    Classic,
}

/// What becomes of `recover` once a timeout is found spurious.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
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

/// What the sender may send for a partial acknowledgment of NewReno.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum PartialAck {
    /// The next hole, and new segments if the window has room (RFC 6582 section 3.2 step 3).
    #[default]
    AlsoNew,
    /// The next hole alone (Gurtov 2001, footnote 2).
    RetransmissionOnly,
}

/// What a timeout does to what was selectively acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum SackOnTimeout {
    /// It is forgotten (RFC 2018 section 8).
    #[default]
    Clear,
    /// It stays, unless the head itself was selectively acknowledged, which shows that the receiver
    /// reneged, as in Linux.
    Keep,
}

/// How the window comes down to `ssthresh` in fast recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum Reduction {
    /// At once (RFC 5681 section 3.2).
    #[default]
    AtOnce,
    /// By a segment for every second acknowledgment, so that new segments go out evenly (rate
    /// halving; Linux 2.4, `tcp_cwnd_down`).
    RateHalving,
    /// In proportion to what is delivered (PRR), where SACK tells that: for SACK recovery but that
    /// of ns-2, and for RACK. For others at once.
    #[choice("prr", Self::Prr(PrrBound::Rfc9937))]
    #[choice("prr:crb", Self::Prr(PrrBound::Crb), "As `prr`, with RFC 6937's conservative bound.")]
    #[choice("prr:ssrb", Self::Prr(PrrBound::Ssrb), "As `prr`, with RFC 6937's slow-start bound.")]
    Prr(PrrBound),
}

/// What may leave once less is outstanding than `ssthresh`, and who says so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PrrBound {
    /// No more than was delivered: the conservative reduction bound (RFC 6937 section 3).
    Crb,
    /// A segment more with every acknowledgment: the slow-start reduction bound (RFC 6937 section 3).
    Ssrb,
    /// The conservative bound, and the other one where an acknowledgment advances SND.UNA and shows
    /// no further loss (RFC 9937 section 6).
    #[default]
    Rfc9937,
    /// As RFC 9937, but what might be delivered is the window, whatever of it was in use
    /// (`tcp_cwnd_reduction` of Linux: `prior_cwnd`).
    Linux,
}
