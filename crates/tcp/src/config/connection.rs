//! Knobs of the connection itself: how it is kept, given up and guarded (RFC 9293, 5961).

use alloc::string::{String, ToString};

use rtolab_settings::{Choice, Format, Found, Positive, PositiveCount, Settings, Shape, Wrong};
use rtolab_time::Duration;

/// How a connection is kept, given up and guarded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnectionConfig {
    /// How many doubtful segments are answered.
    pub challenge: ChallengeConfig,
    /// Is a silent peer asked whether it is still there (RFC 9293 section 3.8.4)?
    pub keep_alive: Option<KeepAlive>,
    /// How long it is tried to reach the peer.
    pub limits: Limits,
    /// What a reset does in TIME-WAIT.
    pub time_wait_reset: TimeWaitReset,
    /// Who closes, may it still read?
    pub after_close: AfterClose,
    /// Who neither writes nor reads any more waits for so long in FIN-WAIT-2, or for three and a half
    /// timeouts if that is longer, and is gone; `None`: for ever, as RFC 9293 has it (Linux:
    /// `tcp_fin_timeout`).
    pub fin_timeout: Option<Duration>,
    /// Does the handshake's last acknowledgment carry data that are there to be sent?
    pub handshake: Handshake,
    /// What becomes of an acknowledgment with an old timestamp.
    pub old_acks: OldAcks,
    /// The first so many timeouts of a SYN that answers none do not back the timer off (Linux:
    /// `tcp_syn_linear_timeouts`).
    pub syn_linear_timeouts: u32,
    /// Are data ECN-capable where this end's last SYN said nothing of ECN, but the peer answers one
    /// that did?
    pub ecn_fallback: EcnFallback,
}

/// What an end does that retransmitted its SYN without ECN, for the path may drop SYNs with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EcnFallback {
    /// Its data are not ECN-capable (RFC 3168 section 6.1.1).
    #[default]
    NotCapable,
    /// They are, if the answer is (Linux, `tcp_ecn_rcv_synack`).
    Capable,
}

/// So many challenge acknowledgments at most in each such period (RFC 5961 section 7, whose example
/// these numbers are). The budget is a connection's own: a shared one tells whoever can count its
/// answers what other connections were asked (Cao et al. 2016, CVE-2016-5696).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChallengeConfig {
    /// How many.
    pub limit: u32,
    /// In what time.
    pub period: Duration,
}

impl Default for ChallengeConfig {
    fn default() -> Self {
        Self { limit: 10, period: Duration::from_secs(5) }
    }
}

/// How a silent peer is asked whether it is still there (RFC 9293 section 3.8.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
pub struct KeepAlive {
    /// It is asked once nothing has come from it for so long: two hours or more by default, says the
    /// RFC.
    #[setting(format = Positive, default = Duration::from_secs(7200), example = "7200 s")]
    pub idle: Duration,
    /// And again each time that no answer has come for so long.
    #[setting(format = Positive, default = Duration::from_secs(75), example = "75 s")]
    pub interval: Duration,
    /// So many questions without an answer end the connection; one says nothing.
    #[setting(format = PositiveCount, default = 9)]
    pub probes: u32,
}

/// How long it is tried to reach the peer (RFC 9293 section 3.8.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
pub struct Limits {
    /// R1: the application is told of a problem once a segment was retransmitted so often; `None`:
    /// never. The RFC asks for three at least.
    #[setting(skip)]
    pub r1: Option<u32>,
    /// R2 for data, and for probes of a window that nobody answers. The RFC asks for 100 s at least.
    #[setting(key = "retransmissions", format = Retransmissions)]
    pub r2: GiveUp,
    /// R2 for a SYN. The RFC asks for 3 minutes at least.
    #[setting(key = "syn_retransmissions", format = Retransmissions)]
    pub r2_syn: GiveUp,
}

/// When the connection is given up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GiveUp {
    /// Never: an experiment sees to it when a run ends.
    #[default]
    Never,
    /// As the timer expires after so long a time since the segment was first sent.
    After(Duration),
    /// As the timer expires after so many retransmissions of the segment.
    Retransmissions(u32),
}

/// A [`GiveUp`] that is written as a number of retransmissions.
struct Retransmissions;

impl Format for Retransmissions {
    type Value = GiveUp;

    fn read(found: &Found<'_>) -> Result<GiveUp, Wrong> {
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

/// Who closes, may it still read?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AfterClose {
    /// It reads on: the other direction is closed by the peer.
    #[default]
    Reads,
    /// It does not, and what is unread or still arrives resets the connection: RFC 9293 section
    /// 3.6.1, which says that a host may, and what `close` does in BSD and Linux.
    Resets,
}

/// Is a small segment held back while data are outstanding?
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

/// The key of a host's initial sequence numbers (RFC 6528 section 3): 128 bits that nobody else
/// knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Secret(pub [u64; 2]);

/// What becomes of a segment without data that another has overtaken, so that its timestamp is old?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OldAcks {
    /// It is dropped and answered, as any old segment (RFC 7323 section 5.3).
    #[default]
    Answered,
    /// It is taken where it is but a tick old, or repeats the last acknowledgment: what it tells by
    /// SACK may be new (Linux, `tcp_disordered_ack_check`). One segment without data is answered in
    /// half a second, be it old or outside the window (`tcp_oow_rate_limited`).
    Linux,
}

/// Does the last acknowledgment of the handshake carry data that are there to be sent?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Handshake {
    /// It may (RFC 9293 section 3.5).
    #[default]
    CarriesData,
    /// It leaves alone, and data follow: `connect` returns before anything can be written (Linux,
    /// `tcp_rcv_synsent_state_process`).
    Alone,
}
