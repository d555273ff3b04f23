//! The rows of a log's diagnosis: plain data, ready for JSON and for tables.

use rtolab_diagnose::{EvidenceReport, TimeoutClass};
use serde::Serialize;

use crate::connection::{Connection, Loss};
use crate::loss_class::LossClass;
use crate::order::EventId;
use crate::pair::{Peer, UNDECRYPTABLE};
use crate::probes::Timeout;
use crate::recovery::Episode;

/// A connection of a log.
#[derive(Clone, Debug, Serialize)]
pub struct LogReport {
    /// Its number in the log, from 1.
    pub number: u64,
    /// Its name in the log, usually the original destination connection ID.
    pub group: Option<String>,
    /// The end that wrote the log: `client`, `server` or `unknown`.
    pub vantage: &'static str,
    /// The name that the log gives its writer.
    pub implementation: Option<String>,
    /// The time of its first event, in seconds since the log's first event.
    pub start: f64,
    /// The time of its last event.
    pub end: f64,
    /// Its events, those that do not matter here excluded.
    pub events: u64,
    /// The packets that were sent and received.
    pub packets: [u64; 2],
    /// The sent packets that ask for an acknowledgment.
    pub ack_eliciting: u64,
    /// The bytes of the sent packets; 0 if the log lacks them.
    pub bytes_sent: u64,
    /// Did this end send less than a tenth of the stream bytes that it received, so that only the
    /// other end's log shows the losses of the data? False with the logs of both ends.
    pub is_receiver: bool,
    /// Does the log have received acknowledgments? Without them, one log alone allows no
    /// verdicts.
    pub has_acks: bool,
    /// The smallest round-trip time, in seconds.
    pub min_rtt: Option<f64>,
    /// Stream bytes that were sent for the first time.
    pub stream_bytes: u64,
    /// Stream bytes that were received, those that had arrived before included.
    pub stream_bytes_received: u64,
    /// Stream bytes that were retransmitted.
    pub retransmitted_bytes: u64,
    /// Of these, bytes whose earlier copy arrived.
    pub unneeded_bytes: u64,
    /// Of these, bytes whose earlier copy was lost, or was dropped by a receiver without a key.
    pub needed_bytes: u64,
    /// In seconds.
    pub time_in_recovery: f64,
    /// The part of it in episodes whose losses were all spurious.
    pub time_in_spurious_recovery: f64,
    /// The time lost to probe timeouts: from the time at which an acknowledgment was due until one
    /// arrived, in seconds.
    pub time_lost: f64,
    /// How often the sender found persistent congestion, as the log says.
    #[serde(skip)]
    pub(crate) persistent_congestion: u64,
    /// Packets that were declared lost.
    pub losses: Vec<LossReport>,
    /// Probe timeouts.
    pub timeouts: Vec<ProbeReport>,
    /// Recovery episodes.
    pub episodes: Vec<RecoveryReport>,
}

/// A packet that was declared lost.
#[derive(Clone, Debug, Serialize)]
pub struct LossReport {
    /// The number of the declaration among the log's events, from 1.
    pub event: u64,
    /// When it was declared lost, in seconds since the log's first event.
    pub t: f64,
    /// When it was sent; `None` if the log lacks that.
    pub sent: Option<f64>,
    /// The packet number space.
    pub space: &'static str,
    /// The packet number.
    pub packet_number: u64,
    /// The size of the packet in bytes; 0 if the log lacks it.
    pub size: u64,
    /// The rule by which it was declared lost, as the log names it.
    pub trigger: Option<String>,
    /// `spurious` if the packet arrived, `genuine` if it was lost, or `unknown`.
    pub verdict: LossClass,
    /// The confidence in the verdict, between 0 and 1.
    pub confidence: f64,
    /// The events that show it.
    pub evidence: Vec<EvidenceReport>,
    /// How long after the declaration its acknowledgment arrived, in seconds.
    pub late: Option<f64>,
    /// The stream bytes that were retransmitted because of it.
    pub retransmitted_bytes: u64,
}

impl LossReport {
    /// Did the packet arrive, and did the receiver drop it because it had no key?
    pub(crate) fn is_undecryptable(&self) -> bool {
        self.evidence.iter().any(|piece| piece.kind == UNDECRYPTABLE)
    }
}

/// A probe timeout.
#[derive(Clone, Debug, Serialize)]
pub struct ProbeReport {
    /// Its number among the log's events, from 1.
    pub event: u64,
    /// In seconds since the log's first event.
    pub t: f64,
    /// The packet number space; `None` if nothing was sent after it.
    pub space: Option<&'static str>,
    /// How many timeouts came before it without an acknowledgment.
    pub backoff: u32,
    /// The time since the last packet that asks for an acknowledgment, in seconds.
    pub after: f64,
    /// Was it spurious?
    pub class: TimeoutClass,
    /// The confidence in the class, between 0 and 1.
    pub confidence: f64,
    /// The events that show it.
    pub evidence: Vec<EvidenceReport>,
    /// The stream bytes that its probes retransmitted.
    pub retransmitted_bytes: u64,
}

/// A recovery episode: from the first loss until a packet sent later is acknowledged.
#[derive(Clone, Debug, Serialize)]
pub struct RecoveryReport {
    /// The event of its first loss.
    pub event: u64,
    /// When it began, in seconds since the log's first event.
    pub start: f64,
    /// When a packet sent later was acknowledged, or the next episode began; `None` if the log ends
    /// before.
    pub end: Option<f64>,
    /// `spurious` if all its losses were spurious, `genuine` if one was genuine, else `unknown`.
    pub class: LossClass,
    /// The packets that were declared lost.
    pub losses: u64,
    /// Those of them that arrived.
    pub spurious: u64,
    /// The congestion window before it and its smallest value within, in bytes.
    pub cwnd: [Option<f64>; 2],
    /// The stream bytes that were retransmitted.
    pub retransmitted_bytes: u64,
}

/// The report of a connection, with the other end's log if there is one.
pub(crate) fn report(connection: &Connection, peer: Option<&Peer<'_>>) -> LogReport {
    let losses: Vec<LossReport> =
        connection.losses.iter().map(|loss| of_loss(connection, loss, peer)).collect();
    let timeouts: Vec<ProbeReport> =
        connection.probes.rows.iter().map(|row| of_timeout(row, peer)).collect();
    let episodes: Vec<RecoveryReport> =
        connection.recovery.episodes.iter().map(|one| of_episode(one, &losses)).collect();
    let (start, end) = connection.span.unwrap_or_default();
    let length = |episode: &RecoveryReport| episode.end.unwrap_or(end) - episode.start;
    let spurious = episodes.iter().filter(|episode| episode.class == LossClass::Spurious);
    let bytes = |is_needed: bool, timeout_classes: &[TimeoutClass]| -> u64 {
        let lost = losses.iter().filter(|loss| match loss.verdict {
            LossClass::Genuine => is_needed,
            LossClass::Spurious => is_needed == loss.is_undecryptable(),
            LossClass::Unknown => false,
        });
        let probed = timeouts.iter().filter(|timeout| timeout_classes.contains(&timeout.class));
        lost.map(|loss| loss.retransmitted_bytes).sum::<u64>()
            + probed.map(|timeout| timeout.retransmitted_bytes).sum::<u64>()
    };
    LogReport {
        number: connection.number,
        group: connection.group.clone(),
        vantage: connection.vantage.unwrap_or("unknown"),
        implementation: connection.implementation.clone(),
        start,
        end,
        events: connection.events,
        packets: [connection.sent, connection.received],
        ack_eliciting: connection.ack_eliciting,
        bytes_sent: connection.bytes_sent,
        is_receiver: peer.is_none() && connection.is_receiver(),
        has_acks: connection.has_acks,
        min_rtt: connection.rtt.min,
        stream_bytes: connection.streams.bytes,
        stream_bytes_received: connection.stream_bytes_received,
        retransmitted_bytes: connection.streams.retransmitted,
        unneeded_bytes: bytes(false, &[TimeoutClass::Spurious, TimeoutClass::AckLost]),
        needed_bytes: bytes(true, &[TimeoutClass::Genuine]),
        time_in_recovery: episodes.iter().map(length).fold(0.0, |sum, one| sum + one),
        time_in_spurious_recovery: spurious.map(length).fold(0.0, |sum, one| sum + one),
        time_lost: connection.probes.rows.iter().fold(0.0, |sum, row| sum + row.time_lost),
        persistent_congestion: connection.persistent_congestion,
        losses,
        timeouts,
        episodes,
    }
}

fn of_loss(connection: &Connection, loss: &Loss, peer: Option<&Peer<'_>>) -> LossReport {
    let known = peer.and_then(|peer| peer.classify_loss(loss));
    let (verdict, confidence, evidence) = known.unwrap_or_else(|| connection.classify(loss));
    LossReport {
        event: loss.event.number,
        t: loss.at,
        sent: loss.sent_at,
        space: loss.space.level.name(),
        packet_number: loss.number,
        size: loss.size,
        trigger: loss.trigger.clone(),
        verdict,
        confidence,
        evidence: pieces(evidence),
        late: loss.acked.map(|(_, at)| at - loss.at),
        retransmitted_bytes: loss.retransmitted,
    }
}

fn of_timeout(row: &Timeout, peer: Option<&Peer<'_>>) -> ProbeReport {
    let known = peer.and_then(|peer| peer.classify_timeout(row));
    let (class, confidence, evidence) = known.unwrap_or((row.class, row.confidence, row.evidence));
    ProbeReport {
        event: row.event.number,
        t: row.at,
        space: row.space.map(|space| space.level.name()),
        backoff: row.backoff,
        after: row.at - row.since,
        class,
        confidence,
        evidence: pieces(evidence),
        retransmitted_bytes: row.retransmitted,
    }
}

fn of_episode(episode: &Episode, losses: &[LossReport]) -> RecoveryReport {
    let losses = &losses[episode.losses[0]..episode.losses[1]];
    let count = |verdict| losses.iter().filter(|loss| loss.verdict == verdict).count() as u64;
    let (spurious, genuine) = (count(LossClass::Spurious), count(LossClass::Genuine));
    RecoveryReport {
        event: episode.event.number,
        start: episode.start,
        end: episode.end,
        class: match (spurious, genuine) {
            (_, 1..) => LossClass::Genuine,
            (all, 0) if all == losses.len() as u64 => LossClass::Spurious,
            _ => LossClass::Unknown,
        },
        losses: losses.len() as u64,
        spurious,
        cwnd: episode.cwnd,
        retransmitted_bytes: losses.iter().map(|loss| loss.retransmitted_bytes).sum(),
    }
}

fn pieces(evidence: Option<(&'static str, EventId)>) -> Vec<EvidenceReport> {
    evidence.into_iter().map(|(kind, event)| EvidenceReport { kind, frame: event.number }).collect()
}
