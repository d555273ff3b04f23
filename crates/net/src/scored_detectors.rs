//! Passive detectors at one end of a flow, which are scored against the ground truth.

use std::sync::Arc;

use rtolab_record::{TimeoutKind, TimeoutRow, VerdictRow};
use rtolab_tcp::config::KnownPath;
use rtolab_tcp::spurious::{Detector, DetectorId, DetectorVerdict, PassiveDetectors, Verdict};
use rtolab_tcp::{Cause, Segment, Seq};
use rtolab_time::Instant;

/// Passive detectors of one end, and their verdicts.
///
/// Report the events of the end in their order: an acknowledgment, then the retransmission that it
/// triggers, then the segments that are sent for it.
#[derive(Clone, Debug)]
pub struct ScoredDetectors {
    detectors: PassiveDetectors,
    /// The episode of each row, in order; a tail loss probe has none.
    episodes: Vec<Option<u32>>,
    verdicts: Vec<DetectorVerdict>,
}

impl ScoredDetectors {
    /// These detectors, for an end that knows these properties of the path.
    pub fn new(path: KnownPath, detectors: &[(DetectorId, Box<dyn Detector>)]) -> Self {
        let detectors = PassiveDetectors::of(detectors.iter().cloned(), Seq::FIRST);
        Self {
            detectors: detectors.with_known_path(path),
            episodes: Vec::new(),
            verdicts: Vec::new(),
        }
    }

    /// Processes a segment that reached the end.
    pub fn on_arrival(&mut self, segment: &Segment, at: Instant) {
        self.detectors.on_ack(segment, at);
    }

    /// Processes a segment that the end sent for this cause.
    pub fn on_departure(&mut self, segment: &Segment, at: Instant, cause: Cause) {
        self.detectors.sent(segment, at, cause);
    }

    /// Processes the decision to retransmit the segment at `seq`.
    pub fn on_retransmission(&mut self, row: &TimeoutRow, seq: Seq) {
        self.episodes.push(match row.kind {
            TimeoutKind::Timeout => Some(self.detectors.timeout(seq, row.at)),
            TimeoutKind::FastRetransmit => Some(self.detectors.fast_retransmit(seq, row.at)),
            TimeoutKind::Probe => None,
        });
    }

    /// The verdicts on these timeouts and fast retransmits; call this after the run.
    pub fn verdicts(&mut self, rows: &[TimeoutRow], now: Instant) -> Vec<VerdictRow> {
        self.detectors.finish(now);
        self.verdicts.extend(std::iter::from_fn(|| self.detectors.poll()));
        // The sort is stable, so verdicts on one episode keep their order.
        self.verdicts.sort_by_key(|found| found.episode);
        let of_row = |(row, &episode): (&TimeoutRow, &Option<u32>)| {
            let row = row.clone();
            let episode = episode?;
            let first = self.verdicts.partition_point(|found| found.episode < episode);
            let found =
                self.verdicts[first..].iter().take_while(move |found| found.episode == episode);
            Some(found.map(move |found| verdict(&row, found)))
        };
        rows.iter().zip(&self.episodes).filter_map(of_row).flatten().collect()
    }
}

fn verdict(row: &TimeoutRow, found: &DetectorVerdict) -> VerdictRow {
    VerdictRow {
        flow: Arc::clone(&row.flow),
        end: row.end,
        at: row.at,
        kind: row.kind,
        seq: row.seq,
        truth: row.truth,
        detector: found.detector,
        verdict: found.verdict.name(),
        why: match found.verdict {
            Verdict::Inconclusive(why) => Some(why.name()),
            _ => None,
        },
        verdict_at: (found.verdict != Verdict::Open).then_some(found.at),
    }
}
