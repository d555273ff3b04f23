//! Knobs of the connection itself: how it is kept, given up and guarded (RFC 9293, 5961).

use alloc::string::{String, ToString};

use rtolab_settings::{
    Choice, Format, InvalidValue, Positive, PositiveCount, RawValue, Settings, Shape,
};
use rtolab_time::Duration;

/// How a connection is kept alive, given up and protected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnectionConfig {
    /// The limit on challenge acknowledgments.
    pub challenge: ChallengeConfig,
    /// Does the end probe a silent peer (RFC 9293 section 3.8.4)?
    pub keep_alive: Option<KeepAlive>,
    /// When the end gives up on an unreachable peer.
    pub limits: Limits,
    /// What a reset does in TIME-WAIT.
    pub time_wait_reset: TimeWaitReset,
    /// Whether an end that has closed may still read.
    pub after_close: AfterClose,
    /// How long an end that neither writes nor reads stays in FIN-WAIT-2, or three and a half
    /// timeouts if that is longer (Linux: `tcp_fin_timeout`). `None`: for ever, as in RFC 9293.
    pub fin_timeout: Option<Duration>,
    /// Whether the last acknowledgment of the handshake carries waiting data.
    pub handshake: Handshake,
    /// The number of first timeouts of an unanswered SYN without back-off (Linux:
    /// `tcp_syn_linear_timeouts`).
    pub syn_linear_timeouts: u32,
    /// Is data ECN-capable if this end's last SYN did not offer ECN, but the peer answers an
    /// earlier one that did?
    pub ecn_fallback: EcnFallback,
    /// The smallest MSS of a peer, in bytes: a smaller one is raised to it, because a peer that
    /// announces a byte makes the sender send a packet per byte (CVE-2019-11479). An MSS of 0
    /// counts as none in any case.
    pub min_peer_mss: u16,
}

/// What an end does after it retransmitted its SYN without ECN, because the path may drop SYNs with
/// ECN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EcnFallback {
    /// Its data are not ECN-capable (RFC 3168 section 6.1.1).
    #[default]
    NotCapable,
    /// They are, if the answer is (Linux, `tcp_ecn_rcv_synack`).
    Capable,
}

/// The most challenge acknowledgments in a period (RFC 5961 section 7, with the numbers of its
/// example). Each connection has its own budget: an attacker who counts the answers of a shared one
/// learns about other connections (Cao et al. 2016, CVE-2016-5696).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChallengeConfig {
    /// How many.
    pub limit: u32,
    /// In what time.
    pub period: Duration,
    /// The minimum interval between answers to invalid segments without data, which Linux keeps in
    /// addition (`tcp_invalid_ratelimit`; see [`OldAcks`](super::OldAcks)).
    pub spacing: Duration,
    /// How far below SND.UNA an acknowledgment is acceptable.
    pub old_acks_within: MaxWindow,
    /// The reaction to a reset in the window, but not at RCV.NXT.
    pub reset_in_window: InWindow,
    /// The reaction to a SYN in the window.
    pub syn_in_window: InWindow,
}

/// The reaction to a segment in the window that may be a blind attacker's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InWindow {
    /// A challenge ACK (RFC 5961 sections 3.2 and 4.2).
    #[default]
    Challenged,
    /// The connection ends, and a SYN gets a reset (RFC 793 section 3.9; FreeBSD: `insecure_rst`,
    /// `insecure_syn`).
    Ends,
}

/// MAX.SND.WND (RFC 5961 section 5.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MaxWindow {
    /// The largest window that the peer can advertise.
    #[default]
    Possible,
    /// The largest window that the peer advertised. The fast path does not record windows: for
    /// connections that never [enter it](crate::Connection::enter_fast_path).
    Advertised,
}

impl Default for ChallengeConfig {
    fn default() -> Self {
        let spacing = Duration::from_millis(500);
        let old_acks_within = MaxWindow::default();
        let (reset_in_window, syn_in_window) = <_>::default();
        let (limit, period) = (10, Duration::from_secs(5));
        Self { limit, period, spacing, old_acks_within, reset_in_window, syn_in_window }
    }
}

/// How an end probes a silent peer (RFC 9293 section 3.8.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
pub struct KeepAlive {
    /// The silence after which the first probe is sent. The RFC requires a default of two hours or
    /// more.
    #[setting(format = Positive, default = Duration::from_secs(7200), example = "7200 s")]
    pub idle: Duration,
    /// The time between probes without an answer.
    #[setting(format = Positive, default = Duration::from_secs(75), example = "75 s")]
    pub interval: Duration,
    /// The number of unanswered probes that end the connection.
    #[setting(format = PositiveCount, default = 9)]
    pub probes: u32,
}

/// When an end gives up on an unreachable peer (RFC 9293 section 3.8.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
pub struct Limits {
    /// R1: the number of retransmissions of a segment after which the application is informed;
    /// `None`: never. The RFC requires three at least.
    #[setting(skip)]
    pub r1: Option<u32>,
    /// R2 for data and for unanswered window probes. The RFC requires 100 s at least.
    #[setting(key = "retransmissions", format = Retransmissions)]
    pub r2: GiveUp,
    /// R2 for a SYN. The RFC requires 3 minutes at least.
    #[setting(key = "syn_retransmissions", format = Retransmissions)]
    pub r2_syn: GiveUp,
    /// The user timeout: the connection ends when data has been outstanding for this long (RFC
    /// 9293 section 3.9.1, RFC 5482; Linux: `TCP_USER_TIMEOUT`). The timer then expires in time.
    #[setting(format = Positive, example = "30 s", unset = "none")]
    pub user_timeout: Option<Duration>,
}

/// When the connection is given up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GiveUp {
    /// Never: an experiment sees to it when a run ends.
    #[default]
    Never,
    /// When the timer expires this long after the segment was first sent.
    After(Duration),
    /// When the timer expires after this many retransmissions of the segment.
    Retransmissions(u32),
}

/// A [`GiveUp`] that is written as a number of retransmissions.
struct Retransmissions;

impl Format for Retransmissions {
    type Value = GiveUp;

    fn read(found: &RawValue<'_>) -> Result<GiveUp, InvalidValue> {
        PositiveCount::read(found).map(GiveUp::Retransmissions)
    }

    fn show(value: &GiveUp) -> String {
        match value {
            GiveUp::Never => "never".to_string(),
            GiveUp::After(time) => time.to_string(),
            GiveUp::Retransmissions(count) => count.to_string(),
        }
    }

    fn expected() -> String {
        PositiveCount::expected()
    }

    fn shape() -> Shape {
        PositiveCount::shape()
    }
}

/// What a reset does in TIME-WAIT.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimeWaitReset {
    /// It ends it (RFC 9293 section 3.10.7.4).
    #[default]
    Ends,
    /// Nothing: an old duplicate must not end it early (RFC 1337).
    Ignored,
}

/// Whether an end that has closed may still read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AfterClose {
    /// It still reads until the peer closes the other direction.
    #[default]
    Reads,
    /// It does not: unread data, and data that still arrives, resets the connection. RFC 9293
    /// section 3.6.1 permits it, and `close` does it in BSD and Linux.
    Resets,
}

/// Does the sender hold back a small segment while data is outstanding?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum Nagle {
    /// No (`TCP_NODELAY`).
    #[default]
    Off,
    /// While anything is outstanding (RFC 896, RFC 9293 section 3.7.4).
    Rfc896,
    /// While a small segment is outstanding (Minshall 1999, draft-minshall-nagle-01), as in Linux.
    Minshall,
}

/// The key of a host's initial sequence numbers (RFC 6528 section 3): 128 secret bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Secret(pub [u64; 2]);

/// Whether the last acknowledgment of the handshake carries waiting data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Handshake {
    /// It may (RFC 9293 section 3.5).
    #[default]
    CarriesData,
    /// It is sent without data, because `connect` returns before anything can be written (Linux,
    /// `tcp_rcv_synsent_state_process`).
    Alone,
}
