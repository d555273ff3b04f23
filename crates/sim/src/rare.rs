//! Rare events of a run.

/// A quantity whose large values are rare. It never decreases during a run; that of a run is the
/// largest of its flows' senders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RareQuantity {
    /// The largest number of back-offs since the last round-trip sample, at a timeout; 0 at the
    /// first timeout.
    Backoff,
    /// The number of timeouts.
    Timeouts,
    /// The number of spurious timeouts.
    SpuriousTimeouts,
}

impl RareQuantity {
    /// All quantities.
    pub const ALL: [Self; 3] = [Self::Backoff, Self::Timeouts, Self::SpuriousTimeouts];

    /// The name of its column in the tables of a run.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Backoff => "backoff",
            Self::Timeouts => "timeouts",
            Self::SpuriousTimeouts => "spurious_timeouts",
        }
    }

    /// The value at the first timeout that counts.
    pub const fn first(self) -> u32 {
        match self {
            Self::Backoff => 0,
            Self::Timeouts | Self::SpuriousTimeouts => 1,
        }
    }
}

/// The event that a quantity reaches a value, and the number of runs from each of its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RareEvent {
    /// The quantity.
    pub quantity: RareQuantity,
    /// The value that it must reach, at least [`RareQuantity::first`].
    pub at_least: u32,
    /// The number of runs at each level.
    pub runs: usize,
}

impl RareEvent {
    /// The values that a run passes on its way to the event.
    pub fn levels(&self) -> impl Iterator<Item = u32> + use<> {
        self.quantity.first()..=self.at_least
    }
}
