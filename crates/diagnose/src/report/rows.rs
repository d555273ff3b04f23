//! The rows of a diagnosis: plain data, ready for JSON and for tables.

use serde::Serialize;

use crate::conformance::ConformanceFinding;
use crate::evidence::Necessity;
use crate::stack::Guess;
use crate::trigger::Trigger;
use crate::vantage::Vantage;

/// A connection of a capture.
#[derive(Clone, Debug, Serialize)]
pub struct ConnectionReport {
    /// Counts the connections of the capture, from 1.
    pub number: u64,
    /// Address and port of the end that opens it, as far as the capture shows.
    pub client: String,
    /// Address and port of the other end.
    pub server: String,
    /// Where the capture stands, as seen by the end that sends more.
    pub vantage: Vantage,
    /// The end that sends more: `client` or `server`.
    pub sender: &'static str,
    /// When its first packet passed, in seconds since the capture's first packet.
    pub start: f64,
    /// When its last did.
    pub end: f64,
    /// Packets, copies included.
    pub packets: u64,
    /// Packets that the capture holds twice.
    pub captured_twice: u64,
    /// Bytes that were acknowledged and that the capture lacks.
    pub missed_bytes: u64,
    /// Ranges sent more than once that are not reported because there are too many.
    pub untold: u64,
    /// Payload that either end sent, in bytes, repetitions included.
    pub bytes: [u64; 2],
    /// What the ends agreed on; `None` where the handshake is not in the capture.
    pub options: Option<Options>,
    /// The smallest round trip from the capture to the receiver and back, in seconds.
    pub min_rtt: Option<f64>,
    /// A guess at the sender's system.
    pub stack: Option<Guess>,
    /// Everything that was sent more than once.
    pub retransmissions: Vec<RetransmissionReport>,
    /// Everything that a retransmission timer sent.
    pub timeouts: Vec<TimeoutReport>,
    /// From a timeout until recovery.
    pub episodes: Vec<EpisodeReport>,
    /// Where the senders depart from the standards.
    #[serde(rename = "habits")]
    pub findings: Vec<ConformanceFinding>,
}

/// What a handshake agreed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Options {
    /// The payload that client and server take at most, in bytes.
    pub mss: [Option<u16>; 2],
    /// The shift of the windows of client and server.
    pub window_scale: [Option<u8>; 2],
    /// Are there timestamps?
    pub timestamps: bool,
    /// Is SACK in use?
    pub sack: bool,
    /// Has an end reported a duplicate?
    pub dsack: bool,
}

/// A retransmission.
#[derive(Clone, Debug, Serialize)]
pub struct RetransmissionReport {
    /// Its number in the capture, from 1.
    pub frame: u64,
    /// In seconds since the capture's first packet.
    pub t: f64,
    /// `client` or `server`.
    pub from: &'static str,
    /// The identification of IPv4, 0 in IPv6.
    pub ip_id: u16,
    /// The sequence number on the wire.
    pub seq: u32,
    /// Payload in bytes.
    pub len: u32,
    /// Why it was sent.
    pub trigger: Trigger,
    /// Of a timeout, how often the timer had been backed off before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backoff: Option<u32>,
    /// Was it needed?
    pub verdict: Necessity,
    /// How sure that is, between 0 and 1.
    pub confidence: f64,
    /// What speaks for the verdict, the strongest first.
    pub evidence: Vec<EvidenceReport>,
    /// What speaks against it.
    pub against: Vec<EvidenceReport>,
}

/// A piece of evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct EvidenceReport {
    /// The name of its kind.
    pub kind: &'static str,
    /// The frame that shows it.
    pub frame: u64,
}

/// What a timeout was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// What timed out was lost.
    Genuine,
    /// It arrived, and all ACKs of it were lost.
    AckLost,
    /// It or its ACK was only late.
    Spurious,
    /// The capture does not say.
    Unknown,
}

impl Class {
    /// As documents name it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Genuine => "genuine",
            Self::AckLost => "ack-lost",
            Self::Spurious => "spurious",
            Self::Unknown => "unknown",
        }
    }
}

/// A timeout.
#[derive(Clone, Debug, Serialize)]
pub struct TimeoutReport {
    /// The retransmission's number in the capture.
    pub frame: u64,
    /// In seconds since the capture's first packet.
    pub t: f64,
    /// `client` or `server`.
    pub from: &'static str,
    /// The sequence number on the wire.
    pub seq: u32,
    /// How often the timer had been backed off before.
    pub backoff: u32,
    /// How long after the last event that restarts the timer, in seconds.
    pub after: f64,
    /// Was it a segment of the handshake?
    pub handshake: bool,
    /// What it was.
    pub class: Class,
    /// How sure that is, between 0 and 1.
    pub confidence: f64,
    /// What each detector says of it.
    pub verdicts: std::collections::BTreeMap<&'static str, &'static str>,
}

/// An episode: from the first timeout until all is acknowledged that was outstanding then.
#[derive(Clone, Debug, Serialize)]
pub struct EpisodeReport {
    /// `client` or `server`.
    pub from: &'static str,
    /// When the first timeout came, in seconds since the capture's first packet.
    pub start: f64,
    /// When all was acknowledged; `None` if the capture or the connection ended before.
    pub end: Option<f64>,
    /// The frames of the first timeout and of that ACK.
    pub frames: [u64; 2],
    /// From when to when nothing was acknowledged.
    pub stalled: Option<[f64; 2]>,
    /// What happened, in two or three sentences.
    pub story: String,
    /// What it cost.
    pub cost: Cost,
}

/// What an episode cost.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Cost {
    /// How long nothing was acknowledged, in seconds.
    pub stall: Option<f64>,
    /// Against a path that had gone on as before, in seconds.
    pub time_lost: Option<f64>,
    /// Payload of unneeded retransmissions.
    pub unneeded_bytes: u64,
    /// Timeouts in it.
    pub timeouts: u32,
    /// Fast retransmits in its wake that were unneeded.
    pub spurious_fast_retransmits: u32,
    /// FlightSize before the first timeout and after recovery, in bytes: about the congestion
    /// window.
    pub flight: [u64; 2],
}

/// What was read, beside connections.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Summary {
    /// When the first packet was captured, in seconds since 1970-01-01 00:00 UTC.
    pub began: f64,
    /// TCP packets.
    pub packets: u64,
    /// Connections.
    pub connections: u64,
    /// Connections that are left out: those without a retransmission after the first ten thousand,
    /// and all after the first two million retransmissions.
    pub left_out: u64,
    /// Connections that were taken to be over because too many were open at once.
    pub given_up: u64,
    /// Retransmissions.
    pub retransmissions: u64,
}
