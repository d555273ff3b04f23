//! Words for the choices of a sender, a link and a network.

use rtolab_link::{Notices, Order, SpikeHolds, StallHolds};
use rtolab_tcp::config::{
    AckCounts, AckDelay, Arithmetic, Avoidance, Bugfix, EchoRule, FirstAck, FullAck, GapFill,
    Halves, Halving, History, IdleRestart, Lie, Logarithm, Nagle, Outstanding, Parity, PartialAck,
    PartialAckTimer, PrrBound, RackThreshold, RecoverOnUndo, Reduction, ReorderingWindow,
    RepeatedTimeout, Response, RestartFrom, RestartOnDuplicate, RxtAnswer, SackOnTimeout,
    SackRules, Sampling, SlowStart, Threshold, TimerClock, Validation, WindowLimited,
};
use rtolab_time::Duration;
use schemars::{Schema, json_schema};
use serde_json::json;

use super::value::Text;
use crate::read::suggestion;

/// A choice that is written as one word.
pub(crate) trait Word: Copy + 'static {
    /// Every word, what it stands for and what that means.
    const WORDS: &'static [(&'static str, Self, &'static str)];
}

impl<W: Word> Text for W {
    type Value = Self;

    fn read(text: &str) -> Result<Self, String> {
        let known = W::WORDS.iter().find(|(word, ..)| *word == text);
        known.map(|(_, choice, _)| *choice).ok_or_else(|| {
            let nearest = suggestion(text, W::WORDS.iter().map(|(word, ..)| *word));
            format!("found {text:?}; expected {}{nearest}", Self::expected())
        })
    }

    fn expected() -> String {
        let words: Vec<_> = W::WORDS.iter().map(|(word, ..)| format!("{word:?}")).collect();
        match words.split_last() {
            Some((last, [])) => last.clone(),
            Some((last, others)) => format!("{} or {last}", others.join(", ")),
            None => String::new(),
        }
    }

    fn schema() -> Schema {
        let words = W::WORDS.iter();
        let words = words.map(|(word, _, about)| json!({ "const": word, "description": about }));
        json_schema!({ "type": "string", "oneOf": words.collect::<Vec<_>>() })
    }
}

/// A choice that is written as one word, or by the name of what no table lists.
#[derive(Clone, Debug)]
pub(crate) enum Named<W> {
    Listed(W),
    Other(String),
}

impl<W: Word> Text for Named<W> {
    type Value = Self;

    fn read(text: &str) -> Result<Self, String> {
        Ok(W::read(text).map_or_else(|_| Self::Other(text.to_string()), Self::Listed))
    }

    fn expected() -> String {
        W::expected()
    }

    fn schema() -> Schema {
        json_schema!({ "anyOf": [W::schema(), { "type": "string" }] })
    }
}

impl Word for SpikeHolds {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("delivery", Self::Delivery, "Later frames are sent on, but none arrives before it."),
        ("service", Self::Service, "The transmitter works on the delayed frame all that time."),
    ];
}

impl Word for StallHolds {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("transmitter", Self::Transmitter, "Frames wait in the queue, which may overflow."),
        ("entry", Self::Entry, "Frames wait before the queue and enter it together at the end."),
    ];
}

impl Word for Order {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("kept", Self::Kept, "None arrives before one that was sent earlier: it waits for that."),
        ("free", Self::Free, "Each arrives when it arrives."),
    ];
}

impl Word for Notices {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("damage", Self::Damage, "As it arrives damaged: its number is still legible."),
        ("gap", Self::Gap, "As a later block arrives."),
    ];
}

/// What delays a trace holds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Measured {
    /// Those of one direction.
    OneWay,
    /// Those of both together, as ping measures them.
    RoundTrip,
}

impl Word for Measured {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("one-way", Self::OneWay, "Those of one direction."),
        ("round-trip", Self::RoundTrip, "Those of both together, as ping measures: halved."),
    ];
}

/// What stands at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A snoop.
    Snoop,
    /// A filter.
    Filter,
}

impl Word for Kind {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("snoop", Self::Snoop, "Keeps what a wireless link may lose and retransmits it locally."),
        ("filter", Self::Filter, "Drops needless retransmissions and the ACKs they cause."),
    ];
}

impl Word for EchoRule {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("rfc1323", Self::Rfc1323, "Only a segment that spans the last ACK sent (section 3.4)."),
        ("rfc7323", Self::Rfc7323, "The same behind the window test: no wholly old segment."),
        ("linux", Self::Linux, "As rfc7323, but a duplicate that ends at the last ACK counts."),
        ("bsd", Self::Bsd, "After trimming: a duplicate that ends at the last ACK counts."),
        ("ns2bis", Self::Ns2bis, "Any segment at or below the last ACK, duplicates too."),
        ("echo-all", Self::EchoAll, "Always the latest segment."),
    ];
}

impl Word for AckDelay {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("timer", Self::Timer, "delayed_ack after the first segment that it acknowledges."),
        (
            "heartbeat",
            Self::Heartbeat,
            "At the next beat of the host's clock, whose period is delayed_ack, as in BSD.",
        ),
        ("adaptive", Self::Adaptive, "By the pace of segments, 40 ms to delayed_ack, as in Linux."),
    ];
}

impl Word for AckCounts {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("segments", Self::Segments, "Segments, however small."),
        ("bytes", Self::Bytes, "Bytes, in units of the largest segment that has arrived."),
    ];
}

impl Word for GapFill {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("at-once", Self::AtOnce, "At once, if it fills all or part of it (RFC 5681)."),
        ("where-joined", Self::WhereJoined, "At once where it joins what is behind, as in ns-2."),
        ("delayed", Self::Delayed, "As any other segment in order (RFC 1122)."),
    ];
}

impl Word for Lie {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        (
            "old-echo",
            Self::OldEcho,
            "It echoes the timestamp of the segment before: a repair looks like an original.",
        ),
        (
            "false-dsack",
            Self::FalseDsack,
            "What fills a gap or ends a second of silence is reported as received before.",
        ),
        ("ack-division", Self::AckDivision, "It acknowledges eight pieces of a segment each."),
        (
            "spoofed-duplicates",
            Self::SpoofedDuplicates,
            "It acknowledges four times each segment that arrives behind a gap.",
        ),
        (
            "optimistic",
            Self::Optimistic,
            "It acknowledges eight segments that have not arrived, and does without what is lost.",
        ),
    ];
}

impl Word for RxtAnswer {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        (
            "at-once",
            Self::AtOnce,
            "One without data, sent at once (draft-ludwig-tsvwg-tcp-rxt-flag).",
        ),
        ("next-ack", Self::NextAck, "The next one, delayed or with data (Ludwig and Katz 2000)."),
    ];
}

impl Word for Arithmetic {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("exact", Self::Exact, "In nanoseconds."),
        ("ns2", Self::Ns2, "In scaled whole ticks of the granularity, as in 4.4BSD and ns-2."),
        ("eifel", Self::Eifel, "Exact, by the flight: the Eifel retransmission timer (2000)."),
        ("bsd", Self::Bsd, "The same with two bits more, as in FreeBSD and NetBSD."),
    ];
}

impl Word for Sampling {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("every-ack", Self::EveryAck, "Every ACK of new data that Karn's rule allows."),
        ("once-per-window", Self::OncePerWindow, "One segment at a time is timed, as in BSD."),
        ("every-segment", Self::EverySegment, "Every segment that an ACK of new data covers."),
    ];
}

impl Word for Halves {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("flight-size", Self::FlightSize, "What is outstanding (RFC 5681)."),
        ("window", Self::Window, "The smaller of both windows (RFC 2001), as in ns-2."),
        (
            "congestion-window",
            Self::CongestionWindow,
            "The congestion window, whatever of it is in use, as in Linux.",
        ),
    ];
}

impl Word for RepeatedTimeout {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("keeps", Self::Keeps, "It stays as the first timeout left it (RFC 5681)."),
        ("halves", Self::Halves, "It is halved anew, as in RFC 2001 and ns-2."),
        ("once-per-window", Self::OncePerWindow, "It stays, also in fast recovery, as in Linux."),
    ];
}

impl Word for Halving {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("bytes", Self::Bytes, "Bytes (RFC 5681)."),
        ("segments", Self::Segments, "Whole segments, rounded down, as in BSD, Linux and ns-2."),
    ];
}

impl Word for Avoidance {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("formula", Self::Formula, "SMSS * SMSS / cwnd for every ACK (RFC 5681 equation 3)."),
        ("fraction", Self::Fraction, "The same, and less than a byte counts, too, as in ns-2."),
        ("byte-counting", Self::ByteCounting, "One segment for every window acknowledged."),
    ];
}

impl Word for FullAck {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("flight-size", Self::FlightSize, "min(ssthresh, max(FlightSize, SMSS) + SMSS)."),
        ("ssthresh", Self::Ssthresh, "ssthresh."),
        ("halved", Self::Halved, "What it was halved to, and it grows for that ACK, as in ns-2."),
    ];
}

impl Word for Bugfix {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("none", Self::None, "Duplicate ACKs always count."),
        ("less-careful", Self::LessCareful, "Only when the ACK covers recover or equals it."),
        ("careful", Self::Careful, "Only when the ACK covers more than recover."),
        ("ack-heuristic", Self::AckHeuristic, "Or the last ACK advanced by 4 segments at most."),
        ("timestamp-heuristic", Self::TimestampHeuristic, "Or it answers what was sent last."),
    ];
}

impl Word for PartialAckTimer {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("impatient", Self::Impatient, "The first partial ACK restarts the timer."),
        ("slow-but-steady", Self::SlowButSteady, "Every partial ACK does."),
    ];
}

impl Word for SackRules {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("rfc3517", Self::Rfc3517, "RFC 3517."),
        ("rfc6675", Self::Rfc6675, "RFC 6675: entry also by IsLost, rescue retransmission."),
        ("ns2", Self::Ns2, "Sack1 of ns-2: a pipe counted by ACKs, no IsLost."),
    ];
}

impl Word for Outstanding {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("pipe", Self::Pipe, "Neither SACKed nor lost, plus what was retransmitted."),
        ("classic", Self::Classic, "All but what is SACKed: lost segments stay counted."),
    ];
}

impl Word for RecoverOnUndo {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("reset", Self::Reset, "Ignored from then on: a fast retransmit may follow."),
        ("keep", Self::Keep, "It stays: no fast retransmit until it is passed."),
        ("discount", Self::Discount, "Ignored, with one duplicate ACK a retransmission made."),
    ];
}

impl Word for WindowLimited {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("conventional", Self::Conventional, "It gives up, and what is outstanding is sent again."),
        ("probe", Self::Probe, "It sends an empty segment below SND.UNA, which is answered."),
        ("one-byte", Self::OneByte, "It sends one byte of new data beyond the offered window."),
        ("tail", Self::Tail, "It sends the last outstanding segment again."),
        ("reserve-1", Self::Reserve(1), "One segment of the offered window is kept free for it."),
        ("reserve-2", Self::Reserve(2), "Two segments of the offered window are."),
    ];
}

impl Word for Response {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("none", Self::None, "Nothing: what is outstanding is sent again."),
        ("stop-gbn", Self::StopGbn, "The window stays reduced, but new data are sent."),
        ("half", Self::Half, "New data in half the window (report C-2002-07)."),
        ("full", Self::Full, "Window and ssthresh as before (Ludwig and Katz 2000)."),
        ("full:scaled", Self::FullScaled, "As full after one timeout, half of it after two."),
        (
            "ns2:full",
            Self::Ns2Full,
            "The window is what was outstanding and one segment (ns-2's 1).",
        ),
        ("ns2:half", Self::Ns2Half, "Slow start from half the window (ns-2's 2)."),
        ("ns2:slow-start", Self::Ns2SlowStart, "Slow start with new data (ns-2's 3)."),
        ("rfc4015", Self::Rfc4015, "The Eifel response (RFC 4015), with its timeout."),
        ("linux", Self::Linux, "Window and ssthresh not below what they were."),
        ("linux2.6:halving", Self::Linux26Halving, "Rate halving (tcp_frto_response 0)."),
        (
            "linux2.6:conservative",
            Self::Linux26Conservative,
            "Half of the window at once (tcp_frto_response 1).",
        ),
        ("linux2.6:undo", Self::Linux26Undo, "Twice the halved ssthresh (tcp_frto_response 2)."),
        ("bsd", Self::Bsd, "All as before, with the recovery that was under way."),
    ];
}

impl Word for FirstAck {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("definition", Self::Definition, "As any: since the last retransmission (equation 1)."),
        ("original", Self::Original, "Since the segment was first sent (Table III)."),
        ("skip", Self::Skip, "Not at all."),
    ];
}

impl Word for Threshold {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("physical", Self::Physical, "One and a half times the spacing of acknowledgments."),
        (
            "paper-ln",
            Self::Paper(Logarithm::Natural),
            "The paper's equation 3 with natural logarithms, for path_rate and path_delay.",
        ),
        (
            "paper-log10",
            Self::Paper(Logarithm::Decimal),
            "The paper's equation 3 with decimal logarithms, for path_rate and path_delay.",
        ),
        (
            "table",
            Self::Table,
            "The optimum of the paper's Table V, for a delay of 200 ms and the bandwidth nearest \
             to path_rate on a logarithmic axis.",
        ),
        (
            "online",
            Self::Online,
            "As paper-ln, for the path as acknowledgments show it; a tenth while they are too few.",
        ),
    ];
}

impl Word for Parity {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("paper", Self::Paper, "The parities of all trains are added up."),
        ("resync", Self::Resync, "What is outstanding counts."),
    ];
}

impl Word for RestartOnDuplicate {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("never", Self::Never, "No (RFC 6298)."),
        ("in-recovery", Self::InRecovery, "In fast recovery."),
        ("always", Self::Always, "Every one does."),
    ];
}

impl Word for RestartFrom {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("ack", Self::Ack, "Since that ACK (RFC 6298)."),
        ("oldest-segment", Self::OldestSegment, "Since the oldest outstanding segment was sent."),
    ];
}

impl Word for History {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("samples", Self::Samples, "So many samples, however often they come (RFC 6298)."),
        ("windows", Self::Windows, "So many windows (RFC 7323 appendix G)."),
    ];
}

impl Word for TimerClock {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("exact", Self::Exact, "Always."),
        ("ticks", Self::Ticks, "At each tick of the granularity, so up to one tick early."),
        ("wheel-1000", Self::Wheel(Duration::from_millis(1)), "As Linux's wheel, CONFIG_HZ=1000."),
        ("wheel-250", Self::Wheel(Duration::from_millis(4)), "As Linux's wheel, CONFIG_HZ=250."),
    ];
}

impl Word for SlowStart {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("one-segment", Self::OneSegment, "The bytes acknowledged, one segment at most."),
        ("two-segments", Self::TwoSegments, "Two segments at most (RFC 3465 with L of 2)."),
        ("per-ack", Self::PerAck, "One segment, however little is acknowledged."),
        ("delivered", Self::Delivered, "All that is delivered, as in Linux."),
    ];
}

impl Word for IdleRestart {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("off", Self::Off, "Never."),
        ("last-sent", Self::LastSent, "When nothing was sent for a timeout (RFC 5681)."),
        ("last-received", Self::LastReceived, "When nothing arrived for a timeout, as in BSD."),
    ];
}

impl Word for Nagle {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("off", Self::Off, "No."),
        ("rfc896", Self::Rfc896, "While anything is outstanding (RFC 9293 section 3.7.4)."),
        ("minshall", Self::Minshall, "While a small segment is outstanding, as in Linux."),
    ];
}

impl Word for Validation {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("off", Self::Off, "Nothing: it is kept, and grows (RFC 5681)."),
        ("rfc2861", Self::Rfc2861, "It is halved for each timeout, and does not grow."),
        ("rfc7661", Self::Rfc7661, "It is kept for five minutes, and does not grow."),
        ("linux", Self::Linux, "It is kept, and grows only where it was filled."),
    ];
}

impl Word for PartialAck {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("also-new", Self::AlsoNew, "The next hole and what the window allows (RFC 6582)."),
        ("retransmission-only", Self::RetransmissionOnly, "The next hole alone."),
    ];
}

impl Word for SackOnTimeout {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("clear", Self::Clear, "What was SACKed is forgotten (RFC 2018)."),
        ("keep", Self::Keep, "It stays, unless the first segment was SACKed, as in Linux."),
    ];
}

impl Word for Reduction {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("at-once", Self::AtOnce, "To ssthresh at once (RFC 5681)."),
        ("rate-halving", Self::RateHalving, "By a segment for every second ACK, as in Linux 2.4."),
        ("prr", Self::Prr(PrrBound::Rfc9937), "In proportion to what is delivered (RFC 9937)."),
        ("prr:crb", Self::Prr(PrrBound::Crb), "The same with the conservative bound (RFC 6937)."),
        ("prr:ssrb", Self::Prr(PrrBound::Ssrb), "The same with the slow-start bound (RFC 6937)."),
    ];
}

impl Word for ReorderingWindow {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("adaptive", Self::Adaptive, "By a quarter of the smallest round trip for D-SACKs."),
        ("static", Self::Static, "Not: it is such a quarter (Linux: tcp_recovery 2)."),
    ];
}

impl Word for RackThreshold {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("dupthresh", Self::Dupthresh, "As many as tcp.recovery.dupthresh says."),
        ("time-only", Self::TimeOnly, "None: only time counts (Linux: tcp_recovery 4)."),
    ];
}
