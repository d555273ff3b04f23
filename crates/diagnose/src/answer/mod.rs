//! The answer in words: whether the network loses or delays packets, the cost, the cause, and the
//! settings to change. Each sentence has the figures on which it is based.

mod advice;
mod after_capture;
mod clock;
mod closing;
mod failures;
mod held_segments;
mod loss_places;
mod losses;
mod missing_direction;
mod never_arrived;
mod not_captured;
mod round_trips;
mod sentence;
mod sentences;
mod silences;
#[cfg(test)]
mod tests;
mod translation;
mod words;

use rtolab_capture::ClockSteps;
use serde::Serialize;

use crate::pair::Pair;
use crate::report::ConnectionReport;
use crate::summary::{SkippedPackets, Summary};
use crate::totals::{CaptureTotals, LossRate};

pub use sentence::Sentence;
pub use words::{bytes, counted, percent, seconds};

/// The maximum number of connections with an answer of their own.
const MAX_CONNECTIONS: usize = 1000;
/// The shortest lost time for which a connection gets an answer of its own, in seconds.
const MIN_CONNECTION_LOSS_S: f64 = 0.1;

/// The verdict on the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NetworkVerdict {
    /// No packet was lost or late.
    Healthy,
    /// Packets were late, and none was lost.
    #[serde(rename = "late")]
    Delayed,
    /// Packets were lost, and none was late.
    #[serde(rename = "loses")]
    Lossy,
    /// Packets were lost, and others were late.
    #[serde(rename = "loses-and-late")]
    LossyAndDelayed,
    /// The capture does not show it.
    Unknown,
    /// The capture has no TCP.
    NoTcp,
}

/// The answer about a capture.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct CaptureAnswer {
    pub network: NetworkVerdict,
    /// The share of the data segments that were lost.
    pub loss: Option<LossRate>,
    pub sentences: Vec<Sentence>,
    /// The connections with problems, the one that lost most time first.
    pub connections: Vec<ConnectionAnswer>,
}

/// The answer about a connection.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct ConnectionAnswer {
    /// Its number in the capture.
    pub connection: u64,
    pub network: NetworkVerdict,
    pub loss: Option<LossRate>,
    /// In seconds; `None` if the capture does not show it.
    pub time_lost: Option<f64>,
    pub sentences: Vec<Sentence>,
}

impl CaptureAnswer {
    /// The answer about a capture with these totals and these connections.
    pub fn of(
        summary: &Summary,
        skipped: &SkippedPackets,
        connections: &[ConnectionReport],
    ) -> Self {
        if summary.packets == 0 {
            let sentences = vec![sentences::no_tcp(skipped)];
            return Self {
                network: NetworkVerdict::NoTcp,
                loss: None,
                sentences,
                connections: vec![],
            };
        }
        let [with_problems, rest] = ranked(connections);
        let has_failed = |report: &&&ConnectionReport| report.failure.is_some();
        let mut failed = with_problems.iter().filter(has_failed);
        let mut totals = summary.totals.clone();
        totals.too_big = failed.find_map(|report| skipped.too_big_for(report));
        let totals = &totals;
        let worst = with_problems.first().filter(|_| summary.connections > 1).copied();
        // What a second capture shows is not known for each connection.
        let paired = totals.paired.as_ref().filter(|_| summary.connections == 1);
        let answer = |report| {
            let mut totals = CaptureTotals::of(report);
            totals.paired = paired.cloned();
            totals.too_big = skipped.too_big_for(report);
            ConnectionAnswer::of(report, &totals)
        };
        let mut connections: Vec<ConnectionAnswer> =
            with_problems.into_iter().take(MAX_CONNECTIONS).map(answer).collect();
        // The answer about the only connection is also that about the capture.
        if let ([], [one], 1) = (&connections[..], &rest[..], summary.connections) {
            connections.push(answer(one));
        }
        if let ([only], 1) = (&connections[..], summary.connections) {
            let ConnectionAnswer { network, loss, ref sentences, .. } = *only;
            return Self { network, loss, sentences: sentences.clone(), connections };
        }
        Self {
            network: network(totals),
            loss: totals.loss().filter(|_| !totals.is_listen_queue_full()),
            sentences: sentences::of_capture(totals, worst),
            connections,
        }
    }
}

impl CaptureAnswer {
    /// Adds the sentences about a second capture at the other end.
    pub(crate) fn pair(&mut self, pair: &Pair) {
        let at = usize::from(!self.sentences.is_empty());
        self.sentences.splice(at..at, sentences::of_pair(pair));
    }

    /// Qualifies the answer if the clock of the capture stepped back.
    pub(crate) fn clock_steps(&mut self, steps: ClockSteps) {
        let Some(sentence) = clock::sentence(steps) else { return };
        if let [only] = &mut self.connections[..] {
            if only.sentences == self.sentences {
                only.sentences.insert(0, sentence.clone());
            }
        }
        self.sentences.insert(0, sentence);
    }

    /// Qualifies the answer if the capture lacks a considerable share of the packets.
    pub(crate) fn not_captured(&mut self, summary: &Summary, skipped: &SkippedPackets) {
        for sentence in not_captured::sentences(summary, skipped) {
            self.qualify(&sentence, summary);
        }
    }

    fn qualify(&mut self, sentence: &Sentence, summary: &Summary) {
        let qualify = |network: &mut NetworkVerdict, sentences: &mut Vec<Sentence>| {
            sentences.insert(0, sentence.clone());
            if *network == NetworkVerdict::Healthy {
                *network = NetworkVerdict::Unknown;
            }
        };
        qualify(&mut self.network, &mut self.sentences);
        // The answer about the only connection is also that about the capture.
        if let ([only], 1) = (&mut self.connections[..], summary.connections) {
            qualify(&mut only.network, &mut only.sentences);
        }
    }
}

impl ConnectionAnswer {
    fn of(report: &ConnectionReport, totals: &CaptureTotals) -> Self {
        Self {
            connection: report.number,
            network: network(totals),
            loss: totals.loss(),
            time_lost: report.time_lost,
            sentences: sentences::of_connection(totals, report),
        }
    }
}

/// The connections with problems, the one that lost most time first, and the others.
fn ranked(connections: &[ConnectionReport]) -> [Vec<&ConnectionReport>; 2] {
    let has_problem = |one: &&ConnectionReport| {
        !one.retransmissions.is_empty()
            || one.time_lost.is_some_and(|lost| lost >= MIN_CONNECTION_LOSS_S)
            || !one.silences.is_empty()
            || one.window_limit().is_some()
            || one.only_from.is_some()
            || one.missing_direction.is_some()
            || one.never_arrived.is_some()
            || one.failure.is_some()
    };
    let (mut with_problems, rest): (Vec<_>, Vec<_>) = connections.iter().partition(has_problem);
    let lost = |one: &ConnectionReport| one.time_lost.unwrap_or(0.0);
    with_problems.sort_by(|a, b| {
        let by_count = b.retransmissions.len().cmp(&a.retransmissions.len());
        lost(b).total_cmp(&lost(a)).then(by_count).then(a.number.cmp(&b.number))
    });
    [with_problems, rest]
}

fn network(totals: &CaptureTotals) -> NetworkVerdict {
    let late = totals.delays() + totals.discarded > 0
        || totals.ack_lost == 0 && totals.unneeded > 0 && totals.lost == 0;
    let nothing_known = totals.lost == 0
        && totals.unneeded == 0
        && (totals.unexplained() > 0
            || totals.is_unanswered_only()
            || totals.may_hide_losses()
            || totals.is_single() && totals.stopped_at_end.count > 0);
    let lost = totals.lost + totals.lost_openings + totals.lost_fins + totals.ack_lost;
    let lost = lost + totals.never_arrived.connections + totals.lost_updates.count;
    let loses = lost > 0 && !totals.is_listen_queue_full() || totals.has_paired_losses();
    match (loses, late) {
        _ if totals.connections == 0 || totals.segments == 0 || nothing_known => {
            NetworkVerdict::Unknown
        }
        (true, true) => NetworkVerdict::LossyAndDelayed,
        (true, false) => NetworkVerdict::Lossy,
        (false, true) => NetworkVerdict::Delayed,
        (false, false) => NetworkVerdict::Healthy,
    }
}
