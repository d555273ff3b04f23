//! Knobs of the congestion window.

use alloc::format;
use alloc::string::{String, ToString};

use rtolab_settings::{
    Choice, Format, Found, Segments, Settings, Shape, Whole, Wrong, checked, count, pattern,
    quantity_pattern, text,
};
use rtolab_time::{Bytes, Dimension};

/// How the congestion window starts and grows (RFC 5681).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
pub struct WindowConfig {
    /// The initial window.
    #[setting(default = InitialWindow::Rfc6928)]
    pub initial: InitialWindow,
    /// What is left of it where the SYN timed out.
    #[setting(skip)]
    pub after_syn: AfterSyn,
    /// The initial slow-start threshold in segments; `None`: as high as possible.
    #[setting(format = Segments, example = "20 segments")]
    pub initial_ssthresh: Option<u32>,
    /// What is halved for `ssthresh`.
    pub halves: Halves,
    /// In what a halved window is counted.
    pub halving: Halving,
    /// What becomes of `ssthresh` when one segment times out again.
    pub repeated_timeout: RepeatedTimeout,
    /// The window after a timeout.
    #[setting(skip)]
    pub loss_window: LossWindow,
    /// How the window grows in congestion avoidance.
    pub avoidance: Avoidance,
    /// The window when fast recovery ends.
    pub full_ack: FullAck,
    /// The most segments that one acknowledgment may release; where a recovery or a spurious
    /// timeout ends, the window shrinks to what is outstanding and so many. `None`: no limit.
    #[setting(format = Segments, example = "3 segments")]
    pub max_burst: Option<u32>,
    /// How the window grows in slow start.
    pub slow_start: SlowStart,
    /// With [`SlowStart::Delivered`]: does the window grow for the acknowledgment that ends fast
    /// recovery (Linux, `tcp_cong_control`)?
    #[setting(skip)]
    pub grows_when_recovered: bool,
    /// With RACK: does data that D-SACK reports as received twice count as delivered, in whole
    /// segments (Linux, `tcp_dsack_seen`)?
    #[setting(skip)]
    pub counts_dsacked: bool,
    /// When the window begins anew after an idle time.
    pub idle_restart: IdleRestart,
    /// What becomes of a window that is not used.
    pub validation: Validation,
    /// So many segments are sent beyond the offered window: a fault that Gurtov (2001, section 5.3)
    /// saw in Windows 98 and NT. RFC 9293: 0.
    #[setting(format = Whole<0, 1000>)]
    pub overrun: u32,
}

/// The initial window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialWindow {
    /// So many segments.
    Segments(u32),
    /// RFC 3390: up to four segments, no more than 4380 bytes unless two segments need more.
    Rfc3390,
    /// RFC 6928: up to ten segments, no more than 14600 bytes unless two segments need more.
    Rfc6928,
    /// RFC 5681: two segments above 2190 bytes, three above 1095 bytes, four below.
    Rfc5681,
    /// So many bytes, rounded down to whole segments, one at least: the whole window, as FreeBSD 4.1
    /// to a peer on its network (Gurtov 2001, section 5.3).
    Bytes(u32),
}

impl Format for InitialWindow {
    type Value = Self;

    fn read(found: &Found<'_>) -> Result<Self, Wrong> {
        let expected = Self::expected();
        text(found, &expected, |text| match (text, count(text, "segments")) {
            ("rfc3390", _) => Ok(Self::Rfc3390),
            ("rfc5681", _) => Ok(Self::Rfc5681),
            ("rfc6928", _) => Ok(Self::Rfc6928),
            (_, Some(segments)) => Ok(Self::Segments(segments)),
            _ => {
                let fits = |size: &Bytes| (1..=65_535 << 14).contains(&size.get());
                checked(text, &expected, fits).map(|size| Self::Bytes(size.get() as u32))
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

/// What is halved for `ssthresh`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum Halves {
    /// FlightSize: what is outstanding (RFC 5681 equation 4).
    #[default]
    FlightSize,
    /// The smaller of congestion window and offered window (RFC 2001 section 4), as in ns-2.
    Window,
    /// The congestion window, whatever of it is in use, as in Linux.
    CongestionWindow,
}

/// What becomes of `ssthresh` when one segment times out again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum RepeatedTimeout {
    /// It stays as the first timeout left it (RFC 5681 section 3.1).
    #[default]
    Keeps,
    /// It is halved anew, as in RFC 2001 and ns-2.
    Halves,
    /// It stays, and so it does in a timeout of fast recovery, which has halved it: what is undone
    /// then is both (`tcp_enter_loss` of Linux).
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

/// In what half of the flight is counted for `ssthresh`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum Halving {
    /// Bytes (RFC 5681 equation 4).
    #[default]
    Bytes,
    /// Whole segments, rounded down, as in BSD, Linux and ns-2.
    Segments,
}

/// Growth in congestion avoidance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum Avoidance {
    /// `SMSS * SMSS / cwnd` for every acknowledgment (RFC 5681 equation 3).
    #[default]
    Formula,
    /// The same, and what is less than a byte of it adds up, too, as in ns-2, whose window is a
    /// fraction of segments. Without it the window falls behind ns-2's by half a byte an
    /// acknowledgment, and in time a segment leaves a round trip late.
    Fraction,
    /// One segment for every window acknowledged, counted in bytes (RFC 3465 section 2.1).
    ByteCounting,
}

/// The window when fast recovery ends (RFC 6582 section 3.2 step 3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum FullAck {
    /// `min(ssthresh, max(FlightSize, SMSS) + SMSS)`; Reno, which has no such rule, takes
    /// `ssthresh`.
    #[default]
    FlightSize,
    /// `ssthresh`.
    Ssthresh,
    /// What the window was halved to, not rounded; and it grows for the acknowledgment that ends
    /// fast recovery as for any other, as in ns-2.
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
    /// What it reports as delivered, acknowledged or SACKed, without a limit but `ssthresh` (Linux,
    /// `tcp_slow_start`), also by the acknowledgment that finds a timeout spurious; congestion avoidance
    /// counts so, too.
    Delivered,
}

/// When a connection that was idle for longer than its timeout begins with the initial window anew
/// (RFC 5681 section 4.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum IdleRestart {
    /// Never.
    #[default]
    Off,
    /// When it has not sent for so long (RFC 5681).
    LastSent,
    /// When nothing has arrived for so long and nothing is outstanding, as in BSD.
    LastReceived,
}

/// What becomes of a congestion window that is not used: congestion window validation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum Validation {
    /// Nothing: it is kept, and grows (RFC 5681).
    #[default]
    Off,
    /// It is halved for each timeout that nothing is sent, comes half the way down to what is used
    /// where the application has no more to send for a timeout, and grows only where it is full
    /// (RFC 2861).
    Rfc2861,
    /// For five minutes it is kept, but does not grow, and a loss halves what was used of it; then it
    /// is halved (RFC 7661).
    Rfc7661,
    /// It is kept, and grows only where it was full since all was acknowledged last, or in slow start
    /// more than half full (Linux, `tcp_is_cwnd_limited`).
    Linux,
}

/// What is left of the initial window where the timer of the SYN expired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AfterSyn {
    /// One segment (RFC 5681 section 3.1).
    #[default]
    OneSegment,
    /// One segment where it expired twice, and all of it where once, or where an echo shows that the
    /// first SYN is answered (Linux, `tcp_init_transfer` and `tcp_try_undo_spurious_syn`).
    Linux,
}
