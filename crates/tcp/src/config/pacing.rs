//! Knobs of pacing: when the segments leave that the windows allow.

use rtolab_settings::{Choice, IntegerRange, Settings};

/// Pacing. BBR sets the rate itself; for other congestion controls it follows the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
pub struct PacingConfig {
    /// What sets the pacing rate of a congestion control that sets none itself.
    pub rate: PacingRate,
    /// The rate in slow start, in percent of a window each round trip (Linux:
    /// `tcp_pacing_ss_ratio`).
    #[setting(format = IntegerRange<1, 1000>, default = 200)]
    pub ss_ratio: u32,
    /// The rate above half of the slow-start threshold, in percent of a window each round trip
    /// (Linux: `tcp_pacing_ca_ratio`).
    #[setting(format = IntegerRange<1, 1000>, default = 120)]
    pub ca_ratio: u32,
    /// The number of segments at the start of a connection that do not delay the next (Linux:
    /// `tcp_update_skb_after_send`).
    #[setting(format = IntegerRange<0, 1000>, default = 9)]
    pub unpaced: u32,
    /// The segments that leave back to back.
    pub quantum: PacingQuantum,
}

/// What sets the pacing rate of a congestion control that sets none itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum PacingRate {
    /// Nothing: segments leave as soon as the windows allow.
    #[default]
    Off,
    /// A multiple of the window each round trip, as `sch_fq` has it from Linux
    /// (`tcp_update_pacing_rate`).
    Window,
}

/// The segments that leave back to back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum PacingQuantum {
    /// One.
    #[default]
    Segment,
    /// What leaves within a millisecond at the pacing rate, more with short round trips, at least
    /// two segments: a host with segmentation offload (Linux: `tcp_tso_autosize`).
    Autosized,
}
