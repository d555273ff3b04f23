//! The events of a connection.

use rtolab_time::{Duration, Instant};

use crate::seq::Seq;
use crate::spurious::{DetectorId, DuplicateCause, EpisodeKind, Verdict};

/// Something that happened to a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The handshake is complete.
    Connected,
    /// The peer has closed: all that it sent can be read, and no more will come.
    PeerClosed,
    /// The FIN of this end is acknowledged.
    CloseAcknowledged,
    /// The connection is over.
    Closed,
    /// The peer reset the connection.
    Reset,
    /// The peer did not answer for too long: the connection is over (R2 of RFC 9293 section 3.8.3,
    /// or keep-alive).
    TimedOut,
    /// A segment was retransmitted R1 times.
    DeliveryProblem {
        /// When.
        at: Instant,
        /// Its first sequence number.
        seq: Seq,
    },
    /// The retransmission timer expired.
    Timeout(Retransmission),
    /// Loss recovery began.
    FastRetransmit(Retransmission),
    /// A tail loss probe retransmits the last segment (RFC 8985 section 7): neither a timeout nor a
    /// sign of loss.
    Probe(Retransmission),
    /// The peer reports by D-SACK that it received data twice.
    Duplicate {
        /// When.
        at: Instant,
        /// Its first sequence number.
        seq: Seq,
        /// Its cause.
        cause: DuplicateCause,
    },
    /// A detector decided about the last timeout or fast retransmit.
    Verdict {
        /// When.
        at: Instant,
        /// Which detector.
        detector: DetectorId,
        /// About which of the two.
        kind: EpisodeKind,
        /// Its verdict; never [`Verdict::Open`].
        verdict: Verdict,
    },
}

/// A timeout, fast retransmit or probe: which segment, and the state before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retransmission {
    /// When.
    pub at: Instant,
    /// The first sequence number of the segment that is retransmitted.
    pub seq: Seq,
    /// The timeout that was in force.
    pub rto: Duration,
    /// How often the timer had been backed off before.
    pub backoff: u32,
    /// The congestion window in bytes.
    pub cwnd: u64,
}
