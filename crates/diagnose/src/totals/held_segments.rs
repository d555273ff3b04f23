//! Faults between an end and what it sends to: small segments that wait for delayed ACKs, and SACK
//! blocks that a device on the path does not translate.

use super::CaptureTotals;
use crate::report::ConnectionReport;

/// Fewer held segments may be a coincidence.
const MIN_HELD: u64 = 5;
/// The share of a connection's time from which on held segments matter.
const LARGE_SHARE: f64 = 0.1;
/// Fewer ACKs with SACK blocks of other sequence numbers may be a coincidence.
const MIN_FOREIGN: u64 = 3;

impl CaptureTotals {
    /// Adds the small segments that each end held back, if they took a considerable share of the
    /// connection's time.
    pub(super) fn add_held_segments(&mut self, report: &ConnectionReport) {
        let took = report.end - report.start;
        for (sum, waits) in self.held_back.iter_mut().zip(report.held) {
            if waits.count >= MIN_HELD && waits.seconds >= LARGE_SHARE * took {
                sum.extend(waits);
            }
        }
    }

    /// Adds the ACKs with SACK blocks of other sequence numbers, if most have such ones.
    pub(super) fn add_foreign_sacks(&mut self, report: &ConnectionReport) {
        let sacks = report.sacks;
        if sacks.foreign >= MIN_FOREIGN && sacks.foreign * 2 > sacks.all {
            self.foreign_sacks += sacks.foreign;
        }
    }
}
