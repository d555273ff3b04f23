//! How the hosts behave: the knobs of a TCP endpoint.

use rtolab_tcp::config::{
    AckCounts, AckDelay, Arithmetic, Avoidance, Bugfix, EchoRule, FirstAck, FullAck, GapFill,
    Halves, Halving, History, IdleRestart, InitialWindow, Lie, Nagle, Outstanding, Parity,
    PartialAck, PartialAckTimer, RackThreshold, RecoverOnUndo, Reduction, ReorderingWindow,
    RepeatedTimeout, Response, RestartFrom, RestartOnDuplicate, RxtAnswer, SackOnTimeout,
    SackRules, Sampling, SlowStart, Threshold, TimerClock, Validation, WindowLimited,
};
use rtolab_time::{Duration, Rate};
use schemars::JsonSchema;
use serde::Deserialize;

use super::congestion::{Congestion, Cubic};
use super::profile::ReceivingProfile;
use super::quantity::{Buffer, Mss, Positive, Segments};
use super::value::{Chance, Count, Whole, Written};
use super::words::Named;

/// How the sending hosts behave. Defaults are what the RFCs in force recommend.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Tcp {
    /// The sum of policies that a sender is: a loss recovery, and what a timeout does. A flow may
    /// have its own, and the command line may name others. Default: sack.
    #[schemars(example = &"sack", example = &"newreno+frto")]
    pub sender: Option<String>,
    /// The largest segment. Default: 1460 B.
    #[schemars(example = &"256 B")]
    pub mss: Option<Written<Mss>>,
    /// The window scale offered (RFC 7323); without it scaling is not offered.
    pub window_scale: Option<Whole<0, 14>>,
    /// Are timestamps offered? A sender that needs them offers them anyway. Default: false.
    pub timestamps: Option<bool>,
    /// Is explicit congestion notification offered (RFC 3168)? Default: false.
    pub ecn: Option<bool>,
    /// The timestamps option (RFC 7323).
    #[serde(default)]
    pub timestamp: Timestamp,
    /// The retransmission timeout (RFC 6298).
    #[serde(default)]
    pub rto: Rto,
    /// How the congestion window starts and grows (RFC 5681).
    #[serde(default)]
    pub window: Window,
    /// How the window grows beyond slow start, and how far it is cut.
    #[serde(default)]
    pub congestion: Congestion,
    /// Knobs of CUBIC (RFC 9438).
    #[serde(default)]
    pub cubic: Cubic,
    /// What duplicate acknowledgments do.
    #[serde(default)]
    pub recovery: Recovery,
    /// Knobs of NewReno (RFC 6582).
    #[serde(default)]
    pub newreno: NewReno,
    /// Knobs of SACK recovery (RFC 6675).
    #[serde(default)]
    pub sack_recovery: SackRecovery,
    /// Knobs of RACK-TLP (RFC 8985).
    #[serde(default)]
    pub rack: Rack,
    /// What F-RTO does where it has no new segments to send, by RFC 5682 appendix A. Default:
    /// conventional.
    pub frto_window_limited: Option<Written<WindowLimited>>,
    /// What becomes of recover (or send_high) once a timeout is found spurious. Default: reset.
    pub recover_on_undo: Option<Written<RecoverOnUndo>>,
    /// What a spurious timeout or fast retransmit restores, where the sender names no response; one
    /// written in Python by its name. Default: what the detector's own publication does.
    pub response: Option<Written<Named<Response>>>,
    /// Knobs of DualRTT.
    #[serde(default)]
    pub dualrtt: DualRtt,
    /// Does the segment that empties the send buffer carry PSH? Default: false.
    pub push: Option<bool>,
    /// Is a small segment held back while data are outstanding? Default: off.
    pub nagle: Option<Written<Nagle>>,
    /// Whether a silent peer is asked if it is still there (RFC 9293 section 3.8.4). Default: no.
    pub keep_alive: Option<KeepAlive>,
    /// When a connection is given up (RFC 9293 section 3.8.3). Default: never.
    #[serde(default)]
    pub give_up: GiveUp,
}

/// How a silent peer is asked if it is still there (RFC 9293 section 3.8.4).
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct KeepAlive {
    /// It is asked once nothing has come from it for so long. Default: 7200 s.
    #[schemars(example = &"7200 s")]
    pub idle: Option<Written<Positive>>,
    /// And again each time that no answer has come for so long. Default: 75 s.
    #[schemars(example = &"75 s")]
    pub interval: Option<Written<Positive>>,
    /// So many questions without an answer end the connection. Default: 9.
    pub probes: Option<Count>,
}

/// When a connection is given up (RFC 9293 section 3.8.3).
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct GiveUp {
    /// As the timer expires after so many retransmissions of a segment. Default: never.
    pub retransmissions: Option<Count>,
    /// The same for a SYN. Default: never.
    pub syn_retransmissions: Option<Count>,
}

/// The timestamps option (RFC 7323).
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Timestamp {
    /// One tick of the timestamp clock. Default: 1 ms.
    #[schemars(example = &"10 ms")]
    pub tick: Option<Written<Positive>>,
    /// Do the option's 12 bytes come out of the MSS (the default), or does the packet grow?
    pub in_mss: Option<bool>,
    /// Which segments' timestamps are echoed. Default: rfc7323.
    pub echo: Option<Written<EchoRule>>,
}

/// The retransmission timeout (RFC 6298).
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Rto {
    /// The timeout is never below this (RFC 6298 section 2.4). Default: 1 s.
    #[schemars(example = &"1 s")]
    pub min: Option<Written<Positive>>,
    /// Instead of min: the timeout is never below SRTT plus this, as in Linux.
    #[schemars(example = &"200 ms")]
    pub min_on_variance: Option<Written<Positive>>,
    /// Instead of min: the timeout with its back-off is never below this, but what is backed off has
    /// no floor, as in old ns-2.
    #[schemars(example = &"1 s")]
    pub min_after_backoff: Option<Written<Positive>>,
    /// Instead of min: the timeout is never below this while it runs for a segment whose ACK the
    /// receiver delays, the last of an odd number, and has no floor for any other.
    #[schemars(example = &"500 ms")]
    pub min_delayed_ack: Option<Written<Positive>>,
    /// How min_delayed_ack tells which segments those are. Default: paper.
    pub delayed_ack_parity: Option<Written<Parity>>,
    /// The timeout is never above this. Default: 60 s.
    #[schemars(example = &"60 s")]
    pub max: Option<Written<Positive>>,
    /// What every timeout has on top, behind its back-off, once there was a sample, as in FreeBSD.
    /// Default: 0 s.
    #[schemars(example = &"200 ms")]
    pub slop: Option<Written<Duration>>,
    /// The timeout before the first sample. Default: 1 s.
    #[schemars(example = &"3 s")]
    pub initial: Option<Written<Positive>>,
    /// How often RTTVAR counts in the timeout; 0 leaves it out. Default: 4.
    pub k: Option<Whole<0, { u32::MAX }>>,
    /// The gain of SRTT is one in so many. Default: 8.
    pub srtt_gain: Option<Count>,
    /// The gain of RTTVAR is one in so many. Default: 4.
    pub rttvar_gain: Option<Count>,
    /// The clock's granularity; samples are whole ticks of it. Default: 0 s.
    #[schemars(example = &"10 ms")]
    pub granularity: Option<Written<Duration>>,
    /// How and in what numbers round trips are smoothed. Default: exact.
    pub arithmetic: Option<Written<Arithmetic>>,
    /// Which acknowledgments give a sample. Default: every-ack.
    pub sampling: Option<Written<Sampling>>,
    /// Does the handshake give a sample, too? Default: true.
    pub sample_handshake: Option<bool>,
    /// Does a retransmission in fast recovery restart the timer (RFC 6675 section 6)? Default:
    /// false.
    pub restart_on_retransmit: Option<bool>,
    /// Does a duplicate ACK restart the timer? Default: never.
    pub restart_on_duplicate: Option<Written<RestartOnDuplicate>>,
    /// Since when a timer runs that a new ACK restarts. Default: ack.
    pub restart_from: Option<Written<RestartFrom>>,
    /// Over what round trips are smoothed. Default: samples.
    pub history: Option<Written<History>>,
    /// After more than so many back-offs in a row the round trip is measured from scratch. Default:
    /// never, but 3 with the arithmetic of ns2 and bsd.
    pub forget_after: Option<Whole<0, 63>>,
    /// When the timer looks at the clock. Default: exact.
    pub timer: Option<Written<TimerClock>>,
}

/// How the congestion window starts and grows (RFC 5681).
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Window {
    /// The initial window. Default: rfc6928.
    pub initial: Option<Written<InitialWindow>>,
    /// The initial slow-start threshold. Default: unlimited.
    #[schemars(example = &"20 segments")]
    pub initial_ssthresh: Option<Written<Segments>>,
    /// What a timeout or fast retransmit halves for ssthresh. Default: flight-size.
    pub halves: Option<Written<Halves>>,
    /// In what that half is counted. Default: bytes.
    pub halving: Option<Written<Halving>>,
    /// What becomes of ssthresh when one segment times out again. Default: keeps.
    pub repeated_timeout: Option<Written<RepeatedTimeout>>,
    /// How the window grows in congestion avoidance. Default: formula.
    pub avoidance: Option<Written<Avoidance>>,
    /// The window when fast recovery ends. Default: flight-size.
    pub full_ack: Option<Written<FullAck>>,
    /// The most segments that one acknowledgment may release. Default: unlimited.
    #[schemars(example = &"3 segments")]
    pub max_burst: Option<Written<Segments>>,
    /// How much one ACK adds in slow start. Default: one-segment.
    pub slow_start: Option<Written<SlowStart>>,
    /// When the window begins anew after an idle time (RFC 5681 section 4.1). Default: off.
    pub idle_restart: Option<Written<IdleRestart>>,
    /// What becomes of a window that is not used. Default: off.
    pub validation: Option<Written<Validation>>,
    /// So many segments are sent beyond the offered window, as some Windows did. Default: 0.
    pub overrun: Option<Whole<0, 1000>>,
}

/// What duplicate acknowledgments do.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Recovery {
    /// So many duplicate acknowledgments mean a loss. Default: 3.
    pub dupthresh: Option<Count>,
    /// Does each of the first two release a new segment (RFC 3042)? Default: true.
    pub limited_transmit: Option<bool>,
    /// When a fast retransmit may follow a timeout, for all but SACK recovery. Default: careful.
    pub bugfix: Option<Written<Bugfix>>,
    /// With little outstanding and nothing new to send, are fewer duplicate ACKs enough (RFC 5827)?
    /// Default: false.
    pub early_retransmit: Option<bool>,
    /// How the window comes down in fast recovery. Default: at-once.
    pub reduction: Option<Written<Reduction>>,
    /// Do duplicate ACKs in a fast recovery that follows a timeout send more of the window again, as
    /// in BSD? Default: false.
    pub go_back_n_on_duplicates: Option<bool>,
}

/// Knobs of NewReno (RFC 6582).
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct NewReno {
    /// Which partial acknowledgments restart the timer. Default: impatient.
    pub timer: Option<Written<PartialAckTimer>>,
    /// What a partial acknowledgment lets out. Default: also-new.
    pub partial_ack: Option<Written<PartialAck>>,
}

/// Knobs of SACK recovery (RFC 6675).
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct SackRecovery {
    /// Whose rules. Default: rfc6675.
    pub rules: Option<Written<SackRules>>,
    /// What counts against the window in recovery. Default: pipe.
    pub outstanding: Option<Written<Outstanding>>,
    /// What a timeout does to the scoreboard. Default: clear.
    pub on_timeout: Option<Written<SackOnTimeout>>,
}

/// Knobs of RACK-TLP (RFC 8985).
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Rack {
    /// How the reordering window adapts. Default: adaptive.
    pub reordering_window: Option<Written<ReorderingWindow>>,
    /// How many segments SACKed above a hole show a loss without waiting, as long as no reordering
    /// was seen. Default: dupthresh.
    pub threshold: Option<Written<RackThreshold>>,
    /// The smallest round trip is that of so long a time (Linux: tcp_min_rtt_wlen). Default: of the
    /// whole connection.
    #[schemars(example = &"300 s")]
    pub min_rtt_window: Option<Written<Positive>>,
    /// Are tail loss probes sent (Linux: tcp_early_retrans)? Default: true.
    pub tail_loss_probe: Option<bool>,
    /// The probe for a single segment waits so much longer (Linux: TCP_RTO_MIN). Default: 200 ms.
    #[schemars(example = &"200 ms")]
    pub max_ack_delay: Option<Written<Duration>>,
    /// The reordering timer, and that of a probe for several segments, are so much longer (Linux: 2
    /// ms). Default: 0 s.
    #[schemars(example = &"2 ms")]
    pub timer_slack: Option<Written<Duration>>,
}

/// Knobs of DualRTT (Fu and Atiquzzaman 2004).
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct DualRtt {
    /// An acknowledgment is too soon within this fraction of the smallest round trip. Default: 0.1.
    pub threshold: Option<Chance>,
    /// Instead of threshold: what it goes by. Default: threshold.
    pub model: Option<Written<Threshold>>,
    /// For a model that goes by it: the bandwidth of the path, as far as the sender knows.
    #[schemars(example = &"50 kbit/s")]
    pub path_rate: Option<Written<Rate>>,
    /// For a model that goes by it: the one-way delay of the path, as far as the sender knows.
    #[schemars(example = &"200 ms")]
    pub path_delay: Option<Written<Duration>>,
    /// How the first new acknowledgment after a timeout is judged. Default: definition.
    pub first: Option<Written<FirstAck>>,
}

/// How the receiving hosts behave; what is not here they share with the sending ones.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Receiver {
    /// The system that receives. It sets some of the keys below, and those that are written replace
    /// what it sets. Default: none.
    pub profile: Option<Written<ReceivingProfile>>,
    /// The receive buffer: the largest window offered. Default: 65535 B.
    #[schemars(example = &"32 kB")]
    pub buffer: Option<Written<Buffer>>,
    /// An acknowledgment at least every so many full segments. Default: 2.
    pub ack_every: Option<Count>,
    /// The longest that an acknowledgment is delayed. Default: 200 ms.
    #[schemars(example = &"200 ms")]
    pub delayed_ack: Option<Written<Duration>>,
    /// Which segments' timestamps are echoed. Default: as tcp.timestamp.echo.
    pub echo: Option<Written<EchoRule>>,
    /// Is SACK accepted where it is offered? Default: true.
    pub sack: Option<bool>,
    /// Are timestamps accepted where they are offered? Default: true.
    pub timestamps: Option<bool>,
    /// Are duplicates reported by D-SACK (RFC 2883)? Default: false.
    pub dsack: Option<bool>,
    /// Is explicit congestion notification accepted where it is offered (RFC 3168)? Default: true.
    pub ecn: Option<bool>,
    /// The largest segment. Default: as tcp.mss.
    #[schemars(example = &"256 B")]
    pub mss: Option<Written<Mss>>,
    /// The window scale that answers an offer. Default: the smallest that announces the buffer.
    pub window_scale: Option<Whole<0, 14>>,
    /// Is a retransmission that is marked as one (RXT) answered by an ACK that says so? Default:
    /// true.
    pub rxt_echo: Option<bool>,
    /// Which ACK that is, beside rxt_echo. Default: at-once.
    pub rxt_answer: Option<Written<RxtAnswer>>,
    /// When a delayed ACK leaves at the latest. Default: timer.
    pub ack_delay: Option<Written<AckDelay>>,
    /// When the host's heartbeat is first, beside ack_delay = "heartbeat". Default: 0 s.
    #[schemars(example = &"50 ms")]
    pub heartbeat_phase: Option<Written<Duration>>,
    /// In what ack_every counts. Default: segments.
    pub ack_counts: Option<Written<AckCounts>>,
    /// So many ACKs leave at once before any is delayed (Linux: up to 16). Default: 0.
    pub quick_acks: Option<Whole<0, { u32::MAX }>>,
    /// Is a segment with PSH (tcp.push) acknowledged at once? Default: false.
    pub ack_pushed_at_once: Option<bool>,
    /// How what fills a gap is acknowledged. Default: at-once.
    pub gap_fill: Option<Written<GapFill>>,
    /// The most SACK blocks in a segment, D-SACK included; beside timestamps three fit. Default: 4.
    pub max_sack_blocks: Option<Whole<1, 4>>,
    /// The third and later duplicate ACKs wait so long for the link to fill the gap (Vaidya et al.
    /// 2002); without it they leave at once.
    #[schemars(example = &"500 ms")]
    pub delayed_dupacks: Option<Written<Positive>>,
    /// Does D-SACK report what is dropped for its old timestamp, too? Default: false.
    pub dsack_old: Option<bool>,
    /// What the receiver says that is not so, to be sent more than its share. Default: nothing.
    pub lie: Option<Written<Lie>>,
}
