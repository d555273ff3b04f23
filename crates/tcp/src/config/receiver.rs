//! Knobs of the receiving side.

use rtolab_settings::{Buffer, Choice, IntegerRange, Positive, PositiveCount, Settings};
use rtolab_time::Duration;

/// The receiving side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
pub struct ReceiverConfig {
    /// The receive buffer, in bytes: the largest advertised window.
    #[setting(format = Buffer, default = 65_535, example = "32 kB")]
    pub buffer: u32,
    /// The number of full segments after which an acknowledgment is sent at the latest (RFC 5681
    /// section 4.2: 2).
    #[setting(format = PositiveCount, default = 2)]
    pub ack_every: u32,
    /// The longest delay of an acknowledgment, or the period of the heartbeat.
    #[setting(default = Duration::from_millis(200), example = "200 ms")]
    pub delayed_ack: Duration,
    /// Does an acknowledgment with [`Flags::RXT_ECHO`](crate::Flags::RXT_ECHO) answer a segment
    /// with [`Flags::RXT`](crate::Flags::RXT)? For a sender that relies on RXT, the first
    /// acknowledgment without the echo is that of an original.
    #[setting(default = true)]
    pub rxt_echo: bool,
    /// Which acknowledgment answers a segment with RXT.
    pub rxt_answer: RxtAnswer,
    /// When a delayed acknowledgment is sent.
    pub ack_delay: AckDelay,
    /// The time of the host's first heartbeat, modulo its period, for `ack_delay` = heartbeat.
    #[setting(example = "50 ms")]
    pub heartbeat_phase: Duration,
    /// The unit of `ack_every`.
    pub ack_counts: AckCounts,
    /// The number of acknowledgments that are sent at once before any is delayed: Linux's quickack,
    /// there at most 16 (`TCP_MAX_QUICKACKS`).
    #[setting(format = IntegerRange<0, { u32::MAX }>)]
    pub quick_acks: u32,
    /// The memory of a Linux receiver's buffer, in bytes (`tcp_rmem`). While the window that fits
    /// into it grows, each segment is acknowledged at once (`tcp_grow_window`). Only for
    /// `receiver.profile = "linux"`.
    #[setting(format = Buffer, example = "4 MB", unset = "the window does not grow")]
    pub memory: Option<u32>,
    /// Is a segment with PSH acknowledged at once? See [`Config::push`](crate::Config::push) for
    /// who sets it.
    pub ack_pushed_at_once: bool,
    /// When a segment that fills a gap is acknowledged.
    pub gap_fill: GapFill,
    /// The most SACK blocks in a segment, D-SACK included (RFC 2018 section 3: four fit, three
    /// beside timestamps).
    #[setting(format = IntegerRange<1, 4>, default = 4)]
    pub max_sack_blocks: u32,
    /// The SACK blocks that the receiver remembers. A segment beside a block that it has forgotten
    /// begins a new one. `None`: it remembers all (Linux: four, `TCP_NUM_SACKS`).
    #[setting(skip)]
    pub remembered_sack_blocks: Option<u32>,
    /// How long the third and later duplicate acknowledgments of a gap wait for the link to fill it
    /// (Vaidya et al. 2002). `None`: they are sent at once.
    #[setting(format = Positive, example = "500 ms", unset = "at once")]
    pub delayed_dupacks: Option<Duration>,
    /// Does a D-SACK report segments that PAWS drops, if they were received before? No RFC requires
    /// it; Linux does it (`tcp_send_dupack`).
    pub dsack_old: bool,
    /// The smallest increase of the window that is advertised.
    #[setting(skip)]
    pub window_increase: WindowIncrease,
    /// What happens to an acknowledgment with an old timestamp.
    #[setting(skip)]
    pub old_acks: OldAcks,
    /// What a retransmitted SYN changes.
    #[setting(skip)]
    pub repeated_syn: RepeatedSyn,
    /// Which segments count for delayed acknowledgments.
    #[setting(skip)]
    pub ack_rules: AckRules,
    /// A false report with which the receiver gains more than its share.
    #[setting(unset = "nothing")]
    pub lie: Option<FalseReport>,
}

/// The smallest increase of the window that an acknowledgment advertises.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WindowIncrease {
    /// A segment, or half the buffer if that is smaller (RFC 9293 section 3.8.6.2.2).
    #[default]
    Segment,
    /// A byte (FreeBSD, `tcp_output`; not modelled: it advertises nothing instead of a window below
    /// a segment and a quarter of the buffer).
    Byte,
}

/// What happens to a reordered segment without data, whose timestamp is old.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OldAcks {
    /// It is dropped and answered, like any old segment (RFC 7323 section 5.3).
    #[default]
    Answered,
    /// It is accepted if it is only a tick old, or duplicates the last acknowledgment, because its
    /// SACK may be new (Linux, `tcp_disordered_ack_check`). In half a second at most one segment
    /// without data is answered, whether old or outside the window (`tcp_oow_rate_limited`).
    Linux,
}

/// Which segments count for delayed acknowledgments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AckRules {
    /// All segments give the time between segments. `quick_acks` counts acknowledgments of data
    /// that arrived in order.
    #[default]
    Common,
    /// Linux 6, `net/ipv4/tcp_input.c`:
    ///
    /// - more than one full segment is acknowledged at once (`__tcp_ack_snd_check`), and so is a
    ///   small segment, or one with PSH, when it is read (`tcp_cleanup_rbuf`);
    /// - `quick_acks` and further ones are a count that a duplicate, a long silence
    ///   (`tcp_incr_quickack`) and a growing window (`tcp_grow_window`) raise;
    /// - only the next expected segment gives the time between segments (`tcp_event_data_recv`),
    ///   and the delay doubles if its timer expires (`tcp_delack_timer_handler`);
    /// - an end that answers data with data sends no quick acknowledgments (`icsk_ack.pingpong`);
    /// - from the fourth duplicate acknowledgment for a gap on they are compressed
    ///   (`tcp_comp_sack_delay_ns`).
    Linux,
}

/// A false report that makes the peer send faster than the path allows (Savage et al. 1999, RFC
/// 5681 section 9, RFC 4015 section 7, RFC 3708 section 5). No stack does this; a sender should not
/// be deceived by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum FalseReport {
    /// It echoes the timestamp of the previous segment, so that a retransmission looks like an
    /// original.
    OldEcho,
    /// It reports segments that fill a gap, or arrive after a second of silence, as duplicates.
    FalseDsack,
    /// It acknowledges each segment in eight pieces.
    AckDivision,
    /// While a segment is missing, it acknowledges each arriving segment four times.
    SpoofedDuplicates,
    /// It acknowledges eight segments before they arrive, and never asks for lost data.
    Optimistic,
}

/// Which acknowledgment answers a marked retransmission.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum RxtAnswer {
    /// An extra one without data, at once (draft-ludwig-tsvwg-tcp-rxt-flag-03).
    #[default]
    AtOnce,
    /// The next one, with data or without; the times of acknowledgments do not change. One that
    /// covers several segments echoes if any of them was marked (Ludwig and Katz 2000, who define
    /// the bits but not this case).
    NextAck,
}

/// When a delayed acknowledgment is sent, at the latest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum AckDelay {
    /// It is sent `delayed_ack` after the first segment that it acknowledges.
    #[default]
    Timer,
    /// It is sent at the next beat of the host's clock, as in BSD (`tcp_fasttimo`). The clock beats
    /// every `delayed_ack`, first at `heartbeat_phase`, for all connections together.
    Heartbeat,
    /// It is sent after the smoothed time between segments, at least 40 ms, at most `delayed_ack`:
    /// Linux (`tcp_event_data_recv`), without its bounds by SRTT and RTO.
    Adaptive,
}

/// The unit in which a receiver counts until it acknowledges (RFC 5681 section 4.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum AckCounts {
    /// Segments of any size.
    #[default]
    Segments,
    /// Bytes, in units of the largest segment that has arrived, as in Linux.
    Bytes,
}

/// When a segment that fills a gap, in part or whole, is acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum GapFill {
    /// At once (RFC 5681 section 4.2).
    #[default]
    AtOnce,
    /// At once if it adjoins queued data, else like any other in order: ns-2 without
    /// `RFC2581_immediate_ack_` (`DelAckSink::recv`).
    WhereJoined,
    /// Like any other in order: RFC 1122 section 4.2.3.2, which has no exception.
    Delayed,
}

/// What a retransmitted SYN changes, besides that it is answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RepeatedSyn {
    /// Its timestamp is echoed from then on, like any newer one (RFC 7323 section 4.3).
    #[default]
    EchoedAnew,
    /// The timestamp of the first SYN stays, which shows the peer that its timeout was spurious,
    /// and the timer of the answer restarts (Linux, `tcp_check_req`).
    Linux,
}
