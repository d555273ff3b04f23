//! Knobs of RACK-TLP (RFC 8985).

use rtolab_settings::{Choice, Positive, Settings};
use rtolab_time::Duration;

/// Time-based loss detection and tail loss probes (RFC 8985).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
pub struct RackConfig {
    /// How the reordering window adapts.
    pub reordering_window: ReorderingWindow,
    /// Does a number of SACKed segments above a hole show a loss at once, while no reordering was
    /// seen?
    pub threshold: RackThreshold,
    /// The time over which the smallest round trip is measured (RFC 8985 section 6.2 step 1; Linux:
    /// `tcp_min_rtt_wlen`). `None`: the whole connection.
    #[setting(format = Positive, example = "300 s", unset = "the whole connection")]
    pub min_rtt_window: Option<Duration>,
    /// Does the sender send tail loss probes (RFC 8985 section 7; Linux: `tcp_early_retrans`)?
    #[setting(default = true)]
    pub tail_loss_probe: bool,
    /// Added to the probe timeout for a single segment, because the receiver may delay its
    /// acknowledgment (`TLP.max_ack_delay`; Linux: `TCP_RTO_MIN`).
    #[setting(default = Duration::from_millis(200), example = "200 ms")]
    pub max_ack_delay: Duration,
    /// Added to the reordering timer and to the probe timeout for several segments of RFC 8985
    /// (Linux: `TCP_TIMEOUT_MIN`, 2 ms).
    #[setting(example = "2 ms")]
    pub timer_slack: Duration,
    /// The segment that gives the round trip if one acknowledgment reports several.
    #[setting(skip)]
    pub round_trip: RackRoundTrip,
    /// The rules to follow where Linux and the RFC differ.
    #[setting(skip)]
    pub rules: RackRules,
}

/// How the reordering window adapts (RFC 8985 section 6.2 step 4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum ReorderingWindow {
    /// It grows by a quarter of the smallest round trip for each round with a D-SACK, up to SRTT.
    #[default]
    Adaptive,
    /// It stays a quarter of the smallest round trip (Linux: `tcp_recovery` 0x2).
    Static,
}

/// Whether SACKed segments above a hole count like duplicate acknowledgments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum RackThreshold {
    /// After `dupthresh` SACKed segments there is no reordering window.
    #[default]
    Dupthresh,
    /// Only time counts (Linux: `tcp_recovery` 0x4).
    TimeOnly,
}

/// The segment that gives the round trip of RACK if one acknowledgment reports several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RackRoundTrip {
    /// The one that was sent last (RFC 8985 section 6.2 step 2).
    #[default]
    SentLast,
    /// The highest that is acknowledged cumulatively, else the highest that is SACKed: the last one
    /// that Linux processes (`tcp_rack_advance`).
    ProcessedLast,
}

/// The rules that RACK follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RackRules {
    /// RFC 8985. An echo older than a retransmission shows that its original was delivered, also
    /// for a SACK (section 6.2 step 2), although a receiver of out-of-order data echoes an old
    /// timestamp in any case (RFC 7323 section 4.3).
    #[default]
    Rfc8985,
    /// Linux, `net/ipv4/tcp_input.c` and `tcp_recovery.c`:
    ///
    /// - only an in-order ACK of a retransmission is checked by its echo
    ///   (`tcp_skb_spurious_retrans`), any other by the smallest round trip alone;
    /// - in fast recovery a hole that a late original fills shows reordering
    ///   (`tcp_try_undo_partial`). Without reordering a D-SACK does not widen the window, and more
    ///   duplicates than retransmissions are ignored (`tcp_dsack_seen`);
    /// - if the probe timer expires and no probe may be sent, the timer of the oldest segment
    ///   continues (`tcp_send_loss_probe`), and no round trip is required in between;
    /// - if a retransmission after a timeout is lost, fast recovery begins (`FLAG_LOST_RETRANS`);
    /// - a timeout marks the segments lost that were sent a round trip ago, without the reordering
    ///   window, and cwnd is a segment more than the pipe (`tcp_enter_loss`);
    /// - while retransmissions are in flight, an ACK of a late original in fast recovery marks no
    ///   losses and releases new data only (`tcp_try_undo_partial`);
    /// - an undo leaves retransmissions in flight, and one by D-SACKs also the marks of lost
    ///   segments (`tcp_undo_cwnd_reduction`);
    /// - after an undo with data missing or retransmitted no probe is sent
    ///   (`tcp_schedule_loss_probe`).
    ///
    /// Without SACK, NewReno follows Linux, too (`tcp_newreno_mark_lost`).
    Linux,
}
