//! Knobs of congestion control: how the window grows beyond slow start, how far it is cut, and when
//! slow start ends.

use rtolab_settings::{Choice, Settings, Thousandths};

/// The congestion control algorithm and its settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
pub struct CongestionConfig {
    /// How the window grows in congestion avoidance, and how far a loss reduces it.
    pub control: CongestionAlgorithm,
    /// Knobs of CUBIC.
    #[setting(skip)]
    pub cubic: CubicConfig,
    /// What ends slow start, besides the threshold and a loss.
    pub slow_start_exit: SlowStartExit,
}

/// How the window grows in congestion avoidance, and how far a loss reduces it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum CongestionAlgorithm {
    /// By a segment a round trip, and by half (RFC 5681).
    #[default]
    Reno,
    /// By a model of the path, from the rates at which it delivers and its smallest round trip; it
    /// also paces. Version 1 (Linux, `tcp_bbr.c`).
    Bbr,
    /// The same by version 3, which also heeds losses (draft-ietf-ccwg-bbr-06).
    Bbr3,
    /// By a cubic function of the time since the last reduction, and by three tenths (RFC 9438).
    Cubic,
    /// Not at all: only the advertised window limits the outstanding data, as in stacks without
    /// congestion control (smoltcp).
    None,
}

/// Knobs of CUBIC (RFC 9438).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
pub struct CubicConfig {
    /// The part of the window that remains after a loss (`beta_cubic`, section 4.6).
    ///
    /// In thousandths.
    #[setting(format = Thousandths, default = 700)]
    pub beta: u32,
    /// If a loss comes before the window is back at its last maximum, is the next maximum lower
    /// still, so that newer flows find room (section 4.7)?
    #[setting(default = true)]
    pub fast_convergence: bool,
    /// Is the window never below that of a Reno with the same reduction (section 4.3)?
    #[setting(default = true)]
    pub reno_friendly: bool,
    /// What is restored with the windows when a reduction was spurious.
    pub undo: CubicUndo,
    /// How the window follows the curve.
    pub growth: CubicGrowth,
}

/// How the window follows the curve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum CubicGrowth {
    /// On every acknowledgment, by a part of a segment (RFC 9438 section 4.4).
    #[default]
    Rfc9438,
    /// By whole segments; the curve is evaluated 32 times a second. Before the first loss by at
    /// least one segment for twenty acknowledged ones (`bictcp_update`).
    Linux,
}

/// What is restored with the windows when a reduction was spurious.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum CubicUndo {
    /// The curve: its maximum, its start and Reno's window. If the window has outgrown its previous
    /// value, nothing is restored, not even the windows (RFC 9438 section 4.9.2).
    #[default]
    Rfc9438,
    /// Nothing: the wrong maximum stays, and a new curve begins (`tcp_cubic.c`, which uses the
    /// `undo_cwnd` of Reno).
    Linux,
}

/// What ends slow start, besides the threshold and a loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum SlowStartExit {
    /// Nothing (RFC 5681).
    #[default]
    Loss,
    /// `HyStart++`: round trips grow, also through five rounds of slower growth (RFC 9406).
    #[choice("hystart++")]
    HyStartPlusPlus,
    /// The older `HyStart` of Linux: round trips grow, or a train of acknowledgments is half as
    /// long as the smallest round trip (Ha and Rhee 2011, as `tcp_cubic.c` has it).
    #[choice("hystart")]
    HyStart,
}
