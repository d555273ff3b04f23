//! The rows of a diagnosis: plain data, ready for JSON and for tables.

#[cfg(test)]
mod tests;

use serde::Serialize;

use super::never_arrived::NeverArrived;
use super::queue::QueueAtLosses;
use crate::capture_points::CapturePoint;
use crate::class::TimeoutClass;
use crate::closing::ClosingSilence;
use crate::conformance::ConformanceFinding;
use crate::connection_key::ConnectionKey;
use crate::evidence::Necessity;
use crate::failure::ConnectionFailure;
use crate::half_connection::{Reordering, SackCounts, Timer};
use crate::history::EvidenceKind;
use crate::loss_place::LossPlace;
use crate::missing_direction::MissingDirection;
use crate::pauses::{Pauses, Waits};
use crate::rebound::Rebound;
use crate::rtt::RoundTrips;
use crate::silence::{IdleTimeout, Silence};
use crate::stack::Guess;
use crate::trigger::Trigger;
use crate::vantage::Vantage;

/// The median round trip, compared with the smallest, from which on data waits in a queue.
const QUEUED: f64 = 1.1;
/// The shortest time for which a full window matters, in seconds.
const MIN_FULL_WINDOW: f64 = 0.5;

/// A connection as another side of a translator shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Translation {
    /// The number of this side in the capture.
    pub number: u64,
    /// Address and port of the client there.
    pub client: String,
    /// Address and port of the server there.
    pub server: String,
}

/// A connection of a capture.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct ConnectionReport {
    /// Its number in the capture, from 1.
    pub number: u64,
    /// Its ends.
    #[serde(skip)]
    pub(crate) key: ConnectionKey,
    /// The capture point whose packets this report describes, if there are two.
    #[serde(skip)]
    pub(crate) capture_point: CapturePoint,
    /// Address and port of the end that opens it, as far as the capture shows.
    pub client: String,
    /// Address and port of the other end.
    pub server: String,
    /// The same connection on the other sides of a NAT or a load balancer, if they are in the
    /// capture, too. It counts once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub translations: Vec<Translation>,
    /// Where the capture was made, as seen by the end that sends more.
    pub vantage: Vantage,
    /// The end that sends more: `client` or `server`.
    pub sender: &'static str,
    /// The packets from client and server.
    #[serde(skip)]
    pub(crate) seen: [u64; 2],
    /// Has the sender shown that it uses F-RTO?
    #[serde(skip)]
    pub(crate) has_frto: bool,
    /// The connection that this one continues from another port.
    #[serde(skip)]
    pub(crate) rebound: Option<Rebound>,
    /// The packets of the end without an answer that a translator did not pass on.
    #[serde(skip)]
    pub(crate) not_passed_on: u64,
    /// The time of its first packet, in seconds since the capture's first packet.
    pub start: f64,
    /// The time of its last packet.
    pub end: f64,
    /// Packets, without those captured twice.
    pub packets: u64,
    /// The number of capture points, 1 or 2.
    pub capture_points: u8,
    /// Packets that are in the capture twice, unless the network duplicated them, and those of the
    /// other sides of a translator. If there are two capture points, most packets are.
    pub captured_twice: u64,
    /// Data segments that the network duplicated, according to the receiver's D-SACKs.
    pub duplicated: u64,
    /// Segments by which the sender answered ECN echoes: it had reduced its window (CWR, RFC 3168).
    #[serde(skip)]
    pub ecn_reductions: u64,
    /// Acknowledged bytes that the capture lacks.
    pub missed_bytes: u64,
    /// What one end sent and the capture never showed, if nothing acknowledged it.
    #[serde(skip)]
    pub(crate) never_arrived: Option<NeverArrived>,
    /// The capture point on the path of the client's data.
    #[serde(skip)]
    pub(crate) client_vantage: Vantage,
    /// Duplicate ACKs whose SACK blocks the capture may have cut off, and the captured bytes of
    /// such a frame.
    #[serde(skip)]
    pub(crate) cut_duplicates: (u64, u32),
    /// How long the receiver's window left no room for a full segment, in seconds, and how long of
    /// that it was small.
    #[serde(skip)]
    pub(crate) full_window: [f64; 2],
    /// The window of the SYN-ACK and the largest later one, in bytes, if the path removed window
    /// scaling from the SYN-ACK.
    #[serde(skip)]
    pub(crate) unscaled: Option<[u32; 2]>,
    /// The recoveries after which a whole flight was seen, and of those the ones that slowed the
    /// sender down.
    #[serde(skip)]
    pub(crate) recoveries: [u64; 2],
    /// Small segments that client and server held back until a delayed ACK.
    #[serde(skip)]
    pub(crate) held: [Waits; 2],
    /// Pauses of an application that are too short for a silence.
    #[serde(skip)]
    pub(crate) pauses: Pauses,
    /// Retransmitted ranges beyond the limit of those reported.
    pub unreported: u64,
    /// The end whose packets alone are in the capture, `client` or `server`; `None` if both ends'
    /// are.
    pub only_from: Option<&'static str>,
    /// Has the capture one SYN of it and nothing else?
    #[serde(skip)]
    pub(crate) is_lone_syn: bool,
    /// The data segments that each end sent, retransmissions included; super-segments count as the
    /// segments on the wire.
    pub segments: [u64; 2],
    /// The time lost to timeouts and to late acknowledgments, in seconds; `None` if the capture
    /// does not show it.
    pub time_lost: Option<f64>,
    /// The bytes that waited in a queue when data was lost, about; 0 if the losses do not depend on
    /// a queue, and `None` if no round trip is known.
    pub queue: Option<u64>,
    /// What the fast retransmits show of the queue.
    #[serde(skip)]
    pub queue_at_losses: QueueAtLosses,
    /// The payload that each end sent, in bytes, retransmissions included.
    pub bytes: [u64; 2],
    /// The negotiated options; `None` if the handshake is not in the capture.
    pub options: Option<Options>,
    /// The smallest round-trip time from the capture point to the receiver and back, in seconds.
    pub min_rtt: Option<f64>,
    /// The distribution of the round-trip times; `None` if the capture does not show it.
    #[serde(skip)]
    pub(crate) round_trips: Option<RoundTrips>,
    /// The sender's segments that the network reordered.
    #[serde(skip)]
    pub(crate) reordering: Reordering,
    /// The ACKs with SACK blocks that the sender got.
    #[serde(skip)]
    pub(crate) sacks: SackCounts,
    /// A guess at the sender's system.
    pub stack: Option<Guess>,
    pub retransmissions: Vec<RetransmissionReport>,
    /// Retransmissions by the retransmission timer.
    pub timeouts: Vec<TimeoutReport>,
    pub episodes: Vec<EpisodeReport>,
    /// As [`Self::episodes`], with a tail loss probe of the only outstanding segment instead of a
    /// timeout. `Genuine` means that the probe repaired a loss.
    #[serde(skip)]
    pub probes: Vec<EpisodeReport>,
    /// Times of a second and more without a packet that no retransmission ended.
    pub silences: Vec<Silence>,
    /// The silence before the end of the connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closing_silence: Option<ClosingSilence>,
    /// The end of the connection after a silence, if its data was never answered then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_timeout: Option<IdleTimeout>,
    /// The direction that the capture lacks from some time on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing_direction: Option<MissingDirection>,
    /// How it failed, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<ConnectionFailure>,
    /// Departures of the senders from the standards.
    #[serde(rename = "habits")]
    pub findings: Vec<ConformanceFinding>,
    /// The timers of other minimum RTOs, if the diagnosis replays them.
    #[serde(skip)]
    pub timers: Vec<TimerReport>,
}

impl ConnectionReport {
    /// How long the receiver's window was the limit, in seconds, and whether it was small then;
    /// `None` if that was not most of the time.
    pub(crate) fn window_limit(&self) -> Option<(f64, bool)> {
        let [full, small] = self.full_window;
        let is_small = small * 2.0 >= full;
        // If data waits in a queue, the link is the limit: a larger window would fill the queue.
        let has_queue = self.round_trips.is_some_and(|found| found.median > found.least * QUEUED);
        // The window is full while late acknowledgments are awaited, too.
        let full = full - self.time_lost.unwrap_or(0.0);
        let is_limit = full >= MIN_FULL_WINDOW && full * 2.0 >= self.end - self.start;
        (is_limit && (is_small || !has_queue)).then_some((full, is_small))
    }
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
    /// The segments on the wire that carry it; more than one for a super-segment.
    pub segments: u32,
    /// Does it open the connection: a SYN, a SYN-ACK or the client's first data?
    #[serde(skip)]
    pub is_opening: bool,
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
    /// Where the copy before it was lost, as seen from a capture point in the middle of the path.
    #[serde(skip)]
    pub(crate) loss_place: Option<LossPlace>,
}

impl RetransmissionReport {
    /// Does evidence of this kind that its own frame shows support the verdict?
    pub(crate) fn shows(&self, kind: &EvidenceKind) -> bool {
        self.evidence.iter().any(|piece| piece.kind == kind.name && piece.frame == self.frame)
    }
}

/// A piece of evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct EvidenceReport {
    /// The name of its kind.
    pub kind: &'static str,
    /// The frame that shows it.
    pub frame: u64,
}

/// A timeout.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
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
    /// May it be a tail loss probe of the only outstanding segment? Its timer then expires at the
    /// same time, and the capture does not show which one did.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub may_be_probe: bool,
    /// The timer that expired.
    #[serde(skip)]
    pub(crate) timer: Timer,
    /// Was it a segment of the handshake?
    pub handshake: bool,
    pub class: TimeoutClass,
    /// The confidence in the class, between 0 and 1.
    pub confidence: f64,
    /// The verdict of each detector.
    pub verdicts: std::collections::BTreeMap<&'static str, &'static str>,
}

/// An episode: from the first timeout until all data outstanding then is acknowledged.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct EpisodeReport {
    /// `client` or `server`.
    pub from: &'static str,
    /// When the first timeout happened, in seconds since the capture's first packet.
    pub start: f64,
    /// When all was acknowledged; `None` if the capture or the connection ended before.
    pub end: Option<f64>,
    /// The frames of the first timeout and of that ACK.
    pub frames: [u64; 2],
    /// The class of its timeouts; `unknown` if they differ.
    pub class: TimeoutClass,
    /// When nothing was acknowledged: from, to.
    pub stalled: Option<[f64; 2]>,
    /// How long the path held packets that then arrived without a retransmission, in seconds.
    #[serde(skip)]
    pub hold: Option<f64>,
    /// The frames of its timeouts: the first of them, and the one after the last.
    #[serde(skip)]
    pub timeout_frames: [u64; 2],
    /// The number of retransmissions.
    #[serde(skip)]
    pub retransmissions: usize,
    /// Were more bytes retransmitted without need than with need?
    #[serde(skip)]
    pub is_mostly_unneeded: bool,
    /// A description in two or three sentences.
    pub description: String,
    pub cost: Cost,
}

/// The cost of an episode.
#[derive(Clone, Copy, Debug, Serialize)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
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

/// The timeouts that a minimum RTO would have caused in one direction of a connection.
#[derive(Clone, Debug, PartialEq)]
pub struct TimerReport {
    /// The end that sends: `client` or `server`.
    pub from: &'static str,
    /// Address and port of the end that receives.
    pub to: String,
    /// The capture point, as seen by the sending end.
    pub vantage: Vantage,
    /// The smallest round-trip time, in seconds.
    pub min_rtt: Option<f64>,
    /// SRTT at the end, in seconds.
    pub srtt: Option<f64>,
    /// The minimum RTO, in seconds.
    pub minimum: f64,
    /// The waits for ACKs of data that ended without a retransmission.
    pub waits: u64,
    /// Those with a single outstanding segment.
    pub single_waits: u64,
    /// The waits that were longer than SRTT and this minimum.
    pub late: u64,
    /// Spurious tail loss probes.
    pub spurious_probes: u64,
    /// Spurious timeouts: the ACK of the original came after the timer had expired.
    pub spurious: u64,
    /// Those with a single outstanding segment, whose ACK the receiver may delay.
    pub spurious_single: u64,
    /// Timeouts of the capture that were genuine, or whose ACKs were lost.
    pub genuine: u64,
    /// How much earlier than in the capture these would have come, in seconds, in total; negative
    /// if later.
    pub saved: f64,
    /// Tail loss probes of the capture that repaired the loss of the only segment.
    pub probed: u64,
    /// How much earlier these would have come, in seconds, in total.
    pub probes_saved: f64,
    /// Timeouts that would have come before a fast retransmit that was needed.
    pub preempted: u64,
    /// Timeouts of which the capture does not show whether they are spurious.
    pub unknown: u64,
}
