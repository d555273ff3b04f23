//! Knobs of congestion control: how the window grows beyond slow start, how far it is cut, and when
//! slow start ends.

use rtolab_settings::{Choice, Settings, Thousandths};

pub use crate::congestion::CongestionAlgorithm;

/// Which congestion control, and its knobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
pub struct CongestionConfig {
    /// How the window grows in congestion avoidance, and how far a loss cuts it.
    pub control: CongestionAlgorithm,
    /// Knobs of CUBIC.
    #[setting(skip)]
    pub cubic: CubicConfig,
    /// What ends slow start, beside the threshold and a loss.
    pub slow_start_exit: SlowStartExit,
}

/// Knobs of CUBIC (RFC 9438).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
pub struct CubicConfig {
    /// What a loss leaves of the window (`beta_cubic`, section 4.6).
    ///
    /// In thousandths.
    #[setting(format = Thousandths, default = 700)]
    pub beta: u32,
    /// Where the window is cut before it is back at its last maximum, the next maximum is lower
    /// still, so that newer flows find room (section 4.7).
    #[setting(default = true)]
    pub fast_convergence: bool,
    /// The window is never below that of a Reno that is cut as little (section 4.3).
    #[setting(default = true)]
    pub reno_friendly: bool,
    /// What comes back with the windows when a cut was wrong.
    pub undo: CubicUndo,
    /// How the curve is followed.
    pub growth: CubicGrowth,
}

/// How the curve is followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum CubicGrowth {
    /// At every acknowledgment, by a part of a segment (RFC 9438 section 4.4).
    #[default]
    Rfc9438,
    /// By whole segments, as often as the curve says that is looked at 32 times a second; before the
    /// first loss by one for twenty at least (`bictcp_update`).
    Linux,
}

/// What comes back with the windows when a cut was wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum CubicUndo {
    /// The curve: its maximum, its beginning and the window of Reno's; but nothing, not the windows
    /// either, where the window has outgrown what it was (RFC 9438 section 4.9.2).
    #[default]
    Rfc9438,
    /// Nothing: the false maximum stays, and a new curve begins (`tcp_cubic.c`, which has the
    /// `undo_cwnd` of Reno).
    Linux,
}

/// What ends slow start, beside the threshold and a loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum SlowStartExit {
    /// Nothing (RFC 5681).
    #[default]
    Loss,
    /// `HyStart++`: round trips grow, also through five rounds of slower growth (RFC 9406).
    #[choice("hystart++")]
    HyStartPlusPlus,
    /// The older `HyStart` of Linux: round trips grow, or a train of acknowledgments is half as long
    /// as the smallest round trip (Ha and Rhee 2011, as `tcp_cubic.c` has it).
    #[choice("hystart")]
    HyStart,
}
