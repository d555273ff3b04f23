//! Scoring against ground truth: a fork classifies each timeout and fast retransmit of a run, and
//! passive detectors give their verdicts on it.

use std::sync::Arc;

use rtolab_net::Packet;
use rtolab_record::{
    Comparison, DuplicateRow, Place, TimeoutKind, TimeoutRow, TransferOutcome, VerdictRow,
    WhatIfRow,
};
use rtolab_tcp::spurious::{Detector, DetectorId};
use rtolab_tcp::{Cause, Config, Connection};
use rtolab_time::Instant;

use super::counterfactual::Horizon;
use super::{Branching, Sim};
use crate::detectors::DetectorsOfFlows;
use crate::duplicates::DupackTracker;
use crate::endpoint::{Checkpoint, Stimulus};
use crate::flow::SimFlow;
use crate::in_network::SegmentsInNetwork;

/// Another sender that continues each connection from each of its timeouts.
#[derive(Clone, Debug)]
pub struct Alternative {
    /// Its sender specification.
    pub name: Arc<str>,
    /// The configurations of both ends of every leg with it.
    pub configs: Vec<[Arc<Config>; 2]>,
}

/// The state of a scored run.
#[derive(Clone)]
pub struct Scoring {
    /// The time at which forks stop at the latest.
    end: Instant,
    horizon: Horizon,
    alternatives: Arc<[Alternative]>,
    /// The connection before the current event.
    checkpoint: Option<Checkpoint>,
    duplicates: DupackTracker,
    detectors: DetectorsOfFlows,
    what_ifs: Vec<WhatIf>,
    /// The copies of segments that may still arrive.
    pub in_network: SegmentsInNetwork,
    /// The timeout at which a fork begins to differ, if requested.
    pub branching: Option<Branching>,
}

/// The options of a scored run.
#[derive(Clone, Debug)]
pub struct ScoringRequest {
    pub horizon: Horizon,
    pub detectors: Vec<(DetectorId, Box<dyn Detector>)>,
    pub alternatives: Arc<[Alternative]>,
}

/// A row, with the end of a flow whose original transfer is compared.
#[derive(Clone, Debug)]
struct WhatIf {
    row: WhatIfRow,
    flow: usize,
    place: Place,
}

impl Scoring {
    /// The state at time 0. `hosts` are the configurations of the sender and the receiver of each
    /// leg.
    pub fn new<'a>(
        end: Instant,
        request: &ScoringRequest,
        hosts: impl Iterator<Item = &'a [Arc<Config>; 2]>,
    ) -> Self {
        let paths = hosts.map(|ends| ends.each_ref().map(|config| config.dualrtt.path));
        Self {
            end,
            horizon: request.horizon,
            alternatives: request.alternatives.clone(),
            checkpoint: None,
            duplicates: DupackTracker::default(),
            detectors: DetectorsOfFlows::new(paths, &request.detectors),
            what_ifs: Vec::new(),
            in_network: SegmentsInNetwork::default(),
            branching: None,
        }
    }

    /// Takes a checkpoint before a timer of the connection expires.
    pub fn before_timer(&mut self, connection: &Connection) {
        let connection = connection.clone();
        self.checkpoint = Some(Checkpoint { connection, stimulus: Stimulus::Timer });
    }

    /// Takes a checkpoint before the destination processes the packet.
    pub fn before_arrival(&mut self, packet: &Packet, flow: &SimFlow) {
        let end = flow.end(packet.destination());
        self.in_network.leave(packet);
        self.duplicates.before_arrival(packet, end);
        // A copy of the connection is expensive, and most ACKs start no recovery.
        let may_retransmit = |connection: &&Connection| {
            packet.notification().is_some() || connection.may_start_recovery(&packet.segment)
        };
        self.checkpoint =
            end.connection.as_ref().filter(may_retransmit).map(|connection| Checkpoint {
                connection: connection.clone(),
                stimulus: Stimulus::Arrival(packet.segment),
            });
    }

    /// Processes a packet after its destination did.
    pub fn after_arrival(&mut self, packet: &Packet, flow: &SimFlow, at: Instant) {
        let duplicates = |connection: &Connection| connection.sender().flight().totals().duplicates;
        let before = self.checkpoint.as_ref().map(|checkpoint| duplicates(&checkpoint.connection));
        let after = flow.end(packet.destination()).connection.as_ref().map(duplicates);
        if before.is_some() && before < after {
            self.duplicates.on_duplicate(packet, at, &flow.plan.name);
        }
        self.detectors.on_arrival(packet, at);
    }

    /// Processes a packet that leaves its host.
    pub fn on_departure(&mut self, packet: &Packet, flow: &SimFlow, at: Instant) {
        self.in_network.enter(packet);
        self.duplicates.on_departure(packet);
        let flight = flow.end(packet.destination().other()).flight();
        let sent = flight.and_then(|flight| flight.segment_at(packet.segment.seq));
        self.detectors.on_departure(packet, at, sent.map_or(Cause::Unknown, |sent| sent.cause));
    }

    /// The verdicts of the detectors on these timeouts and fast retransmits of one end.
    pub fn verdicts(
        &mut self,
        end: (usize, Place),
        rows: &[TimeoutRow],
        now: Instant,
    ) -> Vec<VerdictRow> {
        self.detectors.verdicts(end, rows, now)
    }

    pub fn duplicates(&self) -> impl Iterator<Item = DuplicateRow> + '_ {
        self.duplicates.rows()
    }

    /// The rows of the alternative senders. Call this after the run, when the end of the original
    /// transfers is known.
    pub fn what_ifs<'a>(&'a self, flows: &'a [SimFlow]) -> impl Iterator<Item = WhatIfRow> + 'a {
        self.what_ifs.iter().map(|WhatIf { row, flow, place }| {
            let original = flows[*flow].outcome(*place);
            WhatIfRow { comparison: Comparison { original, ..row.comparison }, ..row.clone() }
        })
    }
}

impl Sim {
    /// Scores the retransmissions before they leave.
    #[inline(never)]
    pub(super) fn score(&mut self, flow: usize, place: Place) {
        while let Some((number, row, seq)) = self.flows[flow].next_unscored(place) {
            let Some(scoring) = &mut self.scoring else { return };
            scoring.detectors.on_retransmission((flow, place), &row, seq);
            let (horizon, end) = (scoring.horizon, scoring.end);
            debug_assert!(scoring.checkpoint.is_some(), "this event starts no recovery");
            let Some(checkpoint) = scoring.checkpoint.clone() else { return };
            if let Some(mut branching) = scoring.branching.take_if(|it| it.is_at(&row)) {
                let decision = (flow, place, number);
                branching.found = self.branch_off(decision, &branching, checkpoint.clone());
                let Some(scoring) = &mut self.scoring else { return };
                scoring.branching = Some(branching);
            }
            let counterfactual =
                self.counterfactual((flow, place, seq), checkpoint, (horizon, end));
            self.flows[flow].end_mut(place).timeouts.set_counterfactual(number, counterfactual);
            if row.kind == TimeoutKind::Timeout {
                let row = TimeoutRow { truth: Some(counterfactual.truth), ..row };
                self.try_alternatives((flow, place), &row);
            }
        }
    }

    /// Continues the run with each alternative sender from this timeout on.
    fn try_alternatives(&mut self, (flow, place): (usize, Place), timeout: &TimeoutRow) {
        let Some(scoring) = &self.scoring else { return };
        let (alternatives, end) = (scoring.alternatives.clone(), scoring.end);
        let Some(checkpoint) = scoring.checkpoint.clone() else { return };
        for alternative in &*alternatives {
            let config = alternative.configs[flow][place.index()].clone();
            let other = self.with_sender((flow, place), (checkpoint.clone(), config), end);
            if let (Some(other), Some(scoring)) = (other, &mut self.scoring) {
                let row = what_if(timeout, alternative, other);
                scoring.what_ifs.push(WhatIf { row, flow, place });
            }
        }
    }
}

fn what_if(timeout: &TimeoutRow, alternative: &Alternative, other: TransferOutcome) -> WhatIfRow {
    WhatIfRow {
        flow: timeout.flow.clone(),
        at: timeout.at,
        seq: timeout.seq,
        truth: timeout.truth,
        sender: alternative.name.clone(),
        comparison: Comparison { other, ..Comparison::default() },
    }
}
