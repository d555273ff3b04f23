//! Choices for the window and for loss recovery.

/// How much one acknowledgment adds to the window in slow start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SlowStart {
    /// The bytes that it acknowledges, at most one segment (RFC 5681 equation 2; RFC 3465 with a
    /// limit L of 1).
    #[default]
    OneSegment,
    /// At most two segments, but one from a timeout until slow start ends (RFC 3465 section 2.3
    /// with a limit L of 2).
    TwoSegments,
    /// One segment, however little it acknowledges (RFC 2581 section 3.1).
    PerAck,
}

/// When a connection that was idle for longer than its timeout begins with the initial window anew
/// (RFC 5681 section 4.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IdleRestart {
    /// Never.
    #[default]
    Off,
    /// When it has not sent for so long (RFC 5681).
    LastSent,
    /// When nothing has arrived for so long and nothing is outstanding, as in BSD.
    LastReceived,
}

/// What the sender may send for a partial acknowledgment of NewReno.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PartialAck {
    /// The next hole, and new segments if the window has room (RFC 6582 section 3.2 step 3).
    #[default]
    AlsoNew,
    /// The next hole alone (Gurtov 2001, footnote 2).
    RetransmissionOnly,
}

/// What a timeout does to what was selectively acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SackOnTimeout {
    /// It is forgotten (RFC 2018 section 8).
    #[default]
    Clear,
    /// It stays, unless the head itself was selectively acknowledged, which shows that the receiver
    /// reneged, as in Linux.
    Keep,
}

/// How the window comes down to `ssthresh` in fast recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reduction {
    /// At once (RFC 5681 section 3.2).
    #[default]
    AtOnce,
    /// By a segment for every second acknowledgment, so that new segments go out evenly (rate
    /// halving; Linux 2.4, `tcp_cwnd_down`).
    RateHalving,
}
