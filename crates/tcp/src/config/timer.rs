//! Choices for the retransmission timer.

/// Which segments a floor for delayed acknowledgments takes for the last of an odd number, whose
/// acknowledgment the receiver delays (Psaras and Tsaoussidis, "The TCP Minimum RTO
/// Revisited", 2007, section 4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Parity {
    /// As the paper has it: the parities of all trains are added up.
    #[default]
    Paper,
    /// What is outstanding counts: the receiver counts anew from each acknowledgment that it sends,
    /// so that one that its timer sent cannot leave the sender's parity wrong.
    Resync,
}

/// Does a duplicate acknowledgment restart the retransmission timer? It shows that segments still
/// arrive (Gurtov, "Effect of Delays on TCP Performance", 2001, section 6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RestartOnDuplicate {
    /// No (RFC 6298 section 5).
    #[default]
    Never,
    /// In fast recovery only.
    InRecovery,
    /// Always.
    Always,
}

/// Over what round trips are smoothed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum History {
    /// So many samples, however often they are taken (RFC 6298 section 2.3).
    #[default]
    Samples,
    /// So many windows: the gains shrink with the samples expected in one (RFC 7323 appendix G).
    Windows,
}

/// When the retransmission timer looks at the clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimerClock {
    /// Always: it expires when its time is over.
    #[default]
    Exact,
    /// At each tick of the granularity, as in BSD: a timer of `n` ticks expires between `n - 1` and
    /// `n` ticks after it was set (`tcp_slowtimo`).
    Ticks,
}
