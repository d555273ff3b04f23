//! Knobs of the congestion window.

use alloc::format;
use alloc::string::{String, ToString};

use rtolab_settings::{
    Choice, Format, IntegerRange, InvalidValue, RawValue, Segments, Settings, Shape, count,
    parse_checked, pattern, quantity_pattern, text,
};
use rtolab_time::{Bytes, Dimension};

/// How the congestion window starts and grows (RFC 5681).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
pub struct WindowConfig {
    /// The initial window.
    #[setting(default = InitialWindow::Rfc6928)]
    pub initial: InitialWindow,
    /// What remains of it after a timeout of the SYN.
    #[setting(skip)]
    pub after_syn: AfterSyn,
    /// The initial slow-start threshold in segments; `None`: as high as possible.
    #[setting(format = Segments, example = "20 segments")]
    pub initial_ssthresh: Option<u32>,
    /// The quantity that is halved for `ssthresh`.
    pub halves: HalvedQuantity,
    /// The unit of the halved window.
    pub halving: Halving,
    /// The effect of a repeated timeout of one segment on `ssthresh`.
    pub repeated_timeout: RepeatedTimeout,
    /// The window after a timeout.
    #[setting(skip)]
    pub loss_window: LossWindow,
    /// How the window grows in congestion avoidance.
    pub avoidance: CongestionAvoidance,
    /// The window when fast recovery ends.
    pub full_ack: FullAck,
    /// The most segments that one acknowledgment may release; at the end of a recovery or a
    /// spurious timeout cwnd is also limited to FlightSize and this many segments. `None`: no
    /// limit.
    #[setting(format = Segments, example = "3 segments")]
    pub max_burst: Option<u32>,
    /// How the window grows in slow start.
    pub slow_start: SlowStart,
    /// With [`CongestionAvoidance::ByteCounting`]: may one acknowledgment grow the window by
    /// several segments, if it acknowledges several windows (Linux, `tcp_cong_avoid_ai`)?
    #[setting(skip)]
    pub several_per_ack: bool,
    /// With [`SlowStart::Delivered`]: does the window grow for the acknowledgment that ends fast
    /// recovery (Linux, `tcp_cong_control`)?
    #[setting(skip)]
    pub grows_when_recovered: bool,
    /// With RACK: does data that D-SACK reports as received twice count as delivered, in whole
    /// segments (Linux, `tcp_dsack_seen`)?
    #[setting(skip)]
    pub counts_dsacked: bool,
    /// When the window restarts after an idle time.
    pub idle_restart: IdleRestart,
    /// Congestion window validation.
    pub validation: Validation,
    /// Segments sent beyond the advertised window: a fault that Gurtov (2001, section 5.3) saw in
    /// Windows 98 and NT. RFC 9293: 0.
    #[setting(format = IntegerRange<0, 1000>)]
    pub overrun: u32,
}

/// The initial window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialWindow {
    /// A number of segments.
    Segments(u32),
    /// RFC 3390: up to four segments, no more than 4380 bytes unless two segments need more.
    Rfc3390,
    /// RFC 6928: up to ten segments, no more than 14600 bytes unless two segments need more.
    Rfc6928,
    /// RFC 5681: two segments above 2190 bytes, three above 1095 bytes, four below.
    Rfc5681,
    /// A number of bytes, rounded down to whole segments, at least one. FreeBSD 4.1 uses the whole
    /// window to a peer on its network (Gurtov 2001, section 5.3).
    Bytes(u32),
}

impl Format for InitialWindow {
    type Value = Self;

    fn read(found: &RawValue<'_>) -> Result<Self, InvalidValue> {
        let expected = Self::expected();
        text(found, &expected, |text| match (text, count(text, "segments")) {
            ("rfc3390", _) => Ok(Self::Rfc3390),
            ("rfc5681", _) => Ok(Self::Rfc5681),
            ("rfc6928", _) => Ok(Self::Rfc6928),
            (_, Some(segments)) => Ok(Self::Segments(segments)),
            _ => {
                let fits = |size: &Bytes| (1..=65_535 << 14).contains(&size.get());
                parse_checked(text, &expected, fits).map(|size| Self::Bytes(size.get() as u32))
            }
        })
    }

    fn show(value: &Self) -> String {
        match value {
            Self::Segments(segments) => Segments::show(segments),
            Self::Rfc3390 => "rfc3390".to_string(),
            Self::Rfc6928 => "rfc6928".to_string(),
            Self::Rfc5681 => "rfc5681".to_string(),
            Self::Bytes(bytes) => format!("{bytes} B"),
        }
    }

    fn expected() -> String {
        "a window such as \"2 segments\", \"16 KiB\", \"rfc3390\", \"rfc5681\" or \"rfc6928\""
            .to_string()
    }

    fn shape() -> Shape {
        let size = quantity_pattern(Dimension::Size);
        let words = "[1-9][0-9]* *segments?|rfc3390|rfc5681|rfc6928";
        pattern(&format!("{words}|{size}"), &["2 segments", "16 KiB", "rfc6928"])
    }
}

/// The quantity that is halved for `ssthresh`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum HalvedQuantity {
    /// FlightSize (RFC 5681 equation 4).
    #[default]
    FlightSize,
    /// The smaller of the congestion window and the advertised window (RFC 2001 section 4), as in
    /// ns-2.
    Window,
    /// The congestion window, used or not, as in Linux.
    CongestionWindow,
}

/// The effect of a repeated timeout of one segment on `ssthresh`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum RepeatedTimeout {
    /// It stays as the first timeout left it (RFC 5681 section 3.1).
    #[default]
    Keeps,
    /// It is halved again, as in RFC 2001 and ns-2.
    Halves,
    /// It stays, and also at a timeout in fast recovery, which has halved it. An undo then restores
    /// the state before both (`tcp_enter_loss` of Linux).
    OncePerWindow,
}

/// The loss window (LW of RFC 5681).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LossWindow {
    /// One segment (RFC 5681 section 3.1).
    #[default]
    OneSegment,
    /// With RACK, one segment more than the pipe (`tcp_enter_loss` of Linux).
    BeyondPipe,
}

/// The unit of the halved window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum Halving {
    /// Bytes (RFC 5681 equation 4).
    #[default]
    Bytes,
    /// Whole segments, rounded down, as in BSD, Linux and ns-2.
    Segments,
}

/// How much the window grows in congestion avoidance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum CongestionAvoidance {
    /// `SMSS * SMSS / cwnd` for every ACK, in whole bytes (RFC 5681 equation 3).
    #[default]
    AckCounting,
    /// The same with fractions of a byte, as in ns-2. Without them the window lags that of ns-2 by
    /// half a byte per ACK, and in time a segment is sent a round trip late.
    FractionalAckCounting,
    /// One segment for each acknowledged window, counted in bytes (RFC 3465 section 2.1).
    ByteCounting,
}

/// The window when fast recovery ends (RFC 6582 section 3.2 step 3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum FullAck {
    /// `min(ssthresh, max(FlightSize, SMSS) + SMSS)`. Reno has no such rule and uses `ssthresh`.
    #[default]
    FlightSize,
    /// `ssthresh`.
    Ssthresh,
    /// Half of the former window, not rounded. It grows for the acknowledgment that ends fast
    /// recovery as for any other, as in ns-2.
    Halved,
}

/// How much one acknowledgment adds to the window in slow start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
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
    /// The bytes that it reports as delivered, acknowledged or SACKed, up to `ssthresh` (Linux,
    /// `tcp_slow_start`). The acknowledgment that finds a timeout spurious counts, too, and so does
    /// congestion avoidance.
    Delivered,
}

/// When a connection that was idle for longer than its timeout restarts with the initial window
/// (RFC 5681 section 4.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum IdleRestart {
    /// Never.
    #[default]
    Off,
    /// When it has not sent for that time (RFC 5681).
    LastSent,
    /// When nothing has arrived for that time and nothing is outstanding, as in BSD.
    LastReceived,
}

/// Congestion window validation: what happens to a window that is not used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum Validation {
    /// Nothing: it is kept, and grows (RFC 5681).
    #[default]
    Off,
    /// It is halved for each timeout without data, moves half the way to the used part while the
    /// application limits it for a timeout, and grows only while it is full (RFC 2861).
    Rfc2861,
    /// It is kept for five minutes without growth, and a loss halves the used part. Then it is
    /// halved (RFC 7661).
    Rfc7661,
    /// It is kept, and grows only if it was full in the last round, or in slow start more than half
    /// full (Linux, `tcp_is_cwnd_limited`).
    Linux,
}

/// The initial window after a timeout of the SYN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AfterSyn {
    /// One segment (RFC 5681 section 3.1).
    #[default]
    OneSegment,
    /// One segment after two timeouts. The full window after one, or if an echo shows that the
    /// first SYN was answered (Linux, `tcp_init_transfer` and `tcp_try_undo_spurious_syn`).
    Linux,
}
