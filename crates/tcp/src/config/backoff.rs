//! Knobs of the back-off: how the timeout grows while nothing is acknowledged, and what ends that.

use rtolab_settings::{Choice, IntegerRange, Positive, Settings};
use rtolab_time::Duration;

/// The back-off of the retransmission timer (RFC 6298 section 5.5). By default each timeout doubles
/// the next one, up to `tcp.rto.max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
pub struct BackoffConfig {
    /// The number of timeouts of a segment before the timeout doubles (Linux: six with
    /// `tcp_thin_linear_timeouts`). The SYN has `tcp_syn_linear_timeouts`.
    #[setting(format = IntegerRange<0, 127>, default = 0)]
    pub linear: u32,
    /// Which connections have such timeouts.
    pub linear_for: LinearFor,
    /// Doubling does not raise the timeout above this, as in QUIC stacks (noq: 2 s; picoquic: a
    /// sixteenth of the idle timeout). A timeout that is longer by itself stays.
    /// It also bounds the probe timeout of `rfc9002`.
    #[setting(format = Positive, example = "2 s", unset = "none but tcp.rto.max")]
    pub cap: Option<Duration>,
    /// What ends the back-off.
    pub ends: BackoffEnd,
    /// What an ICMP message `destination unreachable` does, which answers a retransmission.
    pub unreachable: OnUnreachable,
    /// What a hint that the path has changed or returned does.
    pub path_change: OnPathChange,
}

/// Which connections have timeouts that do not double the next one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum LinearFor {
    /// All.
    #[default]
    All,
    /// Those with fewer than four segments outstanding (Linux: `tcp_stream_is_thin`).
    ThinStreams,
}

/// What ends the back-off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum BackoffEnd {
    /// A round-trip sample (RFC 6298 section 5.7, Karn and Partridge 1987). Without timestamps an
    /// acknowledgment of a retransmitted segment gives none, so the timeout stays backed off.
    #[default]
    Sample,
    /// Any acknowledgment of new data. If the round trip exceeds the timeout without back-off and
    /// there are no timestamps, every timeout is then spurious and no sample corrects that.
    NewAck,
}

/// What an ICMP message `destination unreachable` does (code 0 or 1: net or host unreachable).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum OnUnreachable {
    /// Nothing (RFC 1122 section 4.2.3.9: it is no hard error).
    #[default]
    Ignored,
    /// It takes back one back-off, because the message shows that the packet did not meet
    /// congestion: TCP-LCD (RFC 6069; Linux: `tcp_ld_RTO_revert`).
    Reverts,
}

/// What a hint does that the path has changed or returned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum OnPathChange {
    /// Nothing.
    #[default]
    Ignored,
    /// It ends the back-off. If the timer has expired since the last acknowledgment of new data, it
    /// expires at once.
    Resets,
}
