//! Passive detectors at both ends of every flow.

use std::sync::Arc;

use rtolab_net::Packet;
use rtolab_record::{Place, TimeoutKind, TimeoutRow, VerdictRow};
use rtolab_tcp::config::KnownPath;
use rtolab_tcp::spurious::{Detector, DetectorId, DetectorVerdict, PassiveDetectors, Verdict};
use rtolab_tcp::{Cause, Seq};
use rtolab_time::Instant;

/// The passive detectors of a run.
#[derive(Clone, Debug)]
pub struct ScoredDetectors {
    /// Those at the sender and at the receiver of each flow.
    ends: Vec<[EndDetectors; 2]>,
}

/// The detectors of one end, and their verdicts.
#[derive(Clone, Debug)]
struct EndDetectors {
    detectors: PassiveDetectors,
    /// The episode of each row, in order; a tail loss probe has none.
    episodes: Vec<Option<u32>>,
    verdicts: Vec<DetectorVerdict>,
}

impl ScoredDetectors {
    /// `detectors` at both ends of each flow. `paths` are the known properties of the path at the
    /// sender and at the receiver of each flow.
    pub fn new(
        paths: impl Iterator<Item = [KnownPath; 2]>,
        detectors: &[(DetectorId, Box<dyn Detector>)],
    ) -> Self {
        let end = |path| EndDetectors {
            detectors: PassiveDetectors::of(detectors.iter().cloned(), Seq::FIRST)
                .with_known_path(path),
            episodes: Vec::new(),
            verdicts: Vec::new(),
        };
        Self { ends: paths.map(|ends| ends.map(end)).collect() }
    }

    fn end(&mut self, flow: usize, place: Place) -> &mut EndDetectors {
        &mut self.ends[flow][place.index()]
    }

    /// Processes a packet after its destination did.
    pub fn on_arrival(&mut self, packet: &Packet, at: Instant) {
        if !packet.is_datagram() {
            let end = self.end(packet.flow as usize, packet.destination());
            end.detectors.on_ack(&packet.segment, at);
        }
    }

    /// Processes a packet that leaves its host for this cause.
    pub fn on_departure(&mut self, packet: &Packet, at: Instant, cause: Cause) {
        if !packet.is_datagram() {
            let end = self.end(packet.flow as usize, packet.destination().other());
            end.detectors.sent(&packet.segment, at, cause);
        }
    }

    /// Processes the decision of an end to retransmit the segment at `seq`.
    pub fn on_retransmission(&mut self, (flow, place): (usize, Place), row: &TimeoutRow, seq: Seq) {
        let end = self.end(flow, place);
        end.episodes.push(match row.kind {
            TimeoutKind::Timeout => Some(end.detectors.timeout(seq, row.at)),
            TimeoutKind::FastRetransmit => Some(end.detectors.fast_retransmit(seq, row.at)),
            TimeoutKind::Probe => None,
        });
    }

    /// The verdicts on these timeouts and fast retransmits of one end; call this after the run.
    pub fn verdicts(
        &mut self,
        (flow, place): (usize, Place),
        rows: &[TimeoutRow],
        now: Instant,
    ) -> Vec<VerdictRow> {
        let end = self.end(flow, place);
        end.detectors.finish(now);
        end.verdicts.extend(std::iter::from_fn(|| end.detectors.poll()));
        // The sort is stable, so verdicts on one episode keep their order.
        end.verdicts.sort_by_key(|found| found.episode);
        let of_row = |(row, &episode): (&TimeoutRow, &Option<u32>)| {
            let row = row.clone();
            let episode = episode?;
            let first = end.verdicts.partition_point(|found| found.episode < episode);
            let found =
                end.verdicts[first..].iter().take_while(move |found| found.episode == episode);
            Some(found.map(move |found| verdict(&row, found)))
        };
        rows.iter().zip(&end.episodes).filter_map(of_row).flatten().collect()
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
