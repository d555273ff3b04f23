//! Knobs of the receiving side.

use rtolab_settings::{Buffer, Choice, Positive, PositiveCount, Settings, Whole};
use rtolab_time::Duration;

/// The receiving side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
pub struct ReceiverConfig {
    /// The receive buffer, in bytes: the largest window offered.
    #[setting(format = Buffer, default = 65_535, example = "32 kB")]
    pub buffer: u32,
    /// An acknowledgment at least every so many full segments (RFC 5681 section 4.2: 2).
    #[setting(format = PositiveCount, default = 2)]
    pub ack_every: u32,
    /// The longest that an acknowledgment is delayed; the period of a heartbeat.
    #[setting(default = Duration::from_millis(200), example = "200 ms")]
    pub delayed_ack: Duration,
    /// Is a segment that carries [`Flags::RXT`](crate::Flags::RXT) answered by an acknowledgment that
    /// carries [`Flags::RXT_ECHO`](crate::Flags::RXT_ECHO)? A sender that relies on RXT takes the
    /// first acknowledgment without the echo for that of an original.
    #[setting(default = true)]
    pub rxt_echo: bool,
    /// How a segment with RXT is answered, where it is.
    pub rxt_answer: RxtAnswer,
    /// When an acknowledgment that waits leaves.
    pub ack_delay: AckDelay,
    /// When the host's heartbeat is first, beside `ack_delay` = heartbeat, modulo its period.
    #[setting(example = "50 ms")]
    pub heartbeat_phase: Duration,
    /// In what `ack_every` counts.
    pub ack_counts: AckCounts,
    /// So many acknowledgments of data leave at once before any is delayed: Linux's quickack, there
    /// at most 16 (`TCP_MAX_QUICKACKS`).
    #[setting(format = Whole<0, { u32::MAX }>)]
    pub quick_acks: u32,
    /// Is a segment with PSH acknowledged at once? See [`Config::push`](crate::Config::push) for who sets it.
    pub ack_pushed_at_once: bool,
    /// How what fills a gap is acknowledged.
    pub gap_fill: GapFill,
    /// The most SACK blocks in a segment, D-SACK included (RFC 2018 section 3: four fit, three
    /// beside timestamps).
    #[setting(format = Whole<1, 4>, default = 4)]
    pub max_sack_blocks: u32,
    /// The third and later duplicate acknowledgments of a gap wait so long for the link to fill it
    /// (Vaidya et al. 2002); `None`: they leave at once.
    #[setting(format = Positive, example = "500 ms", unset = "at once")]
    pub delayed_dupacks: Option<Duration>,
    /// Is what PAWS drops reported by D-SACK, as far as it was received before? No RFC asks for it;
    /// Linux does it (`tcp_send_dupack`).
    pub dsack_old: bool,
    /// What a SYN that is repeated changes.
    #[setting(skip)]
    pub repeated_syn: RepeatedSyn,
    /// What the receiver says that is not so, to be sent more than its share.
    #[setting(unset = "nothing")]
    pub lie: Option<Lie>,
}

/// What a receiver may say to have its peer send faster than the path allows (Savage et al. 1999, RFC
/// 5681 section 9, RFC 4015 section 7, RFC 3708 section 5). No stack does; senders should gain nothing
/// from believing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum Lie {
    /// It echoes the timestamp of the segment before: what repairs a loss looks like an original.
    OldEcho,
    /// What fills a gap, or comes after a second of silence, is reported as received before.
    FalseDsack,
    /// It acknowledges each piece of a segment by itself: eight for one.
    AckDivision,
    /// While a segment is missing it acknowledges each that arrives four times.
    SpoofedDuplicates,
    /// It acknowledges what has not arrived, eight segments ahead, and does without what is lost.
    Optimistic,
}

/// Which acknowledgment says that it answers a marked retransmission.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum RxtAnswer {
    /// One without data, made for it and sent at once (draft-ludwig-tsvwg-tcp-rxt-flag-03).
    #[default]
    AtOnce,
    /// The next one, whatever makes it leave and with data or without: when acknowledgments leave
    /// is not changed. One that covers several segments echoes if any of them was marked (Ludwig and
    /// Katz 2000, who have the bits but not this case).
    NextAck,
}

/// When a delayed acknowledgment leaves, at the latest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum AckDelay {
    /// `delayed_ack` after the first segment that it acknowledges.
    #[default]
    Timer,
    /// At the next beat of the host's clock, as in BSD (`tcp_fasttimo`): it beats every
    /// `delayed_ack`, first at `heartbeat_phase`, whatever a connection does.
    Heartbeat,
    /// After the smoothed time between segments, at least 40 ms, at most `delayed_ack`: Linux
    /// (`tcp_event_data_recv`), without its bounds by SRTT and RTO.
    Adaptive,
}

/// In what a receiver counts until it acknowledges (RFC 5681 section 4.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum AckCounts {
    /// Segments, however small.
    #[default]
    Segments,
    /// Bytes, in units of a full segment: of the largest that has arrived, as in Linux.
    Bytes,
}

/// How a segment is acknowledged that fills a gap, in part or whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum GapFill {
    /// At once (RFC 5681 section 4.2).
    #[default]
    AtOnce,
    /// At once where it joins what was queued, else as any other in order: ns-2 without
    /// `RFC2581_immediate_ack_` (`DelAckSink::recv`).
    WhereJoined,
    /// As any other in order: RFC 1122 section 4.2.3.2, which knows no exception.
    Delayed,
}

/// What a SYN changes that the peer repeats, besides that it is answered again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RepeatedSyn {
    /// Its timestamp is echoed from then on, as any that is newer (RFC 7323 section 4.3).
    #[default]
    EchoedAnew,
    /// The timestamp of the first stays, which tells the peer that its timeout was in vain, and the
    /// timer of the answer begins anew (Linux, `tcp_check_req`).
    Linux,
}
