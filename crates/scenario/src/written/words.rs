//! Words for the choices of a sender, a link and a network.

use rtolab_link::{Notices, Order, SpikeHolds, StallHolds};
use rtolab_tcp::config::{
    Arithmetic, Avoidance, Bugfix, EchoRule, FirstAck, FullAck, Halves, Halving, Outstanding,
    PartialAckTimer, RecoverOnUndo, RepeatedTimeout, Response, SackRules, Sampling,
};
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

impl Word for Arithmetic {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("exact", Self::Exact, "In nanoseconds."),
        ("ns2", Self::Ns2, "In scaled whole ticks of the granularity, as in BSD and ns-2."),
    ];
}

impl Word for Sampling {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("every-ack", Self::EveryAck, "Every ACK of new data that Karn's rule allows."),
        ("once-per-window", Self::OncePerWindow, "One segment at a time is timed, as in BSD."),
    ];
}

impl Word for Halves {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("flight-size", Self::FlightSize, "What is outstanding (RFC 5681)."),
        ("window", Self::Window, "The smaller of both windows (RFC 2001), as in ns-2."),
    ];
}

impl Word for RepeatedTimeout {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("keeps", Self::Keeps, "It stays as the first timeout left it (RFC 5681)."),
        ("halves", Self::Halves, "It is halved anew, as in RFC 2001 and ns-2."),
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

impl Word for Response {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("none", Self::None, "Nothing: what is outstanding is sent again."),
        ("stop-gbn", Self::StopGbn, "The window stays reduced, but new data are sent."),
        ("half", Self::Half, "New data in half the window (report C-2002-07)."),
        ("full", Self::Full, "Window and ssthresh as before (Ludwig and Katz 2000)."),
        ("ns2:full", Self::Ns2Full, "The window is what was outstanding (ns-2's 1)."),
        ("ns2:slow-start", Self::Ns2SlowStart, "Slow start with new data (ns-2's 3)."),
        ("rfc4015", Self::Rfc4015, "The Eifel response (RFC 4015), with its timeout."),
        ("linux", Self::Linux, "Window and ssthresh not below what they were."),
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
