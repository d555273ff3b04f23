//! How far the detectors have settled what an acknowledgment changes.

/// What the detectors and F-RTO have done for an acknowledgment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Settled {
    /// Nothing.
    No,
    /// F-RTO has set the window: loss recovery and growth leave it alone.
    Advised,
    /// A timeout was spurious and the windows are restored: they do not grow besides.
    Restored,
    /// A timeout was spurious, and the window may grow for this acknowledgment.
    Resumed,
}

impl Settled {
    /// Do loss recovery and growth leave the window alone?
    pub(super) const fn freezes(self) -> bool {
        matches!(self, Self::Advised | Self::Restored)
    }

    /// Does the episode end here?
    pub(super) const fn ends(self) -> bool {
        matches!(self, Self::Restored | Self::Resumed)
    }
}
