//! What a detector is asked about, and its name: plain data that detectors and responses share.

use rtolab_settings::Settings;
use rtolab_time::{Duration, Instant, Rate};

use crate::seq::Seq;

/// The identity of a detector. It prints as its name, and is parsed from it.
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

/// A timeout or fast retransmit, and what the sender did since.
///
/// An episode begins with a timeout or a fast retransmit. Another timeout of the same segment
/// belongs to it as long as nothing was acknowledged and no detector has decided. It ends when data
/// are acknowledged that were sent after its last retransmission, or when the next one begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Episode {
    /// Its number in the connection, from 0.
    pub number: u32,
    /// What it began with.
    pub kind: EpisodeKind,
    /// When it began.
    pub began: Instant,
    /// The first sequence number of the segment that timed out or was found lost.
    pub seq: Seq,
    /// SND.MAX when it began.
    pub max: Seq,
    /// SND.MAX when its last retransmission left.
    pub high: Seq,
    /// The connection's smallest round-trip time so far, by Karn's rule.
    pub min_rtt: Option<Duration>,
    /// The smoothed round-trip time when it began, by Karn's rule (RFC 6298 section 2).
    pub srtt: Option<Duration>,
    /// The smallest interval between two acknowledgments of one segment each.
    pub spacing: Option<Duration>,
    /// What the sender knows of its path, by configuration.
    pub known: KnownPath,
    /// What the acknowledgments before it show of the path: rate and delay, or neither while the
    /// samples are too few or the path seems to have changed.
    pub estimated: KnownPath,
    /// Has the peer ever sent a D-SACK?
    pub dsack_seen: bool,
    /// Is SACK in use?
    pub sack: bool,
    /// How often the retransmission timer expired in it.
    pub timeouts: u32,
    /// Segments retransmitted in it so far. More than one for each timeout or fast retransmit shows
    /// go-back-N or loss recovery.
    pub retransmissions: u32,
    /// Segments sent in it for the first time.
    pub new_segments: u32,
}

/// What an episode begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EpisodeKind {
    /// The retransmission timer expired.
    Timeout,
    /// Duplicate acknowledgments said that a segment was lost.
    FastRetransmit,
}

/// What is known of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
pub struct KnownPath {
    /// For a model that goes by it: the bandwidth of the path, which is that of its slowest link.
    #[setting(key = "path_rate", example = "50 kbit/s")]
    pub rate: Option<Rate>,
    /// For a model that goes by it: the one-way delay of the path.
    #[setting(key = "path_delay", example = "200 ms")]
    pub delay: Option<Duration>,
}
