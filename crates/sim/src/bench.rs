//! Detectors that ride along as judges, on every end that sends.

use std::sync::Arc;

use rtolab_net::Packet;
use rtolab_record::{Place, TimeoutKind, TimeoutRow, VerdictRow};
use rtolab_tcp::config::KnownPath;
use rtolab_tcp::spurious::{Detector, DetectorId, DetectorVerdict, PassiveDetectors, Verdict};
use rtolab_tcp::{Cause, Seq};
use rtolab_time::Instant;

/// The judges of a run.
#[derive(Clone, Debug)]
pub struct Bench {
    /// Of the sender and the receiver of each flow.
    ends: Vec<[Riders; 2]>,
}

/// The judges of one end, and what they said.
#[derive(Clone, Debug)]
struct Riders {
    judges: PassiveDetectors,
    /// The episode of each timeout and fast retransmit, in the order of the rows; a probe has none.
    episodes: Vec<Option<u32>>,
    said: Vec<DetectorVerdict>,
}

impl Bench {
    /// On ends that know these paths, of the sender and the receiver of each flow.
    pub fn new(
        paths: impl Iterator<Item = [KnownPath; 2]>,
        detectors: &[(DetectorId, Box<dyn Detector>)],
    ) -> Self {
        let riders = |path| Riders {
            judges: PassiveDetectors::of(detectors.iter().cloned(), Seq::FIRST).knowing(path),
            episodes: Vec::new(),
            said: Vec::new(),
        };
        Self { ends: paths.map(|ends| ends.map(riders)).collect() }
    }

    fn of(&mut self, flow: usize, place: Place) -> &mut Riders {
        &mut self.ends[flow][place.index()]
    }

    /// The packet was taken where it was for.
    pub fn arrived(&mut self, packet: &Packet, at: Instant) {
        if !packet.is_datagram() {
            let riders = self.of(packet.flow as usize, packet.destination());
            riders.judges.acked(&packet.segment, at);
        }
    }

    /// The packet left its host for this cause.
    pub fn departs(&mut self, packet: &Packet, at: Instant, cause: Cause) {
        if !packet.is_datagram() {
            let riders = self.of(packet.flow as usize, packet.destination().other());
            riders.judges.sent(&packet.segment, at, cause);
        }
    }

    /// The end is about to retransmit the segment at `seq`.
    pub fn begins(&mut self, (flow, place): (usize, Place), row: &TimeoutRow, seq: Seq) {
        let riders = self.of(flow, place);
        riders.episodes.push(match row.kind {
            TimeoutKind::Timeout => Some(riders.judges.timeout(seq, row.at)),
            TimeoutKind::FastRetransmit => Some(riders.judges.fast_retransmit(seq, row.at)),
            TimeoutKind::Probe => None,
        });
    }

    /// What was said of these timeouts and fast retransmits of one end, now that the run is over.
    pub fn verdicts(
        &mut self,
        (flow, place): (usize, Place),
        rows: &[TimeoutRow],
        now: Instant,
    ) -> Vec<VerdictRow> {
        let riders = self.of(flow, place);
        riders.judges.finish(now);
        riders.said.extend(std::iter::from_fn(|| riders.judges.poll()));
        // In an episode they stay in the order in which they were said.
        riders.said.sort_by_key(|said| said.episode);
        let of_row = |(row, &episode): (&TimeoutRow, &Option<u32>)| {
            let row = row.clone();
            let episode = episode?;
            let first = riders.said.partition_point(|said| said.episode < episode);
            let said = riders.said[first..].iter().take_while(move |said| said.episode == episode);
            Some(said.map(move |said| verdict(&row, said)))
        };
        rows.iter().zip(&riders.episodes).filter_map(of_row).flatten().collect()
    }
}

fn verdict(row: &TimeoutRow, said: &DetectorVerdict) -> VerdictRow {
    VerdictRow {
        flow: Arc::clone(&row.flow),
        end: row.end,
        at: row.at,
        kind: row.kind,
        seq: row.seq,
        truth: row.truth,
        detector: said.detector,
        verdict: said.verdict.name(),
        why: match said.verdict {
            Verdict::Inconclusive(why) => Some(why.name()),
            _ => None,
        },
        verdict_at: (said.verdict != Verdict::Open).then_some(said.at),
    }
}
