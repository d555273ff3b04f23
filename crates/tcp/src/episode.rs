//! Episodes and the identity of detectors: plain data that detectors and responses share.

use rtolab_settings::Settings;
use rtolab_time::{Duration, Instant, Rate};

use crate::seq::Seq;

/// The identity of a detector. It displays as its name, and parses from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DetectorId(pub(crate) Identity);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Identity {
    /// Its row in the table of detectors.
    Listed(usize),
    /// DualRTT with a threshold in thousandths.
    DualRtt(u16),
    /// The name of a user-defined detector.
    Custom(&'static str),
}

/// A timeout or fast retransmit with its retransmissions, about which detectors decide.
///
/// Another timeout of the same segment belongs to the episode as long as nothing was acknowledged
/// and no detector has decided. The episode ends when data is acknowledged that was sent after its
/// last retransmission, or when the next one begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Episode {
    /// Its number in the connection, from 0.
    pub number: u32,
    /// The event with which it began.
    pub kind: EpisodeKind,
    /// When it began.
    pub began: Instant,
    /// The first sequence number of the segment that timed out or was marked lost.
    pub seq: Seq,
    /// SND.UNA when it began.
    pub una: Seq,
    /// SND.MAX when it began.
    pub max: Seq,
    /// The retransmitted segments in flight when it began (`retrans_out`); `None` if this is
    /// unknown.
    pub retrans_out: Option<u32>,
    /// SND.MAX when its last retransmission was sent. An acknowledgment beyond it ends the episode.
    pub high: Seq,
    /// The connection's smallest round-trip time so far, by Karn's rule.
    pub min_rtt: Option<Duration>,
    /// The smoothed round-trip time when it began, by Karn's rule (RFC 6298 section 2).
    pub srtt: Option<Duration>,
    /// The smallest interval between two acknowledgments of one segment each.
    pub spacing: Option<Duration>,
    /// The configured rate and delay of the path.
    pub known: KnownPath,
    /// The rate and delay of the path estimated from the acknowledgments before it; empty while
    /// there are too few samples or the path may have changed.
    pub estimated: KnownPath,
    /// Has the peer ever sent a D-SACK?
    pub dsack_seen: bool,
    /// Is SACK in use?
    pub sack: bool,
    /// The number of timeouts in it.
    pub timeouts: u32,
    /// The number of segments retransmitted in it so far. More than one for each timeout or fast
    /// retransmit indicates go-back-N or loss recovery.
    pub retransmissions: u32,
    /// The number of new segments sent in it.
    pub new_segments: u32,
}

/// The event with which an episode begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EpisodeKind {
    /// The retransmission timer expired.
    Timeout,
    /// The sender decided on a fast retransmit.
    FastRetransmit,
}

/// The known parameters of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
pub struct KnownPath {
    /// For detectors that model the path: the rate of its bottleneck link.
    #[setting(key = "path_rate", example = "50 kbit/s")]
    pub rate: Option<Rate>,
    /// For detectors that model the path: its one-way delay.
    #[setting(key = "path_delay", example = "200 ms")]
    pub delay: Option<Duration>,
}
