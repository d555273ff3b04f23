//! The totals of a watch.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::report::ConnectionReport;
use crate::silence::Wait;

/// The totals of a watch.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct WatchTotals {
    /// When it began, in seconds since 1970-01-01 00:00 UTC.
    pub began: f64,
    /// When it ended, or the time now, likewise.
    pub ended: f64,
    /// TCP packets.
    pub packets: u64,
    /// Connections.
    pub connections: u64,
    /// Connections that are open now: no end has sent a RST, and not both a FIN.
    pub open: u64,
    /// Open connections that counted as over because of a limit.
    pub evicted: u64,
    /// Retransmissions whose verdict has settled, by trigger and verdict.
    pub retransmissions: BTreeMap<&'static str, BTreeMap<&'static str, u64>>,
    /// Timeouts whose class has settled, by class, without those of handshakes.
    pub timeouts: BTreeMap<&'static str, u64>,
    /// Timeouts of handshakes, likewise.
    pub handshake_timeouts: BTreeMap<&'static str, u64>,
    /// The payload of unneeded retransmissions, in bytes.
    pub unneeded_bytes: u64,
    /// The time lost to timeouts and to late ACKs, in seconds.
    pub time_lost: f64,
    /// ACKs that came a second late or more, without a retransmission.
    pub late_acks: u64,
    /// Retransmissions that were counted, but not reported: nobody took the reports.
    pub unreported: u64,
}

impl WatchTotals {
    /// Adds what has settled.
    pub(super) fn add(&mut self, report: &ConnectionReport) {
        for retransmission in &report.retransmissions {
            let verdicts = self.retransmissions.entry(retransmission.trigger.name()).or_default();
            *verdicts.entry(retransmission.verdict.name()).or_default() += 1;
            if retransmission.verdict == crate::Necessity::Unneeded {
                self.unneeded_bytes += u64::from(retransmission.len);
            }
        }
        for timeout in &report.timeouts {
            let classes = match timeout.handshake {
                true => &mut self.handshake_timeouts,
                false => &mut self.timeouts,
            };
            *classes.entry(timeout.class.name()).or_default() += 1;
        }
        let late = report.silences.iter().filter(|silence| silence.wait == Wait::Network);
        self.late_acks += late.count() as u64;
        self.time_lost += report.time_lost.unwrap_or(0.0);
    }
}
