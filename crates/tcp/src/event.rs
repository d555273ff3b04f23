//! The events of a connection.

use rtolab_time::{Duration, Instant};

use crate::seq::Seq;
use crate::spurious::{DetectorId, DuplicateCause, EpisodeKind, Verdict};

/// An event of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The handshake is complete.
    Connected,
    /// The peer has closed: its data has arrived completely.
    PeerClosed,
    /// The FIN of this end is acknowledged.
    CloseAcknowledged,
    /// The connection has ended.
    Closed,
    /// The peer reset the connection.
    Reset,
    /// The connection has ended because the peer did not answer for too long (R2 of RFC 9293
    /// section 3.8.3, or keep-alive).
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
    /// A tail loss probe retransmits the last segment (RFC 8985 section 7). It is neither a timeout
    /// nor an indication of loss.
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
        /// The detector.
        detector: DetectorId,
        /// Whether it is about a timeout or a fast retransmit.
        kind: EpisodeKind,
        /// Its verdict; never [`Verdict::Open`].
        verdict: Verdict,
    },
}

/// The segment of a timeout, fast retransmit or probe, and the state of the sender before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retransmission {
    /// When.
    pub at: Instant,
    /// The first sequence number of the segment that is retransmitted.
    pub seq: Seq,
    /// The RTO.
    pub rto: Duration,
    /// The number of back-offs since the last round-trip sample, or since another event that ends
    /// the back-off.
    pub backoff: u32,
    /// The congestion window in bytes.
    pub cwnd: u64,
}
