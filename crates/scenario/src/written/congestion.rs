//! Congestion control of the sending hosts.

use rtolab_tcp::config::{Control, CubicGrowth, CubicUndo, SlowStartExit};
use schemars::JsonSchema;
use serde::Deserialize;

use super::value::{Chance, Written};
use super::words::Word;

/// How the window grows beyond slow start, and how far it is cut.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Congestion {
    /// Which congestion control. Default: reno.
    pub control: Option<Written<Control>>,
    /// What ends slow start, beside ssthresh and a loss. Default: loss.
    pub slow_start_exit: Option<Written<SlowStartExit>>,
}

/// Knobs of CUBIC (RFC 9438).
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Cubic {
    /// What a loss leaves of the window (section 4.6). Default: 0.7.
    pub beta: Option<Chance>,
    /// Does a window that is cut below its last maximum give way to newer flows (section 4.7)?
    /// Default: true.
    pub fast_convergence: Option<bool>,
    /// Is the window never below that of a Reno that is cut as little (section 4.3)? Default: true.
    pub reno_friendly: Option<bool>,
    /// What comes back with the windows when a cut was wrong. Default: rfc9438.
    pub undo: Option<Written<CubicUndo>>,
    /// How the curve is followed. Default: rfc9438.
    pub growth: Option<Written<CubicGrowth>>,
}

impl Word for Control {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("reno", Self::Reno, "By a segment a round trip, and cut by half (RFC 5681)."),
        ("cubic", Self::Cubic, "By a cubic function of time, and cut by 3/10 (RFC 9438)."),
        ("none", Self::None, "Not at all: only the offered window limits, as in smoltcp."),
    ];
}

impl Word for SlowStartExit {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("loss", Self::Loss, "Nothing (RFC 5681)."),
        ("hystart++", Self::HyStartPlusPlus, "A lasting rise of round trips (RFC 9406)."),
        ("hystart", Self::HyStart, "A rise of round trips, or a train of ACKs, as in Linux."),
    ];
}

impl Word for CubicGrowth {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("rfc9438", Self::Rfc9438, "At every acknowledgment, by a part of a segment."),
        ("linux", Self::Linux, "By whole segments, as often as the curve says now and then."),
    ];
}

impl Word for CubicUndo {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("rfc9438", Self::Rfc9438, "The curve, unless the window has outgrown the cut."),
        ("linux", Self::Linux, "Nothing: the false maximum stays, and a new curve begins."),
    ];
}
