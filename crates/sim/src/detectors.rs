//! Passive detectors at both ends of every flow.

use rtolab_net::{Packet, ScoredDetectors};
use rtolab_record::{Place, TimeoutRow, VerdictRow};
use rtolab_tcp::config::KnownPath;
use rtolab_tcp::spurious::{Detector, DetectorId};
use rtolab_tcp::{Cause, Seq};
use rtolab_time::Instant;

/// The passive detectors of a run: those at the sender and at the receiver of each flow.
#[derive(Clone, Debug)]
pub struct DetectorsOfFlows(Vec<[ScoredDetectors; 2]>);

impl DetectorsOfFlows {
    /// `detectors` at both ends of each flow. `paths` are the known properties of the path at the
    /// sender and at the receiver of each flow.
    pub fn new(
        paths: impl Iterator<Item = [KnownPath; 2]>,
        detectors: &[(DetectorId, Box<dyn Detector>)],
    ) -> Self {
        Self(paths.map(|ends| ends.map(|path| ScoredDetectors::new(path, detectors))).collect())
    }

    fn end(&mut self, flow: usize, place: Place) -> &mut ScoredDetectors {
        &mut self.0[flow][place.index()]
    }

    /// Processes a packet after its destination did.
    pub fn on_arrival(&mut self, packet: &Packet, at: Instant) {
        if !packet.is_datagram() {
            let end = self.end(packet.flow as usize, packet.destination());
            end.on_arrival(&packet.segment, at);
        }
    }

    /// Processes a packet that leaves its host for this cause.
    pub fn on_departure(&mut self, packet: &Packet, at: Instant, cause: Cause) {
        if !packet.is_datagram() {
            let end = self.end(packet.flow as usize, packet.destination().other());
            end.on_departure(&packet.segment, at, cause);
        }
    }

    /// Processes the decision of an end to retransmit the segment at `seq`.
    pub fn on_retransmission(&mut self, (flow, place): (usize, Place), row: &TimeoutRow, seq: Seq) {
        self.end(flow, place).on_retransmission(row, seq);
    }

    /// The verdicts on these timeouts and fast retransmits of one end; call this after the run.
    pub fn verdicts(
        &mut self,
        (flow, place): (usize, Place),
        rows: &[TimeoutRow],
        now: Instant,
    ) -> Vec<VerdictRow> {
        self.end(flow, place).verdicts(rows, now)
    }
}
