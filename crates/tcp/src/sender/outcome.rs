//! The outcome of spurious-retransmission detection for an acknowledgment.

/// The effect of the detectors and F-RTO on the processing of an acknowledgment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DetectionOutcome {
    /// None.
    None,
    /// F-RTO has set cwnd: loss recovery and growth do not change it.
    FrtoAdvised,
    /// The episode was spurious and the response has set the windows: they do not grow.
    Restored,
    /// The episode was spurious, and the window may grow for this acknowledgment.
    Resumed,
}

impl DetectionOutcome {
    /// Must loss recovery and growth leave cwnd unchanged?
    pub(super) const fn freezes_cwnd(self) -> bool {
        matches!(self, Self::FrtoAdvised | Self::Restored)
    }

    /// Does the episode end with this acknowledgment?
    pub(super) const fn ends_episode(self) -> bool {
        matches!(self, Self::Restored | Self::Resumed)
    }
}
