//! A run that is judged: what it keeps beside what every run does, and what it asks copies of itself.

use std::sync::Arc;

use rtolab_net::Packet;
use rtolab_record::{
    Comparison, DuplicateRow, Place, Rest, TimeoutKind, TimeoutRow, VerdictRow, WhatIfRow,
};
use rtolab_tcp::spurious::{Detector, DetectorId};
use rtolab_tcp::{Cause, Config, Connection};
use rtolab_time::Instant;

use crate::bench::Bench;
use crate::duplicates::DupackTracker;
use crate::flow::Flow;
use crate::sim::{Branching, Sim};
use crate::truth::{Before, Reach, Stimulus};

/// Another sender that goes on from each timeout.
#[derive(Clone, Debug)]
pub struct Alternative {
    /// Its name: a sender specification.
    pub name: Arc<str>,
    /// How the ends of every leg behave with it.
    pub configs: Vec<[Arc<Config>; 2]>,
}

/// What a judged run keeps.
#[derive(Clone)]
pub struct Judging {
    /// Until when copies of the run may go on.
    end: Instant,
    reach: Reach,
    alternatives: Arc<[Alternative]>,
    /// The connection to which something is about to happen, or has just happened.
    before: Option<Before>,
    duplicates: DupackTracker,
    bench: Bench,
    what_ifs: Vec<WhatIf>,
    /// Where a copy is to go another way, if that is asked for.
    pub branching: Option<Branching>,
}

/// What is asked of a judged run.
#[derive(Clone, Debug)]
pub struct Asked {
    pub reach: Reach,
    pub detectors: Vec<(DetectorId, Box<dyn Detector>)>,
    pub alternatives: Arc<[Alternative]>,
}

/// A row, and whose original it is to be put beside.
#[derive(Clone, Debug)]
struct WhatIf {
    row: WhatIfRow,
    flow: usize,
    place: Place,
}

impl Judging {
    /// Of a run with these hosts, a sender and a receiver each.
    pub fn new<'a>(
        end: Instant,
        asked: &Asked,
        hosts: impl Iterator<Item = &'a [Arc<Config>; 2]>,
    ) -> Self {
        let paths = hosts.map(|ends| ends.each_ref().map(|config| config.dualrtt.path));
        Self {
            end,
            reach: asked.reach,
            alternatives: asked.alternatives.clone(),
            before: None,
            duplicates: DupackTracker::default(),
            bench: Bench::new(paths, &asked.detectors),
            what_ifs: Vec::new(),
            branching: None,
        }
    }

    /// A timer of the connection is about to expire.
    pub fn expires(&mut self, connection: &Connection) {
        self.before = Some(Before { connection: connection.clone(), stimulus: Stimulus::Timer });
    }

    /// The packet is about to be taken.
    pub fn arrives(&mut self, packet: &Packet, flow: &Flow) {
        let end = flow.end(packet.destination());
        self.duplicates.arrives(packet, end);
        let sends = |connection: &&Connection| connection.sender().flight().size() > 0;
        self.before = end.connection.as_ref().filter(sends).map(|connection| Before {
            connection: connection.clone(),
            stimulus: Stimulus::Arrival(packet.segment),
        });
    }

    /// The packet was taken.
    pub fn arrived(&mut self, packet: &Packet, flow: &Flow, at: Instant) {
        let duplicates = |connection: &Connection| connection.sender().flight().totals().duplicates;
        let before = self.before.as_ref().map(|before| duplicates(&before.connection));
        let after = flow.end(packet.destination()).connection.as_ref().map(duplicates);
        if before.is_some() && before < after {
            self.duplicates.saw(packet, at, &flow.plan.name);
        }
        self.bench.arrived(packet, at);
    }

    /// The packet leaves its host.
    pub fn departs(&mut self, packet: &Packet, flow: &Flow, at: Instant) {
        self.duplicates.departs(packet);
        let flight = flow.end(packet.destination().other()).flight();
        let sent = flight.and_then(|flight| flight.segment_at(packet.segment.seq));
        self.bench.departs(packet, at, sent.map_or(Cause::Unknown, |sent| sent.cause));
    }

    /// What the judges said of these timeouts and fast retransmits of one end.
    pub fn verdicts(
        &mut self,
        end: (usize, Place),
        rows: &[TimeoutRow],
        now: Instant,
    ) -> Vec<VerdictRow> {
        self.bench.verdicts(end, rows, now)
    }

    pub fn duplicates(&self) -> impl Iterator<Item = DuplicateRow> + '_ {
        self.duplicates.rows()
    }

    /// What the other senders made of the timeouts, now that the transfers have ended.
    pub fn what_ifs<'a>(&'a self, flows: &'a [Flow]) -> impl Iterator<Item = WhatIfRow> + 'a {
        self.what_ifs.iter().map(|WhatIf { row, flow, place }| {
            let original = flows[*flow].rest(*place);
            WhatIfRow { comparison: Comparison { original, ..row.comparison }, ..row.clone() }
        })
    }
}

impl Sim {
    /// Finds out the truth about retransmissions that are about to leave.
    #[inline(never)]
    pub(crate) fn judge(&mut self, flow: usize, place: Place) {
        while let Some((number, row, seq)) = self.flows[flow].unjudged(place) {
            let Some(judging) = &mut self.judging else { return };
            judging.bench.begins((flow, place), &row, seq);
            let (reach, end) = (judging.reach, judging.end);
            let Some(before) = judging.before.clone() else { return };
            if let Some(mut branching) = judging.branching.take_if(|it| it.begins(&row)) {
                let here = (flow, place, number);
                branching.found = self.branch_off(here, &branching, before.clone());
                let Some(judging) = &mut self.judging else { return };
                judging.branching = Some(branching);
            }
            let finding = self.without((flow, place, seq), before, (reach, end));
            self.flows[flow].end_mut(place).timeouts.note_finding(number, finding);
            if row.kind == TimeoutKind::Timeout {
                let row = TimeoutRow { truth: Some(finding.truth), ..row };
                self.ask_others((flow, place), &row);
            }
        }
    }

    /// What would other senders make of this timeout?
    fn ask_others(&mut self, (flow, place): (usize, Place), timeout: &TimeoutRow) {
        let Some(judging) = &self.judging else { return };
        let (alternatives, end) = (judging.alternatives.clone(), judging.end);
        let Some(before) = judging.before.clone() else { return };
        for alternative in &*alternatives {
            let config = alternative.configs[flow][place.index()].clone();
            let other = self.instead((flow, place), (before.clone(), config), end);
            if let (Some(other), Some(judging)) = (other, &mut self.judging) {
                let row = what_if(timeout, alternative, other);
                judging.what_ifs.push(WhatIf { row, flow, place });
            }
        }
    }
}

fn what_if(timeout: &TimeoutRow, alternative: &Alternative, other: Rest) -> WhatIfRow {
    WhatIfRow {
        flow: timeout.flow.clone(),
        at: timeout.at,
        seq: timeout.seq,
        truth: timeout.truth,
        sender: alternative.name.clone(),
        comparison: Comparison { other, ..Comparison::default() },
    }
}
