//! Knobs of the loss recovery of QUIC (RFC 9002).

use rtolab_settings::{Choice, IntegerRange, Positive, PositiveCount, Settings};
use rtolab_time::Duration;

/// Loss detection, probe timeout and undo of QUIC (RFC 9002).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
pub struct Rfc9002Config {
    /// kPacketThreshold: a packet is lost if one that was sent this many packets later is
    /// acknowledged (section 6.1.1).
    #[setting(format = PositiveCount, default = 3)]
    pub packet_threshold: u32,
    /// kTimeThreshold, in eighths of a round trip: a packet is lost if a later one is acknowledged
    /// and it was sent this long ago (section 6.1.2).
    #[setting(format = IntegerRange<8, 64>, default = 9)]
    pub time_threshold: u32,
    /// How late packets change both thresholds.
    pub thresholds: AdaptiveThresholds,
    /// kGranularity, the granularity of the timers.
    #[setting(format = Positive, default = Duration::from_millis(1), example = "1 ms")]
    pub granularity: Duration,
    /// The longest time by which the peer delays an acknowledgment, added to every probe timeout
    /// (`max_ack_delay` of RFC 9000 section 18.2). A QUIC peer announces it, a TCP peer does not.
    #[setting(default = Duration::from_millis(25), example = "25 ms")]
    pub max_ack_delay: Duration,
    /// kInitialRtt, the round trip before the first sample (section 6.2.2).
    #[setting(format = Positive, default = Duration::from_millis(333), example = "333 ms")]
    pub initial_rtt: Duration,
    /// Which packets that arrive after they were declared lost undo the reduction of the window.
    pub undo: UndoRule,
}

/// How packets that arrive after they were declared lost change the thresholds (RFC 9002 section
/// 6.1.1 permits it).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum AdaptiveThresholds {
    /// They stay.
    #[default]
    Fixed,
    /// The first such packet ends the counting of packets. Each that is later than the time
    /// threshold doubles what the threshold exceeds a round trip by, up to two round trips, and
    /// only if it was sent after the last doubling (quic-go 0.65, `detectSpuriousLosses`).
    QuicGo,
    /// The first acknowledgment of such a packet ends the counting of packets. Each further one
    /// doubles what the time threshold exceeds a round trip by, up to two round trips. An
    /// acknowledgment counts only if it also names a packet above all that were acknowledged
    /// (quicly, `quicly_loss_on_ack_received`).
    Quicly,
    /// The packet threshold is the largest distance by which a packet was late, at most 20, and the
    /// time threshold 5/4 (quiche 0.29, `on_spurious_loss`).
    Quiche,
}

/// Which packets that arrive after they were declared lost undo the reduction of the window. RFC
/// 9002 has no undo.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum UndoRule {
    /// None.
    #[default]
    Never,
    /// All whose losses belong to the reduction (quic-go 0.65, `OnSpuriousLoss`).
    All,
    /// Any, unless the reduction ended slow start (quiche, `rollback` of its CUBIC).
    Any,
}
