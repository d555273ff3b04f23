//! The rows of a diagnosis: plain data, ready for JSON and for tables.

use serde::Serialize;

use crate::conformance::ConformanceFinding;
use crate::evidence::Necessity;
use crate::stack::Guess;
use crate::trigger::Trigger;
use crate::vantage::Vantage;

/// A connection of a capture.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct ConnectionReport {
    /// Its number in the capture, from 1.
    pub number: u64,
    /// Address and port of the end that opens it, as far as the capture shows.
    pub client: String,
    /// Address and port of the other end.
    pub server: String,
    /// Where the capture was made, as seen by the end that sends more.
    pub vantage: Vantage,
    /// The end that sends more: `client` or `server`.
    pub sender: &'static str,
    /// The time of its first packet, in seconds since the capture's first packet.
    pub start: f64,
    /// The time of its last packet.
    pub end: f64,
    /// Packets, without those captured twice.
    pub packets: u64,
    /// Packets that are in the capture twice.
    pub captured_twice: u64,
    /// Acknowledged bytes that the capture lacks.
    pub missed_bytes: u64,
    /// Retransmitted ranges beyond the limit of those reported.
    pub untold: u64,
    /// The payload that each end sent, in bytes, retransmissions included.
    pub bytes: [u64; 2],
    /// The negotiated options; `None` if the handshake is not in the capture.
    pub options: Option<Options>,
    /// The smallest round-trip time from the capture point to the receiver and back, in seconds.
    pub min_rtt: Option<f64>,
    /// A guess at the sender's system.
    pub stack: Option<Guess>,
    pub retransmissions: Vec<RetransmissionReport>,
    /// Retransmissions by the retransmission timer.
    pub timeouts: Vec<TimeoutReport>,
    pub episodes: Vec<EpisodeReport>,
    /// Departures of the senders from the standards.
    #[serde(rename = "habits")]
    pub findings: Vec<ConformanceFinding>,
}

/// The options of a handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Options {
    /// The MSS options of client and server, in bytes.
    pub mss: [Option<u16>; 2],
    /// The window scales of client and server.
    pub window_scale: [Option<u8>; 2],
    /// Are timestamps in use?
    pub timestamps: bool,
    /// Is SACK in use?
    pub sack: bool,
    /// Has an end sent a D-SACK?
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
    /// The IPv4 identification; 0 for IPv6.
    pub ip_id: u16,
    /// The sequence number on the wire.
    pub seq: u32,
    /// The payload in bytes.
    pub len: u32,
    /// The reason for it.
    pub trigger: Trigger,
    /// For a timeout: how often the timer had been backed off before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backoff: Option<u32>,
    /// Was it needed?
    pub verdict: Necessity,
    /// The confidence in the verdict, between 0 and 1.
    pub confidence: f64,
    /// The evidence for the verdict, the strongest first.
    pub evidence: Vec<EvidenceReport>,
    /// The evidence against it.
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

/// The class of a timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// The timed-out segment was lost.
    Genuine,
    /// It arrived, but all its ACKs were lost.
    AckLost,
    /// It or its ACK was late.
    Spurious,
    /// The capture does not show it.
    Unknown,
}

impl Class {
    /// The name in documents.
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
#[expect(missing_docs, reason = "the names say it")]
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
    /// The time since the last event that restarts the timer, in seconds.
    pub after: f64,
    /// Was it a segment of the handshake?
    pub handshake: bool,
    pub class: Class,
    /// The confidence in the class, between 0 and 1.
    pub confidence: f64,
    /// The verdict of each detector.
    pub verdicts: std::collections::BTreeMap<&'static str, &'static str>,
}

/// An episode: from the first timeout until all data outstanding then is acknowledged.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct EpisodeReport {
    /// `client` or `server`.
    pub from: &'static str,
    /// When the first timeout happened, in seconds since the capture's first packet.
    pub start: f64,
    /// When all was acknowledged; `None` if the capture or the connection ended before.
    pub end: Option<f64>,
    /// The frames of the first timeout and of that ACK.
    pub frames: [u64; 2],
    /// When nothing was acknowledged: from, to.
    pub stalled: Option<[f64; 2]>,
    /// A description in two or three sentences.
    pub story: String,
    pub cost: Cost,
}

/// The cost of an episode.
#[derive(Clone, Copy, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Cost {
    /// How long nothing was acknowledged, in seconds.
    pub stall: Option<f64>,
    /// The time lost compared with an undisturbed path, in seconds.
    pub time_lost: Option<f64>,
    /// The payload of unneeded retransmissions.
    pub unneeded_bytes: u64,
    pub timeouts: u32,
    /// Unneeded fast retransmits that followed.
    pub spurious_fast_retransmits: u32,
    /// FlightSize before the first timeout and after recovery, in bytes: approximately cwnd.
    pub flight: [u64; 2],
}

/// Totals of a capture.
#[derive(Clone, Debug, Default, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Summary {
    /// When the first packet was captured, in seconds since 1970-01-01 00:00 UTC.
    pub began: f64,
    /// TCP packets.
    pub packets: u64,
    /// Connections.
    pub connections: u64,
    /// Connections left out: those without a retransmission after the first ten thousand, and all
    /// after the first two million retransmissions.
    pub left_out: u64,
    /// Connections treated as over because too many were open at once.
    pub given_up: u64,
    pub retransmissions: u64,
}
